"""Tests that nobody named: found, explained, and replayed with what their runner sets."""

from __future__ import annotations

import json
import sys
import time
import venv
from pathlib import Path

import pytest
from explanation_samples import RUNNING_EXAMPLE
from pipeline_runs import afterd, repository

from afterd.config import Budget, Settings
from afterd.localization.ranker import Ranker
from afterd.model.explanation import Explanation
from afterd.model.progress import Progress, Silent
from afterd.pipeline import explain
from afterd.store.explanations import load
from afterd.workspace import detected_tests, opened_workspace, suite_of, wanted_range

GOOD = "def f(x):\n    y = x + 1\n    return y\n\n\ndef g(x):\n    return x\n"
TEST = """\
import unittest

from package.a import f, g


class Test(unittest.TestCase):
    def test_f(self):
        self.assertEqual(f(1), 2)

    def test_g(self):
        self.assertEqual(g(1), 1)
"""


def test_a_package_below_src(tmp_path: Path) -> None:
    """The package is found by its tests through PYTHONPATH alone, which a replay needs as well."""
    path = tmp_path / "r"
    for folder in ("src/package", "tests"):
        (path / folder).mkdir(parents=True)
    repository(
        path,
        {
            "src/package/__init__.py": "",
            "src/package/a.py": GOOD,
            "tests/__init__.py": "",
            "tests/test_a.py": TEST,
            "pyproject.toml": '[project]\nname = "package"\nversion = "1"\n',
        },
        {"src/package/a.py": GOOD.replace("x + 1", "x + 2").replace("return x", "return 1 * x")},
    )
    done = afterd("explain", "--format", "json", cwd=path)
    assert done.status == 0, done.err
    [found] = json.loads(done.out)["explanations"]
    assert "test_f" in found["test"]
    assert [change["id"] for change in found["root"]] == ["c1"]
    assert afterd("replay", "1", cwd=path).out.startswith("The test passes")
    assert afterd("replay", "1", "--revert", "c2", cwd=path).out.startswith("The test fails as")


def test_the_environment_in_the_work_tree_runs_and_is_traced(tmp_path: Path) -> None:
    """A slot has no ``.venv``; what is installed there is not taken for the user's own modules."""
    path = tmp_path / "r"
    for folder in ("package", "tests"):
        (path / folder).mkdir(parents=True)
    test = "from package.a import f, g\n\n\ndef test_f():\n    assert f(g(1)) == 2\n\n\n"
    test += "def test_g():\n    assert g(1) == 1\n"
    files = {"package/__init__.py": "", "package/a.py": GOOD, "tests/test_a.py": test}
    repository(
        path,
        {**files, ".gitignore": ".venv\n"},
        {"package/a.py": GOOD.replace("x + 1", "x + 2").replace("return x", "return 1 * x")},
    )
    venv.create(path / ".venv", with_pip=False, symlinks=True)
    [site] = (path / ".venv").glob("lib/python3.*/site-packages")
    for name in ("pytest", "_pytest", "py.py", "pluggy", "iniconfig", "packaging", "pygments"):
        (site / name).symlink_to(Path(pytest.__file__).parents[1] / name)
    done = afterd("explain", "--format", "json", cwd=path)
    assert done.status == 0, done.err
    assert "testing with pytest of .venv" in done.err
    [found] = json.loads(done.out)["explanations"]
    assert [change["id"] for change in found["root"]] == ["c1"]
    assert any("y = x + 2" in step["text"] for step in found["tree"]["steps"])
    assert found["ranking"], found["notes"]


def test_a_python_command_of_the_projects_own_has_a_ranking(tmp_path: Path) -> None:
    """Of a suite that was found only pytest's, unittest's and Django's were counted, and no word said why."""
    (tmp_path / "r").mkdir()
    checks = (
        "import unittest\n\nfrom calc import half, twice\n\n\nclass All(unittest.TestCase):\n"
        "    def test_twice(self):\n        self.assertEqual(twice(2), 4)\n\n"
        "    def test_half(self):\n        self.assertEqual(half(4), 2)\n\n\nunittest.main()\n"
    )
    good = "def twice(n):\n    return n * 2\n\n\ndef half(n):\n    return n / 2\n"
    files = {
        "tox.ini": "[testenv]\ncommands = python all_test_cases.py\n",
        "all_test_cases.py": checks,
        "calc.py": good,
    }
    where = repository(tmp_path / "r", files, {"calc.py": good.replace("n * 2", "n * 3")})
    done = afterd("explain", "HEAD~1..HEAD", "--format", "json", cwd=where)
    assert done.status == 0, done.err
    [found] = json.loads(done.out)["explanations"]
    assert "all_test_cases.py` in the project's own files" in done.err
    assert [(line["file"], line["line"]) for line in found["ranking"]][:1] == [("calc.py", 2)]


def test_a_version_before_a_setup_script_has_nothing_to_build(tmp_path: Path) -> None:
    """Tomli got one for mypyc, and the release before it "does not build": python can't open file 'setup.py'."""
    setup = "from setuptools import setup\n\nsetup(name='a', py_modules=['a'], ext_modules=[])\n"
    (tmp_path / "r").mkdir()
    test = "from a import f\n\n\ndef test_f():\n    assert f(1) == 2\n"
    bad = {"a.py": GOOD.replace("x + 1", "x + 2"), "setup.py": setup}
    where = repository(tmp_path / "r", {"a.py": GOOD, "test_a.py": test}, bad)
    done = afterd("explain", "HEAD~1..HEAD", "--format", "json", cwd=where)
    assert done.status == 0, done.err
    [found] = json.loads(done.out)["explanations"]
    assert [change["file"] for change in found["root"]] == ["a.py"]


def one_function(path: Path, bad: str) -> Path:
    """A repository of a module, which becomes ``bad``, and a test of its function, which says what is wrong."""
    path.mkdir()
    test = "from a import f\n\n\ndef test_f():\n    assert f(1) == 2\n"
    return repository(path, {"a.py": GOOD, "test_a.py": test}, {"a.py": bad})


def test_an_interrupt_while_lines_are_ranked_loses_no_answer(tmp_path: Path) -> None:
    """The answer is given before its suite is counted, and is kept."""
    path = one_function(tmp_path / "r", GOOD.replace("x + 1", "x + 2"))
    given = list[tuple[Explanation, ...]]()

    class Impatient(Silent):
        """Who reads it ends what comes next."""

        def stage(self, *_told: str, **_more: str) -> None:
            raise KeyboardInterrupt

    def read(answers: tuple[Explanation, ...]) -> Progress:
        given.append(answers)
        return Impatient()

    settings = Settings(repository=path, range="HEAD~1..HEAD")
    [answer] = explain(settings, answered=read)
    assert [change.id for change in answer.root] == ["c1"]
    assert [[each.id for each in answers] for answers in given] == [[answer.id]]
    assert "No ranking of lines: it was interrupted." in answer.notes
    with opened_workspace(settings) as workspace:
        assert load(workspace.store, answer.id) == answer


def test_a_busy_machine_gives_no_other_reason_for_a_missing_ranking(tmp_path: Path) -> None:
    path = one_function(tmp_path / "r", GOOD.replace("x + 1", "x + 2"))
    settings = Settings(path, test=("sh", "test.sh"), budget=Budget(seconds=60.0))
    with opened_workspace(settings) as workspace:
        wanted = wanted_range(workspace, settings)
        tree = wanted.variants.bad
        suite = suite_of(workspace, settings, tree, Silent())
        notes = [
            Ranker(workspace, settings, tree, suite, Silent(), began=began)
            .ranked(RUNNING_EXAMPLE, wanted)
            .notes[-1]
            for began in (time.monotonic(), time.monotonic() - 59)
        ]
    assert notes[0] == notes[1]
    assert "a test command that is given is one test" in notes[0]


def test_what_is_missing_at_both_ends_is_said_and_no_history_walked(tmp_path: Path) -> None:
    """What unittest's report says of each test is read, as what pytest says is."""
    path = tmp_path / "r"
    (path / "package").mkdir(parents=True)
    test = "import unittest\nimport absent_here\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        pass\n"
    files = {"package/__init__.py": "", "package/a.py": GOOD, "package/test.py": test}
    repository(path, files, {"package/a.py": GOOD.replace("x + 1", "x + 2")})
    done = afterd("explain", cwd=path)
    assert done.status == 13, done.out
    assert "lacks the module absent_here; install it: `" in " ".join(done.err.split())
    assert "history" not in done.err


def test_what_only_the_good_version_lacks_is_said_of_it(tmp_path: Path) -> None:
    """A project that dropped a package (cleo's rapidfuzz): which version asks for it was not said."""
    good = "def f(x):\n    import absent_here\n\n    return x + 1\n"
    test = "from a import f\n\n\ndef test_f():\n    assert f(1) == 2\n"
    where = repository(
        tmp_path / "r", {"a.py": good, "test_a.py": test}, {"a.py": "def f(x):\n    return x + 2\n"}
    )
    command = (sys.executable, "-m", "pytest", "-q", "test_a.py")
    done = afterd("explain", "HEAD~1..HEAD", "--", *command, cwd=where)
    said = " ".join(done.out.split())
    assert "At the good version: The environment of" in said
    assert "lacks the module absent_here; install it: `" in said


def test_a_module_of_the_bad_version_alone_is_nothing_to_install(tmp_path: Path) -> None:
    """The slot that is free holds the good version then: `pip install checks` was the advice."""
    checks = (
        "import unittest\nfrom a import f\n\n\nclass T(unittest.TestCase):\n"
        "    def test_f(self):\n        self.assertEqual(f(1), 2)\n"
    )
    bad = {"a.py": "def f(x):\n    return x + 2\n", "checks.py": checks}
    where = repository(tmp_path / "r", {"a.py": "def f(x):\n    return x + 1\n"}, bad)
    command = ("sh", "-c", f"{sys.executable} -m unittest checks")
    done = afterd("explain", "HEAD~1..HEAD", "--", *command, cwd=where)
    assert "lacks the module" not in done.out
    assert done.status != 13


def test_a_change_that_asks_for_what_is_missing_says_so(tmp_path: Path) -> None:
    """It is guilty here, and may not be where that is installed."""
    bad = GOOD.replace("def f(x):", "def f(x):\n    import absent_here")
    path = one_function(tmp_path / "r", bad)
    [answer] = explain(Settings(repository=path, range="HEAD~1..HEAD"))
    assert [change.id for change in answer.root] == ["c1"]
    assert any("lacks the module absent_here; install it" in note for note in answer.remarks)


def test_what_a_build_left_in_a_slot_is_none_of_the_version(tmp_path: Path) -> None:
    """Cargo writes a lock file where there is none: the next run must not ask for a locked build."""
    path = repository(tmp_path / "r", {"Cargo.toml": '[package]\nname = "a"\n'}, {"a.rs": ""})
    settings = Settings(repository=path)
    with opened_workspace(settings) as workspace:
        tree = str(workspace.repository.head.peel().tree.id)
        with workspace.executor.workbench(tree) as bench:
            bench.slot.move_to(tree)
            (bench.slot.path / "Cargo.lock").write_text("")
        assert "--locked" not in detected_tests(workspace, settings, tree).test


@pytest.mark.parametrize("loudness", [(), ("--verbose",), ("--debug",)])
def test_nothing_comes_after_the_answer(tmp_path: Path, loudness: tuple[str, ...]) -> None:
    """Where both streams are one pipe, the last line is the answer's: what counts the suite says nothing there."""
    path = one_function(tmp_path / "r", GOOD.replace("x + 1", "x + 2"))
    done = afterd("explain", *loudness, cwd=path)
    assert done.status == 0, done.err
    assert "see the test pass" in done.out
    assert "counters" not in done.err
    assert ("The log is" in done.err.splitlines()[0]) == (loudness == ("--debug",))


def test_what_is_not_committed_is_named_where_all_is_green(tmp_path: Path) -> None:
    """Who sees a red test in the work tree is told how to ask about that; the work tree is not touched."""
    path = one_function(tmp_path / "r", "# the same\n" + GOOD)
    (path / "a.py").write_text(GOOD.replace("x + 1", "x + 2"))
    done = afterd("explain", cwd=path)
    said = " ".join(done.out.split())
    assert "The one test passes at the bad version." in said
    assert "What is not committed is not in it (a.py): `git diff HEAD >my.patch" in said
    given = afterd("explain", "HEAD~1..HEAD", "--", "true", cwd=path)
    assert "What is not committed is not in it (a.py)" in " ".join(given.out.split())
