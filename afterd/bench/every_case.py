"""All cases whose fault is known, of fixtures and of released packages."""

from __future__ import annotations

from afterd.bench.case import Case
from afterd.bench.fixtures import fixture_cases
from afterd.bench.real_c import real_c_cases
from afterd.bench.real_python import real_python_cases
from afterd.bench.releases import Releases, cache_directory


def every_case() -> list[Case]:
    """The fixtures first; packages are downloaded when one of them is prepared."""
    releases = Releases(cache_directory())
    return [*fixture_cases(), *real_c_cases(releases), *real_python_cases(releases)]
