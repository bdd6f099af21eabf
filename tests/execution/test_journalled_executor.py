"""Runs that are written down: answered in their order after a kill, and told apart from a cache."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

import pytest

from afterd.execution.cache import MemoryCache, OutcomeKey, key_of_test
from afterd.execution.executors.journal import JournalFirst, JournalledExecutor
from afterd.execution.executors.protocol import Attempt, Job
from afterd.execution.executors.workbench import Workbench
from afterd.execution.recipe import Recipe
from afterd.model.outcome import Outcome, Unresolved, Verdict

JOB = Job("t" * 40, Recipe(("make", "check"), test_id="make check"))


class Memory:
    """A journal that outlives executors, as the database does."""

    work = "a job"

    def __init__(self) -> None:
        self.kept: dict[tuple[OutcomeKey, int], Attempt] = {}

    def get(self, key: OutcomeKey, number: int) -> Attempt | None:
        return self.kept.get((key, number))

    def put(self, key: OutcomeKey, number: int, attempt: Attempt) -> None:
        assert (key, number) not in self.kept
        self.kept[key, number] = attempt


class Scripted:
    """An executor whose runs end as they are told to."""

    width = 1

    def __init__(self, *attempts: Attempt | Exception) -> None:
        self.left = list(attempts)

    def submit(self, job: Job) -> Future[Attempt]:  # noqa: ARG002 - every job ends alike
        answer: Future[Attempt] = Future()
        told = self.left.pop(0)
        if isinstance(told, Exception):
            answer.set_exception(told)
        else:
            answer.set_result(told)
        return answer

    @contextmanager
    def workbench(self, tree: str = "") -> Iterator[Workbench]:
        raise NotImplementedError(tree)

    def close(self) -> None:
        """Nothing is under way."""


def attempt(verdict: Verdict, reason: Unresolved | None = None) -> Attempt:
    return Attempt(Outcome(verdict, reason), tests=1)


PASS, FAIL = attempt(Verdict.PASS), attempt(Verdict.FAIL)


def asked(executor: JournalledExecutor, times: int) -> list[Attempt]:
    return [executor.submit(JOB).result() for _ in range(times)]


@pytest.mark.parametrize("before", [0, 1, 2, 3])
def test_a_resumed_job_repeats_none_of_its_runs(before: int) -> None:
    journal, runs = Memory(), [FAIL, PASS, FAIL]
    assert asked(JournalledExecutor(Scripted(*runs), journal), before) == runs[:before]
    behind = Scripted(*runs[before:])
    assert asked(JournalledExecutor(behind, journal), 3) == runs
    assert behind.left == []


def test_what_did_not_come_to_its_end_is_made_again() -> None:
    journal = Memory()
    cut = attempt(Verdict.UNRESOLVED, Unresolved.NOT_RUN)
    assert asked(JournalledExecutor(Scripted(cut), journal), 1) == [cut]
    first = JournalledExecutor(Scripted(OSError("the disk")), journal)
    with pytest.raises(OSError, match="the disk"):
        first.submit(JOB).result()
    assert asked(JournalledExecutor(Scripted(PASS), journal), 1) == [PASS]


def test_the_jobs_own_outcome_in_the_cache_does_not_take_a_runs_place() -> None:
    """A variant is asked for (cached from then on), then run once more to be sure."""
    key = key_of_test(JOB.recipe, JOB.tree)  # here: pytest's own variables are part of it
    journal, cache = Memory(), MemoryCache()
    for made in ([PASS, FAIL], []):  # undisturbed, and after a kill: the second time nothing is run
        executor = JournalledExecutor(Scripted(*made), journal)
        kept = JournalFirst(cache, executor)
        assert kept.get(key) is None
        answer = executor.submit(JOB).result()
        kept.put(key, answer.outcome)
        assert (answer, executor.submit(JOB).result()) == (PASS, FAIL)
    assert JournalFirst(cache, JournalledExecutor(Scripted(), Memory())).get(key) == PASS.outcome
