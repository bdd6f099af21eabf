"""Which changes only call something by another name."""

from __future__ import annotations

import pytest

from afterd.causality.deltas.renaming import mere_renames
from afterd.model.change import Change, ChangeForm, ChangeSet
from afterd.model.location import LineSpan
from afterd.model.names import Name

OF_ONE_VERSION = frozenset({".length", ".least", "old_way", "new_way", "other_way"})


def _renames(*hunks: tuple[str, str], form: ChangeForm = ChangeForm.HUNK) -> ChangeSet:
    """Of hunks c1, c2, … with an old and a new line."""

    def is_of_one_version(name: Name) -> bool:
        return name in OF_ONE_VERSION

    span = LineSpan(1, 1)
    changes = [
        Change(f"c{at}", "a.cc", "a.cc", span, span, form=form, patch=f"@@ @@\n-{old}\n+{new}\n")
        for at, (old, new) in enumerate(hunks, 1)
    ]
    return mere_renames(changes, is_of_one_version)


@pytest.mark.parametrize(
    ("old", "new", "is_renamed"),
    [
        ("int length = 63;", "int least   = 63;", True),
        ("int length = 63;", "int least = 64;", False),  # another value as well
        ("char text[length];", "char text[least + 1];", False),
        ("return width;", "return height;", False),  # both versions have both
        ("return length;", "return height;", False),
        ("return 1;", "return 1;", False),
        ("return 1;", "return 2;", False),
    ],
)
def test_a_rename_alters_a_name_that_one_version_has_and_nothing_else(
    old: str, new: str, *, is_renamed: bool
) -> None:
    assert bool(_renames((old, new))) is is_renamed


def test_a_name_in_whose_place_there_are_two_was_not_renamed() -> None:
    """A function that was divided is called otherwise by each."""
    assert _renames(("old_way();", "new_way();"), ("x = old_way();", "x = new_way();")) == {
        "c1",
        "c2",
    }
    assert not _renames(("old_way();", "new_way();"), ("old_way();", "other_way();"))


def test_only_hunks_have_an_old_text() -> None:
    assert not _renames(("int length;", "int least;"), form=ChangeForm.WHOLE)
