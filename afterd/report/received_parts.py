"""An explanation out of a document that nobody vouches for; the reverse of ``json.contract``."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from afterd.model.change import Change, ChangeForm, FileKind
from afterd.model.explanation import (
    CauseNode,
    ChangeCounts,
    Evidence,
    Explanation,
    Failure,
    RunCounts,
    Seconds,
    Status,
    TreeStep,
)
from afterd.model.location import LineSpan
from afterd.model.outcome import FailureKind
from afterd.model.ranking import RankedLine
from afterd.model.revision import RevisionRange
from afterd.report.received_values import Item, Malformed

COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
COMMIT_IS = "a full commit id"
DEEPEST = 100  # causes below causes; what is deeper is shown by no comment, and is not read
_CHANGE_ID = re.compile(r"c[1-9][0-9]{0,8}")
_STRATEGY = re.compile(r"[a-z]{1,20}|")
_MOST_CHANGES = 10_000


def explanation(item: Item, default: RevisionRange | None) -> Explanation:
    """One of the list ``explanations``; ``default`` is the range of the whole document."""
    reason = item["reason"].text()
    notes = item["notes"].texts(10_000)
    return Explanation(
        id=item["id"].integer(),
        test=item["test"].text(),
        status=item["status"].one_of(Status),
        range=revisions(item["range"]) if item["range"] or default is None else default,
        failure=_failure(item["failure"]) if item["failure"] else None,
        root=tuple(map(_change, item["root"].items(_MOST_CHANGES))),
        auxiliary=tuple(map(_change, item["auxiliary"].items(_MOST_CHANGES))),
        minimal=item["minimal"].flag(),
        verified=bool(item["verified"].flag()),
        changes=_counts(item["changes"]) if item["changes"] else ChangeCounts(),
        tree=_tree(item["tree"]) if item["tree"] else None,
        ranking=tuple(map(_ranked, item["ranking"].items())),
        runs=_runs(item["runs"]) if item["runs"] else RunCounts(),
        strategy=item["strategy"].matching(_STRATEGY, "the name of a strategy"),
        notes=notes[1:] if reason and notes[:1] == (reason,) else notes,
        reason=reason,
        build_command=item["commands"]["build"].texts() if item["commands"] else (),
        test_command=item["commands"]["test"].texts() if item["commands"] else (),
    )


def revisions(item: Item) -> RevisionRange:
    """Two commits; of a patch that was tried (``--diff``) the second is a tree."""
    good, bad = (item[end].matching(COMMIT, COMMIT_IS) for end in ("good", "bad"))
    return RevisionRange(good, bad)


def path(item: Item) -> str:
    """A path inside the repository; empty where it is not known."""
    text = item.text(4096)
    parts = PurePosixPath(text).parts
    if text.startswith("/") or "\0" in text or ".." in parts:
        raise Malformed(item.where, "a path inside the repository")
    return text


def _change(item: Item) -> Change:
    return Change(
        id=item["id"].matching(_CHANGE_ID, "a change id such as c7"),
        file=path(item["file"]),
        old_file=path(item["old_file"]) or path(item["file"]),
        old=_span(item["old"]),
        new=_span(item["new"]),
        form=item["form"].one_of(ChangeForm, ChangeForm.HUNK),
        kind=item["kind"].one_of(FileKind),
        symbol=item["symbol"].text(),
        commits=tuple(each.matching(COMMIT, COMMIT_IS) for each in item["commits"].items(10_000)),
        patch=item["patch"].text(),
    )


def _span(item: Item) -> LineSpan:
    numbers = [each.integer() for each in item.items()]
    if len(numbers) != 2:
        raise Malformed(item.where, "a first line and a number of lines")
    return LineSpan(*numbers)


def _failure(item: Item) -> Failure:
    return Failure(
        kind=item["kind"].one_of(FailureKind),
        message=item["message"].text(),
        file=path(item["file"]),
        line=item["line"].integer(),
        observed=item["observed"].text(),
        expected=item["expected"].text(),
    )


def _tree(item: Item, depth: int = 0) -> CauseNode:
    below = item["causes"].items(1_000) if depth < DEEPEST else []
    return CauseNode(
        predicate=item["predicate"].text(),
        file=path(item["file"]),
        line=item["line"].integer(),
        steps=tuple(map(_step, item["steps"].items())),
        causes=tuple(_tree(cause, depth + 1) for cause in below),
        evidence=item["evidence"].one_of(Evidence, Evidence.INFERRED),
    )


def _step(item: Item) -> TreeStep:
    return TreeStep(
        file=path(item["file"]),
        line=item["line"].integer(),
        text=item["text"].text(),
        target=item["target"].text(),
        observed=item["observed"].text(),
        green=item["green"].text(),
        change=item["change"].matching(_CHANGE_ID, "a change id") if item["change"] else "",
        evidence=item["evidence"].one_of(Evidence),
    )


def _ranked(item: Item) -> RankedLine:
    return RankedLine(
        file=path(item["file"]),
        line=item["line"].integer(),
        score=item["score"].real(),
        votes={name: vote.real() for name, vote in item["votes"].entries().items()},
        text=item["text"].text(),
    )


def _counts(item: Item) -> ChangeCounts:
    return ChangeCounts(*(item[name].integer() for name in ("total", "pruned", "executed")))


def _runs(item: Item) -> RunCounts:
    spent = item["seconds"] or Item({}, "")
    return RunCounts(
        tests=item["tests"].integer(),
        builds=item["builds"].integer(),
        cached=item["cached"].integer(),
        smt_calls=item["smt_calls"].integer(),
        confirmation=item["confirmation"].integer(),
        warm=item["warm"].integer(),
        seconds=Seconds(
            *(spent[stage].real() for stage in ("total", "build", "test", "trace", "solve"))
        ),
    )
