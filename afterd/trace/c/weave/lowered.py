"""What the calling convention and setjmp do without an instruction, written out as instructions.

Three things happen in a C program that no line of its IR shows: a struct passed by value appears in
the callee's memory, ``va_start`` finds the arguments of ``...`` there, and ``setjmp`` returns once
more. Here they get a place in the text, before anything is numbered, so that the instrumentation
and the analysis see them as they see any other instruction:

* ``call void @__afterd_passed(ptr %at, i64 SIZE)``: the caller's arguments are now in these bytes;
* ``va_copy`` is a memcpy of the list;
* a call that returns twice begins a basic block, which its second return begins again; so does one that may:
  an interpreter has such a function of its own, in assembler, and no name tells it. What it is given is a record of
  the caller's, in which the place is kept, and what it returns is a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from afterd.trace.c.ir.ir import NAME, definitions, parameters
from afterd.trace.c.ir.irtypes import Layout
from afterd.trace.c.ir.recorded import MAY_RETURN_TWICE, PASSED, RETURNS_TWICE

SAVED_REGISTERS = 176  # bytes of the System V x86-64 register save area: six words, eight vectors
STACK_ARGUMENTS = 256  # bytes of the arguments behind the registers that are looked at
_VA_LIST = 24

_SYSTEM_V = re.compile(r'^target triple = "x86_64-[^"]*(?:linux|bsd|darwin|macosx)', re.MULTILINE)
_BYVAL = re.compile(rf"\bbyval\((.+?)\) .*?(%{NAME})$")
_LABEL = re.compile(rf"^({NAME}):")
_VA_START = re.compile(
    r"^  (?:tail )?call void @llvm\.va_start(?:\.p0)?\(ptr (?:nonnull )?(\S+?)\)"
)
_VA_COPY = re.compile(r"^  (?:tail )?call void @llvm\.va_copy(?:\.p0)?\(ptr (\S+?), ptr (\S+?)\)")
_TWICE = re.compile(rf"^  (?:%{NAME} = )?call .*(?:{'|'.join(sorted(RETURNS_TWICE))})\(")
_WORDS = ("byval(", "@llvm.va_", *sorted(RETURNS_TWICE))
"""One of them stands in every function in which there is something to write out."""
_DECLARED = re.compile(rf"^declare .*?(@{NAME})\(", re.MULTILINE)
_RECORD = re.compile(rf"^  (%{NAME}) = alloca (?:[%{{]|\[\d+ x (?!i8\]))", re.MULTILINE)
"""A local that may hold registers: a struct, or an array of something larger than bytes."""
_PERHAPS = re.compile(
    rf"^  (?:%{NAME} = )?call (?:\w+ )*?i(?:32|64) (?!@_Z)(@{NAME})\(ptr (?:\w+ )*?(%{NAME})[,)]",
    re.MULTILINE,
)
"""A call of what is no function of C++, with such a local first."""
_MEMCPY = "@llvm.memcpy.p0.p0.i64("


def lowered_module(text: str, layout: Layout) -> str:
    """The module's text with these things written out."""
    parts: list[str] = []
    at = 0
    lists = bool(_SYSTEM_V.search(text))
    elsewhere = frozenset(_DECLARED.findall(text))
    concerned = re.compile("|".join(re.escape(word) for word in _WORDS if word in text) or r"\b\B")
    for start, end in definitions(text):
        perhaps = _may_return_twice(text[start:end], elsewhere)
        if not perhaps and not concerned.search(text, start, end):
            continue
        lines = _Lowering(layout, lists, perhaps).of(text[start:end].split("\n"))
        parts += [text[at:start], "\n".join(lines)]
        at = end
    made = "".join([*parts, text[at:]])
    if _MEMCPY in made and _MEMCPY not in text:
        made += f"\ndeclare void {_MEMCPY}ptr, ptr, i64, i1)\n"
    return made


def _may_return_twice(definition: str, elsewhere: frozenset[str]) -> frozenset[str]:
    """The lines of calls that no name tells of, and that may return twice."""
    records = frozenset(_RECORD.findall(definition))
    return frozenset(
        definition[found.start() : definition.find("\n", found.start())]
        for found in (_PERHAPS.finditer(definition) if records else ())
        if found[2] in records and found[1] in elsewhere and not _TWICE.match(found[0])
    )


def _marked(call: str) -> str:
    behind = call.rindex(")") + 1
    return call[:behind] + MAY_RETURN_TWICE + call[behind:]


@dataclass(slots=True)
class _Lowering:
    """Rewrites one definition line by line (debug records are lines of their own and must stay)."""

    layout: Layout
    lists: bool  # whether va_list is that of System V x86-64
    perhaps: frozenset[str]  # lines of calls that may return twice
    fresh: int = 0
    last_part: dict[str, str] = field(
        default_factory=dict
    )  # block that was divided → its last part

    def of(self, lines: list[str]) -> list[str]:
        """The definition's new lines."""
        made = [lines[0]]
        label, first = "", False
        for line in lines[1:]:
            if named := _LABEL.match(line):
                made += [line] if label else [line, *self._by_value(lines[0])]
                label, first = named.group(1), True
                continue
            perhaps = line in self.perhaps
            if not first and (perhaps or _TWICE.match(line)):
                made += self._divided(label)
            made += [_marked(line)] if perhaps else self._line(line)
            first = first and (" = phi " in line or not line.startswith("  ") or line[4] == "#")
        return [self._incoming(line) if " = phi " in line else line for line in made]

    def _by_value(self, header: str) -> Iterator[str]:
        for parameter in parameters(header):
            if found := _BYVAL.search(parameter):
                size = self.layout.size(found.group(1))
                yield f"  call void {PASSED}(ptr {found.group(2)}, i64 {size})"

    def _line(self, line: str) -> Iterator[str]:
        debug = _debug(line)
        if self.lists and (copied := _VA_COPY.match(line)):
            to, source = copied.groups()
            yield f"  call void {_MEMCPY}ptr {to}, ptr {source}, i64 {_VA_LIST}, i1 false){debug}"
            return
        yield line
        if self.lists and (started := _VA_START.match(line)):
            at = started.group(1)
            yield from self._area(at, 16, SAVED_REGISTERS, debug)
            yield from self._area(at, 8, STACK_ARGUMENTS, debug)
            yield f"  call void {PASSED}(ptr {at}, i64 {_VA_LIST}){debug}"

    def _area(self, at: str, offset: int, size: int, debug: str) -> Iterator[str]:
        """The bytes that a field of a fresh va_list points to."""
        self.fresh += 1
        place, area = f"%afterd.field.{self.fresh}", f"%afterd.area.{self.fresh}"
        yield f"  {place} = getelementptr i8, ptr {at}, i64 {offset}{debug}"
        yield f"  {area} = load ptr, ptr {place}, align 8{debug}"
        yield f"  call void {PASSED}(ptr {area}, i64 {size}){debug}"

    def _divided(self, label: str) -> list[str]:
        self.fresh += 1
        part = f"afterd.again.{self.fresh}"
        self.last_part[label] = part
        return [f"  br label %{part}", "", f"{part}:"]

    def _incoming(self, line: str) -> str:
        """A phi whose predecessors may have been divided."""
        return re.sub(
            rf", %({NAME}) \]",
            lambda found: f", %{self.last_part.get(found.group(1), found.group(1))} ]",
            line,
        )


def _debug(line: str) -> str:
    found = re.search(r", !dbg !\d+", line)
    return found.group(0) if found else ""
