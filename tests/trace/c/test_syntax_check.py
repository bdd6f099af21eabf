"""What a compiler alone says against a variant, and what it leaves to the build."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from traced_programs import Laboratory

from afterd.limits import Limits
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


def _against(project: tuple[Path, Laboratory], texts: Mapping[str, str]) -> str:
    check, changes = _check(project, texts)
    return check.against(frozenset(changes))


def _check(
    project: tuple[Path, Laboratory], texts: Mapping[str, str]
) -> tuple[SyntaxCheck, Mapping[str, Change]]:
    root, laboratory = project
    changes = {f"c{i}": _change(f"c{i}", name) for i, name in enumerate(sorted(texts))}

    def texts_of(reverted: ChangeSet) -> dict[str, bytes]:
        return {changes[c].file: texts[changes[c].file].encode() for c in reverted}

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
    ],
)
def test_a_compiler_speaks_against_what_does_not_compile(
    project: tuple[Path, Laboratory], texts: dict[str, str], said: str
) -> None:
    answer = _against(project, texts)
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
