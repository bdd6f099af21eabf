"""Whether a variant's C and C++ files still compile, each alone: a second instead of a build.

The sources that changed, and those that include a header that changed, are read as the traced build
compiled them, with the variant's texts laid over the bad version's files (clang's virtual file
system). Only a failure says anything: a linker may still miss what a compiler does not, and warnings
that a compiler of today makes errors of (an undeclared function) are for the real build to judge; but of a function
that the file had for itself (``static``) and that nobody else names, a linker finds none.

A header may reach a hundred files, and a search asks for many variants that differ in one of them: what
a file was told with the same texts is remembered, also what the same preprocessed text was told, and the file
that failed last is asked first. Of the files that only include what changed, those are asked that
mention a name on a line that differs, and one for each header, which tells whether it compiles itself.

Where build files only list other sources than before, those that stay are asked all the same, and what comes back is
asked as the good version's build compiled it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePath

from afterd.execution.build import diagnostics
from afterd.execution.environment import scrubbed_environment
from afterd.execution.failures.text import with_relative_paths
from afterd.execution.includes import INCLUDED, IncludeGraph, included_names
from afterd.execution.process import Command
from afterd.execution.sandbox import run
from afterd.execution.zig import is_zigs
from afterd.limits import VARIANT_TEXT, WORK, ProcessLimits
from afterd.model.change import NOTHING, Change, ChangeSet, FileKind
from afterd.trace.c.build import half_changes
from afterd.trace.c.build.compilations import Compilation
from afterd.trace.c.build.generators import MADE_AS, Generators, Remade, with_shown_lines
from afterd.trace.c.build.listed_sources import listed, stems
from afterd.vcs.grammar_names import GRAMMARS

COMPILED = frozenset([".c", ".cc", ".cpp", ".cxx", ".c++", ".cp"])
"""Suffixes of the sources that compilers of C and C++ are given."""
_TEMPLATES = frozenset([".in", ".m4"])
_LINES = 60
_NAME = re.compile(rb"[A-Za-z_]\w*")
_STEERS = re.compile(rb"\s*#\s*(?:include|import|if|ifdef|ifndef|elif|else|endif)\b")
_UNLINKED = re.compile(
    r"warning: (?=(?:implicit declaration of|call to undeclared) function '(?P<called>\w+)'"
    r"|function '\w+' has internal linkage but is not defined)"
)
_ASKED = (
    "-Wimplicit-function-declaration",
    "-Wno-error=implicit-function-declaration",
    "-Wundefined-internal",
    *half_changes.ASKED,
)
_SILENT = "-w"
"""Silences a compiler, whatever warning it is asked for behind it."""
_NOT_FOUND = "#error '{}' file not found\n"
"""What stands for a file that the variant lacks: an overlay of files cannot hide one."""

TextsOf = Callable[[ChangeSet], Mapping[str, bytes | None]]
"""The files of a variant that differ from the bad version's, by path; None of those it lacks."""


class SyntaxCheck:
    """Answers for the variants of one bad version, which was built in ``root``; ``good``: how the good version's build
    compiled its sources, as if it had been built there.
    """

    def __init__(
        self,
        root: Path,
        compilations: Iterable[Compilation],
        changes: Mapping[str, Change],
        texts_of: TextsOf,
        limits: ProcessLimits,
        good: Iterable[Compilation] = (),
        generators: Generators | None = None,
    ) -> None:
        self._root = root.resolve()
        self._generators = generators or Generators(self._root, (), limits)
        self._compilations = tuple(compilations)
        known = {each.source for each in self._compilations}
        self._good_alone = tuple(each for each in good if each.source not in known)
        self._changes = changes
        self._texts_of = texts_of
        self._limits = limits
        self._graph = IncludeGraph(self._root, {each.source for each in self._compilations})
        self._given = "\n".join({word for each in self._compilations for word in each.argv})
        self._reach: dict[str, set[Path]] = {}
        self._made: dict[str, set[Path]] = {}
        self._mentioned: dict[Path, frozenset[bytes]] = {}
        self._said: dict[tuple[Compilation, str], _Told] = {}
        self._read_before: dict[tuple[Compilation, str], _Told] = {}
        self._told_of: set[tuple[Compilation, str]] = set()
        self._work = 0
        self._failed: dict[Compilation, int] = {}
        self._everything = frozenset(changes)
        self._warned_before: dict[Compilation, frozenset[str] | None] = {}

    def work(self) -> int:
        """What the compiler was given so far, in the units of ``limits.WORK``.

        What was asked beside a file that failed, because there are more processors, is not counted: the
        sum is the same on every machine.
        """
        return self._work + self._generators.made * WORK.compiler

    def against(self, reverted: ChangeSet) -> str:
        """A compiler's first errors; empty where it has none, or a build may depend on more."""
        changed = [self._changes[c] for c in reverted if c in self._changes]
        lists = listed(change for change in changed if _steers_the_build(change))
        if lists is None:
            return ""
        differing = self._texts_of(reverted)
        grammars = sorted({change.file for change in changed if _is_grammar(change.file)})
        anew = {name: self._remade(name, differing.get(name)) for name in grammars}
        remade = {name: each for name, each in anew.items() if each is not None}
        if refused := next((each.refused for each in remade.values() if each.refused), ""):
            return diagnostics(refused, _LINES)
        lacking = {self._root / name for name, text in differing.items() if text is None}
        texts = self._texts(differing)
        texts |= {file: text for each in remade.values() for file, text in each.files.items()}
        left_out = lacking | self._made_of(anew.keys() - remade.keys())
        concerned = [
            each
            for each in self._concerned(texts, reverted)
            if each.source not in left_out and each.source.stem not in lists.gone
        ]
        with tempfile.TemporaryDirectory(prefix="afterd-syntax-") as scratch:
            overlay = self._overlay(Path(scratch), texts)
            said = self._first_failure(concerned, texts, overlay)
        return with_shown_lines(said, {name: differing[name] or b"" for name in remade})

    def is_read(self, change: Change) -> bool:
        """Whether the changed file is read itself, or what comes of it."""
        if _is_grammar(change.file) and not _steers_the_build(change):
            return self._generators.is_remade(change.file)
        return _is_read(change)

    def _remade(self, grammar: str, text: bytes | None) -> Remade | None:
        """What comes of a variant's grammar; None where that is for the real build to judge."""
        return None if text is None else self._generators.remade(grammar, text)

    def _made_of(self, grammars: Iterable[str]) -> set[Path]:
        """The sources that the build makes of some grammars, and those that include what it makes of them: these are
        other ones in a variant, for the real build to judge.
        """
        found = set[Path]()
        for grammar in grammars:
            if grammar not in self._made:
                made = {path for path in self._graph.files() if _may_be_made_of(grammar, path)}
                including = self._graph.known_includers([path.name for path in made])
                self._made[grammar] = made | including if made else set()
            found |= self._made[grammar]
        return found

    def _first_failure(
        self, concerned: list[Compilation], texts: Mapping[str, bytes], overlay: Path
    ) -> str:
        """What is said against one of them; as many are asked at a time as there are processors."""
        width = os.cpu_count() or 1
        with ThreadPoolExecutor(width) as pool:
            for start in range(0, len(concerned), width):
                some = concerned[start : start + width]
                said = pool.map(lambda each: self._told(each, texts, overlay), some)
                for compilation, told in zip(some, said, strict=True):
                    self._count(compilation, told)
                    if failure := told.failure or self._half_changed(compilation, told):
                        self._failed[compilation] = len(self._told_of)
                        return failure
        return ""

    def _half_changed(self, compilation: Compilation, told: _Told) -> str:
        """What speaks against a file that compiles, and is warned of as neither version of it is."""
        if not told.warned:
            return ""
        if compilation not in self._warned_before:
            ends = [self._told_alone(compilation, end) for end in (NOTHING, self._everything)]
            self._warned_before[compilation] = (
                None
                if any(end.failure for end in ends)
                else frozenset[str]().union(*(half_changes.warned(end.warned) for end in ends))
            )
        known = self._warned_before[compilation]
        return "" if known is None else half_changes.with_errors(told.warned, known)

    def _told_alone(self, compilation: Compilation, reverted: ChangeSet) -> _Told:
        """What is said of one file of a variant."""
        texts = self._texts(self._texts_of(reverted))
        with tempfile.TemporaryDirectory(prefix="afterd-syntax-") as scratch:
            return self._told(compilation, texts, self._overlay(Path(scratch), texts))

    def _texts(self, differing: Mapping[str, bytes | None]) -> dict[str, bytes]:
        """The sources and headers among the files of a variant that differ."""
        return {
            name: _NOT_FOUND.format(name).encode() if text is None else text
            for name, text in differing.items()
            if _is_c(name)
        }

    def _count(self, compilation: Compilation, told: _Told) -> None:
        """Each preprocessed text once, however often it is asked for."""
        if (compilation, told.preprocessed) not in self._told_of:
            self._told_of.add((compilation, told.preprocessed))
            self._work += told.size * WORK.compiler

    def _concerned(self, texts: Mapping[str, bytes], reverted: ChangeSet) -> list[Compilation]:
        """What must be compiled again: what failed last, what changed itself, of what includes it those
        that may tell; what comes back.
        """
        own = {self._root / name for name in texts}
        reached = set().union(*map(self._reached_by, texts))
        telling = set().union(*(self._telling(name, text) for name, text in texts.items()))
        telling |= own | {c.source for c in self._failed if c.source in reached}
        concerned = [c for c in self._compilations if c.source in telling]
        concerned += [
            c for c in self._good_alone if c.source in own and self._is_listed(c.source, reverted)
        ]
        return sorted(concerned, key=lambda c: (-self._failed.get(c, -1), c.source not in own))

    def _is_listed(self, source: Path, reverted: ChangeSet) -> bool:
        """Whether what the good version's build files list, and the bad one's do not, is listed again."""
        return all(
            change.id in reverted or source.stem not in stems(change, "-")
            for change in self._changes.values()
            if _steers_the_build(change)
        )

    def _telling(self, name: str, text: bytes) -> set[Path]:
        """Who includes a file and mentions a name on a line of it that differs; one that tells whether the
        file itself compiles; all, where what differs is what it includes or its conditions.
        """
        reached = self._reached_by(name)
        including = [c.source for c in self._compilations if c.source in reached]
        lines = _differing_lines(self._bad_text(name), text)
        if any(map(_STEERS.match, lines)):
            return set(including)
        names = frozenset[bytes]().union(*(_NAME.findall(line) for line in lines))
        mentioning = {each for each in including if not names.isdisjoint(self._names_in(each))}
        return mentioning.union(including[:1])

    def _bad_text(self, name: str) -> bytes:
        path = self._root / name
        return path.read_bytes() if path.is_file() else b""

    def _names_in(self, source: Path) -> frozenset[bytes]:
        if source not in self._mentioned:
            text = source.read_bytes() if source.is_file() else b""
            self._mentioned[source] = frozenset(_NAME.findall(text))
        return self._mentioned[source]

    def _reached_by(self, name: str) -> set[Path]:
        if name not in self._reach:
            self._reach[name] = self._graph.includers([name], self._given)
        return self._reach[name]

    def _told(self, compilation: Compilation, texts: Mapping[str, bytes], overlay: Path) -> _Told:
        """What is said against one file; asked for once with the same texts of what it includes."""
        key = compilation, _digest({name: texts[name] for name in self._read(compilation, texts)})
        if key not in self._said:
            self._said[key] = self._failure(compilation, overlay)
        return self._said[key]

    def _read(self, compilation: Compilation, texts: Mapping[str, bytes]) -> list[str]:
        """Which of ``texts`` a file reads, as it was and as they are now."""
        read = [
            name
            for name in texts
            if self._root / name == compilation.source
            or compilation.source in self._reached_by(name)
        ]
        for name in read:  # grows while we walk it
            included = included_names(texts[name])
            read += [n for n in texts if n not in read and _is_among(n, included)]
        return read

    def _overlay(self, scratch: Path, texts: Mapping[str, bytes]) -> Path:
        """The variant's files, for ``-ivfsoverlay``; a directory's name no compiler cache has seen."""
        roots = []
        for number, (name, text) in enumerate(sorted(texts.items())):
            laid = scratch / f"{number}{PurePath(name).suffix}"
            laid.write_bytes(text)
            path = str(self._root / name)
            roots.append({"type": "file", "name": path, "external-contents": str(laid)})
        overlay = scratch / "overlay.yaml"
        overlay.write_text(json.dumps({"version": 0, "use-external-names": False, "roots": roots}))
        return overlay

    def _failure(self, compilation: Compilation, overlay: Path) -> _Told:
        """What is said against a file; of a preprocessed text that was read before, what was said then."""
        read = overlay.with_name(f"{_digest_of(compilation)}.i")
        said = self._said_by(compilation, overlay, "-E", "-P", into=read)
        if "error:" in said or not read.exists():
            return _Told(_refusal(said))
        with read.open("rb") as file:
            preprocessed = hashlib.file_digest(file, "sha256").hexdigest()
        key = compilation, preprocessed
        if key not in self._read_before:
            said = self._said_by(compilation, overlay, *_reading(compilation), *_ASKED)
            failure = _refusal(said)
            warned = "" if failure or not half_changes.warned(said) else said
            self._read_before[key] = _Told(failure, preprocessed, read.stat().st_size, warned)
        return self._read_before[key]

    def _unlinked(self, compilation: Compilation, warned: str) -> str:
        """The warnings, of which those are errors that tell of what no linker finds."""

        def said(warning: re.Match[str]) -> str:
            called = warning["called"]
            return "error: " if not called or self._was_private(compilation, called) else warning[0]

        return _UNLINKED.sub(said, warned)

    def _was_private(self, compilation: Compilation, function: str) -> bool:
        """Whether the bad version's file has a function for itself, and no other source names it."""
        name = function.encode()
        if any(name in self._names_in(c.source) for c in self._compilations if c != compilation):
            return False
        text = compilation.source.read_bytes() if compilation.source.is_file() else b""
        return re.search(rb"\bstatic\b[^;{}()=]*\b%b\s*\(" % name, text) is not None

    def _said_by(
        self, compilation: Compilation, overlay: Path, *asked: str, into: Path | None = None
    ) -> str:
        laid, given = self._given_as(compilation, overlay)
        spoken = [word for word in given if word != _SILENT]
        argv = (*_writing(into), *spoken, *asked, "-ivfsoverlay", str(overlay))
        command = Command(argv, compilation.directory, scrubbed_environment(), merge=True)
        result = run(command, self._limits, scratch=overlay.parent)
        try:
            if result.status is None:
                return ""
            text = result.stdout.text().replace(laid, str(compilation.source))
            text = with_relative_paths(text, [str(self._root)])
            if result.succeeded:
                text = self._unlinked(compilation, text)
            return text
        finally:
            result.remove()

    def _given_as(self, compilation: Compilation, overlay: Path) -> tuple[str, Sequence[str]]:
        """By which path a compiler is given a source, and its command line: an overlay cannot show it one that is not
        on the disk, so of one that comes back it reads the text that is laid over it.
        """
        if compilation not in self._good_alone:
            return str(compilation.source), compilation.argv
        roots = json.loads(overlay.read_text())["roots"]
        contents = {root["name"]: root["external-contents"] for root in roots}
        laid = contents[str(compilation.source)]
        *options, _ = compilation.argv
        return laid, (*options, "-iquote", str(compilation.source.parent), laid)


@dataclass(frozen=True, slots=True)
class _Told:
    """What was said against a file, by a digest of its text without line markers, and how many bytes that is; where
    nothing was, what a compiler ``warned`` of that mixes types.
    """

    failure: str
    preprocessed: str = ""
    size: int = 0
    warned: str = ""


def _refusal(said: str) -> str:
    """What of a compiler's words speaks against a file; empty where none is an error."""
    return diagnostics(said, _LINES) if "error:" in said else ""


def _reading(compilation: Compilation) -> tuple[str, ...]:
    """How to ask for errors alone. zig cannot be asked so: it looks for an object, and makes the C++ library
    for it; but what it preprocesses it makes none of, and clang takes the last thing that it is to do.
    """
    return ("-E", "-Xclang", "-fsyntax-only") if is_zigs(compilation.argv) else ("-fsyntax-only",)


def _writing(into: Path | None) -> tuple[str, ...]:
    """What stands before a command line whose standard output goes ``into`` a file: of a file that zig is told to write
    it looks for every header on the disk, and those that only the overlay has are not there.
    """
    return ("/bin/sh", "-c", 'into=$1; shift; exec "$@" >"$into"', "sh", str(into)) if into else ()


def _differing_lines(old: bytes, new: bytes) -> set[bytes]:
    """The lines that one of two texts has and the other has not."""
    return set(old.splitlines()).symmetric_difference(new.splitlines())


def _digest_of(compilation: Compilation) -> str:
    return hashlib.sha256(repr(compilation).encode(errors="surrogateescape")).hexdigest()[:16]


def _digest(texts: Mapping[str, bytes]) -> str:
    found = hashlib.sha256()
    for name, text in sorted(texts.items()):
        found.update(f"{name}\0{len(text)}\0".encode(errors="surrogateescape") + text)
    return found.hexdigest()


def _is_among(name: str, included: frozenset[str]) -> bool:
    return PurePath(name).name in included or "*" in included


def _is_read(change: Change) -> bool:
    """Whether the compiler reads the changed file itself."""
    return _is_c(change.file) and not _steers_the_build(change)


def _steers_the_build(change: Change) -> bool:
    """Whether what the compiler is given may depend on it everywhere."""
    generates = PurePath(change.file).suffix.lower() in _TEMPLATES
    return generates or change.kind is FileKind.BUILD


def _is_grammar(name: str) -> bool:
    return PurePath(name).suffix.lower() in GRAMMARS


def _may_be_made_of(grammar: str, path: Path) -> bool:
    """Whether a file is called like what is made of a grammar, or names it, as what is made of it does."""
    name = PurePath(grammar)
    if _is_grammar(path.name):
        return False
    if path.name.startswith((f"{name.stem}.", *MADE_AS)):
        return True
    with path.open("rb") as file:
        return os.fsencode(name.name) in file.read(VARIANT_TEXT.generated)


def _is_c(name: str) -> bool:
    return PurePath(name).suffix.lower() in COMPILED | INCLUDED
