"""afterd-cc: the compiler that a traced build is handed as CC and CXX.

clang makes bitcode, llvmlite instruments it and makes the object; linking, preprocessing and every
question the build system asks go unchanged to the compiler that the build would have had. What cannot
be instrumented is compiled plainly, by that one, and remembered as opaque: a traced build never fails
where a plain one succeeds.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from afterd.execution.zig import is_zigs
from afterd.trace.c.build import compilations, compile_server, gone_sections
from afterd.trace.c.build.arguments import (
    CompileCommand,
    Source,
    object_name,
    parse,
    quoted_arguments,
)
from afterd.trace.c.build.code_generation import failure_in_a_child, imported_meanwhile
from afterd.trace.c.build.modules import ModuleStore

_TRACEABLE = [
    "-O0",
    "-g",
    "-Xclang",
    "-disable-O0-optnone",
    "-fno-stack-protector",
    "-fwrapv",
    "-fno-delete-null-pointer-checks",
    "-fno-discard-value-names",
    "-U_FORTIFY_SOURCE",
    "-fno-lto",
    "-fno-sanitize=all",
    "-fno-omit-frame-pointer",
    "-Wno-everything",
]
_UNKNOWN = re.compile(
    r"(?:unknown argument|unsupported option|unknown warning option|unknown clang option):? ['\"]([^'\"]+)['\"]"
)
_ONLY_GCCS = re.compile(r"error: .*'nullptr_t'")
_GCCS_NAMES = Path(__file__).with_name("gcc_names.hpp")
_DROPPED_AT_LINK = ("-flto", "-fno-lto", "-fsanitize")
_CONFIGURE = ("conftest", "CMakeCCompilerId", "CMakeCXXCompilerId", "testCCompiler", "sanitycheck")
ASKING = frozenset({"CMakeTmp", "CMakeScratch", "meson-private"})
"""Directories in which CMake and Meson ask; nothing of the program is compiled there."""
_NOT_STARTED = 2  # what afterd-cc exits with
_ATTEMPTS = 6  # compilations, each without the options that the one before did not know
_RECORDING = "afterd.trace.c.build.object_code"
_COUNTING = "afterd.spectra.c.object_code"


@dataclass(frozen=True, slots=True)
class Wrapped:
    """clang, the compiler that the build would have without afterd, and the build's store."""

    clang: tuple[str, ...]
    plain: tuple[str, ...]
    store: ModuleStore

    @property
    def library(self) -> Path:
        """Where the runtime is."""
        return self.store.directory / "lib"

    @property
    def shims(self) -> Path:
        """Where afterd-cc stands under the usual names of compilers."""
        return self.store.directory / "bin"

    @property
    def writer(self) -> str:
        """The module that makes an object of bitcode."""
        return writer_of(self.store)


def writer_of(store: ModuleStore) -> str:
    """The module that makes an object of bitcode: in a counted build, one that counts."""
    counted = (store.directory / "counter-bits").exists()
    return _COUNTING if counted else _RECORDING


def main() -> None:
    """Compile in this process, which may leave a server for those behind it."""
    if store := os.environ.get("AFTERD_CC_STORE", ""):
        compile_server.begin(Path(store), writer_of(ModuleStore(Path(store))), _asked)
    os._exit(_asked() & 0xFF)  # to take down LLVM's modules is a tenth of what a file takes


def _asked() -> int:
    """Do what the command line asks; the environment says which compilers and which store."""
    clang, plain, store = (
        os.environ.pop(f"AFTERD_CC_{name}", "") for name in ("CLANG", "PLAIN", "STORE")
    )
    if not clang or not plain or not store:
        sys.stderr.write(
            "afterd-cc: only afterd starts this compiler; run `afterd explain` instead.\n"
        )
        return _NOT_STARTED
    wrapped = Wrapped(tuple(json.loads(clang)), tuple(json.loads(plain)), ModuleStore(Path(store)))
    path = os.environ.get("PATH", os.defpath).split(os.pathsep)  # ccache looks there for a compiler
    os.environ["PATH"] = os.pathsep.join(p for p in path if p != str(wrapped.shims))
    status = compile_and_link(wrapped, sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def compile_and_link(wrapped: Wrapped, arguments: Sequence[str]) -> int:
    """Do what the command line asks; returns the exit status of the step that failed, or 0."""
    command = parse(arguments)
    if not command.makes_objects or command.precompiles or _is_question(command):
        return _plain_compilation(wrapped, arguments)
    if command.refusal:
        return _plainly_noted(wrapped, command.sources, arguments, command.refusal)
    if _made_by_the_build(wrapped, command):
        linking = [] if command.compile_only else _runtime(wrapped, command)
        if status := _plain_link(wrapped, command, [*arguments, *linking]):
            return status
    if command.compile_only:
        return _compile_each(wrapped, command, arguments)
    return _link(wrapped, command, arguments)


def _is_question(command: CompileCommand) -> bool:
    """A configure script's programs are no part of the program; compiled plainly they answer faster."""
    asked = any(Path(source.path).name.startswith(_CONFIGURE) for source in command.sources)
    folders = [*Path.cwd().parts, *(part for s in command.sources for part in Path(s.path).parts)]
    return asked or not ASKING.isdisjoint(folders)


def _made_by_the_build(wrapped: Wrapped, command: CompileCommand) -> bool:
    """Whether a source is younger than the build: it may be a question that nothing else gives away,
    as those of a configure script that somebody wrote by hand. Its answer is the plain compiler's.
    """
    begun = (wrapped.shims / "cc").stat().st_mtime_ns
    paths = (Path(source.path) for source in command.sources)
    return any(path.exists() and path.stat().st_mtime_ns > begun for path in paths)


def _plain_compilation(wrapped: Wrapped, arguments: Sequence[str]) -> int:
    return subprocess.run([*wrapped.plain, *arguments], check=False).returncode


def _plainly_noted(
    wrapped: Wrapped, sources: Sequence[Source], arguments: Sequence[str], reason: str
) -> int:
    """Compile without instrumentation; what that made is opaque."""
    status = _plain_compilation(wrapped, arguments)
    if status == 0:
        for source in sources:
            wrapped.store.note_opaque(source.path, reason)
    return status


def _compile_each(wrapped: Wrapped, command: CompileCommand, arguments: Sequence[str]) -> int:
    for source in command.sources:
        refusal = _compile(wrapped, command, source, command.output or object_name(source.path))
        others = {other.path for other in command.sources} - {source.path}
        alone = [argument for argument in arguments if argument not in others]
        if refusal and (status := _plainly_noted(wrapped, [source], alone, refusal)):
            return status
    return 0 if command.sources else _plain_compilation(wrapped, arguments)


def _link(wrapped: Wrapped, command: CompileCommand, arguments: Sequence[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="afterd-cc-") as scratch:
        replaced = dict[str, str]()
        for number, source in enumerate(command.sources):
            target = str(Path(scratch) / f"{number}.o")
            refusal = _compile(wrapped, command, source, target)
            if refusal:
                wrapped.store.note_opaque(source.path, refusal)
            else:
                replaced[source.path] = target
        line = _linking_command(command, replaced)
        if len(command.expanded) > len(arguments):  # it was too long for a command line
            response = Path(scratch) / "arguments"
            response.write_text(quoted_arguments(line), errors="surrogateescape")
            line = [f"@{response}"]
        return _plain_link(wrapped, command, [*line, *_runtime(wrapped, command)])


def _plain_link(wrapped: Wrapped, command: CompileCommand, line: Sequence[str]) -> int:
    """Have the plain compiler link what may have been woven."""
    if gone_sections.leaves_out(command.expanded):
        return gone_sections.link(wrapped.plain, line)
    return _plain_compilation(wrapped, line)


def _linking_command(command: CompileCommand, replaced: dict[str, str]) -> list[str]:
    """The command line with objects for sources; those that are left are in their own language."""
    languages = {source.path: source.language for source in command.sources}
    line: list[str] = []
    waiting = iter(command.expanded)
    for argument in waiting:
        if argument == "-x":
            next(waiting, "")
        elif argument.startswith("-x") or argument.startswith(_DROPPED_AT_LINK):
            continue
        elif languages.get(argument) and argument not in replaced:
            line += ["-x", languages[argument], argument, "-x", "none"]
        else:
            line.append(replaced.get(argument, argument))
    return line


def _runtime(wrapped: Wrapped, command: CompileCommand) -> list[str]:
    """The runtime by its path: ``-l`` would not find it behind a -Bstatic that was left open."""
    if command.relocatable:
        return []
    if command.static:
        return [str(wrapped.library / "afterd_rt.o"), "-lpthread"]
    return [str(wrapped.library / "libafterd_rt.so"), f"-Wl,-rpath,{wrapped.library}"]


def _compile(wrapped: Wrapped, command: CompileCommand, source: Source, target: str) -> str:
    """Compile one source with instrumentation; why that cannot be done, or nothing."""
    with tempfile.TemporaryDirectory(prefix="afterd-cc-") as scratch:
        bitcode = Path(scratch) / "module.bc"
        flags = [*_without_precompiled(command.flags), *_TRACEABLE]
        dependencies = _dependencies(command, source, target)
        with imported_meanwhile(wrapped.writer) as writer:
            refusal = _clang_bitcode(wrapped, source, bitcode, flags, dependencies)
        if refusal:
            return refusal
        words = (str(bitcode), source.path, str(wrapped.store.directory), target)
        return failure_in_a_child(lambda: writer().write_object(*words), Path(scratch) / "said")


def _without_precompiled(flags: Sequence[str]) -> Iterator[str]:
    """The flags, with a header read as text where -include would take what gcc made of it."""
    waiting = iter(flags)
    for flag in waiting:
        header = next(waiting, "") if flag == "-include" else ""
        if header and Path(f"{header}.gch").exists():
            yield from ("-Xclang", "-include", "-Xclang", header)
        else:
            yield from (flag, header) if header else (flag,)


def _clang_bitcode(
    wrapped: Wrapped, source: Source, bitcode: Path, flags: list[str], dependencies: list[str]
) -> str:
    """Run clang, dropping options of other compilers that it names as unknown; why it failed."""
    errors = ""
    making = ["-c", "-emit-llvm", "-o", str(bitcode), *source.arguments]
    listing = ["-E", "-o", str(bitcode.with_suffix(".i")), *source.arguments]
    # zig 0.17 does one or the other, and compiles for either
    apart = bool(dependencies) and is_zigs(wrapped.clang)
    for _ in range(_ATTEMPTS):
        done = _run([*wrapped.clang, *flags, *([] if apart else dependencies), *making])
        if done.returncode == 0 and apart:
            _run([*wrapped.clang, *flags, *dependencies, *listing])
        if done.returncode == 0:
            line = [*wrapped.clang, *flags, *source.arguments]
            compilations.note(wrapped.store.directory, source.path, line)
            return ""
        errors = done.stderr
        if _ONLY_GCCS.search(errors) and str(_GCCS_NAMES) not in flags:
            flags = [*flags, "-include", str(_GCCS_NAMES)]
            continue
        unknown = set(_UNKNOWN.findall(errors))
        kept = [flag for flag in flags if flag not in unknown]
        if len(kept) == len(flags):
            break
        flags = kept
    first = next(
        (line for line in errors.splitlines() if "error:" in line), "clang makes no bitcode of it"
    )
    return first[:300]


def _run(line: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(line, check=False, capture_output=True, text=True, errors="replace")


def _dependencies(command: CompileCommand, source: Source, target: str) -> list[str]:
    """The dependency file goes where a plain compilation would have put it, and names its object."""
    if not command.dependencies:
        return []
    beside = target if command.compile_only else command.output or Path(source.path).name
    named = [] if command.dependency_file else ["-MF", str(Path(beside).with_suffix(".d"))]
    made = target if command.compile_only else command.output or object_name(source.path)
    target_named = {"-MT", "-MQ"} & set(command.dependencies)
    return [*command.dependencies, *named, *([] if target_named else ["-MQ", made])]
