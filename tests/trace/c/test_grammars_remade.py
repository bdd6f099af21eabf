"""What comes of a variant's grammar is made by the program that the build called, and read by the compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from traced_programs import Laboratory

from afterd.limits import Limits
from afterd.model.change import Change, ChangeSet
from afterd.model.location import LineSpan
from afterd.trace.c.build.compilations import compilations
from afterd.trace.c.build.generators import Generators, generations
from afterd.trace.c.build.syntax_check import SyntaxCheck

pytestmark = pytest.mark.skipif(shutil.which("bison") is None, reason="needs bison")

GRAMMAR = """\
%{
#include "tree.h"
int yylex(void);
void yyerror(const char *said);
%}
%token NUMBER
%%
list
  : NUMBER { $$ = leaf($1, 0); }
  | list NUMBER { $$ = leaf($2, 0); }
  ;
%%
void yyerror(const char *said) { (void)said; }
int yylex(void) { return 0; }
"""
TREE = "int leaf(int value, int line);\n"
MAIN = '#include "tree.h"\nint yyparse(void);\nint leaf(int value, int line) { return value + line; }\n'
MAIN += "int main(void) { return yyparse(); }\n"


@pytest.fixture
def slot(tmp_path: Path) -> Path:
    root = tmp_path / "slot"
    root.mkdir()
    for name, text in {"parse.y": GRAMMAR, "tree.h": TREE, "main.c": MAIN}.items():
        (root / name).write_text(text)
    return root


def _built(laboratory: Laboratory, root: Path, script: str) -> None:
    """Run a build's steps, the compiler called cc, with afterd's programs in front of the others."""
    shims = laboratory.store.directory / "bin"
    for note in (laboratory.store.directory / "generators").glob("*"):
        note.unlink()
    environment = {**os.environ, "PATH": f"{shims}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(["sh", "-ec", script], cwd=root, env=environment, check=True)


def _check(laboratory: Laboratory, root: Path, texts: Mapping[str, str]) -> SyntaxCheck:
    span = LineSpan(1, 1)
    changes = {name: Change(name, name, name, span, span) for name in texts}
    directory, limits = laboratory.store.directory, Limits().build

    def texts_of(reverted: ChangeSet) -> dict[str, bytes | None]:
        return {name: texts[name].encode() for name in reverted}

    calls = Generators(root, generations(directory), limits)
    return SyntaxCheck(root, compilations(directory), changes, texts_of, limits, (), calls)


def _against(laboratory: Laboratory, root: Path, texts: Mapping[str, str]) -> str:
    return _check(laboratory, root, texts).against(frozenset(texts))


BUILDS = (
    "bison --verbose -o parse.c parse.y; cc -c parse.c; cc -c main.c",
    "bison -d -y parse.y; mv y.tab.c parse.c; mv y.tab.h parse.h; cc -c parse.c; cc -c main.c",
    # as automake's ylwrap does it
    'mkdir apart; here=$PWD; (cd apart; yacc "$here/parse.y"; sed s/y.tab.c/parse.c/ y.tab.c > ../parse.c);'
    " rm -r apart; cc -c parse.c; cc -c main.c",
    'mkdir out; cd out; bison -o "$PWD/parse.c" ../parse.y; cc -I.. -c parse.c; cc -c ../main.c',
    "bison -o /dev/stdout parse.y > parse.c; cc -c parse.c; cc -c main.c",
    "bison -o /dev/stdout parse.y > parse.c-t && mv parse.c-t parse.c; cc -c parse.c; cc -c main.c",
)


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("leaf($2, 0)", "leaf($2)", "  | list NUMBER { $$ = leaf($2); }"),
        ("leaf($1, 0)", "leaf($1, 1)", ""),
        ("| list NUMBER", "| lists NUMBER", "symbol"),
        ("%token NUMBER", "%token NUMBER OTHER", ""),
    ],
)
def test_what_comes_of_a_grammar_is_compiled_alone(
    laboratory: Laboratory, slot: Path, build: str, before: str, after: str, said: str
) -> None:
    """Icarus Verilog: nothing spoke against parts of a change to its grammar, and 150 were built in vain."""
    _built(laboratory, slot, build)
    changed = GRAMMAR.replace(before, after)
    answer = _against(laboratory, slot, {"parse.y": changed})
    assert said in answer
    assert bool(answer) is bool(said)


def test_a_line_of_the_grammar_is_shown_for_what_was_made_of_it(
    laboratory: Laboratory, slot: Path
) -> None:
    """A header takes a parameter away: the rules that still hand it over are told, as they stand in the grammar."""
    _built(laboratory, slot, BUILDS[0])
    texts = {
        "parse.y": GRAMMAR.replace("leaf($1, 0)", "leaf($1)"),
        "tree.h": "int leaf(int value);\n",
    }
    said = _against(laboratory, slot, texts)
    assert "| list NUMBER { $$ = leaf($2, 0); }" in said
    assert "$1" not in said


def test_what_a_makefile_edits_afterwards_is_left_to_the_build(
    laboratory: Laboratory, slot: Path
) -> None:
    _built(laboratory, slot, "bison -o parse.c parse.y; echo 'int more;' >> parse.c; cc -c parse.c")
    check = _check(laboratory, slot, {"parse.y": GRAMMAR.replace("leaf($2, 0)", "leaf($2)")})
    assert check.against(frozenset({"parse.y"})) == ""


SCANNER = """\
%{
#include "tree.h"
%}
%option noyywrap nounput noinput
%%
[0-9]+  { return leaf(1, 0); }
%%
"""
WORDS = """\
struct word { const char *name; int number; };
%%
first, 1
second, 2
"""
SCANS = (
    '#include "tree.h"\nint yylex(void);\nint leaf(int value, int line) { return value + line; }\n'
)
SCANS += "int main(void) { return yylex(); }\n"
MAKEFILE = "CC = cc\nscans: scans.o scan.o\nscan.o: scan.c tree.h\n"


@pytest.mark.skipif(shutil.which("flex") is None, reason="needs flex")
@pytest.mark.parametrize(
    "build",
    [
        "make -s scans",  # its own rule for a .l: lex -t scan.l > scan.c
        "flex -t < scan.l > scan.c; cc -c scan.c; cc -c scans.c",
        "mkdir out; cd out; flex -o /dev/stdout ../scan.l > new.c; mv new.c scan.c; cc -I.. -c scan.c",
    ],
)
@pytest.mark.parametrize(
    ("after", "said"),
    [("leaf(1)", "return leaf(1); }"), ("leaf(1, 1)", ""), ("leaf(1, 0); ]", "error")],
)
def test_what_a_scanner_generator_prints_is_compiled_alone(
    laboratory: Laboratory, tmp_path: Path, build: str, after: str, said: str
) -> None:
    """Make's own rule has lex print the scanner: nothing spoke against a variant of the .l file."""
    root = tmp_path / "slot"
    root.mkdir()
    texts = {"scan.l": SCANNER, "tree.h": TREE, "scans.c": SCANS, "Makefile": MAKEFILE}
    for name, text in texts.items():
        (root / name).write_text(text)
    _built(laboratory, root, build)
    answer = _against(laboratory, root, {"scan.l": SCANNER.replace("leaf(1, 0)", after)})
    assert said in answer
    assert bool(answer) is bool(said)


@pytest.mark.skipif(shutil.which("gperf") is None, reason="needs gperf")
@pytest.mark.parametrize(
    "build", ["gperf -t words.gperf > words.h", "gperf -t < words.gperf > words.h"]
)
def test_a_table_that_gperf_prints_is_read_by_who_includes_it(
    laboratory: Laboratory, tmp_path: Path, build: str
) -> None:
    root = tmp_path / "slot"
    root.mkdir()
    (root / "words.gperf").write_text(WORDS)
    (root / "main.c").write_text(
        '#include <string.h>\n#include "words.h"\n'
        'int main(void) { return in_word_set("first", 5)->number; }\n'
    )
    _built(laboratory, root, f"{build}; cc -c main.c")
    said = _against(laboratory, root, {"words.gperf": WORDS.replace("int number", "int value")})
    assert "number" in said
    assert not _against(laboratory, root, {"words.gperf": WORDS.replace("second, 2", "third, 3")})


@pytest.mark.skipif(shutil.which("flex") is None, reason="needs flex")
def test_what_is_printed_for_another_program_is_left_to_the_build(
    laboratory: Laboratory, slot: Path
) -> None:
    """A pipe through sed makes something else of it, whatever the header beside it says."""
    (slot / "scan.l").write_text(SCANNER)
    piped = "flex -t --header-file=scan.h scan.l | sed 's/leaf(1, 0)/leaf(1, 2)/' > scan.c"
    _built(laboratory, slot, f"{piped}; cc -c scan.c")
    changed = SCANNER.replace("leaf(1, 0)", "leaf(1)")
    assert _against(laboratory, slot, {"scan.l": changed}) == ""


def test_the_slot_is_left_alone(laboratory: Laboratory, slot: Path) -> None:
    _built(laboratory, slot, BUILDS[0])
    before = {path: path.stat().st_mtime_ns for path in slot.rglob("*")}
    assert _against(laboratory, slot, {"parse.y": GRAMMAR.replace("$2, 0", "$2")})
    assert {path: path.stat().st_mtime_ns for path in slot.rglob("*")} == before
