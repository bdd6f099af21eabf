"""What fixtures of several tests execute is counted for each test that uses them.

pytest sets such a fixture up in the test that asks first, and takes it down in the last one. Counted
as it happens, a test's numbers would depend on the tests before it.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from .counting import Counter, Counts

Anything = Any  # pytest's own


class SharedFixtures:
    """A plugin: the counts of every fixture that lives longer than a test, while it is set up."""

    def __init__(self, counter: Counter) -> None:
        self._counter = counter
        self._set_up: dict[int, Counts] = {}
        self._aside: list[Counts] = []

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: Anything, request: Anything
    ) -> Generator[None, object, None]:
        """Keep its counts, and leave out what it does when it is taken down."""
        if request.scope == "function":
            yield
            return
        self._begin()
        fixturedef.addfinalizer(self._end)  # the first that is added runs last
        yield
        self._set_up[id(fixturedef)] = self._end()
        fixturedef.addfinalizer(self._begin)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_teardown(self, item: Anything) -> Generator[None, object, None]:
        """Count what the test uses; after it, pytest forgets which fixtures those are."""
        for used in _used_fixtures(item):
            self._counter.add(self._set_up.get(used, {}))
        yield

    def _begin(self) -> None:
        self._aside.append(self._counter.take())

    def _end(self) -> Counts:
        counted = self._counter.take()
        self._counter.add(self._aside.pop())
        return counted


def _used_fixtures(item: Anything) -> set[int]:
    """The fixtures of a test, those too that others or the test itself asked for by name."""
    named = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    asked = getattr(getattr(item, "_request", None), "_fixture_defs", {})
    return {id(defined[-1]) for defined in named.values() if defined} | {
        id(definition) for definition in asked.values()
    }
