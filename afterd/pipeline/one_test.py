"""Explaining one failing test: both ends are confirmed, and the changes between them searched."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from afterd.config import Settings, Strategy
from afterd.errors import TestError
from afterd.execution.confirmation import Confirmation, Ends, confirm
from afterd.execution.flakiness import Prior
from afterd.execution.oracle import Oracle
from afterd.model.explanation import Explanation, RevisionRange, Status
from afterd.model.progress import Progress
from afterd.pipeline.asking import oracle_of
from afterd.pipeline.beside import reading_ahead
from afterd.pipeline.bisected import Bisection, bisected_case, with_red_first
from afterd.pipeline.case import Case, budget_left, try_only_change
from afterd.pipeline.last_green import last_green, red_for_want
from afterd.pipeline.later_beginning import LaterBeginning, later_beginning
from afterd.pipeline.merge_sides import with_both_sides
from afterd.pipeline.older_tests import SettledEnds, settled_ends
from afterd.pipeline.own_script import (
    range_of_lone_script,
    range_with_own_script,
    with_own_script,
)
from afterd.pipeline.red_behind import may_be_red_behind
from afterd.pipeline.red_otherwise import (
    lack_sentence,
    lack_told,
    red_at_both,
)
from afterd.pipeline.same_root import repaired_part, repaired_too, same_root
from afterd.pipeline.unconfirmed import not_to_explain, unanswered
from afterd.workspace import (
    FailingTest,
    Phase,
    Range,
    Workspace,
    range_between,
    started_python,
    to_come_to_the_end,
)

Walk = Callable[[Sequence[Explanation]], Explanation]
"""Looks for the last green commit before a range, knowing what was answered to other tests."""

PutOff = Callable[[Walk], None]

_NEXT = "afterd.pipeline.searched"
"""What comes after both ends are confirmed."""


def explain_test(  # noqa: PLR0913 - what each who asks knows of it
    workspace: Workspace,
    settings: Settings,
    wanted: Range,
    test: FailingTest,
    progress: Progress,
    *,
    before: Sequence[Explanation] = (),
    prior: Prior | None = None,
    put_off: PutOff | None = None,
    ends_on_warnings: bool = False,
) -> Explanation:
    """Explain one failing test of a range; the explanation is not stored yet (``keep`` does it).

    Explanations ``before`` are of other tests of the range: a root of theirs is tried first.
    ``prior`` is what is known of the test's flakiness. Where the good version is red as well, ``put_off`` takes the
    walk to the commits before it, for when other tests are answered; without it that is done at once.
    ``ends_on_warnings``: raises RefusedVariantError where a variant is not built for a warning alone.
    """
    recipe = test.recipe
    if recipe.is_a_build:
        # what a compiler refuses it refuses each time, and was built once to be asked for
        settings, prior = replace(settings, confirmations=1), Prior(flaky=0.0)
    case = Case(workspace, settings, test, progress, time.monotonic(), prior, ends_on_warnings)

    def finished(found: Explanation) -> Explanation:
        found = _with_other_side(case, wanted, found)
        if may_be_red_behind(found, recipe):
            ended = replace(case, test=to_come_to_the_end(test))
            other = _with_other_side(ended, wanted, _explained_failure(ended, wanted, before))
            found = other if other.root and len(other.root) < len(found.root) else found
        return replace(found, build_command=recipe.build, test_command=recipe.typed)

    def put_off_whole(walk: Walk) -> None:
        assert put_off is not None
        put_off(lambda answered: finished(walk(answered)))

    waits = put_off_whole if put_off is not None else None
    return finished(_explained_failure(case, wanted, before, put_off=waits))


def _explained_failure(
    case: Case,
    wanted: Range,
    before: Sequence[Explanation],
    *,
    halved: bool = False,
    put_off: PutOff | None = None,
) -> Explanation:
    """Both ends first; then the search, over an older range where the left end is red. ``halved``: a bisection left
    the range, so outcomes of its ends that are on record are runs that confirm them.
    """

    def asking(one: Range) -> Oracle:
        return oracle_of(case, one)

    def confirming(one: Range) -> tuple[Oracle, Confirmation]:
        oracle = oracle_of(case, one)
        times, prior = case.settings.confirmations, case.prior
        off = _is_recorded_as_run(case)
        found = confirm(oracle, one.everything, times, prior, remembers=halved, puts_off=off)
        return oracle, found

    wanted = range_of_lone_script(wanted, case.workspace.rules)
    with case.workspace.clock.during(Phase.CONFIRM), reading_ahead(_NEXT):
        try:
            ends = settled_ends(wanted, case.test, asking, confirming)
            ends = with_own_script(ends, case.workspace.rules, asking, confirming)
        except TestError as error:
            if lack := lack_told(case, wanted, str(error)):
                raise TestError(f"{str(error).partition(' (')[0]}: {lack}") from error
            raise
    later = _beginning(case, wanted, ends, halved=halved)
    if later.within is not None:
        found = _explained_failure(case, later.within, before, halved=True)
        if found.status is not Status.ALREADY_RED:
            return replace(found, remarks=(later.note, *found.remarks))
    wanted, oracle, confirmation = ends.wanted, ends.oracle, ends.confirmation
    if ends.reason:
        reason = f"{ends.reason}{repaired_too(wanted, oracle, before)}"
        reason = f"{reason.rstrip('.')}. {later.note}" if later.note else reason
        return unanswered(case, wanted, oracle, confirmation)(Status.ALREADY_RED, reason)
    if confirmation.ends is Ends.ALREADY_RED:
        return red_for_want(case, ends) or _from_last_green(case, ends, later.note, before, put_off)
    if confirmation.ends is not Ends.CONFIRMED:
        return not_to_explain(case, wanted, confirmation, oracle)
    found = (
        same_root(case, wanted, oracle, confirmation, before)
        or (None if halved else _as_in_a_part(case, wanted, oracle, confirmation, before))
        or _searched_range(case, wanted, oracle, confirmation, before, halved=halved)
    )
    lack = lack_sentence(case, wanted, confirmation.bad)
    return replace(found, remarks=(*filter(None, [ends.note, lack]), *found.remarks))


def _beginning(case: Case, wanted: Range, ends: SettledEnds, *, halved: bool) -> LaterBeginning:
    """A commit of the range that is a better beginning than its good version, where that one shows no green."""
    shows_none = ends.reason or ends.confirmation.ends is Ends.ALREADY_RED
    if not shows_none or halved:
        return LaterBeginning()
    found = later_beginning(case, wanted)
    own = range_with_own_script(wanted, case.workspace.rules) if found.within is None else None
    with_own = LaterBeginning() if own is None else later_beginning(case, own)
    return found if with_own.within is None else with_own


def _is_recorded_as_run(case: Case) -> bool:
    """Whether what records the test runs it as the user does: the same command in the same interpreter, unbuilt."""
    recipe, strategy = case.test.recipe, case.settings.strategy
    starts_python = started_python(recipe) is not None
    return strategy is Strategy.AFTER and starts_python and not recipe.build


def _as_in_a_part(
    case: Case,
    wanted: Range,
    oracle: Oracle,
    confirmation: Confirmation,
    before: Sequence[Explanation],
) -> Explanation | None:
    """The answer of an earlier test that a bisection found in a part of the range, where it is this test's too."""
    with case.workspace.clock.during(Phase.RUN):
        part = repaired_part(case, wanted, oracle, before)
    spent = unanswered(case, wanted, oracle, confirmation)(Status.INCONCLUSIVE, "")
    left = None if part is None else budget_left(case, spent)
    if part is None or left is None:
        return None
    inside = bisected_case(case, left, confirmation)
    found = _explained_failure(inside, part, before, halved=True)
    if found.status is not Status.EXPLAINED or found.range != part.revisions:
        return None
    bisection = Bisection(case.workspace, wanted, oracle, halved=True)
    bisection.within = part
    note = bisection.note(within=True)
    return replace(found, runs=spent.runs + found.runs, remarks=(note, *found.remarks))


def _searched_range(
    case: Case,
    wanted: Range,
    oracle: Oracle,
    confirmation: Confirmation,
    before: Sequence[Explanation] = (),
    *,
    halved: bool,
) -> Explanation:
    """The search and its answer: in the whole range, or in the part that its commits' own versions leave. Where other
    tests turned red (``before``) is asked first.
    """
    from afterd.pipeline.searched import searched_explanation  # noqa: PLC0415 - imported while both ends were confirmed

    with case.workspace.clock.during(Phase.RUN):
        try_only_change(wanted, oracle)
    likely = [each.range for each in before if each.status is Status.EXPLAINED]
    bisection = Bisection(case.workspace, wanted, oracle, likely, halved=halved)
    found = searched_explanation(case, wanted, oracle, confirmation, bisection)
    if not bisection.told:
        return found
    if bisection.within is None or found.status is not Status.INCONCLUSIVE:
        # The commits told which changes to undo in the bad version.
        found = with_red_first(found, bisection.red_commits())
        return replace(found, remarks=(bisection.note(), *found.remarks))
    with case.workspace.clock.during(Phase.RUN):
        bisection.skip_mended()
    left = budget_left(case, found)
    if left is not None:
        inside = bisected_case(case, left, confirmation)
        answer = _explained_failure(inside, bisection.within, before, halved=True)
        runs = found.runs + answer.runs
        if (
            answer.status is Status.ALREADY_RED
        ):  # what its changes make of it is not green, as its good commit is
            return replace(found, runs=runs, remarks=(bisection.note(), *found.remarks))
        found = replace(answer, runs=runs)
    return replace(found, remarks=(bisection.note(within=left is not None), *found.remarks))


def _from_last_green(
    case: Case,
    red: SettledEnds,
    later: str,
    before: Sequence[Explanation],
    put_off: PutOff | None,
) -> Explanation:
    """The answer of an older range; until it is looked for, that the test was red before."""

    def walk(answered: Sequence[Explanation]) -> Explanation:
        older = last_green(case, red, later, answered)
        if isinstance(older, Explanation):
            return older
        found = _searched_range(case, older.wanted, older.oracle, older.confirmation, halved=False)
        return replace(found, remarks=(older.note, *found.remarks))

    if put_off is None:
        return walk(before)
    put_off(walk)
    waits = unanswered(case, red.wanted, red.oracle, red.confirmation)
    return waits(Status.ALREADY_RED, f"{red_at_both(red.wanted, case.test.recipe)}.")


def _with_other_side(case: Case, wanted: Range, found: Explanation) -> Explanation:
    """The answer on a merge, naming both sides where the test passes at each of them alone."""
    if found.status is not Status.EXPLAINED or found.range.bad != wanted.revisions.bad:
        return found
    return with_both_sides(case.workspace.repository, found, partial(_across, case))


def _across(case: Case, parent: str, found: Explanation) -> Explanation | None:
    """What a merge has beside one of its parents that makes the test fail; None where that fails too, or what is left
    of the budget does not tell.
    """
    left = budget_left(case, found)
    if left is None:
        return None
    across = range_between(case.workspace, RevisionRange(parent, found.range.bad))
    case = replace(case, settings=replace(case.settings, budget=left))
    if not oracle_of(case, across).outcome(across.everything).passed:
        return None
    case.progress.stage("the other side of the merge", parent[:12])
    beside = _explained_failure(case, across, ())
    is_told = beside.status is Status.EXPLAINED and beside.range == across.revisions
    return beside if is_told else None
