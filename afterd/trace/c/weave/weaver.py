"""One function's IR written anew with the instructions that record its execution.

The place of the next record in the ring is a local variable of the function: it is read from the
thread's cursor where control comes in, and written back wherever control may go where it is read:
before calls and returns (position.py).  recording_ir.py has what is rarely called, runtime.c the ring.

The program's own loads and stores become volatile: optimised, a division by a zero that LLVM sees
no longer traps, and a variable without a value has another one at each use. What is traced is what
the source says at -O0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from afterd.trace.c.ir.ir import NAME, Block, Function, Instruction, plain_locals, stack_slots
from afterd.trace.c.ir.irtypes import Layout, scalar_bits
from afterd.trace.c.ir.recorded import (
    PASSED,
    REALLOC,
    arguments,
    callee,
    decided_by,
    is_loggable,
    is_settable,
    may_return_twice,
    operands,
    result_type,
    returns_twice,
    tags,
)
from afterd.trace.c.weave.position import STRETCH, Position, signed
from afterd.trace.c.window import records

_PADS = frozenset(["landingpad", "catchpad", "cleanuppad"])
_NORMAL = re.compile(rf"\bto label %({NAME})")
_TARGET = re.compile(rf"\blabel %({NAME})")
_ACCESS = re.compile(r"^(  (?:%\S+ = load|store) )(?!atomic |volatile )")
_PLAIN_NAME = re.compile(r"[-a-zA-Z$._0-9]+")
_STATUS = re.compile(r"  ret i32 ([^,]+)")
_TRUTHS = {"true": "1", "false": "0"}
_LITERAL = re.compile(r"-?\d+")
_SIZED = re.compile(r", i\d+ %")


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
class Read:
    """A function with what its records are: its plain locals, all its stack slots, the tags of each
    instruction's records, block by block.
    """

    function: Function
    locals_: dict[str, str]
    slots: dict[str, str]
    tags: tuple[tuple[tuple[int, ...], ...], ...]

    @property
    def needed(self) -> Numbers:
        """The ids that the function needs."""
        sites = sum(records.CALL in found for block in self.tags for found in block)
        return Numbers(len(self.function.blocks), sites, len(self.slots))


def read(function: Function) -> Read:
    """What a function will record."""
    locals_ = plain_locals(function)
    found = tuple(
        tuple(tags(instruction, locals_) for instruction in block.instructions)
        for block in function.blocks
    )
    return Read(function, locals_, stack_slots(function), found)


@dataclass(frozen=True, slots=True)
class Parts:
    """The labels of a block's first and last part that control leaves by: by the last to ``returns_to``."""

    first: str
    last: str
    returns_to: set[str]


class Weaver:
    """Writes one function; ``first`` are its first ids, ``module_block`` the module's first block id."""

    def __init__(
        self, read: Read, first: Numbers, module_block: int, layout: Layout, *, masked: bool
    ) -> None:
        self.function, self.locals_, self._tags = read.function, read.locals_, read.tags
        self.first, self.module_block, self.layout = first, module_block, layout
        self._masked = masked
        self._slots = {name: first.slots + number for number, name in enumerate(read.slots)}
        self._site = first.sites
        self._calls = any(records.CALL in found for block in read.tags for found in block)
        self._lines: list[str] = []
        self._at = Position(self._lines)
        self._parts: dict[str, Parts] = {}
        self._phis: list[tuple[int, str]] = []  # index of the line, label of the block it is in
        self._incoming: dict[
            str, int
        ] = {}  # the longest stretch that leads to a block written later

    def lines(self) -> list[str]:
        """The function's new text, line by line, without the closing brace."""
        self._lines.append(self.function.header)
        loops = _loop_headers(self.function)
        for number, block in enumerate(self.function.blocks):
            again = number == 0 or block.label in loops
            self._lines.append(f"{_quoted_label(block.label)}:")
            self._at.begin(block.label, STRETCH if again else self._incoming.get(block.label, 0))
            self._block(number, block)
            self._leads_on(block)
        for index, label in self._phis:
            self._lines[index] = self._came_from(self._lines[index], label)
        return [*self._lines, *self._at.rare]

    def _leads_on(self, block: Block) -> None:
        for target in _targets(block.terminator):
            known = self._incoming.get(target, 0)
            self._incoming[target] = max(known, self._at.stretch)

    def _block(self, number: int, block: Block) -> None:
        entered = False
        for instruction, found in zip(block.instructions, self._tags[number], strict=True):
            if instruction.opcode == "phi":
                self._phis.append((len(self._lines), block.label))
                self._lines.append(instruction.text)
                continue
            if instruction.opcode in _PADS:
                self._lines.append(instruction.text)
                continue
            if not entered:
                self._enter(number, block)
                entered = True
            if instruction is block.terminator:
                self._terminator(instruction, found, number, block)
            else:
                self._instruction(instruction, found, number)

    def _came_from(self, phi: str, label: str) -> str:
        """A phi, whose predecessors may now end in another part; an invoke throws out of the part before."""

        def part(found: re.Match[str]) -> str:
            parts = self._parts[found[1].strip('"')]
            return f", %{_quoted_label(parts.last if label in parts.returns_to else parts.first)} ]"

        return re.sub(rf", %({NAME}) \]", part, phi)

    def _enter(self, number: int, block: Block) -> None:
        identifier = self.first.blocks + number
        if number == 0:
            self._lines += [
                "  %afterd.at = alloca ptr",
                "  %afterd.held = alloca i64",
                *(["  %afterd.calling = alloca i32"] if self._perhaps_twice() else []),
                *(i.text for i in block.instructions if _is_fixed(i)),
                "  %afterd.thread = call ptr @llvm.threadlocal.address.p0(ptr @__afterd_thread)",
                "  %afterd.limit = getelementptr i8, ptr %afterd.thread, i64 8",
                "  %afterd.level = getelementptr i8, ptr %afterd.thread, i64 16",
                "  %afterd.outer = load i32, ptr %afterd.level",
                "  %afterd.depth = add i32 %afterd.outer, 1",
                "  %afterd.wide = zext i32 %afterd.depth to i64",
            ]
            if self._calls:
                self._lines.append("  store i32 %afterd.depth, ptr %afterd.level")
            self._at.enter()
        elif any(i.opcode in _PADS for i in block.instructions):
            self._lines.append("  store i32 %afterd.depth, ptr %afterd.level")
            self._at.reload()
            self._at.room()
        self._count(identifier - self.module_block)
        self._at.identified(records.ENTER if number == 0 else records.BLOCK, identifier)

    def _perhaps_twice(self) -> bool:
        return any(
            may_return_twice(i) for block in self.function.blocks for i in block.instructions
        )

    def _count(self, index: int) -> None:
        counts, counter, before, after = (self._at.register() for _ in range(4))
        self._lines += [
            f"  {counts} = load ptr, ptr @__afterd_counts, align 8",
            f"  {counter} = getelementptr i8, ptr {counts}, i64 {8 * index}",
            f"  {before} = load i64, ptr {counter}, align 8",
            f"  {after} = add i64 {before}, 1",
            f"  store i64 {after}, ptr {counter}, align 8",
        ]

    def _terminator(
        self, last: Instruction, found: tuple[int, ...], number: int, block: Block
    ) -> None:
        if records.CALL in found:
            self._call(last, self.first.blocks + number)
            before = self._at.label
            self._invoke(last)
            self._site += 1
            self._parts[block.label] = Parts(before, self._at.label, {_normal(last).strip('"')})
            return
        if last.opcode in {"ret", "resume"}:
            if not _is_tail_called(block):
                self._leave(last)
            else:
                self._lines.append(last.text)
            return
        text = last.text
        if (given := decided_by(last)) is not None:
            text = self._decision(last, *given)
        self._at.leave()
        self._lines.append(text)
        targets = set(_targets(last))
        self._parts[block.label] = Parts(self._at.label, self._at.label, targets)

    def _instruction(self, instruction: Instruction, found: tuple[int, ...], number: int) -> None:
        if records.CALL in found:
            self._call(instruction, self.first.blocks + number)
            self._site += 1
        elif found[1:] == (records.LENGTH,):
            self._copy(instruction, found[0])
        else:
            if number or not _is_fixed(instruction):
                self._lines.append(_ACCESS.sub(r"\1volatile ", instruction.text))
            if found:
                self._memory(instruction, found)

    def _decision(self, terminator: Instruction, kind: str, register: str) -> str:
        """A branch, which may be asked to go another way."""
        held = self._at.register()
        self._lines.append(f"  store {kind} {register}, ptr %afterd.held")
        self._at.decide("%afterd.held")
        self._lines.append(f"  {held} = load {kind}, ptr %afterd.held")
        return terminator.text.replace(f" {kind} {register},", f" {kind} {held},", 1)

    def _call(self, instruction: Instruction, identifier: int) -> None:
        name = callee(instruction)
        target = ""
        if name.startswith("%"):
            target = self._at.register()
            self._lines.append(f"  {target} = ptrtoint ptr {name} to i64")
        self._at.identified(records.CALL, self._site, target)
        if "musttail call" in instruction.text:
            self._leave(instruction)
            return
        self._at.commit()
        if instruction.opcode == "invoke":
            return
        made = self._as_returned(instruction)
        if may_return_twice(instruction):
            self._lines.append(f"  store volatile i32 {self._site}, ptr %afterd.calling")
        self._lines.append(made.text)
        if returns_twice(instruction):
            self._again(instruction, identifier)
        self._returned(instruction, made.result)

    def _as_returned(self, call: Instruction) -> Instruction:
        """The call with its result under another name, where what goes on with it may be another value."""
        if not call.result or returns_twice(call) or not is_settable(result_type(call)):
            return call
        made = self._at.register()
        return call._replace(text=call.text.replace(call.result, made, 1), result=made)

    def _invoke(self, instruction: Instruction) -> None:
        """The edge on which the call came back gets a part of its own: others may lead there too."""
        made = self._as_returned(instruction)
        tail = f"afterd.back.{self._at.register().removeprefix('%afterd.')}"
        self._lines.append(_NORMAL.sub(f"to label %{tail}", made.text, count=1))
        self._at.part(tail)
        self._returned(instruction, made.result)
        self._at.leave()
        self._lines.append(f"  br label %{_normal(instruction)}")

    def _again(self, instruction: Instruction, identifier: int) -> None:
        """What a jump back to setjmp begins anew: the depth, and the block with its first call."""
        entered, called, counts, counter = (self._at.register() for _ in range(4))
        again = self._came_back() if may_return_twice(instruction) else instruction.result or "0"
        given = f"ptr {counter}, i64 {entered}, i64 {called}, i32 {again}"
        self._lines += [
            "  store i32 %afterd.depth, ptr %afterd.level",
            f"  {entered} = or i64 %afterd.wide, {_word(records.BLOCK, identifier)}",
            f"  {called} = or i64 %afterd.wide, {_word(records.CALL, self._site)}",
            f"  {counts} = load ptr, ptr @__afterd_counts",
            f"  {counter} = getelementptr i64, ptr {counts}, i32 {identifier - self.module_block}",
            f"  call void @__afterd_again({given})",
        ]

    def _came_back(self) -> str:
        """Whether this was not the call that is under way: what it returns the first time is not known."""
        under_way, other = self._at.register(), self._at.register()
        self._lines += [
            f"  {under_way} = load volatile i32, ptr %afterd.calling",
            "  store volatile i32 -1, ptr %afterd.calling",
            f"  {other} = icmp ne i32 {under_way}, {self._site}",
        ]
        return self._made(f"zext i1 {other} to i32")

    def _returned(self, instruction: Instruction, made: str) -> None:
        """What follows a call that left its result in ``made``."""
        self._at.reload()
        self._at.room()
        kind = result_type(instruction)
        held = "%afterd.held" if made != instruction.result else ""
        value = self._widened(kind, made) if made and is_loggable(kind) else ""
        if held:
            self._lines.append(f"  store {kind} {made}, ptr {held}")
        self._at.identified(records.RETURN, self._site, value)
        if held:
            self._at.look(held)
            self._lines.append(f"  {instruction.result} = load {kind}, ptr {held}")
        if callee(instruction) == REALLOC and instruction.result:
            (_, source), (kind, size) = arguments(instruction)
            self._copied(records.COPY, instruction.result, ("ptr", source), (kind, size))

    def _copy(self, instruction: Instruction, tag: int) -> None:
        given = arguments(instruction)
        if callee(instruction) == PASSED:
            self._copied(tag, given[0][1], None, given[1])
        else:
            self._copied(tag, given[0][1], given[1], given[2])
            self._lines.append(instruction.text)

    def _copied(
        self, tag: int, to: str, source: tuple[str, str] | None, length: tuple[str, str]
    ) -> None:
        """The two records of a copy."""
        value = self._widened(*source) if source else ""
        if (
            self._at.stretch + 2 > STRETCH
        ):  # the runtime may look at the ring: not between these two
            self._at.room()
        self._at.record(self._address(tag, 0, to, masked=True), value)
        size, word = self._widened(*length), self._at.register()
        marked = signed(records.LENGTH << records.TAG_SHIFT)
        self._lines.append(f"  {word} = or i64 {size}, {marked}")
        self._at.record(word)

    def _leave(self, instruction: Instruction) -> None:
        if self._calls:
            self._lines.append("  store i32 %afterd.outer, ptr %afterd.level")
        self._at.commit()
        status = _STATUS.match(instruction.text) if self.function.name == "main" else None
        if status:
            self._lines.append(f"  call void @__afterd_main_returns(i32 {status[1]})")
        self._lines.append(instruction.text)

    def _memory(self, instruction: Instruction, found: tuple[int, ...]) -> None:
        if instruction.opcode == "alloca":
            address = self._widened("ptr", instruction.result)
            self._at.identified(records.PLACE, self._slots[instruction.result], address)
            return
        read = operands(instruction)
        pointer = read[-1][1]
        if instruction.opcode in {"atomicrmw", "cmpxchg"}:
            self._atomic(instruction, *read[:2])
            return
        kind, stored = read[0]
        value = instruction.result if found == (records.LOAD,) else stored
        wide = self._widened(kind, value) if is_loggable(kind) else ""
        if found == (records.LSTORE,):
            self._at.identified(records.LSTORE, self._slots[pointer], wide)
        else:
            self._at.record(self._address(found[0], self.layout.stored(kind), pointer), wide)
        if found != (records.LOAD,) and is_settable(kind):
            self._at.look(pointer)

    def _atomic(
        self, instruction: Instruction, at: tuple[str, str], given: tuple[str, str]
    ) -> None:
        """What was there and what is there now, looked at right after (another thread may be faster)."""
        pointer, kind = at[1], given[0]
        old, new = instruction.result, self._at.register()
        if instruction.opcode == "cmpxchg":
            old = self._at.register()
            self._lines.append(f"  {old} = extractvalue {{ {kind}, i1 }} {instruction.result}, 0")
        self._lines.append(f"  {new} = load {kind}, ptr {pointer}")
        for tag, value in ((records.LOAD, old), (records.STORE, new)):
            word = self._address(tag, self.layout.stored(kind), pointer)
            self._at.record(word, self._widened(kind, value) if is_loggable(kind) else "")

    def _address(self, tag: int, size: int, pointer: str, *, masked: bool = False) -> str:
        """The first word of a record that carries an address; where it was not accessed yet, or may be
        tagged, its highest bits may be anything.
        """
        raw, word = self._widened("ptr", pointer), self._at.register()
        if masked or self._masked:
            whole, raw = raw, self._at.register()
            self._lines.append(f"  {raw} = and i64 {whole}, {records.ADDRESS_MASK}")
        self._lines.append(
            f"  {word} = or i64 {raw}, {signed(records.addressed_tag_word(tag, size))}"
        )
        return word

    def _widened(self, kind: str, value: str) -> str:
        """A value as a word."""
        bits = scalar_bits(kind)
        if kind.startswith("i"):
            if value in _TRUTHS:
                return _TRUTHS[value]
            if _LITERAL.fullmatch(value):
                return str(signed(int(value) & (1 << bits) - 1))
            return value if bits == 64 else self._made(f"zext {kind} {value} to i64")
        if kind.startswith("ptr"):
            return "0" if value == "null" else self._made(f"ptrtoint ptr {value} to i64")
        if kind == "x86_fp80":
            double = self._made(f"fptrunc x86_fp80 {value} to double")
            return self._made(f"bitcast double {double} to i64")
        raw = self._made(f"bitcast {kind} {value} to i{bits}")
        return raw if bits == 64 else self._made(f"zext i{bits} {raw} to i64")

    def _made(self, expression: str) -> str:
        register = self._at.register()
        self._lines.append(f"  {register} = {expression}")
        return register


def _is_fixed(instruction: Instruction) -> bool:
    """Whether it is a stack slot of a size that is known: LLVM wants those of the first block in it."""
    return instruction.opcode == "alloca" and not _SIZED.search(instruction.text)


def _targets(terminator: Instruction) -> list[str]:
    return [name.strip('"') for name in _TARGET.findall(terminator.text)]


def _loop_headers(function: Function) -> frozenset[str]:
    """The blocks to which control comes from one that stands no earlier."""
    seen, found = set[str](), set[str]()
    for block in function.blocks:
        seen.add(block.label)
        found.update(seen.intersection(_targets(block.terminator)))
    return frozenset(found)


def _is_tail_called(block: Block) -> bool:
    """Whether a block ends in ``musttail call`` and ``ret``, between which nothing may stand."""
    return len(block.instructions) > 1 and "musttail call" in block.instructions[-2].text


def _normal(invoke: Instruction) -> str:
    """The label that control goes to when an invoked function returns."""
    found = _NORMAL.search(invoke.text)
    return found.group(1) if found else ""


def _word(tag: int, identifier: int) -> int:
    return signed(records.identified_tag_word(tag, identifier))


def _quoted_label(label: str) -> str:
    return label if _PLAIN_NAME.fullmatch(label) else f'"{label}"'
