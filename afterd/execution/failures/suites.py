"""Failures that a test suite reports: which tests failed, and outputs that differ."""

from __future__ import annotations

import re
from enum import StrEnum

from afterd.execution.failures import prove
from afterd.execution.failures.text import normalised

_CTEST = (
    "Failed|Timeout|SEGFAULT|Subprocess aborted|Child aborted|Not Run|BAD_COMMAND|ILLEGAL|NUMERICAL"
    "|OTHER_FAULT|Bus error|Exit code [^()\n]*"
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
    SUREFIRE = "JUnit under Maven"
    GRADLE = "JUnit under Gradle"
    JUNIT = "JUnit by itself"
    XCTEST = "Swift's XCTest"
    PROVE = "Perl's prove"


_CRASHES = {
    "SEGFAULT": "Segmentation fault",
    "Subprocess aborted": "Aborted",
    "Child aborted": "Aborted",
    "Bus error": "Bus error",
    "ILLEGAL": "Illegal instruction",
    "NUMERICAL": "Floating point exception",
}
"""What CTest calls a death by a signal, and what shells call it."""

_REPORTS = {
    Family.PYTEST: r"^(?:FAILED|ERROR) (?P<test>\S+?\.py(?:::.*?)?)(?: - .*)?$",
    # A name is one word, or what automake's TAP driver or unittest make of one: "ERROR: " alone
    # begins many a message that is no name.
    Family.AUTOMAKE: r"^(?:FAIL|ERROR|XPASS): (?P<test>\S+(?: \d+ - .*| \([\w.]+\).*)?)$",
    Family.TAP: r"^[ \t]*not ok(?: \d+)?(?: -)? ?(?P<test>(?:(?!# *(?:TODO|SKIP)).)*)$",
    Family.CTEST: rf"^[ \t]*\d+ - (?P<test>.+?) \((?P<how>{_CTEST})\)",
    Family.CARGO: r"^test (?P<test>\S.*?)(?: - should panic)? \.\.\. FAILED$",
    Family.GO: r"^[ \t]*--- FAIL: (?P<test>\S+)",
    Family.GOOGLE: r"^\[  FAILED  \] (?P<test>[\w./]+)(?:,.*| \(\d+ ms\))?$",
    Family.MESON: r"^[ \t]*\d+/\d+ (?:\S.*? / )?(?P<test>\S(?:.*?\S)?)[ \t]+(?:FAIL|ERROR|TIMEOUT|INTERRUPT)\s",
    Family.JEST: r"^[ \t]*● (?P<test>.+ › .+)$",
    Family.VITEST: r"^ *(?:FAIL|×) +(?P<test>\S.* > .+?)(?: \d+ms)?$",
    Family.SUREFIRE: r"^(?:\[ERROR\] +)?(?P<test>(?!Tests run:)\S(?:.*?\S)?) +(?:-- +)?Time elapsed: [\d.,]+ s"
    r"(?:ec)? *<<< (?:FAILURE|ERROR)!",
    Family.GRADLE: r"^(?P<test>[\w$.]+ > .+) FAILED$",
    Family.JUNIT: r"^\d+\) (?P<test>\w+\([\w$.]+\))$",
    Family.XCTEST: r"^Test Case '(?P<test>[\w.]+)' failed \(",
    Family.PROVE: prove.FAILED,
}
_FAILED = {family: re.compile(pattern, re.MULTILINE) for family, pattern in _REPORTS.items()}
_PASSED = re.compile(
    r"^(?:PASS: (?P<automake>\S+(?: \d+ - .*)?)|[ \t]*ok(?: \d+)?(?: -)? (?P<tap>(?:(?!# *(?:TODO|SKIP)).)+)"
    r"|[ \t]*\d+/\d+ Test +#\d+: (?P<ctest>\S(?:.*?\S)?) \.* +Passed .*|test (?P<cargo>\S.*?) \.\.\. ok"
    rf"|{prove.PASSED}"
    r"|[ \t]*\d+/\d+ (?:\S.*? / )?(?P<meson>\S(?:.*?\S)?)[ \t]+(?:OK|EXPECTEDFAIL)[ \t].*)$",
    re.MULTILINE,
)

_NAMING_ALL = (Family.TAP, Family.CTEST, Family.CARGO, Family.MESON)

_DIFFERENCE = re.compile(
    r"^(?:--- .*\n\+\+\+ |\*\*\* .*\n--- |@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@"
    r"|\d+(?:,\d+)?[acd]\d+(?:,\d+)?\n[<>] |.* differ: (?:byte|char) \d+|Files .* differ$"
    rf"|{prove.SUBTEST}$"
    r"|[ \t]*(?:[Ee]xpected|EXPECTED)(?: output)?\b.*\n(?:.*\n){0,20}?"
    r"[ \t]*(?:[Gg]ot|GOT|[Aa]ctual|ACTUAL|[Rr]eceived|but was)\b)",
    re.MULTILINE,
)

_DIFFERING = re.compile(
    rf"^(?:(?:(?P<normal>[<>]) |(?P<unified>[-+])(?!--|\+\+))(?P<line>.*)|{prove.SUBTEST})$",
    re.MULTILINE,
)
_SIDES = {"<": "-", "-": "-", ">": "+", "+": "+", None: "-+"}
_MOST_LINES = 500


def failed_tests(text: str, *families: Family) -> tuple[str, ...]:
    """The names of the tests that ``text`` reports as failed, each once, in order.

    Only reports of ``families`` are looked for; of all where none is given.
    """
    names: dict[str, None] = {}
    for family in families or Family:
        for match in _FAILED[family].finditer(text):
            name = match["test"].strip()
            if family is Family.PROVE and prove.shown_test_by_test(text, name):
                continue
            if name:
                names.setdefault(name)
    return tuple(names)


def crashed_tests(text: str) -> dict[str, str]:
    """The tests that CTest's list says died of a signal, each with a shell's word for that."""
    found = ((match["test"], match["how"]) for match in _FAILED[Family.CTEST].finditer(text))
    return {test: _CRASHES[how] for test, how in found if how in _CRASHES}


_NONE_RAN = re.compile(
    r"^No tests were found!!!|^ok? *\t?\S+\t.*\[no tests to run\]|testing: warning: no tests to run"
    r"|^(?:# )?tests 0$|^1\.\.0\b|^No tests found, exiting|^No test files found|^[ \t]*0 passing\b"
    r"|^[ \t]*Tests:? +\d+ skipped(?: \| \d+ todo)?(?: \(\d+\)|, \d+ total)$"
    r"|^Could not find '|^Error: No test files found|^No suitable tests defined|^# TOTAL: +0$"
    r"|^ERROR: not found: .*::|^no tests ran in "
    r"|^Ran 0 tests in |\(unittest\.loader\._FailedTest.*\n-+\nAttributeError: "
    r"|^0 (?:runs|tests), 0 assertions|^0 examples, 0 failures$|^No examples found\."
    r"|^No tests executed!|does not exist in project .*tests|^ValueError: no such test|\bNo tests match\b",
    re.MULTILINE,
)
_SOME_RAN = re.compile(
    r"^(?:ok(?!.*\[no tests to run\])|not ok|test \S+ \.\.\.|# (?:pass|fail) [1-9]|=== RUN"
    r"|(?:=+ )?(?:\d+ \w+, )*\d+ errors? in \d"  # before 8 pytest finds no test in a module that cannot be imported
    r"|INTERNALERROR> |!+ _pytest\.outcomes\.Exit: "  # a module that ends pytest while it is imported
    r'|\{.*"Action":"run"'
    r"|[ \t]*[1-9]\d* failing\b|Tests: +.*\d (?:passed|failed))",
    re.MULTILINE,
)
_CARGO_RAN = re.compile(r"^running (?P<count>\d+) tests?$", re.MULTILINE)


def no_test_ran(text: str) -> bool:
    """Whether a runner says that it found no test of the name that it was given: such a pass is none."""
    counts = [int(match["count"]) for match in _CARGO_RAN.finditer(text)]
    if counts:
        return not any(counts)
    return _NONE_RAN.search(text) is not None and _SOME_RAN.search(text) is None


_ONE_RAN = re.compile(
    r"^(?:=+ )?1 failed(?:, \d+ (?:deselected|warnings?))* in \d|^Ran 1 test in ", re.MULTILINE
)


def ran_one_test(text: str) -> bool:
    """Whether pytest or unittest says that one test was run, and no other."""
    return _ONE_RAN.search(text) is not None


_COUNTED = re.compile(r"^Ran (?P<count>[1-9]\d*) tests? in ", re.MULTILINE)


def counts_tests(text: str) -> bool:
    """Whether unittest, which speaks on standard error, says that it ran tests."""
    return _COUNTED.search(text) is not None


def tests_counted(text: str) -> int | None:
    """How many tests unittest says that it ran; None where it does not say that it ran any."""
    counts = [int(match["count"]) for match in _COUNTED.finditer(text)]
    return sum(counts) if counts else None


_UNREAD_MODULE = re.compile(r"^(?:\w+: )?Failed to import test module: ", re.MULTILINE)


def is_unread_module(said: str) -> bool:
    """Whether what unittest tells of a test is that a module of tests cannot be imported."""
    return _UNREAD_MODULE.match(said) is not None


def passed_tests(text: str) -> frozenset[str]:
    """The names of the tests that ``text`` reports as passed, in the forms that name these too."""
    found = (next(filter(None, match.groups()), "") for match in _PASSED.finditer(text))
    return frozenset(name.strip() for name in found)


def names_those_that_pass(text: str) -> bool:
    """Whether ``text`` is in a form that names each test which passes: where it names none of these, none did."""
    return bool(failed_tests(text, *_NAMING_ALL)) or _PASSED.search(text) is not None


def shows_difference(text: str) -> bool:
    """Whether ``text`` holds the output of diff or cmp, or expected and actual text."""
    return _DIFFERENCE.search(text) is not None


def differing_lines(text: str) -> tuple[str, ...]:
    """The removed and added lines in the output of diff, each once, after a minus or a plus; a test of Perl's that
    failed is a line of both.

    () where there are none, or more than ``_MOST_LINES``.
    """
    found: dict[str, None] = {}
    for number, match in enumerate(_DIFFERING.finditer(text)):
        if number == _MOST_LINES:
            return ()
        signs = _SIDES[match["normal"] or match["unified"]]
        line = normalised(match["line"] or match["subtest"] or "")
        if any(character.isalnum() for character in line):
            found.update(dict.fromkeys(f"{sign}{line}" for sign in signs))
    return tuple(found)
