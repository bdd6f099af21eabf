"""Explaining every failing test of a range: confirm, find the baseline, trace, search, keep."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from afterd.config import Sandbox, Settings, Strategy
from afterd.errors import BuildError, RepositoryError, TestError
from afterd.execution.confirmation import Confirmation, Ends, confirm
from afterd.execution.failures import native
from afterd.execution.flakiness import Prior
from afterd.execution.memory_group import memory_is_held_by
from afterd.execution.oracle import Oracle
from afterd.execution.signature import same_failure, telling_signature
from afterd.localization.ranker import Ranker
from afterd.model.change import NOTHING
from afterd.model.explanation import THE_SUITE, Explanation, RevisionRange, Status
from afterd.model.outcome import Outcome, Unresolved, Verdict
from afterd.model.progress import Progress, Silent
from afterd.pipeline.answer import answered_meanwhile, unanswered_explanation
from afterd.pipeline.asking import masker, oracle_of
from afterd.pipeline.beside import begin_bad_run, reading_ahead
from afterd.pipeline.bisected import Bisection, bisected_case, with_red_first
from afterd.pipeline.broken import Broken, which_broke
from afterd.pipeline.broken_build import broken_build
from afterd.pipeline.case import Case, budget_left, try_only_change
from afterd.pipeline.elsewhere import Elsewhere, outcomes_elsewhere
from afterd.pipeline.installed_copy import untested_import
from afterd.pipeline.later_beginning import LaterBeginning, later_beginning
from afterd.pipeline.merge_sides import with_both_sides
from afterd.pipeline.older_tests import SettledEnds, settled_ends
from afterd.pipeline.on_record import narrowed_range
from afterd.pipeline.red_behind import may_be_red_behind
from afterd.pipeline.red_otherwise import (
    RED_AT_BOTH,
    lack_at_good,
    lack_sentence,
    lack_told,
    otherwise_clause,
    unfound_sentence,
    untried_older_commits,
)
from afterd.pipeline.same_root import repaired_too, reverted_changes, same_root
from afterd.pipeline.unconfirmed import not_to_explain, unanswered, uncommitted_sentence
from afterd.report.json import contract
from afterd.store.explanations import add_ranking, save
from afterd.vcs.history import find_baseline
from afterd.workspace import (
    FailingTest,
    Phase,
    PhaseClock,
    Range,
    Workspace,
    opened_workspace,
    range_between,
    started_python,
    to_come_to_the_end,
    wanted_range,
)

Answered = Callable[[tuple[Explanation, ...]], Progress]
"""Takes explanations that are whole but for their rankings; what it returns hears of those."""

_NEXT = "afterd.pipeline.searched"
"""What comes after both ends are confirmed."""


def explain(
    settings: Settings,
    progress: Progress | None = None,
    clock: PhaseClock | None = None,
    answered: Answered | None = None,
) -> tuple[Explanation, ...]:
    """Explain each failing test of the range, in order; a green explanation when nothing fails.

    ``clock`` counts where the time goes. Every explanation is stored and carries its id; where all are
    explained, ``answered`` is given them before their suite is counted for a ranking of lines, which an
    interrupt leaves out. Raises the AfterdError leaf that says what stands in the way of any answer.
    """
    heard, clock = progress or Silent(), clock or PhaseClock()
    try:
        return _held(settings, heard, clock, answered=answered)
    except BuildError as error:
        refused = native.newly_refused(str(error)).strip()
        if not refused or settings.older_compilers:
            raise
    # A compiler that is newer than the project's last release must not be what stops its maintainer.
    heard.stage("building again as older compilers would", refused)
    note = (
        "Compilers were started as older ones were (no warning is an error, -fcommon), because as it is this one"
        f" refuses: {refused} (`older_compilers = true` does so for every command.)"
    )
    return _held(replace(settings, older_compilers=True), heard, clock, note, answered)


def _held(
    settings: Settings,
    heard: Progress,
    clock: PhaseClock,
    note: str = "",
    answered: Answered | None = None,
) -> tuple[Explanation, ...]:
    """Explain each failing test, in a sandbox only where that is not what breaks the project."""
    if settings.sandbox is not Sandbox.AUTO:
        return _explain(settings, heard, clock, note, answered)
    outside = replace(settings, sandbox=Sandbox.OFF)
    try:
        found = _explain(settings, heard, clock, note, answered)
    except (TestError, BuildError) as error:
        why = str(error)
    else:
        seen = {each.status for each in found}
        if Status.EXPLAINED in seen and seen <= {Status.EXPLAINED, Status.ALREADY_RED}:
            return found
        why = found[0].reason or f"{found[0].test} is {found[0].status.value} in it"
    # A sandbox must not be what breaks a project: where it is, the same is asked without.
    heard.stage("trying without the sandbox", why)
    off = f"The sandbox was left off, because with it: {why}"
    return _explain(outside, heard, clock, " ".join(filter(None, [note, off])), answered)


def _explain(
    settings: Settings,
    heard: Progress,
    clock: PhaseClock,
    note: str = "",
    answered: Answered | None = None,
) -> tuple[Explanation, ...]:
    """Explain each failing test, in the sandbox that the settings name; ``note`` goes into each answer."""
    doing = f"explains {settings.diff or settings.range}"
    with opened_workspace(settings, doing=doing, waiting=heard, clock=clock) as workspace:
        given = begin_bad_run(workspace, settings)
        wanted = wanted_range(workspace, settings)
        note = " ".join(filter(None, [note, wanted.lacking]))
        if known := answered_meanwhile(workspace, settings, wanted, heard):
            return known
        with clock.during(Phase.SUITE):
            broken = which_broke(workspace, settings, wanted, heard, given)
        if not broken.tests:
            reason = broken.reason
            if broken.status is Status.GREEN:
                reason = " ".join(filter(None, [reason, uncommitted_sentence(workspace, wanted)]))
            nothing = unanswered_explanation(THE_SUITE, broken.status, wanted.revisions, reason)
            nothing = replace(nothing, remarks=tuple(filter(None, [note])))
            return (keep(workspace, nothing),)
        began = time.monotonic()
        try:
            found = _each_explained(workspace, settings, wanted, broken, heard, note)
        except BuildError:
            build = broken_build(workspace, settings, wanted, broken.suite, heard)
            if build is None:
                raise
            found = _each_explained(workspace, settings, *build, heard, note)
        if answered and all(each.status is Status.EXPLAINED for each in found):
            heard = answered(found)
        with clock.during(Phase.RANK):
            names = [test.recipe.test_id for test in _asked_tests(settings, broken)]
            tree, suite = wanted.variants.bad, broken.suite
            ranker = Ranker(workspace, settings, tree, suite, heard, names, began)
            return _with_rankings(workspace, wanted, found, ranker)


def _asked_tests(settings: Settings, broken: Broken) -> Sequence[FailingTest]:
    return broken.tests[:1] if settings.first else broken.tests


def _each_explained(
    workspace: Workspace,
    settings: Settings,
    wanted: Range,
    broken: Broken,
    heard: Progress,
    note: str,
) -> tuple[Explanation, ...]:
    """An answer for each test that broke and that no answer before it repairs; each is kept.

    Where one cannot be run at an end, the others are answered all the same; raises what stands in the way of
    the first where none can.
    """
    found: list[Explanation] = []
    stopped: dict[str, TestError | BuildError] = {}
    left = list(_asked_tests(settings, broken))
    while left:
        test = left.pop(0)
        if broken.suite.found is not None:
            heard.stage("explaining", test.recipe.test_id)
        try:
            within, answer = _answer(workspace, settings, wanted, broken, test, heard, found)
        except (TestError, BuildError) as error:
            stopped[test.recipe.test_id] = error
            continue
        with workspace.clock.during(Phase.SUITE):
            others = _effects_elsewhere(workspace, within, broken, answer, left, heard)
        left = [test for test in left if test.recipe.test_id not in others.repaired]
        said = (others.note(), *(() if found else broken.notes), note)
        remarks = (*answer.remarks, *filter(None, said))
        found.append(keep(workspace, replace(answer, also=others.repaired, remarks=remarks)))
    if stopped and not found:
        raise next(iter(stopped.values()))
    for name, why in stopped.items():
        told = unanswered_explanation(name, Status.BROKEN, wanted.revisions, str(why))
        found.append(keep(workspace, told))
    return tuple(found)


def _answer(
    workspace: Workspace,
    settings: Settings,
    wanted: Range,
    broken: Broken,
    test: FailingTest,
    heard: Progress,
    before: Sequence[Explanation],
) -> tuple[Range, Explanation]:
    """The answer of one test, and the range that it is for: what the record leaves of the wanted one, where the
    test fails at its bad end as it does at the wanted one's; else all of it.
    """
    name = test.recipe.test_id
    known = narrowed_range(workspace, wanted.revisions, broken.suite, name)
    if known is not None and settings.strategy is Strategy.AFTER:
        revisions, note = known
        heard.stage("searching what the record leaves", note)
        within = range_between(workspace, revisions)
        case = Case(workspace, settings, test, heard, time.monotonic(), None)
        if _fails_alike(case, wanted, within):
            found = explain_test(workspace, settings, within, test, heard, before=before)
            if found.status is Status.EXPLAINED:
                holds = found.range == revisions
                return within, replace(found, remarks=(note,) * holds + found.remarks)
    return wanted, explain_test(workspace, settings, wanted, test, heard, before=before)


def _fails_alike(case: Case, wanted: Range, within: Range) -> bool:
    """Whether the test's failure at the bad end of a part of the range is that of the whole."""
    if within.revisions.bad == wanted.revisions.bad:
        return True
    here, there = (oracle_of(case, each).outcome(NOTHING) for each in (wanted, within))
    if here.signature is None or there.signature is None:
        return False
    return same_failure(telling_signature(here, ""), telling_signature(there, ""))


def _with_rankings(
    workspace: Workspace, wanted: Range, found: Sequence[Explanation], ranker: Ranker
) -> tuple[Explanation, ...]:
    """The answers with their rankings, kept; an interrupt leaves those out, and loses no answer."""
    try:
        ranked = [ranker.ranked(each, wanted) for each in found]
    except KeyboardInterrupt:
        note = "No ranking of lines: it was interrupted."
        ranked = [replace(each, notes=(*each.notes, note)) for each in found]
    masked = masker().value(tuple(ranked))
    for each in masked:
        add_ranking(workspace.store, each, _contract)
    return masked


def _effects_elsewhere(
    workspace: Workspace,
    wanted: Range,
    broken: Broken,
    answer: Explanation,
    left: Sequence[FailingTest],
    progress: Progress,
) -> Elsewhere:
    """What an answer does to the tests that are ``left``, and to its own test's neighbours."""
    if answer.status is not Status.EXPLAINED or answer.range != wanted.revisions:
        return Elsewhere()
    names = [test.recipe.test_id for test in left]
    undone, green = reverted_changes(answer), broken.green
    return outcomes_elsewhere(
        workspace, wanted, broken.suite, undone, answer.test, names, green, progress
    )


def explain_test(
    workspace: Workspace,
    settings: Settings,
    wanted: Range,
    test: FailingTest,
    progress: Progress,
    *,
    before: Sequence[Explanation] = (),
    prior: Prior | None = None,
) -> Explanation:
    """Explain one failing test of a range; the explanation is not stored yet (``keep`` does it).

    Explanations ``before`` are of other tests of the range: a root of theirs is tried first.
    ``prior`` is what is known of the test's flakiness.
    """
    recipe = test.recipe
    if recipe.is_a_build:
        # what a compiler refuses it refuses each time, and was built once to be asked for
        settings, prior = replace(settings, confirmations=1), Prior(flaky=0.0)
    case = Case(workspace, settings, test, progress, time.monotonic(), prior)
    found = _with_other_side(case, wanted, _explained_failure(case, wanted, before))
    if may_be_red_behind(found, recipe):
        ended = replace(case, test=to_come_to_the_end(test))
        other = _with_other_side(ended, wanted, _explained_failure(ended, wanted, before))
        found = other if other.root and len(other.root) < len(found.root) else found
    return replace(found, build_command=recipe.build, test_command=recipe.typed)


def keep(workspace: Workspace, explanation: Explanation) -> Explanation:
    """Store an explanation, without the secrets of afterd's environment; it has its id then."""
    if workspace.held is not None:
        notes = (*explanation.notes, memory_is_held_by(workspace.limits.test))
        remarks = (*explanation.remarks, workspace.held.describe())
        explanation = replace(explanation, remarks=remarks, notes=notes)
    with workspace.clock.during(Phase.KEEP):
        masked = masker().value(explanation)
        return save(workspace.store, workspace.name, masked, _contract)


def _contract(explanation: Explanation) -> str:
    return json.dumps(contract(explanation))


def _explained_failure(
    case: Case, wanted: Range, before: Sequence[Explanation], *, halved: bool = False
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

    with case.workspace.clock.during(Phase.CONFIRM), reading_ahead(_NEXT):
        try:
            ends = settled_ends(wanted, case.test, asking, confirming)
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
        return _from_last_green(case, wanted, oracle, confirmation, before, later.note)
    if confirmation.ends is not Ends.CONFIRMED:
        return not_to_explain(case, wanted, confirmation, oracle)
    found = same_root(case, wanted, oracle, confirmation, before) or _searched_range(
        case, wanted, oracle, confirmation, before, halved=halved
    )
    lack = lack_sentence(case, wanted, confirmation.bad)
    return replace(found, remarks=(*filter(None, [ends.note, lack]), *found.remarks))


def _beginning(case: Case, wanted: Range, ends: SettledEnds, *, halved: bool) -> LaterBeginning:
    """A commit of the range that is a better beginning than its good version, where that one shows no green."""
    shows_none = ends.reason or ends.confirmation.ends is Ends.ALREADY_RED
    return later_beginning(case, wanted) if shows_none and not halved else LaterBeginning()


def _is_recorded_as_run(case: Case) -> bool:
    """Whether what records the test runs it as the user does: the same command in the same interpreter, unbuilt."""
    recipe, strategy = case.test.recipe, case.settings.strategy
    starts_python = started_python(recipe) is not None
    return strategy is Strategy.AFTER and starts_python and not recipe.build


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
    wanted: Range,
    oracle: Oracle,
    confirmation: Confirmation,
    before: Sequence[Explanation] = (),
    seen: str = "",
) -> Explanation:
    """The left end is red as well: for want of something, or look for the last green commit before it; of several
    tests only for the first one, where nothing was found for that. Not where later commits told enough (``seen``).
    """
    unexplained = unanswered(case, wanted, oracle, confirmation)
    if lack := lack_at_good(case, wanted, confirmation) or unfound_sentence(
        case, wanted, confirmation
    ):
        return unexplained(Status.BROKEN, lack)
    if not confirmation.bad.hangs and (copy := untested_import(case, wanted.variants.bad)):
        reason = f"The test fails at both versions. {copy}"
        return unexplained(Status.ALREADY_RED, reason)
    untried = f"{RED_AT_BOTH}{otherwise_clause(confirmation)}. {seen}" if seen else ""
    untried = untried or untried_older_commits(confirmation, before)
    if untried and not case.settings.history:
        return unexplained(Status.ALREADY_RED, untried)
    looking = "the good version is red too: looking for the last green commit"
    case.progress.stage(looking)

    def passes(commit: str) -> Outcome:
        case.progress.stage(looking, f"running the version of {commit[:10]}")
        try:
            older = range_between(case.workspace, RevisionRange(commit, wanted.revisions.bad))
        except RepositoryError as error:  # the clone lacks a file of it
            return Outcome(Verdict.UNRESOLVED, Unresolved.BUILD, str(error))
        return oracle.tree_outcome(older.variants.tree(older.everything))

    search = case.workspace.limits.search
    budget = search.revisions if case.settings.history else search.cheap_revisions
    baseline = find_baseline(case.workspace.repository, wanted.revisions.good, passes, budget)
    if not baseline.good:
        why = baseline.reason or "no older commit passes"
        if baseline.spent and not case.settings.history:
            why = f"none of the {budget} older commits that were tried passes (--history tries all)"
        reason = f"{RED_AT_BOTH}{otherwise_clause(confirmation)}, and {why}."
        return unexplained(Status.ALREADY_RED, reason)
    shorter = range_between(case.workspace, RevisionRange(baseline.good, baseline.bad))
    again = oracle_of(case, shorter)
    confirmed = confirm(again, shorter.everything, case.settings.confirmations, case.prior)
    if confirmed.ends is not Ends.CONFIRMED:
        return not_to_explain(case, shorter, confirmed, again)
    found = _searched_range(case, shorter, again, confirmed, halved=False)
    red, green = wanted.revisions.good[:12], baseline.good[:12]
    note = f"The test already failed at {red}; the last green commit is {green}."
    return replace(found, remarks=(note, *found.remarks))


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
