"""What speaks against a variant of a Python program before it is run.

Python has no compiler that says what is missing, and to run a test for each piece that was left out
is dear. Most of what a half-reverted change breaks shows in the text: it does not parse, it reads a
name that nothing binds, imports or asks for what no file defines any more, passes arguments that
no function of that name takes, or unpacks other numbers of values than are returned. What the bad or
the good version has of that is no fault.

A suspicion: the name may be missing where the test does not come. So what stands in a function that is in neither
run's way is not heard: if a variant comes there after all, its run says so. It is certain where the statement was
executed by the run of the version that it is from, in a function that the runs of both came to (another
may have had no caller but what was undone): such a variant does not build, and no run is spent on it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import Self

from afterd.limits import PYTHON_TRACE
from afterd.model.change import NOTHING, ChangeSet
from afterd.trace.python.source.families import orphans
from afterd.trace.python.source.halves import Ends
from afterd.trace.python.source.mentions import Arity, Mentions, compiler_error, mentions
from afterd.trace.python.source.statements import Place, Ran, executed_in_run
from afterd.trace.python.source.tuples import Values

FilesOf = Callable[[ChangeSet], Mapping[str, str]]
"""The files of a variant: their content's id by path."""
_NOWHERE = Place("", certain=False)
_POSTPONED = ("__future__", "annotations")


Lines = Mapping[str, frozenset[int]]
"""By file, the lines that a run executed."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a file, as Python would say it, and where; no place: nothing of it works. ``shown``: a
    line that is told as a compiler tells one.
    """

    path: str
    text: str
    place: Place | None = None
    shown: str = ""

    def __str__(self) -> str:
        return (
            f"{self.path}:1:1: error: {self.text}\n{self.shown}"
            if self.shown
            else f"{self.path}: {self.text}"
        )


class VariantCheck:
    """Answers for the variants of one bad version; ``read`` gives a content by its id.

    ``lines``: what the bad and the good version's runs executed, if that is known; ``loaded``: the files
    that any process of either loaded: no others are read. ``nameless``: changes that cannot be at fault.
    ``postponed``: whether the interpreter evaluates an annotation when somebody asks for it (Python 3.14, PEP 649), as
    a file may say of its own (PEP 563).
    """

    def __init__(
        self,
        files_of: FilesOf,
        read: Callable[[str], bytes],
        everything: ChangeSet,
        lines: tuple[Lines, Lines] = ({}, {}),
        loaded: Collection[str] = (),
        nameless: ChangeSet = NOTHING,
        *,
        postponed: bool = False,
    ) -> None:
        self._files_of = files_of
        self._nameless = nameless
        self._postponed = postponed
        self._read = read
        self._everything = everything
        self._mentions: dict[str, Mentions] = {}
        self._files: dict[tuple[str, str], _File] = {}
        self._ran = lines
        self._loaded = loaded
        self._executed: dict[str, tuple[Ran, ...]] = {}

    def against(self, reverted: ChangeSet) -> str:
        """What is wrong with the variant and with neither version, a line each; or empty.

        Of a file that does not parse nothing is known, so what others miss of it is not told.
        """
        return _faults_sentence(self._faults(reverted))

    def certain(self, reverted: ChangeSet) -> str:
        """That part of it which stops what the runs of the two versions did."""
        return _faults_sentence(filter(self._is_certain, self._faults(reverted)))

    def unparsed(self, reverted: ChangeSet) -> str:
        """That a file which the runs of both versions imported cannot be parsed: no part of it would run."""
        faults = self._new(self._program(reverted - self._nameless).unparsed())
        return _faults_sentence(filter(self._is_certain, faults))

    def speaks(self, names: frozenset[str]) -> bool:
        """Whether a file of the bad version that was loaded has one of these names, in a string as well; of one that
        cannot be read nobody knows.
        """
        return any(
            file.mentions.error or not names.isdisjoint(file.mentions.spoken)
            for file in self._bad.files
        )

    def _faults(self, reverted: ChangeSet) -> list[Fault]:
        program = self._program(reverted - self._nameless)
        for found in (
            program.unparsed(),
            program.faults(self._known, self._bad),
            self._strayed(program),
        ):
            if faults := self._new(found):
                return faults
        return []

    def _new(self, found: Iterable[Fault]) -> list[Fault]:
        """The faults that neither version has."""
        return [
            fault
            for fault in found
            if str(fault) not in self._accepted
            and fault.path not in self._unreadable
            and not self._is_beside(fault)
        ]

    def _is_beside(self, fault: Fault) -> bool:
        """Whether it stands in a function that the runs of both versions left aside, as far as they have it."""
        function, runs = fault.place.function if fault.place else "", self._runs(fault.path)
        aside = any(function in run.beside for run in runs)
        return aside and not any(function in run.functions for run in runs)

    def _strayed(self, program: _Program) -> Iterator[Fault]:
        """What stands in another function than in the version that it is from."""
        for file in program.files - self._bad.files - self._good.files:
            ends = self._ends.get(file.path)
            for (function, line), shown in ends.strayed(file.mentions.stands) if ends else ():
                said = f"'{line}' stands in '{function}', where no version has it"
                yield Fault(file.path, said, _NOWHERE, shown)

    @cached_property
    def _ends(self) -> dict[str, Ends]:
        """Where the statements stand of the files that both versions have, by path."""
        good = {file.path: file.mentions.stands for file in self._good.files}
        return {
            file.path: Ends(file.mentions.stands, good[file.path])
            for file in self._bad.files
            if file.path in good
        }

    def _is_certain(self, fault: Fault) -> bool:
        """Executed whenever the file is imported, or by the run of a version that has the statement, in
        a function that both came to.
        """
        place, runs = fault.place, self._runs(fault.path)
        if not all(run.functions for run in runs):
            return False
        if place is None or (place.always and place.certain):
            return True
        came = all(not place.function or place.function in run.functions for run in runs)
        here = (place.statement, place.function)
        return place.certain and came and any(here in run.statements for run in runs)

    def _runs(self, path: str) -> tuple[Ran, ...]:
        """What the runs of the two versions executed of a file."""
        if path not in self._executed:
            self._executed[path] = tuple(
                self._ran_of(self._files_of(reverted).get(path), lines.get(path, frozenset()))
                for reverted, lines in zip((NOTHING, self._everything), self._ran, strict=True)
            )
        return self._executed[path]

    def _ran_of(self, identifier: str | None, lines: frozenset[int]) -> Ran:
        if identifier is None or not lines:
            return Ran()
        return executed_in_run(self._read(identifier).decode("utf-8", "replace"), lines)

    @cached_property
    def _known(self) -> frozenset[str]:
        """Names that one of the two versions defines."""
        return self._bad.defined | self._good.defined

    @cached_property
    def _unreadable(self) -> frozenset[str]:
        """Files that are for another Python than this one: nothing is known of them."""
        both = (*self._bad.unparsed(), *self._good.unparsed())
        return frozenset(fault.path for fault in both)

    @cached_property
    def _accepted(self) -> frozenset[str]:
        """What is wrong with one of the two versions, or seems so."""
        return frozenset(
            str(fault)
            for version in (self._bad, self._good)
            for fault in version.faults(self._known)
        )

    @cached_property
    def _bad(self) -> _Program:
        return self._program(NOTHING)

    @cached_property
    def _good(self) -> _Program:
        return self._program(self._everything)

    def _program(self, reverted: ChangeSet) -> _Program:
        files = self._files_of(reverted)
        return _Program(
            self._file(p, i) for p, i in files.items() if p.endswith(".py") and self._matters(p)
        )

    def _matters(self, path: str) -> bool:
        """Whether the test meets a file, as far as is known."""
        return not self._loaded or path in self._loaded

    def _file(self, path: str, identifier: str) -> _File:
        found = self._files.get((path, identifier))
        if found is None:
            found = self._files[path, identifier] = _File.of(
                path, self._of(identifier), postponed=self._postponed
            )
        return found

    def _of(self, identifier: str) -> Mentions:
        found = self._mentions.get(identifier)
        if found is None:
            text = self._read(identifier)
            found = mentions(text)
            if not found.error and identifier not in self._of_versions:
                found = replace(found, error=compiler_error(text))
            self._mentions[identifier] = found
        return found

    @cached_property
    def _of_versions(self) -> frozenset[str]:
        """The contents of the two versions: they were loaded, or what is wrong with them is no fault."""
        ends = (NOTHING, self._everything)
        return frozenset(i for end in ends for i in self._files_of(end).values())


@dataclass(frozen=True, slots=True, eq=False)
class _File:
    """A file at its path: ``modules`` are its names, ``imports`` the modules and names it means, and
    where, ``stars`` the modules of which it takes all, ``called`` the names that it calls functions by.

    Compared by identity: there is one for each content at a path.
    """

    path: str
    mentions: Mentions
    modules: frozenset[str]
    imports: tuple[tuple[str, str, Place], ...]
    stars: frozenset[str]
    called: frozenset[str]
    postpones: bool

    @classmethod
    def of(cls, path: str, found: Mentions, *, postponed: bool = False) -> Self:
        """The file with these mentions, of an interpreter that may have all annotations ``postponed``."""
        meant = (
            (_absolute(path, each.level, each.module), each.name, each.place)
            for each in found.imports
        )
        stars = frozenset(_absolute(path, each.level, each.module) for each in found.stars)
        called = frozenset(call.name for call in found.calls)
        told = any((each.module, each.name) == _POSTPONED for each in found.imports)
        modules, imports = module_names(path), tuple(meant)
        return cls(path, found, modules, imports, stars, called, postpones=postponed or told)


class _Program:
    """The files of one version together."""

    def __init__(self, files: Iterable[_File]) -> None:
        self.files = frozenset(files)
        self.modules = frozenset[str]().union(*(file.modules for file in self.files))
        self.defined = self.modules.union(*(file.mentions.defined for file in self.files))

    def faults(self, known: frozenset[str], like: _Program | None = None) -> Iterator[Fault]:
        """All that is wrong; ``known`` names have been defined once.

        Without what is as wrong in ``like``: of a file that both have, what others define may differ.
        """
        gone = known - self._given
        altered = {name for name, _ in self.functions ^ (like.functions if like else frozenset())}
        yield from self.unparsed()
        for file in self.files:
            if file.mentions.error:
                continue
            yield from self._missing(file, gone)
            yield from self._unexported(file)
            yield from self._miscalled_above(file)
            yield from self._misunpacked(file)
            yield from self._unbound(file)
            if like is None or file not in like.files:
                yield from self._miscalled(file, self._taken.keys())
            elif altered:
                yield from self._miscalled(file, altered)
        yield from self._orphaned()

    def unparsed(self) -> Iterator[Fault]:
        """What keeps files from compiling."""
        for file in self.files:
            if file.mentions.error:
                yield Fault(file.path, file.mentions.error)

    def _missing(self, file: _File, gone: frozenset[str]) -> Iterator[Fault]:
        path = file.path
        for name in file.mentions.needed & gone:
            said = f"AttributeError: nothing has the attribute or parameter '{name}'"
            yield Fault(path, said, _NOWHERE)
        for module, name, place in file.imports:
            if module in gone:
                yield Fault(path, f"ModuleNotFoundError: No module named '{module}'", place)
            elif name in gone and module in self.modules:
                yield Fault(path, f"ImportError: cannot import name '{name}'", place)

    def _unexported(self, file: _File) -> Iterator[Fault]:
        """What a star asks a module for, because its ``__all__`` says so, and it has not."""
        for module in file.stars:
            for source in self._by_module.get(module, ()):
                found = source.mentions
                if "__getattr__" in found.names or not source.stars <= self._by_module.keys():
                    continue
                has = found.names | self.modules | self._brought(source, frozenset())
                for name in found.exported - has:
                    said = f"AttributeError: module '{module}' has no attribute '{name}'"
                    yield Fault(source.path, said, _NOWHERE)

    def _unbound(self, file: _File) -> Iterator[Fault]:
        if not file.mentions.unbound:
            return
        brought = self._brought(file, frozenset())
        for use in file.mentions.unbound:
            if use.local:
                said = f"UnboundLocalError: cannot access local variable '{use.name}'"
                yield Fault(file.path, said, use.place)
            elif use.name not in brought:
                said = f"NameError: name '{use.name}' is not defined"
                doubted = use.annotates and file.postpones
                yield Fault(file.path, said, use.place.doubted() if doubted else use.place)

    def _brought(self, file: _File, seen: frozenset[str]) -> frozenset[str]:
        """The names that a file has from stars: of a module of the program all that it binds.

        Of others nothing is known; but what is read from them is read in one of the two versions.
        """
        found = frozenset[str]()
        for module in file.stars - seen:
            for source in self._by_module.get(module, ()):
                found |= source.mentions.names | self._brought(source, seen | {module})
        return found

    def _miscalled(self, file: _File, names: Collection[str]) -> Iterator[Fault]:
        """Calls by one of these names that no function of that name takes."""
        if file.called.isdisjoint(names):
            return
        for call in file.mentions.calls:
            taken = self._taken.get(call.name, []) if call.name in names else []
            against = [arity.against(call) for arity in taken]
            if against and all(against):
                yield Fault(file.path, f"TypeError: '{call.name}' {min(against)}", call.place)

    def _miscalled_above(self, file: _File) -> Iterator[Fault]:
        """Calls of ``super().name(…)`` that no class above takes so, where all of them are the program's."""
        for name, call in file.mentions.supers:
            above = self._above(name, call.name)
            against = [(each.against(call), owner) for owner, each in above or ()]
            if against and all(said for said, _ in against):
                said, owner = min(against)
                said = f"TypeError: '{owner}.{call.name}' {said}"
                yield Fault(file.path, said, call.place.doubted())

    def _misunpacked(self, file: _File) -> Iterator[Fault]:
        """What is unpacked of calls, where a function of that name returns more values, or fewer."""
        for taken in file.mentions.unpacked:
            for given in self._returned.get(taken.function, ()):
                if given.count != taken.count:
                    said = (
                        f"ValueError: '{given.function}' returns {given.count}, not {taken.count}"
                    )
                    for line in (*taken.lines, *given.lines):
                        yield Fault(file.path, said, _NOWHERE, line)

    @cached_property
    def _returned(self) -> dict[str, list[Values]]:
        """Tuples by the name of the function that returns them."""
        found: dict[str, list[Values]] = {}
        for values in (each for file in self.files for each in file.mentions.returned):
            found.setdefault(values.function.rpartition(".")[2], []).append(values)
        return found

    def _above(
        self, name: str, method: str, seen: frozenset[str] = frozenset()
    ) -> list[tuple[str, Arity]] | None:
        """The methods of a name that a class's bases give it, with their classes; None where a base is not known."""
        found: list[tuple[str, Arity]] = []
        for base in self._bases.get(name, frozenset()) - seen - {name}:
            own = self._methods.get((base, method), ())
            further = None if own else self._above(base, method, seen | {name})
            if base not in self._bases or (not own and further is None):
                return None
            found += [(base, arity) for arity in own] or further or []
        return found or None

    @cached_property
    def _bases(self) -> dict[str, frozenset[str]]:
        found: dict[str, frozenset[str]] = {}
        for part in (part for file in self.files for part in file.mentions.classes):
            found[part.name] = found.get(part.name, frozenset()) | part.bases
        return found

    @cached_property
    def _methods(self) -> dict[tuple[str, str], list[Arity]]:
        found: dict[tuple[str, str], list[Arity]] = {}
        for file in self.files:
            for owner, name, arity in file.mentions.methods:
                found.setdefault((owner, name), []).append(arity)
        return found

    def _orphaned(self) -> Iterator[Fault]:
        """What objects are asked for by their own methods, and nobody gives them."""
        foreign = frozenset[str]().union(*(file.mentions.foreign for file in self.files))
        homes = {part: file.path for file in self.files for part in file.mentions.classes}
        for name, use in orphans(homes, foreign):
            said = f"AttributeError: '{name}' object has no attribute '{use.name}'"
            yield Fault(self._home(name), said, use.place)

    def _home(self, name: str) -> str:
        return self._homes[name]

    @cached_property
    def _homes(self) -> dict[str, str]:
        """The file of each class; of those that share a name, one."""
        files = sorted(self.files, key=lambda file: file.path)
        return {part.name: file.path for file in files for part in file.mentions.classes}

    @cached_property
    def _by_module(self) -> dict[str, list[_File]]:
        found: dict[str, list[_File]] = {}
        for file in self.files:
            for module in file.modules:
                found.setdefault(module, []).append(file)
        return found

    @cached_property
    def _given(self) -> frozenset[str]:
        """What is defined here, and what comes from packages that are not of the program."""
        outside = {
            name or module.partition(".")[0]
            for file in self.files
            for module, name, _ in file.imports
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


def _faults_sentence(faults: Iterable[Fault]) -> str:
    return "\n".join(sorted({str(fault) for fault in faults})[: PYTHON_TRACE.faults])


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
