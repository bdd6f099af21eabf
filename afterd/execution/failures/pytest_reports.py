"""Reading what our pytest plugin wrote (``runners/plugins/afterd_outcomes.py``)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE_NAME = "pytest-outcomes.jsonl"  # the plugin, which cannot import afterd, has the same name

_TYPED = re.compile(r"(?P<kind>[A-Za-z_][\w.]*)(?:: (?P<reason>.*))?", re.DOTALL)
_MARKED = re.compile(r"^E +(\S.*)$", re.MULTILINE)
_LARGEST = 64 << 20


@dataclass(frozen=True, slots=True)
class Report:
    """One line: a test, a phase ("start" before the first), and how it ended.

    ``frames`` are path, line number and source line, the innermost last; ``found`` how many tests there
    are, in the line that says it ("collected").
    """

    test: str
    when: str
    outcome: str = ""
    message: str = ""
    frames: tuple[tuple[str, int, str], ...] = ()
    found: int = 0

    @property
    def failed(self) -> bool:
        """Whether the test failed in this phase."""
        return self.outcome == "failed"

    @property
    def kind(self) -> str:
        """The exception's type; an assertion that pytest rewrote is shown without one."""
        match = _TYPED.fullmatch(self._shown)
        return match["kind"] if match else "AssertionError"

    @property
    def reason(self) -> str:
        """The exception's message."""
        match = _TYPED.fullmatch(self._shown)
        return (match["reason"] or "") if match else self._shown

    @property
    def _shown(self) -> str:
        """The message; of a module that could not be collected, the last line marked with E."""
        marked = _MARKED.findall(self.message) if self.when == "collect" else ()
        return str(marked[-1]) if marked else self.message


def read_reports(directory: Path) -> list[Report]:
    """The reports of the run in ``directory``; empty where the plugin was not there."""
    return reports_in(directory / FILE_NAME)[0]


def reports_in(path: Path, offset: int = 0) -> tuple[list[Report], int]:
    """The reports of a file from ``offset`` on, and the offset behind its last whole line."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            content = file.read(_LARGEST)
    except OSError:
        return [], offset
    whole = content[: content.rfind(b"\n") + 1]
    read = [report for line in whole.splitlines() if (report := _report(line)) is not None]
    return read, offset + len(whole)


def under_way(reports: Sequence[Report]) -> str:
    """The test that began last, if it did not end; else empty."""
    begun = [report.test for report in reports if report.when == "start"]
    ended = {report.test for report in reports if report.when != "start"}
    return begun[-1] if begun and begun[-1] not in ended else ""


def _report(line: bytes) -> Report | None:
    """A line's report; None for one that was cut off, or that a hostile test wrote."""
    try:
        value: dict[str, Any] = json.loads(line)
        return Report(
            test=str(value["id"]),
            when=str(value["when"]),
            outcome=str(value.get("outcome", "")),
            message=str(value.get("message", "")),
            frames=tuple(
                (str(p), int(number), str(at)) for p, number, at in value.get("frames", ())
            ),
            found=int(value.get("found", 0)),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
