"""SAT-TAR on a failed Python test: the numbers written in it are the input, green is the oracle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from afterd.errors import TraceError
from afterd.localization.formula.sat_tar import Round
from afterd.localization.votes.python_failures import built_version, request_of
from afterd.localization.votes.python_trials import PythonTrial, PythonTrials
from afterd.localization.votes.sat_tar_rounds import rounds_of
from afterd.localization.votes.votes import Counted, NoVoteError
from afterd.logic import Statement, TooLargeError
from afterd.symbolic import NotLiftedError, lifted_test
from afterd.trace.python.stage import PythonTraceRequest

_TRIED = 4


@dataclass(frozen=True, slots=True)
class TestedPython:
    """SAT-TAR's rounds on a Python test. ``place`` is the failed test's file."""

    trials: PythonTrials
    rounds: Sequence[Round]

    @property
    def kept(self) -> list[PythonTrial]:
        """The failed test first, then those that were chosen; without those that show nothing."""
        runs = [run for run in self.rounds[-1].runs if isinstance(run, PythonTrial)]
        return [run for run in runs if run.shown.values]

    def module(self) -> str:
        """The tests as a module for pytest, whose place is beside the failed test's."""
        cases = [(trial.numbers, trial.shown) for trial in self.kept]
        said = (
            f"Made by afterd rank --emit-tests from {self.trials.place}, beside which it belongs; "
            + ", ".join(
                f"{at} {'fails' if trial.violated else 'passes'}"
                for at, trial in enumerate(self.kept)
            )
        )
        return f'"""{said}."""\n\n{self.trials.test.expecting(cases)}'


def tested_python(counted: Counted) -> TestedPython:
    """SAT-TAR's rounds on the first failed test with numbers that matter. Raises NoVoteError."""
    refused = "no test failed"
    names = [run.name for run in counted.spectrum.shortest_failed]
    for name in names[:_TRIED]:
        try:
            return _tested_python(counted, name)
        except (NotLiftedError, TooLargeError, TraceError) as reason:
            refused = str(reason).rstrip(".")
    raise NoVoteError(f"No test can be generated: {refused}.")


def _tested_python(counted: Counted, name: str) -> TestedPython:
    """Raises NotLiftedError, TooLargeError, TraceError."""
    assert counted.wanted is not None
    bad = built_version(counted, counted.tree, "bad")
    good = built_version(counted, counted.wanted.variants.good, "good")
    place, test = _located_test(name, bad)

    def request(module: Path) -> PythonTraceRequest:
        return request_of(counted, counted.suite.test(_module_test(name, module)))

    files = {entity.location.file for entity in counted.spectrum.entities}
    source = (bad / place).read_text(errors="surrogateescape")
    trials = PythonTrials(lifted_test(source, test), bad, good, place, request, files)
    first = next(trials.on([trials.test.numbers]), None)
    if first is None or not first.violated:
        raise NotLiftedError(f"{name} shows the same in both versions when it is written anew")
    subject = trials.subject(first)

    def suspect(statement: Statement) -> bool:
        return statement.line in first.lines

    return TestedPython(trials, rounds_of(counted, subject, first, trials, suspect))


def _located_test(name: str, tree: Path) -> tuple[Path, str]:
    """The file of a test in the tree, and its name there: pytest's id, or unittest's dotted name."""
    file, found, test = name.partition("::")
    if found:
        return Path(file), test
    *module, holder, function = name.split(".")
    wanted = PurePath(*module).with_suffix(".py") if module else PurePath(name)
    for path in sorted(tree.rglob(wanted.name)):
        if path.relative_to(tree).match(str(wanted)):
            return path.relative_to(tree), f"{holder}::{function}"
    raise NotLiftedError(f"the file of {name} is not known")


def _module_test(name: str, module: Path) -> str:
    """What a runner calls the module that stands beside the one of the test ``name``."""
    if "::" in name:
        return str(module)
    *package, _, _, _ = name.split(".")
    return ".".join((*package, module.stem))
