"""Folders in the layout of the Siemens programs and of SIR: where the versions and the tests are.

Siemens: a golden ``source``, ``versions`` with a folder each, and ``testplans/universe`` with a test a
line (arguments and redirections). SIR's larger programs: ``versions.alt/versions.seeded`` with a folder
each that holds a whole program and in its ``FaultSeeds.h`` several faults, and
``testplans.alt/v1/v0.cov.universe`` with tests such as ``-P [-c if ../inputs/one]``.

Faults that a macro switches on, as SIR seeds them: ``FaultSeeds.h`` has a line for each.

``/* #define F_KP_1 */`` is a fault that is off.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from afterd.errors import UsageError

_SOURCES = ("source", "source.alt/source.orig")
_ORIGINALS = "versions.alt/versions.orig"
_VERSIONS = ("versions", "versions.alt/versions.seeded", _ORIGINALS)
_PLANS = ("testplans", "testplans.alt")
_UNIVERSES = ("universe", "v0.cov.universe", "*.universe")
_PATH = re.compile(r"[^\s<>'\"]*/[^\s<>'\"]+")
_REDIRECTED = re.compile(r"(?:^|\s)<\s*([^\s<>|;&'\"]+)")
_SWITCH = re.compile(r"-(?P<name>[A-Z])\s*\[(?P<value>.*?)\]\s*(?=-[A-Z]\s*\[|$)")


@dataclass(frozen=True, slots=True)
class Sources:
    """A program: folders laid over each other, with at most one of its seeded faults on."""

    folders: tuple[Path, ...]
    seed: str = ""

    def lay(self, tree: Path) -> None:
        """Write the program into a directory, which is made."""
        for folder in self.folders:
            shutil.copytree(folder, tree, dirs_exist_ok=True)
        for header in tree.rglob(HEADER):
            header.write_text(switched_header(header.read_text(errors="replace"), self.seed))


@dataclass(frozen=True, slots=True)
class Version:
    """A faulty program, the one without the fault, and the tests of both."""

    name: str
    golden: Sources
    faulty: Sources
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Subject:
    """A folder in that layout; ``folder`` is where a test's relative paths begin, ``flags`` are the
    compiler's, ``missing`` the tests that are left out because the file that they read is not there.
    """

    versions: tuple[Version, ...]
    folder: Path
    flags: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def subject(directory: Path, flags: tuple[str, ...] = ()) -> Subject:
    """What is in the folder; UsageError where something of the layout is missing."""
    holder = _first_path(directory, _VERSIONS, "a folder of faulty versions")
    folders = sorted((path for path in holder.iterdir() if path.is_dir()), key=_natural)
    versions = tuple(version for path in folders for version in _versions(directory, path))
    if not versions:
        raise UsageError(f"There is no faulty version in {directory}; see docs/localization.md.")
    folder = _folder(directory, {test: None for version in versions for test in version.tests})
    gone = {t: None for v in versions for t in v.tests if not _has_input(t, folder)}
    kept = (replace(v, tests=tuple(t for t in v.tests if t not in gone)) for v in versions)
    return Subject(tuple(kept), folder, flags, tuple(gone))


def _folder(directory: Path, tests: Collection[str]) -> Path:
    """Where the tests' relative paths lead to most files: SIR's scripts run one folder down."""
    below = [*_PLANS, "inputs", "scripts"]
    folders = [directory, *(directory / name for name in below if (directory / name).is_dir())]
    named = [word for test in tests for word in _PATH.findall(test)]
    return max(folders, key=lambda folder: sum((folder / word).is_file() for word in named))


def _has_input(test: str, folder: Path) -> bool:
    """Whether the file that a test's standard input comes from is there."""
    return all((folder / name).is_file() for name in _REDIRECTED.findall(test))


def _versions(directory: Path, path: Path) -> Iterator[Version]:
    """The faulty versions that a folder stands for: a fault a macro, or the folder itself."""
    tests = _tests(directory, path.name)
    headers = sorted(path.rglob(HEADER))
    if not headers:
        golden = _first_path(directory, _SOURCES, "a folder with the golden version")
        yield Version(path.name, Sources((golden,)), Sources((golden, path)), tests)
        return
    original = directory / _ORIGINALS / path.name
    folders = (original, path) if original.is_dir() and original != path else (path,)
    for name in dict.fromkeys(n for h in headers for n in seeds(h.read_text(errors="replace"))):
        faulty = Sources(folders, name)
        yield Version(f"{path.name}/{name}", Sources(folders), faulty, tests)


def _tests(directory: Path, version: str) -> tuple[str, ...]:
    """The universe of a version, or of all; UsageError where there is none, or nothing in it."""
    plans = [directory / name for name in _PLANS]
    places = [folder for plan in plans for folder in (plan / version, plan)]
    found = [path for folder in places for name in _UNIVERSES for path in sorted(folder.glob(name))]
    if not found:
        raise UsageError(
            f"{directory} has no {_PLANS[0]}/universe (the list of tests); see docs/localization.md."
        )
    lines = found[0].read_text(errors="replace").splitlines()
    tests = tuple(test for test in map(_test, lines) if test is not None)
    if not tests:
        raise UsageError(f"There is no test in {found[0]}; see docs/localization.md.")
    return tests


def _test(line: str) -> str | None:
    """Arguments and redirections; None where SIR's switches ask for more than those."""
    switches = list(_SWITCH.finditer(line))
    if not line.startswith("-") or not switches or switches[0].start() > 0:
        return line
    values = {switch["name"]: switch["value"].strip() for switch in switches}
    if values.keys() - {"P", "I"}:
        return None
    given = f" < {values['I']}" if "I" in values else ""
    return values.get("P", "") + given


def _first_path(directory: Path, names: tuple[str, ...], what: str) -> Path:
    for name in names:
        if (directory / name).exists():
            return directory / name
    raise UsageError(f"{directory} has no {names[0]} ({what}); see docs/localization.md.")


def _natural(path: Path) -> tuple[int, str]:
    digits = "".join(filter(str.isdigit, path.name))
    return int(digits or 0), path.name


HEADER = "FaultSeeds.h"

_DEFINED = re.compile(r"\s*(?:/\*+|//)?\s*#\s*define\s+(?P<name>\w+)[^*]*(?:\*+/\s*)?")
_GUARD = re.compile(r"^\s*#\s*ifndef\s+(\w+)", re.MULTILINE)


def seeds(header: str) -> tuple[str, ...]:
    """The macros of a ``FaultSeeds.h``, on or off, in order; its include guard is none."""
    guards = set(_GUARD.findall(header))
    found = (_DEFINED.fullmatch(line) for line in header.splitlines())
    names = dict.fromkeys(match["name"] for match in found if match is not None)
    return tuple(name for name in names if name not in guards)


def switched_header(header: str, seed: str) -> str:
    """The header with this fault on and all others off; line by line the same."""
    known = set(seeds(header))

    def line(text: str) -> str:
        match = _DEFINED.fullmatch(text)
        if match is None or match["name"] not in known:
            return text
        return f"#define {seed}" if match["name"] == seed else ""

    return "\n".join(map(line, header.splitlines())) + "\n"
