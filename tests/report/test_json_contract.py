"""The JSON contract: the design's keys in the design's shape, exact text, valid for any input."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import first_contract
import pytest
from explanation_samples import RUNNING_EXAMPLE, explanations
from hypothesis import given

from afterd.model.explanation import Explanation, Status
from afterd.report.json import document, render

# design.md, section 8, with a type or a list of alternatives for each value
NUMBER = (int, float)
TEXT_OR_NULL = (str, type(None))
CHANGE = {
    "id": str,
    "file": str,
    "old": [int],
    "new": [int],
    "kind": str,
    "commits": [str],
    "patch": str,
    "old_file": str,
    "form": str,
    "symbol": TEXT_OR_NULL,
}
TREE: dict[str, object] = {
    "predicate": str,
    "file": str,
    "line": int,
    "evidence": str,
    "steps": [
        {
            "file": str,
            "line": int,
            "text": str,
            "observed": TEXT_OR_NULL,
            "green": TEXT_OR_NULL,
            "change": TEXT_OR_NULL,
            "evidence": str,
            "target": TEXT_OR_NULL,
            "was": TEXT_OR_NULL,
            "computed": TEXT_OR_NULL,
            "undone": TEXT_OR_NULL,
            "tested": bool,
            "whose": TEXT_OR_NULL,
        }
    ],
}
TREE["causes"] = [TREE]
EXPLANATION = {
    "id": int,
    "test": str,
    "status": str,
    "failure": {
        "kind": str,
        "message": str,
        "file": TEXT_OR_NULL,
        "line": (int, type(None)),
        "observed": TEXT_OR_NULL,
        "expected": TEXT_OR_NULL,
    },
    "root": [CHANGE],
    "auxiliary": [CHANGE],
    "minimal": (bool, type(None)),
    "verified": bool,
    "changes": {"total": int, "pruned": int, "executed": int},
    "tree": TREE,
    "ranking": [{"file": str, "line": int, "score": NUMBER, "votes": {}, "text": str}],
    "runs": {
        "tests": int,
        "builds": int,
        "cached": int,
        "smt_calls": int,
        "seconds": dict.fromkeys(["total", "build", "test", "trace", "solve", "story"], NUMBER),
        "confirmation": int,
        "warm": int,
        "interventions": int,
    },
    "notes": [str],
    "reason": TEXT_OR_NULL,
    "range": {"good": str, "bad": str},
    "strategy": str,
    "out_of_budget": bool,
    "commands": {"build": [str], "test": [str]},
    "also": [str],
    "remarks": [str],
}
DOCUMENT = {
    "schema": int,
    "afterd": str,
    "repository": str,
    "range": {"good": str, "bad": str},
    "explanations": [EXPLANATION],
}
NULLABLE = {"failure", "tree", "range"}


def matches(value: object, shape: object, key: str = "") -> bool:
    if value is None and key in NULLABLE:
        return True
    if isinstance(shape, list):
        return isinstance(value, list) and all(matches(item, shape[0]) for item in value)
    if isinstance(shape, Mapping):
        if not isinstance(value, Mapping):
            return False
        return not shape or (
            list(value) == list(shape)
            and all(matches(value[name], shape[name], name) for name in shape)
        )
    assert isinstance(shape, type | tuple)
    return isinstance(value, shape)


@given(explanations)
def test_any_explanation_has_the_shape(explanation: Explanation) -> None:
    text = render([explanation], "/project")
    assert text.isascii()
    read = json.loads(text)
    assert matches(read, DOCUMENT)
    assert read == document([explanation], "/project")


@given(explanations)
def test_byte_for_byte_what_the_first_writer_wrote(explanation: Explanation) -> None:
    written = json.dumps(first_contract.document([explanation], "/p"), indent=2) + "\n"
    assert render([explanation], "/p") == written


def test_text_stays_exact() -> None:
    hostile = replace(RUNNING_EXAMPLE, test="\x1b[31m\udcff`@x` <b>\u202e")
    assert json.loads(render([hostile], "/p"))["explanations"][0]["test"] == hostile.test


def test_the_running_example() -> None:
    [read] = json.loads(render([RUNNING_EXAMPLE], "/project"))["explanations"]
    assert [change["id"] for change in read["root"]] == ["c2", "c3"]
    assert read["root"][0] == {
        "id": "c2",
        "file": "sum.c",
        "old": [5, 1],
        "new": [5, 1],
        "kind": "source",
        "commits": ["b" * 40],
        "patch": "@@ -5 +5 @@\n-        if (x > y)\n+        if (x < y)\n",
        "old_file": "sum.c",
        "form": "hunk",
        "symbol": "sum_of",
    }
    assert read["tree"]["causes"][0]["evidence"] == "observed"
    assert read["tree"]["steps"][2]["green"] is None
    assert read["failure"]["expected"] == "4"


@pytest.mark.parametrize("status", Status)
def test_status_values_are_the_designs(status: Status) -> None:
    shown = document([replace(RUNNING_EXAMPLE, status=status)], "/p")["explanations"]
    assert isinstance(shown, list)
    values = [explanation["status"] for explanation in shown]
    assert values == ([] if status is Status.GREEN else [status.value])
    assert set(values) <= {"explained", "inconclusive", "flaky", "already-red", "broken"}


def test_a_reason_is_the_first_note() -> None:
    [shown] = json.loads(
        render([replace(RUNNING_EXAMPLE, reason="The budget is spent.", notes=("n",))], "/p")
    )["explanations"]
    assert shown["notes"] == ["The budget is spent.", "n"]


def test_a_remark_is_a_note_too() -> None:
    """Who reads the notes alone misses nothing."""
    remarked = replace(RUNNING_EXAMPLE, reason="r.", remarks=("m",), notes=("n",))
    [shown] = json.loads(render([remarked], "/p"))["explanations"]
    assert (shown["remarks"], shown["notes"]) == (["m"], ["r.", "m", "n"])


def test_nothing_fails() -> None:
    assert json.loads(render([], "/p"))["explanations"] == []
