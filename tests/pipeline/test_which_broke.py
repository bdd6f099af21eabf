"""Which tests broke: suites of real repositories run at both ends, each test as few times as can be."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from pipeline_runs import repository

from afterd.config import Settings
from afterd.errors import TestError
from afterd.model.explanation import Status
from afterd.model.progress import Silent
from afterd.pipeline.broken import Broken, which_broke
from afterd.workspace.workspace import opened_workspace, wanted_range

CODE = "def f(x):\n    return x + 1\n\n\ndef g(x):\n    return x\n"
BAD = CODE.replace("x + 1", "x + 2")
LOG = "import os\n\ndef ran(name):\n    with open(os.environ['RAN'], 'a') as f:\n        f.write(name + '\\n')\n"


class Heard(Silent):
    """Remembers how far suites were."""

    def __init__(self) -> None:
        self.counts: list[tuple[int, int, int]] = []
        self.stages: list[str] = []

    def stage(self, name: str, detail: str = "") -> None:
        self.stages.append(f"{name} {detail}".strip())

    def counted(self, done: int, found: int, red: int) -> None:
        self.counts.append((done, found, red))


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the repository goes; what its tests run is written beside it."""
    monkeypatch.setenv("RAN", str(tmp_path / "ran"))
    return tmp_path / "r"


def look(
    path: Path, *versions: Mapping[str, str], heard: Heard | None = None, **given: object
) -> Broken:
    """Make the repository, if it is not there, and look."""
    if not path.exists():
        repository(path, {"calc.py": CODE, "log.py": LOG, **versions[0]}, *versions[1:])
    settings = replace(Settings(path, python=sys.executable), **given)  # type: ignore[arg-type]
    with opened_workspace(settings) as workspace:
        range_ = wanted_range(workspace, settings)
        return which_broke(workspace, settings, range_, heard or Silent())


def ran(path: Path) -> list[str]:
    """The tests that were run since this was asked last."""
    log = path.parent / "ran"
    names = log.read_text().split()
    log.unlink()
    return names


def suite_of(**bodies: str) -> str:
    """A test file whose tests say that they ran."""
    functions = [f"def test_{n}():\n    ran('{n}')\n    {body}\n" for n, body in bodies.items()]
    return "from calc import f, g\nfrom log import ran\n\n\n" + "\n\n".join(functions)


def names(broken: Broken) -> list[str]:
    return [test.recipe.test_id.partition("::")[2] for test in broken.tests]


def test_each_red_test_is_one_of_three_things(made: Path) -> None:
    """Broke, red before, or new or of another text: that is for the search to say, after what broke."""
    old = suite_of(
        big="x = f(1)\n    assert x == 2", ok="pass", before="assert 0", changed="assert f(1) == 2"
    )
    new = suite_of(
        big="x = f(1)\n    assert x == 2",
        small="assert f(1) == 2",
        ok="pass",
        before="assert 0",
        changed="assert f(1) == 5",
        new="assert f(1) == 9",
    )
    old += "\n\ndef test_small():\n    assert f(1) == 2\n"
    heard = Heard()
    broken = look(made, {"test_calc.py": old}, {"calc.py": BAD, "test_calc.py": new}, heard=heard)
    assert names(broken) == ["test_changed", "test_small", "test_big", "test_new"], (
        "smaller ones first"
    )
    assert broken.notes == ("1 test was red before: test_calc.py::test_before.",)
    assert (6, 6, 5) in heard.counts
    assert {(5, 5), (2, 2)} <= {count[:2] for count in heard.counts}, "then only what is red"


def test_nothing_is_red(made: Path) -> None:
    broken = look(made, {"test_calc.py": suite_of(a="pass", b="pass")}, {"calc.py": BAD})
    assert (broken.tests, broken.status) == ((), Status.GREEN)
    assert broken.reason == "All 2 tests pass at the bad version."


def test_a_test_that_takes_its_process_with_it_or_never_ends(made: Path) -> None:
    """The others are run all the same, and none twice."""
    bad = suite_of(a="pass", dies="f(1) == 2 or __import__('os').abort()", b="assert f(1) == 2")
    bad += "\n\ndef test_hangs():\n    ran('hangs')\n    while f(1) != 2: __import__('time').sleep(1)\n"
    bad += "\n\ndef test_z():\n    ran('z')\n"
    broken = look(made, {"test_calc.py": bad}, {"calc.py": BAD}, test_timeout=3.0)
    assert sorted(names(broken)) == ["test_b", "test_dies", "test_hangs"]
    log = ran(made)
    assert (log.count("a"), log.count("z")) == (1, 1), "green tests are run at the bad end alone"


def test_an_interrupted_run_is_taken_up_and_a_whole_one_not_repeated(made: Path) -> None:
    files = {"test_calc.py": suite_of(a="pass", b="assert f(1) == 2", c="pass")}
    look(made, files, {"calc.py": BAD})
    assert set(ran(made)) == {"a", "b", "c"}
    [reports] = [
        file for file in (made / ".git/afterd/suites").glob("*.jsonl") if file.stem != "some"
    ]
    whole = reports.read_bytes().splitlines(keepends=True)
    ended = [line for line in whole if b"::test_c" not in line and b"whole" not in line]
    reports.write_bytes(b"".join(ended) + b'{"id": "test_co')  # killed in the middle of a line
    assert names(look(made)) == ["test_b"]
    assert set(ran(made)) == {"b", "c"}
    assert names(look(made)) == ["test_b"]
    assert set(ran(made)) == {"b"}, "what was red, at both ends"


def test_the_first_that_broke_ends_the_suite(made: Path) -> None:
    """One that was red before does not."""
    bodies = {"a": "assert 0", "b": "assert f(1) == 2", "c": "assert f(1) == 2", "d": "pass"}
    files = {"test_calc.py": suite_of(**bodies), "pytest.ini": "[pytest]\naddopts = -p no:xdist\n"}
    broken = look(made, files, {"calc.py": BAD}, first=True)
    assert names(broken) == ["test_b"]
    assert "d" not in ran(made)


def test_workers_side_by_side_do_not_break_tests(made: Path) -> None:
    body = "assert 'PYTEST_XDIST_WORKER' not in __import__('os').environ"
    broken = look(made, {"test_calc.py": suite_of(a=body, b="pass")}, {"calc.py": BAD})
    assert (broken.tests, broken.status) == ((), Status.GREEN)


def test_what_is_not_installed_is_said_with_its_command(made: Path) -> None:
    """A module, and a plugin's fixture; nothing else is red."""
    files = {
        "test_calc.py": "import yaml_is_not_here\n\ndef test_a(): pass\n",
        "test_more.py": "def test_b(mocker): pass\n",
    }
    python = re.escape(sys.executable)
    with pytest.raises(
        TestError, match=f"lacks the module yaml_is_not_here; install it: `{python} -m pip"
    ):
        look(made, files, {"calc.py": BAD})
    broken = look(
        made.parent / "also",
        {**files, "test_z.py": suite_of(z="assert f(1) == 2")},
        {"calc.py": BAD},
    )
    assert names(broken) == ["test_z"]
    assert [note.split(" for want")[0] for note in broken.notes] == ["1 test was not run"] * 2
    assert "pip install pytest-mock`" in broken.notes[1]


def test_many_that_were_red_before_are_not_walked_back_for(made: Path) -> None:
    bodies = {f"n{n}": "assert 0" for n in range(5)}
    broken = look(made, {"test_calc.py": suite_of(**bodies)}, {"calc.py": BAD})
    assert (broken.tests, broken.status) == ((), Status.ALREADY_RED)
    assert "5 tests were red before" in broken.reason
    assert "--history" in broken.reason
    assert len(look(made, history=True).tests) == 5


UNREADABLE = "import unittest\n\nraise RuntimeError('no settings')\n"


def unittest_files(**files: str) -> dict[str, str]:
    """Test modules for unittest."""
    return {f"test_{name}.py": code for name, code in files.items()}


def test_modules_of_which_none_can_be_imported_are_no_tests_that_were_red(tmp_path: Path) -> None:
    """Django-taggit's without settings: "7 tests were red before … Nothing broke", of none that ran."""
    files = unittest_files(**{f"n{n}": UNREADABLE for n in range(5)})
    with pytest.raises(TestError) as raised:
        look(tmp_path / "r", files, {"calc.py": BAD})
    said = str(raised.value)
    assert said.startswith(
        "unittest ran no test: its files can be loaded at neither end of the range (test_n0,"
    )
    assert "RuntimeError: no settings" in said
    assert "-- COMMAND" in said


def test_modules_that_cannot_be_imported_beside_others_are_told_as_that(tmp_path: Path) -> None:
    good = (
        "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        pass\n"
    )
    files = unittest_files(**{f"n{n}": UNREADABLE for n in range(5)}, good=good)
    broken = look(tmp_path / "r", files, {"calc.py": BAD})
    assert broken.status is Status.ALREADY_RED
    assert broken.reason.startswith(
        "5 test files cannot be loaded at either end, so what is in them was not run: test_n0,"
    )
    assert "RuntimeError: no settings" in broken.reason
    assert "Nothing broke" not in broken.reason


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"pytest.ini": "[pytest]\naddopts = --no-such-option\n"}, "no-such-option"),
        ({"conftest.py": "raise RuntimeError('the database is away')\n"}, "the database is away"),
        (
            {"pytest.ini": "[pytest]\naddopts = --reruns=3\n"},
            "lacks pytest's plugin pytest-rerunfailures",
        ),
    ],
)
def test_the_runners_own_words(made: Path, files: Mapping[str, str], said: str) -> None:
    with pytest.raises(TestError, match=said):
        look(made, {"test_calc.py": suite_of(a="pass"), **files}, {"calc.py": BAD})


@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs CMake")
def test_one_thing_that_is_missing_is_one_answer_for_all_tests(made: Path) -> None:
    """Of a runner that cannot choose tests, too: what each said is in its report."""
    lists = "cmake_minimum_required(VERSION 3.21)\nproject(x NONE)\nenable_testing()\n"
    for name in ("one", "two"):
        lists += f'add_test(NAME {name} COMMAND sh -c "no-such-tool {name}")\n'
    made.mkdir()
    files = {"CMakeLists.txt": lists, "a.c": "int a;\n"}
    repository(made, files, {"a.c": "int b;\n"})
    with pytest.raises(TestError, match="lacks the program no-such-tool") as raised:
        look(made, {})
    assert str(raised.value).count("no-such-tool;") == 1, "said once"


@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs CMake")
def test_a_suite_of_no_test_is_said(made: Path) -> None:
    """It was confirmed first, and then asked for another version."""
    made.mkdir()
    lists = "cmake_minimum_required(VERSION 3.21)\nproject(x NONE)\nenable_testing()\n"
    repository(made, {"CMakeLists.txt": lists, "a.c": "int a;\n"}, {"a.c": "int b;\n"})
    with pytest.raises(TestError, match="CTest ran no test of the bad version"):
        look(made, {})


def test_what_the_good_version_lacks_is_said(made: Path) -> None:
    """Its modules cannot be read for want of what the bad one needs no more: one sentence for all tests."""
    files = {
        "calc.py": "import yaml_is_not_here\n" + CODE,
        "test_calc.py": suite_of(a="assert f(1) == 2"),
    }
    said = (
        "At the good version: The environment of .* lacks the module yaml_is_not_here; install it"
    )
    with pytest.raises(TestError, match=said):
        look(made, files, {"calc.py": BAD})


def test_of_some_tests_what_the_good_version_lacks_is_a_note(made: Path) -> None:
    files = {
        "other.py": "import yaml_is_not_here\n",
        "test_calc.py": suite_of(a="assert f(1) == 2"),
        "test_other.py": "import other\n\ndef test_b():\n    assert other.x == 1\n",
    }
    broken = look(made, files, {"calc.py": BAD, "other.py": "x = 2\n"})
    assert names(broken) == ["test_a"]
    [note] = broken.notes
    assert note.startswith("1 test was not run for want of something: The environment of")


def test_of_unittest_too_only_what_is_red_is_run_at_the_good_version(made: Path) -> None:
    bodies = {f"n{n}": "self.assertEqual(f(1), 2)" for n in range(5)} | {"a": "pass"}
    text = "import unittest\nfrom calc import f\nfrom log import ran\n\n\nclass T(unittest.TestCase):\n"
    text += "".join(
        f"    def test_{name}(self):\n        ran({name!r})\n        {body}\n"
        for name, body in bodies.items()
    )
    broken = look(made, {"test_calc.py": text}, {"calc.py": BAD})
    assert sorted(each.recipe.test_id for each in broken.tests) == [
        f"test_calc.T.test_n{n}" for n in range(5)
    ]
    log = ran(made)
    assert (log.count("a"), log.count("n0")) == (1, 2)
