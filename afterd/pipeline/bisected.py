"""The commits' own versions, run to see in which part of a range the test turned red.

What the search tries are versions made of changes, and where a file was rewritten over many commits each of
them is a mixture that fails in a way of its own. A commit's version is what somebody made. So where evidence
leads no further in a range of several commits, these are bisected, and the search is made anew in what is left.
"""

from __future__ import annotations

import os
from collections.abc import Container, Sequence
from dataclasses import replace
from itertools import islice

from afterd.config import Budget
from afterd.errors import RepositoryError
from afterd.execution.confirmation import Confirmation
from afterd.execution.flakiness import prior_from_history
from afterd.execution.oracle import Oracle
from afterd.execution.signature import looks_like_others
from afterd.limits import REPORT
from afterd.model.change import NO_GUILT, NOTHING, Change, CommitGuilt, FileKind
from afterd.model.explanation import Explanation, RevisionRange
from afterd.model.outcome import Outcome, Verdict
from afterd.pipeline.case import Case
from afterd.pipeline.red_since import red_since
from afterd.trace.python.failure import came_as_far, moved
from afterd.vcs.file_changes import KEPT_TEST
from afterd.vcs.history import commits_between, first_parents, oldest_of
from afterd.vcs.imported import knowing_program
from afterd.vcs.kinds import FileRules, kind_of
from afterd.vcs.trees import TreeEditor, TreeReader
from afterd.vcs.variants import Variants
from afterd.workspace import Range, Workspace, range_between

_OTHER_TESTS = "test file: that of the range's bad version, in all of its commits"


class Bisection:
    """The part of a range in which its test turned red: ``within``, once it was asked for and is shorter.

    ``commits`` is how many the range has: also where they are too many to tell which of them made which change. None
    of what an earlier bisection left (``halved``): those could not be tested. ``likely`` are parts in which other
    tests turned red, which are asked before any halving. ``undone`` is a commit without whose changes the bad
    version was seen to pass, whose own version was red, and the one before it green: then none is bisected.
    """

    def __init__(
        self,
        workspace: Workspace,
        wanted: Range,
        oracle: Oracle,
        likely: Sequence[RevisionRange] = (),
        *,
        halved: bool = False,
    ) -> None:
        self.within: Range | None = None
        self.undone = ""
        ends = wanted.revisions
        self.commits = 0 if halved else commits_between(workspace.repository, ends.good, ends.bad)
        self._workspace = workspace
        self._wanted = wanted
        self._oracle = oracle
        self._likely = [part for part in likely if part != ends]
        self._searched = frozenset(
            file
            for change in wanted.changes.live
            if change.kind is FileKind.TEST or change.file == workspace.rules.script
            for file in (change.file, change.old_file)
        )
        self._versions: dict[str, str] = {}  # by commit, the tree that is run for it

    def narrows(self, guilt: CommitGuilt = NO_GUILT) -> bool:
        """Whether the commits' own versions tell a shorter range, or one was ``undone``; they are run for it, few of
        them, and fewer where it is known how likely each is to have turned the test red.
        """
        if self.told:
            return True
        if self.commits < 2:
            return False
        shorter = self._as_others() or self._divided(guilt)
        if shorter is None:
            return False
        self.within = self.part(shorter)
        return True

    def skip_mended(self) -> None:
        """Where the test was green again behind the part that is left, take the part in which it turned red last.

        What turned it red first was mended then. It is only looked for where another fault may look the same: the
        version before each later red one that was run is run as well (pahole crashed for an older reason, for a while).
        """
        if self.within is None or not looks_like_others(self._bad_version_s().signature):
            return
        repository, turned = self._workspace.repository, self.within.revisions.bad
        waiting = {each for each in self._red() if repository.descendant_of(each, turned)}
        known = {turned, *waiting}
        while waiting:
            following = oldest_of(repository, sorted(waiting))
            waiting.remove(following)
            before = self._made_from(following)
            behind = before not in {"", *known} and repository.descendant_of(before, turned)
            if behind and self.outcome(before, "looking for what was mended").passed:
                self.within = self.part(RevisionRange(before, following))

    def _red(self) -> list[str]:
        """The commits whose versions were run and failed, and the range's bad one."""
        outcomes = (
            (each, self._oracle.tree_outcome(tree)) for each, tree in self._versions.items()
        )
        failed = [each for each, seen in outcomes if seen.verdict is Verdict.FAIL]
        return [*failed, self._wanted.revisions.bad]

    def part(self, shorter: RevisionRange) -> Range:
        """A part of the range with the test files of the whole range's bad version, of which the part's own changes
        cannot be undone: they are of other texts.
        """
        part = range_between(self._workspace, shorter)
        bad = self._version(part.revisions.bad)
        reader = TreeReader(part.variants.store)
        theirs = {os.fsdecode(path) for path, *_ in reader.differences(part.variants.bad, bad)}
        changes = tuple(
            replace(change, pruned=_OTHER_TESTS)
            if change.pruned == KEPT_TEST and not theirs.isdisjoint({change.file, change.old_file})
            else change
            for change in part.changes.changes
        )
        listed = replace(part.changes, changes=changes)
        return replace(part, changes=listed, variants=part.variants.on(bad))

    def part_of(self, other: Explanation) -> Range | None:
        """The part of the range that an answer to another test is of, where a bisection left it; None where it is of
        the whole, or of what is not in it, or undoes test files, of which a part has the whole range's.
        """
        ends, own = self._wanted.revisions, other.range
        repository = self._workspace.repository
        inside = (own.good == ends.good or repository.descendant_of(own.good, ends.good)) and (
            own.bad == ends.bad or repository.descendant_of(ends.bad, own.bad)
        )
        tests = any(change.kind is FileKind.TEST for change in (*other.root, *other.auxiliary))
        return None if own == ends or not inside or tests else self.part(own)

    @property
    def told(self) -> bool:
        """Whether the commits have told where the test turned red."""
        return bool(self.undone) or self.within is not None

    def verdict_at(self, commit: str) -> Verdict:
        """What the test says of a commit's own version."""
        if not self.commits:
            return Verdict.UNRESOLVED
        return self.outcome(commit, "looking at the guilty changes' commit").verdict

    def verdict_before(self, commit: str) -> Verdict:
        """What the test says of the version that a commit was made from, the first of several."""
        if not self.commits:
            return Verdict.UNRESOLVED
        if not (before := self._made_from(commit)):
            return Verdict.UNRESOLVED
        return self.outcome(before, "looking at what came before the guilty changes").verdict

    def _made_from(self, commit: str) -> str:
        """The commit that one was made from, the first of several; empty where there is none."""
        return next(islice(first_parents(self._workspace.repository, commit), 1, None), "")

    def _as_others(self) -> RevisionRange | None:
        """The part in which another test turned red, where this one did too."""
        repository, good = self._workspace.repository, self._wanted.revisions.good
        for part in dict.fromkeys(self._likely):
            inside = part.good == good or repository.descendant_of(part.good, good)
            if not inside or self.outcome(part.bad).verdict is not Verdict.FAIL:
                continue
            if self.outcome(part.good).passed:
                return part
        return None

    def _divided(self, guilt: CommitGuilt) -> RevisionRange | None:
        """The part that is left where the commits were bisected; None where it is no shorter."""
        ends = self._wanted.revisions
        try:
            commits = self._workspace.repository, ends.good, ends.bad
            otherwise, is_moved = self._failed_otherwise, self._failed_elsewhere
            found = red_since(*commits, self.outcome, otherwise, guilt, is_moved)
        except RepositoryError:
            return None  # a patch that is tried is no commit
        shorter = RevisionRange(found.good, found.bad)
        return shorter if found.good and shorter != ends else None

    def red_commits(self, guilt: CommitGuilt = NO_GUILT) -> frozenset[str]:
        """The commits in which the test turned red, as far as their versions tell; none where they do not."""
        self.narrows(guilt)
        if self.undone:
            return frozenset({self.undone})
        return frozenset() if self.within is None else frozenset(self.within.changes.commits)

    def note(self, *, within: bool = False) -> str:
        """What was seen, as a sentence; empty where nothing was. ``within``: the answer is one about what was left,
        so its lines are not those of the range's own end.
        """
        whose = "their own" if self._searched else "the bad version's"
        if self.undone:
            return (
                f"The test is green before {self.undone[: REPORT.commit]} and red at it, run with {whose}"
                " test files, and without what that commit changed the bad version passes; no other commit was run."
            )
        if self.within is None:
            return ""
        good, bad = self.within.revisions.good, self.within.revisions.bad
        theirs = bad != self._wanted.revisions.bad and within
        lines = ", whose lines these are" if theirs else ""
        return (
            f"Commits of the range were run with {whose} test files: the test is green at"
            f" {good[: REPORT.commit]} and red at {bad[: REPORT.commit]}{lines}.{self._other_shape(bad)}"
        )

    def _other_shape(self, bad: str) -> str:
        """That the test failed in another way where it turned red, as a sentence; empty where it did not."""
        seen = self._oracle.tree_outcome(self._version(bad))  # it was run
        if not self._failed_otherwise(seen) or self._failed_elsewhere(seen) or not seen.signature:
            return ""
        how = f" ({seen.signature.message})" if seen.signature.message else ""
        return (
            f" There it failed at the same line of the test in another way{how}, and in none of the later commits that"
            " were run it was green."
        )

    def _failed_otherwise(self, seen: Outcome) -> bool:
        """Whether the test failed otherwise in what the line of its own calls at which it fails in the bad version."""
        return came_as_far(seen, self._bad_version_s())

    def _failed_elsewhere(self, seen: Outcome) -> bool:
        """Whether the test failed as in the bad version, in code that stood elsewhere."""
        return moved(seen, self._bad_version_s())

    def _bad_version_s(self) -> Outcome:
        return self._oracle.tree_outcome(self._oracle.tree_of(NOTHING))

    def outcome(self, commit: str, stage: str = "bisecting the commits") -> Outcome:
        """What the test says of a commit's own version; ``stage`` is what it is run for."""
        short = commit[: REPORT.commit]
        self._oracle.progress.stage(stage, f"running the version of {short}")
        return self._oracle.tree_outcome(self._version(commit))

    def _version(self, commit: str) -> str:
        if commit not in self._versions:
            variants, rules = self._wanted.variants, self._workspace.rules
            self._versions[commit] = version_with_tests(commit, variants, rules, self._searched)
        return self._versions[commit]


def with_red_first(found: Explanation, red: frozenset[str]) -> Explanation:
    """An answer whose changes name the commits in which the test turned red before others that wrote of their lines."""

    def ordered(changes: Sequence[Change]) -> tuple[Change, ...]:
        return tuple(
            replace(each, commits=tuple(sorted(each.commits, key=lambda name: name not in red)))
            for each in changes
        )

    return replace(found, root=ordered(found.root), auxiliary=ordered(found.auxiliary))


def bisected_case(case: Case, left: Budget, confirmation: Confirmation) -> Case:
    """The case in a part of its range whose ends were run once, as the range's own were again and again, and it ended
    alike each time: that was all of their confirmation.
    """
    settings = replace(case.settings, budget=left, confirmations=1)
    both = [confirmation.repeats, confirmation.repeats]
    return replace(case, settings=settings, prior=prior_from_history(both, case.prior))


def version_with_tests(
    commit: str, variants: Variants, rules: FileRules, searched: Container[str] = frozenset()
) -> str:
    """The tree of a commit with the test files that every variant of a range has.

    A file that holds tests beside what they test is the commit's own, and so is one that is only named like a test
    and that the program of either version imports, and one whose changes are ``searched`` like any others: with the
    bad version's settings for tests no version passed before they changed, and none of theirs after (django-oscar).
    """
    reader = TreeReader(variants.store)
    own = reader.tree_of(commit)
    editor = TreeEditor(reader, own)
    differing = [(path, entry) for path, _, entry in reader.differences(own, variants.bad)]
    paths = [os.fsdecode(path) for path, _ in differing]
    here, there = (knowing_program(reader, tree, paths, rules) for tree in (own, variants.bad))
    rules = replace(there, program=here.program | there.program)
    for path, entry in differing:
        name = os.fsdecode(path)
        if rules.keep_tests and name not in searched and kind_of(name, rules) is FileKind.TEST:
            editor.remove(path)
            if entry is not None:
                editor.put(path, entry)
    return editor.write()
