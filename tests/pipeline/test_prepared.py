"""What must be done before a version can be built or tested: by the user's command, or as the project says."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from pipeline_runs import afterd, repository

CMAKE = """\
cmake_minimum_required(VERSION 3.19)
project(p NONE)
if(NOT FLAVOUR STREQUAL "sweet")
  message(FATAL_ERROR "choose a preset")
endif()
enable_testing()
add_test(NAME amount COMMAND grep -qx 2 amount WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
"""
PRESETS = {
    "version": 2,
    "configurePresets": [
        {"name": "base", "hidden": True},
        {
            "name": "usual",
            "generator": "Unix Makefiles",
            "binaryDir": "${sourceDir}/out",
            "cacheVariables": {"FLAVOUR": "sweet"},
        },
    ],
}
OTHER = {"amount": "3\n", "notes": "b\n"}


def named(path: Path, *arguments: str) -> list[str]:
    done = afterd("explain", "HEAD~1..HEAD", "--format", "json", *arguments, cwd=path)
    assert done.status == 0, done.err
    [found] = json.loads(done.out)["explanations"]
    return [change["file"] for change in found["root"]]


def test_what_the_user_prepares_is_done_at_both_ends(tmp_path: Path) -> None:
    """Each version's own: what is made from the one is not the other's."""
    path = repository(tmp_path / "r", {"amount": "2\n", "notes": "a\n", "x.c": ""}, OTHER)
    asked = ("--prepare", "cp amount made", "--", "grep", "-qx", "2", "made")
    assert named(path, *asked) == ["amount"]


def test_a_preparation_that_fails_is_said(tmp_path: Path) -> None:
    path = repository(tmp_path / "r", {"amount": "2\n"}, OTHER)
    asked = ("--prepare", "echo no such tool; exit 3", "--", "grep", "-qx", "2", "amount")
    done = afterd("explain", "HEAD~1..HEAD", *asked, cwd=path)
    assert done.status == 13, done.out
    assert "no such tool" in done.out + done.err


@pytest.mark.skipif(None in (shutil.which("cmake"), shutil.which("ctest")), reason="no CMake")
def test_a_project_that_needs_its_preset_is_configured_with_it(tmp_path: Path) -> None:
    files = {
        "CMakeLists.txt": CMAKE,
        "CMakePresets.json": json.dumps(PRESETS),
        "amount": "2\n",
        "notes": "a\n",
    }
    path = repository(tmp_path / "r", files, OTHER)
    assert named(path) == ["amount"]


def test_an_environment_of_our_own_has_what_the_project_asks_for(tmp_path: Path) -> None:
    """No environment of this machine has it: the answer named it, with the option."""
    good = "from toolz import first\n\n\ndef head(items):\n    return first(items)\n"
    files = {
        "pyproject.toml": '[project]\nname = "heads"\nversion = "1"\ndependencies = ["toolz"]\n'
        '[tool.setuptools]\npy-modules = ["heads"]\n',
        "heads.py": good,
        "notes.py": "A = 1\n",
        "tests/test_heads.py": "from heads import head\n\n\ndef test_head():\n    assert head([4, 5]) == 4\n",
    }
    bad = {"heads.py": good.replace("first(items)", "first(items[1:])"), "notes.py": "A = 2\n"}
    path = repository(tmp_path / "r", files, bad)
    assert named(path, "--prepare", "auto") == ["heads.py"]
    assert list((path / ".git" / "afterd" / "environments").glob("*/made"))
