"""A range as changes: forms, spans, kinds, symbols, patches, limits, hostile paths."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from made_repositories import EXECUTABLE, FILE, LINK, SUBMODULE, Listing, Made, texts

from afterd.errors import SpaceError
from afterd.limits import ChangeLimits
from afterd.model.change import Change, ChangeForm, ChangeList, FileKind
from afterd.model.location import LineSpan
from afterd.vcs.diff import changes_between
from afterd.vcs.file_changes import LONGEST
from afterd.vcs.kinds import FileRules
from afterd.vcs.trees import Entry, write_tree
from afterd.vcs.variants import Variants
from afterd.vcs.worktree import Slot

NO_LINES = LineSpan(0, 0)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("changes"))


def _changes(
    made: Made, good: Listing, bad: Listing, limits: ChangeLimits | None = None
) -> ChangeList:
    trees = made.tree(good), made.tree(bad)
    return changes_between(made.repository, *trees, FileRules(), limits or ChangeLimits())


def test_one_of_each_form_in_diff_order(made: Made) -> None:
    text = "".join(f"int x{n};\n" for n in range(12)).encode()
    good = {
        b"bin": (FILE, b"\0old"), b"dead.c": (FILE, b"a\nb\n"), b"f.c": (FILE, text),
        b"link": (LINK, b"here"), b"mode": (FILE, b"m"), b"old.c": (FILE, text + b"unique;\n"),
        b"sub": (SUBMODULE, b"\1" * 20),
    }  # fmt: skip
    bad = {
        b"bin": (FILE, b"\0new"), b"f.c": (FILE, text.replace(b"x3;", b"y3;")),
        b"link": (LINK, b"there"), b"mode": (EXECUTABLE, b"m"), b"new.c": (FILE, b"n\n"),
        b"renamed.c": (FILE, text + b"unique;\n"), b"sub": (SUBMODULE, b"\2" * 20),
    }  # fmt: skip
    found = _changes(made, good, bad).changes
    assert [(c.id, c.file, c.old_file, c.form, c.old, c.new) for c in found] == [
        ("c1", "bin", "bin", ChangeForm.BINARY, NO_LINES, NO_LINES),
        ("c2", "dead.c", "dead.c", ChangeForm.DELETED, LineSpan(1, 2), NO_LINES),
        ("c3", "f.c", "f.c", ChangeForm.HUNK, LineSpan(4, 1), LineSpan(4, 1)),
        ("c4", "link", "link", ChangeForm.SYMLINK, NO_LINES, NO_LINES),
        ("c5", "mode", "mode", ChangeForm.MODE, NO_LINES, NO_LINES),
        ("c6", "new.c", "new.c", ChangeForm.ADDED, NO_LINES, LineSpan(1, 1)),
        ("c7", "renamed.c", "old.c", ChangeForm.RENAMED, NO_LINES, NO_LINES),
        ("c8", "sub", "sub", ChangeForm.SUBMODULE, NO_LINES, NO_LINES),
    ]
    patches = {change.form: change.patch for change in found}
    assert patches[ChangeForm.HUNK] == "@@ -4 +4 @@\n-int x3;\n+int y3;\n"
    assert patches[ChangeForm.SYMLINK] == "-here\n+there\n"
    assert patches[ChangeForm.MODE] == "old mode 100644\nnew mode 100755\n"
    assert patches[ChangeForm.RENAMED] == "rename from old.c\nrename to renamed.c\n"
    assert patches[ChangeForm.DELETED] == "deleted file mode 100644\n@@ -1,2 +0,0 @@\n-a\n-b\n"
    assert "Subproject commit " + "02" * 20 in patches[ChangeForm.SUBMODULE]


@pytest.mark.parametrize(
    ("one", "other", "form"),
    [
        ((FILE, b"x"), (LINK, b"x"), ChangeForm.SYMLINK),
        ((LINK, b"x"), (FILE, b"y"), ChangeForm.SYMLINK),
        ((FILE, b"x"), (SUBMODULE, b"\1" * 20), ChangeForm.SUBMODULE),
        ((SUBMODULE, b"\1" * 20), (LINK, b"x"), ChangeForm.SUBMODULE),
        (None, (SUBMODULE, b"\1" * 20), ChangeForm.SUBMODULE),
        (None, (LINK, b"x"), ChangeForm.ADDED),
        (None, (FILE, b""), ChangeForm.ADDED),
        ((FILE, b"\0"), None, ChangeForm.DELETED),
    ],
)
def test_types_that_change(
    made: Made, one: tuple[int, bytes] | None, other: tuple[int, bytes] | None, form: ChangeForm
) -> None:
    good, bad = ({b"p": entry} if entry else {} for entry in (one, other))
    (change,) = _changes(made, good, bad).changes
    assert change.form is form


def test_symbols_and_kinds_come_with_the_changes(made: Made) -> None:
    source = "int f(void)\n{\n  return 1;\n}\n\nint g(void)\n{\n  return 2;\n}\n"
    edited = source.replace("return 1", "return 3").replace("  return 2;\n", "")
    good = {b"src/a.c": (FILE, source.encode()), b"Makefile": (FILE, b"a:\n")}
    bad = {b"src/a.c": (FILE, edited.encode()), b"Makefile": (FILE, b"b:\n")}
    found = _changes(made, good, bad).changes
    assert [(change.kind, change.symbol) for change in found] == [
        (FileKind.BUILD, ""), (FileKind.SOURCE, "f"), (FileKind.SOURCE, "g"),
    ]  # fmt: skip
    assert found[1].patch.startswith("@@ -3 +3 @@ f\n")


def test_bytes_that_are_not_utf8_survive_in_paths_and_patches(made: Made) -> None:
    (change,) = _changes(made, {b"\xe9.c": (FILE, b"\xff\n")}, {b"\xe9.c": (FILE, b"\xfe")}).changes
    assert change.file.encode("utf-8", "surrogateescape") == b"\xe9.c"
    assert change.patch.encode("utf-8", "surrogateescape") == (
        b"@@ -1 +1 @@\n-\xff\n+\xfe\n\\ No newline at end of file\n"
    )


def test_a_very_long_patch_is_cut_and_says_so(made: Made) -> None:
    text = "".join(f"int x{n};\n" for n in range(20_000))
    (change,) = _changes(made, {}, texts(a__c=text)).changes
    assert len(change.patch) < LONGEST + 100
    assert change.patch.endswith(" more lines\n")
    assert change.new == LineSpan(1, 20_000)
    (line,) = _changes(made, texts(a__c="x\n"), texts(a__c="y" * 100_000 + "\n")).changes
    assert len(line.patch) < LONGEST + 100


_HOSTILE = [b"../x", b"/etc/x", b".git/hooks/post-commit", b".GIT/x", b"a/../../x", b"a//x", b"x\r"]


@pytest.mark.parametrize("path", _HOSTILE)
def test_hostile_paths_are_refused_and_the_rest_goes_on(
    made: Made, tmp_path: Path, path: bytes
) -> None:
    """Row 18: the change is there, pruned with the reason; the others are as ever."""
    blobs = [str(made.repository.create_blob(text)) for text in (b"1\n", b"2\n")]
    good, bad = (
        write_tree(made.repository, {path: Entry(FILE, blob), b"good.c": Entry(FILE, blob)})
        for blob in blobs
    )
    changes = changes_between(made.repository, good, bad)
    assert [change.file for change in changes.live] == ["good.c"]
    (refused,) = [change for change in changes.changes if change.pruned]
    assert refused.pruned.startswith("refused: ")
    [note] = changes.notes
    assert note.startswith("1 changed files are left out, because their paths")
    variants = Variants(made.repository, good, bad, changes)
    slot = Slot(tmp_path / "slot", variants.store)
    slot.move_to(variants.tree(frozenset(change.id for change in changes.live)))
    assert [entry.name for entry in slot.path.iterdir()] == ["good.c"]
    assert len(slot.notes) == 1


def test_a_submodule_is_reported_and_never_looked_for(made: Made, tmp_path: Path) -> None:
    """Row 20, the shape of CVE-2025-48384: a trailing carriage return in a path, hooks behind."""
    modules = '[submodule "sub"]\n\tpath = "sub\\r"\n\turl = /nowhere\n\tupdate = !touch fired\n'
    good = {b".gitmodules": (FILE, modules.encode()), b"sub\r": (SUBMODULE, b"\1" * 20)}
    bad = {
        b".gitmodules": (FILE, modules.encode()), b"sub\r": (SUBMODULE, b"\2" * 20),
        b"other": (SUBMODULE, b"\3" * 20), b"sub": (LINK, b".git/modules/sub/hooks"),
    }  # fmt: skip
    changes = _changes(made, good, bad)
    assert [(change.file, change.form) for change in changes.live] == [
        ("other", ChangeForm.SUBMODULE), ("sub", ChangeForm.ADDED),
    ]  # fmt: skip
    variants = Variants(made.repository, made.tree(good), made.tree(bad), changes)
    slot = Slot(tmp_path / "slot", variants.store)
    slot.move_to(variants.bad)
    assert sorted(path.name for path in slot.path.iterdir()) == [".gitmodules", "other", "sub"]
    assert not list((slot.path / "other").iterdir())


def _forms(changes: ChangeList) -> list[tuple[str, ChangeForm]]:
    return sorted({(change.file, change.form) for change in changes.changes})


@pytest.mark.parametrize(
    ("limits", "whole"),
    [
        (ChangeLimits(), []),
        (ChangeLimits(changes=62), ["test_small.c"]),
        (ChangeLimits(changes=12), ["big.c", "test_small.c"]),
        (ChangeLimits(lines=45), ["big.c", "test_small.c"]),
        (ChangeLimits(files=2), ["test_small.c"]),
        (ChangeLimits(changes=0), ["big.c", "small.c", "test_small.c"]),
        (ChangeLimits(file_size=600), ["big.c"]),
    ],
)
def test_limits_fall_back_to_whole_files_and_say_so(
    made: Made, limits: ChangeLimits, whole: list[str]
) -> None:
    """Pruned files first, then the largest; reverting everything is still exact."""

    def version(number: int) -> Listing:
        return {
            name: (FILE, "".join(f"int a{n} = {number};\n\n" for n in range(size)).encode())
            for name, size in ((b"big.c", 50), (b"small.c", 10), (b"test_small.c", 5))
        }

    good, bad = version(1), version(2)
    changes = _changes(made, good, bad, limits)
    expected = [(name, ChangeForm.WHOLE) for name in whole]
    assert [(file, form) for file, form in _forms(changes) if form is ChangeForm.WHOLE] == expected
    assert len(changes.notes) == (1 if whole else 0)
    variants = Variants(made.repository, made.tree(good), made.tree(bad), changes)
    assert variants.tree(changes.ids) == variants.good
    for change in changes.changes:
        if change.form is ChangeForm.WHOLE and limits.file_size > 600:
            assert change.new == LineSpan(1, 2 * {"big.c": 50, "small.c": 10}.get(change.file, 5))


def test_documents_are_taken_whole_before_sources(made: Made) -> None:
    good, bad = (texts(a__md=f"{n}\n\n" * 9, a__c=f"int a = {n};\n\n" * 15) for n in range(2))
    forms = _forms(_changes(made, good, bad, ChangeLimits(changes=20)))
    assert forms == [("a.c", ChangeForm.HUNK), ("a.md", ChangeForm.WHOLE)]


GENERATED = {
    "configure": "#! /bin/sh\n# From configure.in Revision: 1.2\n# Guess values\n",
    "sub/Makefile.in": "# Makefile.in generated automatically by automake 1.4 from Makefile.am\n",
    "new/Makefile.in": "# Makefile.in generated by automake 1.16.5 from Makefile.am.\n",
    "parse.c": "/* A Bison parser, made by GNU Bison 3.8.2.  */\n",
    "getdate.c": "/*  A Bison parser, made from ./getdate.y\n by  GNU Bison version 1.25\n  */\n",
    "y.tab.c": '#ifndef lint\nstatic char const yysccsid[] = "@(#)yaccpar";\n#endif\n',
    "scan.c": "/* A lexical scanner generated by flex */\n",
    "keywords.h": "/* ANSI-C code produced by gperf version 3.1 */\n",
    "config.h.in": "/* config.h.in.  Generated from configure.ac by autoheader.  */\n",
    "po/de.po": "# German\n",
    "old": "#! /bin/sh\n\n# Guess values.\n# Generated automatically using autoconf version 2.13 \n",
    "api.pb.cc": "// Generated by the protocol buffer compiler.  DO NOT EDIT!\n",
    "code.go": "// Code generated by stringer; DO NOT EDIT.\n",
    "wrap.c": "/* This file was automatically generated by SWIG */\n",
}
WRITTEN = {
    "configure.ac": "AC_INIT(a)\n",
    "Makefile.in": "# by hand\n",
    "parse.y": "%{\n#include <a.h>\n%}\n",
    "gen.c": "/* writes the tables */\n",
    "events.c": "/* Handles what is generated by the user: events.\n * Produced by the mouse. */\n",
    "macro.c": "/* The table below is automatically generated by a macro. */\n",
}


def test_a_generated_file_is_one_change_and_comes_last(made: Made) -> None:
    good, bad = (
        {
            name.encode(): (FILE, (head + f"a {n};\n\n\n\n\nb\n\n\nc {n};\n").encode())
            for name, head in {**GENERATED, **WRITTEN}.items()
        }
        for n in range(2)
    )
    changes = _changes(made, good, bad).changes
    assert [change.id for change in changes] == [f"c{n + 1}" for n in range(len(changes))]
    whole = [change.file for change in changes if change.form is ChangeForm.WHOLE]
    assert whole == sorted(GENERATED)
    assert {change.file for change in changes[: -len(GENERATED)]} == set(WRITTEN)


def test_a_blob_beyond_the_limit_is_not_looked_into(made: Made) -> None:
    one, other = (made.tree({b"big": (FILE, fill * 3_000_000)}) for fill in (b"a", b"b"))
    started = time.monotonic()
    limits = ChangeLimits(file_size=1 << 20)
    (change,) = changes_between(made.repository, one, other, limits=limits).changes
    assert change.form is ChangeForm.WHOLE
    assert change.new == NO_LINES
    assert time.monotonic() - started < 2


def test_a_bomb_is_told_at_once(made: Made) -> None:
    blob = str(made.repository.create_blob(b"x"))
    tree = write_tree(made.repository, {b"f": Entry(FILE, blob)})
    for _ in range(10):
        tree = write_tree(made.repository, {b"%d" % n: Entry(0o040000, tree) for n in range(10)})
    started = time.monotonic()
    with pytest.raises(SpaceError, match="10,000,000,000 files"):
        changes_between(made.repository, made.tree({}), tree)
    assert time.monotonic() - started < 2


def test_twenty_thousand_files_and_two_thousand_changes(made: Made) -> None:
    """Generous bounds: this machine measures 1.5 s for the changes, 1 ms for a variant."""
    text = "".join(f"int a{n};\n\n" for n in range(8)).encode()
    good = {f"d{n % 50}/f{n}.c".encode(): (FILE, text) for n in range(20_000)}
    bad = dict(good)
    for path in sorted(good)[:250]:
        bad[path] = (FILE, good[path][1].replace(b";", b" = 1;"))
    one, other = made.tree(good), made.tree(bad)
    started = time.monotonic()
    changes = changes_between(made.repository, one, other)
    assert len(changes.changes) == 2000
    variants = Variants(made.repository, one, other, changes)
    built = time.monotonic()
    assert built - started < 20
    for number in range(1, 101):
        variants.tree(frozenset({f"c{number}", f"c{2001 - number}"}))
    assert (time.monotonic() - built) / 100 < 0.1


def test_the_same_range_gives_the_same_changes(made: Made) -> None:
    """Row 40: nothing depends on the order of sets or on the process."""
    good = {f"f{n}".encode(): (FILE, f"{n}\n".encode() * n) for n in range(30)}
    bad = {f"g{n}".encode(): (FILE, f"{n}\n".encode() * (n + 1)) for n in range(30)}
    first, second = (_changes(made, good, bad) for _ in range(2))
    assert first == second
    assert [change.id for change in first.changes] == [
        f"c{n}" for n in range(1, len(first.changes) + 1)
    ]
    assert all(isinstance(change, Change) for change in first.changes)


def _kept(made: Made, bad: Listing, rules: FileRules | None = None) -> set[str]:
    """Files of ``bad`` that stay as they are, where the good version had them with another text."""
    good = {path: (mode, b"# old\n" + content) for path, (mode, content) in bad.items()}
    trees = made.tree(good), made.tree(bad)
    found = changes_between(made.repository, *trees, rules or FileRules()).changes
    return {change.file for change in found if change.pruned}


def test_what_is_named_like_a_test_and_imported_by_its_package_is_of_the_program(
    made: Made,
) -> None:
    package: Listing = {
        b"src/shop/__init__.py": (FILE, b""),
        b"src/shop/filters.py": (FILE, b"from .tests import (\n    TESTS,\n)\n"),
        b"src/shop/tests.py": (FILE, b"from shop.test.lamps import LAMPS\nTESTS = {}\n"),
        b"src/shop/test/__init__.py": (FILE, b""),
        b"src/shop/test/lamps.py": (FILE, b"LAMPS = 1\n"),
        b"src/shop/test/test_lamps.py": (FILE, b"from shop.filters import *\n"),
        b"tests/helpers.py": (FILE, b"from shop import tests\n"),
        b"tests/test_shop.py": (FILE, b"import helpers\n"),
        b"tools/shown.py": (FILE, b"from tests import helpers\nimport tests.test_shop\n"),
    }
    program = {"src/shop/tests.py", "src/shop/test/__init__.py", "src/shop/test/lamps.py"}
    tests = {"src/shop/test/test_lamps.py", "tests/helpers.py", "tests/test_shop.py"}
    assert _kept(made, package) == tests
    declared = FileRules(tests=(*FileRules().tests, "src/shop/tests.py"))
    assert _kept(made, package, declared) == tests | program


@pytest.mark.parametrize(
    "statement",
    [
        "import shop.tests",
        "import os, shop.tests as found",
        "from . import (\n    cart,  # {'of': \"a\"} = [1]: it is said\n    tests,\n)",
        "from \\\n  shop import \\\n  tests",
        "if 1: from shop import tests",
        "x = '#'; import shop.tests",
        "def read():\n\tfrom .tests import TESTS as ä",
    ],
)
def test_every_form_of_an_import_is_seen(made: Made, statement: str) -> None:
    package: Listing = {
        b"shop/__init__.py": (FILE, b""),
        b"shop/cart.py": (FILE, statement.encode() + b"\n"),
        b"shop/tests.py": (FILE, b"TESTS = {}\n"),
    }
    assert _kept(made, package) == set()
    prose = (FILE, f'"""{statement}"""\n'.encode())
    assert _kept(made, {**package, b"shop/cart.py": prose}) == {"shop/tests.py"}


RUST_GOOD = b"""pub fn total(c: &[u32]) -> u32 {
    c.iter().sum()
}

#[cfg(not(test))]
fn shown() {
    println!("1");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        assert_eq!(total(&[1, 2]), 3);
    }
}
"""


def test_tests_in_a_source_file_are_kept_and_the_rest_of_it_takes_part(made: Made) -> None:
    bad = (
        RUST_GOOD.replace(b".sum()", b".max()")
        .replace(b'"1"', b'"2"')
        .replace(
            b", 3);\n    }",
            b", 3);\n    }\n\n    #[test]\n    fn none() {\n        total(&[]);\n    }",
        )
        .replace(b"use super::*;", b"use super::total;")
    )
    bad += b"\n#[tokio::test]\nasync fn later() {\n    total(&[3]);\n}\n\npub fn new() {}\n"
    found = _changes(made, {b"src/lib.rs": (FILE, RUST_GOOD)}, {b"src/lib.rs": (FILE, bad)})
    kept = "".join(change.patch for change in found.changes if change.kind is FileKind.TEST)
    rest = "".join(change.patch for change in found.live)
    assert all(change.pruned for change in found.changes if change.kind is FileKind.TEST)
    for part, text in (("+    fn none", kept), ("use super::total", kept), (".max()", rest)):
        assert part in text
    assert '"2"' in rest
    assert "later" in kept
    assert "later" not in rest
    assert "pub fn new" in rest
