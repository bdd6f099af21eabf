"""Everything a traced build needs on disk: the runtime library and a compiler under every usual name."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from afterd.errors import ToolchainError
from afterd.execution.c_library import cxx_headers
from afterd.execution.compiler_shims import older_options
from afterd.execution.environment import scrubbed_environment
from afterd.execution.process import Command
from afterd.execution.sandbox import run
from afterd.execution.toolchain import Toolchain, settled_compiler
from afterd.execution.zig import is_zigs
from afterd.limits import Limits
from afterd.trace.c.build import generators
from afterd.trace.c.build.compile_request import SERVED
from afterd.trace.c.build.compiler_wrapper import ASKING
from afterd.trace.c.build.modules import ModuleStore

_ONE_AT_A_TIME = Lock()
_RUNTIME = Path(__file__).parents[1] / "weave" / "runtime.c"
_WRAPPER = (
    "import gc, sys; gc.disable(); sys.path.insert(0, sys.argv.pop(1)); sys.path.append(sys.argv.pop(1));"
    "from afterd.trace.c.build.compile_request import main; main()"
)
_SHIM = """\
#!/bin/sh
# A configure script, CMake and Meson ask hundreds of times: what is plainly a question needs no Python.
answer() {{
    kept=${{PATH#{shims}:}}
    case ":$kept:" in
    *:{shims}:*) ;;
    *) PATH=$kept; export PATH; exec {plain} "$@" ;;
    esac
}}
case "$PWD/" in
{asking}) answer "$@" ;;
esac
case " $* " in
*" conftest."*|*"/conftest."*|" --version "|" -v "|" -V "|" -dumpversion "|" -dumpmachine ") answer "$@" ;;
esac
{settings} exec {program} "$@"
"""
_C_NAMES = ("cc", "gcc", "clang", "c99", "c89")
_CXX_NAMES = ("c++", "g++", "clang++")
_COMPILER = re.compile(
    r"(?:[a-z0-9_]+-(?:[a-z0-9]+-)?linux-gnu-)?(?:(c\+\+|g\+\+|clang\+\+)|cc|gcc|clang|c99|c89)"
    r"(?:-\d+(?:\.\d+)*)?"
)


def prepare(
    directory: Path,
    toolchain: Toolchain,
    base: Mapping[str, str],
    runtime: Path = _RUNTIME,
) -> ModuleStore:
    """Make the store of a traced build whose environment without afterd is ``base``.

    Raises ToolchainError when the runtime does not compile.
    """
    directory = directory.absolute()  # the compilers are started in other directories
    store = ModuleStore(directory)
    library, shims = directory / "lib", directory / "bin"
    library.mkdir(exist_ok=True)
    clang = settled_compiler(
        toolchain, library
    )  # by its path: in the build its name means afterd-cc
    shims.mkdir(exist_ok=True)
    for name, made in _runtime_made(clang, runtime).items():
        (library / name).write_bytes(made)
    for name, is_cxx in _names(base).items():
        users = _users(name, base)
        older = older_options(base.get("PATH", ""))
        real = _cxx(clang, toolchain, users) if is_cxx else (*clang, *older)
        # zig's C++ library is another one: what is compiled plainly would not go with the rest
        of_zig = is_cxx and _is_zigs_library(real)
        plain = (*real, *toolchain.untrapped) if of_zig or not users else users
        _write_shim(shims / name, directory, real, plain)
    generators.stand_before(shims, directory, base.get("PATH", os.defpath))
    return store


def _names(base: Mapping[str, str]) -> dict[str, bool]:
    """The names under which a build may ask for a compiler, and whether it is one of C++."""
    found = dict.fromkeys(_C_NAMES, False) | dict.fromkeys(_CXX_NAMES, True)
    for folder in base.get("PATH", os.defpath).split(os.pathsep):
        for path in Path(folder).glob("*[cg+]*") if folder else ():
            if (named := _COMPILER.fullmatch(path.name)) and os.access(path, os.X_OK):
                found[path.name] = bool(named[1])
    return found


def _users(name: str, base: Mapping[str, str]) -> tuple[str, ...]:
    """The compiler that a build would have by this name; nothing where there is none."""
    chosen = {"cc": base.get("CC", ""), "c++": base.get("CXX", "")}.get(name, "")
    try:
        program, *more = shlex.split(chosen) or [name]
    except ValueError:
        program, more = name, []
    found = shutil.which(program, path=base.get("PATH", os.defpath))
    return (found, *more) if found else ()


def _cxx(clang: tuple[str, ...], toolchain: Toolchain, users: tuple[str, ...]) -> tuple[str, ...]:
    """The C++ compiler beside a C compiler. zig's compiles its own C++ library, for a minute, before the first
    program; where the user has a compiler, it reads the headers of that one's library, which is linked.
    """
    if toolchain.is_zig:
        found = () if not users or is_zigs(users) else _headers(users)
        return (*clang, *(f"-I{folder}" for folder in found)) if found else (*clang[:-1], "c++")
    path = Path(clang[0])
    beside = path.with_name(path.name.replace("clang", "clang++", 1))
    return (str(beside) if beside.exists() else clang[0], *clang[1:])


def _is_zigs_library(cxx: tuple[str, ...]) -> bool:
    return cxx[-1] == "c++" and is_zigs(cxx)


@cache
def _headers(compiler: tuple[str, ...]) -> tuple[Path, ...]:
    return cxx_headers(compiler, scrubbed_environment())


def _runtime_made(clang: tuple[str, ...], runtime: Path) -> dict[str, bytes]:
    """The runtime as a shared library and as an object: both ends of a range are linked with the same."""
    with _ONE_AT_A_TIME:
        return _compiled(clang, runtime, runtime.stat().st_mtime_ns)


@cache
def _compiled(clang: tuple[str, ...], runtime: Path, _changed: int) -> dict[str, bytes]:
    common = (
        *clang,
        "-O2",
        "-fPIC",
        "-fno-sanitize=all",
        "-fno-stack-protector",
        "-fno-builtin",
        "-pthread",
        str(runtime),
    )
    shared = ("-DAFTERD_SHARED", "-shared", "-Wl,-soname,libafterd_rt.so")
    with TemporaryDirectory(prefix="afterd-runtime-") as scratch:
        made = {name: Path(scratch) / name for name in ("libafterd_rt.so", "afterd_rt.o")}
        library, alone = made.values()
        _compile((*common, *shared, "-o", str(library)), Path(scratch))
        _compile((*common, "-c", "-o", str(alone)), Path(scratch))
        return {name: path.read_bytes() for name, path in made.items()}


def _compile(line: tuple[str, ...], directory: Path) -> None:
    result = run(Command(line, directory, scrubbed_environment(), merge=True), Limits().build)
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


def _write_shim(path: Path, store: Path, real: tuple[str, ...], plain: tuple[str, ...]) -> None:
    """A shell script, so that no variable of the build's environment can turn it off."""
    given = {"STORE": str(store), "CLANG": json.dumps(real), "PLAIN": json.dumps(plain)}
    settings = " ".join(f"AFTERD_CC_{name}={shlex.quote(text)}" for name, text in given.items())
    root = shlex.quote(str(Path(__file__).parents[4]))
    found = importlib.util.find_spec("llvmlite")
    library = shlex.quote(str(Path(found.origin).parents[1]) if found and found.origin else "")
    program = f"{shlex.quote(sys.executable)} -I -S -c {shlex.quote(_WRAPPER)} {root} {library}"
    path.write_text(
        _SHIM.format(
            shims=shlex.quote(str(path.parent)),
            asking="|".join(f"*/{folder}/*" for folder in sorted(ASKING)),
            plain=shlex.join(plain),
            settings=settings,
            program=program,
        )
    )
    path.chmod(0o755)


def environment(store: ModuleStore, base: Mapping[str, str]) -> dict[str, str]:
    """The environment of a traced build: afterd-cc as CC and CXX and under the usual names on PATH.

    ccache would keep what afterd-cc makes, and give one build's objects to another.
    """
    shims = store.directory / "bin"
    return {
        **base,
        "PATH": f"{shims}{os.pathsep}{base.get('PATH', os.defpath)}",
        "CC": str(shims / "cc"),
        "CXX": str(shims / "c++"),
        "CCACHE_DISABLE": "1",
        SERVED: "1",
    }


def begin_build(store: ModuleStore) -> None:
    """Sources that are younger than this were made by the build: afterd-cc looks at the time."""
    (store.directory / "bin/cc").touch()


def recording_into(directory: Path, settings: Mapping[str, str]) -> dict[str, str]:
    """What a traced program's environment needs to record into ``directory``.

    Only the directory's name is in it, and names of equal length are equally good: an environment of
    another size would move the stack, and two recordings could not be compared.
    """
    text = "".join(f"{name}={value}\n" for name, value in settings.items())
    (directory / "settings").write_text(text)
    return {"AFTERD_TRACE": str(directory)}
