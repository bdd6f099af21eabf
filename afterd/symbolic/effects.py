"""What a side of a branch may write that was not executed: read off its blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from afterd.limits import MACHINE
from afterd.symbolic.code import Body, Code
from afterd.symbolic.loading import Image
from afterd.symbolic.refusal import NotFollowedError

_HARMLESS = """
strlen strcmp strncmp strchr strrchr strstr memcmp atoi atol atof abs labs fabs sqrt pow exp log floor
ceil getenv toupper tolower isalpha isdigit isalnum isspace isupper islower isxdigit
__ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc
"""
HARMLESS = frozenset(_HARMLESS.split())
"""Functions that write nothing that the program's formula speaks of."""


@dataclass(slots=True)
class Effects:
    """Scalars that may be written (address → size); ``known`` is False where others may be too."""

    written: dict[int, int] = field(default_factory=dict)
    known: bool = True


def effects_of(
    image: Image, body: Body, start: int, join: int, registers: Mapping[str, int]
) -> Effects:
    """The effects of the blocks from ``start`` up to ``join``; ``registers`` are the stack slots."""
    found = Effects()
    for block in _region(body, start, join):
        _block(image, body, block, registers, found, 0)
    return found


def _region(body: Body, start: int, join: int) -> Iterator[int]:
    seen = {join}
    waiting = [start]
    while waiting:
        block = waiting.pop()
        if block not in seen:
            seen.add(block)
            yield block
            waiting.extend(body.successors[block])


def _block(
    image: Image, body: Body, number: int, slots: Mapping[str, int], found: Effects, deep: int
) -> None:
    block = body.blocks[number]
    if block.ends and not block.asserts:
        found.known = False  # it ends the program in another way: what follows is not known
    made = {code.result: code for code in block.codes if code.result}
    for code in block.codes:
        if code.opcode == "store":
            targets = _targets(code.operands[1].register, code.operands[1].value, made, slots)
            if targets is None:
                found.known = False
            else:
                found.written.update(dict.fromkeys(targets, code.size))
        elif code.opcode == "call" and code.detail[0] not in HARMLESS:
            _call(image, code, found, deep)


def _call(image: Image, code: Code, found: Effects, deep: int) -> None:
    """A function of the program: its stores to globals; its own slots are of no concern."""
    try:
        callee = image.body(code.detail[0]) if deep < MACHINE.deep else None
    except NotFollowedError:
        callee = None
    if callee is None:
        found.known = found.known and code.detail[0] in {"__assert_fail", "abort"}
        return
    own = {
        c.result: -1 - at
        for at, c in enumerate(c for block in callee.blocks for c in block.codes)
        if c.opcode == "alloca"
    }
    inner = Effects(known=found.known)
    for number in range(len(callee.blocks)):
        _block(image, callee, number, own, inner, deep + 1)
    found.known = inner.known
    found.written.update({at: size for at, size in inner.written.items() if at >= 0})


def _targets(
    register: str, value: object, made: Mapping[str, Code], slots: Mapping[str, int]
) -> list[int] | None:
    """The addresses that a pointer operand may have; None where any."""
    if not register:
        return [value] if isinstance(value, int) else None
    if register in slots:
        return [slots[register]]
    gep = made.get(register)
    if gep is None or gep.opcode != "getelementptr":
        return None
    bases = _targets(gep.operands[0].register, gep.operands[0].value, made, slots)
    offset, scales, _ = gep.detail
    if bases is None or scales or any(base < 0 for base in bases):
        return None if not bases or bases[0] >= 0 else bases
    return [base + offset for base in bases]
