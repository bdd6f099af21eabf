"""A revision range as changes: every file that differs, split as small as can be reverted alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pygit2

from afterd.errors import RepositoryError
from afterd.limits import GIT, REPORT, ChangeLimits
from afterd.model.change import Change, ChangeForm, ChangeId, ChangeList, FileKind
from afterd.model.inside import outer_hunks
from afterd.model.wording import first_names
from afterd.vcs.blame import Blame
from afterd.vcs.file_changes import KEPT_TEST, REFUSED, FileChanges, file_pairs, moved_text
from afterd.vcs.imported import knowing_program
from afterd.vcs.kinds import FileRules
from afterd.vcs.object_store import open_store
from afterd.vcs.patch_file import apply_patch
from afterd.vcs.paths import path_text
from afterd.vcs.trees import TreeReader, TreeScale

_MARGINAL = frozenset({FileKind.TEST, FileKind.DOCS, FileKind.DATA})
DEFAULT_RULES = FileRules()
DEFAULT_LIMITS = ChangeLimits()


def changes_between(
    repository: pygit2.Repository,
    good: str,
    bad: str,
    rules: FileRules = DEFAULT_RULES,
    limits: ChangeLimits = DEFAULT_LIMITS,
) -> ChangeList:
    """All changes from ``good`` to ``bad`` (commits, or trees), c1, c2, … in path and line order,
    those of generated files last.

    Reverting any subset of them is defined, reverting all gives the good tree (see ``variants``).
    Changes of test files (not those that the program imports), and of files with a path that must
    not be written, are pruned from the start. Where a limit forbids to look line by line, a file is
    one change and ``notes`` says so.
    Raises RepositoryError for objects that are not there, SpaceError for a tree out of all bounds.
    """
    reader = TreeReader(repository)
    trees = [reader.tree_of(revision) for revision in (good, bad)]
    scale = TreeScale(reader)
    for tree in trees:
        scale.refuse_oversized(tree, limits)
    pairs = file_pairs(reader, *trees)
    changed = [path_text(pair.new_path) for pair in pairs if pair.new is not None]
    rules = knowing_program(reader, trees[1], changed, rules)
    files = [FileChanges(pair, reader, rules, limits.file_size) for pair in pairs]
    _trace_moved_text(files)
    notes = (*_bound_to_limits(files, limits), *_refused_paths(files))
    files.sort(key=lambda file: file.is_generated)
    found = [(file, change) for file in files for change in file.changes()]
    numbered = _numbered_changes([change for _, change in found])
    blame = Blame(repository, good, bad)
    attributed = blame.attribute(ChangeList(numbered, notes))
    owners = {change.id: file for change, (file, _) in zip(numbered, found, strict=True)}
    cut = _cut_at_commits(blame, attributed, owners)
    return replace(attributed, changes=_numbered_changes(_without_copies(cut)))


def _trace_moved_text(files: Sequence[FileChanges]) -> None:
    """Tell added files what they were cut out of: from files in their own language."""
    for language in {file.language for file in files if file.is_divisible}:
        moved = moved_text(files, language)
        for file in files:
            if file.is_divisible and file.language is language:
                file.come_from(moved)


def _numbered_changes(changes: Sequence[Change]) -> tuple[Change, ...]:
    return tuple(replace(change, id=f"c{n}") for n, change in enumerate(changes, start=1))


def _cut_at_commits(
    blame: Blame,
    changes: ChangeList,
    owners: Mapping[ChangeId, FileChanges],
) -> Sequence[Change]:
    """The changes, of which those that several commits made are cut between them where that can be: of tests
    as well, where one commit's may be what the good version can be asked, and another's not.
    """
    outer = outer_hunks(changes.changes)
    moved = {*outer, *(each.id for each in outer.values())}  # cut in their own way
    several = {
        change.id: (change.file, statements)
        for change in changes.changes
        if change.pruned in ("", KEPT_TEST)
        and change.form is ChangeForm.HUNK
        and change.id not in moved
        and len(change.commits) > 1
        for statements in [owners[change.id].statements(change)]
        if 1 < len(statements) <= GIT.blamed_statements
    }
    if not several:
        return changes.changes
    made = blame.parts_made(several)
    age = {commit: number for number, commit in enumerate(changes.commits)}
    return [
        replace(each, commits=tuple(sorted(each.commits, key=lambda commit: age.get(commit, 0))))
        for change in changes.changes
        for each in owners[change.id].divided(change, made.get(change.id, []))
    ]


def _without_copies(changes: Sequence[Change]) -> list[Change]:
    """The changes, but for the one hunk of an added file that is all of it."""
    added = {change.file: change for change in changes if change.form is ChangeForm.ADDED}
    return [
        change
        for change in changes
        if change.form is not ChangeForm.HUNK
        or change.file not in added
        or change.new != added[change.file].new
    ]


def changes_from_patch(
    repository: pygit2.Repository,
    good: str,
    patch: bytes,
    rules: FileRules = DEFAULT_RULES,
    limits: ChangeLimits = DEFAULT_LIMITS,
) -> tuple[str, ChangeList]:
    """The bad version that a patch makes of ``good``, as a tree id, and the changes up to it.

    The tree is written to afterd's object store; it stands wherever a bad revision is asked for,
    with the store as the repository. Raises RepositoryError for a patch that does not apply.
    """
    store = open_store(repository)
    base = TreeReader(store).tree_of(good)
    tree = apply_patch(store, base, patch)
    if tree == base:
        raise RepositoryError("The patch changes nothing, so there is nothing to explain.")
    return tree, changes_between(store, base, tree, rules, limits)


def _refused_paths(files: Sequence[FileChanges]) -> tuple[str, ...]:
    """A sentence on files whose paths must not be written: no variant has them as the good version."""
    refused = [file for file in files if file.pruned.startswith(REFUSED)]
    if not refused:
        return ()
    named = first_names([repr(path_text(file.pair.new_path)) for file in refused], REPORT.named)
    return (
        f"{len(refused)} changed files are left out, because their paths are not written to a disk:"
        f" {named}.",
    )


def _bound_to_limits(files: Sequence[FileChanges], limits: ChangeLimits) -> tuple[str, ...]:
    """Switch files to whole-file changes until the limits hold: tests, documents and data first,
    then the files with the most lines. Hunks count as they come before any is split, because
    splitting them costs more than finding them.
    """
    notes: list[str] = []
    if large := sum(file.too_large for file in files):
        notes.append(
            f"{large} changed files are larger than {limits.file_size:,} bytes and are taken whole."
        )
    fine = [file for file in files if file.coarse_hunks]
    fine.sort(key=lambda file: (bool(file.pruned) or file.kind in _MARGINAL, file.lines))
    whole = _shed_to_limits(fine, limits, lambda file: len(file.coarse_hunks))
    whole += _shed_to_limits(fine, limits, lambda file: len(file.hunks))
    if whole:
        notes.append(
            f"The range is too large to be looked at line by line: {whole} files are taken whole "
            f"(limits: {limits.changes:,} changes, {limits.lines:,} lines, {limits.files:,} files)."
        )
    return tuple(notes)


def _shed_to_limits(
    fine: list[FileChanges], limits: ChangeLimits, hunks: Callable[[FileChanges], int]
) -> int:
    """Take files whole from the end of ``fine`` until the rest is within the limits; how many."""
    before = len(fine)
    changes, lines = sum(map(hunks, fine)), sum(file.lines for file in fine)
    while changes > limits.changes or lines > limits.lines or len(fine) > limits.files:
        file = fine.pop()
        changes, lines = changes - hunks(file), lines - file.lines
        file.by_line = False
    return before - len(fine)
