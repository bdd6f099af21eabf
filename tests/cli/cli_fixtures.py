"""Fixtures of the CLI tests: a real repository with a real explanation, made once, copied for each.

A plugin and no conftest: mypy knows one module of a name.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_repository import TEST, Done, Run, afterd_process, make_repository

from afterd.cli.boundary import run
from afterd.cli.main import afterd as group


@pytest.fixture
def afterd(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """The command, run in this process."""
    for name in [name for name in os.environ if name.startswith("AFTERD_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "100")
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}

    def call(*arguments: str, cwd: Path | None = None, **environment: str) -> Done:
        with monkeypatch.context() as patched:
            if cwd is not None:
                patched.chdir(cwd)
            for name, value in environment.items():
                patched.setenv(name, value)
            status = run(group, arguments)
        written = capsys.readouterr()
        return Done(arguments, status, written.out, written.err)

    yield call
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session")
def explained_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = make_repository(tmp_path_factory.mktemp("explained") / "repository")
    done = afterd_process("explain", "--", *TEST, cwd=path)
    assert done.returncode == 0, done.stderr
    assert "because of c3" in done.stdout
    return path


@pytest.fixture
def explained(explained_once: Path, tmp_path: Path) -> Path:
    """A repository in which explanation 1 is known; the test may change anything in it."""
    return Path(shutil.copytree(explained_once, tmp_path / "copy", symlinks=True))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The same repository, of which nothing was explained yet."""
    return make_repository(tmp_path / "fresh")
