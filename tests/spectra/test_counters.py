"""Counted builds: the same behaviour, and counts that were taken by hand."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import INSTALLED
from traced_programs import _PLAIN, PROGRAMS, SINGLE, _driver, run

from afterd.execution.toolchain import Toolchain
from afterd.model.entity import NO_COLUMN, EntityKind
from afterd.spectra.c.build import counting_into, prepared_store
from afterd.spectra.c.counts import Process, processes, summed_counts
from afterd.spectra.c.crash import crashed_in
from afterd.spectra.c.program import CountedProgram, counted_program
from afterd.trace.c.build.modules import ModuleStore
from afterd.trace.c.build.traced_build import environment

SOURCE = """\
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>
static int depth(int n) { return n ? depth(n - 1) + 1 : 0; }
static int classify(int a, int b, int c) {
    if (a > 1 && (b > 2 || c > 3))
        return 1;
    while (a < 10 && b != 7)
        a++;
    switch (c) {
    case 1:
    case 2: return 20;
    case 3: a += 2; break;
    default: a += 3;
    }
    return a;
}
static void follow(int *p) {
    int x = depth(3);
    *p = x;
}
int main(int argc, char **argv) {
    int i, sum = 0;
    for (i = 0; i < 5; i++)
        sum += classify(i, i + 1, i);
    switch (argc > 1 ? argv[1][0] : 0) {
    case 'f':
        if (fork() == 0) {
            sum += classify(9, 9, 9);
            _exit(0);
        }
        wait(NULL);
        break;
    case 'n': follow(NULL); break;
    case 'a': abort();
    case 'e': exit(3);
    case 'k': kill(getpid(), 9); break;
    case 'h': for (i = 0; i < 300; i++) depth(0); break;
    }
    return 0;
}
""".replace(
    "#include <sys", "#include <signal.h>\n#include <sys"
)  # a line more before the first function


class Counted:
    """A counted build of one program."""

    def __init__(self, toolchain: Toolchain, directory: Path, bits: int = 32) -> None:
        self.directory = directory
        self.bits = bits
        self.store: ModuleStore = prepared_store(directory / "build", toolchain, os.environ, bits)

    def build(self, source: str | Path, name: str = "program") -> Path:
        path = Path(source) if isinstance(source, Path) else self.directory / f"{name}.c"
        if not isinstance(source, Path):
            path.write_text(source)
        compiler = "c++" if path.suffix == ".cc" else "cc"
        made = self.directory / name
        line = [compiler, "-w", "-pthread", "-o", str(made), str(path), "-lm"]
        variables = environment(
            self.store, dict(os.environ)
        )  # a compile server ends with a session
        subprocess.run(line, check=True, env=variables, start_new_session=True)
        return made

    def counts(self, program: Path, *arguments: str) -> tuple[int, list[Process]]:
        directory = self.directory / "counts" / ("-".join(arguments) or "none")
        directory.mkdir(parents=True)
        given = {**os.environ, **counting_into(directory)}
        done = subprocess.run([program, *arguments], env=given, check=False, timeout=60)
        return done.returncode, processes(directory, self.bits)

    @property
    def program(self) -> CountedProgram:
        return counted_program(self.store, self.directory)


@pytest.fixture(scope="module", params=sorted(INSTALLED))
def counted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Counted:
    made = Counted(INSTALLED[request.param], tmp_path_factory.mktemp("counted"))
    made.build(SOURCE)
    return made


def by_line(
    found: CountedProgram, ran: list[Process], kind: EntityKind
) -> dict[int, list[tuple[int, int]]]:
    """Line: (executed, held) of the entities on it, in order."""
    counts = summed_counts(ran, found.size)
    lines: dict[int, list[tuple[int, int]]] = {}
    for entity, executed, held in zip(
        found.entities, counts @ found.executed, counts @ found.held, strict=True
    ):
        if entity.kind is kind:
            lines.setdefault(entity.location.line, []).append((int(executed), int(held)))
    return lines


def test_what_writes_a_counted_object_loads_no_matrices() -> None:
    """It is started once a file: scipy and pygit2 were two thirds of what that took."""
    script = (
        "import sys; import afterd.spectra.c.object_code\n"
        "slow = {'numpy', 'scipy', 'pygit2'} & set(sys.modules)\n"
        "sys.exit(str(slow) if slow else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_counts_taken_by_hand(counted: Counted) -> None:
    _, ran = counted.counts(counted.directory / "program")
    statements = by_line(counted.program, ran, EntityKind.STATEMENT)
    executions = {line: [n for n, _ in found] for line, found in statements.items()}
    assert executions[8] == [5, 3, 0]  # a, b, c of the condition
    assert executions[9] == [3]
    assert executions[10] == [2, 21, 19]  # before the loop falls into its head
    assert executions[11] == [19]
    assert executions[14] == [1]
    assert executions[15] == [0]
    assert executions[26] == [1, 6, 5]  # initialised, tested, stepped
    assert 19 not in executions  # a closing brace is no statement
    predicates = by_line(counted.program, ran, EntityKind.PREDICATE)
    assert predicates[8] == [(5, 3)]
    assert predicates[10] == [(21, 19)]
    conditions = by_line(counted.program, ran, EntityKind.CONDITION)
    assert conditions[8] == [(5, 3), (3, 3), (0, 0)]
    assert conditions[10] == [(21, 19), (19, 19)]


def test_a_forked_child_is_counted_by_itself(counted: Counted) -> None:
    status, ran = counted.counts(counted.directory / "program", "f")
    assert (status, len(ran)) == (0, 2)
    own = by_line(counted.program, ran[1:], EntityKind.STATEMENT)
    assert own[9] == [(1, 0)]
    both = by_line(counted.program, ran, EntityKind.STATEMENT)
    assert both[9] == [(4, 0)]


@pytest.mark.parametrize(
    ("argument", "status", "line"),
    [
        ("n", -signal.SIGSEGV, 21),
        ("a", -signal.SIGABRT, 37),
        ("e", 3, 0),
        ("k", -signal.SIGKILL, 0),
    ],
)
def test_how_a_process_ends(counted: Counted, argument: str, status: int, line: int) -> None:
    seen, [ran] = counted.counts(counted.directory / "program", argument)
    assert seen == status
    assert by_line(counted.program, [ran], EntityKind.STATEMENT)[11] == [(19, 0)]
    assert bool(ran.signal) == bool(line)
    found = counted.program
    if line:
        column = crashed_in(found.frames, summed_counts([ran], found.size))
        assert column != NO_COLUMN
        assert found.entities[column].location.line == line


@pytest.mark.parametrize("bits", [8, 16, 64])
def test_a_counter_stops_at_its_largest_value(tmp_path: Path, bits: int) -> None:
    made = Counted(next(iter(INSTALLED.values())), tmp_path, bits)
    _, ran = made.counts(made.build(SOURCE), "h")
    calls = max(n for n, _ in by_line(made.program, ran, EntityKind.STATEMENT)[6])
    assert calls == min(300, 2**bits - 1)


def test_blocks_are_what_flows_in_and_out(counted: Counted) -> None:
    """Every block is left as often as it was begun when the process ends by itself."""
    _, ran = counted.counts(counted.directory / "program", "x")
    found = counted.program
    counts = summed_counts(ran, found.size)
    executed = np.asarray(counts @ found.executed)
    leaving = np.zeros(len(found.entities), np.int64)
    exits = set(range(len(found.entities)))
    for entity, count in zip(found.entities, executed, strict=True):
        if entity.kind is EntityKind.EDGE:
            leaving[entity.source] += count
            exits.discard(entity.source)
    for column, entity in enumerate(found.entities):
        if entity.kind is EntityKind.BLOCK and column not in exits:
            assert leaving[column] == executed[column], entity


@pytest.mark.parametrize("source", SINGLE, ids=lambda path: path.stem)
def test_a_counted_program_behaves_as_it_did(tmp_path: Path, source: Path) -> None:
    toolchain = next(iter(INSTALLED.values()))
    made = Counted(toolchain, tmp_path)
    program, plain = made.build(source), tmp_path / "plain"
    compiler = _driver(toolchain, cxx=source.suffix == ".cc")
    done = run([*compiler, *_PLAIN, "-pthread", "-o", plain, source, "-lm"], PROGRAMS)
    assert (done.status, made.store.opaque()) == (0, ()), done.errors
    (tmp_path / "counts").mkdir()
    counted = run([program], PROGRAMS, counting_into(tmp_path / "counts"))
    assert counted.behaviour == run([plain], PROGRAMS).behaviour
    assert processes(tmp_path / "counts", 32)
