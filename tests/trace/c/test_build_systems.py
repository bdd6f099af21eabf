"""A traced build answers its build system's questions as the user's own compiler does."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from conftest import INSTALLED
from traced_programs import RING, run

from afterd.trace.c.build.modules import ModuleStore
from afterd.trace.c.build.traced_build import environment, prepare, recording_into
from afterd.trace.c.read.process import recorded_processes
from afterd.trace.c.window.recording import Recording

OLD_C = """\
#include "config.h"
static later();
total = 40;
add(a, b) int a; { return a + b + later(); }
static later() { return; }
"""
MAIN = """\
#include <stdio.h>
#include "config.h"
int main(void) { printf("%d\\n", add(total(), 2)); return NESTED; }
"""
NESTED = "int main(void) { int k = 3; int f(int a) { return a + k; } return f(1) - 4; }\n"
CONFIGURE = f"""\
#!/bin/sh
# what autoconf 2.13 asks first, then a question that only gcc answers with yes, under another name
CC=${{CC-cc}}
cat > conftest.c <<EOF
main(){{return(0);}}
EOF
$CC -o conftest conftest.c && ./conftest || {{ echo "C compiler cannot create executables"; exit 1; }}
cat > ask$$.c <<EOF
{NESTED}EOF
nested=0
$CC -w -Werror ask$$.c -o ask && ./ask && nested=1
rm -f ask* conftest*
mkdir -p sub
echo "#define NESTED $nested" > sub/config.h
echo "int total(void) {{ return 30; }}" > sub/made.c
"""
RECURSIVE = "prog:\n\t$(MAKE) -C sub CC='$(CC)'\n\tcp sub/prog prog\n"
WITH_GCC = "CC = ccache gcc\nprog: main.o add.o\n\t$(CC) -o prog main.o add.o nested.c\n"
CMAKE = """\
cmake_minimum_required(VERSION 3.16)
project(p C CXX)
include(CheckCSourceCompiles)
check_c_source_compiles("int main(void) { int k = 3; int f(int a) { return a + k; } return f(1) - 4; }" NESTED)
file(WRITE ${CMAKE_BINARY_DIR}/config.h.in "#cmakedefine01 NESTED\\n")
configure_file(${CMAKE_BINARY_DIR}/config.h.in ${CMAKE_BINARY_DIR}/config.h)
add_custom_command(OUTPUT made.c COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/made.c.in made.c)
add_library(two SHARED add.c made.c)
add_executable(prog main.c more.cc)
target_link_libraries(prog two)
target_include_directories(prog PRIVATE ${CMAKE_BINARY_DIR})
target_compile_options(prog PRIVATE -Winvalid-pch -Wall -Werror)
target_precompile_headers(prog PRIVATE common.h)
set_target_properties(two PROPERTIES UNITY_BUILD ON)
"""
MESON = """\
project('p', 'c', 'cpp', default_options: ['werror=true'])
cc = meson.get_compiler('c')
nested = cc.compiles('int main(void) { int k = 3; int f(int a) { return a + k; } return f(1) - 4; }')
configure_file(output: 'config.h', configuration: {'NESTED': nested ? 1 : 0})
made = custom_target(output: 'made.c', capture: true, command: ['echo', 'int total(void) { return 40; }'])
two = library('two', 'add.c', made)
executable('prog', 'main.c', 'more.cc', link_with: two, c_pch: 'pch/common.h')
"""
NEW = {
    "add.c": "int total(void);\nint add(int a, int b) { return a + b; }\n",
    "main.c": 'int add(int, int), total(void), more(void);\n#include "config.h"\n'
    'int main(void) { printf("%d\\n", add(total(), more())); return NESTED; }\n',
    "more.cc": '#include <string>\nextern "C" int more() { return std::string("ab").size(); }\n',
    "made.c.in": "int total(void) { return 40; }\n",
    "common.h": "#include <stdio.h>\n",
    "pch/common.h": "#include <stdio.h>\n",
}
FLAGS_OF_OLD = "-std=gnu89 -pedantic-errors -Werror -Wno-pedantic -w"


@dataclass(frozen=True)
class System:
    """A project, the commands that build it, and the tools that they need."""

    files: Mapping[str, str]
    commands: tuple[str, ...]
    program: str = "prog"
    answers: str = "config.h"
    needs: tuple[str, ...] = ("gcc", "make")
    variables: Mapping[str, str] = field(default_factory=dict)
    opaque: tuple[str, ...] = ()


SYSTEMS = {
    "an old configure, recursive make": System(
        {
            "configure": CONFIGURE,
            "Makefile": RECURSIVE,
            "sub/Makefile": f"prog:\n\t$(CC) {FLAGS_OF_OLD} *.c -o prog\n",
            "sub/old.c": OLD_C.replace("total", "unused"),
            "sub/main.c": MAIN,
        },
        ("sh configure", "make"),
        answers="sub/config.h",
    ),
    "ccache in front, and a file that clang refuses": System(
        {
            "Makefile": WITH_GCC,
            "nested.c": NESTED.replace("main", "total"),
            "main.c": MAIN.replace("NESTED", "0"),
            "add.c": "int add(int a, int b) { return a + b; }\n",
            "config.h": "",
        },
        ("make", "make -B"),
        needs=("gcc", "make", "ccache"),
        opaque=("nested.c",),
    ),
    "CMake and Ninja: unity, precompiled headers, two directories": System(
        {"src/CMakeLists.txt": CMAKE, **{f"src/{name}": text for name, text in NEW.items()}},
        ("cmake -G Ninja -S src -B out", "cmake --build out"),
        program="out/prog",
        answers="out/config.h",
        needs=("gcc", "cmake", "ninja"),
    ),
    "Meson: precompiled headers, warnings are errors": System(
        {"meson.build": MESON, **NEW},
        ("meson setup out", "ninja -C out"),
        program="out/prog",
        answers="out/config.h",
        needs=("gcc", "meson", "ninja"),
    ),
    "inline variables of a header, of which the linker keeps one copy": System(
        {
            "named.h": "#include <string>\nstruct Named { std::string name; Named(const char *n) : name(n) {} };\n"
            'struct Kinds { static inline const Named FIRST{"ab"}; static inline const Named LAST{"cde"}; };\n',
            "more.cc": '#include "named.h"\nint more() { return Kinds::LAST.name.size(); }\n',
            "main.cc": '#include <cstdio>\n#include "named.h"\nint more();\n'
            'int main() { return std::printf("%d\\n", int(Kinds::FIRST.name.size()) + more()) - 2; }\n',
            "config.h": "",
        },
        ("g++ -std=c++17 -g main.cc more.cc -o prog",),
        needs=("g++",),
    ),
    "a compiler by another name": System(
        {
            "main.c": '#include <stdio.h>\nint main(void) { return printf("ok") - 2; }\n',
            "config.h": "",
        },
        ("x86_64-linux-gnu-gcc main.c -o prog",),
        needs=("x86_64-linux-gnu-gcc",),
    ),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_traced_build_gives_the_same_answers_and_the_same_program(
    tmp_path: Path, name: str
) -> None:
    system = SYSTEMS[name]
    if missing := [tool for tool in system.needs if not shutil.which(tool)]:
        pytest.skip(f"no {missing[0]} on this machine")
    compiler = next(iter(INSTALLED.values()))
    base = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **system.variables}
    store = prepare(tmp_path / "store", compiler, base)
    store_made = (store.directory / "bin/cc").stat().st_mtime
    for way, variables in {"plain": base, "traced": environment(store, base)}.items():
        for path, text in system.files.items():
            (tmp_path / way / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / way / path).write_text(text)
            os.utime(tmp_path / way / path, (store_made - 9, store_made - 9))
        for command in system.commands:
            done = subprocess.run(
                command, shell=True, cwd=tmp_path / way, env=variables, capture_output=True,
                text=True, check=False, start_new_session=True,
            )  # fmt: skip
            assert done.returncode == 0, f"{way}: {command}: {done.stdout}{done.stderr}"
    plain, traced = tmp_path / "plain", tmp_path / "traced"
    assert (plain / system.answers).read_text() == (traced / system.answers).read_text()
    (tmp_path / "run").mkdir()
    settings = {"AFTERD_RING": str(RING), "AFTERD_BLOCKS": str(store.blocks())}
    shown = run([traced / system.program], tmp_path, recording_into(tmp_path / "run", settings))
    assert shown.behaviour == run([plain / system.program], tmp_path).behaviour
    assert any(Recording(path).end for path in recorded_processes(tmp_path / "run"))
    said = [note.partition(":")[0].rsplit("/", 1)[-1] for note in _opaque(store)]
    assert sorted(set(said)) == sorted(system.opaque)


@pytest.mark.skipif("zig" not in INSTALLED, reason="no zig on this machine")
@pytest.mark.skipif(shutil.which("c++") is None, reason="no c++ on this machine")
def test_zig_compiles_cxx_for_the_library_that_the_user_has(tmp_path: Path) -> None:
    """Its own it would have to compile first, which takes a minute."""
    base = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    store = prepare(tmp_path, INSTALLED["zig"], base)
    text = '#include <iostream>\n#include <string>\nint main() { std::cout << std::string("traced"); }\n'
    (tmp_path / "p.cc").write_text(text)
    before = (store.directory / "bin/cc").stat().st_mtime - 9
    os.utime(tmp_path / "p.cc", (before, before))
    command = ["c++", "p.cc", "-o", "p"]
    variables = environment(store, base)
    subprocess.run(command, cwd=tmp_path, env=variables, check=True, start_new_session=True)
    assert run([tmp_path / "p"], tmp_path).output == b"traced"
    assert not store.opaque()
    assert list(tmp_path.glob(".cache/zig/o")), "where zig keeps what it makes"
    assert not list(tmp_path.rglob("libc++*"))


@pytest.mark.skipif("zig" not in INSTALLED, reason="no zig on this machine")
def test_where_there_is_no_other_cxx_zigs_has_its_own_library(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    store = prepare(tmp_path, INSTALLED["zig"], {"PATH": str(tmp_path / "empty")})
    shim = (store.directory / "bin/c++").read_text()
    assert shim.count("c++ -fno-sanitize=undefined") == 1, "what is compiled plainly, too"
    assert '"c++"]' in shim


def _opaque(store: ModuleStore) -> list[str]:
    """What is not followed, a configure script's own questions apart."""
    return [note for note in store.opaque() if not note.startswith("ask")]
