"""How far a suite is that is still running, by what its runner prints of each test as it ends."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_ENDED = re.compile(
    rb"^(?:(?:.* )?\.\.\. .*?(?:ok|skipped\b.*|expected failure|ignored"
    rb"|(?P<python>FAIL|ERROR|FAILED|unexpected success))"
    rb"|[ \t]*\d+/(?P<of>\d+) (?:Test +#\d+: .*?(?:Passed|(?P<ctest>\*\*\*\w*|Failed))"
    rb"|.*[ \t](?:OK|SKIP|EXPECTEDFAIL|(?P<meson>FAIL|ERROR|TIMEOUT|UNEXPECTEDPASS))[ \t]).*"
    rb"|(?:ok|(?P<tap>not ok))(?: \d+\b| *\t).*"
    rb"|(?:PASS|SKIP|XFAIL|(?P<make>FAIL|ERROR|XPASS)): \S+(?: \d+ - .*)?)\r?$",
    re.MULTILINE,
)
"""unittest, Django and Cargo; CTest and Meson, which number their tests; TAP, and Go's packages; Automake."""
_FOUND = re.compile(
    rb"^(?:Found (?P<django>\d+) test\(s\)\.|running (?P<cargo>\d+) tests?|1\.\.(?P<tap>\d+))\s*$",
    re.MULTILINE,
)


@dataclass(slots=True)
class TestsEnded:
    """Counts tests in output that comes in pieces; ``found`` is 0 where the runner does not say how many there are."""

    __test__ = False  # pytest collects classes named Test*

    ended: int = 0
    found: int = 0
    red: int = 0
    _begun: dict[str, bytes] = field(default_factory=dict)

    def read(self, stream: str, piece: bytes) -> None:
        """What came next on a stream; a line that has not ended is kept for later."""
        whole, line_end, begun = (self._begun.get(stream, b"") + piece).rpartition(b"\n")
        self._begun[stream] = begun
        text = whole + line_end
        for match in _FOUND.finditer(text):
            self.found += int(next(filter(None, match.groups())))
        for match in _ENDED.finditer(text):
            self.ended += 1
            self.found = max(self.found, int(match["of"] or 0))
            self.red += any(match[name] for name in ("python", "ctest", "meson", "tap", "make"))
