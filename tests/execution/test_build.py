"""Builds that are incremental and never stale, with real make and a real compiler."""

from __future__ import annotations

import dataclasses
import os
import shutil
from pathlib import Path

import pytest
from trees_and_slots import Workshop, compiler, needs_make

from afterd.execution.build import Builder, Built, diagnostics, missing_tool
from afterd.execution.process import Command, ProcessResult
from afterd.execution.recipe import Recipe
from afterd.execution.runners import detect
from afterd.execution.sandbox import run
from afterd.limits import Limits, ProcessLimits

LIMITS = dataclasses.replace(Limits(), build=ProcessLimits(timeout=60.0, grace=0.2))

MAKE = Recipe(("true",), ("make",), limits=LIMITS)

# A makefile as people write them: objects depend on their source and on nothing else.
MAKEFILE = """\
CFLAGS = -DLIMIT=1
objects = $(patsubst %.c,%.o,$(wildcard *.c))
prog: libx.a
\t$(CC) -o prog libx.a
libx.a: $(objects)
\tar rc libx.a $(objects)
%.o: %.c
\techo compiled $< >> log
\t$(CC) $(CFLAGS) -c -o $@ $<
"""
FILES = {
    "Makefile": MAKEFILE,
    "value.h": "#define VALUE 1\n",
    "all.h": '#include "value.h"\n',
    "main.c": '#include <stdio.h>\nint value(void), limit(void);\n'
    'int main(void) { printf("%d %d\\n", value(), limit()); return 0; }\n',
    "value.c": '#include "all.h"\nint value(void) { return VALUE; }\n',
    "limit.c": "int limit(void) { return LIMIT; }\n",
}  # fmt: skip


class Bench:
    """A slot with a builder, and what the built program prints."""

    def __init__(self, folder: Path) -> None:
        self.workshop = Workshop(folder)
        self.slot = self.workshop.slot()
        self.recipe = Recipe(("true",), ("make", f"CC={compiler()}"), limits=LIMITS)
        self.builder = Builder(self.slot)

    def build(self, **changed: str | None) -> Built:
        """Build FILES with some changed or (None) left out; underscores stand for points."""
        files = {name.replace("__", "."): text for name, text in changed.items()}
        wanted = {name: text for name, text in (FILES | files).items() if text is not None}
        return self.builder.build(self.recipe, self.workshop.tree(wanted))

    def test(self, limits: ProcessLimits = LIMITS.build) -> ProcessResult:
        return self.builder.test(self.recipe.test_in(self.slot.path), limits)

    def printed(self) -> str:
        command = Command(("./prog",), self.slot.path, os.environ)
        result = run(command, ProcessLimits(timeout=10.0), scratch=self.workshop.folder)
        return result.stdout.text().strip()

    def compiled(self) -> set[str]:
        """What was compiled since the last question."""
        log = self.slot.path / "log"
        lines = log.read_text().split("\n") if log.exists() else []
        log.unlink(missing_ok=True)
        return {line.removeprefix("compiled ") for line in lines if line}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


pytestmark = needs_make


def test_only_what_changed_is_built(bench: Bench) -> None:
    assert bench.build().ok
    assert bench.compiled() == {"main.c", "value.c", "limit.c"}
    assert bench.build(limit__c="int limit(void) { return 7; }\n").ok
    assert bench.compiled() == {"limit.c"}
    assert bench.printed() == "1 7"


def test_the_tree_that_is_built_already_is_not_built_again(bench: Bench) -> None:
    assert bench.build().ran
    assert not bench.build().ran
    assert bench.build(value__h="#define VALUE 2\n").ran


def test_a_header_that_make_knows_nothing_of(bench: Bench) -> None:
    """Without the guard the old object stays, and a guilty header looks innocent."""
    bench.build()
    bench.compiled()
    for value in (2, 3, 2):
        assert bench.build(value__h=f"#define VALUE {value}\n").ok
        assert bench.printed() == f"{value} 1"
        assert bench.compiled() == {"value.c"}


def test_make_alone_would_have_been_stale(bench: Bench) -> None:
    """The negative control: the same move, built without settling, shows the old value."""
    bench.build()
    bench.slot.move_to(bench.workshop.tree(FILES | {"value.h": "#define VALUE 2\n"}))
    run(bench.recipe.build_in(bench.slot.path), LIMITS.build, scratch=bench.workshop.folder)
    assert bench.printed() == "1 1"


def test_flags_in_the_makefile(bench: Bench) -> None:
    bench.build()
    assert bench.build(Makefile=MAKEFILE.replace("LIMIT=1", "LIMIT=5")).ok
    assert bench.printed() == "1 5"


def test_a_removed_source_leaves_the_archive(bench: Bench) -> None:
    """`ar r` never forgets a member: with limit.c gone the program must not link."""
    assert bench.build().ok
    assert not bench.build(limit__c=None).ok
    assert bench.build().ok
    assert bench.printed() == "1 1"


def test_a_failed_build_does_not_spoil_the_next(bench: Bench) -> None:
    bench.build()
    failed = bench.build(value__h="#define VALUE 2\n", limit__c="int limit(void) { return x; }\n")
    assert (failed.ok, failed.lasting) == (False, True)
    assert "undeclared" in failed.detail
    assert bench.build(value__h="#define VALUE 2\n").ok
    assert bench.printed() == "2 1"


def test_a_build_that_was_killed_is_not_trusted(bench: Bench) -> None:
    """A killed compiler leaves half an object, younger than its source."""
    bench.build()
    slow = MAKEFILE.replace("\techo", "\techo half > $@; sleep 60; echo")
    hasty = dataclasses.replace(LIMITS, build=ProcessLimits(timeout=0.3, grace=0.1))
    usual, bench.recipe = bench.recipe, dataclasses.replace(bench.recipe, limits=hasty)
    killed = bench.build(Makefile=slow)
    assert (killed.ok, killed.lasting) == (False, False)
    assert killed.detail.startswith("the build ran longer than its time limit")
    bench.recipe = usual
    assert bench.build().ok
    assert bench.printed() == "1 1"


def test_the_next_session_goes_on_where_this_one_stopped(bench: Bench) -> None:
    bench.build()
    bench.compiled()
    bench.builder = Builder(bench.workshop.slot())
    assert bench.build(value__h="#define VALUE 4\n").ok
    assert bench.compiled() == {"value.c"}
    assert bench.printed() == "4 1"


def test_a_slot_moved_by_somebody_else_is_built_from_the_sources(bench: Bench) -> None:
    bench.build()
    bench.workshop.slot().move_to(bench.workshop.tree(FILES | {"value.h": "#define VALUE 9\n"}))
    bench.builder = Builder(bench.workshop.slot())
    assert bench.build(value__h="#define VALUE 9\n").ok
    assert bench.printed() == "9 1"


def test_another_command_does_not_use_these_objects(bench: Bench) -> None:
    bench.build()
    other = (*bench.recipe.build, "CFLAGS=-DLIMIT=8")
    bench.recipe = dataclasses.replace(bench.recipe, build=other)
    assert bench.build().ok
    assert bench.printed() == "1 8"


def test_shipped_parsers_stay_newer_than_their_grammars(tmp_path: Path) -> None:
    """A release tarball has parser.c beside parser.y, and nobody has bison."""
    workshop = Workshop(tmp_path)
    slot = workshop.slot()
    rule = "parser.c: parser.y\n\tno-such-bison\nconfigure: configure.ac\n\tno-such-autoconf\n"
    files = {"Makefile": "all: parser.c configure\n" + rule, "parser.c": "int p;\n"}
    files |= {"configure": "#!/bin/sh\n", "configure.ac": "AC_INIT\n", "parser.y": "%%\n"}
    recipe = Recipe(("true",), ("make",), limits=LIMITS)
    builder = Builder(slot)
    assert builder.build(recipe, workshop.tree(files)).ok
    for name in ("parser.y", "configure.ac", "parser.c", "Makefile"):
        files[name] += "\n"
        assert builder.build(recipe, workshop.tree(files)).ok, name


def test_what_is_shipped_with_an_input_of_any_name_is_not_made_again(tmp_path: Path) -> None:
    """Mawk has array.c beside array.w, of which noweb makes it; a checkout writes array.w last."""
    workshop = Workshop(tmp_path)
    files = {f"between{n}.txt": f"{n}\n" for n in range(500)}
    files |= {"Makefile": "array.c: zarray.w\n\tno-such-weaver\n", "array.c": "int a;\n"}
    builder = Builder(workshop.slot())
    for text in ("one\n", "two\n"):
        files |= {"zarray.w": text, "array.c": f"int a; /* {text} */", "between0.txt": text}
        assert builder.build(MAKE, workshop.tree(files)).ok


def test_a_parser_that_a_build_made_is_made_again_for_another_grammar(tmp_path: Path) -> None:
    """Automake's rule with AM_MAINTAINER_MODE makes none where there is one."""
    workshop = Workshop(tmp_path)
    slot = workshop.slot()
    rules = "parser.c: parser.y\n\ttest -f parser.c || cp parser.y parser.c\n"
    files = {"Makefile": f"out: parser.c\n\tcp parser.c out\n{rules}", "parser.y": "one\n"}
    recipe = Recipe(("true",), ("make",), limits=LIMITS)
    builder = Builder(slot)
    for content in ("one\n", "two\n"):
        assert builder.build(recipe, workshop.tree(files | {"parser.y": content})).ok
        assert (slot.path / "out").read_text() == content
    held = files | {"parser.c": "held\n"}
    for content in ("two\n", "three\n", "four\n"):
        assert builder.build(recipe, workshop.tree(held | {"parser.y": content})).ok
        assert (slot.path / "out").read_text() == "held\n"


def test_a_parser_of_another_name_is_made_again(tmp_path: Path) -> None:
    """``bison && mv y.tab.c ytab.c``, and a rule that make drops as circular once the file is there."""
    workshop = Workshop(tmp_path)
    rules = 'ytab.c:\n\techo "#line 1 \\"gram.y\\"" | cat - gram.y > ytab.c\n'
    makefile = f"out: gram.y ytab.c\n\ttail -n 1 ytab.c > out\n{rules}"
    builder = Builder(workshop.slot())
    for content in ("one\n", "two\n"):
        files = {"Makefile": makefile, "gram.y": content, "other.c": "int other;\n"}
        assert builder.build(MAKE, workshop.tree(files)).ok
        assert (builder.slot.path / "out").read_text() == content
    for content in ("three\n", "four\n"):
        held = {"ytab.c": '#line 1 "gram.y"\nheld\n', "gram.y": content, "Makefile": makefile}
        assert builder.build(MAKE, workshop.tree(held)).ok
        assert (builder.slot.path / "out").read_text() == "held\n"


def test_a_build_that_only_fails_on_products_of_another_version_is_made_from_nothing(
    tmp_path: Path,
) -> None:
    """A version that cannot be built is a grave thing to say of a slot that held another one."""
    workshop = Workshop(tmp_path)
    rules = "made:\n\tcp word made\n"
    makefile = f"out: made word\n\tcmp word made\n\techo x >> log\n\tcp made out\n{rules}"
    builder = Builder(workshop.slot())
    for content in ("one\n", "two\n", "three\n"):
        built = builder.build(MAKE, workshop.tree({"Makefile": makefile, "word": content}))
        assert built.ok, built.detail
        assert (builder.slot.path / "out").read_text() == content
    assert not builder.build(MAKE, workshop.tree({"Makefile": "none:\n\tfalse\n"})).ok


def test_where_versions_build_upon_each_other_a_failure_is_believed(bench: Bench) -> None:
    assert bench.build().ok
    assert bench.build(limit__c="int limit(void) { return 2 * LIMIT; }\n").ok
    bench.compiled()
    assert not bench.build(limit__c="int limit(void) { return 2 * LIMIT }\n").ok
    assert bench.compiled() == {"limit.c"}


def test_a_list_of_headers_that_another_version_left_is_no_reason_to_fail(tmp_path: Path) -> None:
    """The slot held a variant of the bad version, so that the first move was a small one and went well: nasm's
    good version was then said not to build, as a list of dependencies named a header of the bad one's.
    """
    workshop = Workshop(tmp_path)
    makefile = "out: depends\n\ttouch out\ndepends:\n\techo out: *.h > depends\n-include depends\n"
    bad = {"Makefile": makefile, "a.h": "", "b.h": ""}
    good = {"Makefile": makefile, "a.h": ""}
    variant = bad | {"b.h": "// as it was\n"}
    assert Builder(workshop.slot()).build(MAKE, workshop.tree(variant)).ok
    builder = Builder(workshop.slot())
    for files in (bad, good, bad):
        built = builder.build(MAKE, workshop.tree(files))
        assert built.ok, built.detail


def test_what_a_build_left_that_was_cut_short_is_no_reason_to_fail(tmp_path: Path) -> None:
    """An autogen.sh that was interrupted had made its configure, and not yet what that needs."""
    workshop = Workshop(tmp_path)
    slot = workshop.slot()
    slow = tmp_path / "slow"
    slow.touch()
    made = f"test -e configure || {{ : > configure; test ! -e {slow} || sleep 9; : > compile; }}"
    recipe = Recipe(("true",), ("sh", "-c", f"{made}; test -e compile"), limits=LIMITS)
    hasty = dataclasses.replace(LIMITS, build=ProcessLimits(timeout=0.5, grace=0.1))
    tree = workshop.tree({"configure.ac": ""})
    assert not Builder(slot).build(dataclasses.replace(recipe, limits=hasty), tree).ok
    slow.unlink()
    assert Builder(slot).build(recipe, tree).ok


def test_a_configure_that_was_not_made_whole_is_made_again(tmp_path: Path) -> None:
    """Autoconf writes one although a macro is missing; the user installs that, and types it again."""
    workshop = Workshop(tmp_path)
    installed = tmp_path / "installed"
    makes = f"test -e {installed} && echo 'echo all: > Makefile' || {{ echo AX_MACRO'('; false; }}"
    autogen = f"({makes}) > configure; status=$?; chmod +x configure; exit $status\n"
    files = {"configure.ac": "AC_INIT\n", "Makefile.am": "", "autogen.sh": autogen}
    tree, slot = workshop.tree(files), workshop.slot()
    slot.move_to(tree)
    recipe = Recipe(("true",), detect(slot.path).build, limits=LIMITS)
    assert not Builder(slot).build(recipe, tree).ok
    installed.touch()
    built = Builder(slot).build(recipe, tree)
    assert built.ok, built.detail


@pytest.mark.parametrize(
    ("mode", "printed"),
    [("AM_MAINTAINER_MODE", "two\n"), ("# AM_MAINTAINER_MODE", "one\n")],
)
def test_what_automake_would_keep_is_configured_anew(
    tmp_path: Path, mode: str, printed: str
) -> None:
    """Where Automake's rules see to it themselves, nothing is done twice."""
    workshop = Workshop(tmp_path)
    slot = workshop.slot()
    made = "test -x configure || { cp Makefile.am configure; chmod +x configure; }"
    recipe = Recipe(
        ("true",),
        ("sh", "-c", f"set -e; {made}; test -f Makefile || sh configure > Makefile; make"),
        limits=LIMITS,
    )
    builder = Builder(slot)
    for word in ("one", "two"):
        inputs = {"Makefile.am": f"printf 'all:\\n\\techo {word} > out\\n'\n"}
        assert builder.build(recipe, workshop.tree(inputs | {"configure.ac": f"{mode}\n"})).ok
    assert (slot.path / "out").read_text() == printed


ABSENT = "int absent(void);\nint main(void) { return absent(); }\n"


@pytest.mark.parametrize(
    ("command", "source", "said", "missing"),
    [
        ("$(CC) -c a.c", "int f( {\n", "error", ""),
        ("$(CC) -Werror=unused -c a.c", "void f(void) { int x; }\n", "unused", ""),
        ("$(MAKE) absent.o", "", "No rule to make target", ""),
        ("no-such-cc -c a.c", "", "no-such-cc", "no-such-cc"),
        ("/no/such/cc -c a.c", "", "/no/such/cc", "/no/such/cc"),
        ("$(CC) -o a a.c -lm", ABSENT, "absent", ""),
    ],
)
def test_what_a_failed_build_says(
    tmp_path: Path, command: str, source: str, said: str, missing: str
) -> None:
    workshop = Workshop(tmp_path)
    tree = workshop.tree({"Makefile": f"a.o: a.c\n\t{command}\n", "a.c": source})
    recipe = Recipe(("true",), ("make", f"CC={compiler()}"), limits=LIMITS)
    built = Builder(workshop.slot()).build(recipe, tree)
    assert not built.ok
    assert said in built.detail
    assert (built.missing, built.lasting) == (missing, True)
    assert len(built.detail.splitlines()) <= 20


def test_a_build_command_that_does_not_exist(tmp_path: Path) -> None:
    workshop = Workshop(tmp_path)
    recipe = Recipe(("true",), ("no-such-make",), limits=LIMITS)
    built = Builder(workshop.slot()).build(recipe, workshop.tree({"a": ""}))
    assert (built.ok, built.missing) == (False, "no-such-make")
    assert "could not be started" in built.detail


def test_a_test_that_builds_is_not_fooled_by_a_header(bench: Bench) -> None:
    """`make check` without a build command: of three values each was once the one before it."""
    bench.recipe = dataclasses.replace(bench.recipe, build=(), test=bench.recipe.build)
    for value in (1, 2, 3, 1):
        assert not bench.build(value__h=f"#define VALUE {value}\n").ran
        bench.test()
        assert bench.printed() == f"{value} 1"
    assert bench.compiled() == {"main.c", "value.c", "limit.c"}
    bench.build(value__h="#define VALUE 2\n")
    bench.test()
    assert bench.compiled() == {"value.c"}


HALF = MAKEFILE.replace(
    "\techo", "\t[ -e whole ] || { : > $@; touch whole; kill -9 $$PPID; }; echo"
)


def test_what_a_killed_test_left_half_built_is_made_again(bench: Bench) -> None:
    """Its compiler had opened an object; the run that is made again linked what it found."""
    bench.recipe = dataclasses.replace(bench.recipe, build=(), test=bench.recipe.build)
    bench.build(Makefile=HALF)
    assert bench.test().succeeded
    assert bench.printed() == "1 1"


@pytest.mark.parametrize("ended", ["by its limit", "with afterd"])
@pytest.mark.parametrize("builds", [True, False], ids=["a build", "no build"])
def test_what_an_ended_test_left_half_built_is_made_again(
    bench: Bench, ended: str, builds: bool
) -> None:
    """Nobody makes it again at once; the next one in this slot would take it for whole."""
    test = ("sh", "-c", f"rm -f *.o; : > value.o; {'sleep 60' if ended == 'by its limit' else ':'}")
    build = bench.recipe.build
    bench.recipe = dataclasses.replace(bench.recipe, build=build if builds else (), test=test)
    bench.build()
    if ended == "with afterd":  # as a process that was killed leaves it
        record = bench.slot.path.with_name(f"{bench.slot.path.name}.build")
        record.write_text(record.read_text().replace('"testing": false', '"testing": true'))
        (bench.slot.path / "value.o").write_text("")
        bench.builder = Builder(bench.workshop.slot())
    else:
        bench.test(ProcessLimits(timeout=0.3, grace=0.1))
    bench.recipe = dataclasses.replace(bench.recipe, test=build)
    bench.build()
    assert bench.test().succeeded
    assert bench.printed() == "1 1"


def test_a_refusal_names_files_as_the_repository_does(bench: Bench) -> None:
    """CMake hands every compiler whole paths, and nobody's change is of a file in a slot."""
    makefile = MAKEFILE.replace("-o $@ $<", "-o $@ $(CURDIR)/$<")
    refused = bench.build(Makefile=makefile, limit__c="int limit(void) { return none; }\n")
    assert refused.detail.startswith("limit.c:")


def test_what_a_linker_misses_is_shown_where_it_is_used(bench: Bench) -> None:
    """Macros make other names of those in the source, and a linker knows only what they made."""
    pasted = "#define OWN(x) own_##x\nint OWN(none)(void);\nint limit(void) {\n  return OWN(none)();\n}\n"
    recipe = dataclasses.replace(bench.recipe, build=(*bench.recipe.build, "CFLAGS=-g -DLIMIT=1"))
    bench.recipe = recipe
    refused = bench.build(limit__c=pasted)
    assert (
        "limit.c:4: undefined reference to `own_none'\n    4 |   return OWN(none)();"
        in refused.detail
    )


def test_without_a_build_command_the_slot_is_only_moved(tmp_path: Path) -> None:
    workshop = Workshop(tmp_path)
    slot = workshop.slot()
    assert Builder(slot).build(Recipe(("true",)), workshop.tree({"a": "text"})) == Built(
        ok=True, ran=False
    )
    assert (slot.path / "a").read_text() == "text"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cc -Werror a.c\na.c:1: warning: x\na.c:2: error: y\n  2 | z\nmake: *** [a.o]", 2),
        ("checking for error.h... not found\nconfigure: no error: go on\nld: cannot find -lx", 2),
        ("Compiling\nerror[E0308]: mismatched types\n --> src/main.rs:2:5", 1),
        (
            "-- *** Also shared\n-- Looking for x - not found\n/usr/bin/ld: a.c:2: undefined reference to `x'",
            2,
        ),
        ("touch: x: No such file or directory\ncc a.c\na.c:2: error: y\n  2 | z", 2),
        (
            "-- Looking for x - not found\n/bin/sh: 1: bison: not found\nmake: *** [a.c] Error 127",
            1,
        ),
        ("one\ntwo\nthree\n", 1),
        ("", 0),
    ],
)
def test_diagnostics_begin_at_the_first_error(text: str, expected: int) -> None:
    """``expected`` is the first line kept; without an error the last lines are. CMake's own talk is none, and what a
    compiler or a linker refuses tells more than what may only have been said in passing.
    """
    assert diagnostics(text, 2).splitlines() == text.splitlines()[expected : expected + 2]


@pytest.mark.parametrize(
    ("line", "tool"),
    [
        ("make: gcc: No such file or directory", "gcc"),
        ("make[2]: cc: No such file or directory", "cc"),
        ("sh: 1: cmake: not found", "cmake"),
        ("/bin/sh: 3: meson: not found", "meson"),
        ("bash: line 1: ninja: command not found", "ninja"),
        ("sh: line 1: clang: command not found", "clang"),
        ("env: ‘python2’: No such file or directory", "python2"),
        ("configure: error: no acceptable C compiler found in $PATH", "C compiler"),
        ("  No CMAKE_C_COMPILER could be found.", "CMAKE_C_COMPILER"),
        ("error: linker `cc` not found", "linker"),
        (
            'Can\'t exec "autopoint": No such file or directory at Autom4te/FileUtils.pm',
            "autopoint",
        ),
        (
            "meson.build:8:0: ERROR: Meson version is 1.0.1 but project requires >= 1.2.0",
            "Meson >= 1.2.0",
        ),
        (
            "  CMake 3.28 or higher is required.  You are running version 3.25.1",
            "CMake 3.28 or higher",
        ),
        (
            "configure.ac:3: error: Autoconf version 2.72 or higher is required",
            "Autoconf version 2.72 or higher",
        ),
        ("go: go.mod requires go >= 1.21 (running go 1.19.8)", "go >= 1.21"),
        (
            "error: package `x v1.0.0` cannot be built because it requires rustc 1.96 or newer, while",
            "rustc 1.96 or newer",
        ),
        ('meson.build:5:6: ERROR: Dependency "gtk-doc" not found, tried pkgconfig', "gtk-doc"),
        (
            "meson.build:9:7: ERROR: Dependency lookup for glib-2.0 with method 'pkgconfig' failed:"
            " Invalid version, need 'glib-2.0' ['>= 2.80'] found '2.74.6'.",
            "glib-2.0 >= 2.80",
        ),
        (
            "meson.build:7:8: ERROR: Program 'gi-docgen' not found or not executable",
            "gi-docgen",
        ),
        (
            "configure: error: Package requirements (libxml-2.0 >= 3) were not met:",
            "libxml-2.0 >= 3",
        ),
        ("a.c:1:10: fatal error: x.h: No such file or directory", ""),
        ("make: *** No rule to make target 'x'.  Stop.", ""),
    ],
)
def test_a_missing_tool_is_told_from_a_missing_file(line: str, tool: str) -> None:
    assert missing_tool(f"cc -c x.c\n{line}\nmake: *** [all] Error 127\n") == tool


def test_a_file_that_git_ignores_is_put_where_a_tree_has_none(tmp_path: Path) -> None:
    """A project's version file; where a tree has one of its own, that stays."""
    workshop = Workshop(tmp_path)
    without, with_one = (
        workshop.tree({"shop/__init__.py": "", **more}) for more in ({}, {"shop/_version.py": "1"})
    )
    slot = workshop.slot()
    recipe = Recipe(("true",), generated={"shop/_version.py": "2", "gone/_version.py": "2"})
    for tree, text in ((without, "2"), (with_one, "1"), (without, "2")):
        assert Builder(slot).build(recipe, tree).ok
        assert (slot.path / "shop/_version.py").read_text() == text
    assert not (slot.path / "gone").exists()


_CRATE = '[package]\nname = "{}"\nversion = "1.0.0"\nedition = "2021"\n{}'
_CRATES = {
    "Cargo.toml": _CRATE.format("calc", '[dependencies]\nneeded = "1"\n'),
    ".cargo/config.toml": '[source.crates-io]\nreplace-with = "here"\n[source.here]\ndirectory = "vendor"\n',
    "src/lib.rs": "pub fn sum() -> i32 { needed::one() + 1 }\n#[test] fn it() { assert_eq!(sum(), 2); }\n",
    "vendor/needed/Cargo.toml": _CRATE.format("needed", ""),
    "vendor/needed/.cargo-checksum.json": '{"files": {}, "package": null}',
    "vendor/needed/src/lib.rs": "pub fn one() -> i32 { 1 }\n",
}


@pytest.mark.skipif(shutil.which("cargo") is None, reason="no Cargo")
def test_cargo_builds_what_a_crate_depends_on_once(tmp_path: Path) -> None:
    """Criterion and what it needs, 170 objects, were compiled for each end, each command and each try (httparse)."""
    workshop = Workshop(tmp_path)
    builder = Builder(workshop.slot())
    build = ("cargo", "test", "--no-run", "--offline")
    whole = Recipe(("true",), build, limits=LIMITS)
    alone = dataclasses.replace(whole, build=(*build, "--tests"))
    tree = workshop.tree(_CRATES)
    broken = workshop.tree({**_CRATES, "src/lib.rs": "pub fn sum() -> i32 { needed::two() }\n"})
    assert builder.build(whole, tree).ok
    deps = builder.slot.path / "target/debug/deps"
    needed, made = next(deps.glob("libneeded-*.rlib")), next(deps.glob("libcalc-*.rlib"))
    before = [path.stat().st_mtime_ns for path in (needed, made)]
    assert builder.build(alone, tree).ok
    assert not builder.build(alone, broken).ok
    assert builder.build(alone, tree, anew=True).ok
    assert builder.build(whole, tree).ok
    after = [path.stat().st_mtime_ns for path in (needed, made)]
    assert (after[0] == before[0], after[1] > before[1]) == (True, True)
    assert "two" in builder.build(whole, broken).detail


_LINKED = """\
LIBS = -Llib -lamount
all: lib/libamount.a prog
lib/libamount.a: lib/amount.c
\tcc -c -o lib/amount.o lib/amount.c && ar rcs $@ lib/amount.o
prog: prog.o
\tcc -o prog prog.o $(LIBS)
"""


@needs_make
def test_a_library_that_is_handed_to_the_linker_as_an_option_is_in_the_program(
    tmp_path: Path,
) -> None:
    """Libite's tests have it in AM_LDFLAGS, and ran with the code of another version: "flaky"."""
    compiler()
    workshop = Workshop(tmp_path)
    builder = Builder(workshop.slot())
    files = {
        "Makefile": _LINKED,
        "lib/amount.c": "int amount(void) { return 3; }\n",
        "prog.c": "int amount(void);\nint main(void) { return amount(); }\n",
    }
    for amount in (3, 4, 3):
        text = f"int amount(void) {{ return {amount}; }}\n"
        assert builder.build(MAKE, workshop.tree({**files, "lib/amount.c": text})).ok
        ran = run(Command(("./prog",), builder.slot.path, {}), LIMITS.test, scratch=tmp_path)
        assert ran.status == amount
