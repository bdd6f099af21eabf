"""What was begun before it was asked for is not run again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from trees_and_slots import Workshop

from afterd.execution.executors import Job, LocalExecutor
from afterd.execution.executors.begun import BegunFirst
from afterd.execution.recipe import Recipe


def test_a_job_that_was_begun_is_given_to_the_first_who_asks(tmp_path: Path) -> None:
    """Whatever is left of the budget by then; another job, and the same once more, are run."""
    workshop = Workshop(tmp_path)
    count = tmp_path / "count"
    job = Job(workshop.tree({"test.sh": f"echo run >> {count}"}), Recipe(("sh", "test.sh")))
    executor = BegunFirst(LocalExecutor([workshop.slot()]))
    executor.begin(job)

    def runs_after(asked: Job) -> int:
        assert executor.submit(asked).result().outcome.passed
        return count.read_text().count("run")

    other = replace(job, recipe=replace(job.recipe, test_id="another"))
    assert runs_after(replace(job, fresh=True)) == 2
    assert runs_after(other) == 3
    assert runs_after(replace(job, seconds=9.0)) == 3
    assert runs_after(job) == 4
    executor.close()


def test_what_nobody_asks_for_is_ended_with_the_executor(tmp_path: Path) -> None:
    workshop = Workshop(tmp_path)
    executor = BegunFirst(LocalExecutor([workshop.slot()]))
    executor.begin(Job(workshop.tree({"test.sh": "sleep 600"}), Recipe(("sh", "test.sh"))))
    executor.close()
