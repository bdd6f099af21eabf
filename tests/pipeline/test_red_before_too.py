"""Several tests that are red at both ends: the history is walked back for one of them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from pipeline_runs import afterd, repository

from afterd.execution.confirmation import Confirmation, Ends
from afterd.execution.flakiness import Repeats
from afterd.execution.signature import Evidence, signature
from afterd.model.outcome import Outcome, Verdict
from afterd.pipeline.red_otherwise import untried_older_commits

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


def test_what_is_not_compiled_at_the_good_version_is_looked_for_no_farther_back() -> None:
    """Mpc's `make check`: the older the version, the less its library had of what the new tests call."""
    ran, refused = "suite: 1 failed\n", "t.c:9:3: error: 'NEWER' undeclared\n"

    def failing(said: str) -> Outcome:
        seen = signature(Evidence(2, 0, said, "make: *** [check] Error 2\n"), "make check")
        return Outcome(Verdict.FAIL, detail=said, signature=seen)

    def told(bad: str, good: str) -> str:
        both = failing(bad), failing(good)
        ends = Confirmation(Ends.ALREADY_RED, *both, Repeats(2, 0), 0.1)
        return untried_older_commits("It is red there, too", ends, ())

    assert "not compiled there" in told(ran, refused)
    assert not told(refused, refused)
    assert not told(ran, ran)


def test_where_another_test_is_explained_no_older_commit_is_tried(tmp_path: Path) -> None:
    """Prettytable: of a test that is red in any version here twelve older ones were run, after the answer."""
    older = [{"notes": f"{number}\n"} for number in range(4)]
    good = {**PROJECT, "test_one.sh": "grep -q 2 amount\n"}
    del good["test_two.sh"]
    where = repository(
        tmp_path / "r", good, *older, {"amount": "1\n", "test_three.sh": "grep -q 4 amount\n"}
    )
    done = afterd("explain", "HEAD~1..HEAD", "--format", "json", cwd=where)
    first, second = json.loads(done.out)["explanations"]
    assert (first["test"], first["status"]) == ("test_one", "explained"), done.err
    assert second["status"] == "already-red"
    assert (
        "older commits were not tried, as another test of this range is explained"
        in second["reason"]
    )


def test_what_really_broke_is_answered_before_the_history_is_walked_back(tmp_path: Path) -> None:
    """zope.schema: for a test that is red in any version here twelve older ones were run, and then came the others."""
    older = [{"notes": f"{number}\n"} for number in range(4)]
    good = {**PROJECT, "test_one.sh": "grep -q 9 amount\n", "test_two.sh": "grep -q 2 amount\n"}
    del good["test_three.sh"]
    where = repository(tmp_path / "r", good, *older, {"amount": "1\n"})
    done = afterd("explain", "HEAD~1..HEAD", "--format", "json", cwd=where)
    broke, red_before = json.loads(done.out)["explanations"]
    assert (broke["test"], broke["status"]) == ("test_two", "explained"), done.err
    assert (red_before["test"], red_before["status"]) == ("test_one", "already-red")
    assert "as another test of this range is explained" in red_before["reason"]
    assert "looking for the last green commit" not in done.err
    first = afterd("explain", "HEAD~1..HEAD", "--first", "--format", "json", cwd=where)
    assert [each["test"] for each in json.loads(first.out)["explanations"]] == ["test_two"]
