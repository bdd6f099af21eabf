"""Added blocks cut where one commit's work ends and another's begins.

A block of 300 lines that the good version does not have may be five commits' work, of which one is
guilty. A part ends with a statement; in languages with brackets it opens and closes its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from afterd.model.location import LineSpan
from afterd.vcs.hunks import Hunk, SourceText, span_after
from afterd.vcs.statements import Layout, indent


@dataclass(frozen=True, slots=True)
class Part:
    """Lines ``begin`` to ``end`` of the bad version, counted from 0, which these commits made (oldest first) of
    the good version's lines ``origin``, or of none that is known.
    """

    begin: int
    end: int
    commits: tuple[str, ...] = ()
    origin: tuple[int, int] | None = None


def statements_in(span: LineSpan, text: SourceText) -> list[Part]:
    """The span's lines, cut wherever a statement is complete; one part where that cannot be told."""
    structure, first = text.layout, span.start - 1
    last = first + span.count
    if structure is None or span.count == 0:
        return [Part(first, last)]
    gaps = [first, *(gap for gap in range(first + 1, last) if structure.complete[gap]), last]
    return [Part(begin, end) for begin, end in pairwise(gaps)]


def cut_at_commits(hunk: Hunk, parts: Sequence[Part], text: SourceText) -> list[tuple[Hunk, Part]]:
    """The hunk divided between commits; whole where no border of theirs can be told or reverted.

    ``parts`` are its new lines by statement, each with its commits.
    """
    structure = text.layout
    if structure is None:
        return []
    runs = [_joined_part(list(group)) for _, group in groupby(parts, lambda part: part.commits)]
    runs = _standing_parts(runs, text, structure)
    if len(runs) < 2:
        return []
    return list(_placed_runs(hunk, runs))


def _standing_parts(runs: list[Part], text: SourceText, structure: Layout) -> list[Part]:
    """The runs, of which those that cannot be reverted alone are joined with what stands before them."""
    stands = _part_is_balanced if text.language.braced else _leaves_a_block
    at = 0
    while len(runs) > 1 and at < len(runs):
        if stands(runs[at], text, structure):
            at += 1
            continue
        first = max(at - 1, 0)
        runs = [*runs[:first], _joined_part(runs[first : first + 2]), *runs[first + 2 :]]
        at = 0
    return runs


def _part_is_balanced(part: Part, text: SourceText, structure: Layout) -> bool:  # noqa: ARG001 - as its like
    """Whether every bracket that it opens is closed in it, and no other is."""
    depth = structure.depth
    inside = all(depth[gap] >= depth[part.begin] for gap in range(part.begin, part.end))
    return inside and depth[part.begin] == depth[part.end]


def _leaves_a_block(part: Part, text: SourceText, structure: Layout) -> bool:
    """Whether the block that it begins in, by indentation, has a statement without it.

    What an opening line leaves behind is not asked: the text tells that it needs the rest to go along.
    """
    own = structure.depth[part.begin]
    return structure.depth[part.end] >= own or _indent_before(part.begin, text, structure) >= own


def _indent_before(line: int, text: SourceText, structure: Layout) -> int:
    """How far the statement before a line is indented."""
    for number in range(line, 0, -1):
        content = text.lines[number - 1]
        if content.strip() and structure.complete[number - 1]:
            return indent(content)
    return 0


def _placed_runs(hunk: Hunk, runs: Sequence[Part]) -> Iterator[tuple[Hunk, Part]]:
    """Each run with the good version's lines that it stands for; nothing where they do not come out even."""
    begin = hunk.old.before
    spans = [(begin, begin) if hunk.old.count == 0 else run.origin for run in runs]
    known = [span for span in spans if span is not None]
    borders = [begin, *(at for span in known for at in span), begin + hunk.old.count]
    even = all(borders[at] == borders[at + 1] for at in range(0, len(borders), 2))
    if len(known) < len(runs) or not even:
        return
    for run, (start, stop) in zip(runs, known, strict=True):
        new = LineSpan(run.begin + 1, run.end - run.begin)
        yield Hunk(span_after(start, stop - start), new), run


def _joined_part(parts: Sequence[Part]) -> Part:
    made = dict.fromkeys(commit for part in parts for commit in part.commits)
    origins = [part.origin for part in parts]
    known = [origin for origin in origins if origin is not None]
    whole = (known[0][0], known[-1][1]) if known and len(known) == len(origins) else None
    return Part(parts[0].begin, parts[-1].end, tuple(made), whole)
