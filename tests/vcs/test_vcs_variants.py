"""Reverting: nothing is the bad tree, everything the good one, any subset is what the rule says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_repositories import FILE, LINK, Listing, Made, clash, git, read_listing, texts, versions

from afterd.errors import RepositoryError
from afterd.model.change import Change, ChangeForm, ChangeList, ChangeSet
from afterd.model.inside import outer_hunks
from afterd.vcs.diff import changes_between
from afterd.vcs.file_changes import tree_patch
from afterd.vcs.hunks import split_lines
from afterd.vcs.kinds import FileRules
from afterd.vcs.paths import path_bytes
from afterd.vcs.variants import Variants

EVERYTHING = FileRules(keep_tests=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("variants"))


def _range(made: Made, good: Listing, bad: Listing) -> tuple[str, str, ChangeList]:
    one, other = made.tree(good), made.tree(bad)
    return one, other, changes_between(made.repository, one, other, EVERYTHING)


@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow])
@given(pair=versions(), data=st.data())
def test_every_subset_is_exactly_what_the_rule_says(
    made: Made, pair: tuple[Listing, Listing], data: st.DataObject
) -> None:
    """The rule, written down a second time over flat listings, gives the same files."""
    good, bad, changes = _range(made, *pair)
    variants = Variants(made.repository, good, bad, changes)
    assert variants.tree(frozenset()) == bad
    assert variants.tree(changes.ids) == good
    for _ in range(4):
        subset = data.draw(_subsets(changes))
        tree = variants.tree(subset)
        expected = _by_the_rule(dict(pair[0]), dict(pair[1]), changes, subset)
        assert read_listing(variants.store, tree) == expected


def _subsets(changes: ChangeList) -> st.SearchStrategy[ChangeSet]:
    ids = sorted(changes.ids)
    return st.frozensets(st.sampled_from(ids)) if ids else st.just(frozenset())


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(pair=versions(), data=st.data())
def test_subsets_compose_in_any_order_and_grouping(
    made: Made, pair: tuple[Listing, Listing], data: st.DataObject
) -> None:
    """Two builders, asked in different orders (their caches warm or cold), agree on every tree."""
    good, bad, changes = _range(made, *pair)
    subsets = data.draw(st.lists(_subsets(changes), min_size=1, max_size=5))
    first = Variants(made.repository, good, bad, changes)
    trees = [first.tree(subset) for subset in subsets]
    second = Variants(made.repository, good, bad, changes)
    assert [second.tree(subset) for subset in reversed(subsets)] == trees[::-1]
    again = Variants(made.repository, good, bad, changes).tree(subsets[0])
    assert again == trees[0]


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(pair=versions(), data=st.data())
def test_the_patch_of_a_variant_is_one_that_git_applies(
    made: Made, pair: tuple[Listing, Listing], data: st.DataObject
) -> None:
    """``tree_patch`` from the bad version to a variant, through the real ``git apply``."""
    good, bad, changes = _range(made, *pair)
    variants = Variants(made.repository, good, bad, changes)
    tree = variants.tree(data.draw(_subsets(changes)))
    patch = tree_patch(variants.store, bad, tree)
    place = Path(variants.store.path or "")
    index = place / "test-index"
    git(place, "read-tree", bad, GIT_INDEX_FILE=str(index))
    if patch:
        (place / "test.patch").write_bytes(patch)
        git(place, "apply", "--cached", "--binary", "test.patch", GIT_INDEX_FILE=str(index))
    assert git(place, "write-tree", "--missing-ok", GIT_INDEX_FILE=str(index)).strip() == tree


def _by_the_rule(
    good: dict[bytes, tuple[int, bytes]],
    bad: dict[bytes, tuple[int, bytes]],
    changes: ChangeList,
    reverted: ChangeSet,
) -> dict[bytes, tuple[int, bytes]]:
    files = dict(bad)
    back: dict[bytes, tuple[int, bytes]] = {}
    altered: dict[bytes, list[Change]] = {}
    for change in changes.changes:
        if change.id in reverted:
            altered.setdefault(path_bytes(change.file), []).append(change)
    for new, group in altered.items():
        files.pop(new, None)
        old = path_bytes(group[0].old_file)  # of an added file's hunks, what it was cut out of
        forms = {change.form for change in group}
        whole = {ChangeForm.ADDED, ChangeForm.DELETED, ChangeForm.SYMLINK, ChangeForm.SUBMODULE}
        path = old if ChangeForm.RENAMED in forms else new
        if forms & whole:
            if old in good:
                back[path] = good[old]
            continue
        mode = good[old][0] if ChangeForm.MODE in forms else bad[new][0]
        content = good[old][1] if old in good else b""
        if ChangeForm.BINARY not in forms:
            content = _spliced(content, bad[new][1], group, changes.changes)
        (back if path == old != new else files)[path] = (mode, content)
    for path, entry in back.items():
        files = {other: kept for other, kept in files.items() if not clash(path, other)}
        files[path] = entry
    return files


def _spliced(good: bytes, bad: bytes, group: list[Change], changes: Sequence[Change]) -> bytes:
    """Bottom to top, so that no span moves before its turn."""
    old, lines = split_lines(good), split_lines(bad)
    outer = outer_hunks(changes)
    undone = {change.id for change in group}
    hunks = [change for change in group if change.form is ChangeForm.HUNK]
    for change in reversed(hunks):
        if change.id in outer and outer[change.id].id in undone:
            continue
        begin = change.new.start - (1 if change.new.count else 0)
        put_back = old[change.old.start - 1 : change.old.end - 1] if change.old.count else []
        lines[begin : begin + change.new.count] = put_back
    ended = [line if line.endswith(b"\n") else line + b"\n" for line in lines[:-1]]
    return b"".join(ended + lines[-1:])


@pytest.mark.parametrize(
    ("good", "bad", "forms"),
    [
        ("", "a\n", ["hunk"]),
        ("a\n", "", ["hunk"]),
        ("a\r\nb\r\n", "a\r\nc\r\n", ["hunk"]),
        ("a\nb\n", "a\r\nb\r\n", ["hunk", "hunk"]),
        ("a", "a\n", ["hunk"]),
        ("a\nb", "a\nb\nc\n", ["hunk"]),
        ("a\rb\rc\n", "a\rX\rc\n", ["hunk"]),
        ("a\x0cb\x85c\u2028d\n", "a\x0cb\x85c\u2028e\n", ["hunk"]),
        ("a\0b\n", "a\0c\n", ["binary content"]),
        ("x" * 200_000 + "\n", "y" * 200_000 + "\n", ["hunk"]),
    ],
)
def test_texts_of_every_kind_come_back_byte_for_byte(
    made: Made, good: str, bad: str, forms: list[str]
) -> None:
    one, other, changes = _range(made, texts(f__txt=good), texts(f__txt=bad))
    assert [change.form.value for change in changes.changes] == forms
    variants = Variants(made.repository, one, other, changes)
    assert variants.tree(changes.ids) == one
    for change in changes.changes:
        listing = read_listing(variants.store, variants.tree(frozenset({change.id})))
        assert set(listing) == {b"f.txt"}


def test_a_lost_newline_at_the_end_never_joins_two_lines(made: Made) -> None:
    good = {b"f.c": (FILE, b"int a;\nint b;\nint c;")}
    bad = {b"f.c": (FILE, b"int a = 1;\nint b = 1;\nint c = 1;\nint d;\n")}
    one, other, changes = _range(made, good, bad)
    variants = Variants(made.repository, one, other, changes)
    for number in range(1 << len(changes.changes)):
        subset = frozenset(c.id for n, c in enumerate(changes.changes) if number >> n & 1)
        content = read_listing(variants.store, variants.tree(subset))[b"f.c"][1]
        assert all(line.endswith(b";") for line in content.splitlines())


def test_a_file_put_back_wins_over_one_in_its_way(made: Made) -> None:
    """The good version has a file ``a``, the bad one a directory of that name; and the reverse."""
    good = {b"a": (FILE, b"old\n"), b"d/x": (FILE, b"1\n")}
    bad = {b"a/x": (FILE, b"new and different\n"), b"d": (FILE, b"entirely else\n")}
    one, other, changes = _range(made, good, bad)
    by_file = {(change.form, change.file): change.id for change in changes.changes}
    variants = Variants(made.repository, one, other, changes)
    back = {by_file[ChangeForm.DELETED, "a"], by_file[ChangeForm.DELETED, "d/x"]}
    assert variants.tree(frozenset(back)) == one
    only = read_listing(
        variants.store, variants.tree(frozenset({by_file[ChangeForm.DELETED, "a"]}))
    )
    assert only == {b"a": good[b"a"], b"d": bad[b"d"]}


def test_a_file_put_back_wins_over_an_edited_one_in_its_way(made: Made) -> None:
    lines = "".join(f"int line{n};\n" for n in range(20))
    good = texts(a="in the way\n", b__c=lines)
    bad = {b"a/x.c": (FILE, lines.replace("line7;", "line7 = 1;").encode())}
    one, other, changes = _range(made, good, bad)
    ids = {change.form: change.id for change in changes.changes}
    assert set(ids) == {ChangeForm.DELETED, ChangeForm.RENAMED, ChangeForm.HUNK}
    variants = Variants(made.repository, one, other, changes)
    subset = frozenset({ids[ChangeForm.DELETED], ids[ChangeForm.HUNK]})
    assert read_listing(variants.store, variants.tree(subset)) == {b"a": good[b"a"]}


def test_a_patch_takes_a_link_away_before_its_file_comes(made: Made) -> None:
    good = {b"d/f": (FILE, b""), b"old": (FILE, b"x\n" * 9)}
    bad = {b"d/f": (LINK, b"x"), b"d/e": (FILE, b"x\n" * 9)}
    one, other, changes = _range(made, good, bad)
    store = Variants(made.repository, one, other, changes).store
    headers = [line for line in tree_patch(store, other, one).splitlines() if b"mode" in line]
    assert headers == [b"deleted file mode 120000", b"new file mode 100644"]


def test_a_rename_with_edits_is_a_rename_and_hunks(made: Made) -> None:
    lines = [f"int line{n};" for n in range(20)]
    edited = [*lines[:5], "int other;", *lines[6:]]
    good = {b"old.c": (FILE, "\n".join(lines).encode())}
    bad = {b"new.c": (0o100755, "\n".join(edited).encode())}
    one, other, changes = _range(made, good, bad)
    forms = [(change.form, change.old_file, change.file) for change in changes.changes]
    assert forms == [
        (form, "old.c", "new.c") for form in (ChangeForm.RENAMED, ChangeForm.MODE, ChangeForm.HUNK)
    ]
    variants = Variants(made.repository, one, other, changes)
    moved_back = read_listing(variants.store, variants.tree(frozenset({"c1"})))
    assert moved_back == {b"old.c": bad[b"new.c"]}
    text_back = read_listing(variants.store, variants.tree(frozenset({"c3"})))
    assert text_back == {b"new.c": (0o100755, good[b"old.c"][1])}


def test_a_module_that_moved_and_was_half_rewritten_is_a_rename(made: Made) -> None:
    """Pydot 2 to 4, between releases: `pydot.py` was a deleted file, and undone it stood before the package."""
    kept = [f"def kept_{n}(value):\n    return value + {n}\n" for n in range(8)]
    gone = [f"def gone_{n}(text):\n    return text.strip('{n}')\n" for n in range(11)]
    new = [f"class New{n}:\n    size = {n} * 4\n" for n in range(11)]
    good = {b"pydot.py": (FILE, "\n".join([*kept, *gone]).encode())}
    bad = {b"src/pydot/core.py": (FILE, "\n".join([*new, *kept]).encode())}
    one, other, changes = _range(made, good, bad)
    forms = {change.form for change in changes.changes}
    assert forms == {ChangeForm.RENAMED, ChangeForm.HUNK}
    variants = Variants(made.repository, one, other, changes)
    everything = frozenset(change.id for change in changes.changes)
    assert read_listing(variants.store, variants.tree(everything)) == good


def test_nothing_is_written_to_the_users_objects(tmp_path: Path) -> None:
    made = Made(tmp_path / "r")
    one, other, changes = _range(
        made, texts(a__c="int a;\n\nint b;\n"), texts(a__c="int c;\n\nint d;\n")
    )
    objects = tmp_path / "r/.git/objects"
    before = sorted(objects.rglob("*"))
    variants = Variants(made.repository, one, other, changes)
    tree = variants.tree(frozenset({"c1"}))
    assert tree not in {one, other}
    assert sorted(objects.rglob("*")) == before
    assert tree not in made.repository


def test_an_unknown_change_is_one_sentence(made: Made) -> None:
    one, other, changes = _range(made, texts(a="1"), texts(a="2"))
    with pytest.raises(RepositoryError, match="no change c7"):
        Variants(made.repository, one, other, changes).tree(frozenset({"c1", "c7"}))


def test_tests_stay_as_they_are_unless_asked(made: Made) -> None:
    good = texts(main__c="int x;\n", test_main__c="old\n")
    bad = texts(main__c="int y;\n", test_main__c="new\n")
    one, other = made.tree(good), made.tree(bad)
    changes = changes_between(made.repository, one, other)
    assert [change.file for change in changes.live] == ["main.c"]
    live = frozenset(change.id for change in changes.live)
    variants = Variants(made.repository, one, other, changes)
    assert read_listing(variants.store, variants.tree(live)) == good | {
        b"test_main.c": bad[b"test_main.c"]
    }
    assert variants.tree(changes.ids) == one
    asked = changes_between(made.repository, one, other, FileRules(keep_tests=False))
    assert asked.live == asked.changes
