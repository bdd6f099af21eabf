"""LLVM IR text, cut into functions, blocks and instructions without looking at operands.

llvmlite prints one named instruction a line (after ``add_instruction_namer_pass``); both the
instrumentation and the analysis start from this cut, so that what one numbered the other finds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from afterd.trace.c.ir.irtypes import split_top

NAME = r'(?:[-a-zA-Z$._0-9]+|"[^"]*")'
"""A name as LLVM prints it, without its sigil."""

_DEFINE = re.compile(rf"^define .*?@({NAME})\(")
_LABEL = re.compile(rf"^({NAME}):")
_INSTRUCTION = re.compile(rf"^  (?:(%{NAME}) = )?(?:tail |musttail |notail )?([a-z_0-9]+)\b")
_FLAGS = re.compile(
    r"^(?:(?:nuw|nsw|nusw|exact|disjoint|nneg|samesign|inbounds|fast|nnan|ninf|nsz|arcp|contract|afn|reassoc"
    r"|weak|volatile|atomic|inrange\([^)]*\)) )+"
)
_PLAIN_LOAD = re.compile(rf"load (?:volatile )?([^,]+), ptr (%{NAME})(?:,|$)")
_PLAIN_STORE = re.compile(rf"store (?:volatile )?(.+), ptr (%{NAME})(?:,|$)")
_LOCAL = re.compile(rf"%{NAME}")
_LIFETIME = re.compile(r"call void @llvm\.(?:lifetime|dbg)\.")


class Instruction(NamedTuple):
    """One instruction: its text (several lines joined for switch and landingpad), result, opcode."""

    text: str
    opcode: str
    result: str = ""  # with the leading %

    @property
    def body(self) -> str:
        """What follows the opcode and its flags, without metadata."""
        text = self.text.split(" = ", 1)[1] if self.result else self.text.strip()
        text = text.removeprefix("tail ").removeprefix("musttail ").removeprefix("notail ")
        return _FLAGS.sub("", text.split(", !", 1)[0].partition(" ")[2])


@dataclass(frozen=True, slots=True)
class Block:
    """A basic block; ``label`` without the leading %."""

    label: str
    instructions: tuple[Instruction, ...]

    @property
    def terminator(self) -> Instruction:
        """The last instruction."""
        return self.instructions[-1]


@dataclass(frozen=True, slots=True)
class Function:
    """A function definition: ``header`` is the define line, ``name`` without @ and quotes."""

    name: str
    header: str
    blocks: tuple[Block, ...]


def functions(text: str) -> Iterator[tuple[int, int, Function]]:
    """Every function definition with the offsets of its first and past its last character."""
    for start, end in definitions(text):
        yield start, end, parse_function(text[start:end])


def preamble(text: str) -> str:
    """What stands before the first function: types, globals, aliases."""
    return text[: next(definitions(text), (len(text), 0))[0]]


def definitions(text: str) -> Iterator[tuple[int, int]]:
    """The offsets of the first and past the last character of every function definition."""
    at = 0 if text.startswith("define ") else text.find("\ndefine ") + 1
    while at > 0 or text.startswith("define ", at):
        end = text.index("\n}", at) + 2
        yield at, end
        following = text.find("\ndefine ", end)
        if following < 0:
            return
        at = following + 1


def parse_function(text: str) -> Function:
    """Cut the text of one definition; raises ValueError when it is not one."""
    lines = text.split("\n")
    found = _DEFINE.match(lines[0])
    if not found:
        message = f"not a function definition: {lines[0][:80]}"
        raise ValueError(message)
    blocks: list[Block] = []
    label, instructions = "", list[Instruction]()
    for line in _joined_lines(lines[1:-1]):
        named = _LABEL.match(line)
        if named:
            if instructions:
                blocks.append(Block(label, tuple(instructions)))
            label, instructions = named.group(1).strip('"'), []
            continue
        instruction = _INSTRUCTION.match(line)
        if instruction:
            instructions.append(Instruction(line, instruction.group(2), instruction.group(1) or ""))
    blocks.append(Block(label, tuple(instructions)))
    return Function(found.group(1).strip('"'), lines[0], tuple(blocks))


def _joined_lines(lines: list[str]) -> Iterator[str]:
    """Lines with their continuations: switch tables, landingpad clauses, an invoke's targets."""
    pending = ""
    for line in lines:
        if line.startswith("    #dbg"):
            continue
        if pending and not line.startswith(("   ", "  ]")):
            yield pending
            pending = ""
        if line.startswith(("   ", "  ]")) and pending:
            pending += "\n" + line
        elif line.startswith("  ") and not line.startswith("    "):
            if pending:
                yield pending
            pending = line
        elif line:
            yield line
    if pending:
        yield pending


def parameters(header: str) -> list[str]:
    """The formal parameters of a define line, each with its type and attributes."""
    found = _DEFINE.match(header)
    if not found:
        return []
    start = found.end() - 1
    inner = header[start + 1 : closing_parenthesis(header, start)]
    return split_top(inner) if inner.strip() else []


def closing_parenthesis(text: str, start: int) -> int:
    """Where the parenthesis that opens at ``start`` closes; the text's length when it does not."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return at
    return len(text)


def stack_slots(function: Function) -> dict[str, str]:
    """Every alloca with its type, in order: what slot ids are given to."""
    return {
        instruction.result: instruction.text.split(" = alloca ", 1)[1].split(",")[0].split(" !")[0]
        for block in function.blocks
        for instruction in block.instructions
        if instruction.opcode == "alloca"
    }


def plain_locals(function: Function) -> dict[str, str]:
    """Stack slots whose address never escapes, with their type, in order of their allocation.

    Such a slot is only loaded from and stored to, whole: no record of its loads is needed.
    """
    entry = Function(function.name, function.header, function.blocks[:1])
    slots = {slot: kind for slot, kind in stack_slots(entry).items() if kind[0] not in "[%{<"}
    for block in function.blocks:
        for instruction in block.instructions:
            for name in _escaping(instruction, slots):
                slots.pop(name, None)
    return slots


def _escaping(instruction: Instruction, slots: Mapping[str, str]) -> list[str]:
    """The locals that an instruction uses as anything but a variable of their own type."""
    text = instruction.text
    if instruction.result:
        text = text.split(" = ", 1)[1]
    if instruction.opcode == "load" and (plain := _PLAIN_LOAD.match(text)):
        kind, slot = plain.groups()
        return [] if slots.get(slot, kind) == kind else [slot]
    if instruction.opcode == "store" and (plain := _PLAIN_STORE.match(text.strip())):
        value, slot = plain.groups()
        kind = slots.get(slot)
        same = kind is None or value.startswith(f"{kind} ")
        return _LOCAL.findall(value) + ([] if same else [slot])
    if instruction.opcode == "call" and _LIFETIME.search(text):
        return []
    return _LOCAL.findall(text)
