"""SIR's larger programs: several faults a folder, each behind a macro of FaultSeeds.h."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from afterd.bench.faulty_places import differing_lines, expanded_lines
from afterd.bench.siemens import faulty_versions
from afterd.bench.siemens_layout import seeds, subject, switched_header
from afterd.cli.bench import command
from afterd.errors import UsageError
from afterd.execution.toolchain import find

PROGRAM = """\
#include "FaultSeeds.h"
#include <stdio.h>
#include <string.h>
#ifdef F_WIDE
#define WIDEST 2
#else
#define WIDEST 5
#endif

static int narrow(const char *word) {
#ifndef F_GONE
    if (word[0] == '#')
        return 1;
#endif
    return strlen(word) < WIDEST;
}

int main(int argc, char **argv) {
    char word[64];
    int count = 0;
    while (scanf("%63s", word) == 1)
#ifdef F_ALL
        count += 1;
#else
        count += narrow(word) == (argc < 2);
#endif
    printf("%d\\n", count);
    return 0;
}
"""
HEADER = """\
#ifndef FAULTSEEDS_H
#define FAULTSEEDS_H
/* #define F_WIDE */
/*#define F_GONE*/
#define F_ALL
#endif
"""
UNIVERSE = """\
-P [-v] -I [../inputs/one]
-P [] -I [../inputs/one]
 < ../inputs/one
-P [-v < ../inputs/two]
-P [-x] -F [../outputs/x]
"""
WRONG = {"v1/F_WIDE": {15}, "v1/F_GONE": {10, 15}, "v1/F_ALL": {23}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    version = tmp_path / "versions.alt" / "versions.seeded" / "v1"
    version.mkdir(parents=True)
    (version / "count.c").write_text(PROGRAM)
    (version / "FaultSeeds.h").write_text(HEADER)
    (tmp_path / "testplans.alt" / "v1").mkdir(parents=True)
    (tmp_path / "testplans.alt" / "v1" / "v0.cov.universe").write_text(UNIVERSE)
    (tmp_path / "inputs").mkdir()
    (tmp_path / "inputs" / "one").write_text("a #bcdefg abcdef abc\n")
    (tmp_path / "inputs" / "two").write_text("abcdef\n")
    return tmp_path


def test_a_fault_a_macro(folder: Path) -> None:
    """The include guard is none; a test that needs more than arguments and an input is left out."""
    found = subject(folder)
    assert [version.name for version in found.versions] == ["v1/F_WIDE", "v1/F_GONE", "v1/F_ALL"]
    one = "-v < ../inputs/one"
    wanted = (one, " < ../inputs/one", " < ../inputs/one", "-v < ../inputs/two")
    assert found.versions[0].tests == wanted
    assert found.folder == folder / "testplans.alt"


@pytest.mark.parametrize("makefile", ["", "build:\n\tgcc -o count.exe count.c\n"])
def test_seeded_faults_are_run(folder: Path, makefile: str, tmp_path: Path) -> None:
    """Golden is the same folder with no macro defined, also where the header defines one."""
    version = folder / "versions.alt" / "versions.seeded" / "v1"
    if makefile:
        (version / "makefile").write_text(makefile)
    found = list(faulty_versions(subject(folder), find(), tmp_path / "scratch"))
    assert {f.name: {line for _, line in f.faulty} for f in found} == WRONG
    assert [f.spectrum.failed.tolist() for f in found] == [
        [True, True, True, False],
        [True, True, True, False],
        [True, True, True, False],
    ]


def test_seeded_faults_are_scored(folder: Path) -> None:
    """All of them."""
    done = CliRunner().invoke(command, ["siemens", str(folder), "--format", "json", "--jobs", "1"])
    assert done.exit_code == 0, done.output
    [row] = [r for r in json.loads(done.stdout)["rows"] if r["technique"] == "ochiai"]
    assert set(row["efforts"]) == set(WRONG)
    assert not row["left_out"]


def test_originals_lie_below_what_is_seeded(folder: Path) -> None:
    """Where the seeded folder holds a part of the program."""
    original = folder / "versions.alt" / "versions.orig" / "v1"
    original.mkdir(parents=True)
    (folder / "versions.alt" / "versions.seeded" / "v1" / "count.c").rename(original / "count.c")
    [version, *_] = subject(folder).versions
    version.faulty.lay(folder / "laid")
    assert (folder / "laid" / "count.c").read_text() == PROGRAM
    assert "#define F_WIDE" in (folder / "laid" / "FaultSeeds.h").read_text()


def test_what_a_macro_changes_is_wrong() -> None:
    """Wherever that is; what is only gone is between its neighbours."""
    golden = {("a.c", 1): "x", ("a.c", 2): "y", ("a.c", 3): "z", ("b.c", 1): "n < 5"}
    assert differing_lines(golden, {**golden, ("b.c", 1): "n < 2"}) == {("b.c", 1)}
    without = {line: text for line, text in golden.items() if line != ("a.c", 2)}
    assert differing_lines(golden, without) == {("a.c", 1), ("a.c", 3)}


def test_lines_are_read_off_the_preprocessor() -> None:
    """Those of headers of the system are nobody's; a line in parts is one."""
    text = '# 1 "a.c"\nint\n# 1 "/usr/include/x.h" 1 3\nfar\n# 3 "./sub/a.c" 2\n x = \n# 3 "sub/a.c"\n1;\n'
    assert expanded_lines(text) == {("a.c", 1): "int", ("sub/a.c", 3): "x =1;"}


@given(
    st.lists(st.tuples(st.from_regex(r"[A-Z]\w{0,8}", fullmatch=True), st.booleans())), st.data()
)
def test_one_fault_is_on(macros: list[tuple[str, bool]], data: st.DataObject) -> None:
    """And the lines stay where they are."""
    header = "".join(f"#define {m}\n" if on else f"/* #define {m} */\n" for m, on in macros)
    names = list(dict.fromkeys(macro for macro, _ in macros))
    assert list(seeds(header)) == names
    wanted = data.draw(st.sampled_from(["", *names]))
    result = switched_header(header, wanted)
    assert set(seeds(result)) == ({wanted} if wanted else set())
    assert len(result.splitlines()) == max(1, len(header.splitlines()))


def test_a_makefile_makes_one_program(folder: Path) -> None:
    """Which of several is meant, nobody says."""
    version = folder / "versions.alt" / "versions.seeded" / "v1"
    makefile = "all:\n\tcc -o one count.c\n\tcc -o two count.c\n"
    (version / "Makefile").write_text(makefile)
    done = CliRunner().invoke(command, ["siemens", str(folder), "--jobs", "1"])
    assert isinstance(done.exception, UsageError)
    assert "2 programs" in str(done.exception)


ENDLESS = """\
#include <stdio.h>
#include <string.h>
#include "FaultSeeds.h"
int main(int argc, char **argv)
{
#ifdef F_ENDLESS
    while (argc > 1 && strcmp(argv[1], "-v") == 0)
        puts("and so on, and so on, and so on, and so on, and so on");
#endif
    printf("%d\\n", argc);
    return 0;
}
"""


def test_a_version_that_prints_without_end_fails_that_test(folder: Path, tmp_path: Path) -> None:
    """The tests behind it are run, and what it printed is not kept."""
    version = folder / "versions.alt" / "versions.seeded" / "v1"
    (version / "count.c").write_text(ENDLESS)
    (version / "FaultSeeds.h").write_text("/* #define F_ENDLESS */\n")
    [found] = faulty_versions(subject(folder), find(), tmp_path / "scratch")
    assert found.spectrum.failed.tolist() == [True, False, False, True]
