"""What an explanation works in: the repository, its range and changes, slots, and the store."""

from __future__ import annotations

import fcntl
import glob
import os
import shlex
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from posixpath import normpath

import pygit2

from afterd.config import Sandbox, Settings, command_line
from afterd.errors import BusyError, SandboxError, UsageError
from afterd.execution.cache import OutcomeCache
from afterd.execution.compiler_shims import path_with_compiler, path_with_older_compilers
from afterd.execution.confinement import Confinement, confined_programs, strongest_confinement
from afterd.execution.executors.begun import BegunFirst
from afterd.execution.executors.chosen import BenchExecutor, chosen_executor
from afterd.execution.executors.journal import Journal, JournalFirst, JournalledExecutor
from afterd.execution.executors.local import LocalExecutor
from afterd.execution.executors.protocol import Job
from afterd.execution.process import ProcessResult
from afterd.execution.recipe import Recipe
from afterd.execution.rerunning import Recording, Reruns
from afterd.execution.scratch import scratch
from afterd.execution.told import test_outcome
from afterd.limits import Limits
from afterd.model.change import ChangeList, ChangeSet, FileKind
from afterd.model.explanation import RevisionRange
from afterd.model.progress import Progress
from afterd.store import Store, open_store
from afterd.store.outcomes import StoredOutcomes
from afterd.trace.python.stage import WarmTests
from afterd.trace.trees import FOLDER, TREES
from afterd.vcs.diff import changes_between, changes_from_patch
from afterd.vcs.kinds import FileRules, kind_of
from afterd.vcs.lacking import note_lacking
from afterd.vcs.object_store import open_store as open_objects
from afterd.vcs.pruning import prune
from afterd.vcs.repository import (
    common_directory,
    open_repository,
    parse_range,
    resolve,
    state_directory,
)
from afterd.vcs.trees import ReadFile, TreeReader
from afterd.vcs.variants import Variants
from afterd.vcs.worktree import Slot
from afterd.workspace.brought_files import brought_files
from afterd.workspace.deciding_script import deciding_script
from afterd.workspace.phases import PhaseClock

LOCAL = "local"
_WRITTEN = ("slots", "traced", "warm", "counted", "suites", "environments")
"""Folders of the state directory that builds, tests and their recorders write to."""
_LONGEST_NAME = 400  # bytes of a lock file that are read


@dataclass(frozen=True, slots=True)
class Workspace:
    """Everything that stays open while tests are explained. ``path`` adds a compiler to PATH, ``passed``
    are variables that look secret and that the user lets through. ``held`` is the sandbox that was asked
    for; None: none was.

    ``clock`` counts where the time goes. ``work`` names what is done here so that it finds its recordings
    again after a kill; empty where it is not resumed. ``asked`` is when its turn was asked for (Unix time),
    if it had to wait. ``begin`` starts a job that the executor is asked for later.
    """

    repository: pygit2.Repository
    state: Path
    store: Store
    objects: pygit2.Repository
    executor: BenchExecutor
    limits: Limits
    rules: FileRules
    path: str
    passed: Mapping[str, str]
    held: Confinement | None
    reruns: Reruns
    work: str
    clock: PhaseClock
    local: LocalExecutor
    begin: Callable[[Job], None]
    asked: float | None = None

    @property
    def surroundings(self) -> dict[str, str]:
        """What every build and test finds in its environment beside the user's own."""
        return {"PATH": self.path, **self.passed}

    @property
    def slots(self) -> Path:
        """The folder of the checkouts in which versions are built and tested."""
        return self.state / "slots"

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

    def recorded_warm(self, recipe: Recipe, recording: Recording) -> ProcessResult | None:
        """A run that records itself, in a fork of a slot's warm process; None where only a fresh one can. Where warm
        processes are not trusted yet, only if it ends as a plain run of that version did.
        """
        with self.local.workbench() as bench:
            result = bench.recorded(recipe, recording)
        if result is None or self.reruns.trusted(recipe):
            return result
        outcome, _ = test_outcome(result, recipe, recording.tree)
        if self.reruns.earns(recipe, recording.version, outcome):
            return result
        result.remove()
        return None

    def trace_slots(self) -> tuple[Slot, Slot]:
        """The work trees of traced builds, of the good and of the bad version."""
        folder = self.state / FOLDER
        good, bad = (  # they are built at the same time: a handle each
            Slot(folder / name, open_objects(self.repository)) for name in TREES
        )
        return good, bad


@dataclass(frozen=True, slots=True)
class Range:
    """A range with its changes, the pruned ones marked, and its variants.

    ``everything`` is what reverting gives the good version (test files stay as in the bad one). ``lacking`` is a
    sentence on files that the clone lacks and the range does not touch.
    """

    revisions: RevisionRange
    changes: ChangeList
    variants: Variants
    everything: ChangeSet
    lacking: str = ""


@contextmanager
def opened_workspace(
    settings: Settings,
    journal: Journal | None = None,
    *,
    doing: str = "",
    waiting: Progress | None = None,
    clock: PhaseClock | None = None,
) -> Iterator[Workspace]:
    """Open the workspace; one afterd at a time uses a repository's slots.

    Others hear that this process is ``doing`` something. ``waiting`` hears for whom it waits; without
    it BusyError is raised. Runs that are in ``journal`` are not made again, and those that are made are written there.
    """
    repository = open_repository(settings.repository)
    state = state_directory(repository)
    with ExitStack() as stack:
        asked = stack.enter_context(_locked_state(state / "slots.lock", doing, waiting))
        held = _held_confinement(settings, state, stack.enter_context(scratch()))
        stack.enter_context(confined_programs(held or Confinement(network_admin=settings.network)))
        store = stack.enter_context(_closing_store(open_store(state / "afterd.db")))
        objects = open_objects(repository)
        slots = [  # a pygit2 repository is used by one thread at a time
            Slot(state / "slots" / str(number), open_objects(repository))
            for number in range(settings.jobs)
        ]
        reruns = Reruns(WarmTests(state / "warm"))
        local = LocalExecutor(slots, reruns=reruns)
        stack.callback(local.close)
        executor = BegunFirst(chosen_executor(settings.executor, Path(objects.path), local))
        stack.callback(executor.close)
        yield Workspace(
            repository=repository,
            state=state,
            store=store,
            objects=objects,
            executor=executor if journal is None else JournalledExecutor(executor, journal),
            limits=_limits(settings),
            rules=_rules(repository, settings),
            path=_path(settings, state),
            passed={
                name: os.environ[name] for name in settings.pass_environment if name in os.environ
            },
            held=held,
            reruns=reruns,
            work="" if journal is None else journal.work,
            clock=clock or PhaseClock(),
            local=local,
            begin=executor.begin,
            asked=asked,
        )


def _held_confinement(settings: Settings, state: Path, temporary: Path) -> Confinement | None:
    """The sandbox for what is built and tested in a state directory; None where none is wanted.

    Raises SandboxError where one is required and cannot be had.
    """
    if settings.sandbox is Sandbox.OFF:
        return None
    required = settings.sandbox is Sandbox.REQUIRE
    if settings.executor != LOCAL:
        if required:
            raise SandboxError("A sandbox is required, and other machines' workers have none.")
        return Confinement(network_admin=settings.network)
    own = [state / name for name in _WRITTEN]
    for folder in own:
        folder.mkdir(exist_ok=True)
    named = [Path(place).expanduser() for place in settings.writable]
    return strongest_confinement(
        [*own, temporary, *named], network=settings.network, required=required
    )


@contextmanager
def _closing_store(store: Store) -> Iterator[Store]:
    try:
        yield store
    finally:
        store.close()


@contextmanager
def _locked_state(path: Path, doing: str, waiting: Progress | None) -> Iterator[float | None]:
    """Hold the lock, in whose file its holder is named; when it was asked for, if others held it.

    The kernel gives it back however its holder dies.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "r+b", buffering=0) as file:
        asked = None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if waiting is None:
                message = (
                    f"Another afterd is at work in this repository (it holds {path}); wait for it."
                )
                raise BusyError(message) from error
            asked = time.time()
            holder = file.read(_LONGEST_NAME).decode(errors="replace") or "another afterd"
            waiting.stage(
                "waiting", f"for {holder}; one at a time uses this repository's work trees"
            )
            fcntl.flock(file, fcntl.LOCK_EX)
        os.ftruncate(descriptor, 0)
        name = f"process {os.getpid()}{f', which {doing}' if doing else ''}"
        os.pwrite(descriptor, name.encode(errors="replace")[:_LONGEST_NAME], 0)
        yield asked


def _path(settings: Settings, state: Path) -> str:
    """The ``PATH`` that builds and tests have."""
    path = path_with_compiler(state / "compiler")
    if settings.older_compilers:
        return path_with_older_compilers(state, path)
    return path


def _limits(settings: Settings) -> Limits:
    limits = Limits()
    return replace(
        limits,
        test=replace(limits.test, timeout=settings.test_timeout),
        build=replace(limits.build, timeout=settings.build_timeout),
        solver=replace(limits.solver, rlimit=settings.solver_rlimit),
        trace=replace(limits.trace, window=settings.trace_window),
    )


def _rules(repository: pygit2.Repository, settings: Settings) -> FileRules:
    rules = FileRules()
    named = (*_named_tests(settings, rules), *brought_files(repository, settings, rules))
    tests = (*rules.tests, *settings.test_globs, *named)
    script = deciding_script(settings.test)
    return replace(rules, tests=tests, script=script, keep_tests=settings.keep_tests)


def _named_tests(settings: Settings, rules: FileRules) -> list[str]:
    """Patterns of the Python files that the test command names as tests are (``file.py::name``), or that look like
    tests: they are tests whatever they are called, and where their own package imports them to make a suite of all.
    """
    try:
        words = [*shlex.split(command_line(settings.test)), *settings.tests]
    except ValueError:  # a quotation that does not end
        words = [*settings.tests]
    named = (word.partition("::") for word in words if not word.startswith(("-", "/")))
    files = ((normpath(file), bool(inside)) for file, _, inside in named)
    return [
        f"/{glob.escape(file)}"
        for file, is_test in files
        if file.endswith(".py") and (is_test or kind_of(file, rules) is FileKind.TEST)
    ]


def wanted_range(workspace: Workspace, settings: Settings) -> Range:
    """The range the user asked for. RepositoryError for what cannot be one."""
    repository = workspace.repository
    if settings.diff is not None:
        good = resolve(repository, _patch_base(settings))
        bad, changes = changes_from_patch(
            repository, good, _patch(settings.diff), workspace.rules, workspace.limits.change
        )
        return _range(workspace, RevisionRange(good, bad), changes)
    return range_between(workspace, parse_range(repository, settings.range, settings.good or None))


def range_between(workspace: Workspace, revisions: RevisionRange) -> Range:
    """A range by its two ends: commits, or at its bad end the tree that a patch (--diff) made.

    Such a tree is in afterd's own store alone, and the user's repository does not know it.
    """
    lacking = note_lacking(workspace.objects, revisions.good, revisions.bad)
    known = revisions.bad in workspace.repository and not lacking
    changes = changes_between(
        workspace.repository if known else workspace.objects,
        revisions.good,
        revisions.bad,
        workspace.rules,
        workspace.limits.change,
    )
    return replace(_range(workspace, revisions, changes), lacking=lacking)


def _range(workspace: Workspace, revisions: RevisionRange, changes: ChangeList) -> Range:
    variants = Variants(workspace.repository, revisions.good, revisions.bad, changes)
    everything = frozenset(change.id for change in changes.live)
    good, bad = contents_of(workspace, variants.good), contents_of(workspace, variants.bad)
    return Range(revisions, prune(changes, good, bad, workspace.rules), variants, everything)


def _patch_base(settings: Settings) -> str:
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


def contents_of(workspace: Workspace, tree: str) -> ReadFile:
    """The files of a tree by path."""
    return TreeReader(workspace.objects).contents(tree)
