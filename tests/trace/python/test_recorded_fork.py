"""A recording made in a fork of a warm process is the one that a fresh process makes."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from python_pairs import PYTEST, Files, request_for

from afterd.execution.process import Command
from afterd.execution.rerunning import ColdError, Recording
from afterd.trace.python.read.tracefile import Raw
from afterd.trace.python.stage import WarmPython, record

QUIET = (*PYTEST, "-p", "no:hypothesispytest", "-p", "no:xdist")
SUM = "def total(values):\n    found = 0\n    for each in values:\n        found += each\n    return found\n"
TESTED = {
    "lib.py": SUM,
    "conftest.py": "import pytest\n@pytest.fixture\ndef values():\n    return [1, 2]\n",
    "test_lib.py": "import lib\ndef test_total(values):\n    print('here')\n    assert lib.total(values) == 4\n",
}
UNITTEST = {
    "lib.py": SUM,
    "test_lib.py": """\
        import unittest, lib
        class Case(unittest.TestCase):
            def test_total(self):
                self.assertEqual(lib.total([1, 2]), 4)
        """,
}
THREADED = {
    "lib.py": SUM,
    "test_lib.py": """\
        import threading, lib
        def test_total():
            found = []
            thread = threading.Thread(target=lambda: found.append(lib.total([1, 2])))
            thread.start()
            thread.join()
            assert found == [4]
        """,
}


def told(raw: Raw) -> dict[str, Any]:
    """What a recording says but for places in memory, process numbers and the commands' own words."""
    told = {name: raw.header[name] for name in ("tests", "notes", "modules", "refused", "threads")}
    return told | {"total": raw.total, "failed": [each["type"] for each in raw.header["failures"]]}


def both_ways(tmp_path: Path, files: Files, command: tuple[str, ...]) -> tuple[Raw, Raw]:
    """A tree recorded in a fresh process, and in a fork of one that stands in another tree and ran there."""
    request = request_for(tmp_path, {**files, "lib.py": SUM + "AGE = 1\n"}, files, command)
    server = Command(command, tmp_path / "good", request.environment)
    bad = tmp_path / "bad"
    [fresh] = record(request, bad, "fresh").traces
    with WarmPython(server, tmp_path / "good", tmp_path / "staged", request.limits) as warm:
        assert not warm.cold
        forked = record(replace(request, warm=warm.record), bad, "forked")
        again = record(replace(request, warm=warm.record), bad, "again")
        plain = warm.run()
    assert forked.status == again.status == 1
    assert "AssertionError" in forked.output
    assert told(again.traces[0]) == told(forked.traces[0])
    assert plain.status == 1, "no recording is left in the server"
    plain.remove()
    return fresh, forked.traces[0]


@pytest.mark.parametrize(
    ("files", "command"),
    [
        (TESTED, QUIET),
        (UNITTEST, (sys.executable, "-m", "unittest")),
        (THREADED, (sys.executable, "-m", "pytest", "-q", "-p", "no:hypothesispytest")),
    ],
    ids=["pytest", "unittest", "threads"],
)
def test_a_fork_records_what_a_fresh_process_records(
    tmp_path: Path, files: Files, command: tuple[str, ...]
) -> None:
    fresh, forked = both_ways(tmp_path, files, command)
    assert told(forked) == told(fresh)


def test_a_script_of_the_tree_is_recorded_in_a_fresh_process(tmp_path: Path) -> None:
    """Nobody imports it: it is instrumented by replacing the process."""
    script = {"main.py": "value = 1 + 1\nassert value == 3\n"}
    command = (sys.executable, "main.py")
    request = request_for(tmp_path, script, script, command)
    tree = tmp_path / "bad"
    with WarmPython(
        Command(command, tree, request.environment), tree, tmp_path / "staged", request.limits
    ) as warm:
        with pytest.raises(ColdError, match="a script of the tree"):
            warm.record(Recording(Command(command, tree, request.environment), tree, 30.0))
        assert not warm.cold

        def none(_recording: Recording) -> None:
            """No fork can record it."""

        found = record(replace(request, warm=none), tree, "fresh")
    assert found.traces[0].header["failures"]


def test_a_text_is_instrumented_once_wherever_it_lies(tmp_path: Path) -> None:
    """What both ends share is most of a program; its code names the file that was run all the same."""
    place = "import lib\ndef test_place():\n    print(lib.total.__code__.co_filename)\n    assert lib.AGE == 2\n"
    good, bad = (
        {
            "lib.py": f"AGE = {age}\n{SUM}",
            "test_lib.py": place,
            "other.py": SUM,
            "conftest.py": "import other\n",
        }
        for age in (2, 1)
    )
    request = request_for(tmp_path, good, bad, (*QUIET, "-s"))
    runs = [record(request, tmp_path / name, name) for name in ("good", "bad")]
    for run, name in zip(runs, ("good", "bad"), strict=True):
        assert str(tmp_path / name / "lib.py") in run.output
    codes = list((request.directory / "cache").glob("*.code"))
    assert len(codes) == len(["lib", "lib of bad", "test_lib", "other", "conftest"])


def test_a_fork_does_not_walk_what_the_server_holds(tmp_path: Path) -> None:
    """Its collections copied all pages of what is imported ahead: a quarter of a short test."""
    counted = "import gc\ndef test_held():\n    print('held', gc.get_freeze_count() > 10_000)\n"
    request = request_for(tmp_path, {"test_it.py": counted}, {}, (*QUIET, "-s"))
    tree = tmp_path / "good"
    server = Command(request.command, tree, request.environment)
    with WarmPython(server, tree, tmp_path / "staged", request.limits) as warm:
        result = warm.run()
    assert "held True" in result.stdout.text()
    result.remove()


@pytest.mark.parametrize("generator", ["random", "numpy.random"])
def test_what_is_drawn_at_random_is_drawn_alike_in_each_recording(
    generator: str, tmp_path: Path
) -> None:
    drawn = {
        "lib.py": SUM,
        "test_lib.py": f"from {generator} import random\ndef test_draw():\n    assert random() == 2\n",
    }
    fresh, forked = both_ways(tmp_path, drawn, QUIET)
    [first], [second] = (
        [each["message"] for each in raw.header["failures"]] for raw in (fresh, forked)
    )
    assert first == second
    assert " == 2" in first
