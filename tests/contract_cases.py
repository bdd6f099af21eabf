"""The contract of a tracer: the same small cases in every language, and runs of any two variants.

``compare/contract`` holds a case a file, ``NAME.c`` and ``NAME.python``. A line that begins with ``-``
is only in the good version, with ``+`` only in the bad one. Of the changes, those with ``root`` in a
comment break the case; all others are harmless: they move lines, or say the same in other words.
What a line's comment says is true wherever the root is all that two variants differ in: ``13 was 42``,
it gave 13, and 42 in the other run; ``differs``, it may be said to differ. All other lines do not.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from two_versions import steps_behind, write_versions

from afterd.compare.c.execution import CTracer, LlvmExecution
from afterd.compare.pair import Runs
from afterd.compare.python.execution import PythonTracer
from afterd.execution.environment import scrubbed_environment
from afterd.execution.recipe import Recipe
from afterd.execution.toolchain import Toolchain
from afterd.model.change import ChangeId, ChangeList, ChangeSet
from afterd.model.term import StepId
from afterd.model.trace import Execution, Predicate, Step
from afterd.trace.c.read.steps import StepIds
from afterd.trace.c.recorder import TraceRequest
from afterd.trace.python.recorder import RecordedRun as PythonRun
from afterd.trace.python.stage.runner import PythonTraceRequest
from afterd.vcs.diff import changes_between
from afterd.vcs.kinds import FileRules
from afterd.vcs.repository import open_repository, resolve
from afterd.vcs.variants import Variants
from afterd.vcs.worktree import Slot

CASES = Path(__file__).parent / "compare/contract"
NAMES = sorted(path.stem for path in CASES.glob("*.python"))
LANGUAGES = ("c", "python")
_SUFFIX = {"c": "c", "python": "py"}
_SAID = re.compile(r"(-?\d+|true|false) was (-?\d+|true|false)")


@dataclass(frozen=True)
class Said:
    """What two runs say of one case: its failures, and every step behind them."""

    execution: Execution
    failures: tuple[Predicate, ...]
    text: tuple[str, ...]  # of the case's file in the variant that is explained

    @cached_property
    def behind(self) -> Mapping[StepId, Step]:
        """The steps behind the failures."""
        return steps_behind(self.execution, self.failures)

    @cached_property
    def met(self) -> set[ChangeId]:
        """The changes that the steps behind the failures lead to."""
        found = {change for step in self.behind.values() for change in step.changes}
        return found | {change for step in self.behind for change in self.execution.omitted(step)}

    @property
    def named(self) -> set[ChangeId]:
        """Every change that is named anywhere."""
        return self.met | {*self.execution.executed_changes()} | {*self.execution.conduct()}

    def line(self, step: Step) -> str:
        """The line of a step, with its comment."""
        at = step.location.line
        return self.text[at - 1] if 0 < at <= len(self.text) else ""

    def expected(self) -> dict[str, tuple[object, object]]:
        """The lines of which both values are said, with them."""
        found = ((line, _SAID.search(line)) for line in self.text)
        return {line: (_value(s[1]), _value(s[2])) for line, s in found if s}


def _value(word: str) -> object:
    return word == "true" if word in {"true", "false"} else int(word)


class Laboratory:
    """A commit that breaks every case in every language, and the runs of its variants."""

    def __init__(self, directory: Path, toolchain: Toolchain) -> None:
        where = directory / "repository"
        where.mkdir(parents=True)
        write_versions(where, CASES)
        repository = open_repository(where)
        good, bad = resolve(repository, "HEAD~1"), resolve(repository, "HEAD")
        self.changes: ChangeList = changes_between(repository, good, bad, FileRules())
        self.variants = Variants(repository, good, bad, self.changes)
        self.roots = frozenset(each.id for each in self.changes.changes if "root" in each.patch)
        self.everything = self.changes.ids
        self.directory = directory
        self.request = TraceRequest(
            self.variants.tree,
            self.everything,
            (self._slot("good"), self._slot("bad")),
            Recipe(test=("sh", "run.sh"), build=("make",)),
            toolchain,
            directory / "trace",
        )
        self._c = Runs(CTracer(self.request), self.changes.changes)
        self._c_said: dict[tuple[ChangeSet, ChangeSet], LlvmExecution] = {}
        self._python: dict[str, Runs[PythonRun]] = {}

    @staticmethod
    def written_in(language: str) -> set[str]:
        """The cases there are in a language."""
        return {path.stem for path in CASES.glob(f"*.{language}")}

    def of_case(self, language: str, name: str) -> ChangeSet:
        """The changes of a case."""
        file = f"{name}.{_SUFFIX[language]}"
        return frozenset(each.id for each in self.changes.changes if each.file == file)

    def root(self, language: str, name: str) -> ChangeSet:
        """Those that break it."""
        return self.of_case(language, name) & self.roots

    def _slot(self, name: str) -> Slot:
        return Slot(self.directory / name / "tree", self.variants.store)

    def said(self, language: str, name: str, mine: ChangeSet, other: ChangeSet) -> Said:
        """What a case says in one language, beside another variant."""
        told = self._of_c if language == "c" else self._of_python
        execution, failures = told(name, mine, other)
        return Said(execution, failures, self._text(f"{name}.{_SUFFIX[language]}", mine))

    def _of_c(
        self, name: str, mine: ChangeSet, other: ChangeSet
    ) -> tuple[Execution, tuple[Predicate, ...]]:
        if (mine, other) not in self._c_said:
            pair = self._c.pair(mine, other)
            self._c_said[mine, other] = CTracer(self.request).execution(pair)
        execution = self._c_said[mine, other]
        own = {
            number
            for number, pair in execution._pairs.items()
            if pair.bad.recording.arguments[1] in {name, f"{name}_reading"}
        }
        found = execution.failures()
        return execution, tuple(each for each in found if StepIds.process(each.step) in own)

    def _of_python(
        self, name: str, mine: ChangeSet, other: ChangeSet
    ) -> tuple[Execution, tuple[Predicate, ...]]:
        runs = self._python.get(name)
        if runs is None:
            request = PythonTraceRequest(
                (sys.executable, f"{name}.py"),
                scrubbed_environment(),
                self.directory / "python" / name,
            )
            tracer = PythonTracer(request, self._placed, self.variants.tree)
            runs = self._python[name] = Runs(tracer, self.changes.changes)
        execution = runs.execution(mine, other)
        return execution, tuple(execution.failures())

    def _placed(self, variant: ChangeSet) -> Path:
        slot = self._slot("good-python" if variant == self.everything else "bad-python")
        slot.move_to(self.variants.tree(variant))
        return slot.path

    def _text(self, file: str, undone: ChangeSet) -> tuple[str, ...]:
        slot = self._slot("texts")
        slot.move_to(self.variants.tree(undone))
        return tuple((slot.path / file).read_text().splitlines())
