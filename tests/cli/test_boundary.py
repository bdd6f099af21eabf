"""Whatever is raised inside ends as a sentence, a status, and for bugs a log."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from cli_repository import TEST, afterd_process, make_repository

from afterd.cli.boundary import run
from afterd.errors import (
    AfterdError,
    BuildError,
    RepositoryError,
    SpaceError,
    UntestableError,
    UsageError,
)

SECRET = "ghp_0123456789abcdef"


def raising(error: BaseException | None, status: int | None = None) -> click.Group:
    @click.group()
    def group() -> None:
        pass

    @group.command()
    @click.option("--token", default="")
    @click.pass_context
    def verb(context: click.Context, token: str) -> None:
        click.echo("output", nl=False)
        if error is not None:
            raise error
        if status is not None:
            context.exit(status)
        del token

    return group


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UsageError("A sentence."), 2),
        (RepositoryError("A sentence."), 2),
        (BuildError("A sentence."), 13),
        (SpaceError("A sentence."), 13),
        (UntestableError("A sentence."), 10),
    ],
)
def test_what_we_understood_is_one_sentence(
    error: AfterdError, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(raising(error), ["verb"]) == status
    assert capsys.readouterr().err == f"afterd: A sentence. (docs/errors.md#{error.slug})\n"


def test_a_sentence_is_safe_for_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    run(raising(UsageError("File \x1b[31m\u202e\udcff is bad.")), ["verb"])
    assert "File \\x1b[31m\\u202e\\udcff is bad." in capsys.readouterr().err


@pytest.mark.parametrize("status", [0, 10, 11, 12, 13])
def test_a_verb_chooses_its_status(status: int) -> None:
    assert run(raising(None, status), ["verb"]) == status


def test_no_status_is_success() -> None:
    assert run(raising(None), ["verb"]) == 0
    assert run(raising(None), ["verb", "--help"]) == 0


@pytest.mark.parametrize("arguments", [["nope"], ["verb", "--nope"], ["verb", "extra"]])
def test_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(raising(None), arguments) == 2
    assert "Usage: afterd" in capsys.readouterr().err


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()])
def test_interrupted(error: BaseException, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(raising(error), ["verb"]) == 130
    assert capsys.readouterr().err.strip() == "afterd: Interrupted."


def test_a_bug_is_written_down_and_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(make_repository(tmp_path / "r"))
    monkeypatch.setenv("GITHUB_TOKEN", SECRET)
    assert run(raising(RuntimeError(f"boom {SECRET}")), ["verb", "--token", SECRET]) == 70
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert "RuntimeError" in said
    [log] = (tmp_path / "r/.git/afterd").glob("bug-*.log")
    assert str(log) in said
    text = log.read_text()
    assert "RuntimeError: boom ***" in text
    assert "Traceback" in text
    assert SECRET not in text + said


def test_outside_a_repository_a_bug_is_still_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir("/")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert run(raising(RecursionError("deep")), ["verb"]) == 70
    [log] = tmp_path.glob("bug-*.log")
    assert str(log) in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--help"], ["demo", "--scenarios"]])
def test_a_reader_that_goes_away(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as output:
        done = subprocess.run(
            [sys.executable, "-m", "afterd", *arguments],
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize(
    ("signal_", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)]
)
def test_a_signal_ends_it_within_five_seconds_and_leaves_nothing(
    tmp_path: Path, signal_: signal.Signals, status: int
) -> None:
    repository = make_repository(tmp_path / "r")
    tag = f"{os.getpid()}{status}"
    # A shell's job in the background inherits an ignored SIGINT, and so would what it starts.
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    running = subprocess.Popen(
        [sys.executable, "-m", "afterd", "explain", "--", "sh", "-c", f"sleep 100.{tag}"],
        cwd=repository,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    signal.signal(signal.SIGINT, inherited)
    deadline = time.monotonic() + 30
    while not sleeping(tag) and time.monotonic() < deadline:
        time.sleep(0.05)
    begin = time.monotonic()
    running.send_signal(signal_)
    _, said = running.communicate(timeout=20)
    assert time.monotonic() - begin < 5
    assert running.returncode == status, said
    assert "Traceback" not in said
    assert not sleeping(tag)
    assert afterd_process("explain", "--", *TEST, cwd=repository).returncode == 0


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOTEMPTY, "Directory not empty"), SpaceError("Full.")]
)
def test_what_fails_as_it_is_put_away_after_a_signal_is_no_bug(
    error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    @click.group()
    def group() -> None:
        pass

    @group.command()
    def verb() -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            raise error

    assert run(group, ["verb"]) == 143
    assert capsys.readouterr().err == "afterd: Ended by SIGTERM.\n"


def sleeping(tag: str) -> bool:
    """Whether a process of the test's own command is alive."""
    return any(
        f"100.{tag}".encode() in read(process / "cmdline")
        for process in Path("/proc").iterdir()
        if process.name.isdecimal() and read(process / "comm").strip() in (b"sleep", b"sh")
    )


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENAMETOOLONG, errno.ENOSPC])
def test_a_file_that_cannot_be_used_is_no_bug(
    capsys: pytest.CaptureFixture[str], number: int
) -> None:
    error = OSError(number, os.strerror(number), "/some/where")
    assert run(raising(error), ["verb"]) == 13
    said = capsys.readouterr().err
    assert f"/some/where cannot be used: {os.strerror(number)}" in said
    assert "bug" not in said


@pytest.mark.parametrize("arguments", [("explain",), ("list",), ("daemon", "run", "--once")])
def test_a_repository_on_a_read_only_mount(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    path = make_repository(tmp_path / "r")
    mounted = 'mount --bind . . && mount -o remount,ro,bind . && cd . && exec "$@"'
    command = [sys.executable, "-m", "afterd", *arguments, "-C", str(path)]
    alone = ["unshare", "--mount", "sh", "-c", mounted, "sh", *command]
    if subprocess.run(["unshare", "--mount", "true"], check=False, capture_output=True).returncode:
        pytest.skip("this user may not mount")
    done = subprocess.run(alone, cwd=path, capture_output=True, text=True, check=False)
    assert done.returncode == 13, done.stderr
    assert "bug" not in done.stderr
    assert "Read-only file system" in done.stderr or "Nothing was explained" in done.stderr


def test_a_test_command_may_be_long(tmp_path: Path) -> None:
    path = make_repository(tmp_path / "r")
    for long in ("x" * 300, "y" * 70_000):
        done = afterd_process("explain", "-C", str(path), "--", long)
        assert done.returncode == 13, done.stderr
        assert "cannot be started" in done.stderr
