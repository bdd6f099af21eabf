"""A test that imports a copy of the project from elsewhere: it tests no version, and the answer says so."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest
from pipeline_runs import afterd, repository

from afterd.execution.runners.imported import Elsewhere, imported_elsewhere

GOOD = "def f(x):\n    return x + 1\n"
BAD = GOOD.replace("x + 1", "x + 2")
CHECK = "from package.a import f\n\nassert f(1) == {}\n"


def files_of(*names: str, folder: Path) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    return folder


@pytest.mark.parametrize(
    ("names", "said", "found"),
    [
        (
            ("package/__init__.py", "package/a.py"),
            "# code object from /v/lib/site-packages/package/a.py\n",
            Elsewhere("package", "/v/lib/site-packages/package", "."),
        ),
        (
            ("src/package/__init__.py", "src/package/a.py"),
            "# /v/site-packages/package/__pycache__/a.cpython-311.pyc matches"
            " /v/site-packages/package/a.py\n# code object from '/v/x.pyc'\n",
            Elsewhere("package", "/v/site-packages/package", "src"),
        ),
        (("one.py",), "# code object from /v/dist-packages/one.py\n",
         Elsewhere("one", "/v/dist-packages/one.py", ".")),
        (("src/package/a.py",), "# code object from {home}/src/package/a.py\n",
         Elsewhere("package", "{home}/src/package", "src")),
        (("package/__init__.py",), "# code object from {slot}/package/__init__.py\n"
         "# code object from /v/site-packages/package/__init__.py\n", None),
        (("package/vendored/one.py", "package/__init__.py"),
         "# code object from /v/site-packages/one.py\n", None),
        (("json/decoder.py",), "# code object from /usr/lib/python3.11/json/decoder.py\n", None),
        (("a.py",), "import 'a'\n", None),
    ],
)  # fmt: skip
def test_what_python_says_of_its_imports(
    tmp_path: Path, names: tuple[str, ...], said: str, found: Elsewhere | None
) -> None:
    home = tmp_path / "home"
    slot = files_of(*names, folder=home / ".git" / "afterd" / "slots" / "0")
    places = {"home": home, "slot": slot}
    expected = found and Elsewhere(found.name, found.place.format(**places), found.root)
    assert imported_elsewhere(said.format(**places), slot, home) == expected


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A project whose bad version is installed, too."""
    path = tmp_path / "r"
    (path / "package").mkdir(parents=True)
    repository(path, {"package/__init__.py": "", "package/a.py": GOOD}, {"package/a.py": BAD})
    (tmp_path / "site-packages" / "package").mkdir(parents=True)
    (tmp_path / "site-packages" / "package" / "__init__.py").write_text("")
    return path


@pytest.mark.parametrize(("copy", "status", "ends"), [(GOOD, 0, "passes"), (BAD, 12, "fails")])
def test_a_script_that_imports_what_is_installed(
    installed: Path, copy: str, status: int, ends: str
) -> None:
    """Whatever the installed one does, it is no word on the range; what the answer advises finds the change."""
    site = installed.parent / "site-packages"
    (site / "package" / "a.py").write_text(copy)
    script = installed.parent / "t.py"
    script.write_text(CHECK.format(2))
    command = ("env", f"PYTHONPATH={site}", sys.executable, str(script))
    done = afterd("explain", "--", *command, cwd=installed, COLUMNS="1000")
    said = " ".join(done.out.split())
    assert done.status == status, done.err
    assert ends in said
    assert f"The test imports package from {site}/package, so no version" in said
    assert "looking for the last green" not in done.err
    advised = shlex.split(said.partition("`-- ")[2].partition("`")[0])
    again = afterd("explain", "--format", "json", "--", *advised, cwd=installed)
    [answer] = json.loads(again.out)["explanations"]
    assert [change["file"] for change in answer["root"]] == ["package/a.py"], answer["reason"]


def test_a_module_of_the_project_that_no_version_s_test_finds(tmp_path: Path) -> None:
    """Red before was said of a project with its code in ``src`` that nobody had installed."""
    files = {"src/package/__init__.py": "", "src/package/a.py": GOOD, "check.py": CHECK.format(2)}
    (tmp_path / "r" / "src" / "package").mkdir(parents=True)
    path = repository(tmp_path / "r", files, {"src/package/a.py": BAD})
    done = afterd("explain", "--", sys.executable, "check.py", cwd=path, COLUMNS="1000")
    said = " ".join(done.out.split())
    assert done.status == 13, done.err
    assert "does not find package, which is the project's own (src/package/__init__.py)" in said
    assert "looking for the last green" not in done.err
    advised = shlex.split(said.partition("`-- ")[2].partition("`")[0])
    again = afterd("explain", "--format", "json", "--", *advised, cwd=path)
    [answer] = json.loads(again.out)["explanations"]
    assert [change["file"] for change in answer["root"]] == ["src/package/a.py"], answer["reason"]
