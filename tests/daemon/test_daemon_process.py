"""All of it at once: a repository, the installed hook, the running daemon, and who posts."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from daemon_repositories import commit, git, jobs, made, opened, verdicts
from fake_forge import TOKEN, State, serving

from afterd.daemon.instance import running, wait_for
from afterd.daemon.unit import unit
from afterd.forge import ForgeKind
from afterd.report.comment import MARKER
from afterd.store.explanations import load

NOBODY = 65534
LIB = "def add(a, b):\n    total = a + b\n    return total\n"
# The test is hostile: it writes down what it can see of other processes and in the usual places.
CHECK = """\
import glob
import os
import pathlib
import re
import subprocess


def memory(folder):
    with open(folder / "mem", "rb") as mem:
        for first, last in re.findall(r"(?m)^(\\w+)-(\\w+) rw", (folder / "maps").read_text()):
            mem.seek(int(first, 16))
            try:
                yield mem.read(int(last, 16) - int(first, 16))
            except OSError:
                pass


def probes():
    yield repr(os.environ).encode()
    for folder in map(pathlib.Path, glob.glob("/proc/[0-9]*")):
        try:
            command = (folder / "cmdline").read_bytes()
            yield command
            # root looks through everything; whoever is not must not see into the poster either
            if os.getuid() == 0 and b"--outgoing" in command:
                continue
            yield (folder / "environ").read_bytes()
            if b"-m\\0afterd\\0" in command:
                yield b"looked into " + command
                yield from memory(folder)
        except OSError:
            pass
    for place in (pathlib.Path.home() / ".netrc", *pathlib.Path(STATE).rglob("*")):
        if place.is_file():
            yield place.read_bytes()
    asked = ["git", "credential", "fill"]
    request = b"protocol=https\\nhost=127.0.0.1\\n\\n"
    yield subprocess.run(asked, input=request, stdout=subprocess.PIPE).stdout


if not os.path.exists(SEEN):  # once: it takes a while
    with open(SEEN, "wb") as seen:
        for probe in probes():
            seen.write(probe)

from lib import add

assert add(2, 3) == 5
"""


def afterd(*arguments: str, cwd: Path, **environment: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AFTERD_")}
    done = subprocess.run(
        [sys.executable, "-m", "afterd", *arguments],
        cwd=cwd,
        env={**kept, "COLUMNS": "200", **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def until(answer: Callable[[], bool], seconds: float = 90.0) -> None:
    deadline = time.monotonic() + seconds
    while not answer():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.1)


@pytest.fixture
def where(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "r"
    places = {"SEEN": tmp_path / "seen", "STATE": path / ".git/afterd"}
    check = CHECK
    for name, place in places.items():
        check = check.replace(name, repr(str(place)))
    made(path, {"lib.py": LIB, "check.py": check})
    test = json.dumps([sys.executable, "check.py"])
    commit(path, {"afterd.toml": f"test = {test}\npoll = 3600\n"})
    yield path
    process = running(path / ".git/afterd")
    if process is not None:
        os.kill(process, signal.SIGTERM)
        wait_for(path / ".git/afterd", 10, up=False)


@pytest.fixture
def forge() -> Iterator[State]:
    with serving(State(ForgeKind.GITEA)) as state:
        yield state


def test_from_a_commit_to_a_comment(where: Path, tmp_path: Path, forge: State) -> None:
    git("remote", "add", "origin", f"{forge.server}/owner/name.git", cwd=where)
    tokens = {"AFTERD_FORGE_TOKEN": TOKEN, "GITHUB_TOKEN": TOKEN}
    assert "in place" in afterd("hook", "install", cwd=where)
    started = afterd("daemon", "start", "--post", "--forge", "gitea", cwd=where, **tokens)
    assert f"process {running(where / '.git/afterd')}" in started
    until(lambda: [state for _, state in jobs(where)] == ["done"])

    red = commit(where, {"lib.py": LIB.replace("a + b", "a - b")})
    forge.pulls[7] = {"head": red, "open": True}
    until(lambda: (red, "done") in jobs(where))
    [verdict] = verdicts(where, red)
    assert verdict.kind == "caused"
    with opened(where) as reader:
        explanation = load(reader, verdict.explanation_id or 0)
    assert [change.file for change in explanation.root] == ["lib.py"]
    assert explanation.tree is not None

    until(lambda: bool(forge.comments))
    [body] = forge.bodies()
    assert body.startswith(MARKER)
    assert "caused by this change" in body
    assert f"/owner/name/src/commit/{red}/lib.py#L2" in body

    seen = (tmp_path / "seen").read_bytes()
    assert b"looked into " in seen or os.getuid() != 0, "the daemon's own memory, at least"
    assert TOKEN.encode() not in seen
    for path in (where / ".git/afterd").rglob("*"):
        assert not path.is_file() or TOKEN.encode() not in path.read_bytes()

    green = commit(where, {"lib.py": LIB})
    forge.pulls[7] = {"head": green, "open": True}
    until(lambda: (green, "done") in jobs(where) and body not in forge.bodies())
    assert len(forge.comments) == 1, "the one comment is edited"

    status = json.loads(afterd("daemon", "status", "--format", "json", cwd=where))
    assert status["process"] == running(where / ".git/afterd")
    assert (status["verdicts"], status["outgoing"]) == ({"caused": 1}, {"sent": 2})
    assert "1 caused by this change" in afterd("daemon", "logs", cwd=where)
    assert "has ended" in afterd("daemon", "stop", cwd=where)
    assert "No daemon" in afterd("daemon", "status", cwd=where)


@pytest.mark.skipif(os.getuid() != 0, reason="who is no root has just run that test so")
def test_nor_does_a_user_who_is_not_root_see_the_token() -> None:
    """Root may look into any process; the promise is about others: all of it again, as nobody.

    The one capability left lets this user read files (Python may lie below /root), and no process.
    """
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed")
    home = Path(tempfile.mkdtemp())
    os.chown(home, NOBODY, NOBODY)
    user = [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    reads = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    argv = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--basetemp",
        f"{home}/t",
    ]
    try:
        done = subprocess.run(
            ["setpriv", *user, *reads, *argv, f"{__file__}::test_from_a_commit_to_a_comment"],
            cwd=Path(__file__).parents[2],
            env={"PATH": os.environ["PATH"], "HOME": str(home)},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
    finally:
        shutil.rmtree(home)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_a_second_daemon_is_refused_with_the_first_ones_name(where: Path) -> None:
    afterd("daemon", "start", cwd=where)
    process = running(where / ".git/afterd")
    done = subprocess.run(
        [sys.executable, "-m", "afterd", "daemon", "run", "--once"],
        cwd=where, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert f"process {process}" in done.stderr
    assert process is not None
    os.kill(process, signal.SIGKILL)
    wait_for(where / ".git/afterd", 10, up=False)
    assert "process" in afterd("daemon", "start", cwd=where)


def test_ended_in_the_middle_of_a_run_it_gives_the_job_back(where: Path, tmp_path: Path) -> None:
    commit(
        where,
        {"check.py": f"open({str(tmp_path / 'began')!r}, 'w')\nimport time\ntime.sleep(99)\n"},
    )
    afterd("daemon", "start", cwd=where)
    until((tmp_path / "began").exists)
    process = running(where / ".git/afterd")
    assert process is not None
    os.kill(process, signal.SIGTERM)
    assert wait_for(where / ".git/afterd", 10, up=False) is None
    with opened(where) as reader:
        [row] = reader.rows("SELECT state, reason, stalls FROM job")
    assert (row["state"], row["stalls"]) == ("queued", 0)
    assert "stopped" in str(row["reason"])


def test_nothing_is_done_before_the_poster_hides(tmp_path: Path) -> None:
    hide = (
        "import os, pathlib, time; time.sleep(2); pathlib.Path('hidden').touch();"
        " os.close(int(os.environ['AFTERD_UNREADABLE'])); time.sleep(2)"
    )
    go_on = (
        "from afterd.daemon.poster import *; hand_over(['--version'], Path('log'), posting=True)"
    )
    subprocess.run(
        [sys.executable, "-c", go_on],
        cwd=tmp_path,
        env={**os.environ, "AFTERD_POSTER": shlex.join([sys.executable, "-c", hide])},
        check=True,
        timeout=60,
    )
    assert (tmp_path / "hidden").exists()


def test_a_unit_for_systemd(tmp_path: Path) -> None:
    text = unit([tmp_path, Path('/a b/50%/$x/"q')], post=True)
    assert f'daemon run --quiet --post {tmp_path} "/a b/50%%/$$x/\\"q"\n' in text
    assert "EnvironmentFile" in text
    assert (
        "\nRestartPreventExitStatus=2\n" in text
    )  # a wrong setting was tried again twice a minute for ever
    assert "EnvironmentFile" not in unit([tmp_path], post=False)
