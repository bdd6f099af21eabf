"""Making what two runs printed comparable: everything that differs by accident is taken out."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_]|)")
_ENDED_PYTEST = re.compile(r"^INTERNALERROR> ?", re.MULTILINE)
A_TEMPORARY_PATH = "TEMPORARY"
_TIME_UNIT = r"(?:ns|µs|us|ms|s|secs?|seconds?|minutes?)"
_ACCIDENTS = (
    # Longest and most specific first: a timestamp is also a row of numbers.
    (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?", "TIME"),
    (r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b", "UUID"),
    (r"\b0x[0-9a-fA-F]+\b", "ADDRESS"),
    (r"(?<=&)[0-9a-f]{32}\b", "OBJECT"),  # PHP's number of an object, as PHPUnit shows it
    (r"(?<=[\w$;])@[0-9a-f]{4,16}\b", "@OBJECT"),  # Java's hash of one
    (r"(?:(?:/private)?(?:/var)?/tmp|/var/folders)/[^\s:;,'\")\]]+", A_TEMPORARY_PATH),
    (r"==\d+==", "==PID=="),
    (r"\b(?:pid|PID|process|thread)[ =:]+\d+", "PID"),
    (rf"\b\d+(?:\.\d+)?(?:e-?\d+)? ?{_TIME_UNIT}\b", "SECONDS"),
    (r"(?<![A-Za-z_])[-+]?\d+(?:[._]\d+)*(?:e[-+]?\d+)?(?![A-Za-z_])", "N"),
)
_PATTERNS = tuple((re.compile(pattern), name) for pattern, name in _ACCIDENTS)
_SPACE = re.compile(r"\s+")
_QUOTED = re.compile(r"""b?'(?:[^'\\]|\\.)*'|b?"(?:[^"\\]|\\.)*\"""")

LONGEST_MESSAGE = 300


def with_relative_paths(text: str, roots: Iterable[str]) -> str:
    """``text`` with paths below ``roots`` relative to them, and without terminal escapes and what pytest puts before
    each line of what ended itself.
    """
    text = _ENDED_PYTEST.sub("", _ESCAPES.sub("", text).replace("\r\n", "\n"))
    for root in sorted(filter(None, roots), key=len, reverse=True):
        text = text.replace(root.rstrip("/") + "/", "")
    return text


def one_line(text: str) -> str:
    """``text`` with its white space folded, and cut where it is very long."""
    return _SPACE.sub(" ", text).strip()[:LONGEST_MESSAGE]


def normalised(message: str) -> str:
    """A message in one line, its numbers, addresses, times and temporary paths made alike."""
    for pattern, name in _PATTERNS:
        message = pattern.sub(name, message)
    return one_line(message)


def without_values(message: str) -> str:
    """A message of an assertion, which quotes values: those are taken out too."""
    return normalised(_QUOTED.sub("TEXT", message))


def shortened(text: str) -> str:
    """``text`` on one line; of what is too long its beginning and its end, which often says what is wrong."""
    line, end = _SPACE.sub(" ", text).strip(), LONGEST_MESSAGE // 3
    if len(line) <= LONGEST_MESSAGE:
        return line
    return f"{line[: LONGEST_MESSAGE - end - 3]} … {line[-end:]}"
