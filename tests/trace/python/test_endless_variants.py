"""A variant that does not end is not waited for while it is recorded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from python_pairs import request_for

from afterd.errors import TraceError
from afterd.limits import ProcessLimits
from afterd.model.change import ChangeSet
from afterd.trace.python.recorder import PythonRecorder

ENDS = {"main.py": "total = 0\nfor n in range(9):\n    total += n\nprint(total)\n"}
ENDLESS = {"main.py": "total = 0\nwhile total >= 0:\n    total += 1\n"}


def test_a_variant_that_goes_on_and_on_is_ended_by_its_rows(tmp_path: Path) -> None:
    """pyasn1: one of which another failure was to be traced went round for as long as one waited."""
    request = request_for(tmp_path, ENDS, ENDLESS, ("python3", "main.py"))
    request = replace(request, limits=ProcessLimits(timeout=600.0))
    trees = {frozenset({"c1"}): "bad"}

    def built(variant: ChangeSet) -> Path:
        return tmp_path / trees.get(variant, "good")

    recorder = PythonRecorder(request, built, lambda variant: f"v{len(variant)}{id(variant)}")
    ends = [recorder.record(frozenset(each)) for each in ((), ("c1", "c2"))]
    assert all(run.passed for run in ends)
    with pytest.raises(TraceError, match=r"ended after [\d,]+ rows"):
        recorder.record(frozenset({"c1"}))
    assert recorder.record(frozenset({"c2"})).passed
