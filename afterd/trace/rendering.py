"""Values as a person reads them."""

from __future__ import annotations

from afterd.logic import signed_value
from afterd.model.term import Sort, SortKind, Value


def rendered_value(
    value: Value, sort: Sort, *, unsigned: bool = False, pointer: bool = False
) -> str:
    """``3``, ``-1``, ``'a' (97)``, ``true``, ``0x7f…``, ``NULL``; empty where nothing is known."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and sort.kind is SortKind.BITVEC:
        return _bits(value, sort.width, unsigned=unsigned, pointer=pointer)
    if isinstance(value, float):
        return f"{value:.17g}"
    return repr(value) if isinstance(value, str | bytes) else str(value)


def _bits(value: int, width: int, *, unsigned: bool, pointer: bool) -> str:
    if pointer:
        return f"{value:#x}" if value else "NULL"
    if width == 8 and 32 <= value < 127:
        return f"{chr(value)!r} ({value})"
    return str(value if unsigned else signed_value(value, width))
