"""What a compiler command line asks for, as far as afterd-cc must know."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_WITH_VALUE = frozenset(
    [
        "-o",
        "-I",
        "-D",
        "-U",
        "-include",
        "-isystem",
        "-L",
        "-x",
        "-MF",
        "-MT",
        "-MQ",
        "-MJ",
        "-arch",
        "-Xlinker",
        "-Xclang",
        "-T",
        "-u",
        "-z",
        "-idirafter",
        "-iquote",
        "-imacros",
        "-isysroot",
        "-target",
        "--target",
        "--param",
        "-Xpreprocessor",
        "-Xassembler",
        "-framework",
        "-rpath",
        "-e",
        "-iprefix",
        "-iwithprefix",
        "-iwithprefixbefore",
        "-B",
        "-l",
        "-G",
        "-V",
        "-b",
        "-dumpdir",
        "-dumpbase",
        "-Tdata",
        "-Ttext",
        "-Tbss",
        "--sysroot",
        "-aux-info",
        "-mllvm",
        "-current_version",
        "-compatibility_version",
        "-install_name",
        "-soname",
        "-h",
        "-F",
        "-iframework",
        "-include-pch",
        "-cxx-isystem",
        "-ivfsoverlay",
        "-working-directory",
        "-resource-dir",
        "-wrapper",
        "-serialize-diagnostics",
    ]
)
_LINKER_ONLY = frozenset(
    [
        "-L",
        "-l",
        "-Xlinker",
        "-T",
        "-u",
        "-z",
        "-rpath",
        "-e",
        "-framework",
        "-soname",
        "-h",
        "-Tdata",
        "-Ttext",
        "-Tbss",
    ]
)
_LINKER_PREFIXES = (
    "-L",
    "-l",
    "-Wl,",
    "-shared",
    "-static",
    "-rdynamic",
    "-pie",
    "-no-pie",
    "-fuse-ld",
)
_NO_OBJECT = frozenset(
    [
        "-E",
        "-S",
        "-M",
        "-MM",
        "-fsyntax-only",
        "-emit-llvm",
        "-emit-ast",
        "--analyze",
        "-###",
        "--version",
        "-v",
        "--help",
        "-print-search-dirs",
        "-dumpmachine",
        "-dumpversion",
        "-dumpspecs",
        "-cc1",
        "-cc1as",
    ]
)
_DEPENDENCIES = frozenset(["-MD", "-MMD", "-MP", "-MG", "-MV", "-MF", "-MT", "-MQ"])
_MADE_BESIDE = frozenset(["-MD", "-MMD"])  # dependencies, in the same run as the object
_LANGUAGES = {".c": "c", ".i": "cpp-output", ".ii": "c++-cpp-output"} | dict.fromkeys(
    (".cc", ".cpp", ".cxx", ".c++", ".C", ".cp", ".CPP"), "c++"
)
_TRACED_LANGUAGES = frozenset(_LANGUAGES.values())
_DROPPED = (
    "-O",
    "-flto",
    "-fno-lto",
    "-fsanitize",
    "-fstack-protector",
    "-fprofile",
    "-fcoverage",
    "--coverage",
    "-ftest-coverage",
    "-g",
    "-save-temps",
    "-pedantic-errors",
    "-Werror",
    "-fembed-bitcode",
)
_FOREIGN = ("-m32", "-mx32", "-m16", "-target", "--target", "-arch")
_FREESTANDING = frozenset(
    ["-ffreestanding", "-nostdlib", "-nodefaultlibs", "-nostartfiles", "-nolibc", "-mkernel"]
)


@dataclass(frozen=True, slots=True)
class Source:
    """A file to compile; ``language`` as ``-x`` named it, or empty where the suffix says it."""

    path: str
    language: str = ""

    @property
    def arguments(self) -> tuple[str, ...]:
        """The file as the compiler is given it."""
        return ("-x", self.language, self.path) if self.language else (self.path,)


@dataclass(frozen=True, slots=True)
class CompileCommand:
    """A command line. ``flags`` are what compiling one source needs: no output, no source, nothing for
    the linker, nothing that would change the code that is traced. ``expanded`` is the whole line with
    response files read in.
    """

    expanded: tuple[str, ...]
    sources: tuple[Source, ...]
    output: str
    flags: tuple[str, ...]
    compile_only: bool  # -c
    makes_objects: bool  # neither -E nor -S nor a question
    precompiles: bool = False  # a header, for others to include
    static: bool = False
    relocatable: bool = False  # -r: a link whose result is linked again
    dependencies: tuple[str, ...] = ()  # -MD or -MMD and what belongs to it
    dependency_file: str = ""
    refusal: str = ""  # why the result is not traced, whatever the sources are


@dataclass(slots=True)
class _Reading:
    """What was read of a command line so far."""

    sources: list[Source] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    dependencies: list[str] = field(default_factory=list)
    every: set[str] = field(default_factory=set)
    output: str = ""
    language: str = ""
    precompiles: bool = False
    dependency_file: str = ""


def expand(arguments: Sequence[str], deep: int = 0) -> Iterator[str]:
    """Arguments with response files (``@file``) read in, as often as they name each other."""
    for argument in arguments:
        path = Path(argument[1:]) if argument.startswith("@") else None
        if path and path.is_file() and deep < 16:
            yield from expand(shlex.split(path.read_text(errors="surrogateescape")), deep + 1)
        else:
            yield argument


def _for_the_driver(arguments: Sequence[str]) -> Iterator[str]:
    """What is handed to the preprocessor in words of its own, as an option of the compiler's: not every
    compiler takes both (zig refuses ``-Wp,-MP,-MMD,file``, of which Makefiles in Linux's style are made).
    """
    waiting = iter(arguments)
    for argument in waiting:
        if argument == "-Xpreprocessor":
            yield next(waiting, "")
            continue
        words = iter(argument.split(",")[1:] if argument.startswith("-Wp,") else [argument])
        for word in words:
            yield word
            if word in _MADE_BESIDE and argument.startswith("-Wp,"):
                yield from ("-MF", next(words, ""))


def parse(arguments: Sequence[str]) -> CompileCommand:
    """Read a command line of cc, gcc or clang (without the program's own name)."""
    expanded = tuple(expand(arguments))
    reading = _Reading()
    waiting = _for_the_driver(expanded)
    for argument in waiting:
        reading.every.add(argument)
        if argument in _WITH_VALUE:
            _with_value(reading, argument, next(waiting, ""))
        elif argument.startswith("-o") and not argument.startswith("-object"):
            reading.output = argument[2:]
        elif argument.startswith("-x") and len(argument) > 2:
            reading.language = argument[2:]
        elif argument == "-" or not argument.startswith("-"):
            _file(reading, argument)
        elif argument in _DEPENDENCIES:
            reading.dependencies.append(argument)
        elif not argument.startswith((*_LINKER_PREFIXES, *_DROPPED)) and argument != "-c":
            reading.flags.append(argument)
    return _command(expanded, reading)


def _with_value(reading: _Reading, option: str, value: str) -> None:
    if option == "-o":
        reading.output = value
    elif option == "-x":
        reading.language = "" if value == "none" else value
    elif option in _DEPENDENCIES:
        reading.dependencies += [option, value]
        reading.dependency_file = value if option == "-MF" else reading.dependency_file
    elif option not in _LINKER_ONLY:
        reading.flags += [option, value]


def _file(reading: _Reading, path: str) -> None:
    language = reading.language or _LANGUAGES.get(Path(path).suffix, "")
    if language in _TRACED_LANGUAGES:
        reading.sources.append(Source(path, reading.language))
    headers = not reading.language and Path(path).suffix.startswith((".h", ".H"))
    if headers or reading.language.endswith("-header"):
        reading.precompiles = True


def _command(expanded: tuple[str, ...], reading: _Reading) -> CompileCommand:
    every = reading.every
    asks = bool(every & _NO_OBJECT) or any(
        argument.startswith(("-print", "--print")) for argument in every
    )
    makes_them = not _MADE_BESIDE.isdisjoint(every)
    return CompileCommand(
        expanded=expanded,
        sources=tuple(reading.sources),
        output=reading.output,
        flags=tuple(reading.flags),
        compile_only="-c" in every,
        makes_objects=not asks,
        precompiles=reading.precompiles,
        static=bool(every & {"-static", "-static-pie", "--static"}),
        relocatable=bool(every & {"-r", "-Wl,-r", "--relocatable"}),
        dependencies=tuple(reading.dependencies) if makes_them else (),
        dependency_file=reading.dependency_file,
        refusal=_refusal(expanded, reading),
    )


def _refusal(expanded: tuple[str, ...], reading: _Reading) -> str:
    foreign = next((a for a in expanded if a.startswith(_FOREIGN)), "")
    freestanding = next((a for a in expanded if a in _FREESTANDING), "")
    odd = reading.output and Path(reading.output).exists() and not Path(reading.output).is_file()
    if foreign:
        return f"{foreign} asks for code of another machine"
    if freestanding and reading.sources:
        return f"{freestanding} asks for code without a C library"
    if any(source.path == "-" for source in reading.sources):
        return "the source is standard input"
    return f"{reading.output} is not a file" if odd else ""


def object_name(source: str) -> str:
    """Where ``cc -c`` puts the object of a source when it is not told."""
    return Path(source).with_suffix(".o").name


def quoted_arguments(arguments: Sequence[str]) -> str:
    """A response file's text, as gcc and clang read it."""
    escaped = (argument.replace("\\", "\\\\").replace('"', '\\"') for argument in arguments)
    return "\n".join(f'"{argument}"' for argument in escaped) + "\n"
