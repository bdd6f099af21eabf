"""Both ends first: the bad version must fail, always alike, and the good one pass, always.

What is found is either a result, which the pipeline reports (confirmed, flaky, already red, not
red at all), or a reason why nothing can be found, which is raised as a sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from afterd.errors import BuildError, TestError, UntestableError
from afterd.execution.executors.protocol import Attempt
from afterd.execution.flakiness import Prior, Repeats, probability_flaky, runs_needed
from afterd.execution.losses import refuse_lost
from afterd.execution.oracle import Oracle
from afterd.execution.signature import runs_are_alike
from afterd.model.change import NOTHING, ChangeSet
from afterd.model.outcome import (
    PRINTED_NOTHING,
    FailureKind,
    FailureSignature,
    Outcome,
    Unresolved,
    Verdict,
)

_LONGER, _SHORTEST = 5.0, 10.0
"""A variant may take this many times as long as the slower end at its quickest, and a start (the
slowest run) on top, and at least these seconds: half-reverted loops do not end, and the whole time-out
is for a test of which nothing is known yet.
"""


class Ends(StrEnum):
    """What the two ends of a range showed."""

    CONFIRMED = "the bad version fails and the good one passes"
    GREEN = "the test passes at the bad version"
    ALREADY_RED = "the test fails at the good version"
    FLAKY_BAD = "the test does not always end alike at the bad version"
    FLAKY_GOOD = "the test does not always end alike at the good version"
    UNCONFIRMED = "the budget was spent before both ends were confirmed"


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What was seen of both ends; ``good`` is None where the bad end decided alone.

    ``repeats`` are the runs of the end that decided, ``flaky`` is the probability that the test is
    flaky nevertheless (1 where it was seen to be). ``put_off`` are the trees of both ends whose last run is yet to be
    made (see ``second_runs``).
    """

    ends: Ends
    bad: Outcome
    good: Outcome | None
    repeats: Repeats
    flaky: float
    put_off: tuple[str, str] | None = None

    @property
    def beside_endless(self) -> bool:
        """Whether another test that is run with it does not end, at either end."""
        return any(end is not None and end.beside_endless for end in (self.bad, self.good))


@dataclass(frozen=True, slots=True)
class _End:
    name: str
    outcome: Outcome
    repeats: Repeats
    crashes: tuple[FailureSignature, ...] = ()  # by other signals than the first run's
    quickest: float = 0.0  # seconds of a run
    slowest: float = 0.0
    cpu: float = 0.0  # seconds of CPU of the dearest one in a process of its own, with its build

    @property
    def is_flaky(self) -> bool:
        return self.repeats.other > 0

    @property
    def is_unknown(self) -> bool:
        return self.outcome.reason is Unresolved.NOT_RUN


def confirm(
    oracle: Oracle,
    everything: ChangeSet,
    times: int = 2,
    prior: Prior | None = None,
    *,
    remembers: bool = False,
    puts_off: bool = False,
) -> Confirmation:
    """Run the bad version, and with ``everything`` reverted the good one, until each is firm.

    That is at least ``times`` runs, and as many as ``prior`` asks for; fewer once the runs differ. ``remembers``: of an
    end whose outcome is on record that was the first run. ``puts_off``: the last run of each end is not made here, as
    one that is recorded may show the same; the good version's first may be the one that gets a warm process ready.
    A bad version that hangs is run to the recipe's limit once, and then as long as what the good one took allows.
    The bad end's signature becomes the oracle's reference, and what both ends took bounds the runs
    of variants. Raises BuildError where an end does not
    build, TestError where the test cannot be run at an end or gives no verdict there, LostRunError where a run
    of an end is killed each time it is made.
    """
    prior = prior or Prior()
    runs = max(times, runs_needed(prior, most=oracle.recipe.limits.search.confirmations))
    doubt = probability_flaky(prior, runs)
    ends = _BothEnds(oracle, everything, runs, off=int(puts_off and runs > 1))
    first = oracle.remembered(oracle.tree_of(NOTHING), Verdict.FAIL) if remembers else None
    bad = ends.bad_end(first)
    if bad.is_unknown:
        return Confirmation(Ends.UNCONFIRMED, bad.outcome, None, bad.repeats, doubt)
    if bad.is_flaky:
        return Confirmation(Ends.FLAKY_BAD, bad.outcome, None, bad.repeats, 1.0)
    if bad.outcome.passed:
        return Confirmation(Ends.GREEN, bad.outcome, None, bad.repeats, doubt)
    oracle.reference = bad.outcome.signature
    oracle.other_crashes = bad.crashes
    oracle.settle(oracle.tree_of(NOTHING), bad.outcome)
    tree = oracle.tree_of(everything)
    first = oracle.remembered(tree, Verdict.PASS) if remembers else None
    good = _built_from_nothing(oracle, tree, ends.good_end(first), runs)
    if good.is_unknown:
        return Confirmation(Ends.UNCONFIRMED, bad.outcome, None, good.repeats, doubt)
    if good.is_flaky:
        return Confirmation(Ends.FLAKY_GOOD, bad.outcome, good.outcome, good.repeats, 1.0)
    # What a run costs chooses what is tried: remembered, it is the same whenever the same is asked again.
    cost = oracle.known_cost(oracle.tree_of(everything)) or good.cpu or bad.cpu
    oracle.settle(oracle.tree_of(everything), replace(good.outcome, cpu=cost))
    if not good.outcome.passed:
        return Confirmation(Ends.ALREADY_RED, bad.outcome, good.outcome, good.repeats, doubt)
    oracle.cpu = cost
    spoken = good.outcome.detail != PRINTED_NOTHING
    oracle.both_print = spoken and bool(bad.outcome.detail.strip())
    _bound_variants(oracle, bad, good)
    if bad.outcome.hangs:
        tree = oracle.tree_of(NOTHING)
        bad = _repeated_outcome(oracle, tree, "bad", max(2, runs), oracle.attempt, bad.outcome)
        if bad.is_unknown:
            return Confirmation(Ends.UNCONFIRMED, bad.outcome, good.outcome, bad.repeats, doubt)
        if bad.is_flaky:
            return Confirmation(Ends.FLAKY_BAD, bad.outcome, good.outcome, bad.repeats, 1.0)
    last = ends.trees if ends.off else None
    return Confirmation(Ends.CONFIRMED, bad.outcome, good.outcome, good.repeats, doubt, last)


def _bound_variants(oracle: Oracle, bad: _End, good: _End) -> None:
    """Let a variant take little longer than both ends, or than the good one where the bad one hangs.

    Raises TestError where that would be longer than what was called a hang.
    """
    ended = (good,) if bad.outcome.hangs else (bad, good)
    seconds = max(end.slowest for end in ended) + _LONGER * max(end.quickest for end in ended)
    limit = oracle.recipe.limits.test.timeout
    if bad.outcome.hangs and good.quickest * (1 + _LONGER) > limit:
        raise TestError(
            f"The test does not end within its limit of {limit:g} s at the bad version, and takes"
            f" {good.quickest:.1f} s at the good one: too near to tell a hang; raise the limit."
        )
    oracle.bound(max(_SHORTEST, seconds))


class _BothEnds:
    """Both ends, each run so many times, ``off`` of them later: where an end shows what it should, and the bad one does
    not hang, as what the good one takes tells that. Then the good one's first may be in a warm process's first fork.

    Where two attempts can be made at once, each of the bad one has one of the good one beside it, which is kept until
    it is asked for: it is in vain where the bad version turns out to pass.
    """

    def __init__(self, oracle: Oracle, everything: ChangeSet, runs: int, *, off: int) -> None:
        self.trees = (oracle.tree_of(NOTHING), oracle.tree_of(everything))
        self.off = off
        self._oracle = oracle
        self._runs = runs
        self._kept: list[Attempt] = []

    def bad_end(self, first: Outcome | None) -> _End:
        """What the bad version shows; ``first`` is what is known of it."""
        end = self._end("bad", self._runs - self.off, first)
        if self.off and end.outcome.passed:  # nothing of it will be recorded
            end = self._end("bad", self._runs, end.outcome)
        self.off = 0 if end.outcome.hangs else self.off
        return end

    def good_end(self, first: Outcome | None) -> _End:
        """What the good version shows; ``first`` is what is known of it."""
        end = self._end("good", self._runs - self.off, first)
        if self.off and not end.outcome.passed:
            end = self._end("good", self._runs, end.outcome)
        return end

    def _end(self, name: str, runs: int, first: Outcome | None) -> _End:
        bad, good = self.trees
        tree, attempted = (bad, self._bad) if name == "bad" else (good, self._good)
        return _repeated_outcome(self._oracle, tree, name, runs, attempted, first)

    def _bad(self, tree: str) -> Attempt:
        if self._oracle.width == 1:
            return self._oracle.attempt(tree)
        good = self.trees[1]
        made, beside = self._oracle.attempts([tree, good], [good] if self.off else [])
        self._kept.append(beside)
        return made

    def _good(self, tree: str) -> Attempt:
        if self._kept:
            return self._kept.pop(0)
        return self._oracle.attempt(tree, forked=bool(self.off))


def _repeated_outcome(
    oracle: Oracle,
    tree: str,
    name: str,
    runs: int,
    attempted: Callable[[str], Attempt],
    first: Outcome | None = None,
) -> _End:
    """Have one end ``attempted`` until ``runs`` outcomes agree, a ``first`` one among them that is known, or one
    differs from the first, or does not end where nothing was known. A program that uses memory wrongly dies of this
    signal or that, as the heap happens to lie: that is no other outcome.
    """
    known = first is not None
    if runs > known:
        wanted = "one run" if runs == known + 1 else f"{runs - known} runs"
        oracle.progress.stage(f"confirming the {name} version", wanted)
    seconds = [first.test_seconds] if first is not None else []
    cpu = first.cpu if first is not None else 0.0
    crashes: list[FailureSignature] = []
    for run in range(known, runs):
        attempt = attempted(tree)
        seconds.append(attempt.outcome.test_seconds)
        cpu = max(cpu, attempt.outcome.cpu)
        if attempt.outcome.reason is Unresolved.NOT_RUN:
            return _End(name, attempt.outcome, Repeats(run, 0))
        refuse_lost(attempt.outcome, f"The test at the {name} version", oracle.recipe.limits.test)
        if first is not None and not runs_are_alike(first, attempt.outcome):
            crash = other_crash(first, attempt.outcome)
            if crash is None:
                return _End(name, first, Repeats(run + 1, 1))
            crashes.append(crash)
        _require_verdict(attempt, name)
        first = first or attempt.outcome
        if first.hangs and not known:
            return _End(name, first, Repeats(1, 0), (), *seconds, *seconds)
    assert first is not None, "at least one run"
    kept = tuple(dict.fromkeys(crashes))
    return _End(name, first, Repeats(runs, 0), kept, min(seconds), max(seconds), cpu)


def _built_from_nothing(oracle: Oracle, tree: str, seen: _End, runs: int) -> _End:
    """The good end; where it is red, built without what another version left in its folder. Where it passes so, no
    version is built upon another's products any more.
    """
    if seen.outcome.passed or seen.is_unknown or not oracle.recipe.build:
        return seen
    oracle.anew = True
    end = _repeated_outcome(oracle, tree, "good", 1, oracle.attempt)
    if end.outcome.passed:
        return _repeated_outcome(oracle, tree, "good", runs, oracle.attempt, end.outcome)
    oracle.anew = False
    return end if end.is_unknown else seen


def other_crash(one: Outcome, other: Outcome) -> FailureSignature | None:
    """How another run of one tree died of a signal, where the first did as well; None where one of them did not."""
    both = one.signature, other.signature
    crashed = all(each is not None and each.kind is FailureKind.CRASH for each in both)
    alike = one.verdict is other.verdict is Verdict.FAIL
    return other.signature if crashed and alike else None


def _require_verdict(attempt: Attempt, name: str) -> None:
    """Raise what stands in the way of a verdict at the ``name`` end."""
    outcome = attempt.outcome
    if outcome.reason is Unresolved.BUILD:
        raise BuildError(_build_sentence(attempt, name), name)
    if attempt.unrunnable:
        raise TestError(f"At the {name} version: {attempt.unrunnable}")
    if outcome.reason in (Unresolved.UNTESTABLE, Unresolved.TIMEOUT):
        raise UntestableError(_test_sentence(outcome, name))
    if outcome.verdict is Verdict.UNRESOLVED:
        raise TestError(_test_sentence(outcome, name))


def _build_sentence(attempt: Attempt, name: str) -> str:
    if attempt.missing:
        return (
            f"The {name} version cannot be built because {attempt.missing} is missing; install it,"
            f" or name another one in the build command:\n{attempt.outcome.detail}"
        )
    return f"The {name} version does not build; its build says:\n{attempt.outcome.detail}"


def _test_sentence(outcome: Outcome, name: str) -> str:
    advice = {
        Unresolved.DIFFERENT_FAILURE: "its tests cannot be loaded there; choose another version, or an"
        " environment in which both ends run",
        Unresolved.TIMEOUT: "it, or what is run with it, does not end in time, so that how it ends there is not"
        " known; raise the limit, or choose another version",
        Unresolved.UNTESTABLE: "its command ended with 125, or ran no test of that name; choose another"
        " version, or check the name",
        Unresolved.ABORTED: "a status of 128 or more aborts, as with `git bisect run`; make the"
        " test command exit with 1 when the test fails",
    }
    reason = outcome.reason or Unresolved.ABORTED
    advised = advice.get(reason, "look at the test, or raise the limit")
    said = f" It said:\n{outcome.detail}" if outcome.detail else ""
    return f"The test gives no verdict at the {name} version ({reason.value}): {advised}.{said}"
