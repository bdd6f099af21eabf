"""Cases of C code that nobody here wrote: pairs of releases with a documented regression.

``data/real_c.json`` holds the facts and ``data/real_c/NAME/`` what is laid over both versions: the
test, and a Makefile where the release is built by a packager's ``setup.py``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afterd.bench.archive import File, Files, chosen_files, files_inside, files_of
from afterd.bench.case import Prepared
from afterd.bench.facts import DATA, answers_of, commit_two, facts, release
from afterd.bench.judgement import Answer
from afterd.bench.releases import Release, Releases
from afterd.config import shell


@dataclass(frozen=True, slots=True)
class RealCCase:
    """A pair of releases. ``inside`` is the pattern of the archive in the archive, or empty."""

    name: str
    good: Release
    bad: Release
    build: str
    test: str
    answers: Sequence[Answer]
    releases: Releases
    inside: str = ""
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    records: int = 0

    def prepare(self, directory: Path) -> Prepared:
        """Download, choose, lay the test over, commit."""
        laid_over = dict(self._laid_over())
        good, bad = ({**self._files(release), **laid_over} for release in (self.good, self.bad))
        commits = commit_two(directory, good, bad, (str(self.good), str(self.bad)))
        return Prepared(directory, *commits, build=shell(self.build), test=shell(self.test))

    def _files(self, release: Release) -> Files:
        files = files_of(self.releases.archive(release))
        if self.inside:
            files = files_inside(files, self.inside)
        return chosen_files(files, self.keep, self.drop)

    def _laid_over(self) -> Iterator[tuple[str, File]]:
        folder = DATA / "real_c" / self.name
        for path in sorted(folder.iterdir()):
            yield path.name, File(path.read_bytes())
        if self.records:
            yield "long.json", File(long_json(self.records).encode())


def long_json(records: int) -> str:
    """A JSON text whose reading keeps a program busy before it comes to what fails."""
    return json.dumps(
        [
            {"id": i, "name": f"item {i}", "tags": ["a", "b", str(i)], "price": i * 1.25}
            for i in range(records)
        ]
    )


def real_c_cases(releases: Releases) -> list[RealCCase]:
    """Every pair of ``data/real_c.json``."""
    return [_case(entry, releases) for entry in facts("real_c")]


def _case(entry: Mapping[str, Any], releases: Releases) -> RealCCase:
    return RealCCase(
        name=entry["id"],
        good=release(entry, "good"),
        bad=release(entry, "bad"),
        build=entry["build"],
        test=entry["test"],
        answers=answers_of(entry),
        releases=releases,
        inside=entry.get("inside", ""),
        keep=tuple(entry.get("keep", ())),
        drop=tuple(entry.get("drop", ())),
        records=entry.get("records", 0),
    )
