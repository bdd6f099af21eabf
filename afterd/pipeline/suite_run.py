"""Running a suite so that nothing of it is run twice: counted as it goes, and gone on with.

Where the runner reports each test as it ends (``Detected.reported``), the reports of a whole suite are
a file of the state directory. An interrupted run is taken up where it was, a test that took the process
with it or never ended is one red test and the others are run without it, and of a suite that was run
before on the same tree with the same tools only what was red is run again.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from afterd.execution.executors.builds_told import build_told
from afterd.execution.executors.protocol import Attempt, Job
from afterd.execution.executors.workbench import Workbench
from afterd.execution.failures.pytest_reports import Report, reports_in, under_way
from afterd.execution.failures.tests_ended import TestsEnded
from afterd.execution.process import Ending, ProcessResult
from afterd.execution.told import told_by_run
from afterd.limits import MIB
from afterd.model.outcome import Outcome, Verdict
from afterd.model.progress import Progress
from afterd.workspace import Suite, Workspace

_ENDED = (0, 1, 5)  # exit statuses of pytest: passed, failed, nothing was chosen
_KEPT = 10  # files of reports
_Chosen = Mapping[str, Sequence[str]]
"""The names of tests by what they choose in the plugin's selection; empty: all are run."""
_WHOLE = "whole"  # the line that ends the reports of a suite that was run to its end


@dataclass(frozen=True, slots=True)
class TestsSeen:
    """What a run of tests showed.

    ``red`` are the failing tests in order, with what each said where the runner tells it; ``green`` those
    that were seen to pass or to be skipped (None: the runner names none), ``attempt`` the run as a
    whole, ``said`` the end of what the runner wrote where it could not run the tests.
    """

    __test__ = False  # pytest collects classes named Test*

    attempt: Attempt
    red: dict[str, str]
    green: frozenset[str] | None = None
    said: str = ""


@dataclass(slots=True)
class _Count:
    """Watches the file of reports while the tests run; ``hung`` is a test that said nothing for too long."""

    path: Path
    progress: Progress
    patience: float
    reports: list[Report]
    before: int = 0  # tests that an earlier run had ended
    hung: str = ""
    _offset: int = 0
    _heard: float = 0.0

    def __call__(self, directory: Path) -> bool:  # noqa: ARG002 - a Watch's signature
        """Tell how far the run is; no where nothing came for too long."""
        now = time.monotonic()
        self._heard = self._heard or now
        if self.tell():
            self._heard = now
        elif now - self._heard > self.patience and (begun := under_way(self.reports)):
            self.hung = begun
            return False
        return True

    def tell(self) -> bool:
        """Tell how far the run is, where it has come further; a run's end is told as well."""
        read, self._offset = reports_in(self.path, self._offset)
        self.reports += read
        ended = len(_ended_tests(self.reports))
        found = max((each.found for each in self.reports), default=0) + self.before
        if read and found:
            self.progress.counted(ended, max(found, ended), len(_red_tests(self.reports)))
        return bool(read)


@dataclass(slots=True)
class _Output:
    """Watches what a runner prints while its tests run, where that is all there is."""

    progress: Progress
    _ended: TestsEnded = field(default_factory=TestsEnded)
    _offsets: dict[str, int] = field(default_factory=dict)

    def __call__(self, directory: Path) -> bool:
        """Tell how far the run is."""
        before = self._ended.ended
        for name in ("stdout", "stderr"):
            with suppress(OSError), (directory / name).open("rb") as file:
                file.seek(self._offsets.get(name, 0))
                self._ended.read(name, file.read(MIB))
                self._offsets[name] = file.tell()
        if self._ended.ended > before:
            found = max(self._ended.found, self._ended.ended) if self._ended.found else 0
            self.progress.counted(self._ended.ended, found, self._ended.red)
        return True


def run_tests(
    workspace: Workspace,
    suite: Suite,
    tree: str,
    progress: Progress,
    only: Sequence[str] | None = None,
    *,
    within: bool = False,
    to_first: bool = False,
) -> TestsSeen:
    """Build a tree and run its tests, or ``only`` some where the runner can choose, or (``within``) all that these
    names stand for.

    ``to_first``: up to a failing one that was not seen before.
    """
    assert suite.found is not None
    with workspace.executor.workbench(tree) as bench:
        slot = bench.slot.path
        with build_told(progress, slot):
            built = bench.attempt(Job(tree, suite.recipe, build_only=True))
        if not built.outcome.passed:
            return TestsSeen(built, {suite.recipe.test_id: built.outcome.detail})
        if not suite.found.reported:
            recipe = suite.some(only) if only and not within else suite.recipe
            quiet = workspace.limits.test.timeout
            limits = replace(workspace.limits.suite, silence=quiet)
            result = bench.run(recipe.test_in(slot), limits, _Output(progress))
            if result.ending is Ending.SILENCE:  # a test that says nothing for so long hangs
                result = replace(result, ending=Ending.TIMEOUT)
            return _by_names(bench, suite, result)
        run = _Reported(workspace, suite, tree, progress, bench)
        if only is None:
            return run.whole(to_first=to_first)
        return run.of(only, within=within)


def _by_names(bench: Workbench, suite: Suite, result: ProcessResult) -> TestsSeen:
    try:
        found = told_by_run(result, suite.recipe, bench.slot.path)
        attempt = bench.judged(result, suite.recipe)
    finally:
        result.remove()
    green = frozenset(found.passed or ()) if found.written else None
    if attempt.outcome.passed:
        return TestsSeen(attempt, {}, green)
    red = {name: found.said(name) or found.reported.get(name, "") for name in found.failed}
    return TestsSeen(attempt, red or {suite.recipe.test_id: ""}, green)


@dataclass(frozen=True, slots=True)
class _Reported:
    """The tests of one built tree, run by a runner that reports each."""

    workspace: Workspace
    suite: Suite
    tree: str
    progress: Progress
    bench: Workbench

    def of(self, only: Sequence[str], *, within: bool = False) -> TestsSeen:
        """Run some tests, in one process; ``within``: all that the names stand for."""
        path = self._folder() / "some.jsonl"
        path.unlink(missing_ok=True)
        chosen = {"within" if within else "only": list(only)}
        return self._to_the_end(path, chosen, several=False)

    def whole(self, *, to_first: bool) -> TestsSeen:
        """Run all of them, going on where an earlier run was interrupted.

        What was red is run again in one process: workers side by side can make a test red.
        """
        digest = (
            f"{self.tree} {self.suite.recipe.command_digest} {self.suite.recipe.environment_digest}"
        )
        path = self._folder() / f"{hashlib.sha256(digest.encode()).hexdigest()[:16]}.jsonl"
        kept, whole = _kept_reports(path)
        if whole and not _red_tests(kept):
            path.unlink()
            kept, whole = [], False
        if kept:
            self.progress.stage(
                "going on with the test suite", f"{len(_ended_tests(kept))} tests are known"
            )
        several = bool(self.suite.found and self.suite.found.several)
        if not whole:
            seen = self._to_the_end(path, {}, several=several, to_first=to_first)
            if seen.said or to_first:
                return seen
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"id": "", "when": _WHOLE}) + "\n")
        else:
            seen = TestsSeen(
                _attempt(kept),
                _red_tests(kept),
                frozenset(_ended_tests(kept)) - set(_red_tests(kept)),
            )
        if not (whole or several) or not seen.red or self.suite.recipe.test_id in seen.red:
            return seen
        self.progress.stage(
            "running what is red once more",
            f"{len(seen.red)} test{'' if len(seen.red) == 1 else 's'}, in one process",
        )
        again = self.of(list(seen.red))
        green = (seen.green or frozenset()) | (again.green or frozenset())
        return again if again.said else replace(again, green=green)

    def _to_the_end(
        self, path: Path, chosen: _Chosen, *, several: bool, to_first: bool = False
    ) -> TestsSeen:
        """Run tests until each of them was run, whatever takes the process down on the way."""
        for _ in range(self.workspace.limits.search.crashes):
            kept, _whole = _kept_reports(path)
            result, hung = self._run(path, chosen, kept, several=several, to_first=to_first)
            try:
                now, _whole = _kept_reports(path)
                counted = any(report.when == "collected" for report in now)
                if result.ending is Ending.EXITED and result.status in _ENDED and counted:
                    if not chosen and result.status and not _red_tests(now):
                        return _unreported_failure(self.bench, self.suite, now, result)
                    return _seen_tests(now)
                died = hung or (under_way(now) if result.signal else "")
                if died:
                    how = (
                        "did not end" if hung else f"took its process with it ({result.describe()})"
                    )
                    _append(path, Report(died, "call", "failed", f"The test {how}."))
                elif several:
                    several = False  # workers that do not agree on what there is, or do not start
                else:
                    return _stopped_runner(self.bench, self.suite, now, result)
            finally:
                result.remove()
        return _seen_tests(_kept_reports(path)[0])

    def _run(
        self,
        path: Path,
        chosen: _Chosen,
        kept: Sequence[Report],
        *,
        several: bool,
        to_first: bool,
    ) -> tuple[ProcessResult, str]:
        assert self.suite.found is not None
        recipe = self.suite.recipe
        if chosen:  # of tests that were named some are in one version only
            recipe = replace(recipe, test=self.suite.found.test)
        command = recipe.test_in(self.bench.slot.path)
        selection = path.with_suffix(".selection")
        others = {"skip": list(_ended_tests(kept)), "first": self._red_before(path)}
        selection.write_text(json.dumps({**chosen, **others}), encoding="utf-8")
        files = dict.fromkeys(name.split("::")[0] for names in chosen.values() for name in names)
        there = [file for file in files if (self.bench.slot.path / file).exists()]
        argv = (
            *command.argv,
            *(self.suite.found.several if several else ()),
            *(["--maxfail=1"] if to_first else ()),
            *(there if len(there) == len(files) else ()),
        )
        extra = {"AFTERD_REPORTS": str(path), "AFTERD_SELECTION": str(selection)}
        command = replace(command, argv=argv, environment={**command.environment, **extra})
        count = _Count(
            path, self.progress, self.workspace.limits.test.timeout, [], len(_ended_tests(kept))
        )
        result = self.bench.run(command, self.workspace.limits.suite, count)
        count.tell()
        return result, count.hung

    def _red_before(self, path: Path) -> list[str]:
        """The tests that were red when a suite was last run here: they come first."""
        others = [
            file
            for file in self._folder().glob("*.jsonl")
            if file.name not in (path.name, "some.jsonl")
        ]
        newest = max(others, key=lambda file: file.stat().st_mtime, default=None)
        return list(_red_tests(_kept_reports(newest)[0])) if newest else []

    def _folder(self) -> Path:
        folder = self.workspace.state / "suites"
        folder.mkdir(exist_ok=True)
        kept = sorted(folder.glob("*.jsonl"), key=lambda file: file.stat().st_mtime)
        for old in kept[:-_KEPT]:
            with suppress(OSError):
                old.unlink()
        return folder


def _kept_reports(path: Path) -> tuple[list[Report], bool]:
    """The reports of a file, and whether they are of a suite that was run to its end."""
    reports: list[Report] = []
    offset = 0
    while (read := reports_in(path, offset))[1] > offset:
        reports += read[0]
        offset = read[1]
    return reports, any(report.when == _WHOLE for report in reports)


def _append(path: Path, report: Report) -> None:
    line = {name: getattr(report, name) for name in ("when", "outcome", "message")}
    with path.open("a", encoding="utf-8") as file:
        file.write("\n" + json.dumps({"id": report.test, **line}) + "\n")


def _ended_tests(reports: Sequence[Report]) -> dict[str, None]:
    """The tests that came to an end, in their order; files that could not be collected too."""
    return {report.test: None for report in reports if report.test and report.when != "start"}


def _red_tests(reports: Sequence[Report]) -> dict[str, str]:
    """The failed tests, with what the first failed phase said."""
    red: dict[str, str] = {}
    for report in reports:
        if report.failed and report.test:
            red.setdefault(report.test, report.message)
    return red


def _attempt(reports: Sequence[Report]) -> Attempt:
    verdict = Verdict.FAIL if _red_tests(reports) else Verdict.PASS
    return Attempt(Outcome(verdict), tests=1)


def _seen_tests(reports: Sequence[Report]) -> TestsSeen:
    red = _red_tests(reports)
    return TestsSeen(_attempt(reports), red, frozenset(_ended_tests(reports)) - set(red))


def _unreported_failure(
    bench: Workbench, suite: Suite, reports: Sequence[Report], result: ProcessResult
) -> TestsSeen:
    """The suite failed, or there was nothing in it, and no test is to blame: it is one test itself."""
    attempt = bench.judged(result, suite.recipe)
    if result.status == _ENDED[-1]:
        said = "" if _ended_tests(reports) else attempt.outcome.detail or "it found no test"
        return TestsSeen(_attempt(reports), {}, frozenset(_ended_tests(reports)), said)
    return TestsSeen(attempt, {suite.recipe.test_id: attempt.outcome.detail}, frozenset())


def _stopped_runner(
    bench: Workbench, suite: Suite, reports: Sequence[Report], result: ProcessResult
) -> TestsSeen:
    """The runner itself gave up: what it saw until then, and its own words."""
    red = _red_tests(reports)
    attempt = bench.judged(result, suite.recipe)
    said = attempt.outcome.detail or f"it {result.describe()}"
    return TestsSeen(attempt, red, frozenset(_ended_tests(reports)) - set(red), said)
