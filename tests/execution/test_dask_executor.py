"""Jobs on a real Dask cluster: the same answers as here, also when a worker is killed."""

from __future__ import annotations

import dataclasses
import os
import pickle
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from trees_and_slots import Workshop

pytest.importorskip("distributed", reason="the extra dask is not installed")

from dask_cluster import Cluster

from afterd.errors import ConfigurationError, SandboxError
from afterd.execution.executors import Attempt, Job, LocalExecutor
from afterd.execution.executors.chosen import chosen_executor
from afterd.execution.executors.dask import DaskExecutor
from afterd.execution.recipe import Recipe
from afterd.limits import Limits, ProcessLimits
from afterd.model.outcome import Verdict

LIMITS = dataclasses.replace(
    Limits(), test=ProcessLimits(timeout=20.0, grace=0.1), build=ProcessLimits(timeout=20.0)
)
BUILD = "! grep -q broken a || { echo 'a: error: broken'; exit 1; }; cp a built"
TEST = (
    'echo x >> "$COUNT"; sleep "$(cat pause)"; cmp -s a built && grep -q good a'
    ' || { echo "f: Assertion \\`g\' failed" >&2; exit 1; }'
)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


@pytest.fixture
def local(workshop: Workshop) -> Iterator[LocalExecutor]:
    executor = LocalExecutor([workshop.slot()])
    yield executor
    executor.close()


@pytest.fixture
def executor(cluster: Cluster, workshop: Workshop, local: LocalExecutor) -> Iterator[DaskExecutor]:
    while sum(worker.poll() is None for worker in cluster.workers) < 2:
        cluster.add_worker()
    made = DaskExecutor(cluster.address, workshop.path, local)
    made._client.wait_for_workers(2, timeout=40)
    yield made
    made.close()


def recipe(folder: Path) -> Recipe:
    extra = {"COUNT": str(folder / "count"), "PATH": os.environ["PATH"]}
    return Recipe(("sh", "-c", TEST), ("sh", "-c", BUILD), "t", extra=extra, limits=LIMITS)


def trees(workshop: Workshop, count: int, pause: str = "0") -> list[str]:
    words = ("good", "bad", "broken")
    return [
        workshop.tree({"a": f"{words[n % 3]}\n", "pause": pause, f"n{n}": "", "same/b": "b" * 9000})
        for n in range(count)
    ]


def shown(attempt: Attempt) -> Attempt:
    """What does not depend on the clock."""
    outcome = dataclasses.replace(attempt.outcome, build_seconds=0.0, test_seconds=0.0, cpu=0.0)
    return dataclasses.replace(attempt, outcome=outcome)


def test_the_same_answers_as_here(
    executor: DaskExecutor, local: LocalExecutor, workshop: Workshop, tmp_path: Path
) -> None:
    jobs = [Job(tree, recipe(tmp_path)) for tree in trees(workshop, 6)]
    jobs += [
        dataclasses.replace(jobs[1], build_only=True),
        dataclasses.replace(jobs[0], seconds=0.0),
    ]
    assert executor.width == 2
    remote = [future.result(40) for future in [executor.submit(job) for job in jobs]]
    here = [local.submit(job).result(40) for job in jobs]
    assert [(each.outcome.verdict, each.outcome.reason) for each in remote] == [
        (each.outcome.verdict, each.outcome.reason) for each in here
    ]
    assert [shown(each) for each in remote[:6]] == [shown(each) for each in here[:6]]
    with executor.workbench() as bench:
        assert bench.slot.path == workshop.slot().path


def test_a_killed_worker_costs_its_run_and_nothing_else(
    executor: DaskExecutor, cluster: Cluster, workshop: Workshop, tmp_path: Path
) -> None:
    jobs = [Job(tree, recipe(tmp_path)) for tree in trees(workshop, 12, "0.4")]
    futures = [executor.submit(job) for job in jobs]
    futures[0].result(40)
    victim = cluster.workers[-1]
    os.killpg(victim.pid, signal.SIGKILL)
    verdicts = [future.result(40).outcome.verdict for future in futures]
    assert verdicts == [Verdict.PASS, Verdict.FAIL, Verdict.UNRESOLVED] * 4
    runs = (tmp_path / "count").read_text().count("x")
    assert 8 <= runs <= 8 + 2  # what does not build is not run; the victim had one or two under way


def test_a_worker_that_joins_later_has_what_it_needs(
    executor: DaskExecutor, cluster: Cluster, workshop: Workshop, tmp_path: Path
) -> None:
    first, *rest = trees(workshop, 10, "0.1")
    assert executor.submit(Job(first, recipe(tmp_path))).result(40).outcome.passed
    cluster.add_worker(threads=2)
    executor._client.wait_for_workers(3, timeout=40)
    outcomes = [executor.submit(Job(tree, recipe(tmp_path))) for tree in rest]
    assert [each.result(40).outcome.verdict for each in outcomes[2::3]] == [Verdict.PASS] * 3


def test_closing_ends_what_runs_and_removes_what_was_sent(
    cluster: Cluster, workshop: Workshop, local: LocalExecutor, tmp_path: Path
) -> None:
    made = DaskExecutor(cluster.address, workshop.path, local)
    [slow] = trees(workshop, 1, "30")
    future = made.submit(Job(slow, recipe(tmp_path)))
    deadline = time.monotonic() + 20
    while not (tmp_path / "count").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    started = time.monotonic()
    made.close()
    assert time.monotonic() - started < 15
    with pytest.raises(SandboxError):
        future.result(5)
    assert not list(cluster._folder.glob(f"worker-*/**/{made._session}"))


def test_no_scheduler_no_workers_no_client(
    tmp_path: Path, workshop: Workshop, local: LocalExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("afterd.execution.executors.dask.CONNECT", 1.0)
    with pytest.raises(SandboxError, match="scheduler must be running"):
        chosen_executor("dask://127.0.0.1:9", workshop.path, local)
    lonely = Cluster(tmp_path)
    try:
        setting = lonely.address.replace("tcp://", "dask://")
        with pytest.raises(SandboxError, match="has no workers; start some"):
            chosen_executor(setting, workshop.path, local)
    finally:
        lonely.close()
    monkeypatch.setitem(__import__("sys").modules, "afterd.execution.executors.dask", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'afterd\[dask\]'"):
        chosen_executor("dask://127.0.0.1:9", workshop.path, local)
    assert chosen_executor("local", workshop.path, local) is local


def test_a_scheduler_that_dies_is_a_sentence_and_holds_nobody(
    tmp_path: Path, workshop: Workshop, local: LocalExecutor
) -> None:
    (tmp_path / "own").mkdir()
    own = Cluster(tmp_path / "own")
    try:
        own.add_worker()
        made = DaskExecutor(own.address, workshop.path, local)
        [slow] = trees(workshop, 1, "30")
        future = made.submit(Job(slow, recipe(tmp_path)))
        while not (tmp_path / "count").exists():
            time.sleep(0.05)
        own.close()
        started = time.monotonic()
        with pytest.raises(SandboxError, match="scheduler must be running"):
            future.result(40)
        made.close()
        assert time.monotonic() - started < 40
    finally:
        own.close()


def test_a_job_is_a_value(tmp_path: Path) -> None:
    job = Job("t" * 40, recipe(tmp_path))
    assert pickle.loads(pickle.dumps(job)) == job
