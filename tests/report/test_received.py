"""A file of a stranger: what afterd wrote is read back whole, anything else is one sentence."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

import pytest
from explanation_samples import RUNNING_EXAMPLE, explanations
from hypothesis import given
from hypothesis import strategies as st

from afterd.errors import UsageError
from afterd.model.change import Change
from afterd.model.explanation import CauseNode, Explanation, Status
from afterd.report.json import document, render
from afterd.report.received import DEEPEST, LARGEST, received_document
from afterd.report.verdicts import TestVerdict, VerdictKind


def written(explanation: Explanation) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(render([explanation], "/project"))
    return read


def dumped(value: object) -> bytes:
    return json.dumps(value).encode()


def kept(explanation: Explanation) -> Explanation:
    """What the contract holds of an explanation."""

    def changes(given: tuple[Change, ...]) -> tuple[Change, ...]:
        return tuple(
            replace(change, pruned="", old_file=change.old_file or change.file) for change in given
        )

    return replace(
        explanation, root=changes(explanation.root), auxiliary=changes(explanation.auxiliary)
    )


def inside(paths: list[str]) -> bool:
    return not any(
        path.startswith("/") or "\0" in path or ".." in PurePosixPath(path).parts for path in paths
    )


def paths(explanation: Explanation) -> list[str]:
    named = [change.file for change in (*explanation.root, *explanation.auxiliary)]
    named += [change.old_file for change in (*explanation.root, *explanation.auxiliary)]
    named += [line.file for line in explanation.ranking]
    named += [explanation.failure.file] if explanation.failure else []
    pending = [explanation.tree] if explanation.tree else []
    while pending:
        node = pending.pop()
        named += [node.file, *(step.file for step in node.steps)]
        pending += node.causes
    return named


def test_the_running_example_comes_back_as_it_was() -> None:
    read = received_document(render([RUNNING_EXAMPLE], "/p").encode(), "x")
    assert read.explanations == (RUNNING_EXAMPLE,)
    assert read.commit == RUNNING_EXAMPLE.range.bad
    assert read.verdicts == (TestVerdict("make check", VerdictKind.CAUSED),)


@given(explanations)
def test_any_explanation_comes_back_or_is_refused(explanation: Explanation) -> None:
    explanation = replace(
        explanation,
        root=tuple(replace(change, commits=()) for change in explanation.root),
        auxiliary=tuple(replace(change, commits=()) for change in explanation.auxiliary),
        strategy="dd",
    )
    if explanation.status is Status.GREEN:
        return
    data = render([explanation], "/project").encode()
    if inside(paths(explanation)):
        assert received_document(data, "x").explanations == (kept(explanation),)
    else:
        with pytest.raises(UsageError, match="inside the repository"):
            received_document(data, "x")


def test_an_older_afterd_left_the_added_keys_out() -> None:
    old = written(RUNNING_EXAMPLE)
    [explanation] = old["explanations"]
    for key in ("reason", "range", "strategy", "commands"):
        del explanation[key]
    for change in (*explanation["root"], *explanation["auxiliary"]):
        del change["form"], change["old_file"], change["symbol"]
    [read] = received_document(dumped(old), "x").explanations
    assert read.range == RUNNING_EXAMPLE.range
    assert read.root[0].patch == RUNNING_EXAMPLE.root[0].patch


def test_verdicts_and_commit_of_the_daemon() -> None:
    given = {
        **document([], "/p"),
        "commit": "c" * 40,
        "verdicts": [{"test": "t", "kind": "flaky", "rate": 0.25, "reason": "r", "runs": 9}],
    }
    read = received_document(dumped(given), "x")
    assert read.commit == "c" * 40
    assert read.verdicts == (TestVerdict("t", VerdictKind.FLAKY, 0.25, "r"),)


def altered(*where: str | int, value: object) -> bytes:
    top = written(RUNNING_EXAMPLE)
    inner: Any = top
    for key in where[:-1]:
        inner = inner[key]
    inner[where[-1]] = value
    return dumped(top)


FIRST = ("explanations", 0)
CHANGE = (*FIRST, "root", 0)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "Expecting value"),
        (b"\xff\xfe{", "can't decode|Expecting"),
        (b"[]", "an object"),
        (b"null", "an object"),
        (b"[" * 100_000, "recursion"),
        (b'{"schema": NaN}', "NaN is no number"),
        (b'{"schema": ' + b"9" * 5000 + b"}", "digits"),
        (b'{"schema": 2}', "schema must be 1"),
        (b'{"schema": true}', "a whole number"),
        (b" " * (LARGEST + 1), "at most 16 MiB"),
        (altered("range", "bad", value="main"), "range.bad must be a full commit id"),
        (altered("range", value="a..b"), "range must be an object"),
        (altered("commit", value="-" * 40), "commit must be a full commit id"),
        (altered("verdicts", value=[{"test": "t", "kind": "fine"}]), r"verdicts\[0\].kind"),
        (altered("verdicts", value=[{"test": "t", "kind": "flaky", "rate": 2}]), "from 0 to 1"),
        (altered("explanations", value={}), "explanations must be a list"),
        (altered("explanations", value="abc"), "explanations must be a list"),
        (altered("explanations", value=[None] * 1001), "a list of at most 1000"),
        (altered(*FIRST, value=7), r"explanations\[0\] must be an object"),
        (altered(*FIRST, "status", value="fine"), "one of explained"),
        (altered(*FIRST, "id", value=-1), "a whole number"),
        (altered(*FIRST, "id", value=2**60), "a whole number"),
        (altered(*FIRST, "minimal", value="yes"), "true, false or null"),
        (altered(*FIRST, "test", value=["a"]), "a text of at most"),
        (altered(*FIRST, "notes", value=[1]), r"notes\[0\] must be a text"),
        (altered(*FIRST, "strategy", value="<b>"), "the name of a strategy"),
        (altered(*FIRST, "runs", "seconds", "total", value=1e999), "Infinity|finite"),
        (altered(*FIRST, "runs", "seconds", "total", value="1"), "a number"),
        (altered(*FIRST, "failure", "file", value="../../etc/passwd"), "inside the repository"),
        (altered(*CHANGE, "file", value="/etc/passwd"), "inside the repository"),
        (altered(*CHANGE, "file", value="a\0b"), "inside the repository"),
        (altered(*CHANGE, "old_file", value="a/../../b"), "inside the repository"),
        (altered(*CHANGE, "file", value="x" * 5000), "at most 4096"),
        (altered(*CHANGE, "id", value="c1](http://evil)"), "a change id"),
        (altered(*CHANGE, "commits", value=["@everyone"]), "a full commit id"),
        (altered(*CHANGE, "new", value=[1]), "a first line and a number of lines"),
        (altered(*CHANGE, "form", value="explode"), "one of hunk"),
        (altered(*CHANGE, "patch", value="x" * (2**20 + 1)), "at most 1048576"),
    ],
)
def test_anything_else_is_refused_with_one_sentence(data: bytes, says: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        received_document(data, "answer.json")
    assert str(caught.value).startswith("answer.json is not what")
    assert "\n" not in str(caught.value)


def test_a_tree_deeper_than_anybody_reads_is_cut() -> None:
    node = CauseNode("p", "f", 1, ())
    for _ in range(DEEPEST + 40):
        node = replace(node, causes=(node,))
    [read] = received_document(
        dumped(written(replace(RUNNING_EXAMPLE, tree=node))), "x"
    ).explanations
    depth, inner = 0, read.tree
    while inner is not None and inner.causes:
        depth, inner = depth + 1, inner.causes[0]
    assert depth == DEEPEST


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(key=st.sampled_from(sorted(written(RUNNING_EXAMPLE)["explanations"][0])), value=JSON)
def test_any_value_anywhere_is_read_or_refused(key: str, value: object) -> None:
    try:
        received_document(altered(*FIRST, key, value=value), "x")
    except UsageError as error:
        assert "is not what" in str(error)  # noqa: PT017 - either way is right
