"""What a team is told of each failing test, in one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from afterd.model.explanation import Explanation, Status
from afterd.report.summary import Phrase, Quoted, acting_line, listed, location


class VerdictKind(StrEnum):
    """Whose failure it is."""

    CAUSED = "caused"
    FLAKY = "flaky"
    ALREADY_RED = "already-red"
    BROKEN = "broken"
    UNDETERMINED = "undetermined"


_KINDS = {
    Status.EXPLAINED: VerdictKind.CAUSED,
    Status.INCONCLUSIVE: VerdictKind.UNDETERMINED,
    Status.FLAKY: VerdictKind.FLAKY,
    Status.ALREADY_RED: VerdictKind.ALREADY_RED,
    Status.BROKEN: VerdictKind.BROKEN,
}
_SAID = {
    VerdictKind.CAUSED: "caused by this change",
    VerdictKind.FLAKY: "flaky",
    VerdictKind.ALREADY_RED: "already red before it",
    VerdictKind.BROKEN: "broken environment",
    VerdictKind.UNDETERMINED: "undetermined",
}
_ACTED_ON = frozenset({VerdictKind.CAUSED, VerdictKind.FLAKY, VerdictKind.UNDETERMINED})


@dataclass(frozen=True, slots=True)
class TestVerdict:
    """The verdict on ``test``. ``rate`` is how often a flaky one shows its other outcome, 0 to 1;
    None: not measured.
    """

    __test__ = False  # pytest collects classes named Test*
    test: str
    kind: VerdictKind
    rate: float | None = None
    reason: str = ""


def verdicts_of(explanations: Sequence[Explanation]) -> tuple[TestVerdict, ...]:
    """The verdicts that explanations say; a test that passes has none."""
    return tuple(
        TestVerdict(explanation.test, _KINDS[explanation.status], reason=explanation.reason)
        for explanation in explanations
        if explanation.status is not Status.GREEN
    )


def in_order(verdicts: Sequence[TestVerdict]) -> list[TestVerdict]:
    """What the author of the change has to do something about comes first."""
    kinds = list(VerdictKind)
    return sorted(verdicts, key=lambda verdict: (kinds.index(verdict.kind), verdict.test))


def actionable(verdicts: Sequence[TestVerdict]) -> bool:
    """Whether any verdict is news for the author of the change.

    What was red before, and what cannot be judged on this machine, is not theirs to mend.
    """
    return any(verdict.kind in _ACTED_ON for verdict in verdicts)


def summed_up(verdicts: Sequence[TestVerdict]) -> str:
    """How many of each kind, as a title: "1 caused by this change, 2 flaky"."""
    counts = [
        f"{number} {_SAID[kind]}"
        for kind in VerdictKind
        if (number := sum(verdict.kind is kind for verdict in verdicts))
    ]
    return ", ".join(counts) or "no test fails"


def sentence(verdict: TestVerdict, explanation: Explanation | None) -> Phrase:
    """The verdict in one line, with the root where it is known."""
    said = _SAID[verdict.kind]
    if verdict.kind is VerdictKind.FLAKY and verdict.rate is not None:
        said += f" (its other outcome in {verdict.rate:.0%} of runs)"
    parts: list[str | Quoted] = [Quoted(verdict.test), f": {said}"]
    if explanation is not None and explanation.root:
        root = explanation.root
        parts += [
            " – ",
            *listed([change.id for change in root]),
            " at ",
            location(root[0], acting_line(explanation, root[0])),
        ]
        parts += [f" and {len(root) - 1} more places"] if len(root) > 1 else []
    return tuple(parts)
