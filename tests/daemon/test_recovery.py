"""SIGKILL at random moments, in small; `afterd bench daemon` does a hundred. One daemon of many."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from daemon_repositories import TEXT, commit, made, service, verdicts
from lock_holder import be_the_daemon

from afterd.bench.daemon_kills import daemon_kills
from afterd.cli.bench_daemon import kills_sentences
from afterd.daemon import worker
from afterd.daemon.instance import only_one, running, wait_for
from afterd.daemon.worker import Narrator
from afterd.model.change import ChangeSet
from afterd.model.outcome import Outcome
from afterd.store.jobs import unfinished_jobs
from afterd.store.verdicts import StoredVerdict


def test_killed_daemons_leave_the_same_answers_and_nothing_else() -> None:
    found = daemon_kills(kills=4, jobs=2, seed=3)
    assert found.wrong == ()
    assert "0 things that are wrong" in kills_sentences(found)
    assert found.kills == 4
    assert found.answers >= 1
    assert found.runs_killed <= found.runs + found.kills, "at most the run that was under way"


class Stopper(Narrator):
    """Hears of a job's progress and stops each daemon one moment later than the one before."""

    moments = 0  # of the daemon that is at work
    at = 0  # where it is stopped; never at 0

    def stage(self, name: str, detail: str = "") -> None:
        super().stage(name, detail)
        self.count()

    def tried(self, reverted: ChangeSet, outcome: Outcome, runs: int) -> None:
        super().tried(reverted, outcome, runs)
        self.count()

    def count(self) -> None:
        Stopper.moments += 1
        if Stopper.moments == Stopper.at:
            raise SystemExit(143)


@dataclass(frozen=True)
class Program:
    """What is tested: its files when green and when red, and how."""

    green: Mapping[str, str]
    red: Mapping[str, str]
    test: str
    build: tuple[str, ...] = ()
    once: int = 0  # moments that do not come again: what was recorded before the stop is kept


_C = "int add(int a, int b) {\n    int sum = a + b;\n    return sum;\n}\n"
_MAIN = "int add(int a, int b);\nint main(void) {\n    return add(2, 3) == 5 ? 0 : 1;\n}\n"
_MAKE = "p: main.c add.c\n\t$(CC) -g -o p main.c add.c\n"
_PYTHON = "def add(a, b):\n    total = a + b\n    return total\n"
PROGRAMS = {
    "text": Program(
        {"text": TEXT, "other": "a\n"},
        {"text": "x\n", "other": "b\n"},
        "grep -q three text || exit 1",
    ),
    "python": Program(
        {"lib.py": _PYTHON, "check.py": "from lib import add\n\nassert add(2, 3) == 5\n"},
        {"lib.py": _PYTHON.replace("a + b", "a - b")},
        f"{sys.executable} check.py",
    ),
    "syntax": Program(
        {"lib.py": _PYTHON, "check.py": "from lib import add\n\nassert add(2, 3) == 5\n"},
        {"lib.py": _PYTHON.replace("return total", "return total +")},
        f"{sys.executable} check.py",
    ),
    "c": Program(
        {"add.c": _C, "main.c": _MAIN, "Makefile": _MAKE},
        {"add.c": _C.replace("a + b", "a - b")},
        "./p",
        ("make", "-s"),
        once=2,
    ),
}


def finished(program: Program, path: Path, log: Path, first: int) -> tuple[StoredVerdict, int]:
    """Verdict and number of test runs of a red commit; the first daemon is stopped at a moment, the
    next one moment later, until one is not stopped before its end.
    """
    where = made(path, program.green)
    command = ("sh", "-c", f"echo >>{log}; {program.test}")
    Stopper.at = 0
    with service(where, test=command, build=program.build) as found:
        found.look()
        found.work()
        red = commit(where, program.red)
        found.look()
        Stopper.at = first
        while unfinished_jobs(found.store):
            Stopper.moments = 0
            with contextlib.suppress(SystemExit):
                found.work()
            Stopper.at += bool(first)
        assert found.store.rows("SELECT count(*) AS n FROM explanation") == [{"n": 1}]
    [verdict] = verdicts(where, red)
    plain = replace(verdict, commit_id="", base="", explanation_id=None, test="")
    return plain, len(log.read_text().splitlines())


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_stopped_at_any_moment_no_run_is_made_twice(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "Narrator", Stopper)
    undisturbed = finished(program, tmp_path / "r", tmp_path / "log", first=0)
    moments = Stopper.moments
    assert moments >= 5
    assert finished(program, tmp_path / "s", tmp_path / "logs", first=1) == undisturbed
    assert Stopper.at > moments - program.once, "every moment had its stop"


def test_of_ten_daemons_one_lives(tmp_path: Path) -> None:
    state = made(tmp_path / "r") / ".git"
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["lock_holder"])
    pipes = [context.Pipe(duplex=False) for _ in range(10)]
    gate, end = context.Pipe(duplex=False)
    processes = [
        context.Process(target=be_the_daemon, args=(state, sender, gate)) for _, sender in pipes
    ]
    for process in processes:
        process.start()
    said = [receiver.recv() for receiver, _ in pipes]
    assert said.count("") == 1
    lives = processes[said.index("")].pid
    assert running(state) == lives
    assert wait_for(state, 1.0, up=True) == lives
    assert all(sentence == "" or "process" in sentence for sentence in said)
    processes[said.index("")].kill()
    for process in processes:
        process.join()
    assert processes[said.index("")].exitcode == -signal.SIGKILL
    assert running(state) is None
    with only_one(state):
        assert running(state) is not None
    end.close()
