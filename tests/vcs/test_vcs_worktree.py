"""Slots: from tree to tree, only what differs, never outside, never stale."""

from __future__ import annotations

import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pygit2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_repositories import EXECUTABLE, FILE, LINK, SUBMODULE, Listing, Made, git, texts, versions

from afterd.errors import RepositoryError, SpaceError, StoreError
from afterd.limits import ChangeLimits
from afterd.vcs.lacking import note_lacking
from afterd.vcs.object_store import open_store
from afterd.vcs.repository import open_repository
from afterd.vcs.trees import Entry, write_tree
from afterd.vcs.worktree import INSTALLED, Slot, tick


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("worktree"))


@pytest.fixture
def slot(made: Made, tmp_path: Path) -> Slot:
    return Slot(tmp_path / "slots/1", made.repository)


def on_disk(root: Path) -> dict[bytes, tuple[int, bytes]]:
    """What stands below ``root``; an empty directory is a submodule without its commit."""
    found: dict[bytes, tuple[int, bytes]] = {}
    for path in root.rglob("*"):
        key = os.fsencode(path.relative_to(root))
        if path.is_symlink():
            found[key] = (LINK, os.fsencode(path.readlink()))
        elif path.is_file():
            mode = EXECUTABLE if path.stat().st_mode & 0o100 else FILE
            found[key] = (mode, path.read_bytes())
        elif not any(path.iterdir()):
            found[key] = (SUBMODULE, b"")
    return found


def _expected(listing: Listing) -> dict[bytes, tuple[int, bytes]]:
    return {
        path: (mode, b"" if mode == SUBMODULE else content)
        for path, (mode, content) in listing.items()
    }


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(pairs=st.lists(versions(), min_size=1, max_size=3), data=st.data())
def test_after_a_move_the_files_are_those_of_the_tree(
    made: Made, tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[Listing, Listing]],
    data: st.DataObject,
) -> None:  # fmt: skip
    """Also from a new process, after a cut-off move and after somebody altered tracked files."""
    place = tmp_path_factory.mktemp("slot") / "s"
    slot = Slot(place, made.repository)
    for listing in [version for pair in pairs for version in pair]:
        what = data.draw(st.sampled_from(["go on", "new process", "cut off", "vandal"]))
        if what in {"new process", "cut off"}:
            slot = Slot(place, made.repository)
        if what == "cut off" and slot.tree:
            _marker(slot).write_text(f"moving {slot.tree}\n")
            _vandalise(place, data)
        elif what == "vandal":
            _vandalise(place, data)
        tree = made.tree(listing)
        slot.move_to(tree)
        strange = (LINK, os.fsencode(place.parent))  # a vandal's link where no tracked file is
        found = {path: entry for path, entry in on_disk(place).items() if entry != strange}
        assert found == _expected(listing)
        assert slot.tree == tree
        assert slot.move_to(tree) == ()
    shutil.rmtree(place.parent)


def _marker(slot: Slot) -> Path:
    return slot.path.with_name(f"{slot.path.name}.tree")


def _vandalise(root: Path, data: st.DataObject) -> None:
    """Rewrite, remove or replace tracked files and directories, as a test might."""
    there = sorted(root.iterdir()) if root.is_dir() else []
    for path in there:
        what = data.draw(st.sampled_from(["leave", "rewrite", "remove", "link", "mode"]))
        if what in {"remove", "link"}:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        if what == "link":
            path.symlink_to(root.parent)
        elif what == "rewrite" and path.is_file() and not path.is_symlink():
            path.write_bytes(path.read_bytes()[::-1] + b"!")
        elif what == "mode" and path.is_file() and not path.is_symlink():
            path.chmod(path.stat().st_mode ^ 0o100)


def test_only_what_differs_is_written_and_products_stay(made: Made, slot: Slot) -> None:
    files = {f"src/f{n}.c".encode(): (FILE, b"%d\n" % n) for n in range(50)}
    first = made.tree(files)
    second = made.tree(files | {b"src/f7.c": (FILE, b"new\n"), b"src/g.c": (FILE, b"g\n")})
    assert len(slot.move_to(first)) == 50
    (slot.path / "src/f1.o").write_bytes(b"object")
    (slot.path / "build").mkdir()
    (slot.path / "build/log").write_text("x")
    before = {path: path.stat().st_mtime_ns for path in slot.path.rglob("*.c")}
    assert slot.move_to(second) == ("src/f7.c", "src/g.c")
    assert slot.move_to(first) == ("src/f7.c", "src/g.c")
    assert (slot.path / "src/f1.o").exists()
    assert (slot.path / "build/log").exists()
    after = {path: path.stat().st_mtime_ns for path in slot.path.rglob("*.c")}
    assert [path.name for path in before if before[path] != after[path]] == ["f7.c"]
    slot.hard_reset()
    assert on_disk(slot.path) == _expected(files)


@pytest.mark.parametrize("said", ["modules", "modules gone ../outside .. modules", ""])
def test_what_was_installed_stays_when_all_is_built_anew(made: Made, slot: Slot, said: str) -> None:
    """A registry was asked for a minute for each version that was built from nothing (validator.js)."""
    slot.move_to(made.tree(texts(a__c="int x;\n")))
    (slot.path / "modules/p").mkdir(parents=True)
    (slot.path / "a.o").touch()
    if said:
        (slot.path / INSTALLED).write_text(said)
    outside = slot.path.with_name("outside")
    outside.mkdir()
    slot.hard_reset()
    assert (slot.path / "a.c").read_text() == "int x;\n"
    assert not (slot.path / "a.o").exists()
    assert (slot.path / "modules/p").is_dir() is bool(said)
    assert outside.is_dir()
    slot.hard_reset()
    assert (slot.path / "modules/p").is_dir() is bool(said)


def test_what_is_written_is_newer_than_everything_built_before(made: Made, slot: Slot) -> None:
    """A product made in the same clock tick as the next source would make ``make`` skip it."""
    trees = [made.tree(texts(a__c=f"int x = {n};\n")) for n in range(6)]
    for tree in trees * 5:
        slot.move_to(tree)
        product = slot.path / "a.o"
        product.write_bytes(b"built")
        built = product.stat().st_mtime_ns
        slot.move_to(trees[(trees.index(tree) + 1) % len(trees)])
        assert (slot.path / "a.c").stat().st_mtime_ns > built


def test_a_tick_outlasts_a_coarse_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels since 6.13 stamp finely; older ones, and other systems, in steps of milliseconds."""
    calls: list[int] = []
    real = os.utime

    def coarse(path: Path) -> None:
        calls.append(len(calls) // 4)
        real(path, ns=(calls[-1] * 10**9, calls[-1] * 10**9))

    marker = tmp_path / "marker"
    marker.write_text("")
    monkeypatch.setattr(os, "utime", coarse)
    tick(marker)
    assert marker.stat().st_mtime_ns == 10**9


@pytest.mark.skipif(shutil.which("make") is None, reason="no make on this machine")
def test_make_rebuilds_after_every_move(made: Made, slot: Slot) -> None:
    trees = [
        made.tree(texts(Makefile="out: in\n\tcp in out\n", **{"in": f"{n}\n"})) for n in range(4)
    ]
    for place in [0, 1, 2, 3, 1, 0, 3, 2] * 2:
        slot.move_to(trees[place])
        subprocess.run(["make", "-s"], cwd=slot.path, check=True)
        assert (slot.path / "out").read_text() == f"{place}\n"


def test_python_never_runs_stale_bytecode(made: Made, slot: Slot) -> None:
    """Same size, same second: CPython would take the .pyc of the variant before."""
    trees = [made.tree(texts(m__py=f"VALUE = {n}\n")) for n in range(4)]
    for place in [0, 1, 2, 3, 0, 2]:
        slot.move_to(trees[place])
        done = subprocess.run(
            [sys.executable, "-c", "import m; print(m.VALUE)"],
            cwd=slot.path, check=True, capture_output=True, text=True,
            env={name: value for name, value in os.environ.items() if "PYTHON" not in name},
        )  # fmt: skip
        assert done.stdout == f"{place}\n"
    slot.move_to(made.tree(texts(other="x")))
    assert not list(slot.path.rglob("m.*.pyc"))


def test_altered_tracked_files_are_put_right_at_once(made: Made, slot: Slot) -> None:
    """Alterations right after a move, with times set back, are seen: the inode's time is not."""
    tree = made.tree(texts(a="1\n", b="2\n", c="3\n"))
    slot.move_to(tree)
    for _ in range(30):
        stamp = (slot.path / "a").stat().st_mtime_ns
        (slot.path / "a").write_text("9\n")
        os.utime(slot.path / "a", ns=(stamp, stamp))
        (slot.path / "b").chmod(0o755)
        (slot.path / "c").rename(slot.path / "untracked")
        assert slot.move_to(tree) == ("a", "b", "c")
    os.utime(slot.path / "a")
    assert slot.move_to(tree) == (), "a file that was only touched is left as it is"


_OUTSIDE_MUST_STAY = b"precious\n"


@pytest.mark.parametrize("names", [["d"], ["d", "e"], ["d", "e", "f"]])
def test_a_link_in_place_of_a_directory_is_not_followed(
    made: Made, slot: Slot, tmp_path: Path, names: list[str]
) -> None:
    """A test swaps a directory for a link to the user's files; the next move must not go there."""
    first, second = (made.tree({b"d/e/f/x.c": (FILE, text)}) for text in (b"1\n", b"2\n"))
    slot.move_to(first)
    outside = tmp_path / "outside"
    target = outside.joinpath(*["d", "e", "f"][len(names) :])
    target.mkdir(parents=True)
    (target / "x.c").write_bytes(_OUTSIDE_MUST_STAY)
    swapped = slot.path.joinpath(*names)
    shutil.rmtree(swapped)
    swapped.symlink_to(outside)
    slot.move_to(second)
    assert on_disk(slot.path) == {b"d/e/f/x.c": (FILE, b"2\n")}
    assert (target / "x.c").read_bytes() == _OUTSIDE_MUST_STAY


def test_a_tracked_link_is_replaced_and_not_written_through(
    made: Made, slot: Slot, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(_OUTSIDE_MUST_STAY)
    slot.move_to(made.tree({b"x": (LINK, bytes(outside))}))
    slot.move_to(made.tree({b"x": (FILE, b"harmless\n")}))
    assert outside.read_bytes() == _OUTSIDE_MUST_STAY
    assert (slot.path / "x").read_bytes() == b"harmless\n"


def test_the_slot_itself_swapped_for_a_link(made: Made, slot: Slot, tmp_path: Path) -> None:
    tree = made.tree(texts(a="1\n"))
    slot.move_to(tree)
    outside = tmp_path / "outside"
    outside.mkdir()
    shutil.rmtree(slot.path)
    slot.path.symlink_to(outside)
    slot.move_to(tree)
    assert on_disk(slot.path) == {b"a": (FILE, b"1\n")}
    assert not list(outside.iterdir())


_HOSTILE = [
    *(b"..", b".", b".git", b".GIT", b".gIt", b"git~1", b"GIT~1", b".git.", b".git ", b".git..."),
    *(b".git::$INDEX_ALLOCATION", b".g\xe2\x80\x8cit", b"\xef\xbb\xbf.git", b"a\\b", b"../x"),
    *(b"trailing\r", b"n" * 256, b"/x", b".git/hooks/x"),
]


@pytest.mark.parametrize("name", _HOSTILE)
@pytest.mark.parametrize("as_directory", [False, True])
def test_hostile_names_are_refused_with_a_note_and_the_rest_goes_on(
    made: Made, slot: Slot, name: bytes, as_directory: bool
) -> None:
    blob = str(made.repository.create_blob(b"evil"))
    entry = Entry(FILE, blob)
    if as_directory:
        entry = Entry(0o040000, write_tree(made.repository, {b"hooks": Entry(FILE, blob)}))
    tree = write_tree(made.repository, {name: entry, b"good": Entry(FILE, blob)})
    around = sorted(slot.path.parent.parent.rglob("*"))
    slot.move_to(tree)
    assert on_disk(slot.path) == {b"good": (FILE, b"evil")}
    assert len(slot.notes) == 1
    assert "is not written" in slot.notes[0]
    slot.move_to(made.tree(texts(good="2")))
    slot.move_to(tree)
    assert on_disk(slot.path) == {b"good": (FILE, b"evil")}
    strangers = set(slot.path.parent.parent.rglob("*")) - set(around)
    assert all(path.is_relative_to(slot.path.parent) for path in strangers)


def test_a_path_longer_than_the_system_takes_is_refused(made: Made, slot: Slot) -> None:
    long = b"/".join([b"d" * 200] * 21)
    slot.move_to(made.tree({long: (FILE, b"x"), b"good": (FILE, b"y")}))
    assert on_disk(slot.path) == {b"good": (FILE, b"y")}
    assert "bytes long" in slot.notes[0]


def test_directories_that_a_test_locked(made: Made, slot: Slot) -> None:
    first, second = (made.tree({b"d/e/x": (FILE, text)}) for text in (b"1\n", b"2\n"))
    slot.move_to(first)
    (slot.path / "d/e/x").chmod(0)
    (slot.path / "d/e").chmod(0)
    (slot.path / "d").chmod(0o500)
    slot.move_to(second)
    assert (slot.path / "d/e/x").read_bytes() == b"2\n"
    (slot.path / "d/e").chmod(0)
    slot.hard_reset()
    assert on_disk(slot.path) == {b"d/e/x": (FILE, b"2\n")}


def test_modes_follow_the_umask(made: Made, slot: Slot) -> None:
    old = os.umask(0o027)
    try:
        slot.move_to(made.tree({b"f": (FILE, b""), b"x": (EXECUTABLE, b"")}))
    finally:
        os.umask(old)
    modes = [stat.S_IMODE((slot.path / name).stat().st_mode) for name in ("f", "x")]
    assert modes == [0o640, 0o750]


_MOVER = """
import sys
from pathlib import Path
import pygit2
from afterd.vcs.worktree import Slot
slot = Slot(Path(sys.argv[1]), pygit2.Repository(sys.argv[2]))
print("ready", flush=True)
while True:
    for tree in sys.argv[3:]:
        slot.move_to(tree)
"""


def test_a_move_cut_off_by_sigkill_is_recovered(made: Made, slot: Slot) -> None:
    """Row 1: killed at random moments, the next process finds the truth by content."""
    listings = [
        {f"d{n % 7}/f{n}".encode(): (FILE, b"%d %d\n" % (n, version)) for n in range(300)}
        | {f"only{version}/{n}".encode(): (FILE, b"") for n in range(50)}
        for version in range(2)
    ]
    trees = [made.tree(listing) for listing in listings]
    generator = random.Random(7)
    cut_off = 0
    for number in range(5):
        command = [sys.executable, "-c", _MOVER, str(slot.path), str(made.path), *trees]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as mover:
            assert mover.stdout is not None
            assert mover.stdout.readline() == "ready\n"
            time.sleep(generator.random() * 0.1)
            mover.send_signal(signal.SIGKILL)
        after = Slot(slot.path, made.repository)
        cut_off += after.tree is None
        after.move_to(trees[number % 2])
        assert on_disk(slot.path) == listings[number % 2]
    assert cut_off, "no kill hit a move: the test shows nothing"


def test_a_marker_that_names_trees_nobody_has_is_not_believed(made: Made, slot: Slot) -> None:
    """The object store was removed while the slot stayed."""
    slot.move_to(made.tree(texts(a="1")))
    (slot.path / "leftover").write_text("x")
    for marker in ("clean " + "0" * 40, "moving " + "1" * 40, "", "clean", "\0\0"):
        _marker(slot).write_text(marker)
        Slot(slot.path, made.repository).move_to(made.tree(texts(b="2")))
        assert b"b" in on_disk(slot.path)


def test_missing_blob_is_one_sentence_and_no_lie(made: Made, slot: Slot) -> None:
    gone = "12" * 20
    tree = write_tree(made.repository, {b"a": Entry(FILE, gone)})
    with pytest.raises(RepositoryError, match=f"lacks the object {gone}"):
        slot.move_to(tree)
    assert slot.tree is None


def test_a_file_that_is_lacking_and_alike_in_both_versions_is_not_checked_out(
    made: Made, slot: Slot
) -> None:
    """One that differs is needed, and named; one that was fetched meanwhile is put where it belongs."""
    content = b"fetched"
    gone = str(pygit2.hash(content))
    kept, new = (Entry(FILE, str(made.repository.create_blob(text))) for text in (b"1", b"2"))
    lost = Entry(FILE, gone)
    good = write_tree(made.repository, {b"a": kept, b"data": lost})
    bad = write_tree(made.repository, {b"a": new, b"data": lost})
    said = note_lacking(made.repository, good, bad)
    assert "lacks the contents of a file that this range does not touch" in said
    assert said.endswith("without it: data.")
    slot.move_to(bad)
    assert set(on_disk(slot.path)) == {b"a"}
    apart = write_tree(made.repository, {b"a": kept})
    assert note_lacking(made.repository, apart, bad) == ""
    with pytest.raises(RepositoryError, match=rf"{gone} \(a content of data\)"):
        Slot(slot.path.with_name("another"), made.repository).move_to(bad)
    note_lacking(made.repository, good, bad)
    made.repository.create_blob(content)
    slot.move_to(bad)
    assert on_disk(slot.path).keys() == {b"a", b"data"}
    assert note_lacking(made.repository, good, bad) == ""


def _bomb(made: Made, levels: int) -> str:
    tree = write_tree(
        made.repository, {b"f": Entry(FILE, str(made.repository.create_blob(b"x" * 1000)))}
    )
    for _ in range(levels):
        tree = write_tree(made.repository, {b"%d" % n: Entry(0o040000, tree) for n in range(10)})
    return tree


def test_a_tree_of_ten_billion_files_is_refused_at_once(made: Made, slot: Slot) -> None:
    tree = _bomb(made, 10)
    started = time.monotonic()
    with pytest.raises(SpaceError, match="10,000,000,000 files"):
        slot.move_to(tree)
    assert time.monotonic() - started < 1
    assert not slot.path.exists()


def test_a_tree_nested_beyond_reason_is_refused(made: Made, slot: Slot) -> None:
    tree = write_tree(made.repository, {b"f": Entry(FILE, str(made.repository.create_blob(b"")))})
    for _ in range(1200):
        tree = write_tree(made.repository, {b"d": Entry(0o040000, tree)})
    with pytest.raises(SpaceError, match="too deep"):
        slot.move_to(tree)


def test_a_tree_heavier_than_the_limit_is_refused(made: Made, tmp_path: Path) -> None:
    slot = Slot(tmp_path / "s", made.repository, ChangeLimits(tree_size=10_000))
    with pytest.raises(SpaceError, match="the limit tree_size"):
        slot.move_to(_bomb(made, 2))


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte, where this machine lets us mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], check=False, capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip("this user may not mount a tmpfs")
    yield place
    subprocess.run(["umount", place], check=True)


def test_no_space_left(made: Made, tiny_disk: Path) -> None:
    small = made.tree(texts(a="1"))
    large = made.tree({b"%d" % n: (FILE, os.urandom(100_000)) for n in range(30)})
    with pytest.raises(SpaceError, match="the space in "):
        Slot(tiny_disk / "s", made.repository).move_to(large)
    slot = Slot(tiny_disk / "s", made.repository)
    slot.move_to(small)
    with pytest.raises(SpaceError, match="No space is left"):
        slot.move_to(large)
    assert slot.tree is None
    slot.move_to(small)
    assert on_disk(slot.path) == {b"a": (FILE, b"1")}


def test_a_place_that_cannot_be_written_is_one_sentence(made: Made, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="cannot be written"):
        Slot(tmp_path / "file/slot", made.repository).move_to(made.tree(texts(a="1")))


def _committed(where: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        (where / name).parent.mkdir(parents=True, exist_ok=True)
        (where / name).write_text(content)
    if not (where / ".git").exists():
        git(where, "init", "-q")
    git(where, "add", "-A")
    git(where, "-c", "user.name=t", "-c", "user.email=t@x", "commit", "-qm", "c")
    return where


def test_a_submodule_that_is_checked_out_stands_in_every_slot_as_its_commit_says(
    tmp_path: Path,
) -> None:
    """utfcpp: its tests include a header of a submodule, and "the bad version does not build"."""
    deep = _committed(tmp_path / "deep", {"d.h": "deep"})
    inner = _committed(tmp_path / "inner", {"a.h": "1", "gone.h": ""})
    add = ("-c", "protocol.file.allow=always", "submodule", "add", "-q", "--name")
    git(inner, *add, "lib/deep", str(deep), "deep")
    outer = _committed(tmp_path / "outer", {"x": ""})
    git(outer, *add, "ext/inner", str(_committed(inner, {})), "extern/inner")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "update", "--init", "--recursive")
    _committed(outer, {})
    (outer / "extern/inner/gone.h").unlink()
    _committed(outer / "extern/inner", {"a.h": "2"})
    _committed(outer, {})

    user = open_repository(outer)
    slot = Slot(tmp_path / "slot", open_store(user))

    def below(revision: str) -> dict[str, str]:
        slot.move_to(str(user.revparse_single(revision).peel(pygit2.Tree).id))
        whole = slot.path / "extern/inner"
        return {str(f.relative_to(whole)): f.read_text() for f in whole.rglob("*") if f.is_file()}

    modules = (inner / ".gitmodules").read_text()
    first = {".gitmodules": modules, "a.h": "1", "gone.h": "", "deep/d.h": "deep"}
    second = {".gitmodules": modules, "a.h": "2", "deep/d.h": "deep"}
    assert [below(each) for each in ("HEAD~1", "HEAD", "HEAD~1")] == [first, second, first]
    assert below("HEAD~2") == {}
    assert not (slot.path / "extern").exists()
