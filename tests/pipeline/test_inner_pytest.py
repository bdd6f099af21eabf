"""A test that starts pytest itself, with an import path of its own, which is what plugins' tests do."""

from __future__ import annotations

import sys
from pathlib import Path

from pipeline_runs import repository

from afterd.config import Settings
from afterd.model.explanation import Status
from afterd.pipeline.explain import explain

TEST = """\
import os, subprocess, sys


def test_inner(tmp_path):
    (tmp_path / "test_one.py").write_text("from ops import price\\n\\ndef test_one():\\n    assert price(2) == 4\\n")
    own = dict(os.environ, PYTHONPATH=os.getcwd())
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, env=own, stdout=subprocess.PIPE, universal_newlines=True)
    assert done.returncode == 0, done.stdout
"""


def test_it_does_not_want_for_our_plugins(tmp_path: Path) -> None:
    """Pytest-cov: by ``PYTEST_PLUGINS`` the inner one was told of plugins that it could not import."""
    good = {"ops.py": "def price(n):\n    return n * 2\n", "tests/test_ops.py": TEST}
    where = repository(tmp_path, good, {"ops.py": "def price(n):\n    return n * 3\n"})
    command = (sys.executable, "-m", "pytest", "-q", "tests")
    [found] = explain(Settings(repository=where, test=command, range="HEAD~1..HEAD"))
    assert found.status is Status.EXPLAINED, found.reason
    assert [change.file for change in found.root] == ["ops.py"]
