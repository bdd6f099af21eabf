"""Constructors and destructors as pointers in the sections that every ELF linker and loader reads.

LLVM writes ``llvm.global_ctors`` to .ctors unless its target is told otherwise, which llvmlite cannot
do; GNU ld still understands that, lld (zig) leaves it out, and no constructor ran.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from afterd.trace.c.ir.ir import NAME, preamble

_ARRAYS = {"ctors": ".init_array", "dtors": ".fini_array"}
_USUAL = 65535  # the priority of a constructor that names none
_ARRAY = re.compile(r"^@llvm\.global_(ctors|dtors) = appending .*$\n?", re.MULTILINE)
_ENTRY = re.compile(rf"{{ i32, ptr, ptr }} {{ i32 (\d+), ptr (@{NAME}), ptr (?:null|@{NAME}) }}")
_OWN_COPY = re.compile(r"^(define internal .*?) comdat(?:\(\$[^)]*\))?(?= |$)", re.MULTILINE)
"""The head of a function that only its module can call, in a group of which the linker keeps one copy."""
_USED = re.compile(
    r"^@llvm\.used = appending .*?global \[\d+ x ptr\] \[(.*?)\], .*$\n?", re.MULTILINE
)


def with_constructor(text: str, function: str, priority: int) -> str:
    """The module with its constructors and destructors placed, and one constructor more.

    What begins an ``inline`` variable is each module's own function in the variable's group. What points to it here,
    and in the tables, is in no group, so no copy may be dropped: each asks first whether the variable has begun (ada).
    """
    text = _OWN_COPY.sub(r"\1", text)
    entries = [("ctors", priority, function)]
    head = preamble(text)
    for found in _ARRAY.finditer(head):
        entries += [(found.group(1), int(p), name) for p, name in _ENTRY.findall(found.group())]
    lines = list(_pointers(entries))
    used = _USED.search(head)
    kept = [used.group(1)] if used else []
    kept += [f"ptr {line.split(' = ')[0]}" for line in lines]
    number = sum(part.count("ptr ") for part in kept)
    listed = f"@llvm.used = appending global [{number} x ptr] [{', '.join(kept)}]"
    rest = _ARRAY.sub("", _USED.sub("", head)) + text[len(head) :]
    return "\n".join([rest, *lines, f'{listed}, section "llvm.metadata"', ""])


def _pointers(entries: list[tuple[str, int, str]]) -> Iterator[str]:
    for number, (array, priority, function) in enumerate(entries):
        order = "" if priority == _USUAL else f".{priority}"
        section = f'section "{_ARRAYS[array]}{order}"'
        yield f"@__afterd_{array}.{number} = internal global ptr {function}, {section}, align 8"
