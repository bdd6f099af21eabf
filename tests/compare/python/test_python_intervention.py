"""One step of a failing run given what the other run had: the test really runs again with it."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from python_pairs import changes_of, request_for

from afterd.compare.pair import Pair
from afterd.compare.python.execution import PythonExecution
from afterd.model.trace import Alignment, Trial
from afterd.trace.python.record.replacing import Replacement, decoded_value, encoded_value
from afterd.trace.python.record.rows import Kind
from afterd.trace.python.recorder import RecordedRun, recorded_run
from afterd.trace.python.stage.runner import PythonTraceRequest

SCRIPT = (sys.executable, "test_lib.py")
SQUARED = """\
def squared(n):
    size = n * @
    result = size
    return result

def told(n):
    return squared(n)
"""
COUNTED = """\
class Counter:
    def __init__(self):
        self.found = 0

    def add(self, n):
        self.found += @

def told(n):
    counter = Counter()
    counter.add(n)
    return counter.found
"""
CHOSEN = """\
def told(n):
    if n @ 3:
        return 9
    return 0
"""
SHARED = """\
def told(n):
    size = n * @
    half = size // 2
    return half * 2 + size - half * 2 if half else 0
"""
CHECKED = """\
def told(n):
    size = n * @
    third = size // 3
    if size != third * 3:
        return 9
    return size
"""
LISTED = """\
def told(n):
    items = [n] * @
    return sum(items)
"""
PAIRED = """\
def told(n):
    left, right = (n, n * @)
    return left + right
"""
HANDED = """\
def twice(n):
    return n * 3

def told(n):
    return twice(@)
"""


@dataclass(frozen=True)
class Case:
    """A program that returned 9 with ``good`` in the place of ``@`` and does not with ``bad``; the last
    step of ``line`` that differs is given what it had.
    """

    name: str
    lib: str
    good: str
    bad: str
    line: int
    expected: Trial


CASES = (
    Case("a name", SQUARED, "n", "2", 3, Trial.PASSES),
    Case("what a call gave", SQUARED, "n", "2", 7, Trial.PASSES),
    Case("a parameter", HANDED, "n", "n + 1", 1, Trial.PASSES),
    Case("an attribute", COUNTED, "n * 3", "n", 6, Trial.PASSES),
    Case("one of a pair", PAIRED, "2", "1", 2, Trial.PASSES),
    Case("a condition", CHOSEN, "==", ">", 2, Trial.PASSES),
    Case("not enough by itself", SHARED, "3", "2", 3, Trial.FAILS),
    Case("where neither run was", CHECKED, "3", "4", 3, Trial.ELSEWHERE),
    Case("an object cannot be made anew", LISTED, "3", "2", 2, Trial.NOT_RUN),
)


def _request(case: Case, tmp_path: Path) -> tuple[PythonTraceRequest, PythonExecution]:
    test = {"test_lib.py": "import lib\nassert lib.told(3) == 9\n"}
    good = {"lib.py": case.lib.replace("@", case.good), **test}
    bad = {"lib.py": case.lib.replace("@", case.bad), **test}
    request = request_for(tmp_path, good, bad, SCRIPT)
    runs = [recorded_run(request, tmp_path / name, name) for name in ("bad", "good")]
    pair = Pair(runs[0], runs[1], changes_of(good, bad))
    return request, PythonExecution(pair, again=partial(_again, request, tmp_path))


def _again(request: PythonTraceRequest, trees: Path, replaced: Replacement) -> RecordedRun:
    return recorded_run(replace(request, replaced=replaced), trees / "bad", "set")


def _last_differing(execution: PythonExecution, line: int) -> int:
    """The last step of what stands at a line: a parameter's where it stands, wherever its value was given."""
    trace = execution.trace
    return next(
        number
        for number in reversed(range(trace.raw.total))
        if (node := trace.node(trace.position(number))) is not None
        and (node.module.path, node.line) == ("lib.py", line)
        and execution.step(number).green.alignment is Alignment.DIFFERENT
        and trace.kind(trace.position(number)) is not Kind.EXIT
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_step_is_given_what_the_other_run_had(case: Case, tmp_path: Path) -> None:
    """The program is run again with it, and what that tells is told."""
    _, execution = _request(case, tmp_path)
    assert execution.trial(_last_differing(execution, case.line)) is case.expected


def test_a_run_that_is_another_one_before_it_comes_there_is_left_alone(tmp_path: Path) -> None:
    """The row says which instance is meant: at another one nothing is set."""
    request, execution = _request(CASES[0], tmp_path)
    position = execution.trace.position(_last_differing(execution, 3))
    wrong = Replacement(execution.trace.sites[position], 1 << 40, 9)
    run = _again(request, tmp_path, wrong)
    assert not run.passed
    assert not run.traces[0].raw.header["replaced"]


_plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()


@given(st.recursive(_plain | st.binary(), lambda inner: st.tuples(st.just("t"), inner, inner)))
def test_a_value_is_the_same_after_it_was_sent(value: object) -> None:
    """A recorded tuple starts with its tag; what is made anew of it does not."""
    sent = json.loads(json.dumps(encoded_value(value)))
    assert decoded_value(sent) == _made(value)


def _made(value: object) -> object:
    return tuple(map(_made, value[1:])) if isinstance(value, tuple) else value


@pytest.mark.parametrize("value", [("l", 1, 0), ("o", 1, 2, None), ("S", 900, "", "", ""), ("n",)])
def test_what_was_not_recorded_whole_cannot_be_made_anew(value: object) -> None:
    """A list, an object, a long text, what is nested too deep."""
    with pytest.raises(ValueError, match="cannot be made anew"):
        encoded_value(("t", value))
