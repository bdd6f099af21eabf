"""A test command that sets variables for itself is recorded like another, and can be run again."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipeline_runs import git, repository

from afterd import pipeline
from afterd.config import Settings, shell
from afterd.model.explanation import Status
from afterd.model.progress import Silent
from afterd.workspace.test_command import (
    assigned_variables,
    typed_command,
    with_environment_of,
    without_assignments,
)


@pytest.mark.parametrize(
    ("command", "assigned", "rest"),
    [
        (shell("PYTHONPATH=src python -m pytest -q"), ("PYTHONPATH=src",), "python -m pytest -q"),
        (shell("A=1 B='x y' pytest"), ("A=1", "B=x y"), "pytest"),
        (("env", "A=1", "python3.11", "x.py"), ("A=1",), "python3.11 x.py"),
        (shell("A=1 make check"), (), "sh -c A=1 make check"),
        (shell("env A=.:b pytest x*.py"), ("A=.:b",), "sh -c pytest x*.py"),
        (shell("A=1 '/a b/python' -m t > log"), ("A=1",), "sh -c '/a b/python' -m t > log"),
        (shell("A=1 pytest x*.py; true"), (), "sh -c A=1 pytest x*.py; true"),
        (shell("A=1 make x*"), (), "sh -c A=1 make x*"),
        (shell("A=$HOME pytest"), (), "sh -c A=$HOME pytest"),
        (("env", "-i", "python"), (), "env -i python"),
        (("pytest", "A=1"), (), "pytest A=1"),
    ],
)
def test_what_a_command_sets_for_itself(
    command: tuple[str, ...], assigned: tuple[str, ...], rest: str
) -> None:
    assert without_assignments(command) == (assigned, without_assignments(command)[1])
    assert " ".join(without_assignments(command)[1]) == rest
    if assigned:
        assert without_assignments(typed_command(command)) == without_assignments(command)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (".venv/bin/python setup.py -q build_ext", "'{}/.venv/bin/python' setup.py -q build_ext"),
        ("cd a && ../.venv/bin/python x", "cd a && ../.venv/bin/python x"),
        ("X=1 ./.venv/bin/python; make", "X=1 '{}/.venv/bin/python'; make"),
        ("node_modules/.bin/tap t", "'{}/node_modules/.bin/tap' t"),
        ("tools/bin/check", "tools/bin/check"),
        (".venv/bin/absent", ".venv/bin/absent"),
    ],
)
def test_a_program_of_an_environment_that_git_ignores_is_the_checkouts(
    tmp_path: Path, command: str, expected: str
) -> None:
    """A slot has no .venv: bitarray's build was said to lack its Python."""
    checkout = tmp_path / "a checkout"
    for name in (".venv/bin/python", "node_modules/.bin/tap", "tools/bin/check"):
        (checkout / name).parent.mkdir(parents=True)
        (checkout / name).write_text("#!/bin/sh\n")
        (checkout / name).chmod(0o755)
    (checkout / ".venv/pyvenv.cfg").touch()
    placed = with_environment_of(("sh", "-c", command), checkout)
    assert placed == ("sh", "-c", expected.format(checkout))
    words = with_environment_of(tuple(command.split(" ")), checkout)
    assert " ".join(words).replace("'", "") == expected.format(checkout).replace("'", "")


def test_folders_of_an_import_path_are_those_of_the_slot() -> None:
    found = assigned_variables(["PYTHONPATH=src:/opt/x", "A=b=c"])
    assert found == {"PYTHONPATH": "{slot}/src:/opt/x", "A": "b=c"}


def test_a_command_that_sets_its_import_path_is_recorded(tmp_path: Path) -> None:
    """It reached the interpreter in place of afterd's own, so that nothing was recorded."""
    git("init", "-q", "-b", "main", cwd=tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_calc.py").write_text(
        "from calc import total\n\n\ndef test_total():\n    assert total(2, 3) == 5\n"
    )
    for sign in "+-":
        (tmp_path / "src" / "calc.py").write_text(f"def total(a, b):\n    return a {sign} b\n")
        git("add", "-A", cwd=tmp_path)
        person = ("-c", "user.name=A", "-c", "user.email=a@b")
        git(*person, "commit", "-qm", f"a {sign} b", cwd=tmp_path)
    settings = Settings(
        repository=tmp_path,
        range="HEAD~1..HEAD",
        test=shell("PYTHONPATH=src python -m pytest -q tests/test_calc.py"),
    )
    found = pipeline.explain(settings, Silent())[0]
    assert (found.status, len(found.root)) == (Status.EXPLAINED, 1)
    assert found.tree is not None
    assert found.test_command[:2] == ("env", "PYTHONPATH=src")
    assert found.test.startswith("env PYTHONPATH=src python -m pytest")
    again = pipeline.replay(Settings(repository=tmp_path), found.id)
    assert again.outcome.passed


@pytest.mark.parametrize("command", ["python -m pytest -q test_calc.py", ""])
def test_a_version_without_pytest_settings_does_not_read_the_work_trees(
    tmp_path: Path, command: str
) -> None:
    """Slots lie below the work tree: pytest went up to its settings and its conftest.py (pint)."""
    test = "from calc import total\n\n\ndef test_total():\n    assert total(2, 3) == 5\n"
    newer = {
        "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--strict-markers'\n",
        "conftest.py": "from calc import NEW\n",
        "calc.py": "NEW = 1\n\n\ndef total(a, b):\n    return a - b\n",
    }
    older = {"calc.py": "def total(a, b):\n    return a + b\n", "test_calc.py": test}
    repository(tmp_path / "r", older, newer)
    settings = Settings(
        repository=tmp_path / "r", range="HEAD~1..HEAD", test=shell(command) if command else ()
    )
    (answer,) = pipeline.explain(settings, Silent())
    assert answer.status is Status.EXPLAINED
    assert [change.file for change in answer.root] == ["calc.py"]


def test_a_test_outside_has_the_project_that_pytest_gives_it(tmp_path: Path) -> None:
    """With the slot for its project, its conftest.py came too late to name plugins (jupyter_server): "already red"."""
    outside = tmp_path / "outside" / "test_total.py"
    outside.parent.mkdir()
    outside.write_text(
        "from calc import total\n\n\ndef test_total(pytestconfig):\n"
        "    assert '.git' not in pytestconfig.rootpath.parts\n    assert total(2, 3) == 5\n"
    )
    good = {
        "calc.py": "def total(a, b):\n    return a + b\n",
        "conftest.py": "pytest_plugins = ['plugin']\n",
        "plugin.py": "",
        "pyproject.toml": "[tool.pytest.ini_options]\n",
    }
    bad = {**good, "calc.py": "def total(a, b):\n    return a - b\n"}
    repository(tmp_path / "r", good, bad)
    command = shell(f"PYTHONPATH=. python -m pytest -q {outside}")
    settings = Settings(repository=tmp_path / "r", range="HEAD~1..HEAD", test=command)
    (answer,) = pipeline.explain(settings, Silent())
    assert answer.status is Status.EXPLAINED
    assert [change.file for change in answer.root] == ["calc.py"]
    assert answer.tree is not None  # what was recorded is of that project as well
