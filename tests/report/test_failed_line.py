"""The failed statement says what it looked at, in both runs; a bare truth value says nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from explanation_samples import RUNNING_EXAMPLE, TREE

from afterd.model.explanation import Evidence, Failure, TreeStep
from afterd.model.outcome import FailureKind
from afterd.report.story import story
from afterd.report.summary import as_plain

_ASSERTED = "assert not isinstance(next(node.infer()), Instance)"
_WHOLE = _ASSERTED.removeprefix("assert not ")
_CHANGE = TreeStep("lib.py", 20, "x = 1", "x", "1", "2", "c2", Evidence.OBSERVED)


def _operand(target: str, observed: str, green: str) -> TreeStep:
    return TreeStep("test.py", 6, _ASSERTED, target, observed, green, "", Evidence.OBSERVED)


def _told(failure: Failure, *operands: TreeStep) -> str:
    """What the last line says; ``operands`` as the tree has them, the last one first."""
    steps = (*operands, _CHANGE)
    tree = replace(TREE, predicate=_ASSERTED, file="test.py", line=6, steps=steps, causes=())
    explained = replace(RUNNING_EXAMPLE, failure=failure, tree=tree, root=RUNNING_EXAMPLE.root[:1])
    return as_plain(story(explained)[-1].values)


def _failure(message: str, observed: str = "", expected: str = "") -> Failure:
    return Failure(FailureKind.ASSERTION, message, "test.py", 6, observed, expected)


@pytest.mark.parametrize(
    ("message", "observed"),
    [
        ("AssertionError: assert not True", "True"),
        ("AssertionError: assert (not (True))", ""),
        ("AssertionError: assert (False)", ""),
    ],
)
def test_a_truth_value_is_told_by_what_was_looked_at(message: str, observed: str) -> None:
    """A bare "True" stood under ``assert not …``, which reads like an assertion that holds."""
    whole = _operand(_WHOLE, "True", "False")
    first = _operand("next(node.infer())", "<Instance>", "'value'")
    said = _told(_failure(message, observed), whole, first)
    assert said == "next(node.infer()) = <Instance>; without it 'value'"


def test_where_nothing_else_differs_the_truth_is_told_beside_the_other() -> None:
    whole = _operand(_WHOLE, "True", "False")
    failure = _failure("AssertionError: assert not True", "True")
    assert _told(failure, whole) == "True; without it False"
    assert _told(failure) == "True"


def test_the_part_of_an_assertion_that_did_not_hold_is_told() -> None:
    """Pytest's own words for it are "assert (False)"."""
    part = _operand("box.valid()", "False", "True")
    whole = _operand(_ASSERTED, "False", "True")
    said = _told(_failure("AssertionError: assert (False)"), whole, part)
    assert said == "box.valid() = False; without it True"


def test_what_was_searched_is_told_beside_what_stood_there() -> None:
    """A membership has no *expected*."""
    failure = _failure("AssertionError: assert 4 in [3, 6]", "[3, 6]")
    assert _told(failure, _operand("found", "[3, 6]", "[2, 4]")) == "[3, 6]; without it [2, 4]"


def test_where_the_change_made_what_was_expected_another_one() -> None:
    failure = _failure("AssertionError: assert 3 == (2 + 2)", "3", "4")
    assert (
        _told(failure, _operand("", "4", "3"))
        == "3 where 4 was expected; without it 3 was expected"
    )
    assert _told(failure, _operand("", "3", "4")) == "3 where 4 was expected"


def test_what_an_object_is_shown_as_by_its_type_is_told_by_the_message() -> None:
    message = "AssertionError: assert 3 == 2.0 ± 2.0e-06"
    assert _told(_failure(message, "3", "<ApproxScalar>")) == message


def test_a_message_of_the_test_s_own_stands_for_a_truth_value() -> None:
    failure = _failure("AssertionError: the box should be valid")
    assert _told(failure, _operand("box.ok", "False", "True")) == failure.message


def test_no_address_is_told() -> None:
    """``<Paragraph at 0x7fa90e961590> is not an instance of …`` stood at the end of a story."""
    said = _told(_failure("AssertionError: <p.Text object at 0x7fa90e961590> is not <b>"))
    assert said == "AssertionError: <p.Text object> is not <b>"


@pytest.mark.parametrize(
    ("message", "observed", "shown"),
    [
        ("assert ['while'] == []", "Log([<Item>])", "['while']"),
        ("AssertionError: assert ['while'] == []", "<Log>", "['while']"),
        ("assert ['a', ...] == []", "Log([<Item>])", "Log([<Item>])"),
        ("assert <Log> == []", "Log([<Item>])", "Log([<Item>])"),
        ("assert [2] == []", "[1]", "[1]"),
        ("no word of it", "Log([<Item>])", "Log([<Item>])"),
    ],
)
def test_what_is_named_by_its_type_alone_is_told_in_the_test_s_words(
    message: str, observed: str, shown: str
) -> None:
    assert _told(_failure(message, observed, "[]")) == f"{shown} where [] was expected"
