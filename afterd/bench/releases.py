"""Releases from the package registries, by the registries' own clients, kept in a cache.

pip prepares a source distribution's metadata before it hands it over, which runs code of the
release; so does building it. Both happen in the sandbox.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from afterd.bench.case import UnavailableError
from afterd.execution.environment import scrubbed_environment
from afterd.execution.process import Command, ProcessResult
from afterd.execution.sandbox import run
from afterd.limits import ProcessLimits
from afterd.report.sanitize import clipped_text, one_line

_LIMITS = ProcessLimits(timeout=300.0)
_MOST_FAILURES = 2  # in a row: then the registry is out of reach, and is not waited for again


class Registry(StrEnum):
    """Where releases are published."""

    PYPI = "PyPI"
    NPM = "npm"


@dataclass(frozen=True, slots=True)
class Release:
    """One version of one package: its source distribution, or npm's tarball."""

    registry: Registry
    package: str
    version: str

    def __str__(self) -> str:
        return f"{self.package} {self.version}"


def cache_directory() -> Path:
    """``$XDG_CACHE_HOME/afterd`` or ``~/.cache/afterd``; never inside a repository."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "afterd"


@dataclass(slots=True)
class Releases:
    """Archives of releases, downloaded once into ``cache``; remembers which registry is silent."""

    cache: Path
    _failures: Counter[Registry] = field(default_factory=Counter)

    def archive(self, release: Release) -> Path:
        """The path of the archive.

        Raises UnavailableError when the registry is out of reach, or does not have it.
        """
        place = self.cache / "releases" / release.registry / f"{release.package}-{release.version}"
        if place.is_dir():
            return next(place.iterdir())
        if self._failures[release.registry] >= _MOST_FAILURES:
            raise UnavailableError(f"{release.registry} is out of reach.")
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=".") as temporary:
            self._download(release, Path(temporary))
            kept = Path(temporary) / "kept"
            if not place.exists():
                kept.replace(place)  # whole or not at all
        return next(place.iterdir())

    def _download(self, release: Release, directory: Path) -> None:
        kept = directory / "kept"
        kept.mkdir()
        argv = _client(release, kept)
        if shutil.which(argv[0]) is None:
            raise UnavailableError(
                f"{release} is not in the cache, and {argv[0]} is not installed."
            )
        result = run(
            Command(argv, directory, scrubbed_environment(), merge=True), _LIMITS, scratch=directory
        )
        if result.succeeded and len(list(kept.iterdir())) == 1:
            self._failures[release.registry] = 0
            return
        self._failures[release.registry] += 1
        raise UnavailableError(
            f"{release} cannot be had from {release.registry}: {_last_words(result)}"
        )


def _client(release: Release, destination: Path) -> tuple[str, ...]:
    """The registry's own client, told to fetch one archive and nothing else."""
    if release.registry is Registry.NPM:
        name = f"{release.package}@{release.version}"
        return ("npm", "pack", name, "--silent", "--pack-destination", str(destination))
    return (
        *(sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--retries", "1"),
        *("--disable-pip-version-check", "--no-deps", "--dest", str(destination)),
        # Not `:all:`, which would build the build requirements from source as well.
        *("--no-binary", release.package, f"{release.package}=={release.version}"),
    )


def _last_words(result: ProcessResult) -> str:
    lines = [line for line in result.stdout.text().splitlines() if line.strip()]
    said = next((line for line in reversed(lines) if "ERROR" in line), lines[-1] if lines else "")
    return one_line(clipped_text(said.strip() or f"the client {result.describe()}", 200))
