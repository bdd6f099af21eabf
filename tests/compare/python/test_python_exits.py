"""Scripts that say by their exit status alone that something is wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from python_pairs import suspects, traced_pair

from afterd.logic.evaluation import evaluate
from afterd.model.outcome import FailureKind

SCRIPT = (sys.executable, "check.py")

BRANCH = """\
import sys
from lib import twice

if twice(2) != 4:
    sys.exit(1)
"""
STATUS = """\
import sys
from lib import twice


def main():
    failed = 0
    if twice(2) != 4:
        failed += 1
    return failed


sys.exit(main())
"""
FLAG = """\
from lib import twice

wrong = twice(2) != 4
raise SystemExit(wrong)
"""
MESSAGE = """\
import sys
from lib import twice

got = twice(2)
if got != 4:
    sys.exit(f"{got} is not 4")
"""


@pytest.mark.parametrize("script", [BRANCH, STATUS, FLAG], ids=["branch", "status", "flag"])
def test_a_status_is_a_failure_of_its_own(script: str, tmp_path: Path) -> None:
    good, bad = (
        {
            "lib.py": f"def twice(x):\n    return x {sign} 3\n".replace("3", number),
            "check.py": script,
        }
        for sign, number in (("*", "2"), ("*", "3"))
    )
    execution = traced_pair(tmp_path, good, bad, SCRIPT)
    (failure,) = execution.failures()
    assert failure.kind is FailureKind.EXIT
    assert failure.message.startswith("SystemExit")
    assert evaluate(failure.condition) is False
    assert "c1" in suspects(execution)


def test_a_message_is_a_failure_too(tmp_path: Path) -> None:
    good, bad = (
        {"lib.py": f"def twice(x):\n    return x * {factor}\n", "check.py": MESSAGE}
        for factor in (2, 3)
    )
    execution = traced_pair(tmp_path, good, bad, SCRIPT)
    (failure,) = execution.failures()
    assert (failure.kind, failure.message) == (FailureKind.EXIT, "SystemExit: 6 is not 4")
    assert "c1" in suspects(execution)


def test_a_good_end_is_none(tmp_path: Path) -> None:
    script = "import sys\nfrom lib import twice\nprint(twice(2))\nsys.exit(0)\n"
    good, bad = (
        {"lib.py": f"def twice(x):\n    return x * {factor}\n", "check.py": script}
        for factor in (2, 3)
    )
    (failure,) = traced_pair(tmp_path, good, bad, SCRIPT).failures()
    assert failure.kind is FailureKind.OUTPUT
