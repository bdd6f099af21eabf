"""The trace file: a JSON header and value table, and the rows as two columns of machine words.

``trace-<pid>.json`` holds everything but the rows; ``trace-<pid>.rows`` holds, for each chunk, its
sites and then its value numbers (indexes into the table), as 64-bit integers of this machine.
"""

from __future__ import annotations

import json
import os
from array import array
from pathlib import Path
from typing import Any

from .describe import long_form
from .recorder import Chunk, Recording

Anything = Any  # a value of the traced program

_BITS = 2048  # of an integer that is written as it is


def write(directory: Path, recording: Recording, facts: dict[str, Any]) -> None:
    """Write both files; ``facts`` (modules, failures, notes …) go into the header as they are."""
    table: dict[Any, int] = {}
    chunks = []
    name = f"trace-{os.getpid()}"
    with (directory / f"{name}.rows").open("wb") as rows:
        for chunk in recording.chunks():
            _columns(chunk, table).tofile(rows)
            chunks.append([chunk.first, len(chunk.entries) // 2, list(chunk.frames)])
    header = {
        **facts,
        "total": recording.total,
        "chunks": chunks,
        "types": recording.types.rows,
        "values": [_encoded_value(kind, key) for kind, key in table],
    }
    temporary = directory / f"{name}.partial"
    temporary.write_text(json.dumps(header), encoding="utf-8", errors="surrogatepass")
    temporary.replace(directory / f"{name}.json")  # its presence says that the rows are whole


def _columns(chunk: Chunk, table: dict[Any, int]) -> array[int]:
    """The sites, then the numbers of the values; 1, 1.0 and True are told apart by type."""
    columns = array("q", chunk.entries[::2])
    numbers = []
    for value in chunk.entries[1::2]:
        key = (type(value), _hashable_value(value))
        number = table.get(key)
        if number is None:
            number = table[key] = len(table)
        numbers.append(number)
    columns.extend(numbers)
    return columns


def _hashable_value(value: Anything) -> Anything:
    """The value, with the types of nested plain ones beside them."""
    if type(value) is float:
        return repr(value)  # NaN, and 0.0 against -0.0
    if type(value) is tuple:
        return tuple((type(item), _hashable_value(item)) for item in value)
    return value


def _encoded_value(kind: type, key: Anything) -> Anything:
    """For JSON: None, bool, int and str as they are, the others as lists that start with a tag."""
    if kind is tuple:
        return [_encoded_value(*item) for item in key]
    if kind is float:
        return ["f", key]
    if kind is int and key.bit_length() > _BITS:
        return list(long_form("B", hex(key)))
    if kind is bytes:
        return ["b", key.decode("latin-1")]
    return key
