"""A real repository with a real explanation, made once; each test gets a copy of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from cli_repository import TEST, afterd, make_repository


@pytest.fixture(scope="session")
def explained_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = make_repository(tmp_path_factory.mktemp("explained") / "repository")
    done = afterd("explain", "--", *TEST, cwd=path)
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
