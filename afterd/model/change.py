"""Changes: the atomic units of reversion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from afterd.model.location import LineSpan

ChangeId = str
ChangeSet = frozenset[ChangeId]

NOTHING: ChangeSet = frozenset()

CommitGuilt = Mapping[str, float]
"""How likely each commit of a range is to have turned the test red."""
NO_GUILT: CommitGuilt = MappingProxyType({})
"""Of each commit the same is thought: it is not known which made what."""


class FileKind(StrEnum):
    """What a file is for; test files stay as in the bad version, docs are pruned."""

    SOURCE = "source"
    TEST = "test"
    BUILD = "build"
    DOCS = "docs"
    DATA = "data"


class ChangeForm(StrEnum):
    """How the change alters the tree."""

    HUNK = "hunk"  # lines of a text file that both versions have
    ADDED = "added file"
    DELETED = "deleted file"
    RENAMED = "renamed file"
    MODE = "mode"
    BINARY = "binary content"
    WHOLE = "whole content"  # a text too large to be looked at line by line
    SYMLINK = "symlink"
    SUBMODULE = "submodule"


@dataclass(frozen=True, slots=True)
class Change:
    """One change, ``id`` c1, c2, … in diff order.

    ``file`` is its path in the bad version (in the good one where the file was deleted),
    ``old_file`` in the good version (of a hunk in an added file, the one that it was cut out of). Where the file was
    added its hunks are gone with it; so is, with one that put moved text in, what was altered inside of that.
    ``old`` and ``new`` are the line spans in the good and in the bad version (LineSpan(0, 0) where the form has no
    lines). ``symbol`` is the enclosing function or class, ``commits`` the commits of the range that made it, ``patch``
    its text as a unified zero-context hunk (escaped surrogates for bytes that are not UTF-8). ``pruned`` says why it
    cannot matter, or is empty.
    """

    id: ChangeId
    file: str
    old_file: str
    old: LineSpan
    new: LineSpan
    form: ChangeForm = ChangeForm.HUNK
    kind: FileKind = FileKind.SOURCE
    symbol: str = ""
    commits: tuple[str, ...] = ()
    patch: str = ""
    pruned: str = ""

    def lines(self, sign: str) -> list[str]:
        """The lines that it puts in (``+``) or takes away (``-``), without the sign."""
        return [line[1:] for line in self.patch.splitlines() if line[:1] == sign]


@dataclass(frozen=True, slots=True)
class ChangeList:
    """All changes of a range in diff order, with look-up by id.

    ``notes`` are sentences on what was not looked at as closely as the rest, ``commits`` those of the range,
    oldest first (none where it is of bare trees, or too long).
    """

    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()

    def by_id(self) -> Mapping[ChangeId, Change]:
        """The changes keyed by id."""
        return {change.id: change for change in self.changes}

    @property
    def ids(self) -> ChangeSet:
        """Every id, pruned or not."""
        return frozenset(change.id for change in self.changes)

    @property
    def live(self) -> tuple[Change, ...]:
        """The changes that may matter, in diff order."""
        return tuple(change for change in self.changes if not change.pruned)


def in_order(changes: ChangeSet) -> list[ChangeId]:
    """Ids sorted as c1, c2, …, c10: the order of every list that a person or a test reads."""
    return sorted(changes, key=lambda identifier: (len(identifier), identifier))
