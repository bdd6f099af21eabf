"""What a compiler command line asks for, as far as afterd-cc must know."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

_WITH_VALUE = frozenset(
    "-o -I -D -U -include -isystem -L -x -MF -MT -MQ -arch -Xlinker -Xclang -T -u -z -idirafter -iquote "
    "-imacros -isysroot -target --param -Xpreprocessor -Xassembler -framework -rpath -e -iprefix "
    "-iwithprefix -B -l -G -V -b -dumpdir -Tdata -Ttext -Tbss --sysroot -aux-info -mllvm -current_version "
    "-compatibility_version -install_name -soname -h".split()
)
_NO_OBJECT = frozenset(
    "-E -S -M -MM -fsyntax-only -emit-llvm -### --version -v --help -print-search-dirs -dumpmachine "
    "-dumpversion -print-prog-name -print-file-name -print-multi-os-directory --print-search-dirs".split()
)
_SOURCES = frozenset(".c .cc .cpp .cxx .c++ .C .i .ii".split())
_DROPPED = ("-O", "-flto", "-fsanitize", "-fstack-protector", "-fprofile", "-fcoverage", "--coverage", "-g")
_KEPT = ("-g++",)


@dataclass(frozen=True, slots=True)
class CompileCommand:
    """``sources`` to compile, ``output`` (or empty), ``rest`` every other argument in order."""

    sources: tuple[str, ...]
    output: str
    rest: tuple[str, ...]
    compile_only: bool  # -c
    makes_objects: bool  # neither -E nor -S nor a question
    links: bool
    static: bool = False
    shared: bool = False
    dependencies: bool = False  # -MD or -MMD
    dependency_file: str = ""
    dependency_target: bool = False
    flags: tuple[str, ...] = field(default=())  # rest without libraries, objects and linker options


def expand(arguments: Sequence[str]) -> list[str]:
    """Arguments with response files (``@file``) read in."""
    expanded: list[str] = []
    for argument in arguments:
        path = Path(argument[1:]) if argument.startswith("@") else None
        if path and path.is_file():
            expanded += shlex.split(path.read_text(errors="surrogateescape"))
        else:
            expanded.append(argument)
    return expanded


def parse(arguments: Sequence[str]) -> CompileCommand:
    """Read a command line of cc, gcc or clang (without the program's own name)."""
    sources: list[str] = []
    rest: list[str] = []
    flags: list[str] = []
    output = dependency_file = ""
    waiting = iter(expand(arguments))
    for argument in waiting:
        if argument == "-o":
            output = next(waiting, "")
        elif argument.startswith("-o") and len(argument) > 2 and not argument.startswith("-object"):
            output = argument[2:]
        elif argument in _WITH_VALUE:
            value = next(waiting, "")
            dependency_file = value if argument == "-MF" else dependency_file
            rest += [argument, value]
            if argument not in {"-L", "-l", "-Xlinker", "-T", "-u", "-z", "-rpath", "-e", "-framework"}:
                flags += [argument, value]
        elif not argument.startswith("-") and Path(argument).suffix in _SOURCES:
            sources.append(argument)
        else:
            rest.append(argument)
            if argument.startswith("-") and not argument.startswith(("-L", "-l", "-Wl,", "-shared", "-static", "-c")):
                flags.append(argument)
    every = set(rest)
    makes = not every & _NO_OBJECT and not any(a.startswith("-print") for a in every)
    return CompileCommand(
        sources=tuple(sources),
        output=output,
        rest=tuple(rest),
        compile_only="-c" in every,
        makes_objects=makes,
        links=makes and "-c" not in every and "-r" not in every and "-nostdlib" not in every,
        static="-static" in every,
        shared="-shared" in every,
        dependencies=bool(every & {"-MD", "-MMD"}),
        dependency_file=dependency_file,
        dependency_target=bool(every & {"-MT", "-MQ"}),
        flags=tuple(flag for flag in flags if not _dropped(flag)),
    )


def _dropped(flag: str) -> bool:
    """Options that would change the code that is traced: optimisation, sanitizers, profiles, LTO."""
    return flag.startswith(_DROPPED) and flag not in _KEPT


def object_name(source: str) -> str:
    """Where ``cc -c`` puts the object of a source when it is not told."""
    return Path(source).with_suffix(".o").name
