"""Tests that SAT-TAR makes of a failed one, and as C test cases that a project can keep.

A test case is a program that starts the program under test with the generated input and compares
what it prints and its exit status with what the good version shows; without a good version only
the exit status is known to have to be 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from string import Template

from afterd.localization.formula.sat_tar import Round, sat_tar
from afterd.logic.program_formula import TooLargeError
from afterd.pipeline.ranking.formula_programs import FailingInput, failing_inputs
from afterd.pipeline.ranking.memory import NoVoteError
from afterd.pipeline.ranking.votes import Counted
from afterd.tracing.program.refusal import NotFollowedError
from afterd.tracing.program.strings import printed
from afterd.tracing.program.trials import Trial, Trials
from afterd.tracing.program.world import Input

MOST = 8
"""Tests that are generated of one failed test."""

SECONDS = 30.0
"""Of the solver's CPU time."""


@dataclass(frozen=True, slots=True)
class GeneratedTest:
    """An input of ``program``, and what it should show; ``output`` is None where that is not known."""

    program: str
    given: Input
    output: bytes | None
    status: int
    passes: bool


def generated_tests(counted: Counted) -> list[GeneratedTest]:
    """The failed test's own input first, then those that SAT-TAR chose. Raises NoVoteError."""
    (failing,) = failing_inputs(counted, 1)
    trials = Trials(failing.run, failing.good)
    first = trials.on(failing.run.given)
    if first is None:
        raise NoVoteError("No test can be generated: the good version cannot be followed.")
    try:
        rounds = sat_tar(
            failing.run, first, trials, counted.memory.solver(SECONDS), failing.suspect,
            lambda done: done.generated < MOST,
        )  # fmt: skip
    except TooLargeError as refused:
        raise NoVoteError(f"No test can be generated: {refused}.") from refused
    made = (_expected(failing, trial) for trial in _runs(rounds))
    return [test for test in made if test is not None]


def _runs(rounds: list[Round]) -> list[Trial]:
    return [run for run in rounds[-1].runs if isinstance(run, Trial)]


def _expected(failing: FailingInput, trial: Trial) -> GeneratedTest | None:
    """The test; None where what the good version prints is no text that repeats (an address)."""
    program = failing.invocation.argv[0]
    if failing.good is None:
        return GeneratedTest(program, trial.given, None, 0, not trial.failed)
    try:
        shown = failing.good.run(trial.given)
        output = b"".join(printed(event.what, event.values) for event in shown.events)
    except (NotFollowedError, TypeError, ValueError):
        return None
    if shown.status is None:
        return None
    return GeneratedTest(program, trial.given, output, shown.status, not trial.failed)


def write_tests(tests: list[GeneratedTest], directory: Path) -> None:
    """Write a C file a test into ``directory``, which is made."""
    directory.mkdir(parents=True, exist_ok=True)
    for number, test in enumerate(tests, start=1):
        (directory / f"afterd_test_{number}.c").write_text(c_source(test))


def c_source(test: GeneratedTest) -> str:
    """A test case: exit status 0 where the program does what it should, else 1."""
    known = test.output is not None
    return _CASE.substitute(
        state="passes" if test.passes else "fails",
        program=_literal(test.program.encode(errors="surrogateescape")),
        arguments="".join(
            f"{_literal(word.encode(errors='surrogateescape'))}, " for word in test.given.arguments
        ),
        input=_literal(test.given.stdin),
        input_size=len(test.given.stdin),
        output=_literal(test.output or b""),
        output_size=len(test.output or b""),
        compared=int(known),
        status=test.status,
    )


def _literal(data: bytes) -> str:
    """A C string; every byte that is not plain in octal, three digits, so that none runs on."""
    plain = (chr(b) if 32 <= b < 127 and b not in b'"\\?' else f"\\{b:03o}" for b in data)
    return '"' + "".join(plain) + '"'


_CASE = Template(r"""/* Made by afterd rank --emit-tests. It $state on the version that was ranked.
 * Build it with any C compiler; its argument is the program under test (default: as it was run). */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char input[] = $input;
static const char expected[] = $output;
enum { INPUT = $input_size, EXPECTED = $output_size, COMPARED = $compared, STATUS = $status };

int main(int argc, char **argv)
{
    char *program = argc > 1 ? argv[1] : $program;
    char *command[] = {program, $arguments 0};
    static char shown[EXPECTED + 2];
    size_t size = 0;
    ssize_t got;
    int ends[2], status;
    FILE *given = tmpfile();
    if (!given || fwrite(input, 1, INPUT, given) != INPUT || fflush(given) || pipe(ends)) return 2;
    rewind(given);
    pid_t child = fork();
    if (child < 0) return 2;
    if (child == 0) {
        dup2(fileno(given), 0);
        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        execv(program, command);
        _exit(127);
    }
    close(ends[1]);
    while ((got = read(ends[0], shown + size, sizeof shown - size)) > 0)
        if ((size += (size_t)got) > EXPECTED) size = EXPECTED + 1;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != STATUS) {
        puts("another exit status");
        return 1;
    }
    if (COMPARED && (size != EXPECTED || memcmp(shown, expected, EXPECTED))) {
        puts("another output");
        return 1;
    }
    return 0;
}
""")
