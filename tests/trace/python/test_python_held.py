"""What objects that a call made may hold."""

from __future__ import annotations

from pathlib import Path

from python_pairs import one_file

from afterd.limits import PYTHON_TRACE

CHAIN = """
from functools import partial
def chain(length):
    kept = [partial(print)]
    for at in range(length):
        kept.append(partial(max, kept[at]))
    return kept
"""
TEST = """
from lib import chain
def test():
    assert chain(300) is None
"""


def test_what_a_chain_of_objects_holds_is_bounded(tmp_path: Path) -> None:
    """Each holds all before it: of a chain as long as the run that would be quadratic."""
    execution = one_file(tmp_path, CHAIN, CHAIN.replace("max", "min"), TEST)
    steps = execution.steps
    objects = [v for v in steps.trace.raw.values if isinstance(v, tuple) and v[0] == "o"]
    written = [
        len(steps.cells.contents.content_writes(value, len(steps.trace), limit=300))
        for value in objects
    ]
    assert 1 < max(written) <= PYTHON_TRACE.reads
