"""How far the loop, its search and its story go."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """How far the search for a root and for the last green revision goes."""

    variants: int = 200
    confirmations: int = 20  # runs of one end at most before it is called flaky or firm
    revisions: int = 500  # how far back a last green revision is looked for
    causes: int = 50
    few: int = 3  # tests that are red at both ends and are walked back for without being asked
    cheap_revisions: int = 12  # how far back then
    crashes: int = 20  # times that a suite is gone on with after a test took its process down
    build_diagnostics: int = 20  # lines kept of a failed build
    neighbours: int = 200  # tests of the failing one's file that are run with the answer undone


@dataclass(frozen=True, slots=True)
class VariantTextLimits:
    """What is told of a variant by its text, in languages whose syntax tree-sitter reads."""

    faults: int = 40  # that speak against it
    generated: int = (
        1 << 20
    )  # bytes of a file that are looked through for the grammar that it may be made of
    files: int = 3000  # besides those that changed, that are read for the names they define


VARIANT_TEXT = VariantTextLimits()


@dataclass(frozen=True, slots=True)
class LoopLimits:
    """How many of each thing one round of the loop looks at: steps, changes, runs or builds."""

    # causes
    level: int = (
        12  # predicates of a level that are explained before it is asked whether the root is met
    )
    instances: int = 4  # of one branch statement that are explained: a loop has thousands
    reads: int = (
        200  # of one cause that are asked for indirect influences, nearest to the failure first
    )
    selecting: int = (
        60  # infected steps behind a cause that are walked where another definition was read
    )
    origins: int = (
        60  # infected steps behind a cause that are walked where its core has not what it read
    )
    unseen: int = 200  # steps around code that is not followed, looked through for one that was given otherwise
    near: int = 3  # branches above a step that are met level by level, as in the paper
    above: int = 300  # that are walked to where green went another way
    omissions: int = 200  # steps that are asked what writer is missing
    read_test: int = (
        200_000  # bytes of a file of tests that is looked through for what they are about
    )
    letters: int = 3  # and digits of a line of output that is no mere punctuation
    shown: int = 40  # steps of one cause, the root's own first

    # suspects
    looked_at: int = 40  # that are asked before a run whether they can be undone alone
    asked: int = 400  # of all changes of a range that are
    leaders: int = 3  # suspects whose kin are searched first
    otherwise: int = 2  # other failures that are traced
    clashing: int = 12  # changes around old text; of more none is told
    kin: int = 12  # that a name ties together; more mention it where it is the program's vocabulary
    many: int = 24  # stands for those that must go along where few are not enough

    # hypotheses
    all_sets: int = 12  # suspects of which every set is a hypothesis: 4,096
    listed: int = 5000  # most suspicious changes that are a hypothesis each
    listed_pairs: int = 48  # of which all pairs are
    listed_triples: int = 14
    with_clashes: int = 2  # times as many hypotheses as without clashes: each may double them (pandera's made 45,000)
    predicted: int = 60  # that get predictions
    predicted_pairs: int = 12
    foreseen: int = 60  # leading ones of which a set is looked for that is predicted to pass
    cuts: int = (
        24  # places at which what follows each other is cut in two; fewer changes are not cut
    )

    # runs
    guided: int = 10  # that hypotheses may ask for in a row; after them evidence has given out
    followed: int = 4  # times in a row that what another failure speaks of is undone as well
    put_back: int = 6  # changes that are put back one by one at once; more are halved first
    lead_alone: int = 4  # changes of an answer of which the likeliest is run alone as well
    put_to_test: int = (
        12  # that went along and are left out one by one; of more, delta debugging asks
    )

    # builds
    few_along: int = 12  # changes that may go along with a suspect alone
    many_along: int = 50  # with any set
    leaner: int = 4  # that may go along and are made fewer at once, by a syntax check each
    in_vain: int = 4  # times that a compiler may say the same of a set to which more was added
    complaints: int = 24  # of a compiler that are answered before its answer is given up
    auxiliary: int = 64  # candidates of which prefixes are tried
    builds: int = 90  # of all searches together
    least_builds: int = 30  # of one when the others have used up theirs
    builds_when_told: int = 20  # of one where a compiler tells most of the answer


SEARCH = LoopLimits()


@dataclass(frozen=True, slots=True)
class StoryLimits:
    """How far the story of a root is followed, and tested in so many ``interventions`` (a path of a hundred
    steps costs seven, and one where its change acts), of which each ``runs_a_test`` runs that the answer took
    before allow one: testing adds a quarter to it. ``runs_a_twin`` allow the twin of one cause, for at most so many
    causes ``alone``, as long as there is one for each. ``steps`` that differ are walked from each of so many
    ``failures``; so many ``proofs`` are asked of the solver, each of a ``slice`` of steps. Of a way that is more
    than so many branches ``deep`` the rounds of a loop between its first and its last are left out. An expression
    with its values put in has ``infix`` characters and so many levels, a text in it ``literal`` ones.
    A line that was taken away is what a statement was where so much of the two is ``alike``.
    """

    failures: int = 4
    steps: int = 3_000
    interventions: int = 8
    runs_a_test: int = 6  # half as many added 27 % in the median of 42 cases in Python
    runs_a_twin: int = 3
    alone: int = 4
    proofs: int = 8
    slice: int = 200
    deep: int = 40
    infix: int = 60
    infix_depth: int = 5
    literal: int = 24
    alike: float = 0.5


STORY = StoryLimits()
