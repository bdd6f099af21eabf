"""The programs that failed tests ran, as inputs whose formulas can be asked for (C).

A counted build keeps the IR of its modules, and a counted run notes how each program was started.
What the program should have shown is what the good version shows on the same input; without a
range only its assertions and its exit status say that it failed.

The failed tests of a counted suite as what formula-based techniques ask, whatever the language.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path, PurePath

from afterd.execution.toolchain import find
from afterd.limits import FormulaLimits
from afterd.localization.formula.several_inputs import explained_runs
from afterd.localization.formula.subject import Subject
from afterd.localization.spectrum import Run
from afterd.localization.votes.python_failures import recorded_tests
from afterd.localization.votes.same_run import CountedLines
from afterd.localization.votes.votes import Counted, NoVoteError
from afterd.logic import Branch, ProgramFormula, Statement, formula_suspecting
from afterd.model.change import FileKind
from afterd.model.entity import Invocation
from afterd.spectra.c import counted_build
from afterd.symbolic import (
    Bounds,
    Expectation,
    FailingRun,
    Image,
    Input,
    NotFollowedError,
    Program,
    TooLongError,
)
from afterd.trace.c.build.modules import Module, ModuleStore
from afterd.vcs.kinds import kind_of
from afterd.vcs.worktree import Slot

BOUNDS = Bounds(instances=300_000)
"""A run that is longer takes more than seconds to execute with terms."""

_LIMITS = FormulaLimits()
_LIBTOOL = "lt-"
_NOT_SEEN = "does what it should when it is executed from its IR"
_NOT_KNOWN = (
    "ends with status 0 and breaks no assertion: only a RANGE says what it should have shown"
)


@dataclass(slots=True)
class FailingInput:
    """A failing run in which only the program itself can be wrong, not the tests' own files.

    ``good`` is the good version's program; None where no range was given.
    """

    run: FailingRun
    counted: Counted
    invocation: Invocation
    good: Program | None = None

    @property
    def length(self) -> int:
        """See ``several_inputs.Run``."""
        return self.run.length

    @property
    def extent_repaired(self) -> int:
        """See ``several_inputs.Run``."""
        return self.run.extent_repaired

    def on_demand(self, explored: Collection[Branch], /) -> ProgramFormula:
        """See ``formula.subject.Subject``."""
        return formula_suspecting(self.run.on_demand(explored), self.suspect)

    def all_paths(self, most: int = 0, /) -> ProgramFormula:
        """See ``formula.subject.Subject``."""
        return formula_suspecting(self.run.all_paths(most), self.suspect)

    def paths_leaving_once(self) -> ProgramFormula:
        """See ``formula.subject.Subject``."""
        return formula_suspecting(self.run.paths_leaving_once(), self.suspect)

    def trace(self) -> ProgramFormula:
        """See ``formula.subject.Subject``."""
        return formula_suspecting(self.run.trace(), self.suspect)

    def force_less(self) -> bool:
        """See ``formula.subject.Subject``."""
        return self.run.force_less()

    def doubt_premises(self) -> bool:
        """See ``formula.subject.Subject``."""
        return self.run.doubt_premises()

    def windows(self) -> Sequence[int]:
        """See ``formula.subject.Subject``."""
        return self.run.windows()

    def extent(self) -> int:
        """See ``formula.subject.Subject``."""
        return self.run.extent()

    def look_back(self, window: int, /) -> None:
        """See ``formula.subject.Subject``."""
        self.run.look_back(window)

    def suspect(self, statement: Statement) -> bool:
        """Whether a statement may be wrong."""
        if (
            self.counted.options.invariant
            and statement.location.function == self.counted.options.invariant
        ):
            return False
        rules = self.counted.workspace.rules
        return kind_of(statement.location.file, rules) is not FileKind.TEST


def failing_inputs(counted: Counted, most: int = _LIMITS.inputs) -> list[FailingInput]:
    """Some failed tests' programs that fail when they are executed from their IR as well.

    They are executed once in a ranking; each caller has runs of its own, which it may narrow.
    Raises NoVoteError where there is none, and the errors of building the good version.
    """
    found = counted.memory.once("failing inputs", lambda: _found_inputs(counted))
    over = counted.memory.over
    return [
        replace(
            failing, run=FailingRun(run.program, run.given, run.expectation, run.shown, over=over)
        )
        for failing in found[:most]
        for run in [failing.run]
    ]


def _found_inputs(counted: Counted) -> list[FailingInput]:
    folder = counted.workspace.state / "counted"
    faulty = _Programs(
        ModuleStore(folder / "c" / "build"), (folder / "tree").resolve(), counted.options.invariant
    )
    good = _good_programs(counted, folder)
    refused = ["no failed test started a program that was built with the project"]
    found = explained_runs(_followed_inputs(counted, faulty, good, refused), _LIMITS)
    if not found:
        raise NoVoteError(f"There is no formula of a failed test: {refused[-1]}.")
    return found


def _followed_inputs(
    counted: Counted, faulty: _Programs, good: _Programs | None, refused: list[str]
) -> Iterator[FailingInput]:
    """The runs that can be followed and fail, the shortest first; why others cannot is noted in ``refused``."""
    for test, invocation in _started_programs(counted):
        try:
            failing = _failing(faulty, good, invocation, CountedLines(counted.spectrum, test))
        except TooLongError as reason:  # and so are those that follow
            refused.append(f"{invocation.argv[0]} cannot be followed ({reason})")
            return
        except NotFollowedError as reason:
            refused.append(f"{invocation.argv[0]} cannot be followed ({reason})")
            continue
        if failing is None:
            refused.append(f"{invocation.argv[0]} {_NOT_SEEN if good else _NOT_KNOWN}")
            continue
        oracle = None if good is None else good.of(invocation)
        yield FailingInput(failing, counted, invocation, oracle)


def _started_programs(counted: Counted) -> Iterator[tuple[Run, Invocation]]:
    """What the failed tests started, each once, and the test; the shortest first."""
    seen: set[Invocation] = set()
    for run in counted.spectrum.shortest_failed:
        for invocation in run.invocations:
            if invocation not in seen:
                seen.add(invocation)
                yield run, invocation


def _good_programs(counted: Counted, folder: Path) -> _Programs | None:
    if counted.wanted is None:
        return None
    slot = Slot(folder / "good", counted.workspace.objects)
    tree = counted.wanted.variants.good
    made = counted_build(counted.suite.recipe, tree, slot, find(), folder / "c-good")
    return _Programs(made.store, made.root, counted.options.invariant)


def _failing(
    faulty: _Programs, good: _Programs | None, invocation: Invocation, counts: CountedLines
) -> FailingRun | None:
    """The run; None where it does not fail. Raises NotFollowedError."""
    given = _input(invocation)
    program = faulty.of(invocation)
    expected = cache(partial(_expected, good, invocation, given))
    shown = program.run(given, expected)
    counts.check(shown)
    expectation = expected()
    return FailingRun(program, given, expectation, shown) if shown.fails(expectation) else None


def _expected(good: _Programs | None, invocation: Invocation, given: Input) -> Expectation:
    """What the good version shows, or an exit status of 0. Raises NotFollowedError."""
    if good is None:
        return Expectation(None, 0)
    try:
        return good.of(invocation).run(given).expectation
    except NotFollowedError as reason:
        raise NotFollowedError(f"in the good version: {reason}") from reason


def _input(invocation: Invocation) -> Input:
    """Standard input from a device (/dev/null, a terminal) is empty; what came through a pipe is gone."""
    path = Path(invocation.stdin)
    folder = Path(invocation.folder) if invocation.folder else None
    if path.is_absolute() and path.is_file():
        return Input(invocation.argv[1:], path.read_bytes(), folder=folder)
    known = invocation.stdin.startswith("/dev/")
    return Input(invocation.argv[1:], stdin_known=known, folder=folder)


class _Programs:
    """The programs of a counted build, by the module that has their ``main``."""

    def __init__(self, store: ModuleStore, root: Path, invariant: str = "") -> None:
        self._invariant = invariant
        self._modules = {(m.directory, m.source): m for m in store.modules()}  # the last build's
        self._root = root
        self._loaded: dict[Path, Program] = {}

    def of(self, invocation: Invocation) -> Program:
        """The program that was started. Raises NotFollowedError where it is not known."""
        main = self._main(Path(invocation.argv[0]).name.removeprefix(_LIBTOOL))
        if main.ir not in self._loaded:
            rest = [m for m in self._modules.values() if not _has_main(m)]
            texts = [module.ir.read_text(errors="surrogateescape") for module in (main, *rest)]
            self._loaded[main.ir] = Program(
                Image(texts, self._root), bounds=BOUNDS, invariant=self._invariant
            )
        return self._loaded[main.ir]

    def _main(self, name: str) -> Module:
        """The one module with a ``main``, or the one whose source is called like the program."""
        found = [m for m in self._modules.values() if _has_main(m)]
        if len(found) > 1:
            found = [m for m in found if Path(m.source).stem == Path(name).stem]
        if len(found) != 1:
            raise NotFollowedError(f"which sources {name} was made of is not known")
        return found[0]


def _has_main(module: Module) -> bool:
    return any(function.name == "main" for function in module.functions)


def failing_subjects(counted: Counted) -> list[Subject]:
    """Some failed tests. Raises NoVoteError where there is none that can be followed."""
    if is_of_python(counted):
        return list(recorded_tests(counted, FormulaLimits().inputs))
    return list(failing_inputs(counted))


def lacks_subjects(counted: Counted) -> str:
    """Whether the failed tests can be recorded, or executed from their IR, at all."""
    runs = [run for run in counted.spectrum.runs if run.failed]
    if not runs or is_of_python(counted) or any(run.invocations for run in runs):
        return ""
    return "a failed test that runs a C program"


def is_of_python(counted: Counted) -> bool:
    """Whether what was counted is Python."""
    entities = counted.spectrum.entities
    return bool(entities) and PurePath(entities[0].location.file).suffix in {".py", ".pyi"}
