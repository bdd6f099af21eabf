"""What speaks against a variant of a Python program before it is run.

Python has no compiler that says what is missing, and to run a test for each piece that was left out
is dear. Most of what a half-reverted change breaks shows in the text: it does not parse, it reads a
name that nothing binds, imports or asks for what no file defines any more, or passes arguments that
no function of that name takes. What the bad or the good version has of that is no fault.

A suspicion, not a proof: the name may be missing where the test does not come.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Self

from afterd.model.change import NOTHING, ChangeSet
from afterd.tracing.python.mentions import Arity, Mentions, mentions

FilesOf = Callable[[ChangeSet], Mapping[str, str]]
"""The files of a variant: their content's id by path."""
_SHOWN = 40


class VariantCheck:
    """Answers for the variants of one bad version; ``read`` gives a content by its id."""

    def __init__(
        self, files_of: FilesOf, read: Callable[[str], bytes], everything: ChangeSet
    ) -> None:
        self._files_of = files_of
        self._read = read
        self._everything = everything
        self._mentions: dict[str, Mentions] = {}
        self._files: dict[tuple[str, str], _File] = {}

    def against(self, reverted: ChangeSet) -> str:
        """What is wrong with the variant and with neither version, a line each; or empty.

        Of a file that does not parse nothing is known, so what others miss of it is not told.
        """
        program = self._program(reverted)
        faults = (
            set(program.unparsed()) - self._accepted
            or set(program.faults(self._known, self._bad)) - self._accepted
        )
        return "\n".join(sorted(faults)[:_SHOWN])

    @cached_property
    def _known(self) -> frozenset[str]:
        """Names that one of the two versions defines."""
        return self._bad.defined | self._good.defined

    @cached_property
    def _accepted(self) -> frozenset[str]:
        """What is wrong with one of the two versions, or seems so."""
        return frozenset(
            fault for version in (self._bad, self._good) for fault in version.faults(self._known)
        )

    @cached_property
    def _bad(self) -> _Program:
        return self._program(NOTHING)

    @cached_property
    def _good(self) -> _Program:
        return self._program(self._everything)

    def _program(self, reverted: ChangeSet) -> _Program:
        files = self._files_of(reverted)
        return _Program(self._file(p, i) for p, i in files.items() if p.endswith(".py"))

    def _file(self, path: str, identifier: str) -> _File:
        found = self._files.get((path, identifier))
        if found is None:
            found = self._files[path, identifier] = _File.of(path, self._of(identifier))
        return found

    def _of(self, identifier: str) -> Mentions:
        found = self._mentions.get(identifier)
        if found is None:
            found = self._mentions[identifier] = mentions(self._read(identifier))
        return found


@dataclass(frozen=True, slots=True, eq=False)
class _File:
    """A file at its path: ``modules`` are its names, ``imports`` the modules and names it means.

    Compared by identity: there is one for each content at a path.
    """

    path: str
    mentions: Mentions
    modules: frozenset[str]
    imports: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, path: str, found: Mentions) -> Self:
        """The file with these mentions."""
        meant = ((_absolute(path, each.level, each.module), each.name) for each in found.imports)
        return cls(path, found, module_names(path), tuple(meant))


class _Program:
    """The files of one version together."""

    def __init__(self, files: Iterable[_File]) -> None:
        self.files = frozenset(files)
        self.modules = frozenset[str]().union(*(file.modules for file in self.files))
        self.defined = self.modules.union(*(file.mentions.defined for file in self.files))

    def faults(self, known: frozenset[str], like: _Program | None = None) -> Iterator[str]:
        """All that is wrong, as Python would say it; ``known`` names have been defined once.

        Without what is as wrong in ``like``: of a file that both have, what others define may differ.
        """
        gone = known - self._given
        altered = {name for name, _ in self.functions ^ (like.functions if like else frozenset())}
        yield from self.unparsed()
        for file in self.files:
            if file.mentions.error:
                continue
            yield from self._missing(file, gone)
            if like is None or file not in like.files:
                yield from self._miscalled(file, self._taken.keys())
                for name in file.mentions.unbound:
                    yield f"{file.path}: NameError: name '{name}' is not defined"
            elif altered:
                yield from self._miscalled(file, altered)

    def unparsed(self) -> Iterator[str]:
        """What keeps files from compiling."""
        for file in self.files:
            if file.mentions.error:
                yield f"{file.path}: {file.mentions.error}"

    def _missing(self, file: _File, gone: frozenset[str]) -> Iterator[str]:
        path = file.path
        for name in file.mentions.needed & gone:
            yield f"{path}: AttributeError: nothing has the attribute or parameter '{name}'"
        for module, name in file.imports:
            if module in gone:
                yield f"{path}: ModuleNotFoundError: No module named '{module}'"
            elif name in gone and module in self.modules:
                yield f"{path}: ImportError: cannot import name '{name}'"

    def _miscalled(self, file: _File, names: Container[str]) -> Iterator[str]:
        """Calls by one of these names that no function of that name takes."""
        for call in file.mentions.calls:
            taken = self._taken.get(call.name, []) if call.name in names else []
            against = [arity.against(call) for arity in taken]
            if against and all(against):
                yield f"{file.path}: TypeError: '{call.name}' {min(against)}"

    @cached_property
    def _given(self) -> frozenset[str]:
        """What is defined here, and what comes from packages that are not of the program."""
        outside = {
            name or module.partition(".")[0]
            for file in self.files
            for module, name in file.imports
            if module not in self.modules
        }
        return self.defined | outside

    @cached_property
    def functions(self) -> frozenset[tuple[str, Arity]]:
        """Functions by name, and what they take."""
        return frozenset[tuple[str, Arity]]().union(*(f.mentions.functions for f in self.files))

    @cached_property
    def _taken(self) -> dict[str, list[Arity]]:
        found: dict[str, list[Arity]] = {}
        for name, arity in self.functions:
            found.setdefault(name, []).append(arity)
        return found


def module_names(path: str) -> frozenset[str]:
    """The names by which a file may be imported: which folders are on the path is not known."""
    parts = PurePosixPath(path).with_suffix("").parts
    if parts and parts[-1] == "__init__":
        parts = parts[:-1]
    return frozenset(".".join(parts[start:]) for start in range(len(parts)))


def _absolute(path: str, level: int, module: str) -> str:
    """The module that an import in the file at ``path`` means."""
    if level == 0:
        return module
    folder = PurePosixPath(path).parts[:-level]
    return ".".join((*folder, *filter(None, [module])))
