"""LLVM IR text in, the same program that records its own execution out.

Calls are put into the text; LLVM parses it again, so every mistake made here is an error there and
never a wrong program. See runtime.c for what the calls do and records.py for what they leave.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from afterd.tracing.llvm import records
from afterd.tracing.llvm.ir import Block, Function, Instruction, functions, plain_locals, stack_slots
from afterd.tracing.llvm.irtypes import Layout, scalar_bits
from afterd.tracing.llvm.recorded import (
    arguments,
    callee,
    loggable,
    operands,
    result_type,
    returns_twice,
    tags,
)

WRAPPED = (
    "printf fprintf vprintf vfprintf puts fputs fputs_unlocked fputc putc _IO_putc putc_unlocked "
    "fputc_unlocked putchar putchar_unlocked fwrite fwrite_unlocked write perror exit _exit _Exit "
    "quick_exit"
).split()

_CONSTRUCTORS = re.compile(
    r"^@llvm\.global_ctors = appending (?:\w+ )?(?:constant|global) \[(\d+) x ({ i32, ptr, ptr })\] \[(.*)\].*$",
    re.MULTILINE,
)
_TARGET_OF_INVOKE = re.compile(r'to label %((?:[-a-zA-Z$._0-9]+|"[^"]*"))')
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
class Numbers:
    """How many ids of each kind: blocks, call sites, slots."""

    blocks: int = 0
    sites: int = 0
    slots: int = 0

    def __add__(self, other: Numbers) -> Numbers:
        """The numbers after both."""
        return Numbers(
            self.blocks + other.blocks, self.sites + other.sites, self.slots + other.slots
        )


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
        weaver = _Weaver(function, locals_, number, first, layout)
        parts += [text[at:start], "\n".join(weaver.lines()), "\n}"]
        number += count(function, locals_)
        at = end
    parts.append(text[at:])
    total = Numbers(number.blocks - first.blocks, number.sites - first.sites, number.slots - first.slots)
    return Instrumented(_with_runtime("".join(parts), first, total), tuple(numbered), total)


@dataclass(slots=True)
class _Weaver:
    """Writes one function anew; ``fresh`` numbers the registers it adds."""

    function: Function
    locals_: dict[str, str]
    first: Numbers
    module: Numbers
    layout: Layout
    fresh: int = 0
    sites: dict[str, int] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        """The function's new text, line by line, without the closing brace."""
        yield self.function.header
        slots = {name: self.first.slots + number for number, name in enumerate(stack_slots(self.function))}
        site = self.first.sites
        for number, block in enumerate(self.function.blocks):
            yield f"{_quoted(block.label)}:"
            entered = False
            for instruction in block.instructions:
                if not entered and instruction.opcode not in {"phi", "landingpad", "catchpad", "cleanuppad"}:
                    yield from self._enter(number, block)
                    entered = True
                found = tags(instruction, self.locals_)
                if records.CALL in found:
                    yield from self._call(instruction, site)
                    site += 1
                elif records.COPY in found or records.FILL in found:
                    yield from self._copy(instruction, found[0])
                elif instruction.opcode == "ret":
                    yield from self._return(instruction)
                else:
                    yield instruction.text
                    yield from self._memory(instruction, found, slots)

    def _enter(self, number: int, block: Block) -> Iterator[str]:
        identifier = self.first.blocks + number
        index = identifier - self.module.blocks
        if number == 0:
            yield "  %afterd.d0 = load i32, ptr @__afterd_depth"
            yield "  %afterd.d = add i32 %afterd.d0, 1"
            yield "  store i32 %afterd.d, ptr @__afterd_depth"
            yield "  %afterd.dz = zext i32 %afterd.d to i64"
        if any(i.opcode == "landingpad" for i in block.instructions[:3]):
            yield "  store i32 %afterd.d, ptr @__afterd_depth"
        tag = records.ENTER if number == 0 else records.BLOCK
        word = _signed(records.identified(tag, identifier))
        yield f"  call void @__afterd_block(i64 {word}, i64 %afterd.dz, i32 {index}, i32 {identifier})"
        for invoke in self._invokes_into(block.label):
            yield from self._returned(invoke, self.sites[invoke.text])

    def _invokes_into(self, label: str) -> Iterator[Instruction]:
        for block in self.function.blocks:
            last = block.instructions[-1]
            if last.opcode == "invoke" and last.text in self.sites:
                target = _TARGET_OF_INVOKE.search(last.text)
                if target and target.group(1).strip('"') == label:
                    yield last

    def _call(self, instruction: Instruction, site: int) -> Iterator[str]:
        name = callee(instruction)
        target = "0"
        if name.startswith("%"):
            register = self._register()
            yield f"  {register} = ptrtoint ptr {name} to i64"
            target = register
        yield from self._identified(records.CALL, site, target)
        yield instruction.text
        if instruction.opcode == "invoke":
            self.sites[instruction.text] = site
        elif "musttail" not in instruction.text:
            if returns_twice(instruction):
                yield "  store i32 %afterd.d, ptr @__afterd_depth"
            yield from self._returned(instruction, site)

    def _returned(self, instruction: Instruction, site: int) -> Iterator[str]:
        value = "0"
        if instruction.result and loggable(result_type(instruction)):
            value = self._register()
            yield from self._widened(value, result_type(instruction), instruction.result)
        yield from self._identified(records.RETURN, site, value)

    def _copy(self, instruction: Instruction, tag: int) -> Iterator[str]:
        (_, to), (kind, source), (length_kind, length) = arguments(instruction)[:3]
        first, value, size = self._register(), self._register(), self._register()
        yield from self._address(first, tag, 0, to)
        yield from self._widened(value, kind, source)
        yield f"  {size} = zext i32 {length} to i64" if length_kind == "i32" else f"  {size} = add i64 {length}, 0"
        yield f"  call void @__afterd_emit(i64 {first}, i64 {value})"
        word = self._register()
        yield f"  {word} = or i64 {size}, {_signed(records.LENGTH << records.TAG_SHIFT)}"
        yield f"  call void @__afterd_emit(i64 {word}, i64 0)"
        yield instruction.text

    def _return(self, instruction: Instruction) -> Iterator[str]:
        yield "  store i32 %afterd.d0, ptr @__afterd_depth"
        if self.function.name == "main" and (found := re.match(r"  ret i32 ([^,]+)", instruction.text)):
            yield f"  call void @__afterd_main_returns(i32 {found.group(1)})"
        yield instruction.text

    def _memory(self, instruction: Instruction, found: tuple[int, ...], slots: dict[str, int]) -> Iterator[str]:
        if not found:
            return
        if instruction.opcode == "alloca":
            address = self._register()
            yield f"  {address} = ptrtoint ptr {instruction.result} to i64"
            yield from self._identified(records.PLACE, slots[instruction.result], address)
            return
        read = operands(instruction)
        pointer = read[-1][1] if len(read) > 1 else read[0][1]
        if instruction.opcode in {"atomicrmw", "cmpxchg"}:
            yield from self._atomic(instruction, pointer)
            return
        kind, stored = read[0]
        value = instruction.result if found == (records.LOAD,) else stored
        wide = "0"
        if loggable(kind):
            wide = self._register()
            yield from self._widened(wide, kind, value)
        if found == (records.LSTORE,):
            yield from self._identified(records.LSTORE, slots[pointer], wide)
            return
        word = self._register()
        yield from self._address(word, found[0], self.layout.size(kind), pointer)
        yield f"  call void @__afterd_emit(i64 {word}, i64 {wide})"

    def _atomic(self, instruction: Instruction, pointer: str) -> Iterator[str]:
        found = re.search(r"(?:, | )(i\d+|ptr) [^,]+", instruction.text.split(pointer, 1)[1])
        kind = found.group(1) if found else "i8"
        old = instruction.result
        if instruction.opcode == "cmpxchg":
            old = self._register()
            yield f"  {old} = extractvalue {{ {kind}, i1 }} {instruction.result}, 0"
        new = self._register()
        yield f"  {new} = load {kind}, ptr {pointer}"
        for tag, value in ((records.LOAD, old), (records.STORE, new)):
            word, wide = self._register(), self._register()
            yield from self._address(word, tag, self.layout.size(kind), pointer)
            yield from self._widened(wide, kind, value)
            yield f"  call void @__afterd_emit(i64 {word}, i64 {wide})"

    def _identified(self, tag: int, identifier: int, value: str) -> Iterator[str]:
        word = self._register()
        yield f"  {word} = or i64 %afterd.dz, {_signed(records.identified(tag, identifier))}"
        yield f"  call void @__afterd_emit(i64 {word}, i64 {value})"

    def _address(self, word: str, tag: int, size: int, pointer: str) -> Iterator[str]:
        raw, cut = self._register(), self._register()
        yield f"  {raw} = ptrtoint ptr {pointer} to i64"
        yield f"  {cut} = and i64 {raw}, {records.ADDRESS_MASK}"
        yield f"  {word} = or i64 {cut}, {_signed(records.addressed(tag, min(size, records.SIZE_MASK)))}"

    def _widened(self, to: str, kind: str, value: str) -> Iterator[str]:
        bits = scalar_bits(kind)
        if kind.startswith("ptr"):
            yield f"  {to} = ptrtoint ptr {value} to i64"
        elif kind == "x86_fp80":
            double = self._register()
            yield f"  {double} = fptrunc x86_fp80 {value} to double"
            yield f"  {to} = bitcast double {double} to i64"
        elif kind.startswith("i"):
            yield f"  {to} = {'zext' if bits < 64 else 'add'} {kind} {value}{' to i64' if bits < 64 else ', 0'}"
        elif bits == 64:
            yield f"  {to} = bitcast {kind} {value} to i64"
        else:
            raw = self._register()
            yield f"  {raw} = bitcast {kind} {value} to i{bits}"
            yield f"  {to} = zext i{bits} {raw} to i64"

    def _register(self) -> str:
        self.fresh += 1
        return f"%afterd.{self.fresh}"


def _quoted(label: str) -> str:
    return label if re.fullmatch(r"[-a-zA-Z$._0-9]+", label) else f'"{label}"'


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word


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
    return text + _RUNTIME.format(
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


_RUNTIME = """
@__afterd_cursor = external thread_local(initialexec) global ptr
@__afterd_limit = external thread_local(initialexec) global ptr
@__afterd_depth = external thread_local(initialexec) global i32
@__afterd_spare = internal global [{size} x i64] zeroinitializer
@__afterd_counts = internal global ptr @__afterd_spare
@__afterd_globals = internal constant [{globals} x ptr] [{addresses}]
{constructors}
declare void @__afterd_full()
declare void @__afterd_counted(i32)
declare void @__afterd_main_returns(i32)
declare void @__afterd_register(i64, i64, ptr, ptr, i64)

define internal void @__afterd_start() {{
  call void @__afterd_register(i64 {first}, i64 {total}, ptr @__afterd_counts, ptr @__afterd_globals, i64 {globals})
  ret void
}}

define internal void @__afterd_emit(i64 %a, i64 %b) alwaysinline {{
  %c = load ptr, ptr @__afterd_cursor
  store i64 %a, ptr %c, align 8
  %n = getelementptr i64, ptr %c, i64 1
  store i64 %b, ptr %n, align 8
  %m = getelementptr i64, ptr %c, i64 2
  store i64 0, ptr %m, align 8
  store ptr %m, ptr @__afterd_cursor
  %l = load ptr, ptr @__afterd_limit
  %e = icmp eq ptr %m, %l
  br i1 %e, label %full, label %done, !prof !{{!"branch_weights", i32 1, i32 100000}}
full:
  call void @__afterd_full()
  br label %done
done:
  ret void
}}

define internal void @__afterd_block(i64 %a, i64 %d, i32 %i, i32 %id) alwaysinline {{
  %p = load ptr, ptr @__afterd_counts
  %q = getelementptr i64, ptr %p, i32 %i
  %k = load i64, ptr %q
  %k1 = add i64 %k, 1
  store i64 %k1, ptr %q
  %w = or i64 %a, %d
  call void @__afterd_emit(i64 %w, i64 0)
  %z = icmp eq i64 %k1, 0
  br i1 %z, label %counted, label %done, !prof !{{!"branch_weights", i32 1, i32 100000}}
counted:
  call void @__afterd_counted(i32 %id)
  br label %done
done:
  ret void
}}
"""
