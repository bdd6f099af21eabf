"""Files that came with the test: its own command, or the build's, names them, and only the bad version has them.

A script that shows a bug is called as its author likes (``sh repro.sh``). Without it the good version can be neither
built nor tested, so it is no change that may be guilty: every version has it, as it has the other test files. So is
a file of data that only the bad version has and that the text of such a file, or of a test the command names, names.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from posixpath import basename, normpath

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
    texts = [reader.read(entry.id) for entry in there.values() if entry and entry.is_file]
    words = {word for text in texts for word in words_of_command(os.fsdecode(text))}
    found += (
        path for path in _new_data(reader, good, bad, rules) if words & {path, basename(path)}
    )
    return [f"/{glob.escape(path)}" for path in dict.fromkeys(found)]


def _new_data(reader: TreeReader, good: str, bad: str, rules: FileRules) -> Iterator[str]:
    for raw, old, new in reader.differences(good, bad):
        path = os.fsdecode(raw)
        if old is None and new and new.is_file and kind_of(path, rules) in _READ:
            yield path


def _named_paths(settings: Settings) -> Iterator[str]:
    for command in (settings.test, settings.build):
        for word in words_of_command(command_line(command)):
            path = normpath(file_of_test(word))
            if not path.startswith(("/", "-", "..")) and path != ".":
                yield path
