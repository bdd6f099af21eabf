"""Which commits of the range made each change."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_repositories import EXECUTABLE, FILE, Made, texts

from afterd.model.change import ChangeForm
from afterd.vcs import blame
from afterd.vcs.diff import changes_between
from afterd.vcs.kinds import FileRules


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path / "r")


def _commits(made: Made, good: str, bad: str) -> dict[tuple[str, str, int], tuple[str, ...]]:
    changes = changes_between(made.repository, good, bad, FileRules(keep_tests=False))
    return {(c.file, c.form.name, c.new.start): c.commits for c in changes.changes}


def _lines(*numbers: int) -> str:
    return "".join(f"line {number};\n" for number in numbers)


def test_each_hunk_has_its_commits(made: Made) -> None:
    """Lines shift between the commits; two of them touch the same line; one line is removed."""
    base = made.text(f__c=_lines(*range(1, 13)))
    one = made.text(f__c=_lines(1, 200, *range(3, 13)))
    two = made.text(f__c="top;\n" + _lines(1, 200, *range(3, 9), *range(10, 13)))
    three = made.text(f__c="top;\n" + _lines(1, 201, *range(3, 9), *range(10, 12), 120))
    assert _commits(made, base, three) == {
        ("f.c", "HUNK", 1): (two,),
        ("f.c", "HUNK", 3): (one, three),
        ("f.c", "HUNK", 9): (two,),
        ("f.c", "HUNK", 12): (three,),
    }
    assert set(_commits(made, two, three).values()) == {(three,)}


def test_files_as_a_whole(made: Made) -> None:
    text = _lines(*range(20)).encode()
    base = made.commit({b"old.c": (FILE, text), b"gone": (FILE, b"x\n"), b"bin": (FILE, b"\0" * 9)})
    listing = {b"new.c": (FILE, text), b"gone": (FILE, b"x\n"), b"bin": (FILE, b"\0" * 9)}
    moved = made.commit(listing)
    mode = made.commit(listing | {b"new.c": (EXECUTABLE, text)})
    edited = made.commit(
        listing | {b"new.c": (EXECUTABLE, text + b"more;\n"), b"bin": (FILE, b"\0\1")}
    )
    del listing[b"gone"]
    last = {b"new.c": (EXECUTABLE, text + b"more;\n"), b"bin": (FILE, b"\0\1")}
    dropped = made.commit(listing | last)
    added = made.commit(listing | last | {b"added": (FILE, b"1\n")})
    assert _commits(made, base, added) == {
        ("new.c", "RENAMED", 0): (moved,),
        ("new.c", "MODE", 0): (mode,),
        ("new.c", "HUNK", 21): (edited,),
        ("bin", "BINARY", 0): (edited,),
        ("gone", "DELETED", 0): (dropped,),
        ("added", "ADDED", 1): (added,),
    }


def test_a_merge_passes_the_question_to_the_branch_that_knows(made: Made) -> None:
    base = made.text(f__c=_lines(*range(10)))
    side = made.commit(texts(f__c=_lines(*range(9), 90)), base, ref=None)
    main = made.text(f__c=_lines(10, *range(1, 10)))
    merge = made.commit(texts(f__c=_lines(10, *range(1, 9), 90)), main, side)
    assert _commits(made, base, merge) == {
        ("f.c", "HUNK", 1): (main,),
        ("f.c", "HUNK", 10): (side,),
    }


def test_a_branch_that_the_merge_overruled_is_not_credited(made: Made) -> None:
    base = made.text(f__c=_lines(*range(10)))
    side = made.commit(texts(f__c=_lines(*range(9), 90)), base, ref=None)
    made.text(f__c=_lines(*range(9), 77))
    main = made.text(f__c=_lines(1, *range(9), 9))
    merge = made.commit(texts(f__c=_lines(1, *range(9), 90)), main, side)
    assert _commits(made, base, merge) == {
        ("f.c", "HUNK", 1): (main,),
        ("f.c", "HUNK", 11): (side,),
    }


def test_a_merge_that_is_like_neither_parent_made_the_change_itself(made: Made) -> None:
    base = made.text(f__c=_lines(*range(10)))
    side = made.commit(texts(f__c=_lines(*range(9), 90)), base, ref=None)
    main = made.text(f__c=_lines(*range(9), 91))
    merge = made.commit(texts(f__c=_lines(*range(9), 92)), main, side)
    ((found,),) = [_commits(made, base, merge).values()]
    assert found[-1] == merge
    assert set(found) == {side, main, merge}


def test_a_range_that_is_too_long_says_so(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    commits = [made.text(f__c=_lines(n)) for n in range(5)]
    monkeypatch.setattr(blame, "MOST_COMMITS", 3)
    changes = changes_between(made.repository, commits[0], commits[-1])
    assert changes.changes[0].commits == ()
    assert changes.notes == ("The range is too long to tell which commit made which change.",)


def test_a_good_revision_on_another_branch_has_no_commits_of_the_range(made: Made) -> None:
    """What the good side changed after the fork was made by no commit of good..bad."""
    base = made.text(f__c=_lines(1, 2, 3))
    good = made.commit(texts(f__c=_lines(1, 2, 30)), base, ref=None)
    bad = made.text(f__c=_lines(10, 2, 3))
    assert _commits(made, good, bad) == {("f.c", "HUNK", 1): (bad,), ("f.c", "HUNK", 3): ()}


@settings(max_examples=40)
@given(st.lists(st.lists(st.integers(0, 4), max_size=8), min_size=2, max_size=5))
def test_no_commit_is_credited_for_a_file_it_did_not_touch(
    tmp_path_factory: pytest.TempPathFactory, versions: list[list[int]]
) -> None:
    """Lines that repeat align one way across the range and another from commit to commit, so a
    hunk may end without a commit; a file's own changes never do.
    """
    made = Made(tmp_path_factory.mktemp("blame"))
    commits = [
        made.text(f__c=_lines(*numbers), other=f"{place // 2}")
        for place, numbers in enumerate(versions)
    ]
    changes = changes_between(made.repository, commits[0], commits[-1])
    for change in changes.changes:
        assert change.commits or change.file == "f.c"
        assert set(change.commits) <= set(commits[1:])
        for commit in change.commits:
            place = commits.index(commit)
            if change.file == "other":
                assert place % 2 == 0
            elif change.form is ChangeForm.HUNK:
                assert versions[place] != versions[place - 1]
