"""Zero-context hunks between two texts, and their division into the smallest that stand alone.

libgit2 (1.9) has no histogram diff; of what it has, patience with the indent heuristic comes
nearest: both anchor on lines that are unique in the two versions, histogram on the rarest ones. Frequent
lines it leaves out of account, as empty ones, so a hunk may hold some that did not change: there it is cut.
A line that is unique in both versions is its anchor also where the code around it went elsewhere, and then the
head of a function that stayed counts as moved: the plain diff is taken where it moves fewer of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise

from pygit2 import Patch
from pygit2.enums import DiffOption

from afterd.limits import GIT
from afterd.model.change import Change
from afterd.model.location import LineSpan
from afterd.vcs.statements import Layout, indent, layout
from afterd.vcs.tokens import Language
from afterd.weights import SIMILARITY

_PLAIN = DiffOption.INDENT_HEURISTIC | DiffOption.FORCE_TEXT
_PATIENCE = _PLAIN | DiffOption.PATIENCE
_WORD = re.compile(rb"\w+|[^\w\s]")
_BLOCK = re.compile(rb"\s*(def|class|async\s+def|@)\b")
_DEFINITION = re.compile(rb"\s*(async\s+)?(def|class)\b")
_BRACED = re.compile(
    rb"\s*(?!(?:if|for|while|switch|else|do|return|case|catch)\b)[A-Za-z_~][^;={}\"']*\([^;={}]*\)[\w\s]*\{?\s*$"
)
"""The head of a function in braces, as its line ends: with its brace, unless that is the next line."""
_BRANCH = re.compile(rb"\s*(?:if|for|do|switch)\b")
_GOES_ON = re.compile(rb"\s*(?:else\b|while\b|catch\b|[{})\],;:?.&|=<>+*/%-])")
"""How a line of C begins that goes on with what stands above it, or may."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines ``old`` of the good text that stand as lines ``new`` in the bad one."""

    old: LineSpan
    new: LineSpan


class SourceText:
    """A text as lines with their ends, and its layout (read only when a hunk may be split)."""

    def __init__(self, content: bytes, language: Language) -> None:
        self.content = content
        self.language = language

    @property
    def count(self) -> int:
        """The number of lines, told without splitting them."""
        return self.content.count(b"\n") + (self.content[-1:] not in {b"", b"\n"})

    @cached_property
    def lines(self) -> list[bytes]:
        """The lines with their ends."""
        return split_lines(self.content)

    @cached_property
    def layout(self) -> Layout | None:
        """Where statements end; None when that cannot be told."""
        return layout(self.lines, self.language)


def split_lines(content: bytes) -> list[bytes]:
    """The lines with their ends. Only a newline ends a line: ``bytes.splitlines`` cuts at a lone
    carriage return as well, and git does not.
    """
    *whole, rest = content.split(b"\n")
    return [line + b"\n" for line in whole] + ([rest] if rest else [])


def difference(good: bytes, bad: bytes) -> list[Hunk]:
    """The zero-context hunks from ``good`` to ``bad``, top to bottom."""
    patient = _hunks(good, bad, _PATIENCE)
    if not (moved := _moved_definitions(patient, good, bad)):
        return patient
    plain = _hunks(good, bad, _PLAIN)
    return plain if _moved_definitions(plain, good, bad) < moved else patient


def _hunks(good: bytes, bad: bytes, algorithm: DiffOption) -> list[Hunk]:
    patch = Patch.create_from(good, bad, flag=algorithm, context_lines=0, interhunk_lines=0)
    found = [
        Hunk(LineSpan(hunk.old_start, hunk.old_lines), LineSpan(hunk.new_start, hunk.new_lines))
        for hunk in patch.hunks
    ]
    if not any(map(_may_hold_more, found)):
        return found
    before, after = split_lines(good), split_lines(bad)
    return [part for hunk in found for part in _separated_hunks(hunk, before, after)]


def _moved_definitions(hunks: Sequence[Hunk], good: bytes, bad: bytes) -> int:
    """How many heads of functions and classes are deleted in one hunk and inserted in another."""
    deleted = _definitions([hunk.old for hunk in hunks], good)
    return (deleted & _definitions([hunk.new for hunk in hunks], bad)).total() if deleted else 0


def _definitions(spans: Sequence[LineSpan], text: bytes) -> Counter[bytes]:
    if not any(span.count for span in spans):
        return Counter()
    lines = split_lines(text)
    found = (at for span in spans for at in range(span.start - 1, span.start - 1 + span.count))
    return Counter(lines[at].strip() for at in found if _is_head(lines, at))


def _is_head(lines: Sequence[bytes], at: int) -> bool:
    """Whether a function or class begins at a line."""
    if _DEFINITION.match(lines[at]):
        return True
    opens = lines[at].rstrip().endswith(b"{") or b"".join(lines[at + 1 : at + 2]).strip() == b"{"
    return opens and len(lines[at]) <= GIT.line and _BRACED.match(lines[at]) is not None


def _may_hold_more(hunk: Hunk) -> bool:
    least, most = sorted([hunk.old.count, hunk.new.count])
    return least > 0 and 1 < most <= GIT.widest


def _separated_hunks(hunk: Hunk, good: Sequence[bytes], bad: Sequence[bytes]) -> Iterator[Hunk]:
    """The hunk without the lines that both versions still have in it."""
    if not _may_hold_more(hunk):
        yield hunk
        return
    old, new = hunk.old.start - 1, hunk.new.start - 1
    before, after = good[old : old + hunk.old.count], bad[new : new + hunk.new.count]
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for what, first, last, start, end in matcher.get_opcodes():
        if what != "equal":
            yield Hunk(span_after(old + first, last - first), span_after(new + start, end - start))


def span_after(before: int, count: int) -> LineSpan:
    """``count`` lines after so many; none are the gap after the last of those."""
    return LineSpan(before + 1 if count else before, count)


def smallest_hunks(hunk: Hunk, good: SourceText, bad: SourceText) -> list[Hunk]:
    """The hunk divided where each part can be reverted on its own, top to bottom.

    A replacement of as many lines is cut between complete statements whose lines pair up; what was
    only added or only deleted is cut between top-level blocks; so is what only one version has behind a
    replacement, and in C a branch that it has beside a rewritten statement.
    """
    if max(hunk.old.count, hunk.new.count) < 2:
        return [hunk]
    if hunk.new.count == 0:
        return [Hunk(part, hunk.new) for part in _cut_span(hunk.old, _blocks(hunk.old, good))]
    if hunk.old.count == 0:
        return [Hunk(hunk.old, part) for part in _cut_span(hunk.new, _blocks(hunk.new, bad))]
    if hunk.old.count != hunk.new.count:
        return _beside_rewritten(hunk, good, bad) or _without_blocks_behind(hunk, good, bad)
    cuts = list(_statement_cuts(hunk, good, bad))
    return [
        Hunk(old, new)
        for old, new in zip(_cut_span(hunk.old, cuts), _cut_span(hunk.new, cuts), strict=True)
    ]


def _without_blocks_behind(hunk: Hunk, good: SourceText, bad: SourceText) -> list[Hunk]:
    """A replacement, and the whole definitions behind it that only one version has: the last statement of a function
    was altered, and another function follows.
    """
    inserted = hunk.new.count > hunk.old.count
    longer, text = (hunk.new, bad) if inserted else (hunk.old, good)
    shorter, other = (hunk.old, good) if inserted else (hunk.new, bad)
    at = _first_whole_block(longer, text)
    if at is None or not _is_plain_part(shorter, other):
        return [hunk]
    head, behind = _cut_span(longer, [at])
    none = span_after(shorter.start - 1 + shorter.count, 0)
    first = Hunk(shorter, head) if inserted else Hunk(head, shorter)
    rest = Hunk(none, behind) if inserted else Hunk(behind, none)
    return [first, *smallest_hunks(rest, good, bad)]


def _beside_rewritten(hunk: Hunk, good: SourceText, bad: SourceText) -> list[Hunk]:
    """A branch of C that only one version has, and the lines below or above it that were rewritten: a special case in
    front of a statement whose pointer has another type now. Empty where they are not that.
    """
    inserted = hunk.new.count > hunk.old.count
    longer, text = (hunk.new, bad) if inserted else (hunk.old, good)
    shorter, other = (hunk.old, good) if inserted else (hunk.new, bad)
    if text.language is not Language.C or text.layout is None or other.layout is None:
        return []
    more = longer.count - shorter.count
    for at, is_front in ((more, True), (shorter.count, False)):
        above, below = _cut_span(longer, [at])
        own, kept = (above, below) if is_front else (below, above)
        if _is_branch(own, text) and _is_rewritten(shorter, other, kept, text):
            none = span_after(shorter.start - 1 + (0 if is_front else shorter.count), 0)
            apart = Hunk(none, own) if inserted else Hunk(own, none)
            rest = Hunk(shorter, kept) if inserted else Hunk(kept, shorter)
            parts = (apart, rest) if is_front else (rest, apart)
            return [small for part in parts for small in smallest_hunks(part, good, bad)]
    return []


def _is_branch(span: LineSpan, text: SourceText) -> bool:
    """Whether a span holds whole statements, of which the first decides whether others are executed."""
    first = text.lines[span.start - 1]
    return _BRANCH.match(first) is not None and _are_statements(span, text)


def _are_statements(span: LineSpan, text: SourceText) -> bool:
    """Whether a span holds whole statements of one block, of which none goes on what stands above."""
    structure, first = text.layout, span.start - 1
    if structure is None or _GOES_ON.match(text.lines[first]):
        return False
    start, *inside = range(first, first + span.count + 1)
    ends = structure.complete[start] and structure.complete[inside[-1]]
    depth = structure.depth[start]
    same = structure.depth[inside[-1]] == depth
    return ends and same and min(structure.depth[gap] for gap in inside) == depth


def _is_rewritten(shorter: LineSpan, other: SourceText, kept: LineSpan, text: SourceText) -> bool:
    """Whether as many lines stand for those of the other version, each like its own."""
    before = other.lines[shorter.start - 1 : shorter.start - 1 + shorter.count]
    after = text.lines[kept.start - 1 : kept.start - 1 + kept.count]
    return (
        _are_statements(shorter, other)
        and _are_statements(kept, text)
        and all(lines_are_similar(*pair) for pair in zip(before, after, strict=True))
    )


def _first_whole_block(span: LineSpan, text: SourceText) -> int | None:
    """Behind how many lines of a span the first of the blocks begins that end with it; None where none does."""
    structure, first = text.layout, span.start - 1
    if structure is None:
        return None
    end = first + span.count
    for gap in range(first + 1, end):
        line = text.lines[gap]
        starts = not text.lines[gap - 1].strip() and _starts_block(line, indent(line))
        if starts and structure.complete[gap] and structure.complete[end]:
            return gap - first if _is_left(first, gap, end, text, structure) else None
    return None


def _is_left(first: int, gap: int, end: int, text: SourceText, structure: Layout) -> bool:
    """Whether what stands behind a gap is over where the span ends, and the same block goes on as before it."""
    if text.language.braced:
        return structure.depth[first] == structure.depth[gap] == structure.depth[end]
    following = next((line for line in text.lines[end:] if line.strip()), b"")
    return indent(following) <= indent(text.lines[gap])


def _is_plain_part(span: LineSpan, text: SourceText) -> bool:
    """Whether a span holds whole statements of one block and begins none."""
    structure, first = text.layout, span.start - 1
    end = first + span.count
    if structure is None or not structure.complete[end]:
        return False
    if text.language.braced and structure.depth[first] != structure.depth[end]:
        return False
    return not any(_starts_block(line, indent(line)) for line in text.lines[first:end])


def undone_lines(
    good: Sequence[bytes], bad: Sequence[bytes], hunks: Sequence[Hunk | Change]
) -> list[bytes]:
    """The bad lines with the hunks' new spans replaced by their old ones; hunks top to bottom.

    A line that had no newline because it was the last gets one where it no longer is.
    """
    pieces: list[Sequence[bytes]] = []
    position = 0
    for hunk in hunks:
        begin = hunk.new.before
        first = hunk.old.start - 1
        pieces.append(bad[position:begin])
        pieces.append(good[first : first + hunk.old.count] if hunk.old.count else ())
        position = begin + hunk.new.count
    pieces.append(bad[position:])
    lines: list[bytes] = []
    for piece in filter(None, pieces):
        if lines and not lines[-1].endswith(b"\n"):  # it was the last line of its version
            lines[-1] += b"\n"
        lines += piece
    return lines


def _cut_span(span: LineSpan, cuts: Sequence[int]) -> Iterator[LineSpan]:
    for start, end in pairwise([0, *cuts, span.count]):
        yield LineSpan(span.start + start, end - start)


def _statement_cuts(hunk: Hunk, good: SourceText, bad: SourceText) -> Iterator[int]:
    """Offsets at which both versions have finished a statement at the same nesting, between two
    lines that each look like what they replaced.
    """
    before, after = good.layout, bad.layout
    if before is None or after is None:
        return
    old, new = hunk.old.start - 1, hunk.new.start - 1  # the gaps before the hunk
    shift = before.depth[old] - after.depth[new] if good.language.braced else 0
    for cut in range(1, hunk.old.count):
        here, there = old + cut, new + cut
        if (
            before.complete[here]
            and after.complete[there]
            and before.depth[here] == after.depth[there] + shift
            and lines_are_similar(good.lines[here - 1], bad.lines[there - 1])
            and lines_are_similar(good.lines[here], bad.lines[there])
        ):
            yield cut


def lines_are_similar(old: bytes, new: bytes) -> bool:
    """Whether most words of two lines are the same."""
    if max(len(old), len(new)) > GIT.line:
        return False
    before, after = _WORD.findall(old), _WORD.findall(new)
    return SequenceMatcher(None, before, after, autojunk=False).ratio() >= SIMILARITY.line


def _blocks(span: LineSpan, text: SourceText) -> list[int]:
    """Offsets at which a new block starts after a blank line, with all brackets of the span closed.

    A block starts in column 0, or is a definition as far indented as the span's first line; where blocks are indented,
    as whatever came before it in the span, or less: the span may begin within a function and go on with others.
    """
    structure, first = text.layout, span.start - 1
    if structure is None:
        return []
    lines = text.lines[first : first + span.count]
    column = next((indent(line) for line in lines if line.strip()), 0)
    cuts: list[int] = []
    filled = bool(lines[0].strip())  # whether the part under way holds anything
    for offset in range(1, span.count):
        gap = first + offset
        if text.language.braced and structure.depth[gap] < structure.depth[first]:
            return cuts  # a bracket from before the span was closed: what follows belongs elsewhere
        if not text.language.braced and structure.complete[gap] and _is_code(lines[offset]):
            column = min(column, indent(lines[offset]))
        starts = not lines[offset - 1].strip() and _starts_block(lines[offset], column)
        balanced = not text.language.braced or structure.depth[gap] == structure.depth[first]
        if starts and filled and balanced and structure.complete[gap]:
            cuts.append(offset)
            filled = False
        filled = filled or bool(lines[offset].strip())
    return cuts


def _is_code(line: bytes) -> bool:
    return line.strip()[:1] not in {b"", b"#"}


def _starts_block(line: bytes, column: int) -> bool:
    if line[:1].isspace() or not line:
        return indent(line) == column and _BLOCK.match(line) is not None
    return line[:1] not in {b"}", b")", b"]"}
