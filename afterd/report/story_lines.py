"""The story of a failure on a terminal: where, what, the values in both runs, and how it is known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from io import StringIO
from itertools import groupby

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from afterd.limits import REPORT
from afterd.model.explanation import Explanation, TreeStep
from afterd.report.sanitize import clipped_text, one_line
from afterd.report.story import carried_words, story
from afterd.report.summary import Phrase, Quoted, as_terminal
from afterd.report.told_step import Told

_NARROWEST = 40  # columns that a statement has, however narrow the terminal is
_INDENT = "  "
_CLAUSES = ("; ", " where ")
"""What a clause of a step's values begins with."""


class Story:
    """Renders what the root of an explanation did."""

    def __init__(self, explanation: Explanation) -> None:
        self.explanation = explanation

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Rich's protocol: a grid of places, statements and evidence; where that is narrow, a file stands
        above its lines.
        """
        told = story(self.explanation)
        places = _places(told, ascii_only=options.ascii_only)
        first = max(map(len, places), default=0)
        if options.max_width - first > REPORT.story_beside:
            room = options.max_width - first - REPORT.story_known
            steps = zip(places, told, strict=True)
            yield _grid(steps, first, room, aligned=False, ascii_only=options.ascii_only)
            return
        lines = [place.rpartition(":")[2].strip(" →>") for place in places]
        longest = max(map(len, lines), default=0)
        width = longest + 4
        room = options.max_width - width - REPORT.story_known
        signs = [place.strip()[:1] if place.strip()[:1] in "→>" else " " for place in places]
        numbered = [f"  {sign} {line:>{longest}}" for sign, line in zip(signs, lines, strict=True)]
        for file, group in groupby(zip(numbered, told, strict=True), lambda pair: pair[1].file):
            (place, step), *rest = group
            if step.carried:  # what comes before a file's first step need not be of that file
                fold = _grid([], width, room, aligned=True, ascii_only=options.ascii_only)
                _add_fold(fold, step.carried, width, ascii_only=options.ascii_only)
                yield fold
            yield Text(f"  {one_line(file)}", "dim", overflow="fold")
            part = [(place, replace(step, carried=())), *rest]
            yield _grid(part, width, room, aligned=True, ascii_only=options.ascii_only)


def printed_story(explanation: Explanation, width: int) -> list[str]:
    """The lines of a story as a terminal of so many columns shows them."""
    console = Console(file=StringIO(), width=width, highlight=False)
    with console.capture() as printed:
        console.print(Story(explanation))
    return [line.rstrip() for line in printed.get().splitlines()]


def _grid(
    steps: Iterable[tuple[str, Told]], first: int, room: int, *, aligned: bool, ascii_only: bool
) -> Table:
    """Steps below each other; ``aligned``: the columns are as wide as those of the grids around it."""
    grid = Table.grid(padding=(0, 2), expand=False)
    grid.add_column(no_wrap=True, min_width=first)
    grid.add_column(overflow="fold", min_width=room if aligned else None)
    grid.add_column(no_wrap=True, justify="right")
    for place, step in steps:
        if step.carried:
            _add_fold(grid, step.carried, first, ascii_only=ascii_only)
        grid.add_row(
            Text(place, "dim"), _statement(step, room), "" if step.values else _how_known(step)
        )
        if step.values:
            grid.add_row("", _values(step.values, room), _how_known(step))
    return grid


def _add_fold(grid: Table, carried: Sequence[TreeStep], first: int, *, ascii_only: bool) -> None:
    """A row for the steps that only hand a value on."""
    sign = (":" if ascii_only else "⋮").rjust(first)
    grid.add_row(Text(sign, "dim"), Text(carried_words(carried), "dim"), "")


def _places(told: list[Told], *, ascii_only: bool) -> list[str]:
    """A file is named where it is another one than in the line before."""
    found: list[str] = []
    for number, step in enumerate(told):
        same = number > 0 and told[number - 1].file == step.file and step.line > 0
        sign = ("> " if ascii_only else "→ ") if number == len(told) - 1 else ""
        named = f"{step.line}" if same else one_line(step.place)
        found.append(f"  {sign}{named}")
    width = max(map(len, found), default=0)
    return [place.rjust(width) if not place.strip(" →>").count(":") else place for place in found]


def _statement(step: Told, room: int) -> Text:
    """The statement, cut so that its change's mark stands behind it; of a changed one also what it was, on a
    line of its own where that is too long.
    """
    mark = f"  {one_line(step.mark)}" if step.mark else ""
    stated = clipped_text(one_line(step.text), max(room, _NARROWEST) - len(mark))
    text = Text(stated, "bold yellow" if step.change else "").append(
        mark, "yellow" if step.change else "dim"
    )
    if step.was:
        was = one_line(clipped_text(step.was, REPORT.story_value))
        beside = "   was "
        fits = len(text) + len(beside) + len(was) <= room
        text.append(beside if fits else "\n  was ", "dim").append(was, "green")
    return text


def _values(values: Phrase, room: int) -> Text:
    """What a step did and what it did without the changes: below each other where they are too long."""
    text, width = Text(_INDENT), len(_INDENT)
    clauses: list[list[str | Quoted]] = [[]]
    for part in values:
        if isinstance(part, str) and part.startswith(_CLAUSES):
            clauses.append([])
        clauses[-1].append(part)
    for number, clause in enumerate(clauses):
        said = as_terminal(tuple(clause), "cyan")
        if number and width + len(said) > room:
            begin = len(said.plain) - len(said.plain.lstrip("; "))
            text.append(said.plain[:begin].rstrip() + "\n" + _INDENT)
            said = said[begin:]
            width = len(_INDENT)
        text.append_text(said)
        width += len(said)
    return text


def _how_known(step: Told) -> Text:
    return Text(step.evidence, "dim")
