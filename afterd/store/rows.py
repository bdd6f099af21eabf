"""Value types as table rows and back: a column for each field, by the field's name and type.

A field that is itself a value type becomes columns with its name before them (``seconds.build`` is
``seconds_build``); sequences and mappings become JSON. Reading checks every cell, because a
damaged database must end in a sentence and not in a wrong answer.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import types
from collections.abc import Collection, Mapping
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from afterd.store.text import Cell, loaded_text, stored_text

Row = Mapping[str, object]
ValueT = TypeVar("ValueT")


def to_row(value: object, *, omit: Collection[str] = (), prefix: str = "") -> dict[str, Cell]:
    """The columns of a value type, without the fields in ``omit``."""
    row: dict[str, Cell] = {}
    for name, kind in _fields(cast("Any", type(value))).items():
        if name in omit:
            continue
        field = getattr(value, name)
        if dataclasses.is_dataclass(kind):
            row |= to_row(field, prefix=f"{prefix}{name}_")
        else:
            row[prefix + name] = _cell(field)
    return row


def from_row(kind: type[ValueT], row: Row, *, prefix: str = "", **given: object) -> ValueT:
    """The value type in a row; fields in ``given`` are taken from there.

    Raises ValueError when a cell is not what its field can be, KeyError when a column is missing.
    """
    fields = dict(given)
    for name, hint in _fields(cast("Any", kind)).items():
        if name in given:
            continue
        if dataclasses.is_dataclass(hint):
            fields[name] = from_row(cast("type[object]", hint), row, prefix=f"{prefix}{name}_")
        else:
            fields[name] = _field(hint, row[prefix + name])
    return kind(**fields)


@functools.cache
def _fields(kind: type[Any]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def _cell(field: object) -> Cell:
    if field is None:
        return None
    if isinstance(field, str):
        return stored_text(str(field))
    if isinstance(field, int):
        return int(field)  # a bool too
    if isinstance(field, float):
        return field
    return json.dumps(dict(field) if isinstance(field, Mapping) else field)


def _field(hint: Any, cell: object) -> object:  # noqa: ANN401 - a type hint has no better type
    if get_origin(hint) is types.UnionType:
        present = next(arm for arm in get_args(hint) if arm is not types.NoneType)
        return None if cell is None else _field(present, cell)
    if get_origin(hint) is tuple:
        return tuple(_checked_cell(item, str) for item in _checked_cell(_json(cell), list))
    if get_origin(hint) is not None:
        scores = _checked_cell(_json(cell), dict)
        return {name: float(_checked_cell(score, int | float)) for name, score in scores.items()}
    return _scalar(hint, cell)


def _scalar(hint: type[Any], cell: object) -> object:
    if issubclass(hint, str):
        return hint(loaded_text(cell))  # an enum refuses what is no member
    if issubclass(hint, bool | float):
        return hint(_checked_cell(cell, int | float))
    return _checked_cell(cell, hint)


def _json(cell: object) -> object:
    return json.loads(loaded_text(cell))


def _checked_cell(value: object, kind: Any) -> Any:  # noqa: ANN401 - isinstance takes classes and unions
    if not isinstance(value, kind):
        raise ValueError(f"{kind} was expected, not {value!r}")  # noqa: TRY004 - damaged content
    return value
