"""One case put to one strategy: a fresh repository, a process of its own, an answer judged."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from afterd.bench.case import Case, Prepared, UnavailableError
from afterd.bench.choices import choices
from afterd.bench.judgement import Verdict, judge
from afterd.bench.measurement import Measurement
from afterd.bench.measuring import Answered, Request
from afterd.bench.tree_facts import tree_facts
from afterd.config import Budget, Strategy
from afterd.config.kinds import NO_LIMIT
from afterd.execution.process import Command, ProcessResult
from afterd.execution.sandbox import PACKAGE_ROOT, run
from afterd.limits import GIB, ProcessLimits
from afterd.model.explanation import Explanation, Status
from afterd.report.story_lines import printed_story
from afterd.store.database import DATABASE_NAME, open_reader
from afterd.store.explanations import load
from afterd.vcs.repository import open_repository, state_directory

Say = Callable[[str], None]

_MOST_SECONDS = 6 * 3600.0  # of a case without a budget
_GRACE_SECONDS = 300.0  # past its budget: the run under way, the trace, the last build
_LIMITS = ProcessLimits(memory=64 * GIB, processes=8192, file_size=64 * GIB, open_files=65_536)
_STORY_WIDTH = 120  # columns
_LOOK = 0.2  # seconds between two looks at the progress
_NOT_REPRODUCED = (Status.GREEN, Status.ALREADY_RED)


@dataclass(frozen=True, slots=True)
class Options:
    """What is the same for every case: strategies, variants at a time, and the budget of each.

    ``say`` hears each line of progress, and of each answer's story; None: nobody listens.
    """

    strategies: Sequence[Strategy] = tuple(Strategy)
    jobs: int = 1
    budget: Budget = NO_LIMIT
    say: Say | None = None


def measurements(cases: Sequence[Case], options: Options) -> Iterator[Measurement]:
    """Every case with every strategy, each as soon as it is done."""
    for case in cases:
        for strategy in options.strategies:
            if options.say:
                options.say(f"{case.name}, {strategy}")
            yield _measured_case(case, strategy, options)


def _measured_case(case: Case, strategy: Strategy, options: Options) -> Measurement:
    """A fresh repository each time: what another strategy learned must not help this one."""
    blank = Measurement(case.name, strategy.value, Verdict.SKIPPED, guilty=len(case.answers[0]))
    with tempfile.TemporaryDirectory(prefix="afterd-bench-", ignore_cleanup_errors=True) as place:
        directory = Path(place)
        try:
            prepared = case.prepare(directory / "repository")
        except UnavailableError as error:
            return replace(blank, note=f"skipped: {error}")
        blank = replace(blank, language="C" if prepared.build else "Python")
        found = answered_case(prepared, strategy, options, directory)
        log = _lines(directory / "log")
        costs = replace(
            blank,
            seconds=found.seconds,
            memory=found.memory,
            events=found.events,
            cpu=found.cpu,
            log=log,
        )
        if not found.identifier:
            return replace(costs, verdict=Verdict.MISSED, note=found.problem)
        explanation = stored_explanation(prepared.path, found.identifier)
        if options.say is not None:
            for line in printed_story(explanation, _STORY_WIDTH):
                options.say(line)
        judged = _judged_row(case, costs, explanation)
        if judged.verdict is not Verdict.MATCHED:
            return judged
        guilty = {each.id for each in (*explanation.root, *explanation.auxiliary)}
        return replace(judged, choices=tuple(choices(found.suspicions, guilty)))


def _judged_row(case: Case, costs: Measurement, explanation: Explanation) -> Measurement:
    """The row of an explanation; a case that is green or red at both ends was not asked."""
    reported = (*explanation.root, *explanation.auxiliary)
    verdict = judge(reported, case.answers, repairs=explanation.verified)
    note = explanation.reason
    if explanation.status in _NOT_REPRODUCED:
        verdict, note = Verdict.SKIPPED, f"skipped, the regression is not seen here: {note}"
    elif verdict in {Verdict.PARTIAL, Verdict.MISSED} and reported:
        places = ", ".join(f"{each.file}:{each.new.start}" for each in reported[:6])
        note = f"{note} Reported: {places}".strip()
    needed = len(reported) if verdict is Verdict.MATCHED else costs.guilty  # of the answer it is
    runs = explanation.runs
    return replace(
        costs,
        verdict=verdict,
        note=note,
        changes=explanation.changes.total,
        root=len(explanation.root),
        auxiliary=len(explanation.auxiliary),
        tests=runs.tests,
        floor=needed + 1,
        builds=runs.builds,
        solver_calls=runs.smt_calls,
        causes=sum(1 for _ in explanation.tree.nodes()) if explanation.tree else 0,
        tree=tree_facts(explanation, costs.cpu),
    )


def stored_explanation(repository: Path, identifier: int) -> Explanation:
    """The explanation with this id in a repository's database."""
    reader = open_reader(state_directory(open_repository(repository)) / DATABASE_NAME)
    try:
        return load(reader, identifier)
    finally:
        reader.close()


def answered_case(
    prepared: Prepared, strategy: Strategy, options: Options, directory: Path
) -> Answered:
    """What a process of its own explained; its files are left in ``directory``."""
    request, answer, log = (directory / name for name in ("request", "answer", "log"))
    asked = Request(
        repository=str(prepared.path),
        good=prepared.good,
        bad=prepared.bad,
        build=list(prepared.build),
        test=list(prepared.test),
        strategy=strategy.value,
        jobs=options.jobs,
        seconds=options.budget.seconds,
        runs=options.budget.runs,
        log=str(log),
    )
    request.write_text(json.dumps(asdict(asked)), encoding="utf-8")
    argv = (sys.executable, "-m", "afterd.bench.measuring", str(request), str(answer))
    command = Command(argv, directory, _environment(), merge=True)
    most = (options.budget.seconds or _MOST_SECONDS) + _GRACE_SECONDS
    result = _followed_command(command, replace(_LIMITS, timeout=most), directory, options.say)
    try:
        if answer.exists() and result.succeeded:
            return Answered(**json.loads(answer.read_text(encoding="utf-8")))
        said = result.stdout.text().strip().splitlines()[-1:]
        problem = f"no answer: the process {result.describe()}. {' '.join(said)}".strip()
        return Answered(problem=problem, seconds=result.seconds)
    finally:
        result.remove()


def _environment() -> dict[str, str]:
    """This process's, with afterd as it is imported here, and ``python`` the one that runs it."""
    own = {"PATH": str(Path(sys.executable).parent), "PYTHONPATH": PACKAGE_ROOT}
    inherited = {name: f"{os.pathsep}{os.environ[name]}" for name in own if os.environ.get(name)}
    return {**os.environ, **{name: own[name] + inherited.get(name, "") for name in own}}


def _followed_command(
    command: Command, limits: ProcessLimits, directory: Path, say: Say | None
) -> ProcessResult:
    """Run it, passing on what it writes to its log; Ctrl-C ends it and all that it started."""
    cancelled = threading.Event()
    said = 0
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(run, command, limits, scratch=directory, cancelled=cancelled)
        try:
            while not future.done():
                cancelled.wait(_LOOK)
                said = _pass_on(directory / "log", said, say)
        except BaseException:
            cancelled.set()
            raise
    _pass_on(directory / "log", said, say)
    return future.result()


def _pass_on(log: Path, said: int, say: Say | None) -> int:
    """Say the lines after the first ``said``; how many there are now."""
    if say is None:
        return said
    lines = _lines(log)
    for line in lines[said:]:
        say(line)
    return len(lines)


def _lines(log: Path) -> tuple[str, ...]:
    """The whole lines of a log that may be in the middle of one."""
    if not log.exists():
        return ()
    text = log.read_text(encoding="utf-8", errors="replace")
    return tuple(text[: text.rfind("\n") + 1].splitlines())
