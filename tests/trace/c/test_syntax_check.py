"""What a compiler alone says against a variant, and what it leaves to the build."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from traced_programs import Laboratory

from afterd.limits import WORK, Limits
from afterd.model.change import Change, ChangeSet, FileKind
from afterd.model.location import LineSpan
from afterd.trace.c.build.compilations import compilations
from afterd.trace.c.build.syntax_check import SyntaxCheck

FILES = {
    "list.h": "struct list { int length; int *items; };\n#define LIMIT 10\n",
    "list.c": '#include "list.h"\nint total(struct list *l) { return l->items[0] + LIMIT; }\n',
    "main.c": '#include "list.h"\nint total(struct list *);\nint main(void) { return LIMIT; }\n',
}


@pytest.fixture
def project(laboratory: Laboratory, tmp_path: Path) -> tuple[Path, Laboratory]:
    root = tmp_path / "slot"
    (root / "out").mkdir(parents=True)
    for name, text in FILES.items():
        (root / name).write_text(text)
    made = laboratory.traced("-I", "..", "../list.c", "../main.c", "-o", "p", cwd=root / "out")
    assert made.status == 0, made.errors
    return root, laboratory


def _against(project: tuple[Path, Laboratory], texts: Mapping[str, str | None]) -> str:
    check, changes = _check(project, texts)
    return check.against(frozenset(changes))


def _check(
    project: tuple[Path, Laboratory], texts: Mapping[str, str | None]
) -> tuple[SyntaxCheck, Mapping[str, Change]]:
    root, laboratory = project
    changes = {f"c{i}": _change(f"c{i}", name) for i, name in enumerate(sorted(texts))}

    def texts_of(reverted: ChangeSet) -> dict[str, bytes | None]:
        found = {changes[c].file: texts[changes[c].file] for c in reverted}
        return {file: None if text is None else text.encode() for file, text in found.items()}

    built = compilations(laboratory.store.directory)
    return SyntaxCheck(root, built, changes, texts_of, Limits().build), changes


def _change(identifier: str, file: str) -> Change:
    kind = FileKind.BUILD if file == "Makefile" else FileKind.SOURCE
    return Change(identifier, file, file, LineSpan(1, 1), LineSpan(1, 1), kind=kind)


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ({"list.c": "int total(void) { return MISSING; }\n"}, "MISSING"),
        ({"list.h": "struct list { int length; };\n#define LIMIT 1\n"}, "items"),
        ({"list.h": "struct list { int *items; };\n"}, "LIMIT"),
        ({"list.h": "struct list { int *items; };\n", "list.c": "", "main.c": ""}, ""),
        ({"list.c": "int total(void) { return elsewhere(); }\n"}, ""),  # the linker's
        ({"list.c": "int total(void) { return MISSING; }\n", "Makefile": "-DMISSING=1\n"}, ""),
        ({"notes.txt": "nothing"}, ""),
        # a source that the variant lacks is not compiled (pkgconf's queue.c, which came with the type that it uses)
        ({"list.h": "#define LIMIT 1\n", "list.c": None}, ""),
        # a header that the variant lacks is not there to be included (lighttpd's ck.h)
        ({"list.h": None}, "'list.h' file not found"),
        (
            {"list.h": None, "list.c": "int total;\n", "main.c": "int main(void) { return 0; }\n"},
            "",
        ),
    ],
)
def test_a_compiler_speaks_against_what_does_not_compile(
    project: tuple[Path, Laboratory], texts: dict[str, str | None], said: str
) -> None:
    answer = _against(project, texts)
    assert said in answer
    assert bool(answer) is bool(said)


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ({"list.c": "int total(void) { return half(4); }\n"}, "half"),
        ({"list.c": "static int half(int);\nint total(void) { return half(4); }\n"}, "half"),
        ({"list.c": "int total(void) { return elsewhere(); }\n"}, ""),
    ],
)
def test_a_function_that_a_file_had_for_itself_is_missed_by_the_linker(
    laboratory: Laboratory, tmp_path: Path, texts: dict[str, str | None], said: str
) -> None:
    """libfyaml: three variants without a static function that they call were each built to its end."""
    root = tmp_path / "slot"
    root.mkdir()
    (root / "list.c").write_text(
        "static inline int half(int n) { return n / 2; }\nint total(void) { return half(4); }\n"
    )
    (root / "main.c").write_text("int main(void) { return 0; }\n")
    made = laboratory.traced("list.c", "main.c", "-o", "p", cwd=root)
    assert made.status == 0, made.errors
    answer = _against((root, laboratory), texts)
    assert said in answer
    assert bool(answer) is bool(said)


def test_a_source_outside_the_tree_tells_of_the_headers_that_it_includes(
    laboratory: Laboratory, tmp_path: Path
) -> None:
    """toml++: its program is the user's own, and all that changes are headers, of which none was ever compiled."""
    root = tmp_path / "slot"
    root.mkdir()
    (root / "numbers.h").write_text('#include "numbers.inl"\n')
    (root / "numbers.inl").write_text("#define LIMIT 10\n")
    (tmp_path / "main.c").write_text('#include "numbers.h"\nint main(void) { return LIMIT; }\n')
    made = laboratory.traced("-I", ".", "../main.c", "-o", "p", cwd=root)
    assert made.status == 0, made.errors
    assert "LIMIT" in _against((root, laboratory), {"numbers.inl": "#define MOST 10\n"})


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ({"list.c": "int total(void) { return MISSING; }\n"}, "MISSING"),
        ({"main.c": '#include "words.h"\nint main(void) { return MISSING; }\n'}, ""),
        ({"words.c": "int scan(void) { return MISSING; }\n"}, ""),
    ],
)
def test_a_grammar_leaves_what_is_not_made_of_it_to_the_compiler(
    project: tuple[Path, Laboratory], texts: dict[str, str | None], said: str
) -> None:
    """Libxkbcommon: with a line of its grammar undone no file was compiled, and forty sets were built in vain."""
    root, laboratory = project
    (root / "words.l").write_text("%%\n")
    (root / "words.c").write_text('#line 1 "words.l"\nint scan(void) { return 0; }\n')
    (root / "words.h").write_text("/* made of words.l */\n")
    (root / "main.c").write_text(f'#include "words.h"\n{FILES["main.c"]}')
    made = laboratory.traced("-I", "..", "../words.c", "-c", cwd=root / "out")
    assert made.status == 0, made.errors
    answer = _against(project, {**texts, "words.l": "%%\n%%\n"})
    assert said in answer
    assert bool(answer) is bool(said)


def test_the_work_tree_is_left_alone(project: tuple[Path, Laboratory]) -> None:
    before = {path: path.stat().st_mtime_ns for path in project[0].rglob("*")}
    assert _against(project, {"list.c": "int x = Y;\n"})
    assert {path: path.stat().st_mtime_ns for path in project[0].rglob("*")} == before


def test_a_file_is_asked_again_only_when_something_that_it_reads_is_another(
    project: tuple[Path, Laboratory],
) -> None:
    """The compiler is gone after the first question; what it said is known."""
    texts = {"list.h": "struct list { int *items; };\n#define LIMIT 5\n", "list.c": "int x = Y;\n"}
    check, changes = _check(project, texts)
    header, both = frozenset({"c1"}), frozenset(changes)
    assert not check.against(header)
    said = check.against(both)
    assert "Y" in said
    directory = project[0] / "out"
    directory.rename(directory.with_name("gone"))
    assert not check.against(header)
    assert check.against(both) == said


def test_a_check_costs_what_is_read_for_it_and_the_same_text_nothing(
    project: tuple[Path, Laboratory],
) -> None:
    comment = {"list.c": FILES["list.c"] + "// seen\n"}
    check, changes = _check(project, comment)
    assert not check.against(frozenset(changes))
    small = check.work()
    assert 0 < small < WORK.second // 10
    large, changed = _check(project, {"list.c": FILES["list.c"] + "int a = 1;\n" * 2000})
    assert "redefinition" in large.against(frozenset(changed))
    assert large.work() > small + 2000 * WORK.compiler
    assert not check.against(frozenset(changes))
    assert check.work() == small


def test_a_text_that_differs_in_comments_is_read_once(project: tuple[Path, Laboratory]) -> None:
    root, laboratory = project
    texts = {"c0": "// one\n", "c1": "/* another */\n"}

    def texts_of(reverted: ChangeSet) -> dict[str, bytes]:
        return {
            "list.c": "".join([FILES["list.c"], *(texts[c] for c in sorted(reverted))]).encode()
        }

    built = compilations(laboratory.store.directory)
    changes = {name: _change(name, "list.c") for name in texts}
    check = SyntaxCheck(root, built, changes, texts_of, Limits().build)
    assert not check.against(frozenset(["c0"]))
    before = check.work()
    assert not check.against(frozenset(["c1"]))
    assert not check.against(frozenset(["c0", "c1"]))
    assert check.work() == before


def test_of_the_files_that_include_a_header_those_are_read_that_may_tell(
    project: tuple[Path, Laboratory],
) -> None:
    """A field that list.c alone names: main.c compiles without it, and is not asked."""
    header = "struct list { int length; };\n#define LIMIT 10\n"
    check, changes = _check(project, {"list.h": header})
    assert "items" in check.against(frozenset(changes))
    both, changed = _check(project, {"list.h": FILES["list.h"].replace("10", "11")})
    assert not both.against(frozenset(changed))
    assert both.work() > check.work()
