"""Compilers under the usual names: one for machines without (zig's, or clang-16 and its like), and the user's own
as older ones were.
"""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

from afterd.errors import ToolchainError
from afterd.execution.toolchain import Toolchain, find

_NAMES = {"cc": "cc", "gcc": "cc", "clang": "cc", "c++": "c++", "g++": "c++", "clang++": "c++"}
_LENIENT = """\
#!/bin/sh
left=$#
while [ "$left" -gt 0 ]; do
  word=$1; shift
  case $word in
    -Werror|-Werror=*) ;;
    *) set -- "$@" "$word" ;;
  esac
  left=$((left - 1))
done
exec %s %s "$@"
"""
_LENIENT_CARGO = """\
#!/bin/sh
case $1 in
  +*) toolchain=$1; shift ;;
esac
if [ -n "$RUSTFLAGS" ]; then
  RUSTFLAGS="$RUSTFLAGS --cap-lints warn"; export RUSTFLAGS
else
  set -- --config 'build.rustflags = ["--cap-lints", "warn"]' "$@"
fi
exec %s ${toolchain:+"$toolchain"} "$@"
"""
_LENIENT_GO = """\
#!/bin/sh
if [ "$1" = test ]; then
  shift; set -- test -vet=off "$@"
fi
exec %s "$@"
"""
_OLDER = ("-fcommon",)
"""What GCC before 10 and clang before 11 did by themselves, and C programs with variables in headers rely on."""
_FOLDER = "older-compilers"


def path_with_older_compilers(below: Path, path: str) -> str:
    """``path`` with the compilers on it in front, under their usual names, as older ones were: no warning is an
    error, of which a compiler that is newer than a version has more, and a variable of C may stand in several objects.
    Rust's is told so by Cargo; Go's tests are not looked through by vet.
    """
    directory = below / _FOLDER
    directory.mkdir(parents=True, exist_ok=True)
    languages = {**_NAMES, "c89": "cc", "c99": "cc"}
    for name, language in languages.items():
        if real := shutil.which(name, path=path):
            more = shlex.join(_OLDER) if language == "cc" else ""
            _write_script(directory / name, _LENIENT % (shlex.quote(real), more))
    if cargo := shutil.which("cargo", path=path):
        _write_script(directory / "cargo", _LENIENT_CARGO % shlex.quote(cargo))
    if go := shutil.which("go", path=path):
        _write_script(directory / "go", _LENIENT_GO % shlex.quote(go))
    return f"{directory}{os.pathsep}{path}"


def older_options(path: str) -> tuple[str, ...]:
    """What a compiler of C is given beside the arguments of a build with this ``PATH``."""
    return _OLDER if Path(path.split(os.pathsep, maxsplit=1)[0]).name == _FOLDER else ()


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
    _write_script(path, f'#!/bin/sh\nexec {shlex.join(argv)} "$@"\n')


def _write_script(path: Path, script: str) -> None:
    path.write_text(script)
    path.chmod(0o755)
