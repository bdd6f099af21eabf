"""afterd-cc: the compiler that a traced build is handed as CC and CXX.

clang makes bitcode, llvmlite instruments it and makes the object; linking, preprocessing and every
question the build system asks go to clang unchanged. What cannot be instrumented is compiled plainly
and remembered as opaque: a traced build never fails where a plain one succeeds.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from afterd.tracing.llvm.arguments import CompileCommand, object_name, parse
from afterd.tracing.llvm.modules import ModuleStore

_TRACEABLE = (
    "-O0 -g -gno-column-info -Xclang -disable-O0-optnone -fno-stack-protector -fno-discard-value-names "
    "-U_FORTIFY_SOURCE -fno-lto -fno-sanitize=all -fno-omit-frame-pointer -Wno-everything"
).replace("-gno-column-info ", "").split()
_UNKNOWN = re.compile(r"(?:unknown argument|unsupported option|unknown warning option):? '([^']+)'")
_WRITER = "import sys; from afterd.tracing.llvm.compiler_wrapper import write_object; write_object(*sys.argv[1:])"


@dataclass(frozen=True, slots=True)
class Wrapped:
    """The real compiler and the build's store."""

    clang: tuple[str, ...]
    store: ModuleStore
    library: Path


def main() -> None:
    """Entry point of ``afterd-cc``; the environment says which compiler and which store."""
    arguments = sys.argv[1:]
    clang, store = os.environ.get("AFTERD_CC_CLANG", ""), os.environ.get("AFTERD_CC_STORE", "")
    if not clang or not store:
        sys.stderr.write("afterd-cc: only afterd starts this compiler; run `afterd explain` instead.\n")
        sys.exit(2)
    wrapped = Wrapped(tuple(json.loads(clang)), ModuleStore(Path(store)), Path(store) / "lib")
    sys.exit(compile_and_link(wrapped, arguments))


def compile_and_link(wrapped: Wrapped, arguments: Sequence[str]) -> int:
    """Do what the command line asks; returns the exit status of the step that failed, or 0."""
    command = parse(arguments)
    if not command.makes_objects or _is_probe(command):
        return _plain(wrapped, arguments)
    if command.compile_only:
        return _compile_each(wrapped, command, arguments)
    if not command.links:
        return _plain(wrapped, arguments)
    return _link(wrapped, command, arguments)


def _is_probe(command: CompileCommand) -> bool:
    """A configure script's questions are never part of the program; answering them plainly is faster."""
    names = [Path(source).name for source in command.sources]
    return any(name.startswith(("conftest", "CMakeCCompilerId", "testCCompiler", "sanitycheck")) for name in names) or "CMakeFiles/CMakeScratch" in os.getcwd().replace("CMakeTmp", "CMakeScratch")


def _plain(wrapped: Wrapped, arguments: Sequence[str]) -> int:
    return subprocess.run([*wrapped.clang, *arguments], check=False).returncode


def _compile_each(wrapped: Wrapped, command: CompileCommand, arguments: Sequence[str]) -> int:
    if not command.sources:
        return _plain(wrapped, arguments)
    for source in command.sources:
        target = command.output or object_name(source)
        if not _compile(wrapped, command, source, target):
            return _plain(wrapped, arguments)
    return 0


def _link(wrapped: Wrapped, command: CompileCommand, arguments: Sequence[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="afterd-cc-") as scratch:
        replaced = dict[str, str]()
        for number, source in enumerate(command.sources):
            target = str(Path(scratch) / f"{number}.o")
            if _compile(wrapped, command, source, target):
                replaced[source] = target
        line = [replaced.get(argument, argument) for argument in arguments]
        return _plain(wrapped, [*_without_lto(line), *_runtime(wrapped, command)])


def _without_lto(arguments: Sequence[str]) -> list[str]:
    return [argument for argument in arguments if not argument.startswith(("-flto", "-fsanitize"))]


def _runtime(wrapped: Wrapped, command: CompileCommand) -> list[str]:
    if command.static:
        return [str(wrapped.library / "afterd_rt.o"), "-lpthread"]
    return [f"-L{wrapped.library}", "-lafterd_rt", f"-Wl,-rpath,{wrapped.library}"]


def _compile(wrapped: Wrapped, command: CompileCommand, source: str, target: str) -> bool:
    """Compile one source with instrumentation; False when a plain compilation should say why not."""
    with tempfile.TemporaryDirectory(prefix="afterd-cc-") as scratch:
        bitcode = Path(scratch) / "module.bc"
        flags = [*command.flags, *_dependencies(command, target), *_TRACEABLE]
        done = _clang_bitcode(wrapped, source, bitcode, flags)
        if done is None:
            return False
        writer = [sys.executable, "-c", _WRITER, str(bitcode), source, str(wrapped.store.directory), target]
        made = subprocess.run(writer, check=False, capture_output=True, text=True, errors="replace")
    if made.returncode == 0:
        return True
    why = made.stderr.strip().splitlines()[-1:] or [f"code generation ended with status {made.returncode}"]
    wrapped.store.note_opaque(source, why[0][:300])
    return False


def _clang_bitcode(wrapped: Wrapped, source: str, bitcode: Path, flags: list[str]) -> bool | None:
    """Run clang, dropping options of other compilers that it names as unknown; None when it fails."""
    for _ in range(6):
        line = [*wrapped.clang, *flags, "-c", "-emit-llvm", source, "-o", str(bitcode)]
        done = subprocess.run(line, check=False, capture_output=True, text=True, errors="replace")
        if done.returncode == 0:
            return True
        unknown = set(_UNKNOWN.findall(done.stderr))
        kept = [flag for flag in flags if flag not in unknown]
        if len(kept) == len(flags):
            return None
        flags = kept
    return None


def _dependencies(command: CompileCommand, target: str) -> list[str]:
    """The dependency file goes where a plain compilation would have put it, and names its object."""
    if not command.dependencies:
        return []
    named = [] if command.dependency_file else ["-MF", str(Path(target).with_suffix(".d"))]
    return named + ([] if command.dependency_target else ["-MT", target])


def write_object(bitcode: str, source: str, store: str, target: str) -> None:
    """The child of afterd-cc: the only process that LLVM may take down with it."""
    from afterd.tracing.llvm.object_code import instrumented_object  # noqa: PLC0415 - the wrapper itself must start without loading LLVM

    made = instrumented_object(Path(bitcode).read_bytes(), source, ModuleStore(Path(store)))
    temporary = Path(f"{target}.afterd")
    temporary.write_bytes(made)
    temporary.replace(target)


if __name__ == "__main__":
    main()
