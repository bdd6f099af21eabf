"""Links that leave out what nobody uses (``--gc-sections``), with all that it refers to.

A traced module refers to each of its own functions and objects, to tell where they are. So nothing of it is left out,
and what such a program refers to in vain would be missed. It is given definitions that end the program: nobody comes
to them who does not in the plain build.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

_ASKED = re.compile(r"^(?:-Wl,(?:.*,)?)?--gc-sections\b")
_MISSED = re.compile(
    r"undefined (?:reference to|symbol:|hidden symbol:) [`'\"‘]?(?P<name>[A-Za-z_$][\w.$@]*)(?P<more>[:(<]?)"
)
_AS_THEY_ARE = (
    "-Wl,--no-demangle"  # C++'s names as they stand in the objects; not every linker takes it
)


def leaves_out(line: Sequence[str]) -> bool:
    """Whether a link is to leave out what nobody uses."""
    return any(map(_ASKED.match, line))


def link(compiler: Sequence[str], line: Sequence[str]) -> int:
    """Link; what is only missed by what the plain build leaves out is put there. The status of the last try."""
    with tempfile.TemporaryDirectory(prefix="afterd-cc-") as scratch:
        done = _linked(compiler, line, Path(scratch))
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    return done.returncode


def _linked(
    compiler: Sequence[str], line: Sequence[str], scratch: Path
) -> subprocess.CompletedProcess[str]:
    missed: dict[str, None] = {}
    names: list[str] = []
    stubs: list[str] = []
    while True:
        argv = [*compiler, *line, *names, *stubs]
        done = subprocess.run(argv, check=False, capture_output=True, text=True, errors="replace")
        found = list(_MISSED.finditer(done.stderr))
        if not names and any(each["more"] for each in found):
            names = [_AS_THEY_ARE]
            continue
        new = [each["name"] for each in found if each["name"] not in missed]
        if done.returncode == 0 or not new:
            return done
        missed.update(dict.fromkeys(new))
        stubs = [str(_stubs(compiler, missed, scratch))]


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
