"""What Perl's ``prove`` and Test::More say: prove names the files that failed, each file which of its tests did."""

from __future__ import annotations

import re

FAILED = r"^(?P<test>\S+) +\(Wstat: (?:[1-9].*|0 Tests: \d+ Failed: [1-9]\d*|.*(?=\)\n  Parse errors: ))\)$"
"""A line of the summary; of tests that passed though that was not expected it names the file as well."""
PASSED = r"(?P<prove>\S+\.t) \.\.+ ok"
SUBTEST = r"# +Failed test '(?P<subtest>.*)'"
_DIAGNOSTIC = re.compile(rf"^{SUBTEST}(?:\n# +| )at (?P<file>\S+) line \d+\.$", re.MULTILINE)


def shown_test_by_test(text: str, file: str) -> bool:
    """Whether a file's own words stand in the output (``-v``), which name those of its tests that failed."""
    begin = re.search(rf"^{re.escape(file)} \.\.+ *$", text, re.MULTILINE)
    if begin is None:
        return False
    end = re.compile(r"^(?:\S+ \.\.+ *|Test Summary Report)$", re.MULTILINE).search(
        text, begin.end()
    )
    own = text[begin.end() : end.start() if end else len(text)]
    return re.search(r"^[ \t]*not ok\b", own, re.MULTILINE) is not None


def said_of_files(text: str) -> dict[str, str]:
    """By file, which of its tests failed, as Test::More says it."""
    found: dict[str, list[str]] = {}
    for match in _DIAGNOSTIC.finditer(text):
        found.setdefault(match["file"], []).append(match[0])
    return {file: "\n".join(said) for file, said in found.items()}
