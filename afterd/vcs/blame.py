"""Which commits of a range made each change: the change's lines followed back, commit by commit.

libgit2's blame answers for lines that are still there; a change may have removed lines, or be a
rename, so the range is walked once for all changes instead. A merge passes the question on to the
parents that agree with it, as ``git log -- file`` does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import pygit2
from pygit2.enums import SortMode

from afterd.model.change import Change, ChangeForm, ChangeId, ChangeList
from afterd.model.location import LineSpan
from afterd.vcs.file_pairs import renames
from afterd.vcs.hunks import Hunk, difference
from afterd.vcs.paths import path_bytes
from afterd.vcs.trees import Entry, TreeReader

MOST_COMMITS = 500
MOST_QUESTIONS = 200_000  # commits times changed files


@dataclass(frozen=True, slots=True)
class _Question:
    """Who touched these lines of a file (``begin`` to ``end``, in gaps), or the file as a whole?"""

    change: ChangeId
    form: ChangeForm
    begin: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class _View:
    """A file in a commit beside the same file in one parent."""

    parent: str
    path: bytes
    origin: bytes  # its path in the parent
    here: Entry | None
    before: Entry | None
    hunks: Sequence[Hunk]

    def answers(self, question: _Question) -> bool:
        """Whether the step from this parent did what is asked about."""
        if question.form is ChangeForm.DELETED or self.before is None or self.here is None:
            return (self.before is None) != (self.here is None)
        if question.form is ChangeForm.RENAMED:
            return self.path != self.origin
        if question.form is ChangeForm.MODE:
            return self.before.mode != self.here.mode
        if question.form is ChangeForm.HUNK:
            return any(True for _ in _touching(question, self.hunks))
        return self.before != self.here


def attribute(
    repository: pygit2.Repository, good: str, bad: str, changes: ChangeList
) -> ChangeList:
    """The changes with ``commits`` filled in, oldest first; () where no commit of the range is seen
    to have touched the lines, and for a range of bare trees.
    """
    if not all(isinstance(repository[end], pygit2.Commit) for end in (good, bad)):
        return changes
    walker = repository.walk(bad, SortMode.TOPOLOGICAL)
    walker.hide(good)
    commits = list(islice(walker, MOST_COMMITS + 1))
    files = len({change.file for change in changes.changes})
    if len(commits) > MOST_COMMITS or len(commits) * files > MOST_QUESTIONS:
        note = "The range is too long to tell which commit made which change."
        return replace(changes, notes=(*changes.notes, note))
    makers = _Trail(repository).follow(commits, changes.changes)
    return replace(
        changes,
        changes=tuple(
            replace(change, commits=tuple(reversed(makers.get(change.id, ()))))
            for change in changes.changes
        ),
    )


class _Trail:
    """Questions travelling from the newest commit to the oldest, and the credit they leave."""

    def __init__(self, repository: pygit2.Repository) -> None:
        self._reader = TreeReader(repository)
        self._credits: dict[ChangeId, list[str]] = defaultdict(list)
        self._open: dict[str, dict[bytes, list[_Question]]] = defaultdict(dict)

    def follow(
        self, commits: Sequence[pygit2.Commit], changes: Iterable[Change]
    ) -> Mapping[ChangeId, Sequence[str]]:
        if commits:
            for path, question in map(_first_question, changes):
                self._ask(str(commits[0].id), path, question)
        for commit in commits:  # children stand before their parents
            for path, questions in self._open.pop(str(commit.id), {}).items():
                self._answer(commit, path, questions)
        return self._credits

    def _answer(self, commit: pygit2.Commit, path: bytes, questions: list[_Question]) -> None:
        views = [self._view(commit, parent, path) for parent in commit.parents]
        same = [view for view in views if view.before == view.here and view.path == view.origin]
        for question in questions:
            agreeing = same[:1] or [view for view in views if not view.answers(question)]
            if not agreeing:
                self._credits[question.change].append(str(commit.id))
            for view in agreeing or views:
                if view.before is not None or question.form is not ChangeForm.HUNK:
                    self._ask(view.parent, view.origin, _moved(question, view.hunks))

    def _view(self, commit: pygit2.Commit, parent: pygit2.Commit, path: bytes) -> _View:
        trees = str(parent.tree_id), str(commit.tree_id)
        before, here = (self._reader.lookup(tree, path) for tree in trees)
        origin = path
        if before is None and here is not None:
            origin = renames(self._reader.repository, *trees).get(path, path)
            before = self._reader.lookup(trees[0], origin)
        return _View(str(parent.id), path, origin, here, before, self._hunks(before, here))

    def _hunks(self, before: Entry | None, here: Entry | None) -> Sequence[Hunk]:
        if before is None or here is None or before.id == here.id:
            return ()
        if not (before.is_file and here.is_file):
            return ()
        return difference(self._reader.read(before.id), self._reader.read(here.id))

    def _ask(self, commit: str, path: bytes, question: _Question) -> None:
        known = self._open[commit].setdefault(path, [])
        if question not in known:
            known.append(question)


def _first_question(change: Change) -> tuple[bytes, _Question]:
    begin = _gap(change.new)
    return path_bytes(change.file), _Question(
        change.id, change.form, begin, begin + change.new.count
    )


def _gap(span: LineSpan) -> int:
    """The gap before the span's first line: lines of a file lie between gaps 0, 1, 2, …"""
    return span.start - 1 if span.count else span.start


def _touching(question: _Question, hunks: Iterable[Hunk]) -> Iterator[Hunk]:
    """Hunks that share a line with the question, or meet it where one of the two is a gap."""
    for hunk in hunks:
        begin, end = _gap(hunk.new), _gap(hunk.new) + hunk.new.count
        empty = begin == end or question.begin == question.end
        if begin < question.end + empty and question.begin < end + empty:
            yield hunk


def _moved(question: _Question, hunks: Sequence[Hunk]) -> _Question:
    """The question in the parent's lines, widened to all that the touching hunks replaced."""
    if question.form is not ChangeForm.HUNK:
        return question
    before = [hunk for hunk in hunks if _gap(hunk.new) + hunk.new.count <= question.begin]
    touching = list(_touching(question, hunks))
    shift = sum(hunk.old.count - hunk.new.count for hunk in before if hunk not in touching)
    grown = sum(hunk.old.count - hunk.new.count for hunk in touching)
    begin = min([question.begin, *(_gap(hunk.new) for hunk in touching)])
    end = max([question.end, *(_gap(hunk.new) + hunk.new.count for hunk in touching)])
    return replace(question, begin=begin + shift, end=end + shift + grown)
