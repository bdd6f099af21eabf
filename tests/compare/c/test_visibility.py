"""What a file declares is known where it is included, and a name alone ties nothing elsewhere."""

from __future__ import annotations

import pytest
from pipeline_runs import repository
from two_versions import Case, traced_processes

from afterd.execution.toolchain import find

_MAKEFILE = """\
all: prog
prog: main.o other.o
\t$(CC) -o prog main.o other.o
%.o: %.c
\t$(CC) -g -c -o $@ $<
"""
_GOOD = {
    ".gitignore": "*.o\nprog\n",
    "Makefile": _MAKEFILE,
    "run.sh": "./prog box\n",
    "box.h": "#define WIDTH 4\nstruct box {\n    int offset;\n    int at;\n};\nstruct word {\n    int count;\n};\n"
    "struct item {\n    int order;\n    char kind[WIDTH];\n};\n",
    "lid.h": "struct lid {\n    short at;\n};\n",
    "main.c": '#include <stdio.h>\n#include "box.h"\nint other(void);\n'
    "static struct box box;\nstatic struct item item;\nstatic char text[WIDTH];\n"
    "int main(void)\n{\n    int len = other() - 3;\n"
    "    text[len] = 'x';\n    item.kind[len] = text[len];\n    box.at = item.kind[len];\n    box.offset = other();\n"
    '    printf("%d\\n", (int) box.offset);\n    return box.offset + box.at != 123;\n}\n',
    "show.c": "static int len;\nint main(void)\n{\n    return len;\n}\n",
    "other.c": '#include "lid.h"\nstruct rel {\n    int offset;\n    int info;\n};\n'
    "int other(void)\n{\n    struct lid lid = {3};\n    return lid.at;\n}\n",
}
_BAD = {
    "box.h": "#define WIDTH 8\nstruct box {\n    long offset;\n    int at;\n    int unused;\n    int len;\n};\n"
    "struct word {\n    int count;\n    short kind;\n};\n"
    "struct item {\n    int order;\n    char kind[WIDTH];\n};\n",
    "lid.h": _GOOD["lid.h"].replace("short at", "char at"),
    "show.c": _GOOD["show.c"].replace("int len", "long len"),
    "other.c": _GOOD["other.c"].replace("    int offset;\n", "").replace("{3}", "{4}"),
}


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Case:
    directory = tmp_path_factory.mktemp("visibility")
    repository(directory / "repository", _GOOD, _BAD)
    return traced_processes(directory, find())["box"]


def test_a_field_of_a_struct_that_a_module_does_not_know_is_none_of_its_own(box: Case) -> None:
    """Of nasm's output bytes a struct was suspected that another file had for itself."""
    by_patch = {
        change.patch.splitlines()[-1].strip("+- ;"): change for change in box.changes.changes
    }
    gone = by_patch["int offset"]
    assert gone.file == "other.c"
    [stored] = box.at("box.offset = other();")
    assert stored.changes == (by_patch["long offset"].id,)
    assert gone.id not in box.execution.omitted(stored.id)
    *_, read = box.at("return lid.at;")
    assert by_patch["char at"].id in read.changes


def test_a_local_variable_is_no_field_of_its_name(box: Case) -> None:
    """Of ``text[len]`` a struct was suspected that got a field called len; nor is it a variable of a source that no
    build compiles: of re2c an example was suspected.
    """
    [stored] = box.at("text[len] = 'x';")
    assert stored.changes == ()


def test_a_field_is_that_of_its_struct(box: Case) -> None:
    """Of another struct's ``kind`` the one that a struct got was suspected."""
    [stored] = box.at("item.kind[len] = text[len];")
    assert stored.changes == ()
