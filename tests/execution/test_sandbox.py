"""Ordinary programs in the sandbox: what they get, what is told about them, what stays apart."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import afterd
from afterd.errors import SpaceError
from afterd.execution import sandbox
from afterd.execution.environment import scrubbed_environment
from afterd.execution.process import Command, Ending, ProcessResult
from afterd.execution.sandbox import run
from afterd.limits import ProcessLimits

LIMITS = ProcessLimits(timeout=20.0, grace=0.3)
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="a Linux facility")

Shell = Callable[..., ProcessResult]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Run a shell script in a directory of its own."""

    def run_script(
        script: str,
        limits: ProcessLimits = LIMITS,
        *,
        fixed: bool = False,
        cancelled: threading.Event | None = None,
    ) -> ProcessResult:
        argv = ("sh", "-c", script)
        command = Command(argv, tmp_path, scrubbed_environment(), fixed_addresses=fixed)
        return run(command, limits, scratch=tmp_path, cancelled=cancelled)

    return run_script


@pytest.mark.parametrize(
    ("script", "ending", "status", "number"),
    [
        ("exit 0", Ending.EXITED, 0, 0),
        ("exit 125", Ending.EXITED, 125, 0),
        ("exit 255", Ending.EXITED, 255, 0),
        ("kill -SEGV $$", Ending.SIGNALLED, None, signal.SIGSEGV),
        ("kill -TERM $$", Ending.SIGNALLED, None, signal.SIGTERM),
        ("kill -KILL $$", Ending.SIGNALLED, None, signal.SIGKILL),
        ("kill -XFSZ $$", Ending.FILE_SIZE, None, signal.SIGXFSZ),
    ],
)
def test_status_and_signal_are_told_apart(
    shell: Shell, script: str, ending: Ending, status: int | None, number: int
) -> None:
    result = shell(script)
    assert (result.ending, result.status, result.signal) == (ending, status, number)


def test_output_is_kept_apart_or_merged_in_order(tmp_path: Path) -> None:
    argv = ("sh", "-c", "echo a; echo b >&2; echo c")
    apart = run(Command(argv, tmp_path, scrubbed_environment()), LIMITS, scratch=tmp_path)
    assert (apart.stdout.head(), apart.stderr.head()) == (b"a\nc\n", b"b\n")
    merged = run(
        Command(argv, tmp_path, scrubbed_environment(), merge=True), LIMITS, scratch=tmp_path
    )
    assert (merged.stdout.head(), merged.stderr.head()) == (b"a\nb\nc\n", b"")


def test_standard_input_is_empty_or_a_file(shell: Shell, tmp_path: Path) -> None:
    assert shell("cat").stdout.head() == b""
    (tmp_path / "input").write_bytes(b"\xff\0 bytes")
    command = Command(("cat",), tmp_path, scrubbed_environment(), stdin=tmp_path / "input")
    assert run(command, LIMITS, scratch=tmp_path).stdout.head() == b"\xff\0 bytes"


def test_arguments_and_variables_may_be_any_bytes(tmp_path: Path) -> None:
    odd = os.fsdecode(b"\xff\n'\" $x")
    command = Command(("sh", "-c", 'printf %s "$1$ODD"', "sh", odd), tmp_path, {"ODD": odd})
    assert run(command, LIMITS, scratch=tmp_path).stdout.head() == b"\xff\n'\" $x" * 2


@pytest.mark.parametrize(
    ("argv", "cwd", "detail"),
    [
        (("no-such-program",), ".", "no-such-program: No such file or directory"),
        (("./no-such-file",), ".", "./no-such-file: No such file or directory"),
        (("./data",), ".", "./data: Permission denied"),
        (("true",), "absent", "absent: No such file or directory"),
    ],
)
def test_what_cannot_be_started_says_why(
    tmp_path: Path, argv: tuple[str, ...], cwd: str, detail: str
) -> None:
    (tmp_path / "data").write_text("text")
    result = run(Command(argv, tmp_path / cwd, scrubbed_environment()), LIMITS, scratch=tmp_path)
    assert result.ending is Ending.NOT_STARTED
    assert result.detail.endswith(detail)
    assert not result.succeeded


def test_a_script_without_an_interpreter_line_goes_to_the_shell(tmp_path: Path) -> None:
    (tmp_path / "check").write_text("echo ran $1; exit 4\n")
    (tmp_path / "check").chmod(0o755)
    result = run(
        Command(("./check", "x"), tmp_path, scrubbed_environment()), LIMITS, scratch=tmp_path
    )
    assert (result.status, result.stdout.head()) == (4, b"ran x\n")


def test_the_program_gets_default_signals(shell: Shell) -> None:
    """Python ignores SIGPIPE; a `yes` that inherited that would complain instead of dying."""
    assert shell("yes | head -n 1; exit 0").stderr.head() == b""


def test_a_supervisor_that_is_killed_before_it_reads_is_a_lost_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "_SUPERVISOR", "import os; os.kill(os.getpid(), 9)")
    more_than_a_pipe_takes = {f"V{number}": "x" * 60_000 for number in range(4)}
    result = run(Command(("true",), tmp_path, more_than_a_pipe_takes), ProcessLimits())
    assert result.ending is Ending.LOST


def test_who_stands_back_has_programs_that_stand_back(tmp_path: Path) -> None:
    code = (
        "import os, pathlib; os.nice(7)\n"
        "from afterd.execution.process import Command\n"
        "from afterd.execution.sandbox import run\n"
        "from afterd.limits import ProcessLimits\n"
        f"result = run(Command(('nice',), pathlib.Path({str(tmp_path)!r}), dict(os.environ)), ProcessLimits())\n"
        "print(result.stdout.text().strip())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) == min(19, os.nice(0) + 7)


@pytest.mark.parametrize(("cap", "kept"), [(1000, 1000), (10, 10)])
def test_output_beyond_the_cap_is_cut(shell: Shell, cap: int, kept: int) -> None:
    result = shell("head -c 5000 /dev/zero", ProcessLimits(timeout=20.0, output=cap))
    assert (result.ending, result.stdout.size) == (Ending.OUTPUT, kept)


def test_a_capture_shows_both_ends_of_a_long_text(shell: Shell) -> None:
    capture = shell("seq 1000").stdout
    text = capture.text(limit=20)
    assert text.startswith("1\n2\n3\n")
    assert text.endswith("9\n1000\n")
    assert "bytes left out" in text
    assert capture.tail(5) == b"1000\n"


def test_every_run_has_a_directory_of_its_own_and_removes_it(shell: Shell) -> None:
    results = [shell('touch "$TMPDIR/x"; ls -A "$TMPDIR"; mkdir -m 0 "$TMPDIR/shut"') for _ in "ab"]
    assert len({result.directory for result in results}) == 2
    for result in results:
        assert result.stdout.head() == b"x\n"
        result.remove()
        assert not result.directory.exists()


def test_a_scratch_directory_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SpaceError, match="Cannot make a directory for a run"):
        run(Command(("true",), tmp_path, {}), LIMITS, scratch=tmp_path / "absent")


def test_concurrent_runs_do_not_end_each_others_processes(shell: Shell) -> None:
    """Were afterd itself the reaper, the run that ends first would sweep the other's children."""
    slow = "(setsid sh -c 'sleep 0.6; echo survived' &) ; sleep 1.0"
    with ThreadPoolExecutor(4) as pool:
        long_runs = [pool.submit(shell, slow) for _ in range(2)]
        short_runs = [pool.submit(shell, "setsid sleep 60 & exit 0") for _ in range(6)]
        assert [run.result().swept for run in short_runs] == [1] * 6
        for long_run in long_runs:
            assert long_run.result().stdout.head() == b"survived\n"


def test_a_run_can_be_cancelled(shell: Shell) -> None:
    cancelled = threading.Event()
    threading.Timer(0.2, cancelled.set).start()
    began = time.monotonic()
    assert shell("sleep 60", cancelled=cancelled).ending is Ending.CANCELLED
    assert time.monotonic() - began < 2.0


@linux_only
def test_when_afterd_is_killed_the_program_is_ended(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from afterd.execution.process import Command\n"
        "from afterd.execution.sandbox import run\n"
        "from afterd.limits import ProcessLimits\n"
        "script = 'echo $$ > pid; exec setsid -w sleep 60'\n"
        "limits = ProcessLimits(grace=0.2)\n"
        "run(Command(('sh', '-c', script), Path('.'), {}), limits, scratch=Path('.'))\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path)
    pid_file = tmp_path / "pid"
    assert _within(10.0, lambda: pid_file.exists() and pid_file.read_text().strip() != "")
    child.kill()
    child.wait()
    pid = int(pid_file.read_text())
    assert _within(3.0, lambda: not Path(f"/proc/{pid}").exists())
    assert _within(3.0, lambda: not list(tmp_path.glob("afterd-run-*")))


def _within(seconds: float, condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


@linux_only
def test_addresses_are_fixed_where_asked_and_the_kernel_allows(shell: Shell) -> None:
    """The stack's address is another in each run, and the same one without randomisation."""
    script = "grep stack /proc/self/maps | cut -d- -f1"
    fixed = [shell(script, fixed=True) for _ in range(3)]
    if not all(result.fixed_addresses for result in fixed):
        pytest.skip("personality() is not allowed here")
    assert len({result.stdout.head() for result in fixed}) == 1
    free = [shell(script) for _ in range(3)]
    assert len({result.stdout.head() for result in free}) > 1
    assert not any(result.fixed_addresses for result in free)


@linux_only
def test_no_token_is_to_be_found(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in the program's environment nor in its supervisor's (row 30 of the table)."""
    canary = "canary-0123456789"
    for name in ("GITHUB_TOKEN", "AFTERD_GITLAB_TOKEN", "MY_SECRET"):
        monkeypatch.setenv(name, canary)
    result = shell("env; cat /proc/self/environ /proc/$PPID/environ; ls -l /proc/self/fd")
    assert canary not in result.stdout.text()
    assert "pipe:" not in result.stdout.text()


def test_costs_are_measured(shell: Shell) -> None:
    result = shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; sleep 0.1")
    assert 0.1 < result.seconds < 10.0
    assert 0.0 < result.cpu_seconds < result.seconds
    assert result.peak_memory > 100_000


@linux_only
def test_waiting_for_a_processor_does_not_count_against_the_limit(shell: Shell) -> None:
    """Beside three others on one processor, what needs 0.45 s of it takes twice as long at least."""
    allowed = os.sched_getaffinity(0)
    spin = "import time\nwhile time.process_time() < {}: pass"
    others = []
    try:
        os.sched_setaffinity(0, {min(allowed)})
        argv = [sys.executable, "-S", "-c", spin.format(60)]
        others = [subprocess.Popen(argv) for _ in range(3)]
        limits = ProcessLimits(timeout=0.6, grace=0.1)
        result = shell(f"exec {sys.executable} -S -c '{spin.format(0.45)}'", limits)
        hangs = shell(f"exec {sys.executable} -S -c '{spin.format(60)}'", limits)
    finally:
        os.sched_setaffinity(0, allowed)
        for other in others:
            other.kill()
            other.wait()
    assert result.ending is Ending.EXITED, result.describe()
    assert result.seconds > limits.timeout
    assert hangs.ending is Ending.TIMEOUT


@linux_only
@pytest.mark.skipif(os.getuid() != 0, reason="only root may get ahead of others")
@pytest.mark.parametrize(
    ("processes", "policy"), [(1, os.SCHED_OTHER), (100, os.SCHED_RR | os.SCHED_RESET_ON_FORK)]
)
def test_the_watch_gets_ahead_of_a_crowd_alone(tmp_path: Path, processes: int, policy: int) -> None:
    """Ahead of a program of a few threads it would wait in the kernel for one that does not run."""
    program = (
        "import os, subprocess, time\n"
        f"sleeping = [subprocess.Popen(['sleep', '30']) for _ in range({processes})]\n"
        f"end = time.monotonic() + 10\n"
        f"while os.sched_getscheduler(os.getppid()) != {policy} and time.monotonic() < end:\n"
        "    time.sleep(0.05)\n"
        "time.sleep(0.3)\n"
        "print(os.sched_getscheduler(os.getppid()))\n"
    )
    command = Command((sys.executable, "-c", program), tmp_path, scrubbed_environment())
    result = run(command, LIMITS, scratch=tmp_path)
    assert result.stdout.text().strip() == str(policy)


def test_only_the_sandbox_starts_processes() -> None:
    """Nothing else imports subprocess or calls os.fork and its like; ``trace`` is apart, because
    the compiler wrapper and the forks of the warm process run inside the sandbox already.
    """
    package = Path(afterd.__file__).parent
    starting = set()
    for path in package.rglob("*.py"):
        if any(map(_starts_a_process, ast.walk(ast.parse(path.read_bytes())))):
            starting.add(path.relative_to(package).as_posix())
    outside = {path for path in starting if not path.startswith("trace/")}
    probe = "execution/confinement.py"  # asks bubblewrap, once, whether it works
    assert outside == {"execution/sandbox.py", "execution/supervisor.py", probe}


def _starts_a_process(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name in ("subprocess", "pty") for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return node.module in ("subprocess", "pty", "multiprocessing")
    calls = ("fork", "forkpty", "system", "popen", "posix_spawn", "posix_spawnp")
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"
        and node.attr in calls
    )
