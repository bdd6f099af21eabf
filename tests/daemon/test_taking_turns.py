"""Who comes while another afterd is at work waits for it, hears for what, and has an answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from daemon_repositories import TEXT, commit, git, made, opened

LONGEST = 300.0  # seconds; a defect ends the test, no verdict rests on it


def started(where: Path, *arguments: str) -> subprocess.Popen[str]:
    environment = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG")}
    return subprocess.Popen(
        [sys.executable, "-m", "afterd", *arguments],
        cwd=where,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def held(tmp_path: Path) -> str:
    """A test that does not end before the file ``hold`` is gone."""
    hold = tmp_path / "hold"
    hold.touch()
    return f"while [ -e {hold} ]; do sleep 0.05; done; grep -q three text || exit 1"


def red(tmp_path: Path) -> Path:
    """A repository whose newest commit is red; its test is held."""
    configuration = f'test = "{held(tmp_path)}"\n'
    where = made(tmp_path / "r", {"text": TEXT, "other": "a\n", "afterd.toml": configuration})
    commit(where, {"text": "one\ntwo\n3\n", "other": "b\n"})
    return where


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    return process.stderr.readline()


def explained(where: Path, since: int = 0) -> list[int]:
    with opened(where) as reader:
        rows = reader.rows("SELECT id FROM explanation WHERE id > ?", (since,))
        return [int(str(row["id"])) for row in rows]


def test_eight_at_once_all_end_with_an_answer(tmp_path: Path) -> None:
    where = red(tmp_path)
    at_once = [started(where, "explain", "--format", "json") for _ in range(8)]
    heard = [line for line in map(first_line, at_once) if "waiting" in line]
    (tmp_path / "hold").unlink()
    ended = [each.communicate(timeout=LONGEST) for each in at_once]
    assert [each.returncode for each in at_once] == [0] * 8, ended
    for out, _ in ended:
        [answer] = json.loads(out)["explanations"]
        assert answer["status"] == "explained"
        assert [change["file"] for change in answer["root"]] == ["text"]
    assert len(heard) == 7
    assert all("HEAD~1..HEAD" in line for line in heard)
    assert len(explained(where)) == 1  # one answered the same question for all who waited


def test_the_daemons_answer_is_shown_to_who_asks_for_it_meanwhile(tmp_path: Path) -> None:
    configuration = f'test = "{held(tmp_path)}"\n'
    where = made(tmp_path / "r", {"text": TEXT, "other": "a\n", "afterd.toml": configuration})
    (tmp_path / "hold").unlink()
    assert started(where, "daemon", "run", "--once", "--quiet").wait(LONGEST) == 0
    of = commit(where, {"text": "one\ntwo\n3\n", "other": "b\n"})
    held(tmp_path)
    daemon = started(where, "daemon", "run", "--once", "--quiet")
    lock, deadline = where / ".git/afterd/slots.lock", time.monotonic() + LONGEST
    while of[:12] not in lock.read_text() and time.monotonic() < deadline:
        time.sleep(0.01)
    asked = started(where, "explain", "--format", "json")
    line = first_line(asked)
    (tmp_path / "hold").unlink()
    out, err = asked.communicate(timeout=LONGEST)
    assert daemon.wait(LONGEST) == 0
    assert asked.returncode == 0, err
    assert f"process {daemon.pid}, which is the daemon and tests {of[:12]}" in line
    [answer] = json.loads(out)["explanations"]
    assert [change["file"] for change in answer["root"]] == ["text"]
    assert explained(where) == [answer["id"]]


def test_another_question_waits_and_is_answered_itself(tmp_path: Path) -> None:
    where = red(tmp_path)
    first = started(where, "explain")
    first_line(first)
    script = "grep -q three text # another"
    other = started(where, "explain", "--format", "json", "--", "sh", "-c", script)
    assert "waiting" in first_line(other)
    (tmp_path / "hold").unlink()
    outs = [each.communicate(timeout=LONGEST) for each in (first, other)]
    assert (first.returncode, other.returncode) == (0, 0), outs
    [answer] = json.loads(outs[1][0])["explanations"]
    assert "# another" in answer["test"]
    assert len(explained(where)) == 2
    replays = [started(where, "replay", str(answer["id"])) for _ in range(2)]
    assert [each.wait(LONGEST) for each in replays] == [0, 0]
    assert git("status", "--porcelain", cwd=where) == ""
