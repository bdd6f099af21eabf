"""Cases out of ``fixtures/``: the paper's examples and the programs written for afterd."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from afterd.bench.case import Prepared
from afterd.bench.judgement import Answer, MarkedTarget
from afterd.config import shell
from afterd.vcs.sample import Marker, fixtures_directory, materialise, read_scenario, scenarios


@dataclass(frozen=True, slots=True)
class FixtureCase:
    """A scenario of a fixture."""

    fixture: Path
    scenario: str
    answers: Sequence[Answer]

    @property
    def name(self) -> str:
        """FIXTURE/SCENARIO, or FIXTURE where it has only one."""
        return f"{self.fixture.name}/{self.scenario}".rstrip("/")

    def prepare(self, directory: Path) -> Prepared:
        """Two commits out of the fixture's files and patches."""
        sample = materialise(self.fixture, self.scenario, directory)
        commands = (sample.scenario.build, sample.scenario.test)
        build, test = (shell(line) if line else () for line in commands)
        return Prepared(directory, sample.good, sample.bad, build, test)


def fixture_cases() -> list[FixtureCase]:
    """Every scenario of every fixture that has any."""
    return list(_every_case())


def _every_case() -> Iterator[FixtureCase]:
    for fixture in sorted(fixtures_directory().iterdir()):
        for name in scenarios(fixture) if fixture.is_dir() else ():
            if (_folder(fixture, name) / "scenario.toml").exists():
                yield _case(fixture, name)


def _folder(fixture: Path, scenario: str) -> Path:
    return fixture / "scenarios" / scenario if scenario else fixture


def _case(fixture: Path, name: str) -> FixtureCase:
    """Undoing an alternative needs no auxiliary changes: they belong to the guilty ones."""
    scenario = read_scenario(fixture, name)
    guilty = _answer((*scenario.guilty, *scenario.auxiliary))
    return FixtureCase(fixture, name, [guilty, *map(_answer, scenario.alternatives)])


def _answer(markers: Sequence[Marker]) -> Answer:
    return tuple(MarkedTarget(marker) for marker in markers)
