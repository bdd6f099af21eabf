"""What is known of a run whose beginning is not in the window any more."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from conftest import INSTALLED
from two_versions import VERSIONS, Case, traced_cases

from afterd.limits import Limits, TraceLimits
from afterd.model.change import NOTHING
from afterd.model.term import reads
from afterd.model.trace import Alignment, Step, StepKind
from afterd.trace.c.window.replay import Reexecution
from afterd.trace.c.window.segment import segment

EARLY = frozenset({"c1"})  # the change of another case


@pytest.fixture(scope="module", params=[(), (EARLY, NOTHING)], ids=["ends", "after a variant"])
def cases(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Case]:
    """Traced with the smallest window there is; also after a variant was built and run."""
    versions = VERSIONS.with_name("versions_of_long_runs")
    return traced_cases(
        tmp_path_factory.mktemp("long"),
        next(iter(INSTALLED.values())),
        versions,
        Limits(trace=TraceLimits(window=8192)),
        request.param,
    )


@pytest.fixture
def interpreter(cases: dict[str, Case]) -> Case:
    """A loop that runs since long before the window."""
    return cases["interpreter"]


@pytest.fixture
def dispatch(interpreter: Case) -> Step:
    """The call that went to another function, of 20,000."""
    (call,) = [
        step for step in interpreter.at("operations[code[at]](4);") if step.rendered == "take"
    ]
    return call


def test_iterations_of_a_loop_that_began_before_the_window_are_aligned(dispatch: Step) -> None:
    assert dispatch.kind is StepKind.BRANCH
    assert dispatch.green.alignment is Alignment.DIFFERENT
    assert dispatch.green.rendered == "add"


def test_what_was_written_before_the_window_is_found_with_its_change(
    interpreter: Case, dispatch: Step
) -> None:
    read = [interpreter.execution.step(read.step) for read in reads(dispatch.term)]
    (written,) = [step for step in read if step.text == "code[19990] = CHOSEN;"]
    assert written.changes


def test_a_run_that_ends_early_is_aligned_where_green_went_on_for_long(
    cases: dict[str, Case],
) -> None:
    steps = cases["early"].closure.values()
    (left,) = [step for step in steps if step.text.startswith("if (sum >") and step.value]
    assert left.green.alignment is Alignment.DIFFERENT
    (added,) = [step for step in cases["early"].at("sum += weight(round);") if step.value == 120]
    assert added.green.rendered == "40"


def test_how_often_a_block_ran_before_the_window_is_counted_once(
    interpreter: Case,
) -> None:
    """A loop that did not end took four minutes to explain: all its rounds were counted for each of its steps."""
    recording = interpreter.execution._pairs[interpreter.process].bad.recording
    busiest = int(np.argmax(recording.counts()))
    earlier = recording.before_window(busiest)
    assert earlier > 0
    asked = recording.work()
    assert recording.before_window(busiest) == earlier
    assert recording.work() == asked


@pytest.mark.parametrize("begun", [False, True])
def test_a_run_that_did_not_come_so_far_again_gives_no_records(tmp_path: Path, begun: bool) -> None:
    if begun:
        (tmp_path / "000000").mkdir()
        np.zeros(12, np.uint64).tofile(tmp_path / "000000" / "head")
    again = Reexecution(lambda _: tmp_path, 0, 1)
    assert again.ending_at(5, segment(9, np.ones(4, np.uint64))) is None
    assert again.departed


def test_a_run_is_not_made_again_for_longer_than_one_is_recorded(tmp_path: Path) -> None:
    made: list[object] = []

    def rerun(settings: object) -> Path:
        made.append(settings)
        return tmp_path

    again = Reexecution(rerun, 0, 12, most=30)
    again.executed = 25
    assert again.last_write(8, 4, segment(9, np.ones(4, np.uint64))) is None
    assert not made
