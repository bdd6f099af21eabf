"""A folder in the Siemens layout: built, run and scored; and what is said of one that is not."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from afterd.bench.siemens_layout import subject
from afterd.bench.technique_speed import speeds
from afterd.cli.bench import command
from afterd.errors import UsageError

GOLDEN = """\
#include <stdio.h>
#include <stdlib.h>
static int largest(int a, int b, int c) {
    int found = a;
    if (b > found)
        found = b;
    if (c > found)
        found = c;
    return found;
}
int main(int argc, char **argv) {
    int c = 0;
    if (argc > 3)
        c = atoi(argv[3]);
    if (scanf("%d", &c) == 1)
        puts("read");
    printf("%d\\n", largest(atoi(argv[1]), atoi(argv[2]), c));
    return 0;
}
"""
VERSIONS = {
    "v1": ("found = b;", "found = a;"),  # line 6
    "v2": ("found = c;", "abort();"),  # line 8: a crash
    "v10": ("return 0;", "return 0 ;"),  # no test reveals it
}
TESTS = ["1 2 3", "3 2 1", "1 3 2", "2 2 2", "9 1 0 < inputs/one", "0 7 0 < inputs/one"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "largest.c").write_text(GOLDEN)
    for name, (old, new) in VERSIONS.items():
        (tmp_path / "versions" / name).mkdir(parents=True)
        (tmp_path / "versions" / name / "largest.c").write_text(GOLDEN.replace(old, new))
    (tmp_path / "testplans").mkdir()
    (tmp_path / "testplans" / "universe").write_text("\n".join(TESTS))
    (tmp_path / "inputs").mkdir()
    (tmp_path / "inputs" / "one").write_text("1\n")
    return tmp_path


def test_the_layout(folder: Path) -> None:
    found = subject(folder)
    assert [version.name for version in found.versions] == ["v1", "v2", "v10"]
    assert all(version.tests == tuple(TESTS) for version in found.versions)
    assert found.folder == folder


def test_a_test_whose_input_is_missing_is_left_out(folder: Path) -> None:
    """Both versions would fail alike without it, and it would have passed."""
    universe = folder / "testplans" / "universe"
    universe.write_text(universe.read_text() + "\n4 5 6 < inputs/gone\n")
    found = subject(folder)
    assert found.missing == ("4 5 6 < inputs/gone",)
    assert all(version.tests == tuple(TESTS) for version in found.versions)


def test_scores(folder: Path) -> None:
    done = CliRunner().invoke(command, ["siemens", str(folder), "--format", "json", "--jobs", "1"])
    assert done.exit_code == 0, done.output
    rows = {row["technique"]: row for row in json.loads(done.stdout)["rows"]}
    for technique in ("ochiai", "blockrank", "cbi"):
        assert set(rows[technique]["efforts"]) == {"v1", "v2"}
        assert rows[technique]["left_out"] == {"v10": "no test reveals the fault"}
    # 13 statements; those of lines 6 and 8 are executed by the same tests in v1
    assert rows["ochiai"]["efforts"] == pytest.approx({"v1": 2 / 13, "v2": 1 / 13})
    assert rows["ochiai"]["located"] == {"5%": 0.0, "10%": 0.5, "15%": 0.5, "20%": 1.0}


@pytest.mark.parametrize("missing", ["source", "versions", "testplans/universe"])
def test_what_is_missing_is_named(folder: Path, missing: str) -> None:
    (folder / missing).rename(folder / "elsewhere")
    with pytest.raises(UsageError, match=missing):
        subject(folder)


def test_speeds_are_measured() -> None:
    rows = list(speeds(20, 100, 0.1))
    assert {row.technique for row in rows} >= {"ochiai", "dstar", "barinel"}
    assert all(row.scores > 0 for row in rows)


def test_a_child_that_is_killed_each_time_is_a_sentence(folder: Path) -> None:
    universe = folder / "testplans" / "universe"
    universe.write_text(universe.read_text() + "\n1 2 $(kill -9 $PPID)\n")  # the supervisor
    done = subprocess.run(
        [sys.executable, "-m", "afterd", "bench", "siemens", str(folder), "--jobs", "1"],
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stderr.splitlines()[-1]
    assert (done.returncode, "bug" in said) == (13, False), said
    assert "The tests of version golden-v10 were not run to their end (the script" in said


def test_a_test_that_loops_is_ended_by_its_time_of_the_processor(folder: Path) -> None:
    """None of these may take longer than all of the golden version's together, which take a moment."""
    loops = GOLDEN.replace("int found = a;", "int found = a; for (;;) ;")
    (folder / "versions" / "v2" / "largest.c").write_text(loops)
    began = time.monotonic()
    done = CliRunner().invoke(command, ["siemens", str(folder), "--format", "json", "--jobs", "1"])
    assert done.exit_code == 0, done.output
    assert "v2: 6 of 6 tests fail" in done.stderr
    assert time.monotonic() - began < 60  # six times the limit of one that sleeps


@pytest.mark.parametrize("verb", ["siemens", "formula"])
def test_a_bench_that_is_ended_says_so_and_leaves_nothing(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, verb: str
) -> None:
    place = tmp_path_factory.mktemp("temporary")
    started = folder / "started"
    universe = folder / "testplans" / "universe"
    universe.write_text(universe.read_text() + f"\n1 2 $(touch {started}; sleep 9)\n")
    bench = subprocess.Popen(
        [sys.executable, "-m", "afterd", "bench", verb, str(folder)],
        env={**os.environ, "TMPDIR": str(place)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not started.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    bench.send_signal(signal.SIGTERM)
    _, said = bench.communicate(timeout=20)
    assert (bench.returncode, said.splitlines()[-1]) == (143, "afterd: Ended by SIGTERM.")
    assert list(place.iterdir()) == []
