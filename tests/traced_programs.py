"""C programs built plainly and with afterd-cc, run both ways, and their traces read back."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from afterd.execution.toolchain import Toolchain
from afterd.trace.c.build.traced_build import prepare, recording_into
from afterd.trace.c.read.process import Process, recorded_processes
from afterd.trace.c.read.program import Program
from afterd.trace.c.window.recording import Recording

PROGRAMS = Path(__file__).parent / "trace/c/programs"
SINGLE = sorted(
    path
    for path in PROGRAMS.iterdir()
    if path.suffix in {".c", ".cc"} and "library" not in path.name
)
RING = 1 << 16  # records: enough for every program here but the one that waits for signals
_PLAIN = (
    "-O0",
    "-w",
    "-fno-sanitize=all",
    "-fno-sanitize=undefined",
)  # zig takes no other for none


@dataclass(frozen=True)
class Observed:
    """What a run showed; standard error is only for people."""

    status: int
    output: bytes
    errors: str

    @property
    def behaviour(self) -> tuple[int, bytes]:
        """What must not depend on being traced."""
        return self.status, self.output


def run(line: Sequence[str | Path], cwd: Path, extra: Mapping[str, str] | None = None) -> Observed:
    """Run a command in a clean environment."""
    variables = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **(extra or {})}
    done = subprocess.run(
        [str(word) for word in line],
        cwd=cwd,
        env=variables,
        capture_output=True,
        check=False,
        timeout=120,
    )
    return Observed(done.returncode, done.stdout, done.stderr.decode(errors="replace"))


class Laboratory:
    """One compiler with the store of one traced build."""

    def __init__(self, toolchain: Toolchain, directory: Path) -> None:
        self.toolchain = toolchain
        self.directory = directory
        (directory / "store").mkdir(parents=True)
        chosen = {"CC": toolchain.argv, "CXX": _driver(toolchain, cxx=True)}
        users = {name: shlex.join((*argv, *toolchain.untrapped)) for name, argv in chosen.items()}
        base = {**os.environ, **users}
        self.store = prepare(directory / "store", toolchain, base)
        self._runs = 0

    def traced(self, *arguments: str | Path, cxx: bool = False, cwd: Path = PROGRAMS) -> Observed:
        """Run afterd-cc."""
        return run([self.store.directory / "bin" / ("c++" if cxx else "cc"), *arguments], cwd)

    def plain(self, *arguments: str | Path, cxx: bool = False, cwd: Path = PROGRAMS) -> Observed:
        """Run the compiler that afterd-cc runs."""
        return run([*_driver(self.toolchain, cxx=cxx), *_PLAIN, *arguments], cwd)

    def build(self, *arguments: str | Path, name: str, cxx: bool = False) -> Built:
        """Build a program both ways; both builds must succeed."""
        paths = {way: self.directory / way / name for way in ("traced", "plain")}
        for way, path in paths.items():
            path.parent.mkdir(exist_ok=True)
            line = (*arguments, "-o", path, "-lm", "-lpthread")
            done = self.traced(*line, cxx=cxx) if way == "traced" else self.plain(*line, cxx=cxx)
            assert done.status == 0, f"{way} build of {name}: {done.errors}"
        return Built(self, name, paths["traced"], paths["plain"])

    def run_traced(
        self, line: Sequence[str | Path], cwd: Path | None = None, ring: int = RING
    ) -> tuple[Observed, Path]:
        """Run a command with recording switched on: what it showed, and the directory of its traces."""
        self._runs += 1
        traces = self.directory / f"run-{self._runs}"
        traces.mkdir()
        settings = {"AFTERD_RING": str(ring), "AFTERD_BLOCKS": str(self.store.blocks())}
        return run(line, cwd or self.directory, recording_into(traces, settings)), traces

    def processes(self, traces: Path) -> list[Process]:
        """The recorded processes of a run, in the order in which they began."""
        program = Program(self.store, PROGRAMS)
        return [Process(Recording(path), program) for path in recorded_processes(traces)]


@dataclass(frozen=True)
class Built:
    """One program in both forms."""

    laboratory: Laboratory
    name: str
    traced: Path
    plain: Path

    @cached_property
    def recorded(self) -> tuple[Observed, Path]:
        """A run with recording on."""
        return self.laboratory.run_traced([self.traced])

    @cached_property
    def processes(self) -> list[Process]:
        """The processes of that run."""
        return self.laboratory.processes(self.recorded[1])


def build_all(laboratory: Laboratory, sources: Sequence[Path]) -> dict[str, Built]:
    """Build several programs at once."""

    def one(source: Path) -> Built:
        return laboratory.build(source, name=source.stem, cxx=source.suffix == ".cc")

    with ThreadPoolExecutor(2) as pool:
        return {built.name: built for built in pool.map(one, sources)}


def _driver(toolchain: Toolchain, *, cxx: bool) -> tuple[str, ...]:
    if not cxx:
        return toolchain.argv
    if toolchain.is_zig and (installed := shutil.which("c++")):
        return (installed,)  # whose library takes no minute to be built
    if toolchain.is_zig:
        return (*toolchain.argv[:-1], "c++")
    return (toolchain.argv[0].replace("clang", "clang++"), *toolchain.argv[1:])
