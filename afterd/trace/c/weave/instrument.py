"""LLVM IR text in, the same program that records its own execution out.

Calls are put into the text; LLVM parses it again, so every mistake made here is an error there and
never a wrong program. weaver.py writes the functions; this is the module around them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from afterd.trace.c.ir.ir import NAME, definitions, functions, preamble
from afterd.trace.c.ir.irtypes import Layout
from afterd.trace.c.weave.recording_ir import RECORDING
from afterd.trace.c.weave.structors import with_constructor
from afterd.trace.c.weave.undebugged import undebugged
from afterd.trace.c.weave.weaver import Numbers, Weaver, read

WRAPPED = [
    "printf",
    "fprintf",
    "vprintf",
    "vfprintf",
    "puts",
    "fputs",
    "fputs_unlocked",
    "fputc",
    "putc",
    "_IO_putc",
    "putc_unlocked",
    "fputc_unlocked",
    "putchar",
    "putchar_unlocked",
    "fwrite",
    "fwrite_unlocked",
    "write",
    "pwrite",
    "pwrite64",
    "writev",
    "pwritev",
    "pwritev64",
    "dprintf",
    "vdprintf",
    "perror",
    "exit",
    "_exit",
    "_Exit",
    "quick_exit",
]

_EARLY = 102  # priority of a module's own constructor: after the runtime's (101), before any other
_GLOBAL = re.compile(rf"^(@{NAME}) = ((?:[\w()]+ )*?)(?:global|constant) (.*)$", re.MULTILINE)
_NO_ADDRESS = re.compile(
    r"\b(?:thread_local|available_externally|external|extern_weak|appending)\b"
)
_FUNCTION = re.compile(rf"define (?!available_externally).*?(@{NAME})\(")
_DECLARED = re.compile(r"\ndeclare [^@]*@(\w+)\(")
_DEFINED = re.compile(
    r"^define ((?:(?:dso_local|weak|weak_odr|hidden|protected|default) )*)(?!internal|private|linkonce|avail)"
    r"[^@\n]*@(\w+)\(",
    re.MULTILINE,
)
_ATTRIBUTES = re.compile(r"^attributes (#\d+) = { (.*) }$", re.MULTILINE)
_RESOLVER = re.compile(rf"^@{NAME} = .*\bifunc .*, ptr @({NAME})", re.MULTILINE)
_SPECIAL = re.compile(r"^attributes #\d+ = { .*\bnaked\b|^@.* ifunc ", re.MULTILINE)
_UNTAGGED = re.compile(r'^target triple = "x86_64-', re.MULTILINE)
_ADDRESS = "declare ptr @llvm.threadlocal.address.p0(ptr)\n"
_HAS_ADDRESS = re.compile(r"^declare .*@llvm\.threadlocal\.address\.p0\(", re.MULTILINE)
_STRUCT = re.compile(rf"^(%{NAME}) = type (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class NumberedFunction:
    """Where a function's text stands in the module and the first id of each kind it was given."""

    name: str
    start: int
    end: int
    first: Numbers


@dataclass(frozen=True, slots=True)
class Instrumented:
    """The new text, and what the analysis needs to read its records."""

    text: str
    functions: tuple[NumberedFunction, ...]
    total: Numbers


@dataclass(frozen=True, slots=True)
class Counted:
    """A module of which it is known how many ids it needs; ``woven`` writes it, given its first ones."""

    total: Numbers
    woven: Callable[[Numbers], Instrumented]


def structs(text: str) -> Layout:
    """The layout of the module's named types."""
    return Layout(dict(_STRUCT.findall(preamble(text))))


def instrument(text: str) -> Counted:
    """What it takes to instrument every function of a module."""
    layout = structs(text)
    found = [(start, end, read(each)) for start, end, each in functions(text)]
    needed = [each.needed for _, _, each in found]
    every = sum(needed, Numbers())
    total = replace(every, blocks=max(every.blocks, 1))  # data alone has an id of its own too
    skipped = unrecordable_functions(text)
    masked = not _UNTAGGED.search(preamble(text))

    def woven(first: Numbers) -> Instrumented:
        parts: list[str] = []
        numbered: list[NumberedFunction] = []
        at, number = 0, first
        for (start, end, each), more in zip(found, needed, strict=True):
            name = each.function.name
            numbered.append(NumberedFunction(name, start, end, number))
            parts.append(text[at:start])
            if name in skipped:
                parts.append(text[start:end])
            else:
                weaver = Weaver(each, number, first.blocks, layout, masked=masked)
                parts += ["\n".join(weaver.lines()), "\n}"]
            number += more
            at = end
        end = text.find("\n!", at) + 1 or len(text)
        code = undebugged("".join([*parts, text[at:end]]), text[end:])
        return Instrumented(_with_runtime(code, first, total), tuple(numbered), total)

    return Counted(total, woven)


def unrecordable_functions(text: str) -> frozenset[str]:
    """Functions that cannot record: all assembly, or run before there is a thread (ifunc resolvers)."""
    if not ("naked" in text or " ifunc " in text) or not _SPECIAL.search(text):
        return frozenset()
    naked = {group for group, body in _ATTRIBUTES.findall(text) if re.search(r"\bnaked\b", body)}
    resolvers = {name.strip('"') for name in _RESOLVER.findall(text)}
    return frozenset(
        function.name
        for _, _, function in functions(text)
        if function.name in resolvers or naked & set(re.findall(r" (#\d+)", function.header))
    )


def _with_runtime(text: str, first: Numbers, total: Numbers) -> str:
    """The module with the recording functions, its constructor and the wrapped libc functions."""
    wrapped = "|".join(set(_DECLARED.findall(text)) & set(WRAPPED))
    if wrapped:
        text = re.sub(rf"@({wrapped})\b(?![.$])", r"@__afterd_\1", text)
    text += "".join(_own_of_the_library(text))
    names = global_names(text)
    recording = RECORDING.format(
        address="" if _HAS_ADDRESS.search(text) else _ADDRESS,
        size=max(total.blocks, 1),
        first=first.blocks,
        total=total.blocks,
        globals=len(names),
        addresses=", ".join(f"ptr {name}" for name in names),
    )
    return with_constructor(text + recording, "@__afterd_start", _EARLY)


def _own_of_the_library(text: str) -> Iterator[str]:
    """What other modules call where the program has a function of such a name of its own: that one."""
    for linkage, name in _DEFINED.findall(text):
        if name in WRAPPED:
            yield f"@__afterd_{name} = {linkage}alias void (), ptr @{name}\n"


def global_names(text: str) -> list[str]:
    """Globals and functions that the module defines and whose address a constructor can take, with @."""
    variables = [
        name
        for name, linkage, body in _GLOBAL.findall(preamble(text))
        if not _NO_ADDRESS.search(linkage) and 'section "llvm.metadata"' not in body
    ]
    found = (_FUNCTION.match(text, start) for start, _ in definitions(text))
    return [*variables, *(each[1] for each in found if each)]
