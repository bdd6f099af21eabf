"""One function's IR written anew with the calls that record its execution.

The position in the ring is a local variable of the function (``%afterd.at``): it is read from the
thread's cursor where control comes in, and written back wherever control may go where it is read:
before calls and returns.  Room for the records of a stretch without calls is made once, at its
beginning; see recording_ir.py for the functions that are called and runtime.c for the ring.

The program's own loads and stores become volatile: optimised, a division by a zero that LLVM sees
no longer traps, and a variable without a value has another one at each use. What is traced is what
the source says at -O0; only the recording is optimised.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from afterd.trace.c.ir.ir import NAME, Block, Function, Instruction, stack_slots
from afterd.trace.c.ir.irtypes import Layout, scalar_bits
from afterd.trace.c.ir.recorded import (
    PASSED,
    REALLOC,
    arguments,
    callee,
    decided_by,
    loggable,
    operands,
    result_type,
    returns_twice,
    settable,
    tags,
)
from afterd.trace.c.window import records

STRETCH = 200
"""Records written between two looks at the limit, at most: fewer than runtime.c's SLACK."""

_PADS = frozenset(["landingpad", "catchpad", "cleanuppad"])
_NORMAL = re.compile(rf"\bto label %({NAME})")
_ACCESS = re.compile(r"^(  (?:%\S+ = load|store) )(?!atomic |volatile )")
_PLAIN_NAME = re.compile(r"[-a-zA-Z$._0-9]+")


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


@dataclass(slots=True)
class Weaver:
    """Writes one function; ``first`` are its first ids, ``module_block`` the module's first block id."""

    function: Function
    locals_: dict[str, str]
    first: Numbers
    module_block: int
    layout: Layout
    _slots: dict[str, int] = field(default_factory=dict)
    _site: int = 0
    _fresh: int = 0
    _stretch: int = 0
    _calls: bool = False
    _continued: dict[str, str] = field(default_factory=dict)  # block that ends in invoke → its tail

    def lines(self) -> Iterator[str]:
        """The function's new text, line by line, without the closing brace."""
        slots = stack_slots(self.function)
        self._slots = {name: self.first.slots + number for number, name in enumerate(slots)}
        self._site = self.first.sites
        self._calls = any(
            records.CALL in tags(instruction, self.locals_)
            for block in self.function.blocks
            for instruction in block.instructions
        )
        self._continued = {
            block.label: f"afterd.back.{number}"
            for number, block in enumerate(self.function.blocks)
            if records.RETURN in tags(block.terminator, self.locals_)
        }
        yield self.function.header
        for number, block in enumerate(self.function.blocks):
            yield f"{_quoted(block.label)}:"
            yield from self._block(number, block)

    def _block(self, number: int, block: Block) -> Iterator[str]:
        entered = False
        for instruction in block.instructions:
            if instruction.opcode == "phi":
                yield self._incoming(block, instruction.text)
                continue
            if instruction.opcode in _PADS:
                yield instruction.text
                continue
            if not entered:
                yield from self._enter(number, block)
                entered = True
            yield from self._instruction(instruction, number, block)

    def _incoming(self, block: Block, phi: str) -> str:
        """A phi, whose predecessors may now end in another block."""
        if not self._continued:
            return phi
        return re.sub(
            rf", %({NAME}) \]",
            lambda found: f", %{self._tail(found.group(1), block)} ]",
            phi,
        )

    def _tail(self, label: str, into: Block) -> str:
        """The block from which control comes into another; an invoke's other way out is not woven."""
        tail = self._continued.get(label.strip('"'))
        if tail is None:
            return label
        invoking = next(b for b in self.function.blocks if b.label == label.strip('"'))
        return tail if _normal(invoking.terminator).strip('"') == into.label else label

    def _enter(self, number: int, block: Block) -> Iterator[str]:
        identifier = self.first.blocks + number
        if number == 0:
            yield "  %afterd.at = alloca ptr"
            yield "  %afterd.held = alloca i64"
            yield "  %afterd.outer = load i32, ptr @__afterd_depth"
            yield "  %afterd.depth = add i32 %afterd.outer, 1"
            yield "  %afterd.wide = zext i32 %afterd.depth to i64"
            if self._calls:
                yield "  store i32 %afterd.depth, ptr @__afterd_depth"
            yield "  call void @__afterd_enter(ptr %afterd.at)"
        elif any(i.opcode in _PADS for i in block.instructions):
            yield "  store i32 %afterd.depth, ptr @__afterd_depth"
            yield "  call void @__afterd_reload(ptr %afterd.at)"
        yield from self._room()
        yield f"  call void @__afterd_count(i32 {identifier - self.module_block})"
        tag = records.ENTER if number == 0 else records.BLOCK
        yield from self._identified(tag, identifier)

    def _instruction(self, instruction: Instruction, number: int, block: Block) -> Iterator[str]:
        found = tags(instruction, self.locals_)
        if records.CALL in found:
            yield from self._call(instruction, self.first.blocks + number, block)
            self._site += 1
        elif found[1:] == (records.LENGTH,):
            yield from self._copy(instruction, found[0])
        elif instruction.opcode in {"ret", "resume"} and not _is_tail_called(block):
            yield from self._leave(instruction)
        elif (given := decided_by(instruction)) is not None:
            yield from self._decision(instruction, *given)
        else:
            yield _ACCESS.sub(r"\1volatile ", instruction.text)
            yield from self._memory(instruction, found)

    def _decision(self, terminator: Instruction, kind: str, register: str) -> Iterator[str]:
        """A branch, which may be asked to go another way."""
        held = self._register()
        yield f"  store {kind} {register}, ptr %afterd.held"
        yield "  call void @__afterd_decide(ptr %afterd.at, ptr %afterd.held)"
        yield f"  {held} = load {kind}, ptr %afterd.held"
        yield terminator.text.replace(f" {kind} {register},", f" {kind} {held},", 1)

    def _call(self, instruction: Instruction, identifier: int, block: Block) -> Iterator[str]:
        name = callee(instruction)
        target = ""
        if name.startswith("%"):
            target = self._register()
            yield f"  {target} = ptrtoint ptr {name} to i64"
        yield from self._identified(records.CALL, self._site, target)
        if "musttail call" in instruction.text:
            yield from self._leave(instruction)
            return
        yield "  call void @__afterd_commit(ptr %afterd.at)"
        if instruction.opcode == "invoke":
            yield from self._invoke(instruction, block)
            return
        made = self._as_returned(instruction)
        yield made.text
        if returns_twice(instruction):
            yield from self._again(instruction, identifier)
        yield from self._returned(instruction, made.result)

    def _as_returned(self, call: Instruction) -> Instruction:
        """The call with its result under another name, where what goes on with it may be another value."""
        if not call.result or returns_twice(call) or not settable(result_type(call)):
            return call
        made = self._register()
        return replace(call, text=call.text.replace(call.result, made, 1), result=made)

    def _invoke(self, instruction: Instruction, block: Block) -> Iterator[str]:
        """The edge on which the call came back gets a block of its own: others may lead there too."""
        tail = self._continued[block.label]
        made = self._as_returned(instruction)
        yield _NORMAL.sub(f"to label %{tail}", made.text, count=1)
        yield f"{tail}:"
        yield from self._returned(instruction, made.result)
        yield f"  br label %{_normal(instruction)}"

    def _again(self, instruction: Instruction, identifier: int) -> Iterator[str]:
        """What a jump back to setjmp begins anew: the depth, and the block with its first call."""
        yield "  store i32 %afterd.depth, ptr @__afterd_depth"
        entered, called = self._register(), self._register()
        yield f"  {entered} = or i64 %afterd.wide, {_word(records.BLOCK, identifier)}"
        yield f"  {called} = or i64 %afterd.wide, {_word(records.CALL, self._site)}"
        counts, counter = self._register(), self._register()
        yield f"  {counts} = load ptr, ptr @__afterd_counts"
        yield f"  {counter} = getelementptr i64, ptr {counts}, i32 {identifier - self.module_block}"
        given = f"ptr {counter}, i64 {entered}, i64 {called}, i32 {instruction.result or '0'}"
        yield f"  call void @__afterd_again({given})"

    def _returned(self, instruction: Instruction, made: str) -> Iterator[str]:
        """What follows a call that left its result in ``made``."""
        yield "  call void @__afterd_reload(ptr %afterd.at)"
        yield from self._room()
        kind = result_type(instruction)
        value, held = "", "%afterd.held" if made != instruction.result else ""
        if made and loggable(kind):
            value = self._register()
            yield from self._widened(value, kind, made)
        if held:
            yield f"  store {kind} {made}, ptr {held}"
        yield from self._identified(records.RETURN, self._site, value, held)
        if held:
            yield f"  {instruction.result} = load {kind}, ptr {held}"
        if callee(instruction) == REALLOC and instruction.result:
            (_, source), (kind, size) = arguments(instruction)
            yield from self._copied(records.COPY, instruction.result, ("ptr", source), (kind, size))

    def _copy(self, instruction: Instruction, tag: int) -> Iterator[str]:
        given = arguments(instruction)
        if callee(instruction) == PASSED:
            yield from self._copied(tag, given[0][1], None, given[1])
        else:
            yield from self._copied(tag, given[0][1], given[1], given[2])
            yield instruction.text

    def _copied(
        self, tag: int, to: str, source: tuple[str, str] | None, length: tuple[str, str]
    ) -> Iterator[str]:
        """The two records of a copy."""
        value = self._register() if source else ""
        if source:
            yield from self._widened(value, *source)
        first, size, word = self._register(), self._register(), self._register()
        if self._stretch + 2 > STRETCH:  # the runtime may look at the ring: not between these two
            yield from self._room()
        yield from self._address(first, tag, 0, to)
        yield from self._record(first, value)
        yield from self._widened(size, *length)
        yield f"  {word} = or i64 {size}, {_signed(records.LENGTH << records.TAG_SHIFT)}"
        yield from self._record(word, "")

    def _leave(self, instruction: Instruction) -> Iterator[str]:
        if self._calls:
            yield "  store i32 %afterd.outer, ptr @__afterd_depth"
        yield "  call void @__afterd_commit(ptr %afterd.at)"
        status = re.match(r"  ret i32 ([^,]+)", instruction.text)
        if self.function.name == "main" and status:
            yield f"  call void @__afterd_main_returns(i32 {status.group(1)})"
        yield instruction.text

    def _memory(self, instruction: Instruction, found: tuple[int, ...]) -> Iterator[str]:
        if not found:
            return
        if instruction.opcode == "alloca":
            address = self._register()
            yield f"  {address} = ptrtoint ptr {instruction.result} to i64"
            yield from self._identified(records.PLACE, self._slots[instruction.result], address)
            return
        read = operands(instruction)
        pointer = read[-1][1]
        if instruction.opcode in {"atomicrmw", "cmpxchg"}:
            yield from self._atomic(instruction, *read[:2])
            return
        kind, stored = read[0]
        value = instruction.result if found == (records.LOAD,) else stored
        wide = ""
        if loggable(kind):
            wide = self._register()
            yield from self._widened(wide, kind, value)
        if found == (records.LSTORE,):
            place = pointer if settable(kind) else ""
            yield from self._identified(records.LSTORE, self._slots[pointer], wide, place)
            return
        word = self._register()
        yield from self._address(word, found[0], self.layout.stored(kind), pointer)
        stored_at = pointer if found == (records.STORE,) and settable(kind) else ""
        yield from self._record(word, wide, stored_at)

    def _atomic(
        self, instruction: Instruction, at: tuple[str, str], given: tuple[str, str]
    ) -> Iterator[str]:
        """What was there and what is there now, looked at right after (another thread may be faster)."""
        pointer, kind = at[1], given[0]
        old, new = instruction.result, self._register()
        if instruction.opcode == "cmpxchg":
            old = self._register()
            yield f"  {old} = extractvalue {{ {kind}, i1 }} {instruction.result}, 0"
        yield f"  {new} = load {kind}, ptr {pointer}"
        for tag, value in ((records.LOAD, old), (records.STORE, new)):
            word, wide = self._register(), ""
            yield from self._address(word, tag, self.layout.stored(kind), pointer)
            if loggable(kind):
                wide = self._register()
                yield from self._widened(wide, kind, value)
            yield from self._record(word, wide)

    def _identified(
        self, tag: int, identifier: int, value: str = "", place: str = ""
    ) -> Iterator[str]:
        word = self._register()
        yield f"  {word} = or i64 %afterd.wide, {_word(tag, identifier)}"
        yield from self._record(word, value, place)

    def _record(self, word: str, value: str, place: str = "") -> Iterator[str]:
        """Write one record; a second word of zero is there already. ``place`` holds the value, where the
        run may be asked to go on with another one.
        """
        if self._stretch >= STRETCH:
            yield from self._room()
        self._stretch += 1
        if place:
            given = f"i64 {word}, i64 {value}, ptr {place}"
            yield f"  call void @__afterd_put(ptr %afterd.at, {given})"
        elif value:
            yield f"  call void @__afterd_record(ptr %afterd.at, i64 {word}, i64 {value})"
        else:
            yield f"  call void @__afterd_mark(ptr %afterd.at, i64 {word})"

    def _room(self) -> Iterator[str]:
        self._stretch = 0
        yield "  call void @__afterd_room(ptr %afterd.at)"

    def _address(self, word: str, tag: int, size: int, pointer: str) -> Iterator[str]:
        raw, cut = self._register(), self._register()
        yield f"  {raw} = ptrtoint ptr {pointer} to i64"
        yield f"  {cut} = and i64 {raw}, {records.ADDRESS_MASK}"
        yield f"  {word} = or i64 {cut}, {_signed(records.addressed(tag, size))}"

    def _widened(self, to: str, kind: str, value: str) -> Iterator[str]:
        bits = scalar_bits(kind)
        if kind.startswith("ptr"):
            yield f"  {to} = ptrtoint ptr {value} to i64"
        elif kind == "x86_fp80":
            double = self._register()
            yield f"  {double} = fptrunc x86_fp80 {value} to double"
            yield f"  {to} = bitcast double {double} to i64"
        elif kind.startswith("i"):
            extended = f"zext {kind} {value} to i64" if bits < 64 else f"add i64 {value}, 0"
            yield f"  {to} = {extended}"
        elif bits == 64:
            yield f"  {to} = bitcast {kind} {value} to i64"
        else:
            raw = self._register()
            yield f"  {raw} = bitcast {kind} {value} to i{bits}"
            yield f"  {to} = zext i{bits} {raw} to i64"

    def _register(self) -> str:
        self._fresh += 1
        return f"%afterd.{self._fresh}"


def _is_tail_called(block: Block) -> bool:
    """Whether a block ends in ``musttail call`` and ``ret``, between which nothing may stand."""
    return len(block.instructions) > 1 and "musttail call" in block.instructions[-2].text


def _normal(invoke: Instruction) -> str:
    """The label that control goes to when an invoked function returns."""
    found = _NORMAL.search(invoke.text)
    return found.group(1) if found else ""


def _word(tag: int, identifier: int) -> int:
    return _signed(records.identified(tag, identifier))


def _quoted(label: str) -> str:
    return label if _PLAIN_NAME.fullmatch(label) else f'"{label}"'


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word
