"""The SSA form is right: every recorded value is what its term computes from the values it reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from self_check import check
from traced_programs import SINGLE, Built, Laboratory

from afterd.trace.c.read.process import Process
from afterd.trace.c.window import records
from afterd.trace.c.window.recording import Recording

# Scalars whose value no record holds and no term computes.
NOT_KNOWN = {
    "arithmetic": "i128",
    "assembly": "<4 x i32>",
}

# A handler that leaves by siglongjmp may come between a record and what it says: that statement and
# those that read it are noticed, and say so.
INTERRUPTED = {"signals": 4}
_NOTICED = ": recorded otherwise than computed"


@pytest.mark.parametrize("name", [path.stem for path in SINGLE])
def test_every_step_computes_what_was_recorded(corpus: dict[str, Built], name: str) -> None:
    if name not in corpus:
        pytest.skip("C++ is shown on the other compiler")
    for process in corpus[name].processes:
        checked = check(process)
        torn = [text for text in checked.wrong if text.endswith(_NOTICED)]
        assert list(checked.wrong) == torn
        assert len(torn) <= INTERRUPTED.get(name, 0)
        assert checked.compared >= 0.6 * checked.steps
        allowed = NOT_KNOWN.get(name)
        assert [text for text in checked.unknown if allowed is None or allowed not in text] == []


def test_the_check_notices_a_value_that_was_not_computed(
    corpus: dict[str, Built], laboratory: Laboratory
) -> None:
    """Change one stored value in the ring of a finished run: two steps must disagree with it."""
    built = corpus["recursion"]
    _, traces = laboratory.run_traced([built.traced])
    ring = traces / "000000" / "ring"
    words = np.fromfile(ring, np.uint64)
    stores = np.flatnonzero((words[0::2] >> np.uint64(records.TAG_SHIFT)) == records.LSTORE)
    words[2 * stores[len(stores) // 2] + 1] += np.uint64(7)
    words.tofile(ring)
    assert check(reread(built, traces / "000000")).wrong


def reread(built: Built, directory: Path) -> Process:
    return Process(Recording(directory), built.processes[0].program)
