"""The causal tree as it is shown."""

from __future__ import annotations

from afterd.causality.cause import Cause, Link
from afterd.causality.tree import causal_tree
from afterd.model.change import NOTHING
from afterd.model.explanation import Evidence
from afterd.model.location import Location
from afterd.model.outcome import FailureKind
from afterd.model.term import BOOL, Const
from afterd.model.trace import Predicate, Step, StepKind

_ASSERT = Location("test_lamp.py", 3)


def _step(number: int, kind: StepKind, target: str, rendered: str) -> Step:
    text = "assert size() == 1"
    return Step(number, _ASSERT, text, kind, Const(False, BOOL), rendered=rendered, target=target)  # noqa: FBT003 - the term


def _shown(*steps: Step) -> list[str]:
    predicate = Predicate(steps[-1].id, Const(False, BOOL), steps[-1].text, FailureKind.ASSERTION)  # noqa: FBT003 - the term
    tree = causal_tree([Link(Cause(predicate, steps, Evidence.PROVED))], NOTHING, {})
    assert tree is not None
    return [step.observed for step in tree.steps]


def test_that_an_assertion_failed_is_not_said_twice() -> None:
    """Under pytest ``assert`` is ``if not …``: the branch was shown as *True*, its condition as *False*."""
    failed = _step(3, StepKind.BRANCH, "", "True")
    seen = _step(1, StepKind.ASSIGN, "size()", "2")
    condition = _step(2, StepKind.ASSIGN, "", "False")
    assert _shown(seen, condition, failed) == ["False", "2"]
    assert _shown(failed) == ["True"]
