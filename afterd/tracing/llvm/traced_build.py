"""Everything a traced build needs on disk: the runtime library and a compiler under every usual name."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from afterd.errors import ToolchainError
from afterd.execution.environment import scrubbed
from afterd.execution.process import Command
from afterd.execution.sandbox import run
from afterd.execution.toolchain import Toolchain
from afterd.limits import Limits
from afterd.tracing.llvm.modules import ModuleStore

_RUNTIME = Path(__file__).with_name("runtime.c")
_WRAPPER = (
    "import sys; sys.path.insert(0, sys.argv.pop(1));"
    "from afterd.tracing.llvm.compiler_wrapper import main; main()"
)
_C_NAMES = ("cc", "gcc", "clang", "c99", "c89")
_CXX_NAMES = ("c++", "g++", "clang++")


def prepare(directory: Path, toolchain: Toolchain, runtime: Path = _RUNTIME) -> ModuleStore:
    """Make the store of a traced build; raises ToolchainError when the runtime does not compile."""
    directory = directory.absolute()  # the compilers are started in other directories
    store = ModuleStore(directory)
    clang = _absolute(toolchain)
    library, shims = directory / "lib", directory / "bin"
    library.mkdir(exist_ok=True)
    shims.mkdir(exist_ok=True)
    common = (
        *clang,
        "-O2",
        "-fPIC",
        "-fno-sanitize=all",
        "-fno-stack-protector",
        "-pthread",
        str(runtime),
    )
    shared = ("-shared", "-Wl,-soname,libafterd_rt.so", "-o", str(library / "libafterd_rt.so"))
    _compile((*common, *shared), directory)
    _compile((*common, "-c", "-o", str(library / "afterd_rt.o")), directory)
    for names, real in ((_C_NAMES, clang), (_CXX_NAMES, _cxx(clang, toolchain))):
        for name in names:
            _write_shim(shims / name, directory, real)
    return store


def _absolute(toolchain: Toolchain) -> tuple[str, ...]:
    """The compiler by its path: its name will mean afterd-cc in the traced build's PATH."""
    program = shutil.which(toolchain.argv[0]) or toolchain.argv[0]
    return (program, *toolchain.argv[1:])


def _cxx(clang: tuple[str, ...], toolchain: Toolchain) -> tuple[str, ...]:
    """The C++ compiler beside a C compiler."""
    if toolchain.is_zig:
        return (*clang[:-1], "c++")
    path = Path(clang[0])
    beside = path.with_name(path.name.replace("clang", "clang++", 1))
    return (str(beside) if beside.exists() else clang[0], *clang[1:])


def _compile(line: tuple[str, ...], directory: Path) -> None:
    result = run(Command(line, directory, scrubbed(), merge=True), Limits().build)
    try:
        if not result.succeeded:
            first = (result.stdout.text().strip().splitlines() or [result.describe()])[0]
            message = (
                f"{line[0]} cannot compile afterd's tracing runtime ({first}); set AFTERD_CLANG to a"
                " clang of version 16 or newer."
            )
            raise ToolchainError(message)
    finally:
        result.remove()


def _write_shim(path: Path, store: Path, real: tuple[str, ...]) -> None:
    """A shell script, so that no variable of the build's environment can turn it off."""
    settings = (
        f"AFTERD_CC_STORE={shlex.quote(str(store))} AFTERD_CC_CLANG={shlex.quote(json.dumps(real))}"
    )
    root = shlex.quote(str(Path(__file__).parents[3]))
    program = f"{shlex.quote(sys.executable)} -I -S -c {shlex.quote(_WRAPPER)} {root}"
    path.write_text(f'#!/bin/sh\n{settings} exec {program} "$@"\n')
    path.chmod(0o755)


def environment(store: ModuleStore, base: Mapping[str, str]) -> dict[str, str]:
    """The environment of a traced build: afterd-cc as CC and CXX and under the usual names on PATH."""
    shims = store.directory / "bin"
    return {
        **base,
        "PATH": f"{shims}{os.pathsep}{base.get('PATH', os.defpath)}",
        "CC": str(shims / "cc"),
        "CXX": str(shims / "c++"),
    }


def recording_into(directory: Path, settings: Mapping[str, str]) -> dict[str, str]:
    """What a traced program's environment needs to record into ``directory``.

    Only the directory's name is in it, and names of equal length are equally good: an environment of
    another size would move the stack, and two recordings could not be compared.
    """
    text = "".join(f"{name}={value}\n" for name, value in settings.items())
    (directory / "settings").write_text(text)
    return {"AFTERD_TRACE": str(directory)}
