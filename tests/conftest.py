"""Both compilers that a traced build may use; every program is built once a session."""

from __future__ import annotations

import gc
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath

import pytest
from hypothesis import HealthCheck, settings
from traced_programs import SINGLE, Built, Laboratory, build_all
from two_versions import Case, traced_cases
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from afterd.errors import ToolchainError
from afterd.execution import toolchain
from afterd.execution.toolchain import Toolchain


def _installed() -> dict[str, Toolchain]:
    """The system's clang and zig's, those of them that are there."""
    named = {
        "clang": next(filter(None, map(shutil.which, toolchain.NAMES)), None),
        "zig": f"{zig} cc" if (zig := toolchain._zig()) else None,
    }
    found: dict[str, Toolchain] = {}
    for name, command in named.items():
        if command:
            try:
                found[name] = toolchain.find({**os.environ, "AFTERD_CLANG": command})
            except ToolchainError:
                continue
    return found


settings.register_profile("by counts", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("by counts")
"""No property holds or fails by how long it took: on a busy machine three values took the two seconds of all."""

gc.set_threshold(100_000, 20, 100)
"""To look through all that six thousand tests are, again and again, was an eighth of collecting them."""

INSTALLED = _installed()
LONG = ("pipeline", "cli", "bench", "daemon")
"""Folders whose files take a minute each: begun last, one of them alone keeps one of two processes waiting."""


OF_THE_CORPUS = frozenset({"control", "ring", "terms_recomputed", "traced_behaviour"})
"""Test files of ``trace/c`` that use the corpus, which takes a minute to build."""


UNUSED_PLUGINS = (
    *("hypothesispytest", "benchmark", "unraisableexception", "threadexception"),
    *("xdist", "xdist.looponfail"),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The long files come first."""
    items.sort(key=lambda item: item.path.parent.name not in LONG)


def pytest_collection_finish() -> None:
    """What was collected stays until the end: no collection of garbage looks through it again."""
    gc.collect()
    gc.freeze()


class _FilesTogether(LoadFileScheduling):  # type: ignore[misc] # it has no types
    """A file's tests stay in one process, and so do all of the corpus."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return "corpus" if PurePath(file).stem.removeprefix("test_") in OF_THE_CORPUS else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """Instead of ``--dist loadfile``."""
    return _FilesTogether(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The last lines say how many tests were skipped, and why."""
    reasons = Counter(
        str(report.longrepr[2]).removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", ())
        if isinstance(report.longrepr, tuple)
    )
    terminalreporter.section("skipped tests by reason")
    for reason, number in reasons.most_common():
        terminalreporter.line(f"{number} skipped: {reason}")
    terminalreporter.line(f"{reasons.total()} skipped in all")


@pytest.fixture(scope="session", autouse=True)
def _bare_pytest_in_tested_suites() -> Iterator[None]:
    """The suites that afterd runs here use no such plugins: to load them, and to collect all garbage at the
    end in search of what was never awaited or closed, is half of such a run.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTEST_ADDOPTS", " ".join(f"-p no:{name}" for name in UNUSED_PLUGINS))
        yield


@pytest.fixture(scope="session", params=["clang", "zig"])
def laboratory(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Laboratory:
    """A traced build's store, for each compiler in turn."""
    assert INSTALLED, "no compiler: install clang or the ziglang wheel"
    found = INSTALLED.get(request.param)
    if found is None:
        pytest.skip(f"no {request.param} on this machine")
    return Laboratory(found, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="session")
def c_compiler(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """The first compiler there is as a traced build starts it: zig asks nobody where the C library is, and
    compiles none for checks of undefined behaviour.
    """
    found = next(iter(INSTALLED.values()))
    settled = toolchain.settled_compiler(found, tmp_path_factory.mktemp("compiler"))
    return (*settled, *found.untrapped)


@pytest.fixture(scope="session")
def corpus(laboratory: Laboratory) -> dict[str, Built]:
    """Every program of the corpus."""
    return build_all(laboratory, SINGLE)


@pytest.fixture(scope="session")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Case]:
    """Every case of ``versions/``, traced with the first compiler there is."""
    toolchain = next(iter(INSTALLED.values()))
    return traced_cases(tmp_path_factory.mktemp("versions"), toolchain)
