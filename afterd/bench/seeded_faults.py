"""Faults that a macro switches on, as SIR seeds them: ``FaultSeeds.h`` has a line for each.

``/* #define F_KP_1 */`` is a fault that is off. What is wrong where it is on is what the preprocessor
makes of the program then: the lines that differ, also far from the ``#ifdef``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from afterd.localization.examination import Line

HEADER = "FaultSeeds.h"

_DEFINED = re.compile(r"\s*(?:/\*+|//)?\s*#\s*define\s+(?P<name>\w+)[^*]*(?:\*+/\s*)?")
_GUARD = re.compile(r"^\s*#\s*ifndef\s+(\w+)", re.MULTILINE)
_MARKER = re.compile(r'# (?P<line>\d+) "(?P<file>[^"]*)".*')


def seeds(header: str) -> tuple[str, ...]:
    """The macros of a ``FaultSeeds.h``, on or off, in order; its include guard is none."""
    guards = set(_GUARD.findall(header))
    found = (_DEFINED.fullmatch(line) for line in header.splitlines())
    names = dict.fromkeys(match["name"] for match in found if match is not None)
    return tuple(name for name in names if name not in guards)


def switched(header: str, seed: str) -> str:
    """The header with this fault on and all others off; line by line the same."""
    known = set(seeds(header))

    def line(text: str) -> str:
        match = _DEFINED.fullmatch(text)
        if match is None or match["name"] not in known:
            return text
        return f"#define {seed}" if match["name"] == seed else ""

    return "\n".join(map(line, header.splitlines())) + "\n"


def expanded(preprocessed: str) -> Mapping[Line, str]:
    """The text of each line that a preprocessor left something of, of files with relative names."""
    found: dict[Line, str] = {}
    file, number = "", 0
    for text in preprocessed.splitlines():
        if (marker := _MARKER.fullmatch(text)) is not None:
            file, number = marker["file"].removeprefix("./"), int(marker["line"])
            continue
        if text.strip() and not file.startswith(("/", "<")):
            found[file, number] = found.get((file, number), "") + text.strip()
        number += 1
    return found


def differing(golden: Mapping[Line, str], faulty: Mapping[Line, str]) -> frozenset[Line]:
    """The faulty program's lines with another text; where some are only gone, both neighbours."""
    found = {line for line, text in faulty.items() if golden.get(line) != text}
    gone = defaultdict[str, list[int]](list)
    for file, number in golden.keys() - faulty.keys():
        gone[file].append(number)
    for file, numbers in gone.items():
        if any(line[0] == file for line in found):
            continue  # they were replaced
        left = sorted(number for name, number in faulty if name == file)
        before = [number for number in left if number < min(numbers)][-1:]
        after = [number for number in left if number > max(numbers)][:1]
        found.update((file, number) for number in before + after)
    return frozenset(found)
