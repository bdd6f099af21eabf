"""Variants of a C program, built on from the bad version's build: what is compiled, and what a kill leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import INSTALLED
from two_versions import committed

from afterd.errors import TraceError
from afterd.execution.recipe import Recipe
from afterd.model.change import NOTHING, ChangeSet
from afterd.model.outcome import FailureKind
from afterd.model.progress import Silent
from afterd.trace.c.build.modules import modules_made
from afterd.trace.c.failure import hang
from afterd.trace.c.recorder import CRecorder, RecordedRun, TraceRequest
from afterd.trace.c.window.segment import records_made
from afterd.vcs.diff import changes_between
from afterd.vcs.kinds import FileRules
from afterd.vcs.repository import open_repository, resolve
from afterd.vcs.variants import Variants
from afterd.vcs.worktree import Slot

_PRINTING = (
    '#include <stdio.h>\nint {0}(void) {{\n    printf("{0} %d\\n", {1});\n    return 0;\n}}\n'
)
_MAIN = "int first(void);\nint second(void);\nint main(void) {\n    return first() + second();\n}\n"
_MAKEFILE = """\
all: prog
\tsh hold.sh build
prog: main.o first.o second.o
\t$(CC) $^ -o $@
first.c: first.y
\tnobody-has-this-yacc first.y
-include $(wildcard *.d)
"""
_TEST = "./prog\nsh hold.sh test\n"
_HOLD = """\
if [ -e {0}/hold-$1 ]; then touch {0}/reached; sleep 60; fi
if [ -e {0}/leave-$1 ]; then mkdir -p left.d; fi
"""
FIRST, SECOND = frozenset({"c1"}), frozenset({"c2"})


class Heard(Silent):
    """Remembers the stages."""

    def __init__(self) -> None:
        self.stages: list[str] = []

    def stage(self, name: str, detail: str = "") -> None:
        self.stages.append(f"{name}: {detail}" if detail else name)


def request_in(directory: Path) -> TraceRequest:
    """Two modules with a change each, one of them in a header that the makefile does not know; the build
    and the test wait where a file says so.
    """
    repository = open_repository(directory / "repository")
    good, bad = resolve(repository, "HEAD~1"), resolve(repository, "HEAD")
    changes = changes_between(repository, good, bad, FileRules())
    variants = Variants(repository, good, bad, changes)
    good_slot, bad_slot = (Slot(directory / name, variants.store) for name in ("good", "bad"))
    recipe = Recipe(test=("sh", "run.sh"), build=("make",))
    chosen = next(iter(INSTALLED.values()))
    slots = (good_slot, bad_slot)
    return TraceRequest(
        variants.tree, changes.ids, slots, recipe, chosen, directory / "trace", work="w"
    )


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    common = {
        "main.c": _MAIN,
        "Makefile": _MAKEFILE,
        "run.sh": _TEST,
        "hold.sh": _HOLD.format(tmp_path),
        "first.c": '#include "first.h"\n' + _PRINTING.format("first", "FIRST"),
        "first.y": "%%\nall: ;\n",  # checked out after what was made of it
    }
    versions = [
        {
            **common,
            "first.h": f"#define FIRST {value}\n",
            "second.c": _PRINTING.format("second", value),
        }
        for value in (1, 2)
    ]
    committed(tmp_path / "repository", versions)
    return tmp_path


def output(run: RecordedRun) -> bytes:
    """What the program printed."""
    (process,) = run.processes
    return b"".join(written.data for written in process.recording.output())


def sources(run: RecordedRun) -> list[str]:
    """The sources of the modules that a run is read with."""
    (process,) = run.processes
    return sorted({view.unit.module.source for view in process.program.views()})


def test_a_variant_compiles_what_it_touches_and_is_read_with_its_own_modules(
    directory: Path,
) -> None:
    recorder = CRecorder(request_in(directory))
    bad = recorder.record(NOTHING)
    index = directory / "trace/bad/build/modules.jsonl"
    before = len(index.read_text().splitlines())
    runs = [recorder.record(undone) for undone in (FIRST, SECOND)]
    assert len(index.read_text().splitlines()) == before + len(runs)
    assert [output(run) for run in (bad, *runs)] == [
        b"first 2\nsecond 2\n",
        b"first 1\nsecond 2\n",
        b"first 2\nsecond 1\n",
    ]
    for run in (bad, *runs):
        assert sources(run) == ["first.c", "main.c", "second.c"]
        views = [view.name for view in run.processes[0].program.views()]
        assert sorted(views) == ["first", "main", "second"]


def test_another_tree_is_built_on_from_what_stands_there(directory: Path) -> None:
    """A commit's own range is recorded at both ends as well: libgit2's two hundred files were compiled four times."""
    assert output(CRecorder(request_in(directory)).record(NOTHING)) == b"first 2\nsecond 2\n"
    index = directory / "trace/bad/build/modules.jsonl"
    whole = request_in(directory)
    half = replace(whole, tree=lambda undone: whole.tree(undone | FIRST))
    inode = index.stat().st_ino
    other = CRecorder(half).record(NOTHING)
    assert index.stat().st_ino == inode, "its build was thrown away"
    assert output(other) == b"first 1\nsecond 2\n"
    assert sources(other) == ["first.c", "main.c", "second.c"]
    assert len(index.read_text().splitlines()) == 3
    variant = CRecorder(half).record(SECOND)
    assert output(variant) == b"first 1\nsecond 1\n"
    assert sources(variant) == ["first.c", "main.c", "second.c"]


def test_what_a_test_left_does_not_stand_in_the_way_of_a_variant(directory: Path) -> None:
    """A folder of bfs's test was named as the files that its makefile includes are: the twin did not build, and
    the story was told without it.
    """
    (directory / "leave-test").touch()
    recorder = CRecorder(request_in(directory))
    recorder.record(NOTHING)
    assert output(recorder.record(FIRST)) == b"first 1\nsecond 2\n"


@pytest.mark.parametrize("phase", ["build", "test"])
def test_whoever_is_killed_over_a_variant_leaves_what_the_next_run_recovers_from(
    directory: Path, phase: str
) -> None:
    code = (
        "import sys; from pathlib import Path; import test_variants_recorded as t\n"
        "there = Path(sys.argv[1]); recorder = t.CRecorder(t.request_in(there))\n"
        "recorder.record(t.NOTHING); (there / f'hold-{sys.argv[2]}').touch(); recorder.record(t.FIRST)\n"
    )
    paths = os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parents[2])])
    child = subprocess.Popen(
        [sys.executable, "-c", code, directory, phase], env={**os.environ, "PYTHONPATH": paths}
    )
    deadline = time.monotonic() + 120
    while not (directory / "reached").exists():
        assert child.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    (directory / f"hold-{phase}").unlink()
    recorder = CRecorder(request_in(directory))
    found: list[ChangeSet] = [SECOND, NOTHING, FIRST]
    assert [output(recorder.record(undone)) for undone in found] == [
        b"first 2\nsecond 1\n",
        b"first 2\nsecond 2\n",
        b"first 1\nsecond 2\n",
    ]


_LOOPING = """\
#include <stdio.h>
#include "first.h"
#include "second.h"
int main(void) {
    unsigned seen = 0;
    for (unsigned at = FIRST; at != END; at += STEP) seen++;
    printf("%u\\n", seen);
    return 0;
}
"""
_IN_A_FOLDER = "d=$(mktemp -d)\n./prog $d/out\nrm -r $d\n"


@pytest.fixture
def looping(tmp_path: Path) -> Path:
    """Both ends go round a few times; with one of the two changes undone the loop never meets its end."""
    common = {"p.c": _LOOPING, "Makefile": "all:\n\t$(CC) p.c -o prog\n", "run.sh": _IN_A_FOLDER}
    versions = [
        {
            **common,
            "first.h": f"#define FIRST {first}\n#define END 10000\n",
            "second.h": f"#define STEP {step}\n",
        }
        for first, step in ((0, 2), (1, 3))
    ]
    committed(tmp_path / "repository", versions)
    return tmp_path


def with_trace_limits(request: TraceRequest, **wanted: int) -> TraceRequest:
    limits = request.recipe.limits
    limits = replace(limits, trace=replace(limits.trace, **wanted))
    return replace(request, recipe=replace(request.recipe, limits=limits))


def test_a_variant_that_goes_on_for_far_longer_than_both_ends_is_ended(looping: Path) -> None:
    recorder = CRecorder(with_trace_limits(request_in(looping), beyond=5_000))
    ends = [recorder.record(undone).processes[0].recording for undone in (NOTHING, FIRST | SECOND)]
    most = 4 * max(end.end for end in ends) + 5_000
    (process,) = recorder.record(FIRST).processes
    assert process.recording.ending.how == "cut"
    assert process.recording.stopped
    assert most <= process.recording.end < most + 1_000
    assert [failed.kind for failed in hang(process)] == [FailureKind.HANG]


def test_a_variant_that_is_recorded_before_either_end_is_not_measured_by_them(
    directory: Path,
) -> None:
    (process,) = (
        CRecorder(with_trace_limits(request_in(directory), beyond=5)).record(FIRST).processes
    )
    assert not process.recording.stopped


def test_a_process_is_found_again_in_another_run_whose_folder_of_temporary_files_is_another(
    looping: Path,
) -> None:
    (process,) = CRecorder(request_in(looping)).record(NOTHING).processes
    again = process.recording.repeated()
    assert [each.data for each in again] == [each.data for each in process.recording.output()]


def test_an_end_that_makes_more_records_than_are_waited_for_is_said_to(looping: Path) -> None:
    recorder = CRecorder(with_trace_limits(request_in(looping), recorded=2_000))
    with pytest.raises(TraceError, match="failing run was ended after 2,000 events"):
        recorder.record(NOTHING)


def test_who_waits_hears_what_is_recorded_and_how_far_it_is(directory: Path) -> None:
    heard = Heard()
    recorder = CRecorder(replace(request_in(directory), progress=heard))
    run = recorder.record(NOTHING)
    assert heard.stages == [
        "building both versions with the tracer",
        "recording a run of the test: the failing one",
    ]
    assert records_made(run.version.runs) == 0  # no lap is full yet
    assert modules_made(directory / "trace") == 6  # three files, at both ends


def test_records_are_counted_by_laps(tmp_path: Path) -> None:
    for number, laps in enumerate((2, 3)):
        (tmp_path / f"{number:06d}").mkdir()
        np.array([64, laps, *[0] * 10], np.uint64).tofile(tmp_path / f"{number:06d}/head")
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun/head").touch()
    assert records_made(tmp_path) == 320
