"""Links that leave out what nobody uses (``--gc-sections``), with all that it refers to.

A traced module refers to each of its own functions and objects, to tell where they are. So nothing of it is left out,
and what such a program refers to in vain would be missed. It is given definitions that end the program: nobody comes
to them who does not in the plain build.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

_ASKED = re.compile(r"^(?:-Wl,(?:.*,)?)?--gc-sections\b")
_MISSED = re.compile(
    r"undefined (?:reference to|symbol:|hidden symbol:) [`'\"‘]?([A-Za-z_$][\w.$@]*)"
)
_WHOLE = "-Wl,--no-demangle"  # names as they stand in the objects


def leaves_out(line: Sequence[str]) -> bool:
    """Whether a link is to leave out what nobody uses."""
    return any(map(_ASKED.match, line))


def link(compiler: Sequence[str], line: Sequence[str], scratch: Path) -> int:
    """Link; what is only missed by what the plain build leaves out is put there. The status of the last try."""
    missed: dict[str, None] = {}
    stubs: list[str] = []
    while True:
        done = subprocess.run(
            [*compiler, *line, *stubs, _WHOLE],
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
        )
        new = [name for name in _MISSED.findall(done.stderr) if name not in missed]
        if done.returncode == 0 or not new:
            break
        missed.update(dict.fromkeys(new))
        stubs = [str(_stubs(compiler, missed, scratch))]
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    return done.returncode


def _stubs(compiler: Sequence[str], names: Iterable[str], scratch: Path) -> Path:
    """An object with a definition of each name, to which any other one is preferred."""
    source, made = scratch / "missed.c", scratch / "missed.o"
    source.write_text(
        "".join(
            f'void afterd_missed_{number}(void) __asm__("{name}") __attribute__((weak));\n'
            f"void afterd_missed_{number}(void) {{ __builtin_trap(); }}\n"
            for number, name in enumerate(names)
        )
    )
    subprocess.run([*compiler, "-w", "-fPIC", "-c", str(source), "-o", str(made)], check=False)
    return made
