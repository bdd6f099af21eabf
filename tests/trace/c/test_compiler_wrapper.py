"""A traced build never fails where a plain one succeeds, and leaves the same files."""

from __future__ import annotations

import contextlib
import os
import shlex
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from traced_programs import Laboratory, Observed, run

from afterd.trace.c.build.compiler_wrapper import Wrapped, compile_and_link

HELLO = '#include <stdio.h>\nint main(void) { puts("hello"); return 3; }\n'
HALF = "int half(int x) { return x / 2; }\n"
USES_HALF = '#include <stdio.h>\n#include "half.h"\nint main(void) { printf("%d\\n", half(N)); return 0; }\n'
NOWHERE = (
    "extern int table[]; int nowhere(int);\nint (*hook)(int) = nowhere;\n"
    "int unused(int x) { return nowhere(x) + table[x]; }\n"
)
HALF_H = "int half(int x);\n#ifndef N\n#define N 42\n#endif\n"
PAIR = {"half.c": HALF, "main.c": USES_HALF, "half.h": HALF_H}
ASSEMBLY = (
    ".globl half\nhalf:\n  movl %edi, %eax\n  sarl $1, %eax\n  ret\n.section .note.GNU-stack\n"
)


@dataclass(frozen=True)
class Build:
    """Compiler command lines in a directory; ``opaque`` is what is noted of what cannot be traced."""

    files: Mapping[str, str]
    lines: tuple[tuple[str, ...], ...]
    opaque: str = ""
    program: str = "prog"
    ignored: frozenset[str] = field(default=frozenset())


ON_ZIG = frozenset(
    (
        "one line",
        "objects apart",
        "what nobody calls needs what is nowhere",
        "dependency files",
        "assembler files",
        "a shared library",
    )
)
"""What is built with zig too: it is slower, and cannot do some of the rest."""

BUILDS = {
    "one line": Build({"a.c": HELLO}, (("a.c", "-o", "prog"),)),
    "the default name": Build({"a.c": HELLO}, (("a.c",),), program="a.out"),
    "-o without a space": Build({"a.c": HELLO}, (("-oprog", "a.c"),)),
    "objects apart": Build(
        PAIR, (("-c", "half.c"), ("-c", "main.c", "-o", "m.o"), ("m.o", "half.o", "-o", "prog"))
    ),
    "what nobody calls needs what is nowhere": Build(
        {"half.c": f"{NOWHERE}{HALF}", "main.c": USES_HALF, "half.h": HALF_H},
        (
            ("-ffunction-sections", "-fdata-sections", "-c", "half.c"),
            ("main.c", "half.o", "-Wl,-s,--gc-sections", "-o", "prog"),
        ),
    ),
    "what nobody calls, in C++": Build(
        {
            "half.cc": 'namespace n { int nowhere(int); }\nint unused(int x) { return n::nowhere(x); }\nextern "C" '
            + HALF,
            "main.c": USES_HALF,
            "half.h": HALF_H,
        },
        (
            ("-ffunction-sections", "-c", "half.cc"),
            ("main.c", "half.o", "-Xlinker", "--gc-sections", "-o", "prog"),
        ),
    ),
    "several sources on one line": Build(
        PAIR, (("-c", "half.c", "main.c"), ("half.o", "main.o", "-oprog"))
    ),
    "an object in another directory": Build(
        {**PAIR, "out/keep": ""},
        (("-c", "half.c", "-o", "out/x.o"), ("main.c", "out/x.o", "-o", "prog")),
    ),
    "dependency files": Build(
        PAIR,
        (
            ("-MMD", "-c", "half.c"),
            ("-MD", "-MP", "-c", "main.c", "-o", "m.o"),
            ("m.o", "half.o", "-o", "prog"),
        ),
    ),
    "a named dependency file": Build(
        PAIR,
        (
            ("-MMD", "-MF", "deps", "-MT", "anything", "-c", "main.c"),
            ("-Wp,-MMD,half.dep", "-c", "half.c"),
            ("main.o", "half.o", "-o", "prog"),
        ),
    ),
    "options for the preprocessor": Build(
        PAIR,
        (
            ("-Wp,-MMD,half.d,-MP,-MT,half.o", "-Wp,-D_FORTIFY_SOURCE=2", "-c", "half.c"),
            ("-Wp,-DN=8,-DM=6", "-Xpreprocessor", "-UM", "-Wp,-MD,m.d", "-c", "main.c"),
            ("main.o", "half.o", "-o", "prog"),
        ),
    ),
    "a dependency file of a program": Build({"a.c": HELLO}, (("-MMD", "a.c", "-o", "prog"),)),
    "a response file": Build(
        {**PAIR, "args": "-DN=100 'main.c'\n half.c -o \"prog\"", "more": '@args -DUNUSED="a b"'},
        (("@more",),),
    ),
    "spaces and quotes": Build(
        {"a 'dir'/m \"x\".c": HELLO}, (("-Ia 'dir'", "a 'dir'/m \"x\".c", "-o", "prog"),)
    ),
    "other letters": Build({"ünï.c": HELLO}, (("ünï.c", "-o", "prog"),)),
    "a macro with a string": Build(
        {"a.c": "#include <stdio.h>\nint main(void) { return puts(TEXT) < 0; }\n"},
        (('-DTEXT="a \\"b\\" c"', "a.c", "-o", "prog"),),
    ),
    "-x names the language": Build(
        {"a.txt": HELLO, "b.src": HALF},
        (("-x", "c", "a.txt", "b.src", "-x", "none", "-o", "prog"),),
    ),
    "assembler files": Build(
        {**PAIR, "half.s": ASSEMBLY},
        (("-c", "half.s", "-o", "h.o"), ("main.c", "h.o", "-o", "prog")),
    ),
    "an assembler file on the link line": Build(
        {**PAIR, "half.S": f"#define X\n{ASSEMBLY}"}, (("main.c", "half.S", "-o", "prog"),)
    ),
    "link-time optimisation": Build(
        PAIR, (("-flto", "-O2", "-c", "half.c"), ("-flto", "-O2", "main.c", "half.o", "-o", "prog"))
    ),
    "sanitizers and coverage are left out": Build(
        PAIR,
        (
            ("-fsanitize=undefined", "-fstack-protector-all", "-c", "half.c"),
            ("-fsanitize=undefined", "main.c", "half.o", "-o", "prog"),
        ),
    ),
    "hardening": Build(
        PAIR,
        (
            ("-O2", "-D_FORTIFY_SOURCE=2", "-fPIE", "-c", "half.c", "main.c"),
            ("-pie", "-Wl,-z,relro,-z,now", "-Wl,--as-needed", "half.o", "main.o", "-o", "prog"),
        ),
    ),
    "a static library": Build(PAIR, (("-c", "half.c"), ("-L.", "main.c", "half.o", "-o", "prog"))),
    "a shared library": Build(
        PAIR,
        (
            ("-fPIC", "-shared", "-fvisibility=default", "half.c", "-o", "libhalf.so"),
            ("main.c", "-L.", "-lhalf", "-Wl,-rpath,.", "-o", "prog"),
        ),
    ),
    "a -Bstatic left open": Build(
        {"a.c": HELLO}, (("a.c", "-Wl,-Bstatic", "-Wl,-Bdynamic", "-o", "prog"),)
    ),
    "a partial link": Build(
        PAIR,
        (
            ("-c", "half.c", "main.c"),
            ("-r", "-nostdlib", "half.o", "main.o", "-o", "both.o"),
            ("both.o", "-o", "prog"),
        ),
    ),
    "code without a C library": Build(
        {
            "a.c": "void _start(void) { for (;;) __asm__ volatile("
            '"syscall" : : "a"(60), "D"(9) : "rcx", "r11"); }\n'
        },
        (("-ffreestanding", "-nostdlib", "-static", "a.c", "-o", "prog"),),
        opaque="asks for code without a C library",
    ),
    "code of another machine": Build(
        {"a.c": "int f(void) { return 1; }\n", "b.c": HELLO},
        (("-m32", "-c", "a.c"), ("b.c", "-o", "prog")),
        opaque="asks for code of another machine",
    ),
    "assembly that only clang finds": Build(
        {
            "inc/macros.inc": ".macro halve\n sarl $1, %eax\n.endm\n",
            "a.c": '__asm__(".include \\"macros.inc\\"");\n#include <stdio.h>\n'
            "int main(void) { int x = 9;"
            ' __asm__("movl %0, %%eax; halve; movl %%eax, %0" : "+r"(x) : : "eax");'
            ' printf("%d\\n", x); return 0; }\n',
        },
        (("-Wa,-I,inc", "-c", "a.c"), ("a.o", "-o", "prog")),
        opaque="macros.inc",
    ),
    "preprocessing and assembly only": Build(
        {"a.c": HELLO},
        (
            ("-E", "a.c", "-o", "a.i"),
            ("-S", "a.c", "-o", "a.s"),
            ("-M", "a.c"),
            ("a.i", "-o", "prog"),
        ),
        ignored=frozenset({"a.s", "a.i"}),
    ),
    "questions": Build(
        {"a.c": HELLO},
        (
            ("--version",),
            ("-dumpmachine",),
            ("-print-search-dirs",),
            ("-fsyntax-only", "a.c"),
            ("a.c", "-oprog"),
        ),
    ),
}


def _write(directory: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)


def _listing(directory: Path) -> set[str]:
    return {str(path.relative_to(directory)) for path in directory.rglob("*")}


@pytest.mark.parametrize("name", BUILDS)
def test_a_build_succeeds_and_leaves_what_a_plain_one_leaves(
    laboratory: Laboratory, tmp_path: Path, name: str
) -> None:
    build = BUILDS[name]
    if laboratory.toolchain.is_zig and name not in ON_ZIG:
        pytest.skip("shown with clang")
    ways = {"plain": tmp_path / "plain", "traced": tmp_path / "traced"}
    noted = len(laboratory.store.opaque())
    shown: dict[str, Observed] = {}
    for way, directory in ways.items():
        _write(directory, build.files)
        for line in build.lines:
            compiler = laboratory.plain if way == "plain" else laboratory.traced
            done = compiler(*line, cwd=directory)
            if way == "plain" and "libclang_rt" in done.errors:
                pytest.skip("this clang has no run-time libraries for sanitizers")
            assert done.status == 0, f"{way}: {line}: {done.errors}"
        shown[way] = run([f"./{build.program}"], directory)
    assert shown["traced"].behaviour == shown["plain"].behaviour
    assert _listing(ways["traced"]) == _listing(ways["plain"])
    for path in ways["plain"].rglob("*.d*"):
        if path.is_file():
            assert (
                ways["traced"] / path.relative_to(ways["plain"])
            ).read_text() == path.read_text()
    new = laboratory.store.opaque()[noted:]
    assert [note for note in new if not build.opaque or build.opaque not in note] == []
    assert bool(new) == bool(build.opaque)
    _, traces = laboratory.run_traced([f"./{build.program}"], ways["traced"])
    recorded = [process for process in laboratory.processes(traces) if process.recording.end]
    assert bool(recorded) != bool(build.opaque) or "machine" in build.opaque


def test_errors_are_the_compilers_own(laboratory: Laboratory, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int main(void) { return undeclared; }\n")
    plain = laboratory.plain("-c", "a.c", cwd=tmp_path)
    traced = laboratory.traced("-O0", "-w", "-fno-sanitize=all", "-c", "a.c", cwd=tmp_path)
    assert traced.status == plain.status != 0
    assert "undeclared" in traced.errors
    assert traced.errors.splitlines()[0] == plain.errors.splitlines()[0]
    assert _listing(tmp_path) == {"a.c"}


def test_options_of_other_compilers_are_dropped(laboratory: Laboratory, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(HELLO)
    os.utime(tmp_path / "a.c", (0, 0))  # it is no question of the build's
    noted = len(laboratory.store.opaque())
    odd = ("-fno-such-option", "-fanalyzer-of-gcc", "-Wno-maybe-uninitialized", "-fno-gcse")
    done = laboratory.traced(*odd, "-c", "a.c", cwd=tmp_path)
    assert done.status == 0, done.errors
    assert len(laboratory.store.opaque()) == noted


def test_options_for_the_preprocessor_are_given_to_any_compiler(
    laboratory: Laboratory, tmp_path: Path
) -> None:
    """Makefiles in the style of Linux say ``-Wp,-MP,-MMD,file``; zig refuses all but the file."""
    (tmp_path / "a.c").write_text('#include "half.h"\nint half(int x) { return x / N; }\n')
    (tmp_path / "half.h").write_text(HALF_H)
    os.utime(tmp_path / "a.c", (0, 0))  # it is no question of the build's
    noted = len(laboratory.store.opaque())
    options = ("-Wp,-MP,-MMD,.a.o.d", "-Wp,-D_FORTIFY_SOURCE=2,-DN=2", "-Xpreprocessor", "-DM")
    done = laboratory.traced(*options, "-c", "a.c", cwd=tmp_path)
    assert done.status == 0, done.errors
    assert len(laboratory.store.opaque()) == noted
    rules = (tmp_path / ".a.o.d").read_text().replace("\\\n", "").split("\n")
    assert rules[0].split() == ["a.o:", "a.c", "half.h"]
    assert "half.h:" in rules


def test_a_file_is_compiled_once_whatever_lists_what_it_depends_on(
    laboratory: Laboratory, tmp_path: Path
) -> None:
    """Zig, asked for both, makes one of them and compiles for it: each file of most builds was compiled twice."""
    _write(tmp_path, {"a.c": HELLO})
    noting = tmp_path / "noting"
    noting.write_text('#!/bin/sh\necho "$@" >> asked\nexec "$@"\n')
    noting.chmod(0o755)
    clang = (str(noting), *laboratory.toolchain.argv)
    wrapped = Wrapped(clang, laboratory.toolchain.argv, laboratory.store)
    with contextlib.chdir(tmp_path):
        assert compile_and_link(wrapped, ["-MD", "-MF", "a.d", "-c", "a.c"]) == 0
    compiled = [line for line in (tmp_path / "asked").read_text().splitlines() if " -c " in line]
    assert len(compiled) == 1
    assert (tmp_path / "a.o").exists()
    assert (tmp_path / "a.d").read_text().startswith("a.o: ")


def test_a_device_is_written_to_and_not_replaced(laboratory: Laboratory, tmp_path: Path) -> None:
    """``cc -c x.c -o /dev/null`` once put a file in the place of /dev/null, for root."""
    (tmp_path / "a.c").write_text(HELLO)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        laboratory.traced("-c", "a.c", "-o", str(pipe), cwd=tmp_path)
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_standard_input_can_be_compiled(laboratory: Laboratory, tmp_path: Path) -> None:
    compiler = laboratory.store.directory / "bin" / "cc"
    script = f"echo 'int main(void) {{ return 7; }}' | '{compiler}' -x c - -o prog"
    assert run(["sh", "-c", script], tmp_path).status == 0
    assert run(["./prog"], tmp_path).status == 7


@pytest.mark.parametrize(
    ("folder", "source", "asked"),
    [
        ("CMakeFiles/CMakeScratch/TryCompile-a1", "src.c", True),
        ("CMakeFiles/CMakeTmp", "src.c", True),
        ("meson-private/tmpx", "testfile.c", True),
        ("work", "conftest.c", True),
        ("work", "src.c", False),
    ],
)
def test_a_question_of_the_build_system_starts_no_python(
    laboratory: Laboratory, tmp_path: Path, folder: str, source: str, *, asked: bool
) -> None:
    """CMake asks 60 times before json-c is built; each of them took afterd-cc a tenth of a second."""
    shim = (laboratory.store.directory / "bin/cc").read_text()
    without_python = tmp_path / "cc"
    without_python.write_text(shim.replace(shlex.quote(sys.executable), "false"))
    without_python.chmod(0o755)
    _write(tmp_path / folder, {source: HELLO})
    done = run([without_python, "-c", source, "-o", "out.o"], tmp_path / folder)
    assert (done.status == 0) == (tmp_path / folder / "out.o").exists() == asked


def test_it_says_that_only_afterd_starts_it(tmp_path: Path) -> None:
    line = [sys.executable, "-c", "from afterd.trace.c.build.compiler_wrapper import main; main()"]
    done = run(line, tmp_path, {"PYTHONPATH": str(Path(__file__).parents[3])})
    assert done.status == 2
    assert "afterd explain" in done.errors


def test_a_name_that_only_gccs_own_header_has(laboratory: Laboratory, tmp_path: Path) -> None:
    """A whole library of headers (ChaiScript's) was compiled plainly for it, and nothing of its run was seen."""
    text = "#include <cstddef>\nstruct V { V(nullptr_t) {} };\nint main() { V v(nullptr); return 3; }\n"
    (tmp_path / "a.cc").write_text(text)
    if laboratory.plain("a.cc", "-o", "plain", cxx=True, cwd=tmp_path).status:
        pytest.skip("this compiler does not take it")
    noted = len(laboratory.store.opaque())
    done = laboratory.traced("a.cc", "-o", "prog", cxx=True, cwd=tmp_path)
    assert done.status == 0, done.errors
    assert len(laboratory.store.opaque()) == noted
    _, traces = laboratory.run_traced(["./prog"], tmp_path)
    assert [process.recording.end > 0 for process in laboratory.processes(traces)] == [True]
