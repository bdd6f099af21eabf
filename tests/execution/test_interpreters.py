"""Which Python runs a project's tests: real environments, asked in the order that is promised."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Mapping
from pathlib import Path

import pytest

from afterd.errors import TestError
from afterd.execution.runners import Python, detect
from afterd.execution.runners.interpreters import Asked, ask
from afterd.execution.runners.prepared import pip_reason
from afterd.execution.runners.python import python_path
from afterd.execution.runners.version_file import (
    archive_version_files,
    version_files,
    version_variables,
)
from afterd.workspace.test_command import takes_plugin


def write(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def environment(folder: Path, *modules: str) -> Path:
    """A virtual environment with modules of these names; its interpreter."""
    venv.create(folder, with_pip=False, symlinks=True)
    [site] = folder.glob("lib/python3.*/site-packages")
    for module in modules:
        (site / f"{module}.py").touch()
    return folder / "bin" / "python"


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A work tree, with nothing of this machine's that could run its tests but afterd's own."""
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT"):
        monkeypatch.delenv(name, raising=False)
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME", "POETRY_CACHE_DIR", "HATCH_DATA_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


ORDER = (
    "active",
    "work/.venv",
    "work/venv",
    "work/env",
    "uv",
    ".cache/pypoetry/virtualenvs/work-{hash}-py3.12",
    ".local/share/hatch/env/virtual/work/{hash}/default",
    "work/.tox/py312",
    "work/.nox/tests",
    "conda",
)


def test_environments_are_asked_in_order(
    alone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them is taken once those before it are gone; afterd's own is the last."""
    mark = base64.urlsafe_b64encode(hashlib.sha256(os.fsencode(alone)).digest()).decode()[:8]
    places = [tmp_path / place.format(hash=mark) for place in ORDER]
    pythons = [environment(place, "pytest") for place in places]
    monkeypatch.setenv("VIRTUAL_ENV", str(places[0]))
    monkeypatch.setenv("UV_PROJECT_ENVIRONMENT", str(places[4]))
    monkeypatch.setenv("CONDA_PREFIX", str(places[-1]))
    for place, python in zip(places, pythons, strict=True):
        found = Python(alone).interpreter(alone, "pytest")
        assert found.path == str(python), found.where
        shutil.rmtree(place)
    assert Python(alone).interpreter(alone, "pytest").path == sys.executable


def test_the_first_that_has_all_that_is_imported_is_taken(alone: Path) -> None:
    write(alone, {"app/a.py": "import left\nimport os\nfrom app import b\n", "app/b.py": ""})
    environment(alone / ".venv", "pytest")
    full = environment(alone / "venv", "pytest", "left")
    assert Python(alone).interpreter(alone, "pytest").path == str(full)
    environment(alone / "env", "left")  # cannot run tests at all
    shutil.rmtree(alone / "venv")
    found = Python(alone).interpreter(alone, "pytest")
    assert found.path == str(alone / ".venv/bin/python")
    assert found.lacks == {"left"}


def test_the_projects_own_environment_comes_before_a_python_of_path_that_has_more(
    alone: Path, tmp_path: Path
) -> None:
    """A release script imports what no test needs; a Python of PATH may have it by chance."""
    write(alone, {"app.py": "", "scripts/release.py": "import left\n"})
    of_path = environment(tmp_path, "pytest", "left").with_name("python3")
    assert Python(alone).interpreter(alone, "pytest").path == str(of_path)
    own = environment(alone / ".venv", "pytest")
    assert Python(alone).interpreter(alone, "pytest").path == str(own)


def test_a_named_python_is_the_users_choice(alone: Path) -> None:
    environment(alone / ".venv", "pytest")
    other = environment(alone / "tools/py", "pytest")
    assert Python(alone, "tools/py/bin/python").interpreter(alone, "pytest").path == str(other)
    with pytest.raises(TestError, match="--python"):
        Python(alone, "absent/python").interpreter(alone, "pytest")
    bare = environment(alone / "bare")
    with pytest.raises(TestError, match=re.escape(f"`{bare} -m pip install pytest`")):
        Python(alone, "bare/bin/python").interpreter(alone, "pytest")


def test_no_environment_has_the_runner(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = environment(alone / ".venv")
    monkeypatch.setattr(sys, "executable", str(bare))
    with pytest.raises(TestError, match=re.escape("(looked at .venv")):
        Python(alone).interpreter(alone, "pytest")


@pytest.mark.parametrize(
    ("files", "path"),
    [
        ({"app/a.py": ""}, "{slot}"),
        ({"src/app/a.py": ""}, "{slot}/src:{slot}"),
        ({"lib/app.py": "", "setup.py": "setup(package_dir={'': 'lib'})"}, "{slot}/lib:{slot}"),
        (
            {"lib/app.py": "", "setup.cfg": "[options]\npackage_dir =\n  = lib\n"},
            "{slot}/lib:{slot}",
        ),
        (
            {
                "lib/app.py": "",
                "pyproject.toml": '[tool.setuptools.packages.find]\nwhere = ["lib"]\n',
            },
            "{slot}/lib:{slot}",
        ),
        (
            {
                "py/app.py": "",
                "pyproject.toml": '[[tool.poetry.packages]]\ninclude="app"\nfrom="py"\n',
            },
            "{slot}/py:{slot}",
        ),
    ],
)
def test_packages_are_imported_from_the_slot(
    tmp_path: Path, files: Mapping[str, str], path: str
) -> None:
    assert python_path(write(tmp_path, files)) == path


@pytest.mark.parametrize(
    ("written", "modules", "undone"),
    [
        ("[pytest]\naddopts = --cov=app --cov-fail-under=100\n", ("pytest_cov",), ["--no-cov"]),
        ("[pytest]\naddopts = -x -n auto\n", ("xdist",), ["--maxfail=0", "-n0"]),
        ("[pytest]\naddopts = -ra --no-header\n", (), []),
    ],
)
def test_options_that_make_sense_for_a_whole_suite_alone(
    alone: Path, written: str, modules: tuple[str, ...], undone: list[str]
) -> None:
    environment(alone / ".venv", "pytest", *modules)
    found = detect(write(alone, {"pytest.ini": written, "test_a.py": "def test_a(): pass\n"}))
    assert list(found.test[5:]) == undone
    assert bool(found.several) == ("xdist" in modules and os.cpu_count() != 1)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("pyproject.toml", '[tool.hatch]\nbuild.hooks.vcs.version-file = "src/a/_version.py"\n'),
        ("pyproject.toml", '[tool.setuptools_scm]\nwrite_to = "src/a/_version.py"\n'),
        ("setup.cfg", "[tool:x]\nversion_file = src/a/_version.py\n"),
        ("setup.py", "setup(use_scm_version={'write_to': 'src/a/_version.py'})\n"),
    ],
)
def test_a_version_file_that_git_ignores(tmp_path: Path, name: str, written: str) -> None:
    home = tmp_path / "home"
    root = write(tmp_path / "slot", {name: written + "# write_to = '../../x.py'\n"})
    (generated,) = version_files(root, None).items()
    assert generated[0] == "src/a/_version.py"
    assert "__version__ = version" in generated[1]
    write(home, {"src/a/_version.py": "__version__ = '1.2'\n"})
    assert version_files(root, home) == {"src/a/_version.py": "__version__ = '1.2'\n"}


@pytest.mark.parametrize(
    ("name", "written", "asks"),
    [
        ("setup.py", "setup(setup_requires=['pbr>=2.0.0'], pbr=True)\n", 1),
        ("pyproject.toml", '[build-system]\nrequires = ["pbr>=6.0.0"]\n', 1),
        ("setup.cfg", "[metadata]\nname = pbrain\n", 0),
    ],
)
def test_pbr_is_told_a_version(tmp_path: Path, name: str, written: str, asks: int) -> None:
    """Bandit asks pbr for its version when it is imported, which looks for a history: its tests were called new."""
    root = write(tmp_path / "slot", {name: written, "tests/test_a.py": "def test_a(): ...\n"})
    told = version_variables(root)
    assert list(told) == (["PBR_VERSION"] if asks else [])
    assert detect(root).extra.items() >= told.items()


@pytest.mark.parametrize(
    ("configure", "assigned"),
    [
        ("AC_INIT(a, m4_esyscmd([build-aux/asked]), b@c.d)\n", "tarball_version_file=VERSION"),
        ("AC_INIT([a], m4_esyscmd_s([sh ./build-aux/asked VERSION]))\n", "file=$1"),
        ("AC_INIT(a, m4_esyscmd([build-aux/asked]))\n", "version_file='../VERSION'"),
        ("AC_INIT([a], [1.0])\n", "tarball_version_file=VERSION"),
    ],
)
def test_the_file_in_which_a_release_has_its_version(
    tmp_path: Path, configure: str, assigned: str
) -> None:
    script = f"{assigned}\ncat ${{tarball_version_file-$file}} || git describe\n"
    root = write(
        tmp_path / "slot",
        {"configure.ac": configure, "Makefile.am": "", "build-aux/asked": script},
    )
    generated = archive_version_files(root)
    assert list(generated) == (
        ["VERSION"] if "m4_esyscmd" in configure and ".." not in assigned else []
    )
    assert detect(root).generated == generated
    if generated:
        write(root, generated)
        command = ("sh", "build-aux/asked", "VERSION")
        said = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
        assert said.stdout.count(".") == 2
        assert archive_version_files(root) == {}


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (
            "  error: subprocess-exited-with-error\n  × Getting requirements to build wheel did not run.\n"
            "  ╰─> [14 lines of output]\n      error: Multiple top-level modules discovered in a flat-layout.\n\n"
            "      To avoid accidental inclusion, setuptools will not proceed.\n      [end of output]\n\n"
            "  note: This error originates from a subprocess, and is likely not a problem with pip.\n",
            "error: Multiple top-level modules discovered in a flat-layout.",
        ),
        (
            "ERROR: Could not find a version that satisfies the requirement nope (from versions: none)\n"
            "ERROR: No matching distribution found for nope\n",
            "ERROR: Could not find a version that satisfies the requirement nope (from versions: none)\n"
            "ERROR: No matching distribution found for nope",
        ),
        ("something\nelse\n", "something\nelse"),
    ],
)
def test_why_pip_failed(said: str, reason: str) -> None:
    """The middle of its words was cut out, and what was left was that the error is not pip's."""
    assert pip_reason(said) == reason


@pytest.mark.parametrize(
    ("version", "takes"), [((2, 7, 18), False), ((3, 5, 10), False), ((3, 6, 15), True)]
)
def test_a_python_that_is_too_old_for_our_plugin_is_not_given_it(
    version: tuple[int, ...], *, takes: bool
) -> None:
    """OfflineIMAP: what stood there was that its pytest did not fit, and that was our plugin's text."""
    assert takes_plugin(Asked("python", version, frozenset(), (), "")) is takes
    assert takes_plugin(None)


def _pythons_of_old() -> list[str]:
    """Installations of Python 2 that can be started here: a shim of pyenv's may stand for none."""
    named = map(shutil.which, ("python2", "python2.7"))
    kept = Path.home().glob(".pyenv/versions/2.7.*/bin/python2.7")
    found = dict.fromkeys([*filter(None, named), *map(str, kept)])
    return [each for each in found if not subprocess.run([each, "-c", ""], check=False).returncode]


@pytest.mark.skipif(not _pythons_of_old(), reason="no Python 2")
def test_what_python_2_says_of_itself(tmp_path: Path) -> None:
    asked = ask(_pythons_of_old()[0], ("json", "nothing_of_this_name"), tmp_path)
    assert asked is not None
    assert asked.version[:2] == (2, 7)
    assert asked.modules == {"json"}
