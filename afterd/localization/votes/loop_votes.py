"""What the causal loop has found out about the same failures, as a vote: its stored explanations.

Nothing is run: `afterd explain`, or the daemon, was there before, or there is no vote. A line is as
suspicious as what is known of it: a change whose removal was seen to make the test pass comes before
a step of the causal chain that was proved, seen or inferred.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from afterd.config import command_line
from afterd.localization.examination import Line
from afterd.localization.fusion import SEEN
from afterd.localization.votes.lines import changed_lines
from afterd.localization.votes.votes import Counted, NoVoteError, Votes
from afterd.model.change import FileKind
from afterd.model.explanation import THE_SUITE, CauseNode, Evidence, Explanation, TreeStep
from afterd.store.explanations import explained_ids, load
from afterd.vcs.kinds import kind_of

_STRENGTH = {Evidence.PROVED: 3.0, Evidence.OBSERVED: 2.0, Evidence.INFERRED: 1.0}


@dataclass(frozen=True, slots=True)
class LoopVoter:
    """Votes by the explanations of the failed tests at this version that are in the store."""

    def __call__(self, counted: Counted, /) -> Votes:
        """A line's score is the strongest evidence for it. Raises NoVoteError."""
        scores: dict[Line, float] = {}
        for identifier in _stored_explanations(counted):
            for line, strength in _evidence(load(counted.workspace.store, identifier), counted):
                scores[line] = max(strength, scores.get(line, 0.0))
        rules = counted.workspace.rules
        scores = {
            line: strength
            for line, strength in scores.items()
            if kind_of(line[0], rules) is not FileKind.TEST
        }
        if not scores:
            raise NoVoteError("The explanations of the failed tests name no line of the program.")
        return Votes(scores)

    def lacks(self, counted: Counted, /) -> str:
        """Somebody has to have asked the loop."""
        failed = counted.spectrum.failed.any()
        if failed and not _stored_explanations(counted):
            return "an explanation of a failed test in the store (`afterd explain` makes one)"
        return ""


def _stored_explanations(counted: Counted) -> list[int]:
    """The newest explanation of each failed test, or of the suite as a whole."""
    tests = {run.name for run in counted.spectrum.runs if run.failed}
    tests |= {THE_SUITE, command_line(counted.suite.recipe.test)}
    workspace = counted.workspace
    return explained_ids(workspace.store, workspace.name, counted.bad, tests)


def _evidence(found: Explanation, counted: Counted) -> Iterator[tuple[Line, float]]:
    """Lines with the strength of what is known of them."""
    known = {(e.location.file, e.location.line) for e in counted.spectrum.entities}
    for change in found.root:
        lines = changed_lines([change])
        executable = [line for line in lines if line in known]
        yield from ((line, SEEN) for line in executable or lines)
    for step in _steps(found.tree):
        yield (step.file, step.line), _STRENGTH[step.evidence]


def _steps(tree: CauseNode | None) -> Iterator[TreeStep]:
    """The steps of all causes; without recursion, because a tree may be deeper than the stack."""
    waiting = [] if tree is None else [tree]
    while waiting:
        cause = waiting.pop()
        yield from cause.steps
        waiting += cause.causes
