"""Failures of Python programs: tracebacks, and pytest's own way of showing them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from afterd.execution.failures.text import normalised, one_line, without_values
from afterd.model.outcome import FailureKind, FailureSignature

_FRAME = re.compile(r'^\s+File "(?P<file>[^"\n]+)", line \d+(?:, in (?P<symbol>.+))?$')
_EXCEPTION = re.compile(r"^(?P<type>[A-Za-z_][\w.]*)(?:: ?(?P<text>.*))?$")
_UNDERLINE = re.compile(r"^\s*[\^~]+\s*$")
_HEADER = "Traceback (most recent call last):"

_PYTEST_PLACE = re.compile(r"^(?P<file>[^:\s]+\.py):\d+: (?P<type>[A-Za-z_][\w.]*)$", re.MULTILINE)
_PYTEST_SOURCE = re.compile(r"^>\s+(?P<source>\S.*)$", re.MULTILINE)
_PYTEST_REASON = re.compile(r"^E {1,10}(?P<text>\S.*)$", re.MULTILINE)
_PYTEST_FUNCTION = re.compile(r"^[ \t]+(?:async )?def (?P<symbol>\w+)\(", re.MULTILINE)

ASSERTIONS = frozenset({"AssertionError", "Failed", "AssertionFailure", "_pytest.outcomes.Failed"})


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame of a traceback: its file, its function, and its line's text."""

    file: str
    symbol: str
    source: str

    @property
    def in_tree(self) -> bool:
        """Whether it is the repository's own (its path was made relative)."""
        return not self.file.startswith(("/", "<")) and "-packages/" not in self.file


def raised_signature(kind: str, text: str, frame: Frame | None) -> FailureSignature:
    """The signature of an exception of type ``kind``.

    An assertion is known by the text of its statement: its message quotes values, which may be
    others in another variant with the same bug. Any other exception is known by type and message.
    """
    name = kind.rpartition(".")[2]
    place = {"file": frame.file, "symbol": frame.symbol} if frame else {}
    if name in ASSERTIONS or kind in ASSERTIONS:
        said = one_line(frame.source) if frame and frame.source else without_values(text)
        return FailureSignature(FailureKind.ASSERTION, message=said, **place)
    said = normalised(f"{name}: {text}" if text else name)
    return FailureSignature(FailureKind.EXCEPTION, message=said, **place)


def traceback(text: str) -> FailureSignature | None:
    """The last traceback's exception, at the deepest frame that is in the tree."""
    start = text.rfind(_HEADER)
    if start < 0:
        return None
    lines = text[start:].splitlines()[1:]
    frames: list[Frame] = []
    for number, line in enumerate(lines):
        if match := _FRAME.match(line):
            source = lines[number + 1].strip() if number + 1 < len(lines) else ""
            if _FRAME.match(lines[number + 1]) if source else False:
                source = ""
            frames.append(Frame(match["file"], match["symbol"] or "", source))
        elif not line.startswith((" ", "\t")) and line.strip():
            return _of_exception(line, frames)
    return None


def _of_exception(line: str, frames: list[Frame]) -> FailureSignature | None:
    match = _EXCEPTION.match(line)
    if match is None:
        return None
    inside = [frame for frame in frames if frame.in_tree]
    return raised_signature(match["type"], match["text"] or "", inside[-1] if inside else None)


def pytest_report(text: str) -> FailureSignature | None:
    """The last failure pytest showed in its long form."""
    places = list(_PYTEST_PLACE.finditer(text))
    if not places:
        return None
    place = places[-1]
    before = text[: place.start()]
    source = _last_match(_PYTEST_SOURCE, before, "source")
    symbol = _last_match(_PYTEST_FUNCTION, before, "symbol")
    reason = _first_reason(before)
    prefix = f"{place['type']}: "
    return raised_signature(
        place["type"], reason.removeprefix(prefix), Frame(place["file"], symbol, source)
    )


def _first_reason(before: str) -> str:
    """The first line of the last block of lines that pytest marked with E."""
    lines = before.rstrip().splitlines()
    block: list[str] = []
    for line in reversed(lines):
        match = _PYTEST_REASON.match(line)
        if match:
            block.append(match["text"])
        elif block:
            break
    return block[-1] if block else ""


def _last_match(pattern: re.Pattern[str], text: str, group: str) -> str:
    found = pattern.findall(text)
    return str(found[-1]).strip() if found and group else ""
