"""How sure we are that a test is not flaky, and when to stop running it again.

The model: with probability ``prior.flaky`` a test on a given tree is flaky, and then each run shows
the other outcome with a rate θ ~ Beta(alpha, beta); otherwise it always shows the same. After n
runs that agree, Bayes' rule gives

    P(flaky | n agree) = π·L(n) / (π·L(n) + 1 - π),   L(n) = E[(1 - θ)ⁿ] = B(α, β + n) / B(α, β),

with B the Beta function (the mean of a Beta-Bernoulli likelihood; any text on conjugate priors).
One run that disagrees proves flakiness. We stop when the probability falls below a threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import exp, lgamma

_EITHER = 0.5
THRESHOLD = 0.05
CHANCE = 0.001  # of an answer that nothing but outcomes speaks for (chosen)


@dataclass(frozen=True, slots=True)
class Prior:
    """What is believed before the first run: ``flaky`` is a probability in [0, 1], ``alpha`` and
    ``beta`` (above 0) shape the rate at which a flaky test shows its other outcome.

    The default says that one test in ten that turned red is flaky, at any rate alike: two runs
    that agree are then enough.
    """

    flaky: float = 0.1
    alpha: float = 1.0
    beta: float = 1.0


@dataclass(frozen=True, slots=True)
class Repeats:
    """The outcomes of one test on one tree: how many runs, and how many were not the commonest."""

    runs: int
    other: int


def prior_from_history(history: Iterable[Repeats], prior: Prior | None = None) -> Prior:
    """``prior`` after what was seen of this test on other trees (those run more than once).

    Each such tree is one observation of "flaky or not" (weighing as much as the prior does
    together with ten imagined trees); the flaky ones also teach the rate.
    """
    before = prior or Prior()
    seen = [repeats for repeats in history if repeats.runs > 1]
    flaky = [repeats for repeats in seen if repeats.other]
    imagined = 10.0
    return Prior(
        flaky=(before.flaky * imagined + len(flaky)) / (imagined + len(seen)),
        alpha=before.alpha + sum(repeats.other for repeats in flaky),
        beta=before.beta + sum(repeats.runs - repeats.other for repeats in flaky),
    )


def prior_after_both(prior: Prior, other: int, alike: int) -> Prior:
    """``prior`` for a test that ended both ways on one tree: ``other`` times unlike now, ``alike`` times so.

    It is flaky, or it depends on the tests that ran beside it. Neither is likelier (chosen); where it is
    flaky, those runs are what is known of its rate.
    """
    return Prior(max(prior.flaky, _EITHER), prior.alpha + other, prior.beta + alike)


def probability_flaky(prior: Prior, agreeing: int) -> float:
    """The probability that a test is flaky after ``agreeing`` runs with one outcome."""
    unseen = _log_beta(prior.alpha, prior.beta + agreeing) - _log_beta(prior.alpha, prior.beta)
    return _posterior(prior.flaky, unseen)


def rate(prior: Prior, repeats: Repeats) -> float:
    """The posterior mean of how often a flaky test shows its other outcome."""
    return (prior.alpha + repeats.other) / (prior.alpha + prior.beta + repeats.runs)


def runs_needed(prior: Prior, threshold: float = THRESHOLD, most: int = 20) -> int:
    """How many agreeing runs (1 to ``most``) make the probability fall below ``threshold``."""
    return _fewest_runs(lambda runs: probability_flaky(prior, runs), threshold, most)


def runs_of_both_ends(
    prior: Prior, threshold: float = CHANCE, most: int = 20, *, likely: bool = False
) -> int:
    """How many runs (1 to ``most``) of each of two trees, always red at one and always green at the other, make
    it less likely than ``threshold`` that one flaky test did so by chance (see ``chance_of_both``).
    """
    return _fewest_runs(
        lambda runs: chance_of_both(prior, runs, runs, likely=likely), threshold, most
    )


def further_runs(
    prior: Prior,
    red: int,
    green: int,
    threshold: float = CHANCE,
    most: int = 20,
    *,
    likely: bool = False,
) -> tuple[int, int]:
    """The same where so many ``red`` and ``green`` runs were made: how many more of each, as few as will do, of the red
    ones rather: a test that fails in its first runs whatever the version shows there.
    """
    reds, greens = range(max(red, most) + 1 - red), range(max(green, most) + 1 - green)
    will_do = (
        (more, -further)
        for further in reds
        for more in (further + others for others in greens)
        if chance_of_both(prior, red + further, green + more - further, likely=likely) < threshold
    )
    more, further = min(will_do, default=(reds[-1] + greens[-1], -reds[-1]))
    return -further, more + further


def chance_of_both(prior: Prior, red: int, green: int, *, likely: bool = False) -> float:
    """How likely one flaky test was always red at one tree, and always green at another, in so many runs by chance.

    With a rate θ that is the same at both, L(r, g) = E[θʳ(1 - θ)ᵍ] = B(α + r, β + g) / B(α, β). That the test is
    flaky is as likely as not before the first run, or as ``prior`` says where it is likelier, or where
    what differs between the trees is a ``likely`` cause by itself.
    """
    doubt = prior.flaky if likely else max(prior.flaky, _EITHER)
    before = _log_beta(prior.alpha, prior.beta)
    return _posterior(doubt, _log_beta(prior.alpha + red, prior.beta + green) - before)


def _fewest_runs(probability: Callable[[int], float], threshold: float, most: int) -> int:
    """The first number of runs after which a probability is below the threshold; ``most`` where none is."""
    return next((runs for runs in range(1, most) if probability(runs) < threshold), most)


def _posterior(flaky: float, log_likelihood: float) -> float:
    """The probability that a test is flaky, of what one that is not flaky always shows."""
    weight = flaky * exp(log_likelihood)
    return weight / (weight + 1.0 - flaky) if weight else 0.0


def repeats(outcomes: Sequence[object]) -> Repeats:
    """Count the outcomes (any values that can be compared) of one test on one tree."""
    most = max((sum(one == other for other in outcomes) for one in outcomes), default=0)
    return Repeats(len(outcomes), len(outcomes) - most)


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)
