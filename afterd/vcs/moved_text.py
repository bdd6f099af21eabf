"""What of an added file was cut out of another one: moved text is no change, what differs in it is.

A module that is divided leaves files that the good version does not have, of which nearly every line is
old. Compared with the text that it came from, only what was written anew is left. As in git
(``diff --color-moved``, ``blame -C``) a block counts as moved by its letters and digits, so that
brackets and blank lines do not make one file another's child. Unlike there, text that still stands where it
stood was copied, and is new; and a line that still stands in any changed file (of a licence, an include, a common
phrase) tells nothing of where it came from: in a block it counts for no more than the others do.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from afterd.limits import GIT
from afterd.model.location import LineSpan
from afterd.vcs.between_hunks import Run, letters_in, runs_between
from afterd.vcs.hunks import Hunk, difference, lines_are_similar, span_after, split_lines
from afterd.vcs.tokens import Language

_HEADS = {
    Language.PYTHON: re.compile(rb"\s*(async\s+)?(def|class)\b|\w"),
    Language.OTHER: re.compile(rb"\w"),
}
_HEAD_IN_BRACES = re.compile(rb"[A-Za-z_]")


@dataclass(frozen=True, slots=True)
class Source:
    """A file of the good version, and the lines of it that the bad version no longer has there."""

    path: bytes
    content: bytes
    removed: tuple[LineSpan, ...]

    def standing(self) -> Iterator[bytes]:
        """The lines that it still has."""
        gone = {line for span in self.removed for line in range(span.start, span.end)}
        lines = enumerate(split_lines(self.content), start=1)
        return (line for number, line in lines if number not in gone)


@dataclass(frozen=True, slots=True)
class Origin:
    """The file that an added one was cut out of, and the hunks from its text to the added one's.

    Every line that stands in no hunk was moved. Lines of the file that went elsewhere are in none: a hunk's
    ``old`` lines are those that its ``new`` ones replaced, and an empty span stands right before the moved line
    that follows.
    """

    path: bytes
    content: bytes
    hunks: tuple[Hunk, ...]


@dataclass(frozen=True, slots=True)
class _Texts:
    """The lines of both files, the numbers (from 0) of the source's that do not stand there any more, and the lines
    that stand somewhere.
    """

    old: Sequence[bytes]
    new: Sequence[bytes]
    removed: frozenset[int]
    standing: Collection[bytes]

    def weight(self, chain: Sequence[Run]) -> int:
        """How many letters and digits were moved; those that do not tell where they came from count for no more than
        the others do.
        """
        moved = [line for run in chain for line in self.new[run.new : run.ends[1]]]
        telling = letters_in([line for line in moved if line not in self.standing])
        return min(2 * telling, letters_in(moved))


class MovedText:
    """The lines that a range removed, ready to be asked which of them an added file has."""

    def __init__(self, sources: Sequence[Source], language: Language) -> None:
        self._sources = sources
        self._head = _HEADS.get(language, _HEAD_IN_BRACES)
        self._standing = frozenset(line for source in sources for line in source.standing())
        self._holders: dict[bytes, set[int]] = defaultdict(set)
        for number, source in enumerate(sources):
            lines = split_lines(source.content)
            for line in _of_spans(source.removed, lines):
                if letters_in([line]) and line not in self._standing:
                    self._holders[line].add(number)

    def origin(self, added: bytes) -> Origin | None:
        """The file that most of an added text was cut out of; None where there is no such text."""
        shared = Counter[int]()
        for line in dict.fromkeys(split_lines(added)):
            for number in self._holders.get(line, ()):
                shared[number] += letters_in([line])
        if not shared:
            return None
        most = max(shared.values())
        number = min(number for number, weight in shared.items() if weight == most)
        return self._hunks(self._sources[number], added) if most >= GIT.moved else None

    def _hunks(self, source: Source, added: bytes) -> Origin | None:
        old, new = split_lines(source.content), split_lines(added)
        spans = (range(span.start, span.end) for span in source.removed)
        removed = frozenset(line - 1 for span in spans for line in span)
        alike = runs_between(difference(source.content, added), (len(old), len(new)))
        runs = [part for run in alike for part in _removed_parts(run, removed)]
        if runs and runs[0].new == 0:  # the line map counts from the first hunk
            runs[0] = Run(runs[0].old + 1, 1, runs[0].count - 1)
        texts = _Texts(old, new, removed, self._standing)
        chains = self._chains([run for run in runs if run.count], texts)
        moved = [chain for chain in chains if texts.weight(chain) >= GIT.moved_block]
        if not moved:
            return None
        kept = list(self._with_heads(moved, texts))
        hunks = sorted(_hunks_between(kept, len(new)), key=lambda hunk: hunk.new.start)
        return Origin(source.path, source.content, tuple(hunks))

    def _chains(self, runs: Sequence[Run], texts: _Texts) -> list[list[Run]]:
        """The runs, put together where between them no definition begins in either text, and nothing stands still."""
        chains: list[list[Run]] = []
        for run in runs:
            if chains:
                old, new = chains[-1][-1].ends
                between = (*texts.old[old : run.old], *texts.new[new : run.new])
                whole = texts.removed.issuperset(range(old, run.old))
                if whole and not any(map(self._head.match, between)):
                    chains[-1].append(run)
                    continue
            chains.append([run])
        return chains

    def _with_heads(self, chains: Sequence[list[Run]], texts: _Texts) -> Iterator[list[Run]]:
        """The chains, each from the line on with which its definition begins, where that was altered (``static``)."""
        old = new = 0
        for chain in chains:
            first = chain[0]
            head = self._last_head(texts.old, old, first.old)
            altered = self._last_head(texts.new, new, first.new)
            if (
                head is not None
                and altered is not None
                and not self._head.match(texts.new[first.new])
                and lines_are_similar(texts.old[head], texts.new[altered])
                and texts.removed.issuperset(range(head, first.old))
            ):
                yield [Run(head, altered, 0), *chain]
            else:
                yield chain
            old, new = chain[-1].ends

    def _last_head(self, lines: Sequence[bytes], start: int, end: int) -> int | None:
        """Where the last definition of a stretch of lines begins."""
        heads = (at for at in range(end - 1, start - 1, -1) if self._head.match(lines[at]))
        return next(heads, None)


def _of_spans(spans: Sequence[LineSpan], lines: Sequence[bytes]) -> Iterator[bytes]:
    for span in spans:
        yield from lines[span.start - 1 : span.end - 1]


def _removed_parts(run: Run, removed: Container[int]) -> Iterator[Run]:
    """The parts of a run that no longer stand in the source."""
    numbered = range(run.count)
    for gone, group in groupby(numbered, lambda at: run.old + at in removed):
        part = list(group)
        if gone:
            yield Run(run.old + part[0], run.new + part[0], len(part))


def _hunks_between(chains: Sequence[Sequence[Run]], lines: int) -> Iterator[Hunk]:
    """The hunks before, between and behind moved runs. Between chains the old lines went elsewhere, and the last
    line before such a gap is given up, so that a hunk marks it.
    """
    first = chains[0][0]
    if first.new:
        yield Hunk(LineSpan(first.old, 0), LineSpan(1, first.new))
    for chain in chains:
        for run, following in pairwise(chain):
            old, new = run.ends
            yield Hunk(span_after(old, following.old - old), span_after(new, following.new - new))
    for chain, following_chain in pairwise(chains):
        end, following = chain[-1].ends[1] - 1, following_chain[0]
        yield Hunk(LineSpan(following.old, 0), span_after(end, following.new - end))
    old, new = chains[-1][-1].ends
    if lines > new:
        yield Hunk(LineSpan(old, 0), span_after(new, lines - new))
