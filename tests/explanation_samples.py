"""Explanations that several test packages use: AFTER's running example, and any at all."""

from __future__ import annotations

from hypothesis import strategies as st

from afterd.model.change import Change, ChangeForm, FileKind
from afterd.model.explanation import (
    CauseNode,
    ChangeCounts,
    Evidence,
    Explanation,
    Failure,
    RankedLine,
    RevisionRange,
    RunCounts,
    Seconds,
    Status,
    TreeStep,
)
from afterd.model.location import LineSpan
from afterd.model.outcome import FailureKind

RANGE = RevisionRange("a" * 40, "b" * 40)

C2 = Change(
    "c2",
    "sum.c",
    "sum.c",
    LineSpan(5, 1),
    LineSpan(5, 1),
    symbol="sum_of",
    commits=("b" * 40,),
    patch="@@ -5 +5 @@\n-        if (x > y)\n+        if (x < y)\n",
)
C3 = Change(
    "c3",
    "sum.c",
    "sum.c",
    LineSpan(10, 1),
    LineSpan(10, 1),
    symbol="sum_of",
    commits=("b" * 40,),
    patch="@@ -10 +10 @@\n-        sum = sum + z;\n+        sum = sum - z;\n",
)
C7 = Change(
    "c7",
    "sum.h",
    "sum.h",
    LineSpan(2, 1),
    LineSpan(1, 0),
    commits=("b" * 40,),
    patch="@@ -2 +1,0 @@\n-extern int limit;\n",
)


def _step(line: int, text: str, observed: str, green: str, change: str = "") -> TreeStep:
    target = "sum" if "=" in text else ""
    return TreeStep("sum.c", line, text, target, observed, green, change, Evidence.PROVED)


TREE = CauseNode(
    "sum == 4",
    "sum.c",
    13,
    steps=(
        _step(13, "assert(sum == 4);", "1", "4"),
        _step(10, "sum = sum - z;", "1", "4", "c3"),
        _step(7, "else sum = y;", "2", ""),
    ),
    causes=(
        CauseNode(
            "x < y",
            "sum.c",
            5,
            steps=(_step(5, "if (x < y)", "false", "true", "c2"),),
            evidence=Evidence.OBSERVED,
        ),
    ),
)

RUNNING_EXAMPLE = Explanation(
    id=42,
    test="make check",
    status=Status.EXPLAINED,
    range=RANGE,
    failure=Failure(FailureKind.ASSERTION, "assert(sum == 4)", "sum.c", 13, "1", "4"),
    root=(C2, C3),
    auxiliary=(C7,),
    minimal=True,
    verified=True,
    changes=ChangeCounts(4, 1, 3),
    tree=TREE,
    ranking=(RankedLine("sum.c", 10, 0.97, {"ochiai": 0.71, "comss": 1.0}, "sum = sum - z;"),),
    runs=RunCounts(3, 4, 1, 6, 4, Seconds(2.13, 0.94, 0.2, 0.4, 0.1)),
    notes=("The value of `z` at sum.c:9 came from outside and was taken as it was.",),
)

ANY_TEXT = st.text(st.characters(), max_size=20)  # lone surrogates and NUL too
_COUNT = st.integers(0, 2**40)
_REAL = st.floats(allow_nan=False, allow_infinity=False)
_TEXTS = st.lists(ANY_TEXT, max_size=3).map(tuple)
_COMMIT = st.text("0123456789abcdef", min_size=40, max_size=40)
_ID = st.integers(1, 99).map("c{}".format)
_SPAN = st.builds(LineSpan, _COUNT, _COUNT)

changes = st.builds(
    Change,
    id=_ID,
    file=ANY_TEXT,
    old_file=ANY_TEXT,
    old=_SPAN,
    new=_SPAN,
    form=st.sampled_from(ChangeForm),
    kind=st.sampled_from(FileKind),
    symbol=ANY_TEXT,
    commits=_TEXTS,
    patch=ANY_TEXT,
    pruned=ANY_TEXT,
)
_evidence = st.sampled_from(Evidence)
steps = st.builds(
    TreeStep,
    file=ANY_TEXT,
    line=_COUNT,
    text=ANY_TEXT,
    target=ANY_TEXT,
    observed=ANY_TEXT,
    green=ANY_TEXT,
    change=st.just("") | _ID,
    evidence=_evidence,
)


def _node(causes: st.SearchStrategy[tuple[CauseNode, ...]]) -> st.SearchStrategy[CauseNode]:
    return st.builds(
        CauseNode,
        predicate=ANY_TEXT,
        file=ANY_TEXT,
        line=_COUNT,
        steps=st.lists(steps, max_size=3).map(tuple),
        causes=causes,
        evidence=_evidence,
    )


trees = st.recursive(
    _node(st.just(())), lambda node: _node(st.lists(node, max_size=2).map(tuple)), max_leaves=4
)

explanations = st.builds(
    Explanation,
    id=st.integers(1, 10**6),
    test=ANY_TEXT,
    status=st.sampled_from(Status),
    range=st.builds(RevisionRange, _COMMIT, _COMMIT),
    failure=st.none()
    | st.builds(
        Failure,
        kind=st.sampled_from(FailureKind),
        message=ANY_TEXT,
        file=ANY_TEXT,
        line=_COUNT,
        observed=ANY_TEXT,
        expected=ANY_TEXT,
    ),
    root=st.lists(changes, max_size=3).map(tuple),
    auxiliary=st.lists(changes, max_size=2).map(tuple),
    minimal=st.none() | st.booleans(),
    verified=st.booleans(),
    changes=st.builds(ChangeCounts, _COUNT, _COUNT, _COUNT),
    tree=st.none() | trees,
    ranking=st.lists(
        st.builds(
            RankedLine,
            file=ANY_TEXT,
            line=_COUNT,
            score=_REAL,
            votes=st.dictionaries(ANY_TEXT, _REAL, max_size=2),
            text=ANY_TEXT,
        ),
        max_size=2,
    ).map(tuple),
    runs=st.builds(
        RunCounts,
        _COUNT,
        _COUNT,
        _COUNT,
        _COUNT,
        _COUNT,
        st.builds(Seconds, _REAL, _REAL, _REAL, _REAL, _REAL),
    ),
    strategy=ANY_TEXT,
    notes=_TEXTS,
    reason=ANY_TEXT,
    build_command=_TEXTS,
    test_command=_TEXTS,
    also=_TEXTS,
    remarks=_TEXTS,
    out_of_budget=st.booleans(),
)
