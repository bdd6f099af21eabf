"""A test that is run by a pytest of before 2022 is explained from its failed assertion on, as by a newer one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pipeline_runs import authored_git

from afterd.config import Settings
from afterd.model.explanation import Status
from afterd.model.progress import Silent
from afterd.pipeline.explain import explain

OLD = "pytest==6.2.5"
TEST = """\
import pytest

from lib import total

assert pytest.__version__ == "6.2.5"


def test_total():
    found = total(3)
    assert found == 6
"""


def _program(step: int) -> str:
    """Three functions that each give what they are given and more."""
    others = "\n\n\n".join(
        f"def part{each}(x):\n    return x + {step if each == 1 else 0} + {each} - {each}"
        for each in range(3)
    )
    if not step:
        others = others.replace(" + 0", "")
    called = "part0(part1(part2(x)))"
    return f"{others}\n\n\ndef total(x):\n    return {called} + 3\n"


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="pytest 6 knows no newer Python than 3.11")
def test_its_assertion_is_the_failure(tmp_path: Path) -> None:
    """kopf: every test failed at its `def`, so the evidence began at imports, and commits were bisected."""
    site, path = tmp_path / "site", tmp_path / "repository"
    install = [sys.executable, "-m", "pip", "install", "-q", "--target", str(site), OLD]
    if subprocess.run(install, check=False, capture_output=True).returncode:
        pytest.skip(f"pip cannot install {OLD}")
    authored_git(tmp_path, "init", "-q", "-b", "main", str(path))
    (path / "test_lib.py").write_text(TEST)
    for step in (0, 1):
        (path / "lib.py").write_text(_program(step))
        authored_git(path, "add", "-A")
        authored_git(path, "commit", "-q", "-m", f"step {step}")
    command = ("env", f"PYTHONPATH={site}", sys.executable, "-m", "pytest", "test_lib.py")
    [found] = explain(Settings(path, range="HEAD~1..HEAD", test=command), Silent())
    assert found.status is Status.EXPLAINED
    assert [change.symbol for change in found.root] == ["part1"]
    assert found.failure is not None
    assert (found.failure.file, found.failure.line) == ("test_lib.py", 10)
    assert (found.failure.observed, found.failure.expected) == ("7", "6")
    assert found.runs.tests == 1
