"""What is known of regressions between released packages: the JSON files in ``data/``.

| field | meaning |
|---|---|
| ``id``, ``evidence`` | a name, and where the regression is documented |
| ``registry``, ``package``, ``good``, ``bad`` | the two releases |
| ``guilty`` | zero-context hunks whose reversal together makes the test pass |
| ``held_out`` | chosen, and its guilty hunks found, before afterd was ever run on it |
| ``single_change_fixes`` | those of which any one repairs it, where there are several |

A hunk is its file in the bad release, and first line and count in either release.

A repository of two commits, made of files in memory.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pygit2

from afterd.bench.archive import Files
from afterd.bench.judgement import Answer, SpanTarget
from afterd.bench.releases import Registry, Release
from afterd.model.location import LineSpan
from afterd.vcs.paths import path_bytes
from afterd.vcs.trees import EMPTY_TREE, Entry, TreeEditor, TreeReader

DATA = Path(__file__).parent / "data"

Fact = Mapping[str, Any]


def facts(name: str) -> list[Fact]:
    """The entries of ``data/NAME.json``."""
    table: list[Fact] = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    return table


def release(fact: Fact, side: str) -> Release:
    """The release of an entry's side, ``good`` or ``bad``."""
    return Release(Registry(fact["registry"]), fact["package"], fact[side])


def answers_of(fact: Fact) -> list[Answer]:
    """The guilty hunks, and every single one that repairs the test when it is reverted alone."""
    guilty = tuple(map(_target, fact["guilty"]))
    alone = [(_target(each),) for each in fact.get("single_change_fixes", ())]
    return [guilty, *(answer for answer in alone if answer != guilty)]


def _target(entry: Mapping[str, Any]) -> SpanTarget:
    old, new = LineSpan(*entry["good_lines"]), LineSpan(*entry["bad_lines"])
    return SpanTarget(entry["file"], old, new)


_SIGNATURE = pygit2.Signature("afterd bench", "bench@afterd.invalid", 1_700_000_000, 0)


def commit_two(
    directory: Path, good: Files, bad: Files, subjects: tuple[str, str]
) -> tuple[str, str]:
    """Commit two versions on top of each other in a new repository; the ids of the commits.

    Nothing is checked out: afterd works in slots of its own.
    """
    repository = pygit2.init_repository(directory, initial_head="main")
    first = _commit(repository, subjects[0], good)
    return first, _commit(repository, subjects[1], bad, first)


def _commit(repository: pygit2.Repository, subject: str, files: Files, *parents: str) -> str:
    tree = pygit2.Oid(hex=_stored_files(repository, files))
    oids = [pygit2.Oid(hex=parent) for parent in parents]
    commit = repository.create_commit(
        "HEAD", _SIGNATURE, _SIGNATURE, f"{subject}\n", tree, list(oids)
    )
    return str(commit)


def _stored_files(repository: pygit2.Repository, files: Files) -> str:
    editor = TreeEditor(TreeReader(repository), EMPTY_TREE)
    for path, file in files.items():
        editor.put(path_bytes(path), Entry(file.mode, str(repository.create_blob(file.content))))
    return editor.write()
