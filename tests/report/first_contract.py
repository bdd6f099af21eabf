"""The JSON contract spelled out key by key, as its first writer did: what every later one must write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from afterd import __version__
from afterd.model.change import Change
from afterd.model.explanation import (
    CauseNode,
    Explanation,
    Failure,
    RankedLine,
    RunCounts,
    Status,
    TreeStep,
)
from afterd.model.location import LineSpan
from afterd.report.json import SCHEMA

Json = Mapping[str, object]


def document(explanations: Sequence[Explanation], repository: str) -> Json:
    """One object a failing test, in the order given; ``repository`` as the user named it."""
    revisions = explanations[0].range if explanations else None
    return {
        "schema": SCHEMA,
        "afterd": __version__,
        "repository": repository,
        "range": {"good": revisions.good, "bad": revisions.bad} if revisions else None,
        "explanations": [
            contract(explanation)
            for explanation in explanations
            if explanation.status is not Status.GREEN
        ],
    }


def contract(explanation: Explanation) -> Json:
    """The object of one failing test; the store keeps its text."""
    sentences = [explanation.reason] if explanation.reason else []
    return {
        "id": explanation.id,
        "test": explanation.test,
        "status": explanation.status.value,
        "failure": _failure(explanation.failure) if explanation.failure else None,
        "root": [_change(change) for change in explanation.root],
        "auxiliary": [_change(change) for change in explanation.auxiliary],
        "minimal": explanation.minimal,
        "verified": explanation.verified,
        "changes": {
            "total": explanation.changes.total,
            "pruned": explanation.changes.pruned,
            "executed": explanation.changes.executed,
        },
        "tree": _tree(explanation.tree) if explanation.tree else None,
        "ranking": [_ranked(line) for line in explanation.ranking],
        "runs": _runs(explanation.runs),
        "notes": [*sentences, *explanation.remarks, *explanation.notes],
        "reason": explanation.reason or None,
        "range": {"good": explanation.range.good, "bad": explanation.range.bad},
        "strategy": explanation.strategy,
        "out_of_budget": explanation.out_of_budget,
        "commands": {
            "build": list(explanation.build_command),
            "test": list(explanation.test_command),
        },
        "also": list(explanation.also),
        "remarks": list(explanation.remarks),
    }


def _failure(failure: Failure) -> Json:
    return {
        "kind": failure.kind.value,
        "message": failure.message,
        "file": failure.file or None,
        "line": failure.line or None,
        "observed": failure.observed or None,
        "expected": failure.expected or None,
    }


def _change(change: Change) -> Json:
    return {
        "id": change.id,
        "file": change.file,
        "old": _span(change.old),
        "new": _span(change.new),
        "kind": change.kind.value,
        "commits": list(change.commits),
        "patch": change.patch,
        "old_file": change.old_file,
        "form": change.form.value,
        "symbol": change.symbol or None,
    }


def _span(span: LineSpan) -> list[int]:
    """First line and number of lines."""
    return [span.start, span.count]


def _tree(tree: CauseNode) -> Json:
    return {
        "predicate": tree.predicate,
        "file": tree.file,
        "line": tree.line,
        "evidence": tree.evidence.value,
        "steps": [_step(step) for step in tree.steps],
        "causes": [_tree(cause) for cause in tree.causes],
    }


def _step(step: TreeStep) -> Json:
    return {
        "file": step.file,
        "line": step.line,
        "text": step.text,
        "observed": step.observed or None,
        "green": step.green or None,
        "change": step.change or None,
        "evidence": step.evidence.value,
        "target": step.target or None,
        "was": step.was or None,
        "computed": step.computed or None,
        "undone": step.undone or None,
        "tested": step.tested,
        "whose": step.whose or None,
    }


def _ranked(line: RankedLine) -> Json:
    return {
        "file": line.file,
        "line": line.line,
        "score": line.score,
        "votes": dict(line.votes),
        "text": line.text,
    }


def _runs(runs: RunCounts) -> Json:
    seconds = runs.seconds
    return {
        "tests": runs.tests,
        "builds": runs.builds,
        "cached": runs.cached,
        "smt_calls": runs.smt_calls,
        "seconds": {
            "total": seconds.total,
            "build": seconds.build,
            "test": seconds.test,
            "trace": seconds.trace,
            "solve": seconds.solve,
            "story": seconds.story,
        },
        "confirmation": runs.confirmation,
        "warm": runs.warm,
        "interventions": runs.interventions,
    }
