"""LLVM's line counts of programs that were built with its counters: by Cargo, or by Swift's own programs."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from afterd.errors import ToolchainError
from afterd.execution.recipe import Recipe
from afterd.pipeline.tracers.counting_tools import tool_said

LACKS_LLVM = (
    "Rust's coverage needs llvm-profdata and llvm-cov of LLVM 19 or newer; install llvm-19 (or"
    " `rustup component add llvm-tools`)."
)
LACKS_SWIFT = (
    "Swift's coverage needs swift and swiftc, with llvm-profdata and llvm-cov beside them."
)
_COUNTING = "-profile-generate", "-profile-coverage-mapping"
_SHIMS = {
    "swift": '#!/bin/sh\ncase "$1" in\nbuild | test | run)\n  command=$1\n  shift\n  exec REAL "$command"'
    f' {" ".join(f"-Xswiftc {flag}" for flag in _COUNTING)} "$@" ;;\nesac\nexec REAL "$@"\n',
    "swiftc": f'#!/bin/sh\nexec REAL "$@" {" ".join(_COUNTING)}\n',
}
"""Swift takes no options from the environment."""
_ELF, _ELF_TYPE, _LINKED = b"\x7fELF", 16, (b"\x02", b"\x03")
_TABLE = b"__llvm_covmap"
_PROGRAM = re.compile(r"\((?P<path>\S*target/\S+/deps/\S+)\)")


def llvm_lines(into: Path, programs: Sequence[Path], recipe: Recipe) -> Iterator[str]:
    """The counts of these programs in the format of lcov; the first of LLVM's tools that reads them is taken. Raises
    ToolchainError where none does.
    """
    raw = sorted(into.glob("*.profraw"))
    if not raw or not programs:
        return
    for tools in llvm_tools():
        merged = into / "merged"
        merge = (
            str(tools / "llvm-profdata"),
            "merge",
            "-sparse",
            *map(str, raw),
            "-o",
            str(merged),
        )
        if not tool_said(merge, into, recipe)[0]:
            continue
        objects = [word for path in programs for word in ("-object", str(path))][1:]
        export = (
            str(tools / "llvm-cov"),
            "export",
            "-format=lcov",
            f"-instr-profile={merged}",
            *objects,
        )
        done, report = tool_said(export, into, recipe)
        if done:
            yield from report.splitlines()
            return
    raise ToolchainError(LACKS_LLVM)


def cargo_programs(root: Path, said: str) -> list[Path]:
    """The programs that Cargo said it ran."""
    return list(dict.fromkeys(root / match["path"] for match in _PROGRAM.finditer(said)))


def counted_programs(root: Path) -> list[Path]:
    """The programs and libraries below a folder that have LLVM's table of what is counted."""
    return sorted(path for path in root.rglob("*") if path.is_file() and _is_counted(path))


def _is_counted(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(_ELF_TYPE + 1)
        if head[:4] != _ELF or head[_ELF_TYPE : _ELF_TYPE + 1] not in _LINKED:
            return False
        return _TABLE in file.read()


def swift_shims(folder: Path, path: str) -> bool:
    """Write what stands before Swift's own programs on the path, and has them count; whether they are there."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in _SHIMS.items():
        real = shutil.which(name, path=path)
        if real is None:
            return False
        shim = folder / name
        shim.write_text(text.replace("REAL", shlex.quote(real)))
        shim.chmod(0o755)
    return True


def llvm_tools() -> Iterator[Path]:
    """The folders that hold LLVM's tools: Swift's and rustup's, the system's, newest first, and the path's."""
    swift = shutil.which("swiftc")
    if swift:
        yield from _with_tools([Path(swift).resolve().parent])
    home = Path(os.environ.get("RUSTUP_HOME", Path.home() / ".rustup"))
    folders = [*home.glob("toolchains/*/lib/rustlib/*/bin"), *Path("/usr/lib").glob("llvm-*/bin")]
    numbered = sorted(
        folders, key=lambda path: int((re.findall(r"\d+", path.parent.name) or ["99"])[0])
    )
    which = shutil.which("llvm-profdata")
    yield from _with_tools([*reversed(numbered), *([Path(which).parent] if which else [])])


def _with_tools(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        if (folder / "llvm-profdata").exists() and (folder / "llvm-cov").exists():
            yield folder
