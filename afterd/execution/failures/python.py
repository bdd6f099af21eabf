"""Failures of Python programs: tracebacks, and pytest's own way of showing them."""

from __future__ import annotations

import re
from collections.abc import Sequence
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

_INSTALLED = re.compile(r"-packages/|/lib(?:64)?/python[\d.]+/")

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
        return not self.file.startswith("/") and not self.is_installed

    @property
    def is_installed(self) -> bool:
        """Whether it is Python's own, or an installed package's: no project's, and no test's."""
        return self.file.startswith("<") or bool(_INSTALLED.search(self.file))


def raised_signature(kind: str, text: str, frames: Sequence[Frame]) -> FailureSignature:
    """The signature of an exception of type ``kind`` that came through ``frames``, the innermost last.

    An assertion is known by the text of its statement, which may be of a test outside of the tree: its message
    quotes values, which may be others in another variant with the same bug, or in another run. Any other exception
    is known by type and message.
    """
    name = kind.rpartition(".")[2]
    own = [frame for frame in frames if not frame.is_installed]
    inside = [frame for frame in own if frame.in_tree]
    place = {"file": inside[-1].file, "symbol": inside[-1].symbol} if inside else {}
    if name in ASSERTIONS or kind in ASSERTIONS:
        statement = (inside or own)[-1].source if own else ""
        said = one_line(statement) if statement else without_values(text)
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
    return raised_signature(match["type"], match["text"] or "", frames)


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
    frame = Frame(place["file"], symbol, source)
    return raised_signature(place["type"], reason.removeprefix(prefix), [frame])


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
