"""Modification times that make cannot be fooled by.

A slot moves between trees by writing only the files that differ, so that an incremental build
stays incremental. Make trusts modification times and the dependencies it was told of, and three
things are usually not told: that an object depends on the headers it was made from, that it
depends on the Makefile's flags, and that a library should lose the member whose source is gone.
Reverting such a change would be measured on stale objects. Where a build system does know (by
depfiles, as CMake and Ninja do), touching the same sources costs nothing it would not do itself.

The opposite trouble is files that are shipped *with* their inputs: a ``configure`` beside its
``configure.ac``, a ``parser.c`` beside its ``parser.y``. A checkout gives them times in no order,
and make may then want an autoconf or a bison that nobody has: so they are made the newer ones, and all
else that was written together (mawk's ``array.c`` of ``array.w``) gets one time. What a
build made of a grammar that was changed since is removed, and so are the ``configure`` and the Makefile
that it made of their inputs: with AM_MAINTAINER_MODE, Automake's rules keep what is there, however old.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path, PurePath

from afterd.execution.includes import IncludeGraph, is_compiled
from afterd.vcs.worktree import is_own_cache

_DESCRIPTION = re.compile(
    r"(?:GNU|BSD)?[Mm]akefile(?:\.(?:am|in|inc|common|include|local))?|.*\.(?:mk|mak|m4)"
    r"|configure(?:\.(?:ac|in))?|.*\.pr[io]|SConstruct|SConscript|config\.mk\.in"
)
_AUTOTOOLS = re.compile(r"configure(?:\.ac|\.in)?|Makefile\.(?:am|in)|.*\.m4|config\.h\.in")
_AUTOTOOLS_ORDER = ("aclocal.m4", "config.h.in", "Makefile.in", "configure")
_AUTOTOOLS_INPUT = re.compile(r"configure\.(?:ac|in)|Makefile\.am|.*\.m4")
_KEEPS_OLD = re.compile(rb"^[^#\n]*\bAM_MAINTAINER_MODE\b(?!\(\[?enable)", re.MULTILINE)
_GRAMMARS = frozenset({".y", ".yy", ".ypp", ".l", ".ll", ".lpp"})
_GENERATED_ENDINGS = (".c", ".h", ".cc", ".hh", ".cpp", ".hpp", ".tab.c", ".tab.h", ".yy.c")
_PARSER_ENDINGS = frozenset(PurePath(ending).suffix for ending in _GENERATED_ENDINGS)
_LINE_OF = re.compile(
    rb'^#(?:line)? *\d+ +"(?:[^"\n]*/)?([^"/\n]+\.(?:y|yy|ypp|l|ll|lpp))"', re.MULTILINE
)
_TEMPLATE_ENDINGS = (".in", ".cmake", ".tmpl", ".template")
_OBJECTS = frozenset({".o", ".lo", ".obj", ".os", ".bc"})
_ARCHIVES = frozenset({".a", ".la", ".lib"})


class Freshness:
    """The modification times of one slot; ``settle`` is called after each move, before a build.

    ``shipped`` are the files of the checkout that a build could also have made, relative to
    ``root``; None before the first build, when everything that is there was shipped.
    """

    def __init__(self, root: Path, shipped: Collection[str] | None = None) -> None:
        self.root = root
        self.shipped = None if shipped is None else frozenset(shipped)
        self._graph = IncludeGraph(root)
        self._distrusted = False

    def distrust(self) -> None:
        """Take no object of the last build for whole: it was killed, perhaps while writing one."""
        self._distrusted = True

    def settle(self, changed: Collection[str], given: str | None = None) -> set[Path]:
        """Touch what must be built again now that ``changed`` (relative paths) were written. ``given``: what the build
        is told, if that is known.

        Returns the sources touched because of something make may not know.
        """
        first = self.shipped is None
        written = list(files_below(self.root) if first else (self.root / path for path in changed))
        _date_alike(written)
        if first:
            self.shipped = frozenset(_generated_files(self.root, written))
        else:
            self._remove_parsers(changed)
            self._remove_configured(changed)
        if first or any(_AUTOTOOLS.fullmatch(PurePath(path).name) for path in changed):
            self._settle_autotools()
        stale = self._stale(changed, given) if not first or self._distrusted else set()
        self._distrusted = False
        _touch(sorted(stale))
        self._settle_grammars(written if first else {*written, *stale})
        return stale

    def _stale(self, changed: Collection[str], given: str | None) -> set[Path]:
        """Sources whose objects may be older than what they were made from."""
        gone = [path for path in changed if not (self.root / path).exists()]
        removed = [path for path in gone if is_compiled(path)]
        self._forget_objects({PurePath(path).stem for path in removed})
        described = any(_DESCRIPTION.fullmatch(PurePath(path).name) for path in changed)
        if described or removed or self._distrusted:
            return self._graph.compiled()
        made = [name for path in changed for name in _made_names(path)]
        return self._graph.includers(made, given)

    def _forget_objects(self, stems: Collection[str]) -> None:
        """Remove objects of removed sources, and archives, which keep members for ever."""
        if not stems:
            return
        shipped = self._shipped_paths()
        for path in files_below(self.root):
            suffix = path.suffix.lower()
            made = suffix in _ARCHIVES or (suffix in _OBJECTS and path.stem in stems)
            if made and path not in shipped:
                path.unlink(missing_ok=True)

    def _settle_autotools(self) -> None:
        shipped = sorted(self._shipped_paths())
        for name in _AUTOTOOLS_ORDER:
            _touch(path for path in shipped if path.name == name)

    def _remove_parsers(self, changed: Collection[str]) -> None:
        """Remove what a build made of the grammars among ``changed``; what a tree holds is none of it."""
        held = {path for path in changed if _has_grammar(self.root / path)}
        self.shipped = frozenset(self.shipped or ()) | held
        grammars = [self.root / path for path in changed if PurePath(path).suffix in _GRAMMARS]
        for path in frozenset[Path]().union(*map(_parsers, grammars)) - self._shipped_paths():
            path.unlink(missing_ok=True)

    def _remove_configured(self, changed: Collection[str]) -> None:
        """Have the project configured anew where one of Automake's inputs changed and its rules would not."""
        inputs = any(_AUTOTOOLS_INPUT.fullmatch(PurePath(path).name) for path in changed)
        configure = self.root / "configure"
        if not inputs or configure in self._shipped_paths():
            return
        sources = (self.root / name for name in ("configure.ac", "configure.in"))
        if any(path.is_file() and _KEEPS_OLD.search(path.read_bytes()) for path in sources):
            for made in (configure, self.root / "Makefile"):
                made.unlink(missing_ok=True)

    def _settle_grammars(self, written: Iterable[Path]) -> None:
        """Make shipped parsers newer than those of their grammars that were ``written``."""
        shipped = self._shipped_paths()
        for grammar in written:
            if grammar.suffix in _GRAMMARS:
                _touch(sorted(_parsers(grammar) & shipped))

    def _shipped_paths(self) -> set[Path]:
        return {self.root / path for path in self.shipped or ()}


def is_product(path: PurePath) -> bool:
    """Whether it is called like an object or an archive."""
    return path.suffix.lower() in _OBJECTS | _ARCHIVES


def _generated_files(root: Path, files: Iterable[Path]) -> Iterator[str]:
    """Of a checkout's files those that a build could make as well."""
    parsers: set[Path] = set()
    for path in files:
        if path.suffix in _GRAMMARS:
            parsers |= {parser for parser in _parsers(path) if parser.is_file()}
        elif path.name in _AUTOTOOLS_ORDER or is_product(path):
            yield str(path.relative_to(root))
    yield from (str(path.relative_to(root)) for path in parsers)


def _parsers(grammar: Path) -> set[Path]:
    """What bison or flex may have made of ``grammar``: files of its name, and those beside it that
    say so themselves (``#line 29 "awkgram.y"`` in ytab.c), as a makefile may call them anything.
    """
    named = {grammar.with_suffix(ending) for ending in _GENERATED_ENDINGS}
    return named | {path for path in _sources_beside(grammar) if grammar.name in _made_of(path)}


def _has_grammar(parser: Path) -> bool:
    """Whether ``parser`` is there, and beside it a grammar of which it may have been made."""
    names = [
        parser.name.removesuffix(each) for each in _GENERATED_ENDINGS if parser.name.endswith(each)
    ]
    if not parser.is_file():
        return False
    called = {name + ending for name in names for ending in _GRAMMARS}
    if parser.suffix in _PARSER_ENDINGS:
        called |= _made_of(parser)
    return any(parser.with_name(name).is_file() for name in called)


def _sources_beside(grammar: Path) -> Iterator[Path]:
    if grammar.parent.is_dir():
        for path in grammar.parent.iterdir():
            if path.suffix in _PARSER_ENDINGS and path.is_file() and not path.is_symlink():
                yield path


def _made_of(parser: Path) -> set[str]:
    """The names of the grammars that a C or C++ file says it was made of."""
    return {match[1].decode(errors="replace") for match in _LINE_OF.finditer(parser.read_bytes())}


def _made_names(path: str) -> tuple[str, ...]:
    """The names under which a changed file can be included: config.h for config.h.in, too."""
    name = PurePath(path).name
    ending = next((ending for ending in _TEMPLATE_ENDINGS if name.endswith(ending)), "")
    return (name, name.removesuffix(ending)) if ending else (name,)


def _touch(paths: Iterable[Path]) -> None:
    """Make each newer than everything before it.

    The clock is the precise one: the file system's own may stand still for 4 ms, in which a file
    written before and a file written after get one time, and make wants "newer", not "as new".
    """
    for path in paths:
        if path.is_file() and not path.is_symlink():
            now = time.time_ns()
            os.utime(path, ns=(now, now))


def _date_alike(paths: Iterable[Path]) -> None:
    """Give all of them one time, now: then none is older than what it was made of.

    Without Python's sources, which are dated by the second, for what was compiled of them.
    """
    now = time.time_ns()
    for path in paths:
        if path.suffix != ".py" and path.is_file() and not path.is_symlink():
            os.utime(path, ns=(now, now))


def files_below(root: Path) -> Iterator[Path]:
    """Every file below ``root``, symbolic links not followed, git's own left out, and caches that look after
    themselves.
    """
    for folder, folders, names in os.walk(root):
        kept = (name for name in folders if name != ".git")
        folders[:] = [name for name in kept if not is_own_cache(Path(folder, name))]
        for name in names:
            yield Path(folder, name)
