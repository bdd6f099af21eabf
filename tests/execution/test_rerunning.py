"""Warm runs are trusted when they were seen to agree, and no longer than that."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from trees_and_slots import Workshop

from afterd.execution import sandbox
from afterd.execution.executors.local import LocalExecutor
from afterd.execution.executors.protocol import Attempt, Job
from afterd.execution.oracle import Oracle
from afterd.execution.process import Command, ProcessResult
from afterd.execution.recipe import Recipe
from afterd.execution.rerunning import ColdError, Recording, Reruns
from afterd.limits import ProcessLimits
from afterd.model.change import NOTHING, ChangeSet
from afterd.model.outcome import Verdict

RECIPE = Recipe(("sh", "test.sh"))
ALL = frozenset({"c1", "c2"})
SOME = frozenset({"c1"})


@dataclass
class Again:
    """A "warm process" that starts a fresh one; ``text`` is what it runs instead of the test."""

    command: Command
    limits: ProcessLimits
    text: str = ""
    cold: str = ""
    lost: bool = False
    probes: int = 1
    dies: bool = False
    closed: bool = False
    probed: bool = False

    def run(self, timeout: float | None = None) -> ProcessResult:
        """Run the test, or the lie."""
        if self.dies:
            raise ColdError("it died")
        argv = ("sh", "-c", self.text) if self.text else self.command.argv
        return sandbox.run(
            replace(self.command, argv=argv), replace(self.limits, timeout=timeout or 9.0)
        )

    def taken_probe(self) -> ProcessResult | None:
        """A run for which nothing was imported ahead, once."""
        if self.text or self.dies or self.probed:
            return None
        self.probed = True
        return self.run()

    def record(self, recording: Recording) -> ProcessResult:
        """Run another command, or die."""
        if self.dies:
            raise ColdError("it died")
        return sandbox.run(recording.command, self.limits)

    def close(self) -> None:
        """Remember it."""
        self.closed = True


class Range:
    """A failing tree, a passing one, and one between that passes; with an oracle over them."""

    def __init__(self, folder: Path, made: list[Again], **how: object) -> None:
        self.workshop = Workshop(folder)
        texts = {NOTHING: "echo bad; exit 1", ALL: "exit 0", SOME: "true"}
        self.trees = {key: self.workshop.tree({"test.sh": text}) for key, text in texts.items()}
        self.made = made

        def warm(
            command: Command, _tree: Path, limits: ProcessLimits, _scratch: Path | None
        ) -> Again:
            made.append(Again(command, limits, **how))  # type: ignore[arg-type] # by name
            return made[-1]

        self.reruns = Reruns(warm)
        self.executor = LocalExecutor([self.workshop.slot()], reruns=self.reruns)
        self.oracle = self.new_oracle()

    def new_oracle(self) -> Oracle:
        """Another oracle on the same executor, that remembers nothing."""
        return Oracle(lambda reverted: self.trees[reverted], RECIPE, self.executor)

    def attempt(self, reverted: ChangeSet) -> Attempt:
        """A run that confirms."""
        return self.oracle.attempt(self.trees[reverted])

    def confirm(self) -> None:
        """Both ends, twice each."""
        for end in (NOTHING, NOTHING, ALL, ALL):
            self.attempt(end)


@pytest.fixture
def made(tmp_path: Path) -> Iterator[list[Again]]:
    found: list[Again] = []
    yield found
    shutil.rmtree(tmp_path)
    assert all(each.closed for each in found)


def test_a_slot_that_was_made_anew_has_another_warm_process(
    tmp_path: Path, made: list[Again]
) -> None:
    """Hunspell: what a failed build had left was thrown away, the folder with it, and from then on the test of each
    version found no library: the good version was called red.
    """
    span = Range(tmp_path, made)
    span.confirm()
    assert span.oracle.outcome(SOME).warm
    [before] = made
    span.workshop.slot().hard_reset()
    assert span.attempt(ALL).outcome.warm
    assert before.closed
    assert len(made) == 2
    span.executor.close()


def test_trust_is_earned_at_both_ends(tmp_path: Path, made: list[Again]) -> None:
    """First fresh, then warm and compared; the run that got it ready counts."""
    span = Range(tmp_path, made)
    assert [span.attempt(NOTHING).outcome.warm for _ in range(2)] == [False, True]
    assert not span.reruns.trusted(RECIPE)
    assert not span.oracle.outcome(SOME).warm, "no passing tree was compared"
    assert [span.attempt(ALL).outcome.warm for _ in range(2)] == [False, True]
    assert span.reruns.trusted(RECIPE)
    assert span.new_oracle().outcome(SOME).warm
    counts = span.oracle.counts()
    assert (counts.confirmation, counts.tests, counts.warm) == (5, 1, 3)
    assert len(made) == 1
    span.executor.close()


def test_what_was_asked_before_costs_as_much(tmp_path: Path, made: list[Again]) -> None:
    """What a run costs says whether evidence is worth it. An end that had been run before it was confirmed
    was then run in forks alone, and one whose outcome was remembered in a process of its own: another search.
    """
    span = Range(tmp_path, made, text="exit 0")
    burns = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"
    span.trees[ALL] = span.workshop.tree({"test.sh": burns})
    asked = span.new_oracle()
    assert asked.outcome(ALL).passed
    after = [span.oracle.attempt(span.trees[ALL]) for _ in range(2)]
    assert [(each.outcome.warm, each.outcome.cpu) for each in after] == [(True, 0.0)] * 2
    assert asked.known_cost(span.trees[ALL]) > 0.05
    span.executor.close()


def test_only_where_it_is_trusted_a_warm_process_records(tmp_path: Path, made: list[Again]) -> None:
    """What it makes impossible is left to a fresh process, and costs it no trust."""
    span = Range(tmp_path, made)
    [slot] = (bench.slot.path for bench in span.executor._free)  # the one that works
    recording = Recording(Command(("echo", "recorded"), tmp_path), tmp_path, 9.0)
    assert span.reruns.recorded(slot, RECIPE, recording, None) is None, "there is none yet"
    span.attempt(NOTHING)
    span.attempt(NOTHING)
    assert span.reruns.recorded(slot, RECIPE, recording, None) is None, (
        "no passing tree was compared"
    )
    span.attempt(ALL)
    span.attempt(ALL)
    assert span.reruns.recorded(slot, replace(RECIPE, test_id="another"), recording, None) is None
    found = span.reruns.recorded(slot, RECIPE, recording, None)
    assert found is not None
    assert found.stdout.text() == "recorded\n"
    found.remove()
    made[0].dies = True
    assert span.reruns.recorded(slot, RECIPE, recording, None) is None
    assert span.reruns.trusted(RECIPE)
    span.executor.close()


def test_a_runner_in_python_is_not_the_program(tmp_path: Path, made: list[Again]) -> None:
    """Meson is a script of Python; a fork of it saves nothing of what a C program's test costs."""
    span = Range(tmp_path, made)
    recipe = replace(RECIPE, test=("meson", "test"), told_by="Meson")
    span.reruns.note(recipe, "tree", span.attempt(NOTHING).outcome)
    assert not span.reruns.wanted(recipe, "tree")
    assert span.reruns.wanted(RECIPE, span.trees[NOTHING])
    span.attempt(NOTHING)
    span.executor.close()


def test_the_first_fork_of_a_good_version_is_its_fresh_run(
    tmp_path: Path, made: list[Again]
) -> None:
    """Nothing was imported ahead of it: it saves the run that gets a warm process ready. Where it does not pass, or
    a warm process is there already, a fresh one tells.
    """
    span = Range(tmp_path, made)
    first = span.oracle.attempt(span.trees[ALL], forked=True)
    assert (first.outcome.passed, first.outcome.warm, first.tests, first.warm_tests) == (
        *(True, True),
        *(1, 1),
    )
    assert first.outcome.cpu > 0.0, "it cost what a fresh run costs"
    assert span.oracle.attempt(span.trees[ALL]).outcome.warm
    assert not span.reruns.trusted(RECIPE), "no failing tree was compared"
    again = span.oracle.attempt(span.trees[NOTHING], forked=True)
    assert (again.outcome.passed, again.outcome.warm, again.tests) == (False, False, 1)
    assert span.oracle.attempt(span.trees[NOTHING]).outcome.warm
    assert span.reruns.trusted(RECIPE)
    span.executor.close()


def test_a_first_fork_that_fails_is_run_afresh(tmp_path: Path, made: list[Again]) -> None:
    span = Range(tmp_path, made)
    red = span.oracle.attempt(span.trees[NOTHING], forked=True)
    assert (red.outcome.verdict, red.outcome.warm, red.tests) == (Verdict.FAIL, False, 2)
    span.executor.close()


@pytest.mark.parametrize(("status", "earned"), [(1, True), (0, False)])
def test_a_recorded_run_that_ends_as_the_fresh_one_earns_trust(
    tmp_path: Path, made: list[Again], status: int, *, earned: bool
) -> None:
    """One that ends otherwise says nothing against warm ones: that it records itself may be why."""
    span = Range(tmp_path, made)
    span.oracle.attempt(span.trees[ALL], forked=True)
    assert span.oracle.attempt(span.trees[ALL]).outcome.warm
    fresh = span.attempt(NOTHING).outcome
    ends = span.trees[NOTHING], Verdict.FAIL
    assert span.reruns.compares(RECIPE, *ends), (
        "a plain run of it would be the first to be compared"
    )
    assert not span.reruns.compares(RECIPE, "another tree", Verdict.FAIL), "with no fresh run"
    verdict = Verdict.FAIL if status else Verdict.PASS
    recorded = replace(fresh, verdict=verdict, signature=fresh.signature if status else None)
    assert span.reruns.earns(RECIPE, span.trees[NOTHING], recorded) is earned
    assert span.reruns.trusted(RECIPE) is earned
    assert span.reruns.compares(RECIPE, *ends) is not earned
    assert span.reruns.wanted(RECIPE, span.trees[NOTHING])
    span.executor.close()


LIES = {
    "always passes": "exit 0",
    "always fails": "echo bad; exit 1",
    "fails otherwise": "exit 3",
}


@pytest.mark.parametrize("text", LIES.values(), ids=LIES)
def test_a_lie_is_noticed(text: str, tmp_path: Path, made: list[Again]) -> None:
    """The answer is the fresh run's; both runs count, and no further run is warm."""
    span = Range(tmp_path, made, text=text)
    span.confirm()
    assert not span.reruns.trusted(RECIPE)
    assert "did not end as a fresh one" in span.reruns.why_fresh(RECIPE)
    assert not span.oracle.outcome(SOME).warm
    assert span.oracle.outcome(ALL).passed
    assert span.oracle.outcome(NOTHING).verdict is Verdict.FAIL
    assert span.oracle.counts().confirmation > 5
    span.executor.close()


def test_a_run_that_does_not_count_is_repeated(tmp_path: Path, made: list[Again]) -> None:
    """A fork that died says nothing: the same run is made in a process of its own."""
    span = Range(tmp_path, made)
    span.confirm()
    made[0].dies = True
    outcome = span.oracle.outcome(SOME)
    assert outcome.passed
    assert not outcome.warm
    assert span.oracle.counts().tests == 2
    made[0].dies = False
    assert span.new_oracle().outcome(SOME).warm, "the process itself is well"
    span.executor.close()


def test_cold_is_said(tmp_path: Path, made: list[Again]) -> None:
    """Where a fork is not safe the reason is given; nothing is tried again."""
    span = Range(tmp_path, made, cold="a fork is not safe: threads")
    span.confirm()
    expected = "The test was run in processes of its own alone: a fork is not safe: threads."
    assert span.reruns.why_fresh(RECIPE) == expected
    assert len(made) == 1
    span.executor.close()


def test_the_answer_can_be_asked_for_afresh(tmp_path: Path, made: list[Again]) -> None:
    """What was seen warm is confirmed by one run more, which is not warm; and can be forgotten."""
    span = Range(tmp_path, made)
    span.confirm()
    assert span.oracle.outcome(SOME).passed
    assert span.oracle.is_warm(SOME)
    assert not span.oracle.afresh(SOME).warm
    assert not span.oracle.is_warm(SOME)
    other = span.new_oracle()
    assert other.outcome(SOME).warm
    other.distrust_warm()
    span.reruns.distrust(RECIPE, "it lied")
    assert not other.outcome(SOME).warm
    span.executor.close()


def test_another_test_in_between(tmp_path: Path, made: list[Again]) -> None:
    """A slot has one warm process; coming back to a test makes a new one, which is trusted."""
    span = Range(tmp_path, made)
    span.confirm()
    other = replace(RECIPE, test_id="another")
    for _ in range(2):
        span.executor.submit(Job(span.trees[ALL], other)).result()
    assert [each.closed for each in made] == [True, False]
    assert span.oracle.outcome(SOME).warm
    assert [each.closed for each in made] == [True, True, False]
    span.executor.close()


def test_a_full_disk_is_for_the_fresh_run_to_tell(tmp_path: Path) -> None:
    workshop = Workshop(tmp_path)

    def warm(*_given: object) -> Again:
        raise OSError(28, "No space left on device")

    reruns = Reruns(warm)
    executor = LocalExecutor([workshop.slot()], reruns=reruns)
    tree = workshop.tree({"test.sh": "exit 0"})
    assert all(executor.submit(Job(tree, RECIPE)).result().outcome.passed for _ in range(3))
    assert "No space left" in reruns.why_fresh(RECIPE)
    executor.close()


def test_nothing_is_said_of_programs_it_is_not_meant_for(tmp_path: Path) -> None:
    workshop = Workshop(tmp_path)
    reruns = Reruns(lambda *_given: None)
    executor = LocalExecutor([workshop.slot()], reruns=reruns)
    tree = workshop.tree({"test.sh": "exit 0"})
    for _ in range(3):
        assert executor.submit(Job(tree, RECIPE)).result().tests == 1
    assert not reruns.why_fresh(RECIPE)
    executor.close()
