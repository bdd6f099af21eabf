"""Which records an instruction leaves: the agreement between the instrumentation and the analysis."""

from __future__ import annotations

import re
from collections.abc import Container

from afterd.trace.c.ir.ir import NAME, Instruction, closing_parenthesis
from afterd.trace.c.ir.irtypes import scalar_bits, split_top
from afterd.trace.c.window import records

_CALLEE = re.compile(rf"(?:call|callbr|invoke) .*?(?:([@%]{NAME})\(|\b(asm) )")
_DECIDED = re.compile(rf"  (?:br|switch) (i\d+) (%{NAME}), ")
_LOADED = re.compile(rf"  %{NAME} = load (?:volatile )?(\w+), ptr ([%@]{NAME})(?=, |$)")
_STORED = re.compile(rf"  store (?:volatile )?(\w+) ([%@]{NAME}|-?\d+), ptr ([%@]{NAME})(?=, |$)")
"""Most loads and stores; of the others, ``operands`` reads the types and the attributes."""
_COPIES = ("@llvm.memcpy.", "@llvm.memmove.")
RETURNS_TWICE = frozenset(["@setjmp", "@_setjmp", "@sigsetjmp", "@__sigsetjmp", "@vfork"])
MAY_RETURN_TWICE = " returns_twice"
"""What lowered.py writes behind a call of another function that may."""
REALLOC = "@realloc"
"""Moves what the program stored: the one function of the C library that leaves a COPY."""

PASSED = "@__afterd_passed"
"""Stands for what a calling convention puts into memory: see lowered.py."""

_CASE = re.compile(rf"\bi(\d+) (-?\d+), label %({NAME})")
_REFERRED = re.compile(r"\bdereferenceable(?:_or_null)?\((\d+)\)")
_ATTRIBUTE = re.compile(
    r"^(?:fastcc|ccc|coldcc|noundef|zeroext|signext|inreg|noalias|nonnull|nofree|inbounds|nuw|nusw"
    r"|range\([^)]*\)|align \d+|dereferenceable(?:_or_null)?\(\d+\)|(?:sret|byval|byref|elementtype|"
    r"preallocated|inalloca)\((?:[^()]|\([^()]*\))*\)|captures\([^)]*\)|nocapture|readonly|writeonly"
    r"|returned|immarg|noext|initializes\(.*?\)|nofpclass\([^)]*\)|dead_on_unwind|writable|fast|nnan|ninf"
    r"|nsz|arcp|contract|afn|reassoc|tail|addrspace\(\d+\))\s+"
)


def callee(instruction: Instruction) -> str:
    """``@name`` of a direct call, ``%value`` of an indirect one, ``asm``, or empty."""
    found = _CALLEE.search(instruction.text.split(", !dbg")[0])
    name = (found.group(1) or found.group(2)) if found else ""
    return name.replace('"', "") if name.startswith("@") else name


def cases(terminator: Instruction) -> list[tuple[int, str]]:
    """The values of a ``switch``, without a sign, and the label of the block that each leads to."""
    return [
        (int(value) & (1 << int(width)) - 1, label.strip('"'))
        for width, value, label in _CASE.findall(terminator.text)
    ]


def returns_twice(instruction: Instruction) -> bool:
    """Whether control may come back to after this call by longjmp."""
    return callee(instruction) in RETURNS_TWICE or may_return_twice(instruction)


def may_return_twice(instruction: Instruction) -> bool:
    """Whether that is not told by the function's name."""
    return MAY_RETURN_TWICE in instruction.text


def tags(instruction: Instruction, locals_: Container[str]) -> tuple[int, ...]:
    """The tags of the records that one execution of the instruction leaves, in order."""
    match instruction.opcode:
        case "alloca":
            return () if instruction.result in locals_ else (records.PLACE,)
        case "load":
            return () if pointer_of(instruction) in locals_ else (records.LOAD,)
        case "store":
            return (records.LSTORE,) if pointer_of(instruction) in locals_ else (records.STORE,)
        case "atomicrmw" | "cmpxchg":
            return (records.LOAD, records.STORE)
        case "call" | "invoke":
            return _call_tags(callee(instruction))
    return ()


def _call_tags(name: str) -> tuple[int, ...]:
    if name.startswith(_COPIES) or name == PASSED:
        return (records.COPY, records.LENGTH)
    if name.startswith("@llvm.memset."):
        return (records.FILL, records.LENGTH)
    if name.startswith("@llvm.") or name in {"asm", ""}:
        return ()
    if name == REALLOC:
        return (records.CALL, records.RETURN, records.COPY, records.LENGTH)
    return (records.CALL, records.RETURN)


def pointer_of(instruction: Instruction) -> str:
    """The pointer operand of a load or store, as written (``%x``, ``@g``, a constant expression)."""
    return operands(instruction)[-1][1]


def operands(instruction: Instruction) -> list[tuple[str, str]]:
    """(type, value) of a load (its type, pointer), of a store (value, then pointer), or of an atomic
    operation (pointer, then its first operand).
    """
    if instruction.opcode == "load" and (plain := _LOADED.match(instruction.text)):
        return [(plain[1], ""), ("ptr", plain[2])]
    if instruction.opcode == "store" and (plain := _STORED.match(instruction.text)):
        return [(plain[1], plain[2]), ("ptr", plain[3])]
    first, second = split_top(instruction.body)[:2]
    second = _without_ordering(second)
    if instruction.opcode == "cmpxchg":
        return [split_typed(first), split_typed(second)]
    if instruction.opcode == "atomicrmw":
        return [split_typed(first.split(" ", 1)[1]), split_typed(second)]
    if instruction.opcode == "load":
        return [(first, ""), split_typed(second)]
    return [split_typed(first), split_typed(second)]


def _without_ordering(text: str) -> str:
    return re.sub(
        r" (?:syncscope\(\"[^\"]*\"\) )?(?:unordered|monotonic|acquire|release|acq_rel|seq_cst)$",
        "",
        text,
    )


def split_typed(text: str) -> tuple[str, str]:
    """Split ``type attributes value`` into type and value."""
    text = text.strip()
    while found := _ATTRIBUTE.match(text):
        text = text[found.end() :]
    end = _type_end(text)
    kind, rest = text[:end], text[end:].strip()
    while found := _ATTRIBUTE.match(rest + " "):
        rest = rest[found.end() :].strip()
    return kind, rest


def _type_end(text: str) -> int:
    depth = 0
    for at, letter in enumerate(text):
        if letter in "([{<":
            depth += 1
        elif letter in ")]}>":
            depth -= 1
        elif letter == " " and depth == 0:
            return at
    return len(text)


def arguments(instruction: Instruction) -> list[tuple[str, str]]:
    """(type, value) of each argument of a call or invoke."""
    return [split_typed(text) for text in raw_arguments(instruction)]


def raw_arguments(instruction: Instruction) -> list[str]:
    """The arguments of a call or invoke as written, with their attributes."""
    text = instruction.text.split(", !")[0]
    name = _CALLEE.search(text)
    if not name:
        return []
    start = text.index("(", name.end() - 1)
    inner = text[start + 1 : closing_parenthesis(text, start)]
    return split_top(inner) if inner.strip() else []


def referred_bytes(argument: str) -> int:
    """How many bytes the object has at least that an argument refers to (a reference of C++, ``this``); 0 where
    the argument as written does not say.
    """
    found = _REFERRED.search(argument)
    return int(found.group(1)) if found else 0


def result_type(instruction: Instruction) -> str:
    """The type a call or invoke returns (``void`` where it returns nothing)."""
    text = instruction.text.strip()
    if instruction.result:
        text = text.split(" = ", 1)[1]
    text = re.sub(r"^(?:tail |musttail |notail )?(?:call|invoke) ", "", text)
    return split_typed(text)[0]


def is_settable(kind: str) -> bool:
    """Whether a run can be given another value of this type: a record holds all bytes of it."""
    return is_loggable(kind) and kind != "x86_fp80"


def decided_by(terminator: Instruction) -> tuple[str, str] | None:
    """(type, register) of what a branch or a switch goes by; None where nothing is chosen."""
    found = _DECIDED.match(terminator.text)
    return (found.group(1), found.group(2)) if found and is_settable(found.group(1)) else None


def is_loggable(kind: str) -> bool:
    """Whether a value of this type fits a record (scalars up to 64 bits, and x86_fp80 rounded)."""
    return 0 < scalar_bits(kind) <= 64 or kind == "x86_fp80"
