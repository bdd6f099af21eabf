"""The picture in the README is an answer that was really given, printed again."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from afterd.report.received import received_document
from afterd.report.terminal import TerminalReport

README = Path(__file__).parents[2] / "README.md"
ANSWER = Path(__file__).parent / "golden" / "readme.json"
"""What `afterd explain --format json` wrote for the scenario sluice/comparison, without its ranking."""


def printed() -> str:
    """The answer on a terminal of 100 columns, down to what it cost."""
    (explanation,) = received_document(ANSWER.read_bytes(), ANSWER.name).explanations
    subjects = dict.fromkeys(explanation.root[0].commits, "The version that fails")
    stream = io.StringIO()
    Console(file=stream, width=100).print(TerminalReport(explanation, subjects=subjects))
    text = "\n".join(line.rstrip() for line in stream.getvalue().split("\n"))
    return text.partition("\n\n274 changes")[0] + "\n"


def test_the_picture_is_what_is_printed() -> None:
    assert f"```\n{printed()}```" in README.read_text()


def test_it_is_as_short_as_promised() -> None:
    assert len(printed().splitlines()) <= 24
