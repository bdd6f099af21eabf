"""Limits of memory that the kernel keeps, where it is asked: cgroup v2.

Only where the memory controller is delegated can all of it be seen. On a machine whose memory belongs to
version 1 the rest is shown: a run is started within its group, under what that sets, and the group goes.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from afterd.execution import memory_group, sandbox
from afterd.execution.environment import scrubbed_environment
from afterd.execution.memory_group import (
    Group,
    delegated_group,
    group_for,
    kills_told,
    memory_is_held_by,
    own_group,
    remove_left_behind,
)
from afterd.execution.process import Command, Ending
from afterd.execution.sandbox import run
from afterd.limits import MIB, ProcessLimits

HYBRID = (
    "24 30 0:22 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
    "25 24 0:23 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
    "33 24 0:31 / /sys/fs/cgroup/unified rw,nosuid - cgroup2 cgroup2 rw\n"
)
SYSTEMD = "35 24 0:30 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
CONTAINER = "61 52 0:30 /docker/c1 /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
SERVICE = "/user.slice/user-1.slice/user@1.service/app.slice/afterd.service/daemon"


@pytest.mark.parametrize(
    ("mounts", "groups", "found"),
    [
        (HYBRID, "4:memory:/x\n0::/\n", "/sys/fs/cgroup/unified"),
        (SYSTEMD, f"0::{SERVICE}\n", f"/sys/fs/cgroup{SERVICE}"),
        (CONTAINER, "0::/docker/c1/inner\n", "/sys/fs/cgroup/inner"),
        (CONTAINER, "0::/docker/c1\n", "/sys/fs/cgroup"),
        (HYBRID, "4:memory:/x\n", None),
        (HYBRID.splitlines()[1], "0::/\n", None),
        ("", "", None),
    ],
)
def test_where_our_group_is(mounts: str, groups: str, found: str | None) -> None:
    assert own_group(mounts, groups) == (found and Path(found))


@pytest.mark.parametrize(
    ("events", "killed"),
    [
        ("low 0\nmax 12\noom 1\noom_kill 3\noom_group_kill 0\n", 3),
        ("low 0\noom_kill 0\n", 0),
        ("", 0),
    ],
)
def test_what_the_kernel_tells(events: str, killed: int) -> None:
    assert kills_told(events) == killed


@pytest.fixture
def below() -> Iterator[Path]:
    """A group of version 2 below which this user may make groups, whatever controllers it has."""
    own = own_group(Path("/proc/self/mountinfo").read_text(), Path("/proc/self/cgroup").read_text())
    probe = Group.made(own, {}) if own is not None else None
    if own is None or probe is None:
        pytest.skip("no group of cgroup v2 can be made here")
    probe.remove()
    yield own
    assert not list(own.glob("afterd-run-*")), "a group was left behind"


def test_a_run_is_in_its_group_with_all_that_it_starts(
    below: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No group can be made below one that allows none: what was set holds for the run."""
    made: list[Group] = []

    def no_descendants(_limits: ProcessLimits) -> Group | None:
        group = Group.made(below, {"cgroup.max.descendants": "0"})
        assert group is not None
        made.append(group)
        return group

    monkeypatch.setattr(sandbox, "group_for", no_descendants)
    script = f"grep ^0:: /proc/self/cgroup; mkdir {below}/afterd-run-*/x || exit 7; sleep 60 &"
    command = Command(("sh", "-c", script), tmp_path, scrubbed_environment(), merge=True)
    result = run(command, ProcessLimits(timeout=30.0), scratch=tmp_path)
    assert result.status == 7, result.stdout.text()
    [group] = made
    assert group.path.name in result.stdout.text().splitlines()[0]
    assert not group.path.exists()


def test_what_a_run_leaves_in_its_group_goes_with_it(below: Path) -> None:
    """Also groups of its own, as an engine of containers makes them, and who is in those."""
    group = Group.made(below, {})
    assert group is not None
    inner = group.path / "inner"
    inner.mkdir()
    with subprocess.Popen(Group(inner).entering(["sleep", "60"])) as left:
        while str(left.pid) not in (inner / "cgroup.procs").read_text().split():
            time.sleep(0.01)
        group.remove()
        assert left.wait(10.0) == -signal.SIGKILL
    assert not group.path.exists()


def test_who_cannot_be_moved_runs_all_the_same(tmp_path: Path) -> None:
    argv = Group(tmp_path / "no such group").entering(["echo", "it runs"])
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("it runs\n", "")


def test_the_groups_of_an_afterd_that_was_killed_are_removed(below: Path) -> None:
    """Those of one that is alive stay, whoever looks."""
    with subprocess.Popen(["true"]) as ended:
        pass
    dead, alive = (below / f"afterd-run-{pid}-x" for pid in (ended.pid, os.getpid()))
    for group in (dead, alive):
        group.mkdir()
    try:
        remove_left_behind(below)
        assert [group.exists() for group in (dead, alive)] == [False, True]
    finally:
        alive.rmdir()


def test_a_limit_that_the_kernel_does_not_know_makes_no_group(below: Path) -> None:
    assert Group.made(below, {"memory.no_such_limit": "1"}) is None


def test_without_a_delegated_controller_nothing_changes(tmp_path: Path) -> None:
    if delegated_group() is not None:
        pytest.skip("memory is delegated here")
    assert group_for(ProcessLimits()) is None
    assert run(Command(("true",), tmp_path), ProcessLimits(), scratch=tmp_path).succeeded


def test_the_kernel_ends_what_allocates_at_once(tmp_path: Path) -> None:
    """Faster than anybody looks, and no loss that is made again."""
    if delegated_group() is None:
        pytest.skip("no memory controller of cgroup v2 is delegated to this process")
    code = "bytearray(b'x') * (1 << 30)"
    command = Command((sys.executable, "-c", code), tmp_path, scrubbed_environment())
    result = run(command, ProcessLimits(memory=128 * MIB), scratch=tmp_path)
    assert result.ending is Ending.MEMORY
    assert result.peak_memory < 256 * MIB


@pytest.mark.parametrize("stranger", [False, True])
def test_who_started_us_is_moved_with_us(tmp_path: Path, *, stranger: bool) -> None:
    """Limits are given below a group that holds no process. Under `timeout` systemd's delegated scope was of no use."""
    group = tmp_path / "a.scope"
    group.mkdir()
    others = [os.getppid(), *([2] if stranger else [])]
    (group / "cgroup.procs").write_text("".join(f"{pid}\n" for pid in [*others, os.getpid()]))
    (group / "cgroup.controllers").write_text("cpu memory pids\n")
    (group / "cgroup.subtree_control").write_text("")
    memory_group._gives_memory(group)
    assert (group / "afterd" / "cgroup.procs").exists() is not stranger
    assert (group / "cgroup.subtree_control").read_text() == "+memory"


def test_which_limit_holds_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """By trying it: a group that cannot be made holds nothing, whoever delegated what is above."""
    real = "by the kernel" if group_for(ProcessLimits()) else "by watching"
    assert real in memory_is_held_by(ProcessLimits())
    monkeypatch.setattr(memory_group, "delegated_group", lambda: Path("/proc/self"))
    watched = memory_is_held_by(ProcessLimits())
    assert "by watching" in watched
    assert watched.startswith("How much memory a run may use is limited")
