"""``afterd explain --executor dask://…`` answers as it does here, also when a worker is killed."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from cli_repository import afterd_process, make_repository

pytest.importorskip("distributed", reason="the extra dask is not installed")

from dask_cluster import Cluster

TEST = (
    "echo x >> {count}; sleep 0.3; grep -q three text.txt || {{ echo three is missing; exit 1; }}"
)


def explained(repository: Path, count: Path, *options: str) -> dict[str, Any]:
    done = afterd_process(
        "explain", "--strategy", "dd", "--format", "json", *options,
        "--", "sh", "-c", TEST.format(count=count), cwd=repository,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)["explanations"][0]
    return answer


def kill_when_running(cluster: Cluster, count: Path) -> None:
    deadline = time.monotonic() + 40
    while not count.exists() or len(count.read_text()) < 4:
        if time.monotonic() > deadline:
            return
        time.sleep(0.05)
    os.killpg(cluster.workers[0].pid, signal.SIGKILL)


def test_the_same_answer_with_a_worker_killed_in_the_middle(tmp_path: Path) -> None:
    here = explained(make_repository(tmp_path / "one"), tmp_path / "here")
    (tmp_path / "cluster").mkdir()
    cluster = Cluster(tmp_path / "cluster")
    try:
        cluster.add_worker()
        cluster.add_worker()
        count = tmp_path / "there"
        killer = threading.Thread(target=kill_when_running, args=(cluster, count))
        killer.start()
        setting = cluster.address.replace("tcp://", "dask://")
        there = explained(make_repository(tmp_path / "two"), count, "--executor", setting)
        killer.join()
        assert cluster.workers[0].poll() is not None  # it was killed while we were at work
    finally:
        cluster.close()
    for key in ("status", "root", "auxiliary", "minimal", "verified", "changes"):
        assert there[key] == here[key], key
    assert there["runs"]["tests"] == here["runs"]["tests"]
