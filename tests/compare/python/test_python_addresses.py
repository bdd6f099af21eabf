"""Addresses that a program takes for values are no difference between two runs, and no value to show."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from python_pairs import one_file, reachable

from afterd.compare.python.execution import PythonExecution
from afterd.model.trace import Alignment, Step

# Two runs in fresh processes: an allocation more moves every address in one of them.
MOVED = "\nHEAP = list(map(float, range({})))\n"
TEST = "import lib\ndef test():\n    assert lib.total(lib.Box('ab'), lib.Box('c')) == 4\n"
GOOD = """
    class Box:
        def __init__(self, text):
            self.text = text
        def size(self):
            return len(self.text) + HALF
    HALF = 0.5
    def total(*boxes):
        seen = {}
        known = set()
        for box in boxes:
            key = id(box)
            known.add(hash(box))
            label = f"box {key} is {object.__repr__(box)}"
            seen[key, label] = box.size()
        return added(seen, known)
    def added(seen, known):
        return sum(seen.values()) + (len(known) - 2)
"""


def _execution(tmp_path: Path, good: str, bad: str) -> PythonExecution:
    return one_file(
        tmp_path, dedent(good) + MOVED.format(10), dedent(bad) + MOVED.format(90_000), TEST
    )


def _at(execution: PythonExecution, *texts: str) -> list[Step]:
    """The last step of every statement that begins with one of some texts."""
    trace = execution.trace
    found: dict[str, Step] = {}
    for row in range(len(trace)):
        node = trace.node(row)
        if node is not None and node.statement.text.startswith(texts):
            step = execution.step(trace.number(row))
            found[f"{step.text} {step.target}"] = step
    return list(found.values())


def test_an_address_is_no_difference_wherever_it_went(tmp_path: Path) -> None:
    execution = _execution(tmp_path, GOOD, GOOD.replace("HALF = 0.5", "HALF = 1.5"))
    steps = _at(execution, "key =", "known.add", "label =", "def added")
    assert len(steps) >= 4
    unlike = {step.target for step in steps if step.green.alignment is not Alignment.SAME}
    assert unlike == {"seen", "return"}
    assert {"key", "label", "known"} <= {step.target for step in steps}


def test_an_address_is_not_shown(tmp_path: Path) -> None:
    execution = _execution(tmp_path, GOOD, GOOD.replace("HALF = 0.5", "HALF = 1.5"))
    shown = {
        step.target: step.rendered for step in _at(execution, "key =", "label =", "return sum")
    }
    assert shown["key"] == "<address>"
    assert shown["label"].startswith("'box <address> is <lib.Box object>")
    for step in reachable(execution):
        assert "0x" not in step.rendered + step.green.rendered


def test_a_number_that_is_no_address_is_compared_however_large(tmp_path: Path) -> None:
    good = GOOD.replace("HALF = 0.5", "HALF = 140_000_000_000_000 - 139_999_999_999_999.5")
    bad = good.replace("140_000_000_000_000", "140_000_000_000_001")
    (half,) = [step for step in _at(_execution(tmp_path, good, bad), "HALF") if step.target]
    assert half.green.alignment is Alignment.DIFFERENT
