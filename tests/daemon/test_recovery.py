"""SIGKILL at random moments, in small; `afterd bench daemon` does a hundred. One daemon of many."""

from __future__ import annotations

import multiprocessing
import signal
from multiprocessing.connection import Connection
from pathlib import Path

from daemon_repositories import made

from afterd.bench.daemon_kills import daemon_kills
from afterd.daemon.instance import only_one, running, wait_for
from afterd.errors import BusyError


def test_killed_daemons_leave_the_same_answers_and_nothing_else() -> None:
    found = daemon_kills(kills=4, jobs=3, seed=3)
    assert found.wrong == ()
    assert found.kills == 4
    assert found.answers >= 2
    assert found.runs_killed >= found.runs


def be_the_daemon(state: Path, answer: Connection, end: Connection) -> None:
    try:
        with only_one(state):
            answer.send("")
            end.recv()
    except BusyError as error:
        answer.send(str(error))


def test_of_ten_daemons_one_lives(tmp_path: Path) -> None:
    state = made(tmp_path / "r") / ".git"
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["afterd.daemon.instance"])
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
