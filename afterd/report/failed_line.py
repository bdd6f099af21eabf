"""The last line of a story: the statement that failed, and what it looked at in both runs.

A truth value by itself tells nothing: under ``assert not isinstance(first, Instance)`` a bare "True" reads
like an assertion that holds. What the statement looked at is told instead, as far as it differs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from afterd.model.explanation import CauseNode, Explanation, Failure, TreeStep
from afterd.model.outcome import FailureKind
from afterd.model.trace import NOT_EXECUTED, RAISES
from afterd.report.summary import Phrase, Quoted
from afterd.report.told_step import VERDICTS, Told, step_values, values_beside

_WORD = re.compile(r"\w")
_OPAQUE = re.compile(r"<[^<>]*>")
_AT_ADDRESS = re.compile(r" at 0x[0-9a-f]{6,}")
_BARE = re.compile(r"(?:AssertionError: )?assert [(]*(?:not )?[(]*(?P<truth>True|False)[)]*")


def failed_line(
    explanation: Explanation, tree: CauseNode, steps: Sequence[TreeStep], without: str
) -> Told:
    """The failed assertion: where, which statement, and what it looked at; ``steps`` in the order in which
    they happened.
    """
    failure = explanation.failure
    if failure is None:
        return Told(tree.file, tree.line, tree.predicate)
    told = _where(failure, tree)
    own = [step for step in steps if is_said_by(step, told) and step.observed != step.green]
    raised = [step for step in own if step.observed.startswith(RAISES) and step.green]
    values = _looked_at(failure, own, without) or _said(failure, told.text)
    if values and raised:
        values += _instead(raised[0].green, without)
    return replace(told, values=values)


def is_said_by(step: TreeStep, end: Told) -> bool:
    """Whether a step is of the failed statement, which says it."""
    return (step.file, step.line) == (end.file, end.line)


def _where(failure: Failure, tree: CauseNode) -> Told:
    if not failure.file:
        return Told(tree.file, tree.line, tree.predicate)
    here = (failure.file, failure.line) == (tree.file, tree.line)
    text = tree.predicate if here else ""
    text = text if _WORD.search(text) else failure.message.split("\n")[0]
    return Told(failure.file, failure.line, text)


def _looked_at(failure: Failure, own: Sequence[TreeStep], without: str) -> Phrase:
    """The values of an assertion; empty where its message tells more."""
    mine, other = failure.observed, failure.expected
    truth = _BARE.fullmatch(failure.message.split("\n")[0])
    if (mine in VERDICTS and not other) or (not mine and truth):
        return _behind_truth(mine, own, without)
    if not mine or mine == other:
        return ()
    if not other:
        instead = _instead_of(mine, own, without)
        return instead or (Quoted(values_beside(mine, "")[0]),)
    if _OPAQUE.fullmatch(other) and "\n" not in failure.message and " == " in failure.message:
        return ()
    shown, expected = values_beside(_as_said(failure), other)
    wanted: Phrase = (Quoted(shown), " where ", Quoted(expected), " was expected")
    altered = next((step.green for step in reversed(own) if step.observed == other), "")
    if not altered or altered == NOT_EXECUTED or any(step.observed == mine for step in own):
        return wanted
    return (*wanted, f"; {without} ", Quoted(values_beside(altered, other)[0]), " was expected")


def _as_said(failure: Failure) -> str:
    """The value of an assertion; where it names a part by its type alone, as the test's own words have it."""
    said = failure.message.split("\n")[0].removeprefix("AssertionError: ").removeprefix("assert ")
    left = said.removesuffix(f" == {failure.expected}")
    tells_more = _OPAQUE.search(failure.observed) and not _OPAQUE.search(left) and "..." not in left
    return left if left != said and tells_more else failure.observed


def _behind_truth(truth: str, own: Sequence[TreeStep], without: str) -> Phrase:
    """What the statement looked at last, and where nothing of that differs what became of it; empty where
    neither is known.
    """
    seen = [step for step in own if step.target and step.observed not in VERDICTS]
    if seen:
        return step_values(seen[-1], without)
    judged = [step for step in own if step.observed in VERDICTS and step.green in VERDICTS]
    if truth:
        same = [step for step in judged if step.observed == truth]
        return (Quoted(truth), *_instead(same[-1].green, without)) if same else (Quoted(truth),)
    parts = [step for step in judged if step.target and step.target != step.text]
    return step_values(parts[-1], without) if parts else ()


def _instead_of(value: str, own: Sequence[TreeStep], without: str) -> Phrase:
    """A value, and what stood there without the changes; empty where that is not known."""
    green = next((step.green for step in reversed(own) if step.observed == value), "")
    if not green or green == NOT_EXECUTED:
        return ()
    mine, other = values_beside(value, green)
    return (Quoted(mine), f"; {without} ", Quoted(other))


def _instead(green: str, without: str) -> Phrase:
    if green == NOT_EXECUTED:
        return (f"; not run {without}",)
    return (f"; {without} ", Quoted(green))


def _said(failure: Failure, text: str) -> Phrase:
    """The message, as far as the statement does not say it; of output that is missing, what it would have been."""
    message = failure.message.split("\n")[0].removeprefix(text).strip()
    message = _AT_ADDRESS.sub("", message)
    said: Phrase = (Quoted(message),) if message else ()
    if failure.kind is not FailureKind.OUTPUT or failure.observed or not failure.expected:
        return said
    between = ("; ",) if said else ()
    wanted = Quoted(values_beside("", failure.expected)[1])
    return (*said, *between, wanted, " was expected")
