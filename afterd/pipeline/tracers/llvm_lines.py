"""LLVM's line counts of the programs that Cargo built with ``-C instrument-coverage``."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from afterd.errors import ToolchainError
from afterd.execution.recipe import Recipe
from afterd.pipeline.tracers.counting_tools import tool_said

LACKS_LLVM = (
    "Rust's coverage needs llvm-profdata and llvm-cov of LLVM 19 or newer; install llvm-19 (or"
    " `rustup component add llvm-tools`)."
)
_PROGRAM = re.compile(r"\((?P<path>\S*target/\S+/deps/\S+)\)")


def llvm_lines(into: Path, root: Path, said: str, recipe: Recipe) -> Iterator[str]:
    """The counts in the format of lcov, of the programs that Cargo ``said`` it ran; the first of LLVM's tools that
    reads them is taken. Raises ToolchainError where none does.
    """
    raw = sorted(into.glob("*.profraw"))
    programs = list(dict.fromkeys(root / match["path"] for match in _PROGRAM.finditer(said)))
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


def llvm_tools() -> Iterator[Path]:
    """The folders that hold LLVM's tools: rustup's, the system's, newest first, and the path's."""
    home = Path(os.environ.get("RUSTUP_HOME", Path.home() / ".rustup"))
    folders = [*home.glob("toolchains/*/lib/rustlib/*/bin"), *Path("/usr/lib").glob("llvm-*/bin")]
    numbered = sorted(
        folders, key=lambda path: int((re.findall(r"\d+", path.parent.name) or ["99"])[0])
    )
    which = shutil.which("llvm-profdata")
    for folder in (*reversed(numbered), *([Path(which).parent] if which else [])):
        if (folder / "llvm-profdata").exists() and (folder / "llvm-cov").exists():
            yield folder
