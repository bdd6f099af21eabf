"""What the loop finds, and how it reaches the world."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from afterd.causality.auxiliary import Builds, Refused, nothing_said
from afterd.causality.deltas.closure import Closure
from afterd.causality.halving import Halving
from afterd.causality.named import NOTHING_NAMED, NamedByFailure
from afterd.causality.semantic import CoreOf
from afterd.causality.standing import NOTHING_TOLD, Standing
from afterd.causality.suspicion import Suspect
from afterd.causality.trials import (
    CameFurther,
    Clashing,
    OutcomeOf,
    OutcomesOf,
    never_further,
    nothing_clashes,
)
from afterd.causality.watch import Watch
from afterd.causality.worth import Worth
from afterd.model.change import NOTHING, ChangeId, ChangeSet
from afterd.model.explanation import CauseNode
from afterd.model.outcome import Verdict
from afterd.model.trace import Execution, Predicate

TracedVariant = Callable[[ChangeSet], Execution | None]
"""The failing run of the bad version with a set of changes undone, the green run beside it."""


def not_traced(reverted: ChangeSet) -> Execution | None:  # noqa: ARG001 - it answers a TracedVariant's question
    """The answer where no variant is traced."""
    return None


def not_told(commit: str) -> Verdict:  # noqa: ARG001 - it answers what the test says of a commit's version
    """The answer where no commit's own version is run."""
    return Verdict.UNRESOLVED


@dataclass(frozen=True, slots=True)
class Oracles:
    """Outcomes of variants, whether they build (which is no test run), and the solver.

    ``outcomes`` answers for several variants side by side, ``width`` of them at the same time; None where
    that is not possible.
    ``standing`` tells without a build whether one stands alone. ``worth`` weighs what evidence costs
    against the runs that it saves. ``named`` is what the failure names,
    ``similarity`` how similar the text of each change is to the test's (``textual_similarity``).
    ``traced`` gives the failing run of a variant; None where that is not possible. ``clashing``: what
    must be undone as well, by the failure of a variant that failed otherwise; ``closure``: by the names
    that changes define and use; ``commits`` are those of the range, oldest first, where it is known which made what.
    ``verdict_at``: what the test says of a commit's own version, ``verdict_before``: of the one that it was made from.
    ``halving``: the commits' own versions may tell a shorter range, which is then searched instead. ``watch`` ends the
    search with the budget. ``refused``: what the build said against a variant that was built in vain.
    ``came_further``: whether a variant failed later in the test than the bad version.
    """

    outcome: OutcomeOf
    builds: Builds
    core: CoreOf
    outcomes: OutcomesOf | None = None
    standing: Standing = NOTHING_TOLD
    worth: Worth = field(default_factory=Worth)
    named: NamedByFailure = NOTHING_NAMED
    similarity: Mapping[ChangeId, float] = field(default_factory=dict)
    traced: TracedVariant = not_traced
    clashing: Clashing = nothing_clashes
    closure: Closure = field(default_factory=Closure)
    commits: Sequence[str] = ()
    verdict_at: Callable[[str], Verdict] = not_told
    verdict_before: Callable[[str], Verdict] = not_told
    halving: Halving = field(default_factory=Halving)
    watch: Watch = field(default_factory=Watch)
    width: int = 1
    refused: Refused = nothing_said
    came_further: CameFurther = never_further

    def without(self, reverted: ChangeSet) -> Oracles:
        """The same of the variant without these changes: it takes the bad version's place."""
        outcomes = self.outcomes
        return Oracles(
            lambda more: self.outcome(reverted | more),
            lambda more: self.builds(reverted | more),
            self.core,
            None if outcomes is None else lambda sets: outcomes([reverted | more for more in sets]),
            self.standing.asked_by(lambda question: lambda more: question(reverted | more)),
            worth=self.worth,
            similarity=self.similarity,
            traced=lambda more: self.traced(reverted | more),
            clashing=lambda more: self.clashing(reverted | more),
            watch=self.watch,
            width=self.width,
            refused=lambda more: self.refused(reverted | more),
        )


@dataclass(frozen=True, slots=True)
class Analysis:
    """The answer of the loop.

    ``root``: a set of changes whose reversal, together with ``auxiliary``, was seen to pass
    (``verified``). ``minimal``: putting back any one change of the root was seen not to pass; None
    where the budget ended before. ``suspects`` are all changes that the causes spoke of, most
    suspicious first; ``executed`` counts the changes that the failing run executed; ``runs`` the test
    runs asked for; ``failure`` is the failed assertion that was explained.
    """

    root: ChangeSet = NOTHING
    auxiliary: ChangeSet = NOTHING
    minimal: bool | None = None
    verified: bool = False
    executed: int = 0
    notes: tuple[str, ...] = ()
    failure: Predicate | None = None
    suspects: Sequence[Suspect] = ()
    runs: int = 0


@dataclass(frozen=True, slots=True)
class LedBack:
    """The causes that lead from the failure back to a root, and what must be known of them; ``tree`` is None
    where no failed assertion was recognised.
    """

    tree: CauseNode | None = None
    remarks: tuple[str, ...] = ()
