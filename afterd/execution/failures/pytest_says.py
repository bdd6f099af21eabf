"""What pytest says of a failed test: the message, the two values of an equality, and the place."""

from __future__ import annotations

import ast
import re

from afterd.execution.failures.text import LONGEST_MESSAGE

_ASSERTED = re.compile(r"(?:^|\n)assert (?P<test>[^\n]+)")
_DIFFER = re.compile(
    r"^\s*(?:At index \S+ diff:|Differing items:\n)\s*(?P<observed>[^\n]+?) != (?P<expected>[^\n]+)$",
    re.MULTILINE,
)
"""Where two values differ that are too long to be shown."""
_PLACE = re.compile(
    r"^(?:\.\.?/)*(?P<file>[^:\s]+\.py):(?P<line>\d+): [A-Za-z_][\w.]*$", re.MULTILINE
)
_CAME_BY = re.compile(
    r"^(?:\.\.?/)*(?P<file>[^:\s]+\.py):(?P<line>\d+): in [\w.<>]+$", re.MULTILINE
)
_MARKED = re.compile(r"(?:^E(?: [^\n]*)?\n)+", re.MULTILINE)
_TYPED = re.compile(r"[A-Za-z_][\w.]*(?:Error|Exception|Failed|Warning)\b")


def compared_values(message: str) -> tuple[str, str]:
    """What an equality had and expected, of a message of pytest's own, and of longer values the first part that
    differs; both empty where it says so of none.
    """
    asserted = _ASSERTED.search(message.removeprefix("AssertionError: "))
    try:
        whole = asserted["test"] if asserted else ""
        node = ast.parse(whole, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return "", ""
    match node:
        case ast.Compare(left, [ast.Eq()], [right]):
            sides = (ast.get_source_segment(whole, side) or "" for side in (left, right))
            mine, other = (side[:LONGEST_MESSAGE] for side in sides)
            part = _DIFFER.search(message) if "..." in whole else None
            return (part["observed"], part["expected"]) if part else (mine, other)
    return "", ""


def said_by_pytest(text: str) -> tuple[str, str, int, int] | None:
    """The last failure that pytest tells of: the message as it was raised, the place, and where the report of it
    begins; None where there is none. Its long form names the place below the message, its short one, and that of a
    module or conftest.py that cannot be imported, above it.
    """
    blocks = list(_MARKED.finditer(text))
    for place in reversed(list(_PLACE.finditer(text))):
        above = [block for block in blocks if block.end() <= place.start()]
        if above:
            return _said(above[-1], place)
    for block in reversed(blocks):
        ways = list(_CAME_BY.finditer(text, 0, block.start()))
        if ways:
            return _said(block, ways[-1])
    return None


def _said(block: re.Match[str], place: re.Match[str]) -> tuple[str, str, int, int]:
    lines = [line[1:].strip() for line in block[0].splitlines()]
    first = lines[0] if _TYPED.match(lines[0]) else f"AssertionError: {lines[0]}"
    begins = min(block.start(), place.start())
    return "\n".join([first, *lines[1:]]), place["file"], int(place["line"]), begins
