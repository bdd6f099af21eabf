"""With ``sandbox = auto`` a sandbox must not be what makes a test red.

``explain`` asks the same again without one where it has no answer; the daemon, which puts every run on
record, decides before anything is: where a commit's tests are red in the sandbox, they are run once without
it, and where that shows something else, this commit is examined without.

Not so where a person had to approve the commit: what a stranger wrote would get out by failing. It runs in
a sandbox or, with ``auto``, not at all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pygit2

from afterd.config import Sandbox, Settings
from afterd.daemon.arrivals import Wanted
from afterd.daemon.trust import OWN
from afterd.errors import SandboxError
from afterd.execution.confinement import Means
from afterd.model.outcome import FailureSignature, Verdict
from afterd.model.progress import Progress
from afterd.store import Store
from afterd.store.jobs import Job
from afterd.store.journal import StoredJournal
from afterd.vcs.repository import resolve
from afterd.workspace import opened_workspace, run_suite, suite_of

_KEPT_IN = "The commit came from elsewhere, so its tests were run in the sandbox only."


@dataclass(frozen=True, slots=True)
class Chosen:
    """How a commit is examined; ``note`` says of the sandbox what the answer has to say, else it is empty.

    ``kept_in``: it is not run without one, whatever that shows.
    """

    settings: Settings
    note: str = ""
    kept_in: bool = False


@dataclass(frozen=True, slots=True)
class _Shown:
    """What the tests of a commit showed, and how each failed: in other words, it is another failure."""

    verdict: Verdict
    failures: frozenset[FailureSignature]

    @property
    def names(self) -> frozenset[str]:
        return frozenset(failure.test for failure in self.failures)


def chosen_settings(
    settings: Settings, store: Store, job: Job, wanted: Wanted, progress: Progress
) -> Chosen:
    """The settings, without the sandbox where it alone makes tests of this commit red, and it is no stranger's.

    Raises SandboxError where there is none for a stranger's commit. The runs are in the job's journal: who goes
    on after a kill decides the same, and they are not repeated.
    """
    if settings.sandbox is not Sandbox.AUTO:
        return Chosen(settings)
    kept_in = job.trust not in OWN
    inside = _tests_without_sandbox(settings, store, job, wanted, progress)
    if inside is None and kept_in:
        raise SandboxError(
            f"The commit {wanted.commit[:12]} came from elsewhere, and nothing on this machine can hold its tests."
            " Install bubblewrap (Debian: apt-get install bubblewrap), or set sandbox to off to run them as you."
        )
    if kept_in:
        return Chosen(settings, _KEPT_IN, kept_in)
    if inside is None or inside.verdict is Verdict.PASS:
        return Chosen(settings)
    unheld = replace(settings, sandbox=Sandbox.OFF)
    outside = _tests_without_sandbox(unheld, store, job, wanted, progress)
    if outside is None or outside == inside:
        return Chosen(settings)
    names = ", ".join(sorted(inside.names - outside.names)[:3])
    what = f"{names} fails in it only" if names else "the tests end otherwise in it"
    progress.stage("examining without the sandbox", what)
    return Chosen(unheld, f"The sandbox was left off, because {what}.")


def _tests_without_sandbox(
    settings: Settings, store: Store, job: Job, wanted: Wanted, progress: Progress
) -> _Shown | None:
    """What a commit's tests show; None where a sandbox was wanted and nothing holds."""
    journal = StoredJournal(store, job.id)
    doing = f"is the daemon and tests {wanted.commit[:12]}"
    with opened_workspace(settings, journal, doing=doing) as workspace:
        if workspace.held is not None and workspace.held.means is Means.NOTHING:
            return None
        commit = resolve(workspace.repository, wanted.commit)
        tree = str(workspace.repository[commit].peel(pygit2.Tree).id)
        suite = suite_of(workspace, settings, tree, progress).to_the_end()
        ran = run_suite(workspace, suite, tree, progress)
        return _Shown(ran.attempt.outcome.verdict, frozenset(ran.failures))
