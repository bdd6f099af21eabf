"""A compiler under the usual names, for machines without one: zig's, or clang-16 and its like."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

from afterd.errors import ToolchainError
from afterd.execution.toolchain import Toolchain, find

_NAMES = {"cc": "cc", "gcc": "cc", "clang": "cc", "c++": "c++", "g++": "c++", "clang++": "c++"}


def path_with_compiler(directory: Path) -> str:
    """``PATH`` with a compiler behind it, in case the build asks for one that is not installed.

    What is installed is found first; where ``cc`` is, PATH is left as it is. Where no compiler can
    be had at all the build will say so itself.
    """
    usual = os.environ.get("PATH", os.defpath)
    if shutil.which("cc"):
        return usual
    try:
        toolchain = find()
    except ToolchainError:
        return usual
    directory.mkdir(parents=True, exist_ok=True)
    for name, language in _NAMES.items():
        _write(directory / name, toolchain, language)
    return f"{usual}{os.pathsep}{directory}"


def _write(path: Path, toolchain: Toolchain, language: str) -> None:
    argv = toolchain.argv
    if toolchain.is_zig:
        argv = (*argv[:-1], language, *toolchain.untrapped)
    elif language == "c++":
        argv = (argv[0].replace("clang", "clang++", 1), *argv[1:])
    path.write_text(f'#!/bin/sh\nexec {shlex.join(argv)} "$@"\n')
    path.chmod(0o755)
