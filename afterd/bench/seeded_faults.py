"""Faults that a macro switches on, as SIR seeds them: ``FaultSeeds.h`` has a line for each.

``/* #define F_KP_1 */`` is a fault that is off.
"""

from __future__ import annotations

import re

HEADER = "FaultSeeds.h"

_DEFINED = re.compile(r"\s*(?:/\*+|//)?\s*#\s*define\s+(?P<name>\w+)[^*]*(?:\*+/\s*)?")
_GUARD = re.compile(r"^\s*#\s*ifndef\s+(\w+)", re.MULTILINE)


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
