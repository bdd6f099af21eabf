"""Control parents and potential dependences, checked by hand (AFTER, Algorithm 3 and Fig. 5)."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from traced_programs import PROGRAMS, Built

from afterd.model.term import reads
from afterd.model.trace import StepKind
from afterd.trace.c.read.influence import Influence
from afterd.trace.c.read.process import Process
from afterd.trace.c.read.statements import Statement
from afterd.trace.c.window import records

LINES = {
    found.group(1): number
    for number, text in enumerate((PROGRAMS / "decisions.c").read_text().splitlines(), start=1)
    if (found := re.search(r"/\* ([a-z0-9-]+) \*/$", text))
}
NAMES = {line: name for name, line in LINES.items()}


@pytest.fixture
def process(corpus: dict[str, Built]) -> Process:
    return corpus["decisions"].processes[0]


def at(
    process: Process, name: str, tags: tuple[int, ...] = (records.STORE, records.LSTORE)
) -> Iterator[Statement]:
    """The executions of a line's stores (or branches, or calls), in order."""
    for position in range(process.recording.first, process.recording.end):
        if process.recording.tag(position) in tags:
            statement = process.statements.statement(process.ids.of(position))
            if statement.instance and statement.location.line == LINES[name]:
                yield statement


def parent(process: Process, statement: Statement) -> str:
    """The line of the branch that decided that a statement was executed, with which way it went."""
    step = process.statements.control(statement.step)
    if step is None:
        return ""
    branch = process.statements.statement(step)
    assert branch.kind is StepKind.BRANCH
    return f"{NAMES[branch.location.line]} {branch.value!r}"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("level-defined", [""]),
        ("add", ["odd True"] * 2),
        ("a-defined", ["direct True"]),
        ("case-2", ["switch True"]),
        ("both-body", ["both True"]),
        ("body", ["", *["do-while True"] * 1]),
        ("early-result", ["early-out False"]),
    ],
)
def test_a_statement_hangs_on_the_branch_that_decided_it(
    process: Process, name: str, expected: list[str]
) -> None:
    assert [parent(process, statement) for statement in at(process, name)] == expected


def test_a_branch_in_a_loop_hangs_on_the_loop_and_that_on_its_last_round(process: Process) -> None:
    branches = list(at(process, "odd", (records.BLOCK,)))
    assert [branch.value for branch in branches] == [False, True, False, True]
    assert [parent(process, branch) for branch in branches] == ["loop True"] * 4
    rounds = list(at(process, "loop", (records.BLOCK,)))
    conditions = [
        branch for branch in rounds if branch.term.sort.width == 0 and list(reads(branch.term))
    ]
    assert [parent(process, branch) for branch in conditions] == ["", *["loop True"] * 4]


def test_a_call_of_a_function_hangs_on_what_decided_the_call(process: Process) -> None:
    leaving = list(at(process, "leaves", (records.CALL,)))
    assert [parent(process, call) for call in leaving] == ["last True"]
    inside = list(at(process, "adjust-guard", (records.BLOCK,)))
    assert [parent(process, branch) for branch in inside] == ["", ""]


def influences(process: Process, use: Statement, name: str) -> set[str]:
    """The lines of the branches that could have redefined what a use read from a line."""
    influence = Influence(process)
    found: set[str] = set()
    for read in reads(use.term):
        definition = process.statements.statement(read.step)
        if definition.location.line == LINES[name]:
            for step in influence.between(use.step, read.step):
                found.add(NAMES[process.statements.statement(step).location.line])
    return found


def test_figure_5(process: Process) -> None:
    use = next(at(process, "figure-use", (records.RETURN,)))
    assert influences(process, use, "b-defined") == {"indirect", "around"}  # not: "not-executed"
    assert influences(process, use, "a-defined") == set()


def test_branches_in_functions_that_were_called_in_between_count(process: Process) -> None:
    use = next(at(process, "global-use"))
    assert influences(process, use, "level-defined") == {"adjust-guard"}
    assert influences(process, use, "depth-defined") == {"adjust-negative"}


def test_every_executed_side_that_leads_around_a_store_counts(process: Process) -> None:
    use = next(at(process, "loop-result", (records.RETURN,)))
    assert influences(process, use, "loops-defined") == {"far", "odd", "loop"}


def test_a_variable_of_one_function_is_not_that_of_another(process: Process) -> None:
    """Both functions have a variable ``picked``; only one of them stores to it in the other's time."""
    use = next(at(process, "outer-use", (records.RETURN,)))
    assert influences(process, use, "outer-defined") == set()
