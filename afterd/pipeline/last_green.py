"""A test that is red at the good version too: what it lacks there, or the last green commit before it."""

from __future__ import annotations

from collections.abc import Sequence

from afterd.errors import RepositoryError
from afterd.execution.confirmation import Confirmation, Ends, confirm
from afterd.execution.oracle import Oracle
from afterd.model.explanation import Explanation, RevisionRange, Status
from afterd.model.outcome import Outcome, Unresolved, Verdict
from afterd.pipeline.asking import oracle_of
from afterd.pipeline.case import Case
from afterd.pipeline.installed_copy import untested_import
from afterd.pipeline.older_tests import SettledEnds
from afterd.pipeline.own_script import range_with_own_script
from afterd.pipeline.red_otherwise import (
    empty_sentence,
    lack_at_good,
    otherwise_clause,
    red_at_both,
    unfound_sentence,
    untried_older_commits,
)
from afterd.pipeline.unconfirmed import not_to_explain, unanswered
from afterd.vcs.history import find_baseline
from afterd.workspace import Range, range_between


def red_for_want(case: Case, red: SettledEnds) -> Explanation | None:
    """The answer where something is missing, or where no commit of this repository is what is tested; ``red`` is a
    range at whose good version the test fails too.
    """
    unexplained = unanswered(case, red.wanted, red.oracle, red.confirmation)
    lack = lack_at_good(case, red.wanted, red.confirmation)
    lack = lack or unfound_sentence(case, red.wanted, red.confirmation)
    if lack := lack or empty_sentence(case, red.wanted, red.confirmation):
        return unexplained(Status.BROKEN, lack)
    if red.confirmation.bad.hangs:
        return None
    if copy := untested_import(case, red.wanted.variants.bad):
        return unexplained(Status.ALREADY_RED, f"The test fails at both versions. {copy}")
    return None


def last_green(
    case: Case, red: SettledEnds, later: str, before: Sequence[Explanation]
) -> SettledEnds | Explanation:
    """The older range from the last green commit before a range to the first red one, with a note that says which;
    else the answer that says why none was found, or none looked for: of several tests the history is walked back for
    one, and not where another was answered ``before``, nor where what ``later`` commits told of the test is enough.
    """
    wanted, confirmation = red.wanted, red.confirmation
    unexplained = unanswered(case, wanted, red.oracle, confirmation)
    red_too = red_at_both(wanted, case.test.recipe)
    untried = f"{red_too}{otherwise_clause(confirmation)}. {later}" if later else ""
    untried = untried or untried_older_commits(red_too, confirmation, before)
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
        own = range_with_own_script(older, case.workspace.rules)
        seen = red.oracle.tree_outcome(older.variants.tree(older.everything))
        if seen.passed or own is None:
            return seen
        with_own = red.oracle.tree_outcome(own.variants.tree(own.everything))
        return with_own if with_own.passed else seen

    search = case.workspace.limits.search
    budget = search.revisions if case.settings.history else search.cheap_revisions
    baseline = find_baseline(case.workspace.repository, wanted.revisions.good, passes, budget)
    if not baseline.good:
        why = baseline.reason or "no older commit passes"
        if baseline.spent and not case.settings.history:
            why = f"none of the {budget} older commits that were tried passes (--history tries all)"
        reason = f"{red_too}{otherwise_clause(confirmation)}, and {why}."
        return unexplained(Status.ALREADY_RED, reason)
    shorter = range_between(case.workspace, RevisionRange(baseline.good, baseline.bad))
    again, confirmed = _confirmed(case, shorter)
    own = range_with_own_script(shorter, case.workspace.rules)
    if confirmed.ends is Ends.ALREADY_RED and own is not None:
        shorter = own
        again, confirmed = _confirmed(case, own)
    if confirmed.ends is not Ends.CONFIRMED:
        return not_to_explain(case, shorter, confirmed, again)
    ends = (wanted.revisions.good[:12], baseline.good[:12])
    note = "The test already failed at {}; the last green commit is {}.".format(*ends)
    return SettledEnds(shorter, again, confirmed, note)


def _confirmed(case: Case, wanted: Range) -> tuple[Oracle, Confirmation]:
    oracle = oracle_of(case, wanted)
    return oracle, confirm(oracle, wanted.everything, case.settings.confirmations, case.prior)
