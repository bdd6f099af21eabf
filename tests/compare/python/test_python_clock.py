"""What the clock said is no difference between two runs, which are made at two times."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from python_pairs import one_file

from afterd.compare.python.execution import PythonExecution
from afterd.model.trace import Alignment, Step

# The green run is recorded beside, or after, the failing one: sleeping in one alone puts whole seconds between them.
TEST = "import lib\ndef test():\n    assert lib.due(2) == 4\n"
GOOD = """
    import time
    from datetime import datetime, timezone
    time.sleep(0.01)
    def due(count):
        at = int(time.time())
        precise = time.time()
        nanoseconds = time.time_ns()
        told = datetime.now()
        there = datetime.now(timezone.utc).isoformat()
        label = f"at {at}, {time.strftime('%H:%M:%S')}"
        began = time.monotonic()
        twice = count * FACTOR
        return twice
    FACTOR = 2
"""
BAD = GOOD.replace("FACTOR = 2", "FACTOR = 3").replace("sleep(0.01)", "sleep(1.3)")


def _steps(execution: PythonExecution) -> dict[str, Step]:
    """By the name that is bound, the last step of each of ``due``'s statements."""
    trace = execution.trace
    steps = (execution.step(trace.number(row)) for row in range(len(trace)) if trace.node(row))
    return {step.target: step for step in steps if step.target}


def test_what_the_clock_said_is_no_difference(tmp_path: Path) -> None:
    """Of fakeredis's server, the second in which it began told whether it was an innocent one."""
    steps = _steps(one_file(tmp_path, dedent(GOOD), dedent(BAD), TEST))
    clock = ("at", "precise", "nanoseconds", "told", "there", "label", "began")
    alike = {name: steps[name].green.alignment for name in clock}
    assert alike == dict.fromkeys(clock, Alignment.SAME)
    assert steps["twice"].green.alignment is Alignment.DIFFERENT


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("at = int(time.time())", "at = int(time.time()) + 3600"),
        ("at = int(time.time())", "at = int(time.time() * 1000)"),
        ("at = int(time.time())", "at = time.time()"),
        (
            "at = int(time.time())",
            "at = time.strftime('%H:%M:%S', time.localtime(time.time() - 900))",
        ),
        ("at = 1_100_000_000", "at = 1_100_000_001"),
    ],
)
def test_another_time_than_now_is_compared(tmp_path: Path, good: str, bad: str) -> None:
    here, there = (dedent(GOOD.replace("at = int(time.time())", text)) for text in (bad, good))
    steps = _steps(one_file(tmp_path, there, here, TEST))
    assert steps["at"].green.alignment is Alignment.DIFFERENT
