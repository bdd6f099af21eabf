"""Answers that took no search: none to be had, and what others answered while this process waited."""

from __future__ import annotations

from afterd.config import Settings, command_line
from afterd.model.explanation import Explanation, RevisionRange, Status
from afterd.model.outcome import Verdict
from afterd.model.progress import Progress, Silent
from afterd.store.explanations import explained_since, load
from afterd.store.history import tested_commits
from afterd.store.verdicts import verdicts_at
from afterd.workspace import Range, Workspace, suite_of, typed_command


def unanswered_explanation(
    test: str, status: Status, revisions: RevisionRange, reason: str
) -> Explanation:
    """An explanation that names no change, with the sentence that says why."""
    return Explanation(id=0, test=test, status=status, range=revisions, reason=reason)


_USUAL = Settings()


def answered_meanwhile(
    workspace: Workspace, settings: Settings, wanted: Range, progress: Progress
) -> tuple[Explanation, ...]:
    """The answers of the daemon, or of another process, to this very question; () where there are none,
    or this process had its turn at once.
    """
    given = (settings.strategy, settings.budget, settings.diff, settings.tests)
    if workspace.asked is None or given != (_USUAL.strategy, _USUAL.budget, None, ()):
        return ()
    found = _of_another(workspace, settings, wanted) or _of_the_daemon(workspace, settings, wanted)
    if found:
        progress.stage("answered meanwhile", "the explanation that was waited for is shown")
    return found


def _of_another(workspace: Workspace, settings: Settings, wanted: Range) -> tuple[Explanation, ...]:
    """The newest answer for the whole command that was given."""
    assert workspace.asked is not None
    question = (command_line(typed_command(settings.test)), settings.build)
    for each in explained_since(workspace.store, workspace.name, wanted.revisions, workspace.asked):
        if (each.test, each.build_command) == question and each.status is Status.EXPLAINED:
            return (each,)
    return ()


def _of_the_daemon(
    workspace: Workspace, settings: Settings, wanted: Range
) -> tuple[Explanation, ...]:
    """The daemon's answers for every test that fails at the commit, as it tests it."""
    verdicts = verdicts_at(workspace.store, workspace.name, wanted.revisions.bad)
    identifiers = dict.fromkeys(verdict.explanation_id for verdict in verdicts)
    answers = [load(workspace.store, each) for each in identifiers if each is not None]
    if not answers or None in identifiers:
        return ()
    if any(each.range != wanted.revisions or not each.root for each in answers):
        return ()
    suite = suite_of(workspace, settings, wanted.variants.bad, Silent()).to_the_end()
    tested = tested_commits(workspace.store, workspace.name, suite.recipe.command_digest)
    is_same = tested.get(wanted.revisions.bad, Verdict.PASS) is not Verdict.PASS
    return tuple(answers) if is_same else ()
