"""Variants: the bad version's tree with some changes undone, built in memory as git objects.

The rule for every subset R of the changes: a file's lines are the bad version's, with the spans of
the hunks in R replaced by the good version's (of a hunk inside another one of R, nothing is left); its
path, mode and existence are the good version's
where R holds that change. Hunks of one file never overlap, so any subset is defined and the order
does not matter. Where a file put back stands in the way of one that stays (the good version had a
file ``a``, the bad one has ``a/x``), the one put back wins. Reverting nothing is the bad tree,
reverting everything the good one, exactly.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from copy import copy
from functools import cached_property

import pygit2
from pygit2.enums import ObjectType

from afterd.errors import RepositoryError
from afterd.model.change import (
    NOTHING,
    Change,
    ChangeForm,
    ChangeId,
    ChangeList,
    ChangeSet,
    in_order,
)
from afterd.model.inside import outer_hunks
from afterd.vcs.hunks import split_lines, undone_lines
from afterd.vcs.object_store import open_store
from afterd.vcs.paths import path_bytes, path_text
from afterd.vcs.renamed import Renamed, renamed_names
from afterd.vcs.tokens import Language, language_of
from afterd.vcs.trees import Entry, TreeEditor, TreeReader, store_object

# Forms that replace a file's tree entry altogether: path, mode and content go together.
_ENTRY_FORMS = frozenset(
    {ChangeForm.ADDED, ChangeForm.DELETED, ChangeForm.SYMLINK, ChangeForm.SUBMODULE}
)
_CONTENT_FORMS = frozenset({ChangeForm.BINARY, ChangeForm.WHOLE})
Placed = tuple[bytes, Entry | None]


class Variants:
    """The variants of one range. ``store`` reads the user's objects and all variants.

    A variant costs only the files its changes touch; what a file becomes under a set of its own
    changes is kept. Not for use by several threads at once (a pygit2 repository is not either).
    """

    def __init__(
        self, repository: pygit2.Repository, good: str, bad: str, changes: ChangeList
    ) -> None:
        self.store = open_store(repository)
        reader = TreeReader(self.store)
        self.good, self.bad = reader.tree_of(good), reader.tree_of(bad)
        self._base, self._undone = self.bad, NOTHING
        self._reader = reader
        self._files: dict[ChangeId, _ChangedFile] = {}
        self._trees: dict[ChangeSet, str] = {frozenset(): self.bad}
        self._changes = changes
        by_file: dict[str, list[Change]] = defaultdict(list)
        for change in changes.changes:
            by_file[change.file].append(change)
        for group in by_file.values():
            file = _ChangedFile(reader, self.good, self.bad, group)
            self._files.update((change.id, file) for change in group)

    @cached_property
    def renamed(self) -> Renamed:
        """The names that are other ones now."""
        good, bad = self._reader.contents(self.good), self._reader.contents(self._base)
        return renamed_names(self._changes.changes, good, bad)

    def tree(self, reverted: ChangeSet) -> str:
        """The tree id of the bad version with ``reverted`` undone.

        Raises RepositoryError for an id that no change has.
        """
        whole = reverted | self._undone
        if whole not in self._trees:
            self._trees[whole] = self._built(whole)
        return self._trees[whole]

    def without(self, undone: ChangeSet) -> Variants:
        """The same variants with these changes undone in each: also in the bad version's tree."""
        found = copy(self)
        found._undone = self._undone | undone  # noqa: SLF001 - a copy of this object
        found.bad = found.tree(NOTHING)
        return found

    def on(self, bad: str) -> Variants:
        """The same variants of another bad version, which differs from this one in files that no change of
        ``everything`` touches.
        """
        found = copy(self)
        found.bad = found._base = bad  # noqa: SLF001 - a copy of this object
        found._trees = {NOTHING: bad}  # noqa: SLF001
        return found

    def _built(self, reverted: ChangeSet) -> str:
        kept: list[Placed] = []  # where a file keeps its place of the bad version
        restored: list[Placed] = []
        editor = TreeEditor(self._reader, self._base)
        standing = self.renamed.standing(reverted)
        for file, own in self._touched(reverted):
            placed, back = file.under(own, self.renamed, standing)
            (restored if back else kept).append(placed)
            editor.remove(file.bad_path)
        for path, entry in (*kept, *restored):  # in this order: what is put back wins
            if entry is not None:
                editor.put(path, entry)
        return editor.write()

    def _touched(self, reverted: ChangeSet) -> Iterator[tuple[_ChangedFile, ChangeSet]]:
        touched: dict[_ChangedFile, set[ChangeId]] = defaultdict(set)
        for identifier in in_order(reverted):
            if identifier not in self._files:
                raise RepositoryError(f"There is no change {identifier} in this range.")
            touched[self._files[identifier]].add(identifier)
        for file, own in touched.items():
            yield file, frozenset(own)


class _ChangedFile:
    """A file with its changes, top to bottom, and what it becomes under each set of them."""

    def __init__(self, reader: TreeReader, good: str, bad: str, changes: Sequence[Change]) -> None:
        self._reader = reader
        self._changes = changes
        self._outer = outer_hunks(changes)
        self.good_path = path_bytes(changes[0].old_file)
        self._origin = path_bytes(changes[-1].old_file)  # of an added file: what it was cut out of
        self.bad_path = path_bytes(changes[0].file)
        self._good = reader.lookup(good, self.good_path)
        self._text = reader.lookup(good, self._origin)
        self._bad = reader.lookup(bad, self.bad_path)
        self._known: dict[tuple[ChangeSet, frozenset[bytes]], tuple[Placed, bool]] = {}

    def under(
        self, reverted: ChangeSet, renamed: Renamed, standing: frozenset[bytes]
    ) -> tuple[Placed, bool]:
        """Path and entry with ``reverted`` undone, and whether the path is the good version's. Of the names that
        are other ones now these stay so.
        """
        if (reverted, standing) not in self._known:
            chosen = [change for change in self._changes if change.id in reverted]
            self._known[reverted, standing] = self._placed(chosen, renamed, standing)
        return self._known[reverted, standing]

    def _placed(
        self, reverted: Sequence[Change], renamed: Renamed, standing: frozenset[bytes]
    ) -> tuple[Placed, bool]:
        forms = {change.form for change in reverted}
        moved = ChangeForm.RENAMED in forms
        path = self.good_path if moved else self.bad_path
        if forms & _ENTRY_FORMS:
            return (path, self._good), True
        assert self._bad is not None
        mode = self._good.mode if self._good and ChangeForm.MODE in forms else self._bad.mode
        if forms & _CONTENT_FORMS:
            assert self._good is not None
            return (path, Entry(mode, self._good.id)), moved
        undone = {change.id for change in reverted}
        hunks = [
            change
            for change in reverted
            if change.form is ChangeForm.HUNK
            and not (change.id in self._outer and self._outer[change.id].id in undone)
        ]
        if not hunks:
            return (path, Entry(mode, self._bad.id)), moved
        good = self._good_lines
        if standing and language_of(path_text(self.bad_path)) is Language.C:
            good = list(good)
            for own in (slice(each.old.before, each.old.before + each.old.count) for each in hunks):
                good[own] = [renamed.in_new_names(line, standing) for line in good[own]]
        content = b"".join(undone_lines(good, self._bad_lines, hunks))
        return (
            path,
            Entry(mode, store_object(self._reader.repository, ObjectType.BLOB, content)),
        ), moved

    @cached_property
    def _good_lines(self) -> list[bytes]:
        return split_lines(self._reader.read(self._text.id)) if self._text else []

    @cached_property
    def _bad_lines(self) -> list[bytes]:
        return split_lines(self._reader.read(self._bad.id)) if self._bad else []
