"""What a test that means harm can do under each sandbox, and what an honest one still can."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from afterd.errors import SandboxError
from afterd.execution import confinement
from afterd.execution.confinement import (
    Confinement,
    Means,
    bubblewrap_trouble,
    confined_programs,
    landlock_version,
    strongest_confinement,
)
from afterd.execution.environment import scrubbed_environment
from afterd.execution.process import Command, Ending, ProcessResult
from afterd.execution.sandbox import run
from afterd.limits import MIB, ProcessLimits

LIMITS = ProcessLimits(timeout=60.0)


def available(means: Means) -> Means:
    if means is Means.BUBBLEWRAP and (why := bubblewrap_trouble()):
        pytest.skip(why)
    if means is Means.LANDLOCK and not landlock_version():
        pytest.skip("the kernel has no Landlock")
    return means


@pytest.fixture(params=[Means.BUBBLEWRAP, Means.LANDLOCK], ids=str)
def held(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Means]:
    means = available(request.param)
    slot = tmp_path / "slot"
    slot.mkdir()
    with confined_programs(Confinement(means, (slot,))):
        yield means


def ran(tmp_path: Path, *argv: str, **environment: str) -> ProcessResult:
    (tmp_path / "scratch").mkdir(exist_ok=True)
    command = Command(
        argv, tmp_path / "slot", {**scrubbed_environment(), **environment}, merge=True
    )
    return run(command, LIMITS, scratch=tmp_path / "scratch")


def test_it_deletes_nothing_by_absolute_path(held: Means, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious/file").write_text("kept")
    result = ran(tmp_path, "rm", "-rf", str(tmp_path / "precious"))
    assert not result.succeeded
    assert (tmp_path / "precious/file").read_text() == "kept", held


def test_it_writes_nothing_into_home(held: Means, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".bashrc").write_text("mine\n")
    script = "echo evil >>~/.bashrc; : >~/.profile; mv ~/.bashrc ~/x; chmod 777 ~; true"
    ran(tmp_path, "sh", "-c", script, HOME=str(home))
    assert [path.name for path in home.iterdir()] == [".bashrc"], held
    assert (home / ".bashrc").read_text() == "mine\n"


def test_what_is_its_own_it_may_write(held: Means, tmp_path: Path) -> None:
    script = (
        "echo 1 >a && mkdir d && mv a d/b && ln -s b d/c && rm d/c && echo 2 >$TMPDIR/t && cat $TMPDIR/t"
        " && mv $TMPDIR/t . && echo 3 >/dev/null && exec 3>&1 && : >d/b"
    )
    result = ran(tmp_path, "sh", "-ec", script)
    assert result.succeeded, (held, result.stdout.text())
    assert (tmp_path / "slot/t").read_text() == "2\n"


def test_a_server_of_its_own_is_an_honest_one(held: Means, tmp_path: Path) -> None:
    code = (
        "import socket; s = socket.create_server(('127.0.0.1', 0));"
        " c = socket.create_connection(s.getsockname()); s.accept()[0].send(b'x'); print(c.recv(1))"
    )
    result = ran(tmp_path, sys.executable, "-c", code)
    assert result.succeeded, (held, result.stdout.text())


def test_a_port_that_it_opens_is_nobody_elses(tmp_path: Path) -> None:
    means = available(Means.BUBBLEWRAP)
    (tmp_path / "slot").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as mine:
        port = mine.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)"
        assert ran(tmp_path, sys.executable, "-c", code).succeeded, "without a sandbox it can"
        with confined_programs(Confinement(means, (tmp_path / "slot",))):
            assert "Connection refused" in ran(tmp_path, sys.executable, "-c", code).stdout.text()
        with confined_programs(Confinement(means, (tmp_path / "slot",), network=True)):
            assert ran(tmp_path, sys.executable, "-c", code).succeeded


def test_it_ends_no_process_but_its_own(held: Means, tmp_path: Path) -> None:
    if held is Means.LANDLOCK and landlock_version() < 6:
        pytest.skip("this Landlock does not hold signals")
    other = subprocess.Popen(["sleep", "60"])
    try:
        ran(tmp_path, "sh", "-c", f"kill -9 {other.pid}")
        time.sleep(0.05)
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_what_is_below_tmp_is_private_and_gone(tmp_path: Path) -> None:
    means = available(Means.BUBBLEWRAP)
    (tmp_path / "slot").mkdir()
    with confined_programs(Confinement(means, (tmp_path / "slot",))):
        result = ran(
            tmp_path,
            "sh",
            "-c",
            f"echo x >/tmp/{tmp_path.name}-left && ls /proc | grep -c '^[0-9]'",
        )
    assert result.succeeded, result.stdout.text()
    assert int(result.stdout.text()) < 8
    assert not Path(f"/tmp/{tmp_path.name}-left").exists()


def test_one_that_allocates_everything_is_ended(held: Means, tmp_path: Path) -> None:
    code = "x = []\nwhile True: x.append(bytearray(b'x') * (16 << 20))"
    command = Command((sys.executable, "-c", code), tmp_path / "slot", scrubbed_environment())
    limits = ProcessLimits(timeout=60.0, memory=256 * MIB)
    result = run(command, limits, scratch=tmp_path)
    assert result.ending is Ending.MEMORY, (held, result.describe())
    assert result.peak_memory < 2048 * MIB


def test_statuses_and_signals_come_out_as_they_are(held: Means, tmp_path: Path) -> None:
    assert ran(tmp_path, "sh", "-c", "exit 125").status == 125, held
    died = ran(tmp_path, "sh", "-c", "kill -SEGV $$")
    assert (died.ending, died.signal) == (Ending.SIGNALLED, signal.SIGSEGV)
    assert ran(tmp_path, "no-such-program").ending is Ending.NOT_STARTED
    left = ran(tmp_path, "sh", "-c", "setsid sleep 60 & exit 0")
    assert (left.swept, left.survivors) == (1, 0)


def test_what_it_costs_is_little(held: Means, tmp_path: Path) -> None:
    """CPU seconds of everything that was started, because wall clock is the neighbours'."""

    def spent() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        for _ in range(10):
            assert ran(tmp_path, "true").succeeded
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) / 10

    with confined_programs(Confinement()):
        plain = spent()
    assert spent() - plain < 0.020, held


CAPABILITIES = "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('CapEff')))"
NET_ADMIN = 1 << 12


def _may_set_up_the_network(tmp_path: Path) -> bool:
    return bool(
        int(ran(tmp_path, sys.executable, "-c", CAPABILITIES).stdout.text(), 16) & NET_ADMIN
    )


def test_a_test_of_root_s_does_not_set_up_the_network(tmp_path: Path) -> None:
    """A test of cloud-init's ended with `ip link set dev eth0 down`, of the machine that explained it."""
    status = Path("/proc/self/status")
    if not status.exists() or not _capabilities(status.read_text()) & NET_ADMIN:
        pytest.skip("who runs this has no such right")
    (tmp_path / "slot").mkdir()
    assert not _may_set_up_the_network(tmp_path), "without a sandbox"
    for means in (Means.LANDLOCK, Means.NOTHING):
        with confined_programs(Confinement(available(means), (tmp_path / "slot",))):
            assert not _may_set_up_the_network(tmp_path)
        asked = Confinement(means, (tmp_path / "slot",), network=True, network_admin=True)
        with confined_programs(asked):
            assert _may_set_up_the_network(tmp_path)
        assert asked.key.endswith("network admin")


def _capabilities(status: str) -> int:
    [line] = [line for line in status.splitlines() if line.startswith("CapEff:")]
    return int(line.split()[1], 16)


def test_the_strongest_there_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(confinement, "bubblewrap_trouble", lambda: "")
    assert strongest_confinement([tmp_path], network=False, required=True).means is Means.BUBBLEWRAP
    monkeypatch.setattr(confinement, "bubblewrap_trouble", lambda: "bubblewrap is not installed")
    monkeypatch.setattr(confinement, "landlock_version", lambda: 3)
    assert strongest_confinement([tmp_path], network=False, required=False).means is Means.LANDLOCK
    with pytest.raises(SandboxError, match="apt-get install bubblewrap"):
        strongest_confinement([tmp_path], network=False, required=True)
    monkeypatch.setattr(confinement, "landlock_version", lambda: 0)
    assert strongest_confinement([tmp_path], network=False, required=False) == Confinement()
    assert "not held" in Confinement().describe()


def test_a_bubblewrap_that_the_kernel_refuses_is_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho 'bwrap: No permissions' >&2\nexit 1\n")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    bubblewrap_trouble.cache_clear()
    assert "No permissions" in bubblewrap_trouble()
    monkeypatch.undo()
    bubblewrap_trouble.cache_clear()
