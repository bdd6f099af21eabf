"""Generated tests as files that a project can keep: C programs, or a file for pytest.

A test case starts the program under test with the generated input and compares what it prints and
its exit status with what should be.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from string import Template

from afterd.localization.votes.generated_tests import GeneratedTest

C, PYTEST = FORMS = ("c", "pytest")
_MODULE = "test_afterd.py"


def write_tests(tests: Sequence[GeneratedTest], directory: Path, form: str) -> None:
    """Write a C file a test, or one file for pytest, into ``directory``, which is made."""
    if form == PYTEST:
        write_module(pytest_source(tests), directory)
        return
    directory.mkdir(parents=True, exist_ok=True)
    for number, test in enumerate(tests, start=1):
        (directory / f"afterd_test_{number}.c").write_text(c_source(test))


def write_module(text: str, directory: Path) -> None:
    """Write a module for pytest into ``directory``, which is made."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / _MODULE).write_text(text, errors="surrogateescape")


def pytest_source(tests: Sequence[GeneratedTest]) -> str:
    """A test a case; a skipped one where the program under test is not there."""
    cases = "".join(
        f"    ({list(test.given.arguments)!r}, {test.given.stdin!r}, {test.output!r}, {test.status}),"
        f"  # {'passes' if test.passes else 'fails'}\n"
        for test in tests
    )
    return _PYTEST.substitute(program=repr(tests[0].program if tests else ""), cases=cases)


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

_PYTEST = Template('''\
"""Made by afterd rank --emit-tests; a comment says what a case did on the version that was ranked.

The program under test is AFTERD_PROGRAM, or what the suite started.
"""

import os
import subprocess
from pathlib import Path

import pytest

PROGRAM = os.environ.get("AFTERD_PROGRAM", $program)
CASES = [
$cases]


@pytest.mark.skipif(not Path(PROGRAM).exists(), reason="build the program, or name it in AFTERD_PROGRAM")
@pytest.mark.parametrize(("arguments", "given", "output", "status"), CASES)
def test_generated(arguments: list, given: bytes, output: bytes, status: int) -> None:
    done = subprocess.run(
        [PROGRAM, *arguments], input=given, stdout=subprocess.PIPE, check=False, timeout=60
    )
    assert done.returncode == status
    if output is not None:
        assert done.stdout == output
''')
