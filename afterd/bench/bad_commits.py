"""Bad commits made by a seed: one to three guilty mutants among up to a hundred harmless ones.

A mutant is harmless where the test passes with it, and guilty where the test fails with it alone. Which
sets of the guilty ones are to be undone is not believed but tried: each subset is built and tested.
"""

from __future__ import annotations

import itertools
import random
import shutil
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from afterd.bench.budgets import SOAK
from afterd.bench.mutation import Mutant, mutants, mutated_text
from afterd.bench.plain import Plain, Seen, git
from afterd.errors import TestError
from afterd.model.change import FileKind
from afterd.vcs.kinds import FileRules, kind_of
from afterd.vcs.sample import fixtures_directory, read_scenario, scenarios

_NO_PLUGINS = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1"


@dataclass(frozen=True, slots=True)
class Program:
    """A fixture's good version, with the commands of one of its scenarios."""

    fixture: Path
    build: str
    test: str

    @property
    def name(self) -> str:
        """As in: sluice/tests/test_values.py::test_periods."""
        return f"{self.fixture.name}/{self.test.split()[-1]}"


@dataclass(frozen=True, slots=True)
class BadCommit:
    """A good and a bad commit; undoing any of ``repairs``, and nothing else, makes the test pass."""

    program: Program
    path: Path
    good: str
    bad: str
    commands: Plain
    harmless: tuple[Mutant, ...]
    guilty: tuple[Mutant, ...]
    repairs: tuple[frozenset[Mutant], ...]


def programs(names: Collection[str] = ()) -> list[Program]:
    """Each fixture with each of its tests, once; ``names``: only these fixtures, or FIXTURE/TEST."""
    found: dict[Program, None] = {}
    for fixture in sorted(fixtures_directory().iterdir()):
        if not (fixture / "base").is_dir():
            continue
        for name in scenarios(fixture):
            read = read_scenario(fixture, name)
            program = Program(fixture, read.build, _bare_test(read.test))
            if not names or fixture.name in names or program.name in names:
                found[program] = None
    return list(found)


def _bare_test(test: str) -> str:
    """The test command without the plugins that happen to be installed beside pytest: hypothesis' alone takes a
    second of the processor to load, in each run of a test that takes a tenth.
    """
    return f"env {_NO_PLUGINS} {test}" if "pytest" in test.split() else test


class Workshop:
    """A program's work tree, in which its mutants are tried one after the other.

    Raises TestError where the test does not pass as it stands: every mutant would be guilty.
    """

    def __init__(
        self, program: Program, directory: Path, chance: random.Random, drawn: int = SOAK.drawn
    ) -> None:
        self.program = program
        self._path = directory / "workshop"
        self._chance = chance
        shutil.copytree(program.fixture / "base", self._path)
        self._texts = dict(_sources(self._path))
        self._commands = Plain.of_lines(self._path, program.build, program.test)
        if self._commands.seen() is not Seen.GREEN:
            raise TestError(
                f"The test of {program.name} does not pass as it stands: `{program.test}`; is what it needs"
                " installed where afterd is (pip install -e '.[dev]')?"
            )
        every = [each for file, text in self._texts.items() for each in mutants(file, text)]
        tried = chance.sample(every, min(drawn, len(every)))
        self._harmless: list[Mutant] = []
        self._guilty: list[Mutant] = []
        self._sort_out(_spaced_mutants(tried))

    def bad_commit(
        self, directory: Path, most_harmless: int, chance: random.Random
    ) -> BadCommit | None:
        """A new one in ``directory``; None where what was drawn is not red by its guilty alone."""
        if not self._guilty:
            return None
        count = chance.randint(1, min(SOAK.guilty, len(self._guilty)))
        guilty = tuple(chance.sample(self._guilty, count))
        most = min(most_harmless, len(self._harmless))
        harmless = tuple(chance.sample(self._harmless, chance.randint(0, most)))
        repairs = self._repairs(harmless, guilty)
        if not repairs:
            return None
        git(directory.parent, "init", "-q", "-b", "main", str(directory))
        shutil.copytree(self.program.fixture / "base", directory, dirs_exist_ok=True)
        good = _committed_files(directory, "The version that passes")
        self._write(directory, (*harmless, *guilty))
        bad = _committed_files(directory, "The version that fails")
        commands = Plain(directory, self._commands.build, self._commands.test)
        return BadCommit(
            self.program, directory, good, bad, commands, harmless, guilty, tuple(repairs)
        )

    def _repairs(
        self, harmless: Sequence[Mutant], guilty: Sequence[Mutant]
    ) -> list[frozenset[Mutant]]:
        """The smallest sets of the guilty that repair the test, by trying; none where all undone do not."""
        found: list[frozenset[Mutant]] = []
        if (
            self._seen((*harmless, *guilty)) is not Seen.RED
            or self._seen(harmless) is not Seen.GREEN
        ):
            return []
        for size in range(1, len(guilty) + 1):
            for undone in map(frozenset, itertools.combinations(guilty, size)):
                if any(smaller <= undone for smaller in found):
                    continue
                left = [each for each in guilty if each not in undone]
                if self._seen((*harmless, *left)) is Seen.GREEN:
                    found.append(undone)
        return found

    def _sort_out(self, tried: Sequence[Mutant]) -> None:
        """Which are harmless and which guilty, halving what is red together until there are enough.

        Neighbours stay together: a function that the test does not run is harmless in one run.
        """
        groups = [[m for m in tried if m.file == file] for file in sorted({m.file for m in tried})]
        self._chance.shuffle(groups)
        for _ in range(SOAK.runs):
            if not groups or (min(len(self._guilty), len(self._harmless)) >= SOAK.enough):
                return
            group = sorted(groups.pop(), key=lambda each: each.line)
            seen = self._seen(group)
            middle = len(group) // 2
            if seen is Seen.GREEN:
                self._harmless += group
            elif middle:
                groups += [group[:middle], group[middle:]]
            elif seen is Seen.RED:
                self._guilty += group

    def _seen(self, chosen: Sequence[Mutant]) -> Seen:
        self._write(self._path, chosen)
        return self._commands.seen()

    def _write(self, path: Path, chosen: Sequence[Mutant]) -> None:
        """The sources with these mutants; what stays as it is is not written, and not built anew."""
        for file, text in self._texts.items():
            wanted = mutated_text(text, (each for each in chosen if each.file == file))
            if (path / file).read_text(encoding="utf-8") != wanted:
                (path / file).write_text(wanted, encoding="utf-8")


def _sources(path: Path) -> Iterator[tuple[str, str]]:
    for file in sorted(path.rglob("*")):
        name = file.relative_to(path).as_posix()
        if file.is_file() and kind_of(name, FileRules()) is FileKind.SOURCE:
            yield name, file.read_text(encoding="utf-8")


def _spaced_mutants(tried: Sequence[Mutant]) -> list[Mutant]:
    """Those that stand far enough from the ones before them."""
    taken: dict[str, list[int]] = {}
    found = []
    for mutant in tried:
        lines = taken.setdefault(mutant.file, [])
        if all(abs(mutant.line - line) >= SOAK.apart for line in lines):
            lines.append(mutant.line)
            found.append(mutant)
    return found


def _committed_files(path: Path, message: str) -> str:
    git(path, "add", "-A")
    git(path, "commit", "-q", "-m", message)
    return git(path, "rev-parse", "HEAD")
