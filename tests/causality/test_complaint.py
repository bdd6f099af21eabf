"""What a compiler and a linker say, read."""

from __future__ import annotations

import pytest
from made_changes import change

from afterd.causality.complaint import added_lines, complaint, symbols

CLANG = """\
src/name.c:70:84: error: too few arguments to function call, expected 6, have 5
  status = expand(aptr, abuf, alen, &question, &len);
           ~~~~~~                                   ^
src/private.h:361:5: note: 'expand' declared here
   12 | int expand(const unsigned char *encoded, int is_hostname);
      |     ^
"""


def test_a_complaint_speaks_of_names_files_and_the_lines_it_shows() -> None:
    about = complaint(CLANG)
    assert about.names == {"expand"}
    assert about.is_in("deep/src/name.c")
    assert not about.is_in("src/other.c")
    assert about.lines == {
        "status = expand(aptr, abuf, alen, &question, &len);",
        "int expand(const unsigned char *encoded, int is_hostname);",
    }


def test_the_line_that_a_linker_speaks_of_is_shown() -> None:
    said = "src/a.c:7: undefined reference to `own_f'\n    7 |   return OWN(f)();\ncollect2: error: ld\n"
    assert complaint(said).lines == {"return OWN(f)();"}


@pytest.mark.parametrize(
    "said",
    [
        "CMake Error: File config.h.in does not exist.\n",
        "CMake Error at CMakeLists.txt:8 (add_library):\n  Cannot find source file:\n\n    lib/config.h.in\n",
        "make: *** No rule to make target 'config.h.in', needed by 'config.h'.  Stop.\n",
        "a.c:1:10: fatal error: lib/config.h.in: No such file or directory\n",
        "cp: cannot stat 'config.h.in': No such file or directory\n",
        "a.c:1:10: fatal error: 'lib/config.h.in' file not found\n",
    ],
)
def test_a_file_that_is_not_there_is_named(said: str) -> None:
    about = complaint(said)
    assert about.lacks("lib/config.h.in")
    assert not about.lacks("lib/a.c")


def test_a_build_in_another_folder_names_files_from_there() -> None:
    about = complaint("../../src/vm/core.c:3:1: error: unknown type name 'Fresh'\n")
    assert about.is_in("src/vm/core.c")
    assert not about.is_in("src/core.c")


def test_bison_shows_the_line_of_a_grammar() -> None:
    said = "a.y:12.15-20: error: symbol ‘list’ is used, but is not defined\n   12 |   : list NUMBER\n      |     ^~~~"
    assert complaint(said).lines == {": list NUMBER"}


def test_only_lines_with_a_name_are_shown_of_a_change() -> None:
    patch = "@@ -1,2 +1,3 @@\n-  int old;\n+  int fresh;\n+  }\n+\n"
    assert added_lines(change(1, patch=patch)) == {"int fresh;"}


def test_a_linker_names_what_it_misses_or_has_twice() -> None:
    said = (
        "/usr/bin/ld: a.o: in function `main':\na.c:3: undefined reference to `ares_expand'\n"
        "ld.lld: error: undefined symbol: other\nb.o: multiple definition of `both'; a.o\n"
    )
    assert symbols(said) == {"ares_expand", "other", "both"}
    assert symbols(CLANG) == frozenset()


@pytest.mark.parametrize(
    ("said", "unknown"),
    [
        ("a.c:3:5: error: no member named 'kept' in 'struct level'", "kept"),
        ("a.c:3:5: error: ‘struct level’ has no member named ‘kept’; did you mean ‘keep’?", "kept"),
        ("a.c:3:5: error: use of undeclared identifier 'kept'", "kept"),
        ("a.c:3:5: error: ‘kept’ undeclared (first use in this function)", "kept"),
        ("a.c:3:5: error: unknown type name 'kept'", "kept"),
        ("ld: a.c:3: undefined reference to `kept'", "kept"),
        ("a.y:3.5-9: error: symbol ‘kept’ is used, but is not defined as a token", "kept"),
        ("a.c:3:5: error: assigning to 'int' from incompatible type 'char *'", ""),
    ],
)
def test_what_nothing_defines_is_told_apart_from_what_is_spoken_of(said: str, unknown: str) -> None:
    assert complaint(said).unknown == set(unknown.split())
