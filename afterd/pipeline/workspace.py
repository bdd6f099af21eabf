"""What an explanation works in: the repository, its range and changes, slots, and the store."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pygit2

from afterd.config import Settings
from afterd.errors import BusyError, UsageError
from afterd.execution.cache import OutcomeCache
from afterd.execution.compiler_shims import path_with_compiler
from afterd.execution.executors.benches import BenchExecutor
from afterd.execution.executors.chosen import chosen
from afterd.execution.executors.journal import Journal, JournalFirst, JournalledExecutor
from afterd.execution.executors.local import LocalExecutor
from afterd.execution.rerunning import Reruns
from afterd.execution.scratch import scratch
from afterd.limits import Limits
from afterd.model.change import ChangeList, ChangeSet
from afterd.model.revision import RevisionRange
from afterd.store import Store, open_store
from afterd.store.outcomes import StoredOutcomes
from afterd.tracing.python.warm_tests import WarmTests
from afterd.vcs.diff import changes_between, changes_from_patch
from afterd.vcs.kinds import FileRules
from afterd.vcs.object_store import open_store as open_objects
from afterd.vcs.pruning import Text, prune
from afterd.vcs.repository import (
    common_directory,
    open_repository,
    parse_range,
    resolve,
    state_directory,
)
from afterd.vcs.trees import TreeReader
from afterd.vcs.variants import Variants
from afterd.vcs.worktree import Slot


@dataclass(frozen=True, slots=True)
class Workspace:
    """Everything that stays open while tests are explained. ``path`` adds a compiler to PATH.

    ``work`` names what is done here so that it finds its recordings again after a kill; empty where
    it is not resumed.
    """

    repository: pygit2.Repository
    state: Path
    store: Store
    objects: pygit2.Repository
    executor: BenchExecutor
    limits: Limits
    rules: FileRules
    path: str
    reruns: Reruns
    work: str

    @property
    def name(self) -> str:
        """The repository as the store knows it: its common git directory."""
        return str(common_directory(self.repository))

    def remembered(self, mask: Callable[[str], str]) -> OutcomeCache:
        """The store's outcomes; a job that goes on after a kill asks its journal first."""
        cache = StoredOutcomes(self.store, mask)
        if isinstance(self.executor, JournalledExecutor):
            return JournalFirst(cache, self.executor)
        return cache

    def trace_slots(self) -> tuple[Slot, Slot]:
        """The work trees of traced builds, of the good and of the bad version."""
        folder = self.state / "traced"
        good, bad = (  # they are built at the same time: a handle each
            Slot(folder / name, open_objects(self.repository)) for name in ("good", "bad")
        )
        return good, bad


@dataclass(frozen=True, slots=True)
class Range:
    """A range with its changes, the pruned ones marked, and its variants.

    ``everything`` is what reverting gives the good version (test files stay as in the bad one).
    """

    revisions: RevisionRange
    changes: ChangeList
    variants: Variants
    everything: ChangeSet


@contextmanager
def opened(settings: Settings, journal: Journal | None = None) -> Iterator[Workspace]:
    """Open the workspace; one afterd at a time uses a repository's slots.

    Runs that are in ``journal`` are not made again, and those that are made are written there.
    """
    repository = open_repository(settings.repository)
    state = state_directory(repository)
    with ExitStack() as stack:
        stack.enter_context(_locked(state / "slots.lock"))
        stack.enter_context(scratch())
        store = stack.enter_context(_closing(open_store(state / "afterd.db")))
        objects = open_objects(repository)
        slots = [  # a pygit2 repository is used by one thread at a time
            Slot(state / "slots" / str(number), open_objects(repository))
            for number in range(settings.jobs)
        ]
        reruns = Reruns(WarmTests(state / "warm"))
        local = LocalExecutor(slots, reruns=reruns)
        stack.callback(local.close)
        executor = chosen(settings.executor, Path(objects.path), local)
        stack.callback(executor.close)
        yield Workspace(
            repository=repository,
            state=state,
            store=store,
            objects=objects,
            executor=executor if journal is None else JournalledExecutor(executor, journal),
            limits=_limits(settings),
            rules=_rules(settings),
            path=path_with_compiler(state / "compiler"),
            reruns=reruns,
            work="" if journal is None else journal.work,
        )


@contextmanager
def _closing(store: Store) -> Iterator[Store]:
    try:
        yield store
    finally:
        store.close()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            message = (
                f"Another afterd is at work in this repository (it holds {path}); wait for it."
            )
            raise BusyError(message) from error
        yield


def _limits(settings: Settings) -> Limits:
    limits = Limits()
    return replace(
        limits,
        test=replace(limits.test, timeout=settings.test_timeout),
        build=replace(limits.build, timeout=settings.build_timeout),
        solver=replace(limits.solver, rlimit=settings.solver_rlimit),
        trace=replace(limits.trace, window=settings.trace_window),
    )


def _rules(settings: Settings) -> FileRules:
    rules = FileRules()
    return replace(
        rules, tests=(*rules.tests, *settings.test_globs), keep_tests=settings.keep_tests
    )


def wanted_range(workspace: Workspace, settings: Settings) -> Range:
    """The range the user asked for. RepositoryError for what cannot be one."""
    repository = workspace.repository
    if settings.diff is not None:
        good = resolve(repository, _patched(settings))
        bad, changes = changes_from_patch(
            repository, good, _patch(settings.diff), workspace.rules, workspace.limits.change
        )
        return _range(workspace, RevisionRange(good, bad), changes)
    return range_between(workspace, parse_range(repository, settings.range, settings.good or None))


def range_between(workspace: Workspace, revisions: RevisionRange) -> Range:
    """A range by its two ends: commits, or at its bad end the tree that a patch (--diff) made.

    Such a tree is in afterd's own store alone, and the user's repository does not know it.
    """
    known = revisions.bad in workspace.repository
    changes = changes_between(
        workspace.repository if known else workspace.objects,
        revisions.good,
        revisions.bad,
        workspace.rules,
        workspace.limits.change,
    )
    return _range(workspace, revisions, changes)


def _range(workspace: Workspace, revisions: RevisionRange, changes: ChangeList) -> Range:
    variants = Variants(workspace.repository, revisions.good, revisions.bad, changes)
    everything = frozenset(change.id for change in changes.live)
    good, bad = _contents(workspace, variants.good), _contents(workspace, variants.bad)
    return Range(revisions, prune(changes, good, bad, workspace.rules), variants, everything)


def _patched(settings: Settings) -> str:
    """What a patch stands on: the good revision that was named, else HEAD."""
    if settings.good or settings.range == Settings().range:
        return settings.good or "HEAD"
    return settings.range.split("..")[0] or "HEAD"


def _patch(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        message = (
            f"The patch {path} cannot be read ({error.strerror}); give the path of a unified diff."
        )
        raise UsageError(message) from error


def _contents(workspace: Workspace, tree: str) -> Text:
    """The files of a tree by path."""
    reader = TreeReader(workspace.objects)

    def content(path: str) -> bytes | None:
        entry = reader.lookup(tree, path.encode(errors="surrogateescape"))
        return reader.read(entry.id) if entry is not None and entry.is_file else None

    return content
