"""The explanation of a range: what broke, an answer for each red test, and the lines of their suite ranked.

What stands in the way of the project itself, a compiler that is newer than it or the sandbox, is left out, and
the same is asked once more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from afterd.config import Sandbox, Settings
from afterd.errors import BuildError, TestError
from afterd.execution.failures import native
from afterd.localization.ranker import Ranker
from afterd.model.explanation import THE_SUITE, Explanation, Status
from afterd.model.progress import Progress, Silent
from afterd.pipeline.answer import answered_meanwhile, unanswered_explanation
from afterd.pipeline.beside import begin_bad_run
from afterd.pipeline.broken import which_broke
from afterd.pipeline.each_test import EachTest
from afterd.pipeline.empty_submodules import note_submodules
from afterd.pipeline.kept import keep, keep_rankings
from afterd.pipeline.runs_as_builds import RefusedVariantError
from afterd.pipeline.unconfirmed import uncommitted_sentence
from afterd.workspace import Phase, PhaseClock, Range, Workspace, opened_workspace, wanted_range

Answered = Callable[[tuple[Explanation, ...]], Progress]
"""Takes explanations that are whole but for their rankings; what it returns hears of those."""


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
    began = time.monotonic()
    try:
        return _held(settings, heard, clock, answered=answered)
    except BuildError as error:
        # A compiler that is newer than the project's last release must not be what stops its maintainer.
        refused, what = native.newly_refused(str(error)).strip(), "as it is this one"
        if not refused or settings.older_compilers:
            raise
    except RefusedVariantError as error:
        refused, what = error.warning, "with a part of the changes undone this one"
        left = settings.budget.without(time.monotonic() - began)
        settings = replace(settings, budget=left)
    heard.stage("building again as older compilers would", refused)
    note = (
        "Compilers were started as older ones were (no warning is an error, -fcommon, in Rust --cap-lints warn, in Go"
        f" -vet=off), because {what} refuses: {refused} (`older_compilers = true` does so for every command.)"
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
        try:
            with clock.during(Phase.SUITE):
                broken = which_broke(workspace, settings, wanted, heard, given)
            began = time.monotonic()
            answers = EachTest(workspace, settings, wanted, broken, heard, note).answers
            found = answers() if broken.tests else ()
        except (TestError, BuildError) as error:
            note_submodules(workspace, wanted.variants.bad, error)
            raise
        if not broken.tests:
            reason = broken.reason
            if broken.status is Status.GREEN:
                reason = " ".join(filter(None, [reason, uncommitted_sentence(workspace, wanted)]))
            nothing = unanswered_explanation(THE_SUITE, broken.status, wanted.revisions, reason)
            nothing = replace(nothing, remarks=tuple(filter(None, [note])))
            return (keep(workspace, nothing),)
        if answered and all(each.status is Status.EXPLAINED for each in found):
            heard = answered(found)
        with clock.during(Phase.RANK):
            names = [name for each in found for name in (each.test, *each.also)]
            tree, suite = wanted.variants.bad, broken.suite
            ranker = Ranker(workspace, settings, tree, suite, heard, names, began)
            return _with_rankings(workspace, wanted, found, ranker)


def _with_rankings(
    workspace: Workspace, wanted: Range, found: Sequence[Explanation], ranker: Ranker
) -> tuple[Explanation, ...]:
    """The answers with their rankings, kept; an interrupt leaves those out, and loses no answer."""
    try:
        ranked = [ranker.ranked(each, wanted) for each in found]
    except KeyboardInterrupt:
        note = "No ranking of lines: it was interrupted."
        ranked = [replace(each, notes=(*each.notes, note)) for each in found]
    return keep_rankings(workspace, ranked)
