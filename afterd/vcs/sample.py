"""Sample repositories: the programs in ``fixtures/`` as git repositories of two commits.

A fixture is a directory with a good version (``base/``), a commit's worth of changes that break
nothing (``harmless.patch``, optional) and scenarios: ``scenarios/NAME/``, or the fixture itself
where it has only one. A scenario is a ``guilty.patch`` on top, and ``scenario.toml``, which says
how to build and test and which changes are to be found.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pygit2
from pygit2.enums import FileMode, ResetMode

from afterd.errors import UsageError
from afterd.model.change import Change
from afterd.vcs.patch_file import apply_patch
from afterd.vcs.paths import path_bytes
from afterd.vcs.trees import EMPTY_TREE, Entry, TreeEditor, TreeReader

ONLY = ""  # the name of a fixture's scenario where it has just one
_SIGNATURE = pygit2.Signature("afterd samples", "samples@afterd.invalid", 1_700_000_000, 0)


@dataclass(frozen=True, slots=True)
class Marker:
    """Tells a change without its number: its file, and text in one of its new lines (of its old
    ones where it only removes).
    """

    file: str
    contains: str


@dataclass(frozen=True, slots=True)
class Scenario:
    """What ``scenario.toml`` says. ``guilty`` is the root to be found and ``auxiliary`` what has to
    go along for the build; each of ``alternatives`` is a root that is just as right.
    """

    description: str
    build: str
    test: str
    guilty: tuple[Marker, ...]
    auxiliary: tuple[Marker, ...] = ()
    alternatives: tuple[tuple[Marker, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class SampleRepository:
    """A scenario made real: a work tree at ``path`` with the bad commit checked out."""

    path: Path
    good: str
    bad: str
    scenario: Scenario


def fixtures_directory() -> Path:
    """Where the fixtures are: inside an installed package, else in the source checkout.

    Raises UsageError when the installation has none.
    """
    package = Path(__file__).resolve().parents[1]
    for candidate in (package / "_fixtures", package.parent / "fixtures"):
        if candidate.is_dir():
            return candidate
    raise UsageError(
        f"The sample programs are not part of this installation ({package}). Install afterd from "
        "its wheel or work in a checkout."
    )


def scenarios(fixture: Path) -> tuple[str, ...]:
    """The names of a fixture's scenarios, sorted; ``ONLY`` where it has just one."""
    several = fixture / "scenarios"
    if not several.is_dir():
        return (ONLY,)
    return tuple(sorted(path.name for path in several.iterdir() if path.is_dir()))


def read_scenario(fixture: Path, name: str = ONLY) -> Scenario:
    """The scenario as it is written down. Raises UsageError when there is none of this name."""
    path = _folder(fixture, name) / "scenario.toml"
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        known = ", ".join(filter(None, scenarios(fixture))) or "only one, without a name"
        raise UsageError(
            f"There is no scenario {name!r} in {fixture}; there are: {known}."
        ) from error
    return Scenario(
        description=" ".join(str(table["description"]).split()),
        build=str(table["build"]),
        test=str(table["test"]),
        guilty=_markers(table, "guilty"),
        auxiliary=_markers(table, "auxiliary"),
        alternatives=tuple(_markers(each, "guilty") for each in table.get("alternatives", ())),
    )


def materialise(fixture: Path, scenario: str, destination: Path) -> SampleRepository:
    """Make a scenario a git repository at ``destination``, which must be new or empty.

    Two commits, the good version and the bad one, with the same ids wherever it is done. Raises
    UsageError for an unknown scenario or a destination in use, RepositoryError when a patch of the
    fixture does not apply.
    """
    read = read_scenario(fixture, scenario)
    if destination.exists() and (not destination.is_dir() or any(destination.iterdir())):
        raise UsageError(f"{destination} is not empty; name a new directory for the sample.")
    repository = pygit2.init_repository(destination, initial_head="main")
    repository.config["core.autocrlf"] = False
    good_tree = bad_tree = _stored_sample(repository, fixture / "base")
    for patch in (fixture / "harmless.patch", _folder(fixture, scenario) / "guilty.patch"):
        if patch.exists():
            bad_tree = apply_patch(repository, bad_tree, patch.read_bytes())
    good = _commit(repository, "The version that passes\n", good_tree)
    bad = _commit(repository, "The version that fails\n", bad_tree, good)
    repository.reset(pygit2.Oid(hex=bad), ResetMode.HARD)
    return SampleRepository(destination, good, bad, read)


def matches(change: Change, marker: Marker) -> bool:
    """Whether ``marker`` means this change."""
    if marker.file not in {change.file, change.old_file}:
        return False
    lines = change.patch.splitlines()
    new = [line[1:] for line in lines if line.startswith("+")]
    old = [line[1:] for line in lines if line.startswith("-")]
    return any(marker.contains in line for line in new or old)


def _folder(fixture: Path, scenario: str) -> Path:
    return fixture / "scenarios" / scenario if scenario else fixture


def _markers(table: Mapping[str, Any], key: str) -> tuple[Marker, ...]:
    return tuple(Marker(entry["file"], entry["contains"]) for entry in table.get(key, ()))


def _stored_sample(repository: pygit2.Repository, folder: Path) -> str:
    editor = TreeEditor(TreeReader(repository), EMPTY_TREE)
    for path in _files(folder):
        content = path.read_bytes()
        # A wheel may lose the executable bit, and the commit ids must not depend on it.
        mode = FileMode.BLOB_EXECUTABLE if content.startswith(b"#!") else FileMode.BLOB
        name = path_bytes(path.relative_to(folder).as_posix())
        editor.put(name, Entry(mode, str(repository.create_blob(content))))
    return editor.write()


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def _commit(repository: pygit2.Repository, message: str, tree: str, *parents: str) -> str:
    oids = [pygit2.Oid(hex=parent) for parent in parents]
    commit = repository.create_commit(
        "HEAD", _SIGNATURE, _SIGNATURE, message, pygit2.Oid(hex=tree), list(oids)
    )
    return str(commit)
