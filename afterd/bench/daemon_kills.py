"""``afterd bench daemon``: SIGKILL at random moments over a queue of jobs, and what it changes.

The same queue is worked off twice: by a daemon that is left alone, and by daemons that are killed
one after the other. Every job must end with the same answer, nothing may be done twice but the run
that was under way, and nothing may be left behind.
"""

from __future__ import annotations

import fcntl
import json
import multiprocessing
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.context import ForkServerContext
from pathlib import Path

from afterd.bench.daemon_repository import TEST, VARIABLE, make_base, push
from afterd.config import Settings
from afterd.daemon.poster import Poster
from afterd.daemon.serve import serve
from afterd.execution.process_tree import tagged_processes
from afterd.store.database import DATABASE_NAME, Reader, open_reader

_PATIENCE = 600.0
_LONGEST = 2.0  # undisturbed jobs that a killed daemon could do at most
_AHEAD = 3  # jobs that there are to do at least, so that a daemon is killed at work
_ANSWER = """
SELECT v.commit_id, v.base, v.test, v.kind, v.reason, v.runs, e.contract
FROM verdict v LEFT JOIN explanation e ON e.id = v.explanation_id ORDER BY v.commit_id, v.test"""
_TABLES = ("verdict", "explanation", "history", "outgoing", "job")
_LOCKS = ("daemon.lock", "slots.lock", "afterd.db.lock")
_COSTS = ("id", "runs")  # keys of the contract that say what finding the answer took


@dataclass(frozen=True, slots=True)
class Survey:
    """What a worked-off queue left: the answers by commit and test, rows by table, test runs, and
    what is wrong, as sentences.
    """

    answers: Mapping[tuple[str, str], object]
    rows: Mapping[str, int]
    runs: int
    wrong: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kills:
    """The two surveys compared; ``wrong`` is empty where every promise was kept."""

    kills: int
    jobs: int
    answers: int
    runs: int
    runs_killed: int
    seconds: float
    wrong: tuple[str, ...]


def daemon_kills(
    kills: int, jobs: int, seed: int = 0, say: Callable[[str], None] = lambda _line: None
) -> Kills:
    """Kill daemons ``kills`` times over a queue of at least ``jobs`` jobs.

    Where the queue is nearly done before, more branches are pushed, one before each kill; then the
    undisturbed daemon gets as many.
    """
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="afterd-bench-", ignore_cleanup_errors=True) as folder:
        killed, alone = Path(folder) / "killed.git", Path(folder) / "single.git"
        for path in (killed, alone):
            make_base(path)
            _finish(path)  # the good commit is the base of all the others
        for number in range(jobs):
            push(alone, number)
        a_job = _finish(alone) / jobs
        longest = _LONGEST * a_job
        pushed = _kill(killed, kills, jobs, longest, random.Random(seed), say)  # noqa: S311 - no secret
        for number in range(jobs, pushed):
            push(alone, number)
        _finish(alone)
        return _compared_runs(
            kills, pushed, survey(alone), survey(killed), time.monotonic() - began
        )


def _kill(
    path: Path,
    kills: int,
    jobs: int,
    longest: float,
    chance: random.Random,
    say: Callable[[str], None],
) -> int:
    """Kill as often as is asked for, and let the last daemon finish; the branches pushed."""
    pushed, killed = 0, 0
    while killed < kills:
        while pushed < jobs or _unfinished_jobs(path) < _AHEAD:
            push(path, pushed)
            pushed += 1
            if pushed > jobs:
                break
        with _daemon(path) as daemon:
            daemon.join(chance.uniform(0.0, longest))
            killed += daemon.is_alive()  # one that had finished was not killed at work
        say(f"kill {killed} of {kills}, {_unfinished_jobs(path)} of {pushed} jobs to do")
    _finish(path)
    return pushed


def _finish(path: Path) -> float:
    """Let a daemon empty the queue; the seconds it took."""
    began = time.monotonic()
    with _daemon(path) as daemon:
        daemon.join(_PATIENCE)
        if daemon.exitcode != 0:
            raise TimeoutError(f"the daemon of {path} did not finish: {daemon.exitcode}")
    return time.monotonic() - began


@contextmanager
def _daemon(path: Path) -> Iterator[multiprocessing.process.BaseProcess]:
    """A daemon at work in a process of its own; it is dead afterwards."""
    process = _processes().Process(target=_serve, args=(path,))
    process.start()
    try:
        yield process
    finally:
        process.kill()
        process.join()


def _processes() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["afterd.bench.daemon_kills"])
    return context


def _serve(path: Path) -> None:
    """What a killed process does: a daemon that empties its queue and leaves."""
    os.environ[VARIABLE] = str(_log(path))
    tempfile.tempdir = str(_temporary(path))
    _temporary(path).mkdir(exist_ok=True)
    _, writing = os.pipe()
    serve([Settings(path, test=TEST)], Poster(writing), once=True, spoken=False)


def _log(path: Path) -> Path:
    return path.with_suffix(".runs")


def _temporary(path: Path) -> Path:
    return path.with_suffix(".tmp")


def _unfinished_jobs(path: Path) -> int:
    """Jobs that are not done; -1 where not even the database is there."""
    state = path / "afterd" / DATABASE_NAME
    if not state.exists():
        return -1
    with open_reader(state) as reader:
        rows = reader.rows(
            "SELECT count(*) AS n FROM job WHERE state IN ('waiting', 'queued', 'leased')"
        )
        return int(str(rows[0]["n"]))


def survey(path: Path) -> Survey:
    """What a daemon that has ended left behind."""
    state = path / "afterd"
    with open_reader(state / DATABASE_NAME) as reader:
        answers = {
            (str(row["commit_id"]), str(row["test"])): {
                **row,
                "contract": _essence(row["contract"], path),
            }
            for row in reader.rows(_ANSWER)
        }
        rows = {name: _count(reader, name) for name in _TABLES}
        wrong = [*_of_database(reader), *_of_locks(state), *_of_leftovers(path)]
    runs = len(_log(path).read_text().splitlines())
    return Survey(answers, rows, runs, tuple(wrong))


def _essence(contract: object, path: Path) -> str:
    """An explanation without what it cost, and without its repository's name."""
    if contract is None:
        return ""
    kept = {k: v for k, v in json.loads(str(contract)).items() if k not in _COSTS}
    return json.dumps(kept).replace(path.name, "")


def _count(reader: Reader, table: str) -> int:
    return int(str(reader.rows(f"SELECT count(*) AS n FROM {table}")[0]["n"]))  # noqa: S608 - our own names


def _of_database(reader: Reader) -> Iterator[str]:
    [check] = reader.rows("PRAGMA integrity_check")
    if check["integrity_check"] != "ok":
        yield f"the database is damaged: {check['integrity_check']}"
    for row in reader.rows("SELECT key, state, reason FROM job WHERE state <> 'done'"):
        yield f"the job {row['key']} is {row['state']}: {row['reason']}"
    for row in reader.rows("SELECT key, count(*) AS n FROM job GROUP BY key HAVING n > 1"):
        yield f"{row['n']} jobs were made of {row['key']}"


def _of_locks(state: Path) -> Iterator[str]:
    for name in _LOCKS:
        with (state / name).open("r+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield f"{name} is held by nobody alive"


def _of_leftovers(path: Path) -> Iterator[str]:
    state = path / "afterd"
    for folder in (_temporary(path), state / "inbox"):
        if folder.is_dir() and any(folder.iterdir()):
            yield f"{folder.name} is not empty"
    if alive := tagged_processes(os.fsencode(f"{VARIABLE}={_log(path)}")):
        yield f"{len(alive)} processes of tests are alive"


def _compared_runs(kills: int, jobs: int, alone: Survey, killed: Survey, seconds: float) -> Kills:
    others = [
        f"the answer for {key} is {killed.answers.get(key)}, and should be {alone.answers.get(key)}"
        for key in alone.answers.keys() | killed.answers.keys()
        if alone.answers.get(key) != killed.answers.get(key)
    ]
    counts = [
        f"{name} has {killed.rows[name]} rows, and should have {count}"
        for name, count in alone.rows.items()
        if killed.rows[name] != count
    ]
    wrong = [*killed.wrong, *alone.wrong, *others, *counts]
    if (more := killed.runs - alone.runs) > kills:
        wrong.append(f"{more} test runs were made again, more than the {kills} that were under way")
    return Kills(kills, jobs, len(alone.answers), alone.runs, killed.runs, seconds, tuple(wrong))
