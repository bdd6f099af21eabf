"""What a failing test's own text is: the functions that ran, else what its name and command speak of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from made_changes import change

from afterd.causality.textual_similarity import TitledText
from afterd.pipeline.text_of_test import (
    executed_functions,
    named_texts,
    text_of_change,
    texts_of_scripts,
    without_folders,
)
from afterd.vcs.kinds import FileRules

SUITE = b"""\
import ops

def check(value):
    assert value

class TestAdd:
    def test_one(self):
        check(ops.add(1, 1) == 2)

    @mark(
        "slow"
    )
    def test_two(self):
        check(ops.add(2, 2) == 4)

    def test_within(self):
        def added():
            return ops.add(1, 2)

        check(added() == 3)
"""
WITHIN = TitledText(
    "TestAdd.test_within",
    "    def test_within(self):\n        def added():\n            return ops.add(1, 2)\n\n        check(added() == 3)",
)
CHECK = TitledText("check", "def check(value):\n    assert value")
ONE = TitledText("TestAdd.test_one", "    def test_one(self):\n        check(ops.add(1, 1) == 2)")


def content(**files: bytes) -> Callable[[str], bytes | None]:
    return {name.replace("__", "/") + ".py": text for name, text in files.items()}.get


def test_functions_that_ran_and_not_what_was_only_defined() -> None:
    """Lines 1, 3, 6, 7, 10 to 13 and 16 run where the file is imported."""
    executed = {
        "tests/test_ops.py": frozenset({1, 3, 4, 6, 7, 8, 10, 11, 13, 16, 17, 18, 20}),
        "ops.py": frozenset({1, 2}),
        "tests/gone.py": frozenset({1}),
    }
    files = content(tests__test_ops=SUITE, ops=b"def add(a, b):\n    return a + b\n")
    assert [*executed_functions(files, executed, FileRules())] == [CHECK, ONE, WITHIN]


@pytest.mark.parametrize(
    ("typed", "texts"),
    [
        ("pytest -q tests/test_ops.py::TestAdd::test_one", [ONE]),
        ("tests/test_ops.py::TestInherits::test_one[a b]", [ONE]),
        ("pytest 'tests/test_ops.py'", [TitledText("", SUITE.decode())]),
        ("cd tests && ./run_them", []),
        ("", []),
    ],
)
def test_what_a_command_speaks_of(typed: str, texts: list[TitledText]) -> None:
    assert [*named_texts(content(tests__test_ops=SUITE), typed, ".")] == texts


def test_files_are_looked_for_where_the_command_runs() -> None:
    files = content(lib__tests__test_ops=SUITE)
    assert [*named_texts(files, "pytest tests/test_ops.py::test_one", "lib")] == [ONE]


@pytest.mark.parametrize(
    ("typed", "left"),
    [
        ("bash /work/out/repro/t.sh", "bash t.sh"),
        ("sh -c '/home/me/a b/run' ~/bin/it", "sh -c 'a b/run' it"),
        ("ctest --test-dir b -R url", "ctest --test-dir b -R url"),
        ("./tests/run.sh ../data/in.md", "./tests/run.sh ../data/in.md"),
        (
            "PYTHONPATH=/x/lib:src python -m pytest tests/a.py",
            "PYTHONPATH=lib:src python -m pytest tests/a.py",
        ),
    ],
)
def test_where_somebody_keeps_a_script_says_nothing(typed: str, left: str) -> None:
    assert without_folders(typed) == left


def test_scripts_that_no_version_has_are_read(tmp_path: Path) -> None:
    tree, elsewhere = tmp_path / "tree", tmp_path / "out" / "t.sh"
    (tree / "checks").mkdir(parents=True)
    (tree / "checks" / "repro.sh").write_text("./url --join a b\n")
    elsewhere.parent.mkdir()
    elsewhere.write_text("./url --parse /tmp/case/in.txt\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "pytest").write_text("import pytest\n")
    (tree / "url").write_bytes(b"\x7fELF\x00\xff")
    typed = f"{tmp_path}/bin/pytest repro.sh && sh {elsewhere} ../url {'long' * 200}"
    found = [each.body for each in texts_of_scripts(typed, tree, "checks")]
    assert found == ["./url --join a b\n", "./url --parse in.txt\n"]


def test_a_change_says_what_its_commits_say() -> None:
    made = replace(change(1), file="url.py", symbol="URL.join", commits=("a", "unknown"))
    said = text_of_change(made, {"a": "Join keeps empty segments"})
    assert said.title == "url.py URL.join"
    assert said.body.startswith("Join keeps empty segments")
