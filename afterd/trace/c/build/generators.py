"""What a build makes of a grammar (bison, flex, re2c, gperf), made anew of a variant's, without a build.

A traced build finds these programs under their usual names on PATH, each behind a script that notes its command line.
With a variant's grammar it is called once more, in a folder of its own, and what it makes, or prints, is read by the
compiler as if the build had made it. Only where the bad version's grammar comes out so as it stands in the slot: what a
makefile edits afterwards is for the real build to judge.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from afterd.execution.environment import scrubbed_environment
from afterd.execution.includes import COMPILED, INCLUDED
from afterd.execution.process import Command
from afterd.execution.sandbox import run
from afterd.limits import ProcessLimits

MADE_AS = ("y.tab", "lex.yy")
"""Beginnings of the names of what is made of a grammar, whatever that is called."""
_NAMES = ("bison", "yacc", "byacc", "flex", "flex++", "lex", "re2c", "gperf")
_OUTPUTS = frozenset({"-o", "--output"})
"""Options before the name of a file that is made."""
_NOTES = "generators"
_SHIM = """\
#!/bin/sh
# each call in a file of its own, as several are made at the same time; where it reads and prints to, too
note=$(mktemp {notes}/XXXXXXXXXX) && printf '%s\\0' "$PWD" "$(readlink /proc/$$/fd/0)" "$(readlink /proc/$$/fd/1)" \\
    {program} "$@" > "$note"
exec {program} "$@"
"""
_PLACE = re.compile(r"^(?P<file>[^\s:]+):(?P<line>\d+)(?:[:.][\d.:-]*)?: ")
_SHOWN = re.compile(r"^\s*\d+ \| ")


@dataclass(frozen=True, slots=True)
class Generation:
    """A call of such a program, in a folder: what its standard input was, and its standard output."""

    directory: Path
    stdin: Path
    stdout: Path
    argv: tuple[str, ...]

    def reads(self, grammar: Path) -> bool:
        """Whether a word of the command line is this file, or what it is given to read."""
        words = (self.directory / word for word in self.argv[1:])
        return any(_normal(path) == grammar for path in (self.stdin, *words))


@dataclass(frozen=True, slots=True)
class Remade:
    """The files that came of a grammar, by path in the repository, or what was said against it."""

    files: Mapping[str, bytes]
    refused: str = ""


def stand_before(shims: Path, store: Path, path: str) -> None:
    """Put a script that notes its calls before each of these programs that is on a ``PATH``."""
    notes = store / _NOTES
    notes.mkdir(exist_ok=True)
    for name in _NAMES:
        if found := shutil.which(name, path=path):
            words = {"program": shlex.quote(found), "notes": shlex.quote(str(notes))}
            (shims / name).write_text(_SHIM.format(**words))
            (shims / name).chmod(0o755)


def generations(store: Path) -> list[Generation]:
    """The calls of a traced build."""
    found = set[Generation]()
    for note in (store / _NOTES).glob("*"):
        directory, stdin, stdout, *argv = os.fsdecode(note.read_bytes()).split("\0")[:-1]
        found.add(Generation(Path(directory), Path(stdin), Path(stdout), tuple(argv)))
    return sorted(found, key=lambda each: (each.directory, each.argv))


class Generators:
    """The calls of the build that stands in ``root``."""

    def __init__(self, root: Path, calls: Iterable[Generation], limits: ProcessLimits) -> None:
        self._root = root.resolve()
        self._calls = [call for call in calls if self._is_here(_normal(call.directory))]
        self._limits = limits
        self._trusted: dict[str, bool] = {}
        self._printed: dict[Generation, Path | None] = {}
        self._known: dict[tuple[str, bytes], Remade | None] = {}
        self.made = 0  # bytes

    def remade(self, grammar: str, text: bytes) -> Remade | None:
        """What comes of a variant's text of a grammar; None where only a build tells."""
        return self._made(grammar, text) if self.is_remade(grammar) else None

    def is_remade(self, grammar: str) -> bool:
        """Whether what the bad version's build made of a grammar comes of it again."""
        if grammar not in self._trusted:
            path = self._root / grammar
            made = self._made(grammar, path.read_bytes()) if path.is_file() else None
            self._trusted[grammar] = made is not None and all(
                _is_alike((self._root / file).read_bytes(), content)
                for file, content in made.files.items()
            )
        return self._trusted[grammar]

    def _made(self, grammar: str, text: bytes) -> Remade | None:
        """What comes of it, made once; None where nothing does that the build has. The bad version's is made first."""
        key = grammar, sha256(text).digest()
        if key not in self._known:
            self._known[key] = found = self._made_by_calls(grammar, text)
            self.made += sum(map(len, found.files.values())) if found else 0
        return self._known[key]

    def _made_by_calls(self, grammar: str, text: bytes) -> Remade | None:
        files: dict[str, bytes] = {}
        for call in self._calls:
            if call.reads(self._root / grammar):
                with tempfile.TemporaryDirectory(prefix="afterd-grammar-") as scratch:
                    apart = Path(scratch).resolve() / "slot"
                    making = _Making(self._root, apart, call, grammar)
                    said = making.said_of(text, self._limits)
                    if said.against:
                        return Remade({}, said.against)
                    files.update(making.files())
                    if said.printed:
                        place = self._printed_into(call, said.printed)
                        if place is None:
                            return None
                        files[str(place.relative_to(self._root))] = said.printed
        return Remade(files) if files else None

    def _printed_into(self, call: Generation, content: bytes) -> Path | None:
        """The file of the slot that has what a call prints of the bad version's grammar, ``content``: the one it went
        to, or one beside that, where it was renamed. None where another program was to read it.
        """
        if call not in self._printed:
            beside = sorted(call.stdout.parent.glob("*")) if self._is_here(call.stdout) else ()
            compiled = [path for path in beside if _is_compiled(path)]
            alike = (path for path in compiled if _is_alike(path.read_bytes(), content))
            self._printed[call] = call.stdout if call.stdout in compiled else next(alike, None)
        return self._printed[call]

    def _is_here(self, path: Path) -> bool:
        return path.is_relative_to(self._root)


@dataclass(frozen=True, slots=True)
class _Said:
    """What a program had ``against`` a text; where it had nothing, what it ``printed``."""

    against: str
    printed: bytes = b""


@dataclass(frozen=True, slots=True)
class _Making:
    """One call made again, in a folder ``apart`` that stands for the slot."""

    root: Path
    apart: Path
    call: Generation
    grammar: str
    laid: set[Path] = field(default_factory=set, init=False)  # there for the program to read

    def said_of(self, text: bytes, limits: ProcessLimits) -> _Said:
        """What the program says against a text, or prints of it."""
        directory = self._moved(_normal(self.call.directory))
        directory.mkdir(parents=True)
        options = ("", *self.call.argv)
        for option, word in zip(options, self.call.argv, strict=False):
            if option not in _OUTPUTS:
                self._lay(_normal(self.call.directory / word), text)
        stdin = self._lay(self.call.stdin, text)
        argv = tuple(word.replace(str(self.root), str(self.apart)) for word in self.call.argv)
        command = Command(argv, directory, scrubbed_environment(), stdin)
        result = run(command, limits, scratch=self.apart.parent)
        try:
            if result.succeeded:
                return _Said("", self._as_built(result.stdout.head(result.stdout.size), {}))
            said = result.stderr.text().replace(f"{self.apart}{os.sep}", "")
            return _Said(said or result.describe())
        finally:
            result.remove()

    def _moved(self, path: Path) -> Path:
        return self.apart / path.relative_to(self.root)

    def _lay(self, path: Path, text: bytes) -> Path | None:
        """Put what a word of the command line names where the program looks for it: the text for the grammar. None of
        what lies elsewhere.
        """
        if not path.is_relative_to(self.root) or path == self.root:
            return None
        place = self._moved(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        if path == self.root / self.grammar:
            place.write_bytes(text)
        elif path.is_file():
            shutil.copyfile(path, place)
        self.laid.add(place)
        return place if place.is_file() else None

    def files(self) -> Mapping[str, bytes]:
        """What was made and stands in the slot as well, as the build has it."""
        made = [p for p in self.apart.rglob("*") if _is_compiled(p) and p not in self.laid]
        built = {path: there for path in made if (there := self._built_as(path)) is not None}
        renamed = {path.name.encode(): there.name.encode() for path, there in built.items()}
        return {
            str(there.relative_to(self.root)): self._as_built(path.read_bytes(), renamed)
            for path, there in built.items()
        }

    def _as_built(self, content: bytes, renamed: Mapping[bytes, bytes]) -> bytes:
        content = content.replace(os.fsencode(self.apart), os.fsencode(self.root))
        for name, built in renamed.items():
            content = content.replace(name, built)
        return content

    def _built_as(self, path: Path) -> Path | None:
        """The file of the slot that a build makes of it: at the same place, or called like the grammar, as ylwrap and
        makefiles do; None where there is none.
        """
        there = self.root / path.relative_to(self.apart)
        if there.is_file():
            return there
        if path.name.startswith(MADE_AS):
            grammar = Path(self.grammar)
            folders = (there.parent, there.parent.parent, (self.root / grammar).parent)
            called = (folder / f"{grammar.stem}{path.suffix}" for folder in folders)
            return next((each for each in called if each.is_file()), None)
        return None


def with_shown_lines(said: str, grammars: Mapping[str, bytes]) -> str:
    """A compiler's words against what was made of some grammars, with the grammar's own line below each message that
    names it: what the compiler read there has other words in it for the values of a rule.
    """
    told: list[str] = []
    shown = ""
    for line in said.splitlines():
        told.append(shown if shown and _SHOWN.match(line) else line)
        shown = ""
        if place := _PLACE.match(line):
            texts = [text for name, text in grammars.items() if _is_called(name, place["file"])]
            number = int(place["line"])
            lines = texts[0].splitlines() if texts else []
            if 0 < number <= len(lines):
                shown = f"{number:5} | {lines[number - 1].decode('utf-8', 'replace')}"
    return "\n".join(told)


def _is_called(name: str, told: str) -> bool:
    return f"/{name}".endswith(f"/{told.removeprefix('./')}") or f"/{told}".endswith(f"/{name}")


def _is_compiled(path: Path) -> bool:
    """Whether a compiler reads it: no listing of a parser's states."""
    return path.suffix.lower() in COMPILED | INCLUDED and path.is_file()


def _is_alike(one: bytes, other: bytes) -> bool:
    """Whether two texts are the same but for the preprocessor's lines, which name files."""
    return list(_own_lines(one)) == list(_own_lines(other))


def _own_lines(text: bytes) -> Iterator[bytes]:
    return (line for line in text.splitlines() if not line.lstrip().startswith(b"#"))


def _normal(path: Path) -> Path:
    """The path without its ``..``; its folder need not be there any more (ylwrap's)."""
    return Path(os.path.normpath(path))
