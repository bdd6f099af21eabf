"""LLVM IR text in, the same program that counts its edges out.

Nothing but counting is put in and nothing is optimised: the program behaves as at -O0. A branch picks
its counter by the same condition; a switch and an invoke get a block on each way out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from afterd.spectra.c.plan import Plan, planned_counters
from afterd.trace.c.ir.ir import NAME, Block, Function, Instruction, functions
from afterd.trace.c.weave import (
    Counted,
    Instrumented,
    NumberedFunction,
    Numbers,
    unrecordable_functions,
    with_constructor,
)

PAGE = 4096
"""Counters of a module are padded to this many: its bytes are whole pages for any width."""

_EARLY = 102  # priority: after the runtime's (101), before any of the program's
_PADS = frozenset(["landingpad", "catchpad", "cleanuppad"])
_BRANCH = re.compile(rf"^  br i1 (\S+), label %({NAME}), label %({NAME})")
_TARGET = re.compile(rf"label %({NAME})")
_NORMAL = re.compile(rf"\bto label %({NAME})")
_INCOMING = re.compile(rf"\[ (.+?), %({NAME}) \]")
_MODULE = """
@__afterd_counters = internal global [{size} x i{bits}] zeroinitializer, align {page}
%afterd.module = type {{ ptr, i64, i64, ptr }}
@__afterd_module = internal global %afterd.module {{ ptr @__afterd_counters, i64 {bytes}, i64 {offset}, ptr null }}
@__afterd_leaving = internal global ptr @__afterd_leave, section ".fini_array.102", align 8
declare void @__afterd_arrives(ptr)
declare void @__afterd_leaves(ptr)
declare i{bits} @llvm.uadd.sat.i{bits}(i{bits}, i{bits})
define internal void @__afterd_arrive() {{
  call void @__afterd_arrives(ptr @__afterd_module)
  ret void
}}
define internal void @__afterd_leave() {{
  call void @__afterd_leaves(ptr @__afterd_module)
  ret void
}}
"""


def counting(text: str, bits: int) -> Counted:
    """What it takes to put counters of ``bits`` (8 to 64) bits into every function; they stop at their
    largest value.

    In the result ``first.blocks`` of a function is the number of its first counter in the build.
    """
    skipped = unrecordable_functions(text)
    parsed = [
        (start, end, function, planned_counters(function))
        for start, end, function in functions(text)
        if function.name not in skipped
    ]
    size = max(1, -(-sum(plan.size for *_, plan in parsed) // PAGE)) * PAGE

    def woven(first: Numbers) -> Instrumented:
        parts: list[str] = []
        numbered: list[NumberedFunction] = []
        at, number = 0, first.blocks
        for start, end, function, plan in parsed:
            weaver = _Weaver(function, plan, number - first.blocks, bits)
            numbered.append(NumberedFunction(function.name, start, end, Numbers(number)))
            parts += [text[at:start], "\n".join([*weaver.lines(), "}"])]
            number += plan.size
            at = end
        text_woven = "".join([*parts, text[at:], _counters(size, bits, first)])
        made = with_constructor(text_woven, "@__afterd_arrive", _EARLY)
        return Instrumented(made, tuple(numbered), Numbers(size))

    return Counted(Numbers(size), woven)


def _counters(size: int, bits: int, first: Numbers) -> str:
    """The module's own counters, and what reports them."""
    width = bits // 8
    own = _MODULE.format(
        size=size, bits=bits, page=PAGE, bytes=size * width, offset=(first.blocks - 1) * width
    )
    return re.sub(r"declare .*uadd.*\n", "", own) if bits == 64 else own  # it cannot be filled


@dataclass(slots=True)
class _Weaver:
    """Writes one function; its counters begin at ``first`` in the module's array."""

    function: Function
    plan: Plan
    first: int
    bits: int
    _fresh: int = 0
    _ways: dict[tuple[str, str], str] = field(default_factory=dict)  # (from, to) → block between
    _numbers: dict[str, int] = field(default_factory=dict)
    _leading: dict[int, dict[int, int]] = field(default_factory=dict)  # block → target → counter

    def lines(self) -> Iterator[str]:
        """The function's new text, line by line, without the closing brace."""
        self._numbers = {block.label: at for at, block in enumerate(self.function.blocks)}
        for (source, target), counter in self.plan.counted.items():
            self._leading.setdefault(source, {})[target] = counter
        for block in self.function.blocks:
            if block.terminator.opcode in {"switch", "invoke"}:
                self._divide(block)
        yield self.function.header
        for number, block in enumerate(self.function.blocks):
            yield f"{_quoted_label(block.label)}:"
            yield from self._block(number, block)
        yield from self._between()

    def _divide(self, block: Block) -> None:
        """Give each counted way out of a block a block of its own."""
        pattern = _NORMAL if block.terminator.opcode == "invoke" else _TARGET
        for label in pattern.findall(block.terminator.text):
            name = f"afterd.way.{len(self._ways)}"
            self._ways.setdefault((block.label, label.strip('"')), name)

    def _between(self) -> Iterator[str]:
        for (source, target), name in self._ways.items():
            yield f"{name}:"
            yield from self._counted(self._leading[self._numbers[source]][self._numbers[target]])
            yield f"  br label %{_quoted_label(target)}"

    def _block(self, number: int, block: Block) -> Iterator[str]:
        begun = False
        last = len(block.instructions) - 1
        tail = last - 1 if last and "musttail call" in block.instructions[-2].text else last
        for at, instruction in enumerate(block.instructions):
            if instruction.opcode == "phi":
                yield self._incoming(instruction, block.label)
                continue
            if not begun and instruction.opcode not in _PADS:
                begun = True
                yield from self._begun(number)
            if at == tail:
                yield from self._leaving(number, block.terminator)
            yield instruction.text if at != last else self._redirected(block)

    def _begun(self, number: int) -> Iterator[str]:
        if number == 0:
            yield from self._counted(0)
        if number in self.plan.own:
            yield from self._counted(self.plan.own[number])

    def _leaving(self, number: int, terminator: Instruction) -> Iterator[str]:
        """What is counted before a block's last instruction."""
        ways = self._leading.get(number, {})
        if number in self.plan.returns:
            yield from self._counted(self.plan.returns[number])
        elif terminator.opcode != "br" or not ways:
            return
        elif len(ways) == 1:
            yield from self._counted(next(iter(ways.values())))
        elif found := _BRANCH.match(terminator.text):
            condition, *labels = found.groups()
            yes, no = (ways[self._numbers[label.strip('"')]] for label in labels)
            yield from self._counted(yes, no, condition)

    def _counted(self, counter: int, otherwise: int = 0, condition: str = "") -> Iterator[str]:
        """One more at a counter: at the first if the condition holds, at the other if not."""
        place, old, new = (self._register() for _ in range(3))
        kind, index = f"i{self.bits}", str(self.first + counter)
        if condition:
            chosen = self._register()
            other = self.first + otherwise
            yield f"  {chosen} = select i1 {condition}, i64 {index}, i64 {other}"
            index = chosen
        yield f"  {place} = getelementptr {kind}, ptr @__afterd_counters, i64 {index}"
        yield f"  {old} = load {kind}, ptr {place}"
        if self.bits == 64:
            yield f"  {new} = add {kind} {old}, 1"
        else:
            yield f"  {new} = call {kind} @llvm.uadd.sat.{kind}({kind} {old}, {kind} 1)"
        yield f"  store {kind} {new}, ptr {place}"

    def _redirected(self, block: Block) -> str:
        """A terminator that goes by way of the blocks between."""

        def way(found: re.Match[str]) -> str:
            name = self._ways.get((block.label, found.group(1).strip('"')))
            return found.group() if name is None else f"label %{name}"

        text = block.terminator.text
        return _TARGET.sub(way, text) if self._ways else text

    def _incoming(self, phi: Instruction, label: str) -> str:
        """A phi that is told of the blocks between, each once however many cases lead there."""
        if not self._ways:
            return phi.text
        head, _, rest = phi.text.partition(" [ ")
        listed = _INCOMING.findall("[ " + rest)
        after = rest.rpartition(" ]")[2]
        pairs = {
            f"[ {value}, %{self._ways.get((name.strip(chr(34)), label), name)} ]": None
            for value, name in listed
        }
        return f"{head} {', '.join(pairs)}{after}"

    def _register(self) -> str:
        self._fresh += 1
        return f"%afterd.{self._fresh}"


def _quoted_label(label: str) -> str:
    return label if re.fullmatch(r"[-a-zA-Z$._0-9]+", label) else f'"{label}"'
