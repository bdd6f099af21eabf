"""Failures that a test suite reports: which tests failed, and outputs that differ."""

from __future__ import annotations

import re
from enum import StrEnum

from afterd.execution.failures.text import normalised

_CTEST = (
    "Failed|Timeout|SEGFAULT|Subprocess aborted|Child aborted|Not Run|BAD_COMMAND|ILLEGAL|NUMERICAL"
    "|OTHER_FAULT|Bus error|Exit code .*"
)


class Family(StrEnum):
    """The ways in which test suites name their failed tests."""

    PYTEST = "pytest"
    AUTOMAKE = "automake, and unittest"
    TAP = "TAP"
    CTEST = "CTest"
    CARGO = "Cargo"
    GO = "Go"
    GOOGLE = "GoogleTest"
    MESON = "Meson"
    JEST = "Jest"
    VITEST = "Vitest"


_REPORTS = {
    Family.PYTEST: r"^(?:FAILED|ERROR) (?P<test>\S+?\.py(?:::.*?)?)(?: - .*)?$",
    # A name is one word, or what automake's TAP driver or unittest make of one: "ERROR: " alone
    # begins many a message that is no name.
    Family.AUTOMAKE: r"^(?:FAIL|ERROR|XPASS): (?P<test>\S+(?: \d+ - .*| \([\w.]+\).*)?)$",
    Family.TAP: r"^\s*not ok(?: \d+)?(?: -)? ?(?P<test>(?:(?!# *(?:TODO|SKIP)).)*)$",
    Family.CTEST: rf"^\s*\d+ - (?P<test>.+?) \((?:{_CTEST})\)",
    Family.CARGO: r"^test (?P<test>\S.*?)(?: - should panic)? \.\.\. FAILED$",
    Family.GO: r"^\s*--- FAIL: (?P<test>\S+)",
    Family.GOOGLE: r"^\[  FAILED  \] (?P<test>[\w./]+)(?:,.*| \(\d+ ms\))?$",
    Family.MESON: r"^\s*\d+/\d+ (?:\S.*? / )?(?P<test>\S.*?)\s+(?:FAIL|ERROR|TIMEOUT|INTERRUPT)\s",
    Family.JEST: r"^\s*● (?P<test>.+ › .+)$",
    Family.VITEST: r"^ *(?:FAIL|×) +(?P<test>\S.* > .+?)(?: \d+ms)?$",
}
_FAILED = {family: re.compile(pattern, re.MULTILINE) for family, pattern in _REPORTS.items()}

_DIFFERENCE = re.compile(
    r"^(?:--- .*\n\+\+\+ |\*\*\* .*\n--- |@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@"
    r"|\d+(?:,\d+)?[acd]\d+(?:,\d+)?\n[<>] |.* differ: (?:byte|char) \d+|Files .* differ$"
    r"|\s*(?:[Ee]xpected|EXPECTED)(?: output)?\b.*\n(?:.*\n){0,20}?"
    r"\s*(?:[Gg]ot|GOT|[Aa]ctual|ACTUAL|[Rr]eceived|but was)\b)",
    re.MULTILINE,
)

_DIFFERING = re.compile(
    r"^(?:(?P<normal>[<>]) |(?P<unified>[-+])(?!--|\+\+))(?P<line>.*)$", re.MULTILINE
)
_MOST_LINES = 500


def failed_tests(text: str, *families: Family) -> tuple[str, ...]:
    """The names of the tests that ``text`` reports as failed, each once, in order.

    Only reports of ``families`` are looked for; of all where none is given.
    """
    names: dict[str, None] = {}
    for family in families or Family:
        for match in _FAILED[family].finditer(text):
            if name := match["test"].strip():
                names.setdefault(name)
    return tuple(names)


def shows_difference(text: str) -> bool:
    """Whether ``text`` holds the output of diff or cmp, or expected and actual text."""
    return _DIFFERENCE.search(text) is not None


def differing_lines(text: str) -> tuple[str, ...]:
    """The removed and added lines in the output of diff, each once, after a minus or a plus.

    () where there are none, or more than ``_MOST_LINES``.
    """
    found: dict[str, None] = {}
    for number, match in enumerate(_DIFFERING.finditer(text)):
        if number == _MOST_LINES:
            return ()
        sign = "-" if (match["normal"] or match["unified"]) in "<-" else "+"
        line = normalised(match["line"])
        if any(character.isalnum() for character in line):
            found.setdefault(sign + line)
    return tuple(found)
