"""The daemon's status for people."""

from __future__ import annotations

import time
from collections.abc import Mapping

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from afterd.daemon.self_check import Calibration
from afterd.daemon.status import DaemonStatus, Waiting
from afterd.report.sanitize import one_line


def described_status(status: DaemonStatus) -> list[RenderableType]:
    """The parts of the answer, in the order they are read."""
    parts: list[RenderableType] = [_headline(status)]
    if status.queue:
        parts.append(_queue(status.queue))
    waiting = [each for each in status.queue if each.state == "waiting"]
    if waiting:
        parts.append(Text("Approve a commit after reading it: afterd daemon approve COMMIT"))
    parts.append(_numbers(status))
    return parts


def _headline(status: DaemonStatus) -> Text:
    if status.process is None:
        return Text("No daemon watches this repository.", "bold")
    text = Text(f"The daemon is process {status.process}.", "bold")
    return text.append(f" It starts nothing: {status.paused}.") if status.paused else text


def _queue(queue: tuple[Waiting, ...]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("job", "state", "what", "ref", "trust", "note"):
        table.add_column(heading, overflow="fold")
    for each in queue:
        cells = (each.what[:12], each.ref, each.trust, _note(each))
        table.add_row(str(each.id), each.state, *(Text(one_line(cell)) for cell in cells))
    return table


def _note(waiting: Waiting) -> str:
    """Why a job is not done, and from when on it is taken up again where that is not yet."""
    said = waiting.reason or waiting.stage
    if waiting.not_before <= time.time():
        return said
    moment = time.strftime("%Y-%m-%d %H:%M", time.localtime(waiting.not_before))
    return f"{said.removesuffix('.')}. It is tried again after {moment}."


def _numbers(status: DaemonStatus) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_row("jobs", _listed(status.jobs))
    grid.add_row("verdicts", _listed(status.verdicts))
    grid.add_row("comments", _listed(status.outgoing))
    grid.add_row("calibration", _calibrated_sentence(status.calibration, status.untold))
    return grid


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items()) or "none"


def _calibrated_sentence(found: Calibration, untold: int) -> str:
    if not found.of:
        return "no answer was verified again yet"
    said = (
        f"{found.held} of {found.of} answers held"
        f" ({found.rate:.0%}; between {found.low:.0%} and {found.high:.0%} with 95 %)"
    )
    return f"{said}, {untold} could not be told" if untold else said
