"""Several tests that are red at both ends: the history is walked back for one of them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from pipeline_runs import afterd, repository

pytestmark = pytest.mark.skipif(
    None in (shutil.which("cmake"), shutil.which("ctest")), reason="no CMake"
)

CMAKE = """\
cmake_minimum_required(VERSION 3.13)
project(p NONE)
enable_testing()
file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/test_*.sh)
foreach(file ${files})
  get_filename_component(name ${file} NAME_WE)
  add_test(NAME ${name} COMMAND sh ${file} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
endforeach()
"""
PROJECT = {
    "CMakeLists.txt": CMAKE,
    "amount": "2\n",
    "test_one.sh": "grep -q . amount\n",
    "test_two.sh": "grep -q 3 amount\n",
    "test_three.sh": "grep -qx 4 amount\n",
}


def test_the_history_is_walked_back_for_the_first_test_alone(tmp_path: Path) -> None:
    """Each walked the same commits, building each of them anew (patchutils: five minutes a test)."""
    older = [{"notes": f"{number}\n"} for number in range(20)]
    where = repository(tmp_path / "r", PROJECT, *older, {"amount": "2\n\n"})
    done = afterd("explain", "HEAD~1..HEAD", "--format", "json", cwd=where)
    first, second = json.loads(done.out)["explanations"]
    assert first["status"] == second["status"] == "already-red"
    assert "as far back as the history goes" in first["reason"]
    assert "older commits were not tried" in second["reason"]
    assert done.err.count("looking for the last green commit\n") == 1
