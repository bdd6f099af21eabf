"""What a changed header reaches."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterd.execution.includes import IncludeGraph, included_names


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ('#include "a.h"', {"a.h"}),
        ("#include <sys/a.h>", {"a.h"}),
        ("  #  include\t\"../x/a.h\" // why", {"a.h"}),
        ('#include "win\\a.h"', {"a.h"}),
        ('#inc\\\nlude "a.h"', {"a.h"}),
        ('#import "a.h"', {"a.h"}),
        ('#include_next <a.h>', {"a.h"}),
        ('#embed "table.bin"', {"table.bin"}),
        ('.include "macros.inc"', {"macros.inc"}),
        ("#include CONFIG_HEADER", {"*"}),
        ('// see #include "a.h"', set()),
        ('x = "#include <a.h>";', set()),
        ("#includes", set()),
        ('#include "ü/é.h"', {"é.h"}),
    ],
)  # fmt: skip
def test_directives(line: str, names: set[str]) -> None:
    assert included_names(f"int x;\n{line}\nint y;\n".encode()) == names


@given(st.binary(max_size=200))
def test_any_bytes_can_be_scanned(content: bytes) -> None:
    assert all(isinstance(name, str) for name in included_names(b'#include "' + content))


FILES = {
    "a.h": "",
    "b.h": '#include "a.h"\n',
    "sub/c.hpp": '#include "../b.h"\n',
    "one.c": '#include "a.h"\n',
    "two.cc": '#include <sub/c.hpp>\n',
    "three.c": "int x;\n",
    "table.c": '#include "rows.def"\n',
    "macro.c": "#include WHICH\n",
    "loop.h": '#include "loop2.h"\n',
    "loop2.h": '#include "loop.h"\n',
    "four.c": '#include "loop.h"\n',
    "notes.txt": '#include "a.h"\n',
}  # fmt: skip


@pytest.fixture
def graph(tmp_path: Path) -> IncludeGraph:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return IncludeGraph(tmp_path)


@pytest.mark.parametrize(
    ("changed", "reached"),
    [
        (["a.h"], {"one.c", "two.cc"}),
        (["include/a.h"], {"one.c", "two.cc"}),
        (["b.h"], {"two.cc"}),
        (["sub/c.hpp"], {"two.cc"}),
        (["rows.def"], {"table.c"}),
        (["loop2.h"], {"four.c"}),
        (["a.h", "loop.h"], {"one.c", "two.cc", "four.c"}),
        (["three.c"], set()),
        (["README"], set()),
    ],
)
def test_a_change_reaches_what_includes_it_at_any_depth(
    graph: IncludeGraph, changed: list[str], reached: set[str]
) -> None:
    """A computed include may be of anything, so it is always reached."""
    assert {path.name for path in graph.includers(changed)} == reached | {"macro.c"}


@pytest.mark.parametrize(
    ("files", "given", "reached"),
    [
        ({}, "make", set()),  # nobody says what it is: it is not included
        ({}, "make CFLAGS=-DWHICH='\"a.h\"'", {"a.h"}),
        ({}, "make CFLAGS=-DWHICH=$NAME", {"a.h", "b.h"}),
        ({"which.h": "#define WHICH <sub/b.h>\n"}, "make", {"b.h"}),
        ({"which.h": "# define WHICH OTHER\n"}, "make", {"a.h", "b.h"}),
        ({"which.h": "#define WHICHEVER OTHER\n"}, "make", set()),
        ({"CMakeLists.txt": 'add_definitions(-DWHICH="sub/a.h")\n'}, "cmake .", {"a.h"}),
        ({"CMakeLists.txt": 'set(WHICH "a.h")\n'}, "cmake .", {"a.h"}),
        ({"Makefile": "WHICH = $(NAME)\n"}, "make", {"a.h", "b.h"}),
        ({"README": "WHICH is a header of your own.\n"}, "make", set()),
        (
            {"which.h": "#include OTHER(WHICH)\n", "macro.c": '#include "which.h"\n'},
            "",
            {"a.h", "b.h"},
        ),
    ],
)
def test_a_macro_includes_what_is_said_of_it(
    tmp_path: Path, files: dict[str, str], given: str, reached: set[str]
) -> None:
    """libgit2: one header that includes what a macro says, which nobody sets, stood for all: whatever was undone, each
    of two hundred files was compiled again.
    """
    for name, text in {"macro.c": "#ifdef WHICH\n#include WHICH\n#endif\n", **files}.items():
        (tmp_path / name).write_text(text)
    graph = IncludeGraph(tmp_path)
    found = {name for name in ("a.h", "b.h") if graph.includers([name], given)}
    assert found == reached
    assert graph.includers(["a.h"]), "where it is not known what the build is told"


def test_nothing_changed_reaches_nothing(graph: IncludeGraph) -> None:
    assert graph.includers([]) == set()


def test_a_file_that_changes_is_read_again(graph: IncludeGraph) -> None:
    assert not any(path.name == "three.c" for path in graph.includers(["a.h"]))
    (graph.root / "three.c").write_text('#include "a.h"\n')
    assert any(path.name == "three.c" for path in graph.includers(["a.h"]))
    (graph.root / "three.c").unlink()
    assert not any(path.name == "three.c" for path in graph.includers(["a.h"]))


def test_links_out_of_the_tree_are_not_followed(graph: IncludeGraph, tmp_path: Path) -> None:
    outside = tmp_path.parent / "outside.c"
    outside.write_text('#include "a.h"\n')
    (graph.root / "link.c").symlink_to(outside)
    (graph.root / "folder").symlink_to(tmp_path.parent)
    assert {path.name for path in graph.includers(["a.h"])} == {"one.c", "two.cc", "macro.c"}


def test_two_thousand_files_take_little(tmp_path: Path) -> None:
    """The second look, which every build pays, reads no file."""
    for number in range(2000):
        text = f'#include "h{number % 50}.h"\n' + "int x;\n" * 50
        (tmp_path / f"f{number}.c").write_text(text)
    graph = IncludeGraph(tmp_path)
    graph.includers(["h1.h"])
    began = time.process_time()
    assert len(graph.includers(["h1.h"])) == 40
    assert time.process_time() - began < 1.0
