"""SARIF 2.1.0: what the standard requires of the parts that we write."""

from __future__ import annotations

import json
import re
import urllib.parse
from dataclasses import replace
from typing import Any

import pytest
from explanation_samples import C2, RUNNING_EXAMPLE, explanations
from hypothesis import given, settings

from afterd.model.explanation import Explanation, RankedLine, Status
from afterd.model.location import LineSpan
from afterd.report.sarif import render


def results(*shown: Explanation) -> list[dict[str, Any]]:
    log = json.loads(render(shown))
    assert log["version"] == "2.1.0"
    [run] = log["runs"]
    assert run["tool"]["driver"]["name"] == "afterd"
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        check(result)
    found: list[dict[str, Any]] = run["results"]
    return found


def check(result: dict[str, Any]) -> None:
    """Sections 3.27 (result), 3.29 (physical location), 3.30 (region) of the standard."""
    assert isinstance(result["message"]["text"], str)
    assert result["level"] == ("error" if result.get("kind", "fail") == "fail" else "none")
    assert 0 <= result.get("rank", 0) <= 100
    places = [*result["locations"], *result.get("relatedLocations", [])]
    for flow in result.get("codeFlows", []):
        for thread in flow["threadFlows"]:
            assert thread["locations"]
            places += [step["location"] for step in thread["locations"]]
    for place in places:
        physical = place["physicalLocation"]
        artifact = physical["artifactLocation"]
        uri = artifact["uri"]
        assert uri.startswith("file:///") is not ("uriBaseId" in artifact)
        uri = uri.removeprefix("file:///")
        assert re.fullmatch(r"(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})*", uri)
        assert not uri.startswith("/")
        if "region" in physical:
            assert 1 <= physical["region"]["startLine"] <= physical["region"]["endLine"]


@given(explanation=explanations)
@settings(max_examples=60)
def test_any_explanation_is_valid(explanation: Explanation) -> None:
    results(explanation)


def test_a_test_outside_of_the_repository_is_where_it_lies() -> None:
    """Below SRCROOT there is no such file."""
    assert RUNNING_EXAMPLE.failure is not None
    failure = replace(RUNNING_EXAMPLE.failure, file="/tmp/my tests/test_new.py", line=7)
    first, *_ = results(replace(RUNNING_EXAMPLE, failure=failure))
    locations = first["codeFlows"][0]["threadFlows"][0]["locations"]
    last = locations[-1]["location"]["physicalLocation"]
    assert last["artifactLocation"] == {"uri": "file:///tmp/my%20tests/test_new.py"}


def test_each_root_change_is_a_result_with_its_causal_tree() -> None:
    first, second = results(RUNNING_EXAMPLE)
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "sum.c", "uriBaseId": "SRCROOT"},
        "region": {"startLine": 5, "endLine": 5},
    }
    flow = first["codeFlows"][0]["threadFlows"][0]["locations"]
    lines = [step["location"]["physicalLocation"]["region"]["startLine"] for step in flow]
    assert lines == [5, 7, 10, 13]
    assert flow[2]["importance"] == "essential"
    assert (
        flow[2]["location"]["message"]["text"] == "sum = sum - z;: sum = 1; without them 4 (proved)"
    )
    assert [related["id"] for related in first["relatedLocations"]] == [0]
    assert first["partialFingerprints"] != second["partialFingerprints"]
    assert first["properties"]["change"] == "c2"


def test_a_fingerprint_survives_moved_lines() -> None:
    moved = replace(C2, id="c9", new=LineSpan(50, 1), old=LineSpan(50, 1))
    prints = [
        results(replace(RUNNING_EXAMPLE, root=(change,)))[0]["partialFingerprints"]
        for change in (C2, moved)
    ]
    assert prints[0] == prints[1]


def test_without_a_root_the_ranking_is_to_review() -> None:
    ranking = tuple(RankedLine("a b:ü\udcff.c", n, 3.0 - n, {}, "") for n in range(1, 20))
    found = results(replace(RUNNING_EXAMPLE, status=Status.INCONCLUSIVE, root=(), ranking=ranking))
    assert len(found) == 10
    assert found[0]["kind"] == "review"
    uri = found[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert urllib.parse.unquote_to_bytes(uri) == "a b:ü".encode() + b"\xff.c"
    assert [result["rank"] for result in found[:3]] == [100.0, 100.0, 0.0]


def test_text_in_brackets_is_no_link() -> None:
    [result, _] = results(replace(RUNNING_EXAMPLE, test="[x](http://evil)"))
    assert "](" not in result["message"]["text"].replace("\\](", "")


@pytest.mark.parametrize("status", [Status.GREEN, Status.FLAKY])
def test_no_result_where_there_is_nothing_to_show(status: Status) -> None:
    assert results(replace(RUNNING_EXAMPLE, status=status, root=(), ranking=())) == []
