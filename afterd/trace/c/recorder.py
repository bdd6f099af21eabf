"""Recording a variant of a C or C++ program: built with afterd-cc, its test run, its records read.

Both ends of the range have a slot of their own. Any other variant is built on from the bad version's
build, so that only what it touches is compiled again, and at the same path: what a path goes into
(debug information, addresses on the stack) is then the same in both runs.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path

from afterd.errors import TraceError
from afterd.execution.build import diagnostics
from afterd.execution.configured_anew import sparing_command
from afterd.execution.freshness import Freshness
from afterd.execution.meanwhile import told_meanwhile
from afterd.execution.process import Command, Ending
from afterd.execution.recipe import Recipe
from afterd.execution.sandbox import run
from afterd.execution.told import test_outcome
from afterd.execution.toolchain import Toolchain
from afterd.limits import ProcessLimits
from afterd.model.change import NOTHING, ChangeSet
from afterd.model.outcome import Outcome
from afterd.model.progress import Progress, Silent
from afterd.trace.c.build.modules import ModuleStore, built_modules, modules_made
from afterd.trace.c.build.preprocessed import Preprocessed
from afterd.trace.c.build.source import Sources
from afterd.trace.c.build.standing import (
    checked_out,
    paths_below,
    remove_what_tests_left,
    told_by,
)
from afterd.trace.c.build.traced_build import begin_build, environment, prepare, recording_into
from afterd.trace.c.failure.quoted import quoted_texts
from afterd.trace.c.read.process import Process, paired_recordings, recorded_processes
from afterd.trace.c.read.program import Program
from afterd.trace.c.window.recording import Recording, Written
from afterd.trace.c.window.replacement import Replacement
from afterd.trace.c.window.replay import WATCH, Reexecution
from afterd.trace.c.window.segment import records_made
from afterd.trace.kept import keep, key_of, outcome_of, taken_up
from afterd.vcs.worktree import Slot, remove_directory

RECORD_BYTES = 16
_MARK = "complete"
_SHIPPED = "shipped"
_STANDING = "standing"  # the paths that were there when the build was done
_REPLAYS = "replays"
_SHOWN = "shown"
_RUN = "run"
_TEST_BUILDS = "test-builds"  # is there if the test compiled something as well


@dataclass(frozen=True, slots=True)
class TraceRequest:
    """What to trace: the variants' trees, and how they are built and tested.

    ``everything`` undone is the good version. ``directory`` is where traced builds live (below
    afterd's state); ``slots`` are the work trees of the good and the bad version, used for nothing
    else. ``hangs``: no variant but the good one has to end by itself.
    ``work`` names the piece of work that takes up what it recorded before it was killed;
    empty: everything is recorded anew.
    """

    tree: Callable[[ChangeSet], str]
    everything: ChangeSet
    slots: tuple[Slot, Slot]
    recipe: Recipe
    toolchain: Toolchain
    directory: Path
    work: str = ""
    hangs: bool = False
    progress: Progress = field(default_factory=Silent)


@dataclass(frozen=True, slots=True)
class Version:
    """A variant that is to be run: its slot and tree, the modules of its build, where its runs go.

    Its build numbered the blocks ``own`` and goes on from one that numbered ``base``, whose test had
    ``inherited`` compiled. ``parked``: its files are beside the slot, and in it only while it runs.
    """

    slot: Slot
    tree: str
    store: ModuleStore
    base: range
    runs: Path
    own: range = range(0)
    inherited: range = range(0)
    parked: Path | None = None

    @property
    def blocks(self) -> int:
        """One more than the highest block id that its build gave out."""
        return self.own.stop or self.base.stop

    def in_place(self) -> AbstractContextManager[None]:
        """Its files are in the slot meanwhile."""
        return self.slot.lent_to(self.parked) if self.parked else nullcontext()


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """The processes of a variant's test, read with the variant's program and its sources; ``shown`` is
    what the test printed, ``outcome`` how it ended. ``version`` is what ran. ``quoted`` are the texts in quotes
    that the test was written with.
    """

    processes: tuple[Process, ...]
    program: Program
    sources: Sources
    preprocessed: Preprocessed
    version: Version
    outcome: Outcome
    shown: str = ""
    quoted: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the test passed."""
        return self.outcome.passed


@dataclass(frozen=True, slots=True)
class ReplacedRun:
    """A run in which one value was to be another: whether it was, whether the test passed, and the ids of
    all blocks that were executed.
    """

    replaced: bool
    passed: bool
    blocks: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Tested:
    seconds: float
    outcome: Outcome


class CRecorder:
    """Records variants; ``seconds`` is what that took so far: builds, side by side, and runs."""

    def __init__(self, request: TraceRequest) -> None:
        self._request = request
        self._others = 0
        self._tested: dict[Path, range] = {}  # what a version's test compiled, by where it ran
        self._longest = 0  # records of a process of either end
        self._endless: set[Path] = set()  # where versions ran that were ended
        self.seconds = 0.0

    def record(self, variant: ChangeSet) -> RecordedRun:
        """The test's run without some changes. Raises TraceError when nothing of it was recorded,
        ToolchainError where afterd's own runtime cannot be compiled.
        """
        if variant and variant == self._request.everything:
            return self._green
        bad, _ = self._ends
        return self._recorded(self._built_on(bad, variant) if variant else bad)

    @cached_property
    def _green(self) -> RecordedRun:
        """The good version's run."""
        return self._recorded(self._ends[1])

    def _stopped(self, version: Version) -> dict[str, str]:
        """What ends a run that makes by far more records than both ends do: undoing half of a change may leave a
        loop that goes round for as long as one waits. Either end itself is ended where nobody would wait for it.
        """
        limits = self._request.recipe.limits.trace
        if self._hangs(version):
            return _ended_after(
                max(process.recording.end for process in self._green.processes) + limits.beyond
            )
        return self._departed() if version.parked else _ended_after(limits.recorded)

    def _departed(self) -> dict[str, str]:
        """What ends a run that should have gone about as an end of the range does."""
        limits = self._request.recipe.limits.trace
        known = limits.of_a_variant(self._longest) if self._longest else limits.recorded
        return _ended_after(min(limits.recorded, known))

    def _wait_no_longer(self, version: Version) -> None:
        """Processes of a run were ended: of a variant that tells that it does not end. Raises TraceError."""
        if not version.parked and not self._hangs(version):
            name, most = self._name(version), self._request.recipe.limits.trace.recorded
            message = f"The {name} run was ended after {most:,} events of one process."
            raise TraceError(message)
        self._endless.add(version.runs)

    def _name(self, version: Version) -> str:
        return "good" if version.slot is self._request.slots[0] else "failing"

    def _hangs(self, version: Version) -> bool:
        """Whether a version's run need not end by itself."""
        return self._request.hangs and version.slot is not self._request.slots[0]

    @cached_property
    def _ends(self) -> tuple[Version, Version]:
        """The bad and the good version, built side by side: a configure script keeps one core busy."""
        request = self._request
        request.progress.stage("building both versions with the tracer")
        sides = ((NOTHING, request.slots[1], "bad"), (request.everything, request.slots[0], "good"))

        def built(side: tuple[ChangeSet, Slot, str]) -> tuple[Version, float]:
            variant, slot, name = side
            tree, directory = request.tree(variant), request.directory / name
            spent, blocks = self._build(tree, slot, directory)
            store = ModuleStore(directory / "build")
            return Version(slot, tree, store, range(blocks), directory / _RUN), spent

        trees = [request.tree(variant) for variant, _, _ in sides]
        assert all(trees)  # made here: a pygit2 repository is used by one thread at a time
        woven = partial(modules_made, request.directory)
        with (
            told_meanwhile(request.progress, woven, "source files compiled for tracing"),
            ThreadPoolExecutor(len(sides)) as both,
        ):
            (bad, first), (good, second) = both.map(built, sides)
        self.seconds += max(first, second)
        return bad, good

    def _build(self, tree: str, slot: Slot, directory: Path) -> tuple[float, int]:
        """Build a tree with afterd-cc, unless that was done before; the seconds it took, and how many
        blocks were numbered.
        """
        request = self._request
        for parked in slot.path.parent.glob(f"{slot.path.name}-*"):
            remove_directory(parked)  # of a run that was killed, or of another recorder
        key = f"{request.recipe.build_key} {request.toolchain.version}"
        standing, numbered = told_by(directory / _MARK, key)
        if standing and slot.tree == standing:
            if standing == tree:
                return 0.0, numbered
            with suppress(TraceError):
                return self._built_further(tree, slot, directory, numbered)
        if directory.exists():
            remove_directory(directory)
        (directory / "build").mkdir(parents=True)
        slot.move_to(tree)
        (directory / _SHIPPED).write_text(json.dumps(checked_out(slot)))
        surroundings = request.recipe.build_in(slot.path).environment
        store = prepare(directory / "build", request.toolchain, surroundings)
        return self._compile(slot, store), self._mark(tree, slot, store)

    def _built_further(
        self, tree: str, slot: Slot, directory: Path, numbered: int
    ) -> tuple[float, int]:
        """The same of another tree's build, which stands there: a shorter range's ends have most of it. What that one's
        test compiled is not gone on from. Raises TraceError.
        """
        store, mark = ModuleStore(directory / "build"), directory / _MARK
        first = store.blocks()
        mark.unlink()
        if (directory / _TEST_BUILDS).exists():
            raise TraceError("What the other tree's test compiled stands there as well.")
        shutil.rmtree(directory / _RUN, ignore_errors=True)
        altered = slot.move_to(tree)
        remove_what_tests_left(slot.path, directory / _STANDING, altered)
        self._settle(slot, directory / _SHIPPED, altered)
        seconds = self._compile(slot, store)
        own = range(first, store.blocks())
        store.keep(built_modules(store, range(numbered), own, range(0), range(0)))
        return seconds, self._mark(tree, slot, store)

    def _mark(self, tree: str, slot: Slot, store: ModuleStore) -> int:
        """Note that a build is whole; how many blocks it numbered."""
        key = f"{self._request.recipe.build_key} {self._request.toolchain.version}"
        directory, blocks = store.directory.parent, store.blocks()
        (directory / _STANDING).write_text(json.dumps(paths_below(slot.path)))
        (directory / _MARK).write_text(f"{tree} {key} {blocks}")
        return blocks

    def _settle(self, slot: Slot, shipped: Path, altered: Sequence[str]) -> None:
        """Let make see what was written into a slot that was built."""
        known = json.loads(shipped.read_text())
        Freshness(slot.path, known).settle(altered, self._request.recipe.words)

    def _compile(self, slot: Slot, store: ModuleStore) -> float:
        """Run the build in a slot with afterd-cc; the seconds it took. Raises TraceError."""
        recipe = self._request.recipe
        if not recipe.build:
            return 0.0
        begin_build(store)
        command = sparing_command(recipe.build_in(slot.path), slot)
        traced = replace(command, environment=environment(store, command.environment))
        result = run(traced, recipe.limits.build, anew=partial(checked_out, slot))
        try:
            if not result.succeeded:
                first = (diagnostics(result.stdout.text(), 1) or result.describe()).strip()
                raise TraceError(f"The traced build with clang fails ({first}).")
            return result.seconds
        finally:
            result.remove()

    def _built_on(self, bad: Version, variant: ChangeSet) -> Version:
        """A variant, made of a copy of the bad version's build. Raises TraceError."""
        self._others += 1
        name = f"{self._others:03d}"  # as long as "run": addresses depend on it
        slot, request = bad.slot, self._request
        parked = slot.path.with_name(f"{slot.path.name}-{name}")
        shutil.copytree(slot.path, parked, symlinks=True)
        tree, first = request.tree(variant), bad.store.blocks()
        made = replace(bad, tree=tree, runs=bad.runs.with_name(name), parked=parked)
        with made.in_place():
            altered = slot.move_to(tree)
            self._settle(slot, bad.runs.with_name(_SHIPPED), altered)
            try:
                self.seconds += self._compile(slot, bad.store)
            except TraceError:
                if not remove_what_tests_left(slot.path, bad.runs.with_name(_STANDING), altered):
                    raise
                self.seconds += self._compile(slot, bad.store)
        own, inherited = range(first, bad.store.blocks()), self._tested.get(bad.runs, range(0))
        return replace(made, own=own, inherited=inherited)

    def _recorded(self, version: Version) -> RecordedRun:
        """A version's test, run once; its recordings can be asked for what came before their window."""
        key = self._key(version)
        told = taken_up(version.runs, key)
        if told is None:
            if not version.parked:  # a variant's come after: those of the bad version are in use
                shutil.rmtree(version.runs.with_name(_REPLAYS), ignore_errors=True)
            first = version.store.blocks()
            name = self._name(version)
            self._request.progress.stage("recording a run of the test", f"the {name} one")
            with version.in_place():
                tested = self._test(version, version.runs)
            compiled = [first, version.store.blocks()]
            if compiled[0] != compiled[1]:
                version.runs.with_name(_TEST_BUILDS).touch()
            ended = asdict(tested.outcome)
            told = {"seconds": tested.seconds, "outcome": ended, "compiled": compiled}
            keep(version.runs, key, told)
        self.seconds += told["seconds"]
        recordings = [Recording(path) for path in recorded_processes(version.runs)]
        if not recordings:
            raise TraceError("The test started no program that was built with afterd-cc.")
        if any(recording.stopped for recording in recordings):
            self._wait_no_longer(version)
        if not version.parked:
            self._longest = max(self._longest, *(recording.end for recording in recordings))
        during = self._tested[version.runs] = range(*told["compiled"])
        modules = built_modules(version.store, version.base, version.own, version.inherited, during)
        program = Program(version.store, version.slot.path.resolve(), modules)
        self._allow_replay(version, recordings)
        place, recipe = version.parked or version.slot.path, self._request.recipe
        return RecordedRun(
            tuple(Process(recording, program) for recording in recordings),
            program,
            Sources((place / recipe.folder).resolve()),
            self._preprocessed(version, place),
            version,
            outcome_of(told["outcome"]),
            (version.runs / _SHOWN).read_text(errors="replace"),
            quoted=quoted_texts(recipe.test, place / recipe.folder),
        )

    def _preprocessed(self, version: Version, place: Path) -> Preprocessed:
        """What the compiler of a version's build makes of its sources, where that stands."""
        limits, built = self._request.recipe.limits.build, version.slot.path.resolve()
        return Preprocessed(version.store.directory, built, place.resolve(), limits)

    def record_replaced(self, run: RecordedRun, replacement: Replacement) -> ReplacedRun:
        """A recorded run once more, with one value another one. Raises TraceError."""
        version = run.version
        runs = version.runs.with_name("set")
        with version.in_place():
            settings = {"AFTERD_RING": "0", **self._departed(), **replacement.settings}
            tested = self._test(version, runs, settings)
        self.seconds += tested.seconds
        recordings = [Recording(path) for path in recorded_processes(runs)]
        return ReplacedRun(
            any(recording.replaced for recording in recordings),
            tested.outcome.passed,
            frozenset(block for recording in recordings for block in recording.executed()),
        )

    def _key(self, version: Version, *more: object) -> str:
        """What a recording of a tree's test depends on; a build's products go with its folder."""
        request = self._request
        command = request.recipe.test_in(version.slot.path)
        surroundings = sorted(command.environment.items())
        build = (version.tree, version.blocks)  # a variant built again has other numbers
        return key_of(request.work, build, command.argv, command.cwd, surroundings, *more)

    def _rerun(self, version: Version, settings: Mapping[str, str]) -> Path:
        """Where another run of a version with these settings was recorded: one that ends by itself is not ended
        where the recording stops, as other processes may wait for it.
        """
        ended = self._hangs(version) or version.runs in self._endless
        settings = {**settings, "AFTERD_STOP_ENDS": str(int(ended))}
        runs = version.runs.with_name("new")
        key = self._key(version, sorted(settings.items()))
        kept = version.runs.with_name(_REPLAYS) / key
        if taken_up(kept, key) is None:
            with version.in_place():
                self._test(version, runs, settings)
            for ring in runs.glob("*/ring") if WATCH in settings else ():  # that is kept apart
                ring.unlink()
            if not key:
                return runs
            keep(runs, key, {})
            shutil.rmtree(kept, ignore_errors=True)
            kept.parent.mkdir(exist_ok=True)
            runs.rename(kept)
        return kept

    def _allow_replay(self, version: Version, recordings: Sequence[Recording]) -> None:
        """Let the recordings that were cut ask for what came before their window, and all of them for
        what another run writes, unless one is too long.
        """
        limits = self._request.recipe.limits.trace
        rerun = partial(self._rerun, version)

        @cache
        def again() -> list[Recording | None]:
            if sum(recording.end for recording in recordings) > limits.reexecuted:
                return [None] * len(recordings)
            others = [*map(Recording, recorded_processes(rerun({"AFTERD_RING": "0"})))]
            for other in others:
                other.output()  # before another run takes its place
            return paired_recordings(recordings, others)

        def repeated(number: int) -> Sequence[Written]:
            """What the process that is this one of the run wrote again."""
            other = again()[number]
            return () if other is None else other.output()

        for number, recording in enumerate(recordings):
            recording.repeated = partial(repeated, number)
            if recording.first:
                recording.replay = Reexecution(
                    rerun,
                    recording.number,
                    limits.reexecutions,
                    limits.reexecuted,
                    limits.recorded,
                )

    def _test(
        self, version: Version, runs: Path, extra: Mapping[str, str] | None = None
    ) -> _Tested:
        """Run the test once with recording switched on, into ``runs`` made anew. Raises TraceError."""
        _made_anew(runs)
        limits = self._request.recipe.limits
        command = self._request.recipe.test_in(version.slot.path)
        settings = {
            "AFTERD_RING": str(limits.trace.window),
            "AFTERD_BLOCKS": f"{version.blocks:012d}",  # as long in every variant, for the same reason
            "AFTERD_NUMBERS": str(version.store.numbers),
            **self._stopped(version),
            **(extra or {}),
        }
        traced = Command(
            command.argv,
            command.cwd,
            {**environment(version.store, command.environment), **recording_into(runs, settings)},
            fixed_addresses=True,
        )
        kept = 4 * limits.trace.window * RECORD_BYTES
        budget: ProcessLimits = replace(
            limits.test,
            timeout=limits.test.timeout * limits.trace.slowdown,
            silence=None,
            file_size=max(limits.test.file_size, kept),
            memory=max(limits.test.memory, kept),
        )
        progress = self._request.progress
        with told_meanwhile(progress, partial(records_made, runs), "events of the traced run"):
            result = run(traced, budget, anew=partial(_made_anew, runs))
        try:
            if result.ending in {Ending.NOT_STARTED, Ending.LOST}:
                message = f"The traced test could not be run ({result.describe()})."
                raise TraceError(message)
            (runs / _SHOWN).write_text(f"{result.stdout.text()}\n{result.stderr.text()}")
            outcome, _ = test_outcome(result, self._request.recipe, version.slot.path)
            return _Tested(result.seconds, outcome)
        finally:
            result.remove()


def _ended_after(records: int) -> dict[str, str]:
    return {"AFTERD_STOP_RECORD": str(records), "AFTERD_STOP_ENDS": "1"}


def _made_anew(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
