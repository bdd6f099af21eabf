"""Twelve hostile programs, and what must be left of each: nothing (reliability.md, section 16)."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from afterd.execution.environment import scrubbed_environment
from afterd.execution.process import Command, Ending
from afterd.execution.sandbox import run
from afterd.limits import GIB, MIB, ProcessLimits

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, needs a sub-reaper")

PYTHON = (sys.executable, "-S", "-E", "-c")
BUDGET = 0.4
SLACK = 3.0  # seconds past the budget, as reliability.md promises


@dataclass(frozen=True, slots=True)
class Hostile:
    """A program and how its run must end; ``{mark}`` stands in the command line of each process."""

    name: str
    code: str
    endings: tuple[Ending, ...]
    limits: dict[str, Any] = field(default_factory=dict)
    shell: bool = False

    def command(self, mark: str, cwd: Path) -> Command:
        argv = ("sh", "-c", self.code, mark) if self.shell else (*PYTHON, self.code, mark)
        return Command(argv, cwd, scrubbed_environment())


# Processes are marked by an argument no other process has; `sleep` takes several and adds them up.
ESCAPES = """
import os, sys, time
def sleeper(*prefix):
    os.execvp((*prefix, "sleep")[0], [*prefix, "sleep", "600", sys.argv[1]])
"""

# Root is not bound by RLIMIT_NPROC, so the bombs bound themselves: each fork costs one of 300
# tokens in a pipe. A bomb without that took a shared machine to 63,000 processes while the sweep
# was still too slow for it.
TOKENS = """
import os, time
source, sink = os.pipe()
os.write(sink, bytes(300))
os.close(sink)
def fork():
    while not os.read(source, 1): time.sleep(60)
    return os.fork()
"""
BOMB = TOKENS + "while True: fork()"
SESSIONS = TOKENS + "while True: fork() or os.setsid()"
CHAIN = TOKENS + "while True:\n if fork(): os._exit(0)\n os.setsid()"

HOSTILE = [
    Hostile("fork bomb", BOMB, (Ending.PROCESSES,), {"processes": 64}),
    Hostile("fork bomb that leaves its session", SESSIONS, (Ending.PROCESSES,), {"processes": 64}),
    Hostile("fork chain that never rests", CHAIN, (Ending.EXITED,)),
    Hostile(
        "10 GiB writer",
        "import os\nf = os.open('big', os.O_WRONLY | os.O_CREAT)\n"
        "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
        "for _ in range(10 << 10): os.write(f, bytes(1 << 20))",
        (Ending.FILE_SIZE,),
        {"file_size": 8 * MIB, "output": MIB},
    ),
    Hostile("infinite output", "yes", (Ending.OUTPUT,), {"output": 2 * MIB}, shell=True),
    Hostile(
        "output as fast as it can, then a clean exit",
        "head -c 3000000 /dev/zero",
        (Ending.OUTPUT,),
        {"output": 2 * MIB},
        shell=True,
    ),
    Hostile(
        "reads standard input for ever", "while :; do read x; done", (Ending.TIMEOUT,), shell=True
    ),
    Hostile("ignores SIGTERM", "trap '' TERM; while :; do :; done", (Ending.TIMEOUT,), shell=True),
    Hostile("stops itself", "kill -STOP $$", (Ending.TIMEOUT,), shell=True),
    Hostile(
        "silent", "sleep 600", (Ending.SILENCE,), {"silence": 0.2, "timeout": 60.0}, shell=True
    ),
    Hostile(
        "double fork",
        ESCAPES + "if os.fork() == 0:\n if os.fork() == 0: sleeper()\n os._exit(0)\ntime.sleep(60)",
        (Ending.TIMEOUT,),
    ),
    Hostile(
        "setsid, left behind by a program that ends",
        ESCAPES + "if os.fork() == 0:\n os.setsid()\n sleeper()",
        (Ending.EXITED,),
    ),
    Hostile(
        "env -i setsid",
        ESCAPES + "if os.fork() == 0: sleeper('env', '-i', 'setsid')\ntime.sleep(60)",
        (Ending.TIMEOUT,),
    ),
    Hostile(
        "opens 10,000 files",
        "import os\nfor _ in range(10_000): os.open('/dev/null', 0)",
        (Ending.EXITED,),
        {"open_files": 256},
    ),
    Hostile(
        "allocates 100 GiB",
        "import time\nkept = []\nwhile True: kept.append(b'x' * (16 << 20))",
        (Ending.MEMORY,),
        {"memory": GIB // 4, "timeout": 20.0},
    ),
    Hostile(
        "allocates 100 GiB against an address-space limit",
        "b'x' * (100 << 30)",
        (Ending.EXITED,),
        {"address_space": GIB},
    ),
    Hostile(
        "kills its parent",
        ESCAPES + "os.kill(os.getppid(), 9)\nif os.fork() == 0: sleeper('setsid')\ntime.sleep(60)",
        (Ending.LOST,),
    ),
    Hostile("stops its parent", "kill -STOP $PPID; sleep 60", (Ending.TIMEOUT,), shell=True),
]


def alive(mark: str) -> list[int]:
    """Processes with ``mark`` among their arguments, the dead that nobody collected left out."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            arguments = (entry / "cmdline").read_bytes()
            state = (entry / "stat").read_bytes().rpartition(b")")[2].split()[0]
        except OSError:
            continue
        if os.fsencode(mark) in arguments.split(b"\0") and state != b"Z":
            found.append(int(entry.name))
    return found


@pytest.fixture
def mark() -> Iterator[str]:
    """An argument that only this test's processes have; a number, because `sleep` gets it."""
    text = f"0.{uuid.uuid4().int}"
    yield text
    for pid in alive(text):
        os.kill(pid, 9)


@pytest.mark.parametrize("program", HOSTILE, ids=lambda program: program.name)
def test_ends_in_time_with_its_reason_and_nothing_left(
    program: Hostile, mark: str, tmp_path: Path
) -> None:
    limits = ProcessLimits(**{"timeout": BUDGET, "grace": 0.2, **program.limits})
    began = time.monotonic()
    result = run(program.command(mark, tmp_path), limits, scratch=tmp_path)
    seconds = time.monotonic() - began
    assert result.ending in program.endings, result.describe()
    assert alive(mark) == []
    assert result.survivors == 0
    assert seconds < limits.timeout + SLACK
    next_run = run(Command(("true",), tmp_path, scrubbed_environment()), limits, scratch=tmp_path)
    assert next_run.succeeded


def test_without_the_sandbox_the_escaped_process_survives(mark: str, tmp_path: Path) -> None:
    """The negative control: this detector sees a survivor where there is one (as Buildbot does)."""
    code = ESCAPES + "if os.fork() == 0:\n os.setsid()\n sleeper()\ntime.sleep(60)"
    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.run([*PYTHON, code, mark], timeout=BUDGET, cwd=tmp_path, check=False)
    assert len(alive(mark)) == 1


def test_what_was_swept_is_counted(mark: str, tmp_path: Path) -> None:
    code = ESCAPES + "for _ in range(3):\n if os.fork() == 0: sleeper('setsid')\ntime.sleep(0.2)"
    command = Command((*PYTHON, code, mark), tmp_path, scrubbed_environment())
    result = run(command, ProcessLimits(timeout=10.0), scratch=tmp_path)
    assert (result.ending, result.swept, result.survivors) == (Ending.EXITED, 3, 0)
