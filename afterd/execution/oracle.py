"""The one object every run goes through: it caches, counts, budgets and compares failures.

A variant is asked for by the set of changes to revert. Three answers are possible (Zeller): PASS,
FAIL, which is *this* failure, and UNRESOLVED with the reason. A failure with another signature is
UNRESOLVED: it says nothing of the one under explanation.

What was run and what it cost, and whether the budget allows more.
"""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future

from afterd.config import Budget
from afterd.execution.cache import MemoryCache, OutcomeCache, OutcomeKey, key_of_build, key_of_test
from afterd.execution.executors.protocol import Attempt, Executor, Job
from afterd.execution.recipe import Recipe
from afterd.execution.signature import same_failure
from afterd.model.change import ChangeSet
from afterd.model.explanation import RunCounts, Seconds
from afterd.model.outcome import FailureSignature, Outcome, Unresolved, Verdict
from afterd.model.progress import Progress, Silent

TreeOf = Callable[[ChangeSet], str]
"""The tree id of the bad version with a set of changes reverted (``Variants.tree``)."""

_NOT_RUN = Outcome(Verdict.UNRESOLVED, Unresolved.NOT_RUN, Unresolved.NOT_RUN.value)


class Oracle:
    """Answers for the variants of one range and one test.

    ``reference`` is the failure under explanation; ``confirmation.confirm`` finds it, and until it
    is known every failure counts (``other_crashes``: signals that the bad version died of as well); also ``cpu``, the
    seconds of CPU that a variant's build and run take, and
    ``both_print``: that the runs of both versions print something, so that a pass without a word is none: an
    interpreter whose commands are no longer called runs no test.
    Used by one thread at a time; its executor may use many.
    """

    def __init__(
        self,
        tree_of: TreeOf,
        recipe: Recipe,
        executor: Executor,
        *,
        cache: OutcomeCache | None = None,
        budget: Budget | None = None,
        progress: Progress | None = None,
        reference: FailureSignature | None = None,
    ) -> None:
        self.tree_of = tree_of
        self.recipe = recipe
        self.reference = reference
        self.other_crashes: tuple[FailureSignature, ...] = ()
        self.cpu = 1.0
        self.both_print = False
        self.anew = False  # each version is built from nothing: upon another's products it is not what it is
        self.ledger = Ledger(budget or Budget())
        self.progress = progress or Silent()
        self._executor = executor
        self._cache = cache or MemoryCache()
        self._takes_warm = True
        self._session = MemoryCache()  # also what may end differently in another session
        self._runs = Counter[tuple[str, Verdict]]()  # of each tree, one on record among them

    @property
    def width(self) -> int:
        """How many variants can be tried at the same time."""
        return self._executor.width

    @property
    def spent(self) -> bool:
        """Whether the budget allows no further run."""
        return self.ledger.spent

    def counts(self) -> RunCounts:
        """What all runs cost so far."""
        return self.ledger.counts()

    def known_cost(self, tree: str) -> float:
        """Seconds of CPU of a test run of ``tree`` in a process of its own, with its build, as it was first
        measured; 0 where it was not.
        """
        known = self._known(tree)
        return 0.0 if known is None else known.cpu

    def remembered(self, tree: str, verdict: Verdict) -> Outcome | None:
        """The outcome of ``tree`` on record, where it is this verdict."""
        known = self._known(tree)
        if known is None or known.verdict is not verdict:
            return None
        self._note_on_record(tree, known)
        return known

    def is_known(self, reverted: ChangeSet) -> bool:
        """Whether it takes no run to tell the outcome of the bad version with ``reverted`` undone."""
        return self._known(self.tree_of(reverted)) is not None

    def repeated(self) -> Iterator[tuple[str, Outcome, int]]:
        """Each tree that was run, with its outcome and how often it ended so."""
        for (tree, verdict), runs in self._runs.items():
            known = self._known(tree)
            if known is not None and known.verdict is verdict:
                yield tree, self._compared(known), runs

    def outcome(self, reverted: ChangeSet) -> Outcome:
        """The outcome of the bad version with ``reverted`` undone.

        Raises SpaceError when the disk is full, RepositoryError for objects that are gone.
        """
        return self.outcomes([reverted])[0]

    def outcomes(self, candidates: Sequence[ChangeSet]) -> list[Outcome]:
        """The outcomes of several variants, in their order, tried side by side."""
        trees = [self.tree_of(reverted) for reverted in candidates]
        known = self._tested(trees)
        answers = []
        for reverted, tree in zip(candidates, trees, strict=True):
            answer = self._compared(known[tree])
            self.progress.tried(reverted, answer, self.ledger.tests)
            answers.append(answer)
        return answers

    def tree_outcome(self, tree: str) -> Outcome:
        """The outcome of any tree, a commit's for one: the search for the last green asks so."""
        return self._compared(self._tested([tree])[tree])

    def builds(self, reverted: ChangeSet) -> bool:
        """Whether the bad version with ``reverted`` undone builds; it is not tested.

        False also where the budget is spent.
        """
        tree = self.tree_of(reverted)
        if (known := self._known(tree)) is not None:
            self.ledger.cached += 1
            return known.built
        if self.ledger.exhausted:
            return False
        key = key_of_build(self.recipe, tree)
        outcome = self._session.get(key) or self._cache.get(key)
        if outcome is not None:
            self.ledger.cached += 1
        else:
            attempt = self._submit(tree, build_only=True).result()
            self.ledger.record(attempt)
            outcome = self._keep(key, attempt)
        self.progress.built(reverted, ok=outcome.passed)
        return outcome.passed

    def refused(self, reverted: ChangeSet) -> str:
        """What the build said against a variant that was seen not to build; empty where it was not. Costs nothing."""
        tree = self.tree_of(reverted)
        key = key_of_build(self.recipe, tree)
        outcome = self._known(tree) or self._session.get(key) or self._cache.get(key)
        return "" if outcome is None or outcome.built else outcome.detail

    def attempt(self, tree: str, *, forked: bool = False) -> Attempt:
        """Build and test ``tree`` whatever is known of it, as a run that confirms an end. ``forked``: where it passes
        in the first fork of a warm process, that will do.
        """
        return self.attempts([tree], [tree] if forked else [])[0]

    def attempts(self, trees: Sequence[str], forked: Collection[str] = ()) -> list[Attempt]:
        """An attempt at each of several trees, side by side, at some of them ``forked``."""
        under_way = [self._submit(tree, build_only=False, forked=tree in forked) for tree in trees]
        found = [future.result() for future in under_way]
        for tree, attempt in zip(trees, found, strict=True):
            self._note_run(tree, attempt, confirmation=True)
        return found

    def is_warm(self, reverted: ChangeSet) -> bool:
        """Whether all that is known of a variant was seen in a warm process."""
        known = self._known(self.tree_of(reverted))
        return known is not None and known.warm

    def afresh(self, reverted: ChangeSet) -> Outcome:
        """The outcome in a process of the test's own, whatever is known: a run that confirms.

        Where time is up it is NOT_RUN.
        """
        if self.ledger.seconds_left == 0.0:
            return _NOT_RUN
        tree = self.tree_of(reverted)
        attempt = self._submit(tree, build_only=False, fresh=True).result()
        self._note_run(tree, attempt, confirmation=True)
        if attempt.lasting:
            self.settle(tree, attempt.outcome)
        answer = self._compared(attempt.outcome)
        self.progress.tried(reverted, answer, self.ledger.tests)
        return answer

    def bound(self, seconds: float) -> None:
        """From now on a run of the test may take no longer; the recipe's own limit may be shorter."""
        test = self.recipe.limits.test
        shorter = dataclasses.replace(test, timeout=min(test.timeout, seconds))
        limits = dataclasses.replace(self.recipe.limits, test=shorter)
        self.recipe = dataclasses.replace(self.recipe, limits=limits)

    def distrust_warm(self) -> None:
        """Forget what was seen in warm processes, of this session and of earlier ones."""
        self._takes_warm = False

    def settle(self, tree: str, outcome: Outcome) -> None:
        """Take ``outcome`` for the outcome of ``tree``: it was confirmed."""
        key = key_of_test(self.recipe, tree)
        self._session.put(key, outcome)
        if not outcome.hangs:  # another day's limit may be another one
            self._cache.put(key, outcome)

    def _tested(self, trees: Sequence[str]) -> Mapping[str, Outcome]:
        """The outcome of each tree, not yet compared; each tree is run at most once."""
        answers: dict[str, Outcome] = {}
        under_way: dict[str, Future[Attempt]] = {}
        for tree in dict.fromkeys(trees):
            if (known := self._known(tree)) is not None:
                self.ledger.cached += 1
                self._note_remembered(tree, known)
                answers[tree] = dataclasses.replace(known, cached=True)
            elif self._allows(len(under_way)):
                under_way[tree] = self._submit(tree, build_only=False)
            else:
                answers[tree] = _NOT_RUN
        for tree, future in under_way.items():
            attempt = future.result()
            self._note_run(tree, attempt)
            answers[tree] = self._keep(key_of_test(self.recipe, tree), attempt)
        return answers

    def _note_run(self, tree: str, attempt: Attempt, *, confirmation: bool = False) -> None:
        """Count an attempt at a tree."""
        self.ledger.record(attempt, confirmation=confirmation)
        self._runs[tree, attempt.outcome.verdict] += attempt.tests > 0

    def _note_on_record(self, tree: str, known: Outcome) -> None:
        """Count the run that is on record, once."""
        self._runs[tree, known.verdict] += not self._runs[tree, known.verdict]

    def _note_remembered(self, tree: str, known: Outcome) -> None:
        """Count what another session ran, once: this one would have run it."""
        key = key_of_test(self.recipe, tree)
        if known.built and self._session.get(key) is None:
            self.ledger.remembered += 1
            self._note_on_record(tree, known)
            self._session.put(key, known)

    def _allows(self, under_way: int) -> bool:
        """Whether the budget has room for one run more than those ``under_way``."""
        runs = self.ledger.runs_left
        return not self.ledger.spent and (runs is None or under_way < runs)

    def _submit(
        self, tree: str, *, build_only: bool, fresh: bool = False, forked: bool = False
    ) -> Future[Attempt]:
        left = self.ledger.seconds_left
        job = Job(tree, self.recipe, build_only, left, fresh, self.anew, forked)
        return self._executor.submit(job)

    def _keep(self, key: OutcomeKey, attempt: Attempt) -> Outcome:
        outcome = attempt.outcome
        if outcome.reason is not Unresolved.NOT_RUN:
            self._session.put(key, outcome)
        if attempt.lasting and not attempt.missing:
            self._cache.put(key, outcome)
        return outcome

    def _known(self, tree: str) -> Outcome | None:
        """What is known of testing ``tree``: also that it does not even build."""
        key, built = key_of_test(self.recipe, tree), key_of_build(self.recipe, tree)
        for cache in (self._session, self._cache):
            if (outcome := cache.get(key)) is not None and (self._takes_warm or not outcome.warm):
                return outcome
            if (outcome := cache.get(built)) is not None and not outcome.built:
                return outcome
        return None

    def _compared(self, outcome: Outcome) -> Outcome:
        """A failure that is not the one under explanation is unresolved, and so is a pass that came to nothing."""
        if self.both_print and outcome.printed_nothing:
            return dataclasses.replace(
                outcome, verdict=Verdict.UNRESOLVED, reason=Unresolved.SILENT
            )
        seen = outcome.signature
        if self.reference is None or seen is None:
            return outcome
        if any(same_failure(each, seen) for each in (self.reference, *self.other_crashes)):
            return outcome
        return dataclasses.replace(
            outcome, verdict=Verdict.UNRESOLVED, reason=Unresolved.DIFFERENT_FAILURE
        )


class Ledger:
    """Counts of one explanation; the clock starts with it. ``remembered`` are the runs that earlier outcomes
    saved: what is decided by how much was run is decided by them as well.
    """

    def __init__(self, budget: Budget, clock: Callable[[], float] = time.monotonic) -> None:
        self.budget = budget
        self._clock = clock
        self._began = clock()
        self.tests = 0
        self.builds = 0
        self._in_vain = 0  # builds after which nothing was run
        self.cached = 0
        self.remembered = 0
        self.confirmation = 0
        self.warm = 0
        self._build_seconds = 0.0
        self._test_seconds = 0.0

    def record(self, attempt: Attempt, *, confirmation: bool = False) -> None:
        """Count what ``attempt`` ran; the runs that confirm both ends are counted apart."""
        if confirmation:
            self.confirmation += attempt.tests
        else:
            self.tests += attempt.tests
        self.warm += attempt.warm_tests
        self.builds += attempt.builds
        self._in_vain += 0 if attempt.tests else attempt.builds
        self._build_seconds += attempt.outcome.build_seconds
        self._test_seconds += attempt.outcome.test_seconds

    def record_traced(self) -> None:
        """Count a run of a variant that was recorded, to see why it fails: it is one of the search's."""
        self.tests += 1

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the budget is spent, not below 0; None where it has no such end."""
        if self.budget.seconds is None:
            return None
        return max(0.0, self.budget.seconds - (self._clock() - self._began))

    @property
    def runs_left(self) -> int | None:
        """Test runs that are still allowed; None where their number is not limited."""
        return None if self.budget.runs is None else max(0, self.budget.runs - self.tests)

    @property
    def exhausted(self) -> bool:
        """Whether no more may be built, or asked either: time is up, or as many builds as runs are allowed came to
        no run. Sets that do not build cost no run, and there is no end of them.
        """
        runs = self.budget.runs
        return self.seconds_left == 0.0 or (runs is not None and self._in_vain >= runs)

    @property
    def spent(self) -> bool:
        """Whether nothing more may be run."""
        return self.exhausted or self.runs_left == 0

    def counts(self) -> RunCounts:
        """The counts so far; the seconds of tracing and solving are others' to add."""
        total = self._clock() - self._began
        seconds = Seconds(total=total, build=self._build_seconds, test=self._test_seconds)
        return RunCounts(
            tests=self.tests,
            builds=self.builds,
            cached=self.cached,
            confirmation=self.confirmation,
            seconds=seconds,
            warm=self.warm,
        )
