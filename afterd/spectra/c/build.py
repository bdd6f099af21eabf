"""A build with counters: what it needs on disk, and what a counted run needs in its environment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from afterd.execution.toolchain import Toolchain
from afterd.spectra.c.object_code import BITS
from afterd.trace.c.build.modules import ModuleStore
from afterd.trace.c.build.traced_build import prepare

RUNTIME = Path(__file__).with_name("runtime.c")
WIDTHS = (8, 16, 32, 64)
"""Bits a counter may have."""

# A process's file is sparse, but every module takes address space: 32 bits count to 4 billion.
USUAL = 32


def prepared_store(
    directory: Path, toolchain: Toolchain, base: Mapping[str, str], bits: int = USUAL
) -> ModuleStore:
    """The store of a counted build; raises ToolchainError when the runtime does not compile.

    Counters have ``bits`` bits and stop at their largest value. ``traced_build.environment`` gives
    the environment of the build, which without counters is ``base``.
    """
    directory.mkdir(parents=True, exist_ok=True)
    (directory / BITS).write_text(str(bits))
    return prepare(directory, toolchain, base, RUNTIME)


def counting_into(directory: Path) -> Mapping[str, str]:
    """What a counted program's environment needs to count into ``directory``, which is there."""
    return {"AFTERD_COUNTS": str(directory.absolute())}


def wrapped_command(command: tuple[str, ...], directory: Path) -> tuple[str, ...]:
    """The command, with its captured output known in ``directory``: see ``counts.Process``."""
    script = 'ln -sfn "$(readlink /proc/$$/fd/1)" "$0/output" 2>&-; exec "$@"'
    return ("sh", "-c", script, str(directory.absolute()), *command)
