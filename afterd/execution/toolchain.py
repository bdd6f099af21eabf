"""Finding the clang that makes bitcode for tracing: the user's, the system's, or zig's."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from afterd.errors import ToolchainError
from afterd.execution.c_library import c_library_description
from afterd.execution.environment import scrubbed_environment
from afterd.execution.process import Command
from afterd.execution.sandbox import run
from afterd.execution.zig import is_zigs
from afterd.limits import Limits

OLDEST = 16
NEWEST = 22  # llvmlite's LLVM must be at least as new as the clang whose bitcode it reads
NAMES = ("clang", *(f"clang-{version}" for version in range(NEWEST, OLDEST - 1, -1)))

_VERSION = re.compile(r"clang version (\d+)((?:\.\d+)*)")


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A C compiler: ``argv`` to start it with, ``version`` as "16.0.6", whether it is zig's."""

    argv: tuple[str, ...]
    version: str
    is_zig: bool

    @property
    def major(self) -> int:
        """The major version: which LLVM its bitcode needs."""
        return int(self.version.partition(".")[0])

    @property
    def untrapped(self) -> tuple[str, ...]:
        """What makes it a compiler as projects are written for: zig traps undefined behaviour unless it is told
        not to, and compiles a library for that, for half a minute, before the first program that it links.
        """
        return ("-fno-sanitize=undefined",) if self.is_zig else ()


def find(environment: Mapping[str, str] | None = None) -> Toolchain:
    """The first that can be used of ``$AFTERD_CLANG``, the system's clang, and zig's.

    Raises ToolchainError, with what was looked at and why each was not taken.
    """
    environment = os.environ if environment is None else environment
    refusals: list[str] = []
    named = environment.get("AFTERD_CLANG", "")
    if named:
        found = _examine(tuple(shlex.split(named)), environment)
        if isinstance(found, Toolchain):
            return found
        raise ToolchainError(f"AFTERD_CLANG={named} cannot be used: {found}.")
    for argv in _candidates(environment):
        found = _examine(argv, environment)
        if isinstance(found, Toolchain):
            return found
        refusals.append(found)
    looked_at = f" ({'; '.join(refusals)})" if refusals else ""
    raise ToolchainError(
        f"No clang from {OLDEST} to {NEWEST} was found{looked_at}; install clang, run"
        " `pip install ziglang`, or set AFTERD_CLANG."
    )


def settled_compiler(toolchain: Toolchain, directory: Path) -> tuple[str, ...]:
    """How to start a compiler by its path, so that it asks the system nothing that was answered before.

    zig asks the system's ``cc`` three questions before each file, to learn where the C library is; in a
    traced build that one is ours, and each answer took as long as a file. They are asked once here and
    kept in ``directory``, which must exist as long as the compiler is used.
    """
    program = shutil.which(toolchain.argv[0]) or toolchain.argv[0]
    argv = (program, *toolchain.argv[1:])
    setter = shutil.which("env")
    if not toolchain.is_zig or not setter:
        return argv
    environment = scrubbed_environment()
    if not (description := c_library_description(environment)):
        return argv
    kept = directory.absolute() / "zig-libc.txt"
    kept.write_text(description)
    told = (setter, f"ZIG_LIBC={kept}", *argv)
    checking = Command((*told, "-E", "-x", "c", os.devnull), directory, environment)
    result = run(checking, Limits().probe)
    try:  # it refuses where there is no C library but its own, which it need not look for
        return told if result.succeeded else argv
    finally:
        result.remove()


def _candidates(environment: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    path = environment.get("PATH", os.defpath)
    for name in NAMES:
        if found := shutil.which(name, path=path):
            yield (found,)
    if zig := _zig():
        yield (zig, "cc")


def _zig() -> str:
    """The compiler inside the ziglang wheel: `python -m ziglang` would add 30 ms a file."""
    specification = importlib.util.find_spec("ziglang")
    for folder in (specification and specification.submodule_search_locations) or ():
        if found := shutil.which("zig", path=folder):
            return found
    return ""


def _examine(argv: tuple[str, ...], environment: Mapping[str, str]) -> Toolchain | str:
    """The toolchain, or why this program is not one."""
    shown = shlex.join(argv)
    if not argv or shutil.which(argv[0], path=environment.get("PATH", os.defpath)) is None:
        return f"{shown} is not a program"
    with tempfile.TemporaryDirectory(prefix="afterd-zig-") as cache:
        # zig makes its cache before it reads what it is asked; in the user's home, of a mere question
        asked = {**scrubbed_environment(environment), "ZIG_GLOBAL_CACHE_DIR": cache}
        result = run(Command((*argv, "--version"), Path.cwd(), asked), Limits().probe)
    try:
        text = result.stdout.text()
        match = _VERSION.search(text)
        if not result.succeeded:
            return f"{shown} --version {result.describe()}"
    finally:
        result.remove()
    if match is None:
        return f"{shown} is not clang"
    version = match[1] + match[2]
    if not OLDEST <= int(match[1]) <= NEWEST:
        return f"{shown} is version {version}"
    return Toolchain(argv, version, is_zig=is_zigs(argv))
