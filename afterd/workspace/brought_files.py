"""Files that came with the test: its own command, or the build's, names them, and only the bad version has them.

A script that shows a bug is called as its author likes (``sh repro.sh``). Without it the good version can be neither
built nor tested, so it is no change that may be guilty: every version has it, as it has the other test files. So is
a file of data that only the bad version has and that the text of such a file, or of a test the command names, names;
and any file beside such a script that it names (``python3 repro.py`` in a ``repro.sh``), and what that one does.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from posixpath import basename, dirname, normpath

import pygit2

from afterd.config import Settings, command_line
from afterd.errors import RepositoryError
from afterd.model.change import FileKind
from afterd.vcs.kinds import FileRules, kind_of
from afterd.vcs.repository import parse_range
from afterd.vcs.trees import TreeReader
from afterd.workspace.named_tests import file_of_test

_READ = (FileKind.DATA, FileKind.DOCS)
_BETWEEN_WORDS = re.compile(r"[\s'\"();&|<>=]+")


def words_of_command(typed: str) -> list[str]:
    """What stands in a shell command between blanks, quotes and operators, once each."""
    return [*dict.fromkeys(filter(None, _BETWEEN_WORDS.split(typed)))]


def brought_files(repository: pygit2.Repository, settings: Settings, rules: FileRules) -> list[str]:
    """Patterns of these files, and of the data that a test of the command names; none where no range is known."""
    if settings.diff is not None or not settings.test:
        return []
    try:
        ends = parse_range(repository, settings.range, settings.good or None)
    except RepositoryError:
        return []  # it is said where the range is wanted
    reader = TreeReader(repository)
    good, bad = (reader.tree_of(revision) for revision in (ends.good, ends.bad))
    there = {path: reader.lookup(bad, os.fsencode(path)) for path in _named_paths(settings)}
    found = [
        path
        for path, entry in there.items()
        if entry and not reader.lookup(good, os.fsencode(path))
    ]
    new = {
        os.fsdecode(path): entry.id
        for path, old, entry in reader.differences(good, bad)
        if old is None and entry and entry.is_file
    }
    there_or_new = new | {
        path: entry.id for path, entry in there.items() if entry and entry.is_file
    }
    found += _named_beside(reader, found, there_or_new, new.keys())
    read = there_or_new.keys() & {*there, *found}
    texts = [there_or_new[path] for path in read]
    said = frozenset().union(*(_words_in(reader, blob) for blob in texts))
    found += (
        path for path in new if kind_of(path, rules) in _READ and said & {path, basename(path)}
    )
    return [f"/{glob.escape(path)}" for path in dict.fromkeys(found)]


def _named_beside(
    reader: TreeReader, scripts: Sequence[str], blobs: Mapping[str, str], new: Set[str]
) -> list[str]:
    """The ``new`` files in the folder of a script that it names, and those that these do."""
    found: list[str] = []
    waiting = [path for path in scripts if path in blobs]
    while waiting:
        script = waiting.pop()
        said = {*map(basename, _words_in(reader, blobs[script]))}
        beside = [
            path
            for path in sorted(new - {*scripts, *found})
            if dirname(path) == dirname(script) and basename(path) in said
        ]
        found += beside
        waiting += beside
    return found


def _words_in(reader: TreeReader, blob: str) -> frozenset[str]:
    return frozenset(words_of_command(os.fsdecode(reader.read(blob))))


def _named_paths(settings: Settings) -> Iterator[str]:
    for command in (settings.test, settings.build):
        for word in words_of_command(command_line(command)):
            path = normpath(file_of_test(word))
            if not path.startswith(("/", "-", "..")) and path != ".":
                yield path
