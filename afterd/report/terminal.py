"""An explanation on a terminal: the face of afterd at two in the morning.

The verdict comes first, then the story from the changes to the failure, then the lines to edit and the
commands to type; whole, also the failure by itself, every step of the causal tree, and what was not
followed. Every text that is not ours goes through
``sanitize`` into a rich ``Text``, never into markup.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from afterd.limits import REPORT
from afterd.model.change import Change
from afterd.model.explanation import Explanation, Failure, Status
from afterd.report.causal_tree import CausalTree
from afterd.report.sanitize import clipped_text, one_line, visible_text
from afterd.report.snippet import undone_patch, without_tabs
from afterd.report.story_lines import Story
from afterd.report.summary import (
    acting_line,
    along_heading,
    as_plain,
    as_terminal,
    assurance,
    headline,
    measure,
    next_steps,
    place,
)


class TerminalReport:
    """Renders one explanation.

    ``marks`` are sentences on what users said of it, ``subjects`` the first lines of its commits'
    messages, by id.
    """

    def __init__(
        self,
        explanation: Explanation,
        marks: Sequence[str] = (),
        *,
        subjects: Mapping[str, str] | None = None,
        whole: bool = False,
    ) -> None:
        self.explanation = explanation
        self.marks = marks
        self.subjects = subjects or {}
        self.whole = whole

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Rich's protocol: the parts, top to bottom."""
        yield _verdict(self.explanation, ascii_only=options.ascii_only)
        for mark in self.marks:
            yield Text(f"  marked {one_line(mark)}", "magenta")
        for part in self._sections():
            yield Text()
            yield part

    def _sections(self) -> list[RenderableType]:
        explanation = self.explanation
        parts: list[RenderableType] = []
        if explanation.reason and explanation.status is not Status.GREEN:
            parts += [Text(one_line(line)) for line in _reason_lines(explanation.reason)]
        if explanation.root:
            parts.append(_changes(explanation, self.subjects))
        told = bool(explanation.root) and explanation.tree is not None
        if explanation.failure is not None and (self.whole or not told):
            parts.append(_failure(explanation.failure))
        if told:
            parts.append(Story(explanation))
        if explanation.tree is not None and (self.whole or not told):
            guilty = frozenset(change.id for change in explanation.root)
            parts.append(CausalTree(explanation.tree, guilty, whole=self.whole))
        if explanation.root:
            parts.append(_undo(explanation.root, whole=self.whole))
        elif explanation.ranking:
            parts.append(_ranking(explanation))
        if explanation.status is not Status.GREEN:
            parts.append(_costs(explanation, notes=self.whole or not told))
        if next_steps(explanation):
            parts.append(_commands(explanation))
        return parts


def _reason_lines(reason: str) -> list[str]:
    """A reason's lines: what a runner said stands below the sentence, clipped."""
    sentence, *said = reason.split("\n")
    shown = clipped_text("\n".join(said), REPORT.terminal_message)
    return [sentence, *filter(str.strip, shown.split("\n"))]


def _verdict(explanation: Explanation, *, ascii_only: bool) -> Text:
    good = explanation.status is Status.GREEN
    sign = (("+" if good else "x") if ascii_only else ("✓" if good else "✗")) + " "
    colour = "green" if good else "red"
    verdict = Text(sign, f"bold {colour}").append_text(as_terminal(headline(explanation), "bold"))
    return (
        verdict.append(f". {one_line(explanation.reason)}")
        if good and explanation.reason
        else verdict
    )


def _changes(explanation: Explanation, subjects: Mapping[str, str]) -> RenderableType:
    """The changes that did it, and those that go along, each with where it is; a commit's subject is said once."""
    grid, along, untold = _grid(2), _grid(2), dict(subjects)
    for change in explanation.root[: REPORT.terminal_changes]:
        where = place(change, untold, acting_line(explanation, change))
        grid.add_row(Text(one_line(change.id), "bold yellow"), as_terminal(where))
        for commit in change.commits:
            untold.pop(commit, None)
    for change in explanation.auxiliary[: REPORT.terminal_changes]:
        along.add_row(Text(one_line(change.id), "yellow"), as_terminal(place(change, untold)))
        for commit in change.commits:
            untold.pop(commit, None)
    parts: list[RenderableType] = [Padding(grid, (0, 0, 0, 2))]
    if explanation.auxiliary:
        parts += [Text(along_heading(explanation), "dim"), Padding(along, (0, 0, 0, 2))]
    return Group(*parts, as_terminal(assurance(explanation), "yellow"))


def _failure(failure: Failure) -> RenderableType:
    """Where it failed, where that is known; what was said; the values."""
    grid = _grid(2)
    message = Text(visible_text(clipped_text(failure.message, REPORT.terminal_message)))
    heading = Text("Failed", "bold")
    if failure.file:
        grid.add_row(heading, Text(one_line(failure.place)))
        grid.add_row("", message)
    else:
        grid.add_row(heading, message)
    if failure.observed:
        grid.add_row(
            "observed",
            Text(one_line(clipped_text(failure.observed, REPORT.terminal_message)), "red"),
        )
    if failure.expected:
        grid.add_row(
            "expected",
            Text(one_line(clipped_text(failure.expected, REPORT.terminal_message)), "green"),
        )
    return grid


def _undo(root: Sequence[Change], *, whole: bool) -> RenderableType:
    parts = [Text("Undone, it reads", "bold")]
    for change in root if whole else root[: REPORT.terminal_changes]:
        parts.append(Text(f"{one_line(change.id)}  {one_line(change.file)}", "dim"))
        lines = [
            line for line in undone_patch(change.patch).split("\n") if not line.startswith("@@")
        ]
        kept = lines if whole else lines[: REPORT.terminal_patch]
        parts += [Text(f"  {one_line(line)}", _side(line)) for line in without_tabs(kept) if line]
        if len(kept) < len(lines):
            parts.append(Text(f"  {len(lines) - len(kept)} more lines", "dim"))
    return Group(*parts)


def _side(line: str) -> str:
    return {"-": "red", "+": "green"}.get(line[:1], "dim")


def _ranking(explanation: Explanation) -> RenderableType:
    grid = _grid(3)
    for line in explanation.ranking[: REPORT.ranked]:
        where = one_line(f"{line.file}:{line.line}")
        text = Text(one_line(line.text.strip()))
        grid.add_row(Text(f"{line.score:.2f}", "cyan"), Text(where), text)
    return Group(Text("Where to look first", "bold"), Padding(grid, (0, 0, 0, 2)))


def _costs(explanation: Explanation, *, notes: bool) -> RenderableType:
    said = (*explanation.remarks, *(explanation.notes if notes else ()))
    notes_said = [Text(f"Note: {one_line(note)}", "dim") for note in said]
    return Group(*notes_said, Text(as_plain(measure(explanation)), "dim"))


def _commands(explanation: Explanation) -> RenderableType:
    """To be copied: a command is never folded, however narrow the terminal is."""
    lines = [Text("Next", "bold")]
    for command, purpose in next_steps(explanation):
        line = Text(f"  {one_line(command)}", "bold cyan", no_wrap=True, overflow="ignore")
        lines.append(line.append(f"  # {purpose}", "not bold dim"))
    return Group(*lines)


def _grid(columns: int) -> Table:
    """Aligned columns that fold what is too long: an ellipsis would eat a name."""
    grid = Table.grid(padding=(0, 2))
    for _ in range(columns):
        grid.add_column(overflow="fold")
    return grid
