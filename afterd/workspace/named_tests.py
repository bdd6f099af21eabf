"""Tests that are named where a command is taken: ``tests/test_a.py::test_b`` is a test of the project's own suite.

Names are pytest's ids (a file, with what is in it behind ``::``) and unittest's dotted ones; or one name as another
runner tells it, where no shell would find a command in it. A command of the same name, on PATH or executable in the
version, comes first. In a list of names a file, a class or a function stands for all tests in it.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from posixpath import basename, normpath

from afterd.config import Settings
from afterd.errors import TestError
from afterd.model.wording import first_names
from afterd.vcs.trees import TreeReader

_OF_FILE = re.compile(r"(?P<file>[^\s:'\"]+\.py)(?:::(?P<inside>.+))?", re.DOTALL)
_BETWEEN_IDS = re.compile(r"\s+(?=[^\s:]+\.py(?:::|\s|$))")
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)+")
_FOLDERS = ("", "tests", "test", "src")
"""Where a module may be that a dotted name begins with."""
_SHELL = ("sh", "-c")
_OF_A_SHELL = re.compile(r"^[^\s]*[=$`\"'(){};&|<>!*?~]|\s-")
"""What begins no name of a test: an assignment, a quotation, a pattern, a redirection; nor has one an option."""
_BUILTIN = frozenset(
    {".", ":", "[", "case", "cd", "command", "eval", "exec", "exit", "export", "false", "for", "if"}
    | {"set", "test", "time", "trap", "true", "ulimit", "umask", "unset", "until", "while"}
)


@dataclass(frozen=True, slots=True)
class NamedTest:
    """A test by its file and its names in there, outermost first; none: all tests of the file."""

    file: str
    inside: tuple[str, ...] = ()


def typed_names(command: Sequence[str]) -> tuple[str, ...]:
    """The tests that stand where a command is taken, as they were typed; () where it is a command."""
    words = _words(command)
    if not words or not all(map(_is_name, words)):
        return ()
    return () if os.sep not in words[0] and shutil.which(words[0]) else words


def name_of_a_runner(settings: Settings, home: str) -> str:
    """What stands where a command is taken and can be none: perhaps a test as its own runner names it; else empty.

    ``home`` is the work tree. What a build or a preparation makes is found by no one yet.
    """
    command = settings.test
    text = command[2] if tuple(command[:2]) == _SHELL and len(command) == 3 else " ".join(command)
    is_made = settings.build or settings.prepare
    if not text.strip() or is_made or _OF_A_SHELL.search(text) or _OF_FILE.fullmatch(text):
        return ""
    program = text.split()[0]
    found = shutil.which(program) or (home and shutil.which(os.path.join(home, program)))  # noqa: PTH118
    return "" if found or program in _BUILTIN else text.strip()


def _words(command: Sequence[str]) -> tuple[str, ...]:
    if len(command) != 3 or tuple(command[:2]) != _SHELL:
        return tuple(command)
    text = command[2].strip()
    ids = _BETWEEN_IDS.split(text)
    if "[" in text and all(map(_OF_FILE.fullmatch, ids)):
        return tuple(ids)  # a test's parameters are copied as they are, with blanks and quotes
    try:
        return tuple(shlex.split(text))
    except ValueError:  # a quotation that does not end
        return ()


def _is_name(word: str) -> bool:
    return bool(_OF_FILE.fullmatch(word) or _DOTTED.fullmatch(word))


@dataclass(frozen=True, slots=True)
class Version:
    """Where named tests are looked for: a tree. ``home`` is the work tree, ``here`` the user's folder in it."""

    reader: TreeReader
    tree: str
    home: str = ""
    here: str = ""

    def named_tests(self, settings: Settings) -> tuple[NamedTest, ...]:
        """The tests that the settings name in place of a command; () where that is a command.

        Raises TestError where it is neither.
        """
        words = typed_names(settings.test)
        if not words or self._is_program(words[0]):
            return ()
        found = [self._named(word) for word in words]
        if None in found and settings.build and "::" not in settings.test[-1]:
            return ()  # what a build makes is in no version
        for word, each in zip(words, found, strict=True):
            if each is None:
                raise TestError(self._neither(word))
        return tuple(each for each in found if each)

    def other_name(self, settings: Settings) -> str:
        """A test as a runner that is no Python's names it; empty where a command may be meant."""
        name = name_of_a_runner(settings, self.home)
        return "" if name and self._is_program(name.split()[0]) else name

    def _is_program(self, word: str) -> bool:
        entry = self.reader.lookup(self.tree, os.fsencode(normpath(word)))
        return entry is not None and entry.is_executable

    def _named(self, word: str) -> NamedTest | None:
        if match := _OF_FILE.fullmatch(word):
            path = match["file"]
            inside = os.path.relpath(path, self.home) if path.startswith(os.sep) else path
            file = next(
                filter(self._holds, (normpath(inside), normpath(f"./{self.here}/{inside}"))), ""
            )
            return NamedTest(file, tuple(_inside(match["inside"]))) if file else None
        parts = word.split(".")
        for length in range(len(parts), 0, -1):
            module = "/".join(parts[:length]) + ".py"
            for folder in (*_FOLDERS, self.here):
                if self._holds(file := normpath(f"./{folder}/{module}")):
                    return NamedTest(file, tuple(parts[length:]))
        return None

    def _holds(self, path: str) -> bool:
        entry = self.reader.lookup(self.tree, os.fsencode(path))
        return entry is not None and entry.is_file

    def _neither(self, word: str) -> str:
        match = _OF_FILE.fullmatch(word)
        wanted = match["file"] if match else ""
        alike = sorted(
            os.fsdecode(path)
            for path, _ in self.reader.files(self.tree)
            if wanted and basename(os.fsdecode(path)) == basename(wanted)
        )
        what = f"file {wanted}" if wanted else "module of that name"
        hint = f" (there is {first_names(alike, 3)})" if alike else ""
        return (
            f"{word} is neither a command nor a test: the bad version has no {what}{hint}. Name a test as in"
            " --test tests/test_a.py::test_b, or a command as in --test 'make check'."
        )


def _inside(text: str | None) -> Iterator[str]:
    """The names behind a file, the parameters with the last of them: they may hold colons."""
    plain, bracket, parameters = (text or "").partition("[")
    *outer, last = plain.split("::")
    yield from outer
    if last:
        yield last + bracket + parameters


def file_of_test(test: str) -> str:
    """The file of a test that is named as pytest does."""
    return test.partition("::")[0]


def is_within(test: str, name: str) -> bool:
    """Whether a test is the named one or one of what that stands for: a file's, a class's, a function's with its
    parameters.
    """
    rest = test.removeprefix(name)
    return test == name or (rest != test and rest.startswith(("::", "[", ".", "/", " > ")))


def is_asked_for(test: str, names: Sequence[str]) -> bool:
    """Whether a failed test is among the named ones; a file that could not be read stands for all in it.

    Go's tests are often named without their package, which stands before a blank.
    """
    of_go = test.partition(" ")[2]
    return any(
        is_within(test, name) or is_within(name, test) or is_within(of_go, name) for name in names
    )
