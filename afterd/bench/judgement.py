"""Is what was reported what is to be found? AFTER's three categories (section VI-A), as a rule.

The paper's authors judged by hand, with the developers' fix beside them. Here the fix is written
down with the case, as one set of changes or as several that are equally right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from afterd.model.change import Change, ChangeForm
from afterd.model.location import LineSpan
from afterd.vcs.sample import Marker, matches


class Verdict(StrEnum):
    """How an answer compares with what is to be found."""

    MATCHED = "matched"  # the guilty changes, all of them and nothing else
    PARTIAL = "partial"  # repairs the test with some of the guilty, or with more than them
    MISSED = "missed"  # does not repair it, dodges it without any guilty change, or no answer
    SKIPPED = "skipped"  # could not be asked here


class Target(Protocol):
    """A change that is to be found, described without its number."""

    def means(self, change: Change) -> bool:
        """Whether it is this change, or this change is a part of it."""
        ...


@dataclass(frozen=True, slots=True)
class MarkedTarget:
    """A change told by its file and a piece of its text, as in ``scenario.toml``."""

    marker: Marker

    def means(self, change: Change) -> bool:
        """Whether the change has this text."""
        return matches(change, self.marker)


@dataclass(frozen=True, slots=True)
class SpanTarget:
    """A zero-context hunk as git makes it: ``old`` lines of the good version, ``new`` of the bad.

    afterd splits a hunk where its parts can be reverted alone, so a part of it is meant too; and
    where a file is too large it is one change, which has the hunk in it.
    """

    file: str
    old: LineSpan
    new: LineSpan

    def means(self, change: Change) -> bool:
        """Whether the change shares lines with it in either version, or is all of the file."""
        if self.file not in {change.file, change.old_file}:
            return False
        if change.form in _WHOLE_FILES:
            return True
        return _overlap(self.old, change.old) or _overlap(self.new, change.new)


_WHOLE_FILES = (ChangeForm.WHOLE, ChangeForm.ADDED, ChangeForm.DELETED)


def _overlap(one: LineSpan, other: LineSpan) -> bool:
    """Spans without lines share none."""
    return max(one.start, other.start) < min(one.end, other.end)


Answer = tuple[Target, ...]
"""A set of changes whose reversal is the right answer, auxiliary ones included."""


def judge(reported: Sequence[Change], answers: Sequence[Answer], *, repairs: bool) -> Verdict:
    """Judge the union of root and auxiliary changes.

    ``answers`` are the sets that are right, each as good as the others. ``repairs``: the test was
    seen to pass with ``reported`` reverted.
    """
    if not reported or not repairs:
        return Verdict.MISSED
    if any(_is_same_answer(reported, answer) for answer in answers):
        return Verdict.MATCHED
    touched = any(_meant_changes(answer)(change) for answer in answers for change in reported)
    return Verdict.PARTIAL if touched else Verdict.MISSED


def _is_same_answer(reported: Sequence[Change], answer: Answer) -> bool:
    """Nothing is missing and nothing is too much (as it is in a file that was taken whole)."""
    complete = all(any(target.means(change) for change in reported) for target in answer)
    precise = all(change.form is not ChangeForm.WHOLE for change in reported)
    return complete and precise and all(map(_meant_changes(answer), reported))


def _meant_changes(answer: Answer) -> Callable[[Change], bool]:
    return lambda change: any(target.means(change) for target in answer)
