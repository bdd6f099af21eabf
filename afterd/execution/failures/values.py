"""What a test says of its own failure: the message, the value it had, and the one it expected.

Every framework writes them in its own way, above or below a wall of its own stack. A row of the table is
one way of writing, the most telling first.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from afterd.execution.failures.java import THROWN, java_places, meant_source
from afterd.execution.failures.pytest_says import compared_values, said_by_pytest
from afterd.execution.failures.text import LONGEST_MESSAGE, one_line, shortened
from afterd.model.location import Location

_V = r"(?P<{}>[^\n]+?)"
_OBSERVED, _EXPECTED = _V.format("observed"), _V.format("expected")
_MESSAGE = r"(?P<message>[^\n]*?)"
_PLACE = r"(?P<file>[\w./+@-]+\.\w+)[:(](?P<line>\d+)\)?"

_WAYS = (
    # Jest: "Expected: 300 / Received: 184" below "expect(received).toBe(expected)"
    rf"^[ ●\t]*(?P<message>expect\([^\n]*)\n(?:\s*\n|[^\n]*\n){{0,3}}?\s*Expected(?: \w+)?: +{_EXPECTED}\n"
    rf"\s*Received(?: \w+)?: +{_OBSERVED}\n",
    # Vitest, Mocha and Jest show longer values as a difference
    rf"^[ \t]*(?P<message>(?:\w*Error|[\w$]*Assertion\w*)\b[^\n]*)\n[ \t]*\n[ \t]*- Expected[^\n]*\n[ \t]*\+ Received"
    rf"[^\n]*\n(?:\s*\n|\s{{2}}[^\n]*\n)*?\s*- *{_EXPECTED}\n[ \t]*\+ *{_OBSERVED}\n",
    rf"^[ \t]*(?P<message>\w*(?:Error|Exception)\b[^\n]*)\n[ \t]*\+ expected - actual\s*\n"
    rf"(?:\s*\n|\s{{2}}[^\n]*\n)*?"
    rf"\s*-{_OBSERVED}\n[ \t]*\+{_EXPECTED}\n",
    # node:assert
    rf"^[^\n]*?(?:AssertionError[^\n:]*: |error: (?:\|-|'|\")?\s*){_MESSAGE}\n(?:[^\n]*\n)?\s*\n"
    rf"\s*{_OBSERVED} (?:!==|!=) {_EXPECTED}\n",
    rf"^[^\n]*?(?:AssertionError[^\n:]*: |error: (?:\|-|'|\")?\s*){_MESSAGE}\n(?:[^\n]*\n)??"
    rf"\s*\+ actual - expected\s*\n[ \t]*\n?\s*\+ {_OBSERVED}\n[ \t]*- {_EXPECTED}\n",
    # chai, Vitest in one line
    rf"^[^\n]*?\bAssertionError: (?P<message>expected {_OBSERVED} to"
    rf" (?:(?:deeply |strictly )?equal|be|deep equal|eql) {_EXPECTED})(?: // [^\n]*)?$",
    # TAP's YAML, as tape, node-tap and node:test write it
    rf"^ *not ok \d+ *-? *{_MESSAGE}\n[ \t]*---\n(?:[^\n]*\n){{0,6}}?\s*expected: *(?:\|-?\n)?\s*{_EXPECTED}\n"
    rf"\s*actual: *(?:\|-?\n)?\s*{_OBSERVED}\n",
    # AVA's, of which the place is its own
    rf"^not ok \d+ - {_MESSAGE}\n +---\n(?:[^\n]*\n){{0,6}}?[^\n]*Difference \(- actual, \+ expected\)[^\n]*\n"
    rf"(?:[^\n]*\n)*?\s*- *{_OBSERVED}\n(?:\s*- [^\n]*\n)*\s*\+ *{_EXPECTED}\n",
    # An example of Go's, of which what is printed is compared: the first line that differs
    rf"^--- FAIL: Example[^\n]*\ngot:\n(?P<same>(?:[^\n]*\n)*?){_OBSERVED}\n(?:[^\n]*\n)*?want:\n(?P=same)"
    rf"(?!(?P=observed)$){_EXPECTED}$",
    # Rust
    rf"panicked at (?:'|[^\n]*?:\d+:\d+:\n)(?P<message>assertion[^\n]*?)\n[ \t]*left: `?{_OBSERVED}`?,?\n"
    rf"\s*right: `?{_EXPECTED}`?'?(?:, {_PLACE}[^\n]*)?$",
    # Go: testify, then what people write by hand, then gotest.tools
    rf"^[ \t]*Error Trace:\s*{_PLACE}[^\n]*\n(?:[^\n]*\n){{0,40}}?\s*Error:\s*{_MESSAGE}\s*\n"
    rf"\s*expected: *{_EXPECTED}\n[ \t]*actual *: *{_OBSERVED}\n",
    rf"^[ \t]*{_PLACE}: (?P<message>[^\n]*?(?:\b(?:got|was|have|actual|returned|result)\b:? *=? *|\s= ){_OBSERVED}"
    rf"[,;.]? *(?:but |\()?\b(?:wanted|want|expected|expect|should be|exp)\b:? *=? *{_EXPECTED}\)?)$",
    rf"^[ \t]*{_PLACE}: (?P<message>[^\n]*?\b(?:wanted|want|expected|expect|exp)\b:? *=? *{_EXPECTED}"
    rf"[,;.]? *(?:but |\()?\b(?:got|was|have|actual|returned|found)\b:? *=? *{_OBSERVED}\)?)$",
    rf"^[ \t]*{_PLACE}: (?P<message>[^\n]*?{_OBSERVED} != {_EXPECTED})$",
    # Unity, GoogleTest, Catch2 and doctest, Check, GLib and munit, cmocka, greatest, Qt, Boost
    rf"^{_PLACE}:\w+:FAIL: ?(?P<message>Expected {_EXPECTED} Was {_OBSERVED}(?:\. [^\n]*)?)$",
    rf"^{_PLACE}: Failure\n(?P<message>Expected equality of these values:)\n\s+[^\n]+\n"
    rf"\s+Which is: {_OBSERVED}\n\s+{_EXPECTED}\n(?!\s+Which is)",
    rf"^{_PLACE}: Failure\n(?P<message>Expected equality of these values:)\n\s+[^\n]+\n"
    rf"(?:\s+Which is: )?\s*{_OBSERVED}\n\s+[^\n]+\n\s+Which is: {_EXPECTED}$",
    rf"^{_PLACE}: Failure\n\s+Expected: {_EXPECTED}\n(?:\s+Which is: [^\n]+\n)?(?P<message>To be equal to: [^\n]+)\n"
    rf"\s+Which is: {_OBSERVED}$",
    rf"^{_PLACE}: FAILED:\n\s+{_MESSAGE}\nwith expansion:\n\s+{_OBSERVED}\s+==\s+{_EXPECTED}$",
    rf"^{_PLACE}: ERROR: {_MESSAGE} is NOT correct!\n\s+values: \w+\( {_OBSERVED} == {_EXPECTED} \)$",
    rf"^{_PLACE}:[FE]:[^\n]*?: (?P<message>Assertion '[^\n]*' failed): [^\n]*? == {_OBSERVED}, "
    rf"[^\n]*? == {_EXPECTED}$",
    rf"ERROR:{_PLACE}:\w+: (?P<message>assertion failed \([^\n]*?\)): \({_OBSERVED} == {_EXPECTED}\)$",
    rf"^[ \t]*Actual\s+\([^\n]*?\)\s*: {_OBSERVED}\n[ \t]*Expected\s+\([^\n]*?\)\s*: {_EXPECTED}$",
    rf"{_PLACE}: error: in [^\n]*: (?P<message>check [^\n]* has failed) \[{_OBSERVED} != {_EXPECTED}\]",
    # XCTest
    rf"{_PLACE}: error: [^\n]*? : (?P<message>XCTAssert\w+ failed: \(\"{_OBSERVED}\"\)"
    rf" is not equal to \(\"{_EXPECTED}\"\))",
    # Python's unittest, Perl, RSpec, minitest, PHPUnit, JUnit
    rf"^AssertionError: (?P<message>{_OBSERVED} != {_EXPECTED})$",
    rf"^#\s+got: {_OBSERVED}\n#\s+expected: {_EXPECTED}$",
    rf"^[ \t]*[Ee]xpected: +{_EXPECTED}\n[ \t]*(?:[Gg]ot|[Aa]ctual|[Rr]eceived) *: +{_OBSERVED}$",
    rf"(?:\[{_PLACE}\]:\n|^)--- [Ee]xpected\n\+\+\+ [Aa]ctual\n@@[^\n]*\n"
    rf"(?:(?: [^\n]*)?\n)*?-{_EXPECTED}\n(?:-[^\n]*\n)*\+{_OBSERVED}$",
    # Both below titles of their own
    rf"(?:^[ \t]*{_PLACE}:[ \t]*{_MESSAGE}\n(?:[^\n]*\n){{0,20}}?)?^[ \t]*(?:Expected|EXPECTED|Wanted|Want):?[ \t]*\n"
    rf"(?:[ \t]*[-=~]+[ \t]*\n)?[ \t]*{_EXPECTED}\n(?:[^\n]*\n){{0,20}}?[ \t]*(?:Actual|ACTUAL|Got|Received):?[ \t]*\n"
    rf"(?:[ \t]*[-=~]+[ \t]*\n)?[ \t]*(?!(?P=expected)$){_OBSERVED}$",
    rf"^<{_EXPECTED}> expected but was\n<{_OBSERVED}>\.?$",
    # test-unit's of several lines: the first that differs
    rf"^<(?P<same>(?:[^\n]*\n)*?){_EXPECTED}(?:>|(?:\n[^\n]*)+?>) expected but was\n"
    rf"<(?P=same)(?!(?P=expected)(?:\n|>\.?$)){_OBSERVED}(?:>\.?)?$",
    rf"(?P<message>Failed asserting that {_OBSERVED} (?:matches expected|is identical to) {_EXPECTED}\.)",
    rf"expected: ?<{_EXPECTED}> but was: ?<{_OBSERVED}>",
)
_READ = tuple(re.compile(way, re.MULTILINE) for way in _WAYS)
_STACK = re.compile(
    r"(?:\(|at |❯ |file://|--> |^[ \t]*)(?:\./)?(?P<file>[\w.@+-][\w./@+-]*\.\w+):(?P<line>\d+)",
    re.MULTILINE,
)
_SHOWN = re.compile(
    r"""File "(?P<file>[^"\n]+)", line (?P<line>\d+)|(?P<path>[\w.@+-][\w./@+-]*\.\w+):(?P<number>\d+)\b"""
)
"""A place as Python's tracebacks name it, and as most other reports do."""
_FRAME = re.compile(
    r"""^(?:[ \t]+File "[^"\n]+", line \d+, in .*"""
    r"""|(?!/\S*/(?:(?:site|dist)-packages|lib/python[\d.]+)/)[\w./@+-]+\.py:\d+: (?:in \S+|\w+)?)$""",
    re.MULTILINE,
)
"""A frame as Python's tracebacks and pytest's name it. pytest names a file outside of where it began from the root, if
that is shorter: so it does those of installed packages, through which most exceptions come, and which say nothing.
"""
_RAISED_AGAIN = re.compile(
    r"(?<=\[running\]:\n)(?:[^\n]+\n)*panic\([^\n]*\n\t[^\n]+\n", re.MULTILINE
)
"""The frames of a goroutine down to its first panic: those of functions that recovered and panicked again."""
_SHAPES = (
    r"(?:map)?\[.*\]",
    r"&?(?:[\w.]+)?\{.*\}",
    r'"[^"]*"',
    r"'[^']*'",
    r"`[^`]*`",
    r"[+-]?\d[\w.]*",
    "true|false",
)
"""How a list, a structure, a text, a number and a truth value are printed."""
_WORDS = r"[A-Za-z_][\w.()\[\]]*(?: [\w.()]+)*?"
_OBJECT_NUMBER = re.compile(r" &[0-9a-f]{32}\b")
"""Which object it is that PHPUnit shows: another number in each run."""
_SAME_LINES = re.compile(r"^-(?P<line>.*)\n(?P<rest>(?:-.*\n)*)\+(?P=line)\n", re.MULTILINE)
_RULES = re.compile(r"^[=*#~-]{3,} +(?=\S)| +[=*#~-]{3,}$")
_RUNNERS = re.compile(
    r"(?:^|/)(?:node_modules|\.cargo|rustlib|rustc|\.venv|site-packages)/|^node:|^library/|^internal/"
)
_SAID = (
    re.compile(r"^[ \t]*(?:Uncaught |Exception during run: )?"
               r"(?P<message>(?:(?:[A-Za-z_]\w*)?(?:Error|Exception)(?: \[\w+\])?|SystemExit)"
               r": \S[^\n]*)", re.MULTILINE),
    THROWN,
    re.compile(r"panicked at [^\n]*:\d+:\d+:\n(?P<message>\S[^\n]*)", re.MULTILINE),
    re.compile(r"^[ \t]*(?:[\w/-]+/)*[\w.-]+\.go:\d+(?::\d+)?: (?P<message>\S[^\n]*)", re.MULTILINE),
    re.compile(r"^panic: (?P<message>\S[^\n]*)", re.MULTILINE),
    re.compile(r"^(?:[^\n:]*/)?[\w.+-]+\.\w+:\d+:\w+:FAIL: ?(?P<message>\S[^\n]*)", re.MULTILINE),
    re.compile(r"^ *not ok \d+ *-? *(?P<message>\S[^\n]*)", re.MULTILINE),
    re.compile(r"^(?:[^\n:]*/)?[\w.+-]+\.\w+:\d+: Failure\n\s*(?P<message>\S[^\n]*)", re.MULTILINE),
    # What a compiler refuses: a test that is a build, or that builds something.
    re.compile(r"^(?:[^\n:]*/)?[\w.+-]+\.\w+:\d+(?::\d+)?: (?:fatal )?error: (?P<message>\S[^\n]*)", re.MULTILINE),
    re.compile(r"^error(?:\[E\d+\])?: (?P<message>\S[^\n]*)(?=\n *--> )", re.MULTILINE),
    # A script of the project's own; what Automake and Meson print is the name of the test alone.
    re.compile(r"^[ \t]*(?P<message>(?!FAIL(?:ED)?[: ]|\d+/\d+ )[^\n]*(?<![\w#])FAIL(?:ED)?(?![\w]|: +\d)[^\n]*)",
               re.MULTILINE),
    # The last word of a log that Automake prints
    re.compile(r"^(?P<message>[^\n]*\w[^\n]*)\n+FAIL \S+ \(exit status: \d+\)$", re.MULTILINE),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Told:
    """What was said of a failure, and where; what is not known is empty, a line 0."""

    message: str = ""
    file: str = ""
    line: int = 0
    observed: str = ""
    expected: str = ""
    begins: int = field(default=0, compare=False)  # where in the text


def told_failure(text: str) -> Told | None:
    """The last failure with values that a text tells of, else the first message; None: no word."""
    text = telling_text(text.replace("\r\n", "\n"))
    if pytest := said_by_pytest(text):
        message, file, line, begins = pytest
        values = compared_values(message)
        return Told(one_line(message.split("\n", 1)[0]), file, line, *values, begins)
    for way in _READ:
        if matches := list(way.finditer(text)):
            return _with_place(_told_by_match(matches[-1]), text, matches[-1])
    for way in _SAID:
        if matches := list(way.finditer(text)):
            said = Told(_without_rules(matches[0]["message"]), begins=matches[0].start())
            return _with_place(said, text, matches[0])
    return None


def telling_text(text: str) -> str:
    """A report without the frames of Go that only handed a panic on (the innermost is where it began), and without
    PHPUnit's numbers of objects, nor a difference where that was all of it.
    """
    text, numbers = _OBJECT_NUMBER.subn("", _RAISED_AGAIN.sub("", text))
    while numbers:
        text, numbers = _SAME_LINES.subn(r" \g<line>\n\g<rest>", text)
    return text


def frames_shown(text: str) -> list[str]:
    """The lines in which a report of Python's names the frames that an exception came through, as they come."""
    return list(dict.fromkeys(match[0] for match in _FRAME.finditer(text)))


def shown_lines(text: str, files: Collection[str]) -> list[Location]:
    """The lines of these files that a failure's report shows, as they come."""
    found: dict[Location, None] = {}
    for match in _SHOWN.finditer(text):
        path, line = match["file"] or match["path"], int(match["line"] or match["number"])
        if meant := meant_file(path, files):
            found.setdefault(Location(meant, line))
    for path, line in java_places(text):
        if meant := meant_source(path, files):
            found.setdefault(Location(meant, line))
    return list(found)


def meant_file(path: str, files: Collection[str]) -> str:
    """Of these files the one that a path ends in, the longest of several; empty where it ends in none."""
    ends = (file for file in files if f"/{path}".endswith(f"/{file}"))
    return max(ends, key=len, default="")


def _told_by_match(match: re.Match[str]) -> Told:
    groups = match.groupdict(default="")
    observed, expected = (
        groups.get(name, "").strip().rstrip(",;")[:LONGEST_MESSAGE]
        for name in ("observed", "expected")
    )
    message = _without_rules(groups.get("message", "")).strip("'\" ") or f"expected {expected}"
    line = int(groups.get("line") or 0)
    values = _without_words(observed, expected), _without_words(expected, observed)
    return Told(message, groups.get("file", ""), line, *values, match.start())


def _without_words(value: str, other: str) -> str:
    """A value without what it is a value of, where the other shows which shape it has: ``args []`` beside ``[]``."""
    for shape in _SHAPES if " " in value else ():
        if re.fullmatch(shape, other) and (found := re.fullmatch(rf"{_WORDS} ({shape})", value)):
            return found[1]
    return value


def _without_rules(message: str) -> str:
    """A message in one line, without what is drawn around it (``==== case 17 ====``)."""
    return _RULES.sub("", shortened(message))


def _with_place(said: Told, text: str, match: re.Match[str]) -> Told:
    """With the first place of the project's own that the text names, from the failure on."""
    if said.file:
        return said
    for file, line in java_places(text, match.start()):
        return replace(said, file=file, line=line)
    before = max(0, text.rfind("\n", 0, match.start()) - LONGEST_MESSAGE)
    for begin in (match.start(), before):
        for frame in _STACK.finditer(text, begin):
            if not _RUNNERS.search(frame["file"]):
                return replace(said, file=frame["file"], line=int(frame["line"]))
    return said
