"""``--diff FILE``: patches as people have them, applied exactly or refused in one sentence."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from made_repositories import (
    EXECUTABLE,
    FILE,
    LINK,
    Listing,
    Made,
    read_listing,
    texts,
    versions,
)

from afterd.errors import RepositoryError
from afterd.vcs.diff import changes_from_patch
from afterd.vcs.kinds import FileRules
from afterd.vcs.object_store import open_store
from afterd.vcs.patch_file import apply_patch
from afterd.vcs.variants import Variants

_BASE = "a\nb\nc\nd\ne\nf\ng\n"
_HUNK = "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"
_CHANGED = _BASE.replace("b", "B")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("patches"))


def _applied(made: Made, base: Listing, patch: str | bytes) -> dict[bytes, tuple[int, bytes]]:
    store = open_store(made.repository)
    raw = patch if isinstance(patch, bytes) else patch.encode()
    return read_listing(store, apply_patch(store, made.tree(base), raw))


@pytest.mark.parametrize(
    "header",
    [
        "diff --git a/src/f.c b/src/f.c\nindex 123..456 100644\n--- a/src/f.c\n+++ b/src/f.c\n",
        "--- a/src/f.c\n+++ b/src/f.c\n",
        "--- src/f.c\n+++ src/f.c\n",
        "--- src/f.c.orig\t2020-01-01 00:00:00\n+++ src/f.c\t2020-01-02 00:00:00\n",
        "diff -ru old/src/f.c new/src/f.c\n--- old/src/f.c\t2020-01-01\n+++ new/src/f.c\t2021\n",
        "From 1234 Mon Sep 17\nFrom: x\nSubject: y\n\n- list\n+ of\n---\n src/f.c | 2 +-\n\n"
        "diff --git a/src/f.c b/src/f.c\nindex 1..2 100644\n--- a/src/f.c\n+++ b/src/f.c\n",
        "Index: src/f.c\n====\n--- src/f.c\t(revision 1)\n+++ src/f.c\t(working copy)\n",
    ],
)
@pytest.mark.parametrize("tail", ["", "-- \n2.39.5\n\n"])
def test_dialects(made: Made, header: str, tail: str) -> None:
    name = b"src/f.c.orig" if ".orig" in header else b"src/f.c"
    found = _applied(made, {name: (FILE, _BASE.encode())}, header + _HUNK + tail)
    assert found == {name: (FILE, _CHANGED.encode())}


@pytest.mark.parametrize(
    ("hunks", "expected"),
    [
        ("@@ -2 +2 @@\n-b\n+B\n@@ -4,0 +5 @@\n+x\n", "a\nB\nc\nd\nx\ne\nf\ng\n"),
        ("@@ -5,3 +5,3 @@\n a\n-b\n+B\n c\n", _CHANGED),
        ("@@ -1,2 +1,1 @@\n-a\n b\n@@ -6,2 +5,3 @@\n f\n+x\n g\n", "b\nc\nd\ne\nf\nx\ng\n"),
        ("@@ -7 +7 @@\n-g\n+G\n\\ No newline at end of file\n", "a\nb\nc\nd\ne\nf\nG"),
        ("@@ -0,0 +1 @@\n+first\n", "first\n" + _BASE),
    ],
)
def test_hunks(made: Made, hunks: str, expected: str) -> None:
    found = _applied(made, texts(f__c=_BASE), f"--- a/f.c\n+++ b/f.c\n{hunks}")
    assert found == texts(f__c=expected)


def test_line_ends_of_file_and_patch(made: Made) -> None:
    dos = {b"f.c": (FILE, _BASE.replace("\n", "\r\n").encode())}
    git_like = "--- a/f.c\n+++ b/f.c\n" + _HUNK.replace("\n", "\r\n").replace("@@\r", "@@")
    assert _applied(made, dos, git_like)[b"f.c"][1].count(b"\r\n") == 7
    converted = ("--- a/f.c\n+++ b/f.c\n" + _HUNK).replace("\n", "\r\n")
    assert _applied(made, texts(f__c=_BASE), converted) == texts(f__c=_CHANGED)
    no_end = {b"f.c": (FILE, b"a")}
    patch = "--- a/f.c\n+++ b/f.c\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"
    assert _applied(made, no_end, patch) == {b"f.c": (FILE, b"a\n")}


def test_files_that_come_go_move_and_change_mode(made: Made) -> None:
    base = texts(old="1\n2\n3\n4\n", gone="x\n", mode="m\n")
    patch = (
        "diff --git a/old b/d/new\nsimilarity index 80%\nrename from old\nrename to d/new\n"
        "--- a/old\n+++ b/d/new\n@@ -2 +2 @@\n-2\n+two\n"
        "diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n"
        "@@ -1 +0,0 @@\n-x\n"
        "diff --git a/mode b/mode\nold mode 100644\nnew mode 100755\n"
        'diff --git "a/\\303\\244" "b/\\303\\244"\nnew file mode 100755\n--- /dev/null\n'
        '+++ "b/\\303\\244"\n@@ -0,0 +1 @@\n+latin \xff\n'
        "diff --git a/link b/link\nnew file mode 120000\n--- /dev/null\n+++ b/link\n"
        "@@ -0,0 +1 @@\n+mode\n\\ No newline at end of file\n"
    )
    assert _applied(made, base, patch.encode("latin-1")) == {
        b"d/new": (FILE, b"1\ntwo\n3\n4\n"),
        b"mode": (EXECUTABLE, b"m\n"),
        b"\xc3\xa4": (EXECUTABLE, b"latin \xff\n"),
        b"link": (LINK, b"mode"),
    }


_SOUND = f"--- a/f.c\n+++ b/f.c\n{_HUNK}"


@pytest.mark.parametrize(
    ("patch", "sentence"),
    [
        ("", "names no file"),
        ("hello\nworld\n", "names no file"),
        ("\0\0\0", "names no file"),
        (_SOUND.replace(" c", " z"), "hunk at line 1 of 'f.c' does not match"),
        (_SOUND + "+zzz\n", "longer than its header says"),
        (_SOUND.replace("+B\n c\n", ""), "cannot be read"),
        (_SOUND.replace("1,3 +1,3", "1,99999999999 +1,3"), "cannot be read"),
        (_SOUND.replace("f.c", "g.c"), "'g.c', which the good version lacks"),
        ("diff --git a/x b/x\nBinary files a/x and b/x differ\n", "binary file"),
        ("diff --git a/x b/x\nGIT binary patch\nliteral 1\nIcmZPo000310RR91\n", "binary file"),
        ("--- /dev/null\n+++ b/../../evil\n@@ -0,0 +1 @@\n+x\n", "leaves its directory"),
        ("--- /dev/null\n+++ b//etc/passwd\n@@ -0,0 +1 @@\n+x\n", "absolute"),
        ("--- /dev/null\n+++ b/.git/hooks/x\n@@ -0,0 +1 @@\n+x\n", "inside git's own directory"),
        ("--- /dev/null\n+++ b/.GIT/x\n@@ -0,0 +1 @@\n+x\n", "inside git's own directory"),
        ('--- /dev/null\n+++ "b/x\\000y"\n@@ -0,0 +1 @@\n+x\n', "a NUL"),
    ],
)
def test_refusals_are_one_sentence(made: Made, patch: str, sentence: str) -> None:
    with pytest.raises(RepositoryError) as caught:
        _applied(made, texts(f__c=_BASE), patch)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_changes_of_a_patch_can_be_reverted_like_any_others(made: Made) -> None:
    good = made.commit(texts(f__c="int a;\nint b;\nint c;\n"))
    patch = b"--- a/f.c\n+++ b/f.c\n@@ -1,3 +1,3 @@\n-int a;\n+int x;\n int b;\n-int c;\n+int y;\n"
    bad, changes = changes_from_patch(made.repository, good, patch)
    assert [change.new.start for change in changes.changes] == [1, 3]
    assert {change.commits for change in changes.changes} == {()}
    variants = Variants(made.repository, good, bad, changes)
    found = read_listing(variants.store, variants.tree(frozenset({"c1"})))
    assert found == texts(f__c="int a;\nint b;\nint y;\n")
    with pytest.raises(RepositoryError, match="changes nothing"):
        changes_from_patch(made.repository, good, b"--- a/f.c\n+++ b/f.c\n@@ -1 +1 @@\n int a;\n")


def _is_text(listing: Listing) -> bool:
    """Without submodules and binary files, which this input does not take."""
    return all(mode != 0o160000 and b"\0" not in content for mode, content in listing.values())


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(pair=versions().filter(lambda pair: all(map(_is_text, pair))))
def test_what_git_diff_prints_is_understood(made: Made, pair: tuple[Listing, Listing]) -> None:
    good, bad = map(made.tree, pair)
    command = ["git", "diff", "-M", "--no-color", good, bad]
    done = subprocess.run(command, cwd=made.path, check=True, capture_output=True)
    if not done.stdout:
        return
    tree, changes = changes_from_patch(
        made.repository, good, done.stdout, FileRules(keep_tests=False)
    )
    assert tree == bad
    assert Variants(made.repository, good, tree, changes).tree(changes.ids) == good
