"""Every weight and share: what it is a part of, what it means, and where it comes from.

"Chosen" says that nothing was measured: any number near it would do. A budget (how long, how much,
how many) stands in ``limits``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Similarity:
    """When two texts are one text rewritten: the ratio of difflib, from 0 to 1. Chosen: half."""

    line: float = 0.5  # share of tokens that a line and its replacement have in common
    body: float = 0.5  # share of lines that two definitions have in common


SIMILARITY = Similarity()


@dataclass(frozen=True, slots=True)
class TextWeights:
    """What makes a change's text like a test's. Fitted to the guilty commits of 49 ranges of docs/first-runs.md
    (2026-11-27): of 5.8 bits 3.1 are left, 3.3 without titles.
    """

    shortest: int = 3  # characters of a word that says anything (chosen)
    title: float = 2.0  # of a word in what a text is called, beside one that stands in it once


TEXTS = TextWeights()


@dataclass(frozen=True, slots=True)
class SolverShares:
    """What part of a budget one question may use. All chosen; the shares of z3's units are one in so many."""

    suffix: int = 100  # one in so many: a check whether the last constraints alone contradict
    deletion: int = 10  # one in so many: a check whether a constraint can go
    loaded: int = 8  # times its CPU seconds that a question may take on a busy machine
    idle_variables: float = (
        0.02  # not needed, as a part of those a formula has, before it is loaded alone
    )


SOLVER_SHARES = SolverShares()


@dataclass(frozen=True, slots=True)
class WarmShares:
    """What tells runs of a warm process apart."""

    busy: float = 0.2  # of the time until a run was ended: it computed and did not wait (chosen)


WARM_SHARES = WarmShares()


@dataclass(frozen=True, slots=True)
class WorthShares:
    """What a search without evidence needs, and what evidence may save of it.

    The first two are of delta debugging with two guilty changes (2 log2 n + 3 runs); the others are chosen.
    """

    runs_a_bit: float = 2.0  # runs for each bit of which changes are guilty
    runs_more: float = 3.0  # runs besides
    runs_saved: float = 3.0  # runs that the next level of causes may save
    quickest: float = 0.25  # seconds of CPU: a quicker run costs as much, by what goes on around it
    least: int = 2  # seconds of work that evidence may always cost: a story is wanted, too


WORTH = WorthShares()


@dataclass(frozen=True, slots=True)
class GuiltOdds:
    """How likely changes are to be guilty, relative to each other.

    What stands here for a tier, ``level`` or a sign was chosen by hand, and is where the fit begins
    (``odds.json``);
    ``sizes`` and ``one_file`` were counted over the real regressions of the benchmarks, ``whole_home`` over the 39
    answers of first runs of 2026-11-25 and 26 (docs/first-runs.md): four were all changes of one function or class
    (rounded up: such a set also tells most);
    what is left was chosen and then kept because no pair got worse.
    """

    # by where a change shows (``causality.suspicion.Tier``)
    entry: float = 12.0
    carrier: float = 3.0
    cause: float = 1.5
    slice: float = 0.2
    executed: float = 0.05
    other: float = 0.02
    level: float = 0.75  # times so much for each level of causes between it and the failure

    # times so much, by what its code did beside green's (``model.trace.Conduct``)
    parted: float = 4.0
    passed: float = 1.5
    carried: float = 0.7
    absorbed: float = 0.5
    same: float = 0.08
    effect_seen: float = 1.5  # its old text would have done otherwise here
    unmet_parted: float = 2.0  # the runs part at it, and no cause has come to it
    unmet: float = 0.5  # it did otherwise, and no cause has come to it
    idle: float = 0.2  # the branch that speaks of it went in green as here
    aside: float = 0.3  # green never came to the branch, which could only overwrite what it read
    not_alone: float = 0.4  # it needs others elsewhere to go along
    entangled: float = 0.1  # a compiler refuses it, whatever few others go along
    shown: float = 3.0  # the failure's report shows a line that it wrote, and no cause has met it
    spoken: float = 10.0  # the failure's message names the function or class that it stands in
    similar: float = 2.4  # for each standard deviation by which its text is more like the test's
    kin: float = 20.0  # it alone shares a name with a leading suspect

    # of sets of changes that may be a root
    sizes: tuple[float, ...] = (0.69, 0.17, 0.08, 0.06)  # of one, two, three and more changes
    one_step: float = 8.0  # times so much where all act in one executed statement
    one_file: float = 3.0  # where all are in one file (99 of 100 pairs of guilty changes are)
    whole_home: float = 0.15  # all suspects of one function together, against all other sets
    all_users: float = 0.5  # of what only defines a name that several use: all of these, against each of them alone
    foreseen: float = 2.0  # a smallest set that is predicted to pass, against all other sets
    unmodelled_size: int = 3  # a set of more changes lies within a part as so many do
    outside_explained: float = (
        0.15  # a guilty change is no suspect, though all infection is explained
    )
    outside_open: float = 0.45  # the same while some is not
    ran: float = (
        0.8  # of guilty changes of which nothing else is known, that a run of the test executed
    )

    # what runs leave of a set within a reversion that did not pass
    failed: float = 0.02
    unresolved: float = 0.25
    unresolved_among_others: float = 0.8  # more than the set was undone
    clashed: float = 0.9  # goes to the set with what it clashed with
    predicted: float = 0.95  # a reversion passes if evaluation says so
    guessed: float = 0.8  # the same where a value had to be guessed


CHOSEN = GuiltOdds()
"""The odds before anything was fitted."""

ODDS_FILE = Path(__file__).with_name("odds.json")

ODDS = replace(CHOSEN, **json.loads(ODDS_FILE.read_text(encoding="utf-8"))["odds"])
"""The odds that count: those of signs are fitted (``afterd bench calibrate``), the others are as chosen."""


@dataclass(frozen=True, slots=True)
class CalibrationShares:
    """How firmly fitted odds are held near the chosen ones: ``widths`` of the prior that are tried, in natural
    logarithms. Chosen; which of them holds is fitted, by what it foretells of programs that are left out.
    """

    widths: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0)  # 0.25: within a factor of 1.3 or so


CALIBRATION = CalibrationShares()


@dataclass(frozen=True, slots=True)
class RunShares:
    """Which run is worth making, in bits of what it tells. All chosen, on made-up oracles."""

    direct: float = (
        0.6  # bits thought gained, beyond the answer's own, by trying a likely root itself
    )
    exact: float = 0.5  # runs in vain for each of few changes that pass together, saved by trying the root itself
    too_sure: float = 0.04  # a run is not made whose outcome is this sure
    border: float = (
        0.012  # costs more for each place in the code where what is undone begins or ends
    )
    entangled: float = 0.5  # worth less where others must go along: it tells of them as well
    likeness: float = 0.5  # that two sets tell alike, for each change in which they differ
    strangers: float = 0.25  # what runs of other sets weigh against that
    along: float = 8.0  # so many changes that go along make a run cost twice as much
    shrunk: float = 0.9  # what passes has become so much smaller: hypotheses are asked on
    too_little: float = (
        0.05  # of all suspects' weight in those that causes added last: no run for them
    )
    first_told: float = (
        0.7  # of first sets of several changes told anything (26 of 37, runs of 2026-11-26)
    )
    firsts: float = 1.0  # sets of this search that this weighs as much as
    commit_undone: float = (
        0.6  # of guilty commits whose changes, undone at once, make it pass (12 of 20, 2026-11-27)
    )
    untold: int = 2  # trials, beside a bisection, that one counts for which failed otherwise
    searches: float = (
        4.0  # without evidence, whose runs an answer of many changes may take to become smaller
    )
    slack: float = 0.25  # how far a cut may move to meet a border, as a share of a part


RUNS = RunShares()


@dataclass(frozen=True, slots=True)
class FusionWeights:
    """What the vote of a kind of evidence weighs in a fused list of lines, without a benchmark of one's own.

    ``spectrum`` is the largest of ``choices`` with which the fused list is behind its best part on none of crossing,
    gauge, tariff and lexicon (20 versions each, 2026-11-25, docs/benchmarks.md); it is neither on schedule-lab,
    thicket, larder and bourse (2026-11-26). The others are chosen. ``choices`` are tried when weights are learned.
    """

    spectrum: float = 0.1
    formula: float = 1.0
    slice: float = 1.0
    loop: float = 1.0
    choices: tuple[float, ...] = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0)
    firm: float = (
        2.0  # standard errors by which learned weights are better: 95 % of chance is within
    )


FUSION = FusionWeights()
