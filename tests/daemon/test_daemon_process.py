"""All of it at once: a repository, the installed hook, the running daemon, and who posts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from daemon_repositories import commit, git, jobs, made, opened, verdicts

from afterd.daemon.instance import running, wait_for
from afterd.daemon.unit import unit
from afterd.report.received import received
from afterd.store.explanations import load

CANARY = "canary-5f3a9c1e77"
LIB = "def add(a, b):\n    total = a + b\n    return total\n"
# The test is hostile: it writes down what it can see of its ancestors' environments.
CHECK = """\
import glob
import pathlib

seen = b""
for path in glob.glob("/proc/[0-9]*/environ"):
    try:
        if path.split("/")[2] not in POSTER.read_text().split():
            seen += pathlib.Path(path).read_bytes()
    except OSError:
        pass
pathlib.Path(SEEN).write_bytes(seen)

from lib import add

assert add(2, 3) == 5
"""
# Stands for `afterd comment --outgoing`: it has the token, and never opens the repository.
POSTER = """\
import os
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
(folder / "poster.pid").write_text(str(os.getpid()))
with open(sys.argv[2]) as pipe:
    for line in pipe:
        with (folder / "told").open("a") as told:
            told.write(os.environ["AFTERD_FORGE_TOKEN"] + " " + line)
(folder / "ended").touch()
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
    check = CHECK.replace("POSTER", f"pathlib.Path({str(tmp_path / 'poster.pid')!r})")
    check = check.replace("SEEN", repr(str(tmp_path / "seen")))
    path = made(tmp_path / "r", {"lib.py": LIB, "check.py": check})
    test = json.dumps([sys.executable, "check.py"])
    commit(path, {"afterd.toml": f"test = {test}\npoll = 3600\n"})
    git("remote", "add", "origin", "https://github.com/example/sums", cwd=path)
    yield path
    process = running(path / ".git/afterd")
    if process is not None:
        os.kill(process, signal.SIGTERM)
        wait_for(path / ".git/afterd", 10, up=False)


def test_a_commit_is_explained_and_handed_to_the_poster(where: Path, tmp_path: Path) -> None:
    (tmp_path / "poster.py").write_text(POSTER)
    poster = f"{sys.executable} {tmp_path / 'poster.py'} {tmp_path}"
    tokens = {"AFTERD_FORGE_TOKEN": CANARY, "GITHUB_TOKEN": CANARY, "AFTERD_POSTER": poster}
    assert "in place" in afterd("hook", "install", cwd=where)
    assert "process" in afterd("daemon", "start", "--post", cwd=where, **tokens)
    until(lambda: [state for _, state in jobs(where)] == ["done"])

    red = commit(where, {"lib.py": LIB.replace("a + b", "a - b")})
    until(lambda: (red, "done") in jobs(where))
    [verdict] = verdicts(where, red)
    assert verdict.kind == "caused"
    with opened(where) as reader:
        explanation = load(reader, verdict.explanation_id or 0)
        [row] = reader.rows("SELECT * FROM outgoing")
    assert [change.file for change in explanation.root] == ["lib.py"]
    assert explanation.tree is not None

    until((tmp_path / "told").exists)
    database = where / ".git/afterd/afterd.db"
    assert (tmp_path / "told").read_text().splitlines()[0] == f"{CANARY} {database}"
    assert (row["forge"], row["project"]) == ("https://github.com", "example/sums")
    assert (row["branch"], row["commit_id"]) == ("main", red)
    artefact = Path(str(row["body"])).read_bytes()
    read = received(artefact, "artefact")
    assert (read.commit, [each.kind.value for each in read.verdicts]) == (red, ["caused"])
    assert [each.root for each in read.explanations] == [explanation.root]

    assert CANARY.encode() not in (tmp_path / "seen").read_bytes()
    for path in (where / ".git/afterd").rglob("*"):
        assert not path.is_file() or CANARY.encode() not in path.read_bytes()

    status = json.loads(afterd("daemon", "status", "--format", "json", cwd=where))
    assert status["process"] == running(where / ".git/afterd")
    assert status["verdicts"] == {"caused": 1}
    assert "1 caused by this change" in afterd("daemon", "logs", cwd=where)
    assert "has ended" in afterd("daemon", "stop", cwd=where)
    until((tmp_path / "ended").exists)
    assert "No daemon" in afterd("daemon", "status", cwd=where)


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
    began = time.monotonic()
    assert "has ended" in afterd("daemon", "stop", cwd=where)
    assert time.monotonic() - began < 10
    with opened(where) as reader:
        [row] = reader.rows("SELECT state, reason, stalls FROM job")
    assert (row["state"], row["stalls"]) == ("queued", 0)
    assert "stopped" in str(row["reason"])


def test_a_unit_for_systemd(tmp_path: Path) -> None:
    text = unit([tmp_path, Path('/a b/50%/$x/"q')], post=True)
    assert f'daemon run --quiet --post {tmp_path} "/a b/50%%/$$x/\\"q"\n' in text
    assert "EnvironmentFile" in text
    assert "EnvironmentFile" not in unit([tmp_path], post=False)
