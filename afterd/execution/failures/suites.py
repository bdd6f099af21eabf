"""Failures that a test suite reports: which tests failed, and outputs that differ."""

from __future__ import annotations

import re

_CTEST = (
    "Failed|Timeout|SEGFAULT|Subprocess aborted|Child aborted|Not Run|BAD_COMMAND|ILLEGAL|NUMERICAL"
    "|OTHER_FAULT|Bus error|Exit code .*"
)
_REPORTS = {
    "pytest": r"^(?:FAILED|ERROR) (?P<test>\S+?\.py(?:::.*?)?)(?: - .*)?$",
    "automake and unittest": r"^(?:FAIL|ERROR|XPASS): (?P<test>\S.*)$",
    "TAP": r"^not ok(?: \d+)?(?: -)? ?(?P<test>(?:(?!# *(?:TODO|SKIP)).)*)$",
    "CTest": rf"^\s*\d+ - (?P<test>.+?) \((?:{_CTEST})\)",
    "Cargo": r"^test (?P<test>\S.*) \.\.\. FAILED$",
    "Go": r"^\s*--- FAIL: (?P<test>\S+)",
    "GoogleTest": r"^\[  FAILED  \] (?P<test>[\w./]+)(?:,.*| \(\d+ ms\))?$",
    "Meson": r"^\s*\d+/\d+ (?P<test>\S.*?)\s+(?:FAIL|ERROR|TIMEOUT)\s",
}
_FAILED = tuple(re.compile(pattern, re.MULTILINE) for pattern in _REPORTS.values())

_DIFFERENCE = re.compile(
    r"^(?:--- .*\n\+\+\+ |\*\*\* .*\n--- |@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@"
    r"|\d+(?:,\d+)?[acd]\d+(?:,\d+)?\n[<>] |.* differ: (?:byte|char) \d+|Files .* differ$"
    r"|\s*(?:[Ee]xpected|EXPECTED)(?: output)?\b.*\n(?:.*\n){0,20}?"
    r"\s*(?:[Gg]ot|GOT|[Aa]ctual|ACTUAL|[Rr]eceived|but was)\b)",
    re.MULTILINE,
)


def failed_tests(text: str) -> tuple[str, ...]:
    """The names of the tests that ``text`` reports as failed, each once, in order."""
    names: dict[str, None] = {}
    for pattern in _FAILED:
        for match in pattern.finditer(text):
            if name := match["test"].strip():
                names.setdefault(name)
    return tuple(names)


def shows_difference(text: str) -> bool:
    """Whether ``text`` holds the output of diff or cmp, or expected and actual text."""
    return _DIFFERENCE.search(text) is not None
