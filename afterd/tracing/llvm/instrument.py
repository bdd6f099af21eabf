"""LLVM IR text in, the same program that records its own execution out.

Calls are put into the text; LLVM parses it again, so every mistake made here is an error there and
never a wrong program. weaver.py writes the functions; this is the module around them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from afterd.tracing.llvm import records
from afterd.tracing.llvm.ir import NAME, Function, functions, plain_locals, stack_slots
from afterd.tracing.llvm.irtypes import Layout
from afterd.tracing.llvm.recorded import tags
from afterd.tracing.llvm.recording_ir import RECORDING
from afterd.tracing.llvm.weaver import Numbers, Weaver

WRAPPED = (
    "printf fprintf vprintf vfprintf puts fputs fputs_unlocked fputc putc _IO_putc putc_unlocked "
    "fputc_unlocked putchar putchar_unlocked fwrite fwrite_unlocked write perror exit _exit _Exit "
    "quick_exit"
).split()

_CONSTRUCTORS = re.compile(
    r"^@llvm\.global_ctors = appending (?:\w+ )?(?:constant|global) \[(\d+) x ({ i32, ptr, ptr })\] \[(.*)\].*$",
    re.MULTILINE,
)
_GLOBAL = re.compile(
    r'^(@(?:[-a-zA-Z$._0-9]+|"[^"]*")) = (?!.*(?:thread_local|available_externally|external |extern_weak |appending |'
    r"alias |ifunc ))(?:[\w() ]*?)(?:global|constant) ",
    re.MULTILINE,
)
_FUNCTION = re.compile(
    r'^define (?!available_externally).*?(@(?:[-a-zA-Z$._0-9]+|"[^"]*"))\(', re.MULTILINE
)
_STRUCT = re.compile(r'^(%(?:[-a-zA-Z$._0-9]+|"[^"]*")) = type (.+)$', re.MULTILINE)


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


def count(function: Function, locals_: dict[str, str]) -> Numbers:
    """The ids a function needs."""
    sites = sum(
        records.CALL in tags(instruction, locals_)
        for block in function.blocks
        for instruction in block.instructions
    )
    return Numbers(len(function.blocks), sites, len(stack_slots(function)))


def structs(text: str) -> Layout:
    """The layout of the module's named types."""
    return Layout(dict(_STRUCT.findall(text)))


def instrument(text: str, first: Numbers) -> Instrumented:
    """Instrument every function of a module whose ids start at ``first``."""
    layout = structs(text)
    parts: list[str] = []
    numbered: list[NumberedFunction] = []
    at, number = 0, first
    for start, end, function in functions(text):
        locals_ = plain_locals(function)
        numbered.append(NumberedFunction(function.name, start, end, number))
        weaver = Weaver(function, locals_, number, first.blocks, layout)
        parts += [text[at:start], "\n".join(weaver.lines()), "\n}"]
        number += count(function, locals_)
        at = end
    parts.append(text[at:])
    total = Numbers(number.blocks - first.blocks, number.sites - first.sites, number.slots - first.slots)
    return Instrumented(_with_runtime("".join(parts), first, total), tuple(numbered), total)


def _with_runtime(text: str, first: Numbers, total: Numbers) -> str:
    """The module with the recording functions, its constructor and the wrapped libc functions."""
    for name in WRAPPED:
        if re.search(rf"^declare .*@{re.escape(name)}\(", text, re.MULTILINE):
            text = re.sub(rf"@{re.escape(name)}\b(?![.$])", f"@__afterd_{name}", text)
    entry = "{ i32, ptr, ptr } { i32 102, ptr @__afterd_start, ptr null }"
    existing = _CONSTRUCTORS.search(text)
    if existing:
        number, kind, inner = int(existing.group(1)), existing.group(2), existing.group(3)
        line = f"@llvm.global_ctors = appending global [{number + 1} x {kind}] [{inner}, {entry}]"
        text = text[: existing.start()] + line + text[existing.end() :]
        line = ""
    else:
        line = f"@llvm.global_ctors = appending global [1 x {{ i32, ptr, ptr }}] [{entry}]"
    names = global_names(text)
    return text + RECORDING.format(
        constructors=line,
        size=max(total.blocks, 1),
        first=first.blocks,
        total=total.blocks,
        globals=len(names),
        addresses=", ".join(f"ptr {name}" for name in names),
    )


def global_names(text: str) -> list[str]:
    """Globals and functions that the module defines and whose address a constructor can take, with @."""
    return [*_GLOBAL.findall(text), *_FUNCTION.findall(text)]
