"""One step of a failing run given what the other run had: the traced program really runs again with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from conftest import INSTALLED
from two_versions import committed, sides

from afterd.compare.c.execution import CTracer, LlvmExecution
from afterd.compare.pair import Runs
from afterd.execution.recipe import Recipe
from afterd.model.change import NOTHING, ChangeList
from afterd.model.term import StepId
from afterd.model.trace import Alignment, Step, StepKind, Trial
from afterd.trace.c.recorder import TraceRequest
from afterd.vcs.diff import changes_between
from afterd.vcs.kinds import FileRules
from afterd.vcs.repository import open_repository, resolve
from afterd.vcs.variants import Variants
from afterd.vcs.worktree import Slot

PROGRAM = Path(__file__).parent / "intervened.c"


@dataclass(frozen=True)
class Case:
    """A function of the program that the good version passes: the last step of the line with ``text`` that
    differs is given what it had there.
    """

    name: str
    text: str
    expected: Trial
    kind: StepKind = StepKind.ASSIGN


CASES = (
    Case("local", "int size = n *", Trial.PASSES),
    Case("field", "box->size = n *", Trial.PASSES),
    Case("real", "double half = n *", Trial.PASSES),
    Case("result", "return n +", Trial.PASSES),
    Case("library", "long value = strtol(text", Trial.PASSES, StepKind.OPAQUE),
    Case("written", "snprintf(text", Trial.PASSES, StepKind.OPAQUE),
    Case("condition", "if (n", Trial.PASSES, StepKind.BRANCH),
    Case("instance", "if (at ==", Trial.PASSES, StepKind.BRANCH),  # far behind the ring's first lap
    Case("chosen", "switch (n", Trial.PASSES, StepKind.BRANCH),
    Case("missing", "const char *name =", Trial.PASSES),
    Case("not_enough", "int twice = n *", Trial.FAILS),
    Case("crashing", "int divisor = n -", Trial.FAILS),
    Case("elsewhere", "int limit = n -", Trial.ELSEWHERE),
    Case("address", "int *place = ", Trial.NOT_RUN),
    Case("copied", "struct pair copy = ", Trial.NOT_RUN),
)


@dataclass(frozen=True)
class Laboratory:
    """Both versions, to be traced by each test with a command of its own."""

    request: TraceRequest
    changes: ChangeList

    def execution(self, name: str) -> LlvmExecution:
        """A case's failing run beside the good one."""
        recipe = replace(self.request.recipe, test=("./cases", name))
        tracer = CTracer(replace(self.request, recipe=recipe))
        pair = Runs(tracer, self.changes.changes).pair(NOTHING, self.changes.ids)
        return tracer.execution(pair)


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    directory = tmp_path_factory.mktemp("intervened")
    good, bad = sides(PROGRAM.read_text())
    makefile = "cases: cases.c\n\t$(CC) cases.c -o cases\n"
    versions = [{"cases.c": text, "Makefile": makefile} for text in (good, bad)]
    committed(directory / "repository", versions)
    repository = open_repository(directory / "repository")
    first, last = resolve(repository, "HEAD~1"), resolve(repository, "HEAD")
    changes = changes_between(repository, first, last, FileRules())
    variants = Variants(repository, first, last, changes)
    slots = (Slot(directory / "good", variants.store), Slot(directory / "bad", variants.store))
    recipe = Recipe(test=("./cases",), build=("make",))
    zig = INSTALLED.get("zig") or next(iter(INSTALLED.values()))
    request = TraceRequest(variants.tree, changes.ids, slots, recipe, zig, directory / "trace")
    return Laboratory(request, changes)


def _steps(execution: LlvmExecution) -> Iterator[Step]:
    """The steps of the one process, the last first."""
    (pair,) = execution._pairs.values()
    recording = pair.bad.recording
    for position in range(recording.end - 1, recording.first - 1, -1):
        found = [s for s in pair.bad.ids.cells if pair.bad.ids.position(s) == position]
        for step in [pair.bad.ids.of(position), *found]:
            try:
                pair.bad.statements.statement(step)
            except KeyError:
                continue
            yield execution.step(step)


def _last_differing(execution: LlvmExecution, case: Case) -> StepId:
    for failure in execution.failures():
        execution.step(failure.step)
    return next(
        step.id
        for step in _steps(execution)
        if case.text in step.text
        and step.kind is case.kind
        and step.green.alignment is Alignment.DIFFERENT
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_step_is_given_what_the_other_run_had(case: Case, laboratory: Laboratory) -> None:
    """The program is run again with it, and what that tells is told."""
    execution = laboratory.execution(case.name)
    assert execution.trial(_last_differing(execution, case)) is case.expected
