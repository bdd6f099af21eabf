"""A build that takes long before the first test is run: how far it is is told."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pipeline_runs import afterd, repository

from afterd.limits import REPORT

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="no make")


def test_objects_are_counted_while_it_builds(tmp_path: Path) -> None:
    """Four minutes of silence stood where libxmp was built."""
    makefile = (
        f"all:\n\ttouch a.o b.o; sleep {2.5 * REPORT.every}\ncheck: all\n\tgrep -q 2 amount\n"
    )
    files = {".gitignore": "*.o\n", "Makefile": makefile, "amount": "2\n"}
    where = repository(tmp_path / "r", files, {"amount": "2\n\n"})
    done = afterd("explain", "HEAD~1..HEAD", cwd=where)
    assert done.status == 0, done.err + done.out
    assert "2 object files built for it" in done.err
