"""Which commits of a range made each change: the change's lines followed back, commit by commit.

libgit2's blame answers for lines that are still there; a change may have removed lines, or be a
rename, so the range is walked once for all changes instead. A merge passes the question on to the
parents that agree with it, as ``git log -- file`` does.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import pygit2

from afterd.limits import GIT, ChangeLimits
from afterd.model.change import Change, ChangeForm, ChangeId, ChangeList
from afterd.model.inside import outer_hunks
from afterd.model.location import LineSpan
from afterd.vcs.commit_parts import Part
from afterd.vcs.enclosing import Enclosing
from afterd.vcs.file_changes import FileChanges, file_pairs, moved_text, renames
from afterd.vcs.history import commits_of_range
from afterd.vcs.hunks import Hunk, SourceText, difference, span_after
from afterd.vcs.kinds import FileRules
from afterd.vcs.moved_functions import MovedFunction, moved_functions
from afterd.vcs.moved_text import MovedText
from afterd.vcs.paths import path_bytes, path_text
from afterd.vcs.tokens import Language, language_of
from afterd.vcs.trees import Entry, TreeReader

MOST_COMMITS = GIT.blamed_commits


@dataclass(frozen=True, slots=True)
class _Question:
    """Who touched these lines of a file (``begin`` to ``end``, in gaps), or the file as a whole?

    ``within``: only who touched the lines themselves, not who did something right before or behind them.
    ``followed``: not who moved them with their function.
    """

    change: ChangeId
    form: ChangeForm
    begin: int = 0
    end: int = 0
    within: bool = False
    followed: bool = False

    @property
    def span(self) -> LineSpan:
        """The lines."""
        return span_after(self.begin, self.end - self.begin)


class _Steps:
    """What a commit did to the lines of a file, ready to be asked: hunks lie apart and in order. Before the first,
    the parent has so many lines more.
    """

    def __init__(self, hunks: Sequence[Hunk], more: int = 0) -> None:
        self.hunks = hunks
        self._begins = [hunk.new.before for hunk in hunks]
        self._ends = [hunk.new.before + hunk.new.count for hunk in hunks]
        self._origins = [hunk.old.before for hunk in hunks]
        after = [origin + hunk.old.count for origin, hunk in zip(self._origins, hunks, strict=True)]
        growth = (old - new for old, new in zip(after, self._ends, strict=True))
        self._shifts = [more, *growth]  # of what follows the first i hunks

    def touching(self, asked: _Question) -> range:
        """The hunks that share a line with the question, or meet it where one of them is a gap (within it, if it is
        about its own lines).
        """
        first = bisect_left(self._ends, asked.begin)
        last = bisect_right(self._begins, asked.end)
        while first < last and self._ends[first] <= asked.begin and not self._meets(first, asked):
            first += 1
        while first < last and not self._meets(last - 1, asked):
            last -= 1
        return range(first, last)

    def _meets(self, hunk: int, asked: _Question) -> bool:
        begin, end = self._begins[hunk], self._ends[hunk]
        empty = not asked.within and (begin == end or asked.begin == asked.end)
        return begin < asked.end + empty and asked.begin < end + empty

    def moved(self, question: _Question) -> _Question:
        """The question in the parent's lines, widened to all that the touching hunks replaced."""
        touched = self.touching(question)
        if not touched and not self._shifts[touched.start]:
            return question
        begin = question.begin + self._shifts[touched.start]
        end = question.end
        if touched:
            if self._begins[touched.start] <= question.begin:
                begin = self._origins[touched.start]
            end = max(end, self._ends[touched.stop - 1])
        end += self._shifts[touched.stop]
        return replace(question, begin=begin, end=end)


@dataclass(frozen=True, slots=True)
class _View:
    """A file in a commit beside the same file in one parent."""

    parent: str
    path: bytes
    origin: bytes  # its path in the parent
    here: Entry | None
    before: Entry | None
    steps: _Steps

    def answers(self, question: _Question) -> bool:
        """Whether the step from this parent did what is asked about."""
        if question.form is ChangeForm.DELETED or self.before is None or self.here is None:
            return (self.before is None) != (self.here is None)
        if question.form is ChangeForm.RENAMED:
            return self.path != self.origin
        if question.form is ChangeForm.MODE:
            return self.before.mode != self.here.mode
        if question.form is ChangeForm.HUNK:
            known = question.within and question.begin == question.end  # who put it in
            return not known and bool(self.steps.touching(question))
        return self.before != self.here


class Blame:
    """The commits of a range, children before their parents, asked who made what. What each did to a file is
    told once for all questions.
    """

    def __init__(self, repository: pygit2.Repository, good: str, bad: str) -> None:
        self._good = str(repository[good].id)
        self._is_history = all(isinstance(repository[end], pygit2.Commit) for end in (good, bad))
        found = commits_of_range(repository, good, bad) if self._is_history else ()
        self._commits = list(islice(found, MOST_COMMITS + 1))  # of too many, one more
        self._views = _Views(repository)

    def attribute(self, changes: ChangeList) -> ChangeList:
        """The changes with ``commits`` filled in, oldest first, as those of the range; () where no commit of it
        is seen to have touched the lines, and for a range of bare trees.
        """
        if not self._is_history:
            return changes
        commits = self._commits
        files = len({change.file for change in changes.changes})
        if len(commits) > MOST_COMMITS or len(commits) * files > GIT.blame_questions:
            note = "The range is too long to tell which commit made which change."
            return replace(changes, notes=(*changes.notes, note))
        asked = dict(_first_questions(changes.changes))
        trail = _Trail(self._views)
        trail.follow(commits, asked)
        moved = {
            replace(question, followed=False): path
            for question, path in asked.items()
            if question.followed and not trail.makers(question.change)
        }
        trail.follow(commits if moved else (), moved)
        return replace(
            changes,
            commits=tuple(str(commit.id) for commit in reversed(commits)),
            changes=tuple(
                replace(change, commits=trail.makers(change.id)) for change in changes.changes
            ),
        )

    def parts_made(
        self, parts: Mapping[ChangeId, tuple[str, Sequence[Part]]]
    ) -> Mapping[ChangeId, list[Part]]:
        """For each change, parts of its file in the bad version with the commits of the range that made them,
        and with the good version's lines that they were made of, where the trail leads so far. One walk for all.
        """
        asked = {
            _Question(
                f"{change}/{number}", ChangeForm.HUNK, part.begin, part.end, within=True
            ): path_bytes(path)
            for change, (path, own) in parts.items()
            for number, part in enumerate(own)
        }
        trail = _Trail(self._views)
        trail.follow(self._commits, asked)
        ended = trail.ended(self._good)
        return {
            change: [
                replace(part, commits=trail.makers(name), origin=ended.get(name))
                for name, part in ((f"{change}/{number}", part) for number, part in enumerate(own))
            ]
            for change, (_, own) in parts.items()
        }


class _Trail:
    """Questions travelling from the newest commit to the oldest, and the credit they leave."""

    def __init__(self, views: _Views) -> None:
        self._views = views
        self._credits: dict[ChangeId, list[str]] = defaultdict(list)
        self._open: dict[str, dict[bytes, dict[_Question, None]]] = defaultdict(dict)

    def follow(
        self, commits: Sequence[pygit2.Commit], questions: Mapping[_Question, bytes]
    ) -> None:
        """Ask them of the newest commit, each of the file at a path, and follow them to where they end."""
        if commits:
            for question, path in questions.items():
                self._ask(str(commits[0].id), path, question)
        for commit in commits:  # children stand before their parents
            asked = self._open.pop(str(commit.id), {})
            for path, left in self._not_passed_on(commit, asked):
                self._answer(commit, path, left)

    def makers(self, change: ChangeId) -> tuple[str, ...]:
        """The commits that had a hand in it, oldest first."""
        return tuple(reversed(dict.fromkeys(self._credits.get(change, ()))))

    def ended(self, commit: str) -> Mapping[ChangeId, tuple[int, int]]:
        """What lines the questions that came to a commit are about there."""
        found = (question for asked in self._open.get(commit, {}).values() for question in asked)
        return {question.change: (question.begin, question.end) for question in found}

    def _not_passed_on(
        self, commit: pygit2.Commit, asked: dict[bytes, dict[_Question, None]]
    ) -> list[tuple[bytes, dict[_Question, None]]]:
        """The questions of files that no parent has as they are; the others go on to the first that has."""
        for parent in commit.parents:
            altered = self._views.altered_paths(commit, parent)
            there = self._open[str(parent.id)]
            for path in [path for path in asked if path not in altered]:
                passed = asked.pop(path)
                if there.setdefault(path, passed) is not passed:  # by another branch
                    there[path].update(passed)
        return list(asked.items())

    def _answer(self, commit: pygit2.Commit, path: bytes, questions: Collection[_Question]) -> None:
        whole = [self._views.of_file(commit, parent, path) for parent in commit.parents]
        any_by_line = any(question.form is ChangeForm.HUNK for question in questions)
        lines = [self._views.of_lines(commit, view) for view in whole] if any_by_line else []
        for question in questions:
            by_line = question.form is ChangeForm.HUNK
            views = [self._views.beside(view, question) for view in lines] if by_line else whole
            agreeing = [view for view in views if not view.answers(question)]
            if not agreeing:
                self._credits[question.change].append(str(commit.id))
            for view in agreeing or views:
                if view.before is not None or not by_line:
                    for left in self._views.without_moved(view, question):
                        self._ask(view.parent, view.origin, left)

    def _ask(self, commit: str, path: bytes, question: _Question) -> None:
        self._open[commit].setdefault(path, {})[question] = None


class _Views:
    """What the commits did to files: each told once."""

    def __init__(self, repository: pygit2.Repository) -> None:
        self._reader = TreeReader(repository)
        self._renames: dict[tuple[str, str], Mapping[bytes, bytes]] = {}
        self._moved: dict[tuple[tuple[str, str], Language], MovedText] = {}
        self._known: dict[tuple[str, str, bytes], _View] = {}
        self._functions_moved: dict[tuple[str, str], Sequence[MovedFunction]] = {}

    def altered_paths(self, commit: pygit2.Commit, parent: pygit2.Commit) -> frozenset[bytes]:
        """The files that differ between a commit and its parent."""
        trees = str(parent.tree_id), str(commit.tree_id)
        return frozenset(path for path, _, _ in self._reader.differences(*trees))

    def of_file(self, commit: pygit2.Commit, parent: pygit2.Commit, path: bytes) -> _View:
        """A file beside itself in a parent, as a whole: what was done to its lines is not told yet."""
        trees = str(parent.tree_id), str(commit.tree_id)
        before, here = (self._reader.lookup(tree, path) for tree in trees)
        origin = path
        if before is None and here is not None:
            if trees not in self._renames:
                self._renames[trees] = renames(self._reader.repository, *trees)
            origin = self._renames[trees].get(path, path)
            before = self._reader.lookup(trees[0], origin)
        return _View(str(parent.id), path, origin, here, before, _Steps(()))

    def of_lines(self, commit: pygit2.Commit, view: _View) -> _View:
        """The same with what was done to its lines; of an added file, beside the one that it was cut out of."""
        key = str(commit.id), view.parent, view.path
        if key not in self._known:
            added = view.before is None and view.here is not None and view.here.is_file
            steps = _Steps(self._hunks(view.before, view.here))
            self._known[key] = (
                self._moved_view(commit, view) if added else replace(view, steps=steps)
            )
        return self._known[key]

    def beside(self, view: _View, question: _Question) -> _View:
        """The view; for a question about a part of a function that the commit moved within the file, and that is
        followed, that of this function beside itself where it stood.
        """
        hunks, asked = view.steps.hunks, question.span
        put_in = (hunks[at].new for at in view.steps.touching(question))
        if question.followed and any(map(asked.is_inside, put_in)):
            for function in self._functions(view):
                if asked.is_inside(function.new):
                    more = function.old.before - function.new.before
                    return replace(view, steps=_Steps(function.hunks, more))
        return view

    def without_moved(self, view: _View, question: _Question) -> list[_Question]:
        """What is asked of the parent: not of what the commit took out and put in elsewhere, which went on there."""
        there = view.steps.moved(question)
        left = [there]
        if not question.within and there.end - there.begin > question.end - question.begin:
            for function in self._functions(view):
                first, last = function.old.before, function.old.before + function.old.count
                left = [part for each in left for part in _apart(each, first, last)]
        return left

    def _functions(self, view: _View) -> Sequence[MovedFunction]:
        """The functions that were moved within the file."""
        language = language_of(path_text(view.path))
        if view.before is None or view.here is None or language is Language.OTHER:
            return ()
        key = view.before.id, view.here.id
        if key not in self._functions_moved:
            old, new = (SourceText(self._reader.read(blob), language) for blob in key)
            before, after = (Enclosing(text.content, language) for text in (old, new))
            found = moved_functions(view.steps.hunks, old, new, before, after)
            self._functions_moved[key] = [*found]
        return self._functions_moved[key]

    def _moved_view(self, commit: pygit2.Commit, view: _View) -> _View:
        assert view.here is not None
        trees = self._reader.tree_of(view.parent), str(commit.tree_id)
        language = language_of(path_text(view.path))
        if (trees, language) not in self._moved:
            rules, largest = FileRules(), ChangeLimits().file_size
            pairs = file_pairs(self._reader, *trees)
            files = [FileChanges(pair, self._reader, rules, largest) for pair in pairs]
            self._moved[trees, language] = moved_text(files, language)
        origin = self._moved[trees, language].origin(self._reader.read(view.here.id))
        if origin is None:
            return view
        before = self._reader.lookup(trees[0], origin.path)
        return replace(view, origin=origin.path, before=before, steps=_Steps(origin.hunks))

    def _hunks(self, before: Entry | None, here: Entry | None) -> Sequence[Hunk]:
        if before is None or here is None or before.id == here.id:
            return ()
        if not (before.is_file and here.is_file):
            return ()
        return difference(self._reader.read(before.id), self._reader.read(here.id))


def _apart(question: _Question, first: int, last: int) -> list[_Question]:
    """What a question is about before and behind some lines that it is about; itself where it is not about all."""
    if not question.begin <= first < last <= question.end:
        return [question]
    before, behind = replace(question, end=first), replace(question, begin=last)
    return [part for part in (before, behind) if part.begin < part.end]


def _first_questions(changes: Sequence[Change]) -> Iterator[tuple[_Question, bytes]]:
    """What is asked of each change: of a file that was added and has changes in it, only who added it, and of a hunk
    that has others inside, who put the other lines in.
    """
    divided = {each.file for each in changes if each.form is ChangeForm.HUNK}
    inside: dict[ChangeId, list[LineSpan]] = defaultdict(list)
    outer = outer_hunks(changes)
    for change in changes:
        if change.id in outer:
            inside[outer[change.id].id].append(change.new)
    for change in changes:
        path, begin, end = path_bytes(change.file), change.new.before, change.new.before
        end += change.new.count
        if change.id in inside:
            for span in sorted(inside[change.id], key=lambda span: span.before):
                if begin < span.before:
                    yield _Question(change.id, change.form, begin, span.before, within=True), path
                begin = span.before + span.count
            if begin < end:
                yield _Question(change.id, change.form, begin, end, within=True), path
            continue
        added = change.form is ChangeForm.ADDED and change.file in divided
        form = ChangeForm.DELETED if added else change.form
        yield _Question(change.id, form, begin, end, followed=form is ChangeForm.HUNK), path
