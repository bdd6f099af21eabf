"""``afterd bench day``: a day of five people replayed against a daemon, every verdict compared with the truth.

They work on two projects, one in Python and one in C, which one daemon watches. With ``kills`` something of the
daemon's is killed from outside at random moments: the daemon itself, a supervisor, a compiler, a linker, a solver,
a program under test; with ``full`` its disk is full for a while: a small one of its own, or, where none can be
mounted, a limit on the size of files.
"""

from __future__ import annotations

import random
import resource
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from afterd.bench.budgets import DAY
from afterd.bench.day_daemon import (
    OUTSIDE_FOLDER,
    TEMPORARY_FOLDER,
    WatchedDaemon,
    repository_of,
)
from afterd.bench.day_fees import Fees
from afterd.bench.day_kills import Kills
from afterd.bench.day_people import Event, People
from afterd.bench.day_prices import OUTSIDE, Prices, outside
from afterd.bench.day_project import Project
from afterd.bench.day_record import Record
from afterd.bench.small_disk import filled_disk, small_disk, top_up
from afterd.errors import AfterdError


@dataclass(frozen=True, slots=True)
class Day:
    """How the day is: ``commits`` pushed, ``kills`` from outside, a ``full`` disk for a while or not.

    ``of_c``: the part of the pushes that are to the project in C. ``kept``: where the repositories are left,
    with the daemon's databases and logs (None: nowhere).
    """

    commits: int
    seed: int = 0
    kills: int = 0
    full: bool = False
    kept: Path | None = None
    of_c: float = DAY.of_c


@dataclass(frozen=True, slots=True)
class Account:
    """What became of the day. ``pushed`` and ``tested`` count commits by project, ``verdicts`` count by kind;
    ``delays`` are seconds from a push to its answer, ``cpu`` those of the daemon and all that it started;
    ``killed`` counts what was killed, by what it was; ``disk`` says how the disk was full (empty: it was not).
    """

    pushed: Counter[str]
    tested: Counter[str]
    verdicts: Mapping[str, int]
    wrong: tuple[str, ...]
    delays: tuple[float, ...]
    cpu: float
    seconds: float
    killed: Mapping[str, int] = field(default_factory=dict)
    disk: str = ""


def day_replayed(day: Day, say: Callable[[str], None] = lambda _line: None) -> Account:
    """Replay a day, and compare. Raises AfterdError where the daemon stands still."""
    began, before = time.monotonic(), _children_cpu()
    with ExitStack() as stack:
        folder = tempfile.TemporaryDirectory(prefix="afterd-day-", ignore_cleanup_errors=True)
        place = Path(stack.enter_context(folder))
        small = day.full and stack.enter_context(small_disk(place, DAY.disk))
        replay = _Replay(day, place, say, small=small)
        try:
            replay.run()
        finally:
            replay.daemon.end()
            if day.kept is not None:
                replay.keep(day.kept)
        account = replay.account(time.monotonic() - began)
    return replace(account, cpu=_children_cpu() - before)


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class _Replay:
    """One day under way."""

    def __init__(self, day: Day, home: Path, say: Callable[[str], None], *, small: bool) -> None:
        self._day, self._home, self._say, self._small = day, home, say, small
        self._chance = random.Random(f"bursts {day.seed}")  # noqa: S311 - no secret
        projects: Sequence[Project] = [Prices(), *([Fees()] if day.of_c else [])]
        self.daemon = WatchedDaemon(home, projects)
        self._records = [
            Record(
                People(project, repository_of(home, project), day.seed),
                repository_of(home, project),
            )
            for project in projects
        ]
        self._pushed: list[tuple[Record, Event, float]] = []
        self._kills = Kills(day.seed)
        self._killed: Counter[str] = Counter()  # by the job that was at work
        self._disk = ""
        self._broken: list[tuple[float, float]] = []
        self._broke = 0.0
        for folder in (OUTSIDE_FOLDER, TEMPORARY_FOLDER):
            (home / folder).mkdir()
        self._depend(broken=False)

    def run(self) -> None:
        """Push all day, in bursts, and wait for the answers in between."""
        self._say("the first version is tested")
        self._wait()
        broken, mended = (int(part * self._day.commits) for part in DAY.dependency)
        full = range(0)
        if self._day.full:
            begin = int(DAY.filled * self._day.commits)
            full = range(begin, min(begin + DAY.burst, broken))
        waiting = 0
        for number, (record, event) in enumerate(self._events()):
            self._pushed.append((record, event, time.time()))
            self._say(
                f"{number + 1} of {self._day.commits}, {record.people.project.name}: {event.what} to {event.ref}"
            )
            if number in (broken, mended):
                self._wait()
                self._depend(broken=number == broken)
            if number in full:
                self._held_up(number, full)
                continue
            waiting += 1
            if waiting >= self._chance.randint(1, DAY.burst):
                self._wait()
                waiting = 0
        self._wait()

    def _events(self) -> Iterator[tuple[Record, Event]]:
        """So many pushes as the day has, each to a project that the seed chooses."""
        days = [(record, record.people.day(self._day.commits)) for record in self._records]
        weights = (1.0 - self._day.of_c, self._day.of_c)[: len(days)]
        for _ in range(self._day.commits):
            [(record, events)] = self._chance.choices(days, weights)
            yield record, next(events)

    def _wait(self) -> None:
        """Until nothing is to do; meanwhile things are killed where that is asked for."""
        moved, left = time.monotonic(), -2
        quiet = 0
        while quiet < 3:  # a look may come between a push and the daemon's own look
            self.daemon.ensure()
            time.sleep(DAY.look)
            self._disturb()
            to_do = self._to_do()
            if to_do != left or any(record.held_back() for record in self._records):
                moved, left = time.monotonic(), to_do
            seen = to_do == 0 and all(record.has_seen_all() for record in self._records)
            quiet = quiet + 1 if seen else 0
            if time.monotonic() - moved > DAY.patience:
                jobs = "; ".join(job for record in self._records for job in record.unfinished())
                raise AfterdError(f"The daemon stands still, with {to_do} jobs to do: {jobs}.")

    def _to_do(self) -> int:
        """How many jobs are not done; below 0 while a database is missing."""
        each = [record.to_do() for record in self._records]
        return -1 if min(each) < 0 else sum(each)

    def _held_up(self, number: int, full: range) -> None:
        """Pushes that the daemon hears of when the disk is full already."""
        if number == full[0]:
            self.daemon.pause()
        if number == full[-1]:
            self._fill_disk()

    def _fill_disk(self) -> None:
        """Nothing of the daemon's grows any more, for a while, and there is much to do; then it may again."""
        self._say("the disk is full")
        if self._small:
            self._disk = f"no byte of it was free for {DAY.full:g} s"
            with filled_disk(self._home):
                self.daemon.go_on()
                until = time.monotonic() + DAY.full
                while time.monotonic() < until:
                    time.sleep(DAY.look)
                    self.daemon.ensure()
                    top_up(self._home)
        else:
            self._disk = (
                f"no file could grow for {DAY.full:g} s (no small disk can be mounted here)"
            )
            self.daemon.limit(max(record.database.stat().st_size for record in self._records))
            self.daemon.go_on()
            time.sleep(DAY.full)
            self.daemon.limit(resource.RLIM_INFINITY)
        self._say("there is room again")

    def _depend(self, *, broken: bool) -> None:
        """Another release of the dependency is installed."""
        (self._home / OUTSIDE_FOLDER / f"{OUTSIDE}.py").write_text(outside(broken=broken))
        if broken:
            self._broke = time.time()
        elif self._broke:
            self._broken.append((self._broke, time.time()))
            self._broke = 0.0

    def _disturb(self) -> None:
        """Kill something of a daemon at work, so often that the day has as many kills as are asked for.

        While one job is at work only so often: whatever is killed every two seconds never ends, and has no verdict.
        """
        due = self._day.kills * (len(self._pushed) + 1) / self._day.commits
        busy = {
            job: record.people.project for record in self._records for job in record.under_way()
        }
        spared = any(self._killed[job] >= DAY.of_one_job for job in busy)
        if self._kills.done < due and busy and not spared:
            before = self._kills.done
            builds = any(project.build for project in busy.values())
            self._kills.disturb(self.daemon.pid, builds=builds)
            self._killed.update(dict.fromkeys(busy, self._kills.done - before))

    def keep(self, place: Path) -> None:
        """Leave the repositories there, to look at; without recordings, which take much room once they are copied."""
        for record in self._records:
            kept = place / record.repository.name
            left_out = shutil.ignore_patterns("traced", "slots")
            shutil.copytree(record.repository, kept, symlinks=True, ignore=left_out)

    def account(self, seconds: float) -> Account:
        """Every verdict compared."""
        ends = [*self._broken, *([(self._broke, float("inf"))] if self._broke else [])]
        tested: Counter[str] = Counter()
        kinds: Counter[str] = Counter()
        wrong: list[str] = []
        delays: list[float] = []
        for record in self._records:
            found = record.tested(ends)
            tested[record.people.project.name] = len(found)
            kinds.update(said.kind.value for each in found for said in each.said)
            wrong += record.wrong(found)
            ended = record.ended()
            delays += [
                ended[event.commit] - at
                for of, event, at in self._pushed
                if of is record and event.commit in ended
            ]
        pushed = Counter(record.people.project.name for record, _, _ in self._pushed)
        return Account(
            pushed,
            tested,
            kinds,
            tuple(wrong),
            tuple(delays),
            0.0,
            seconds,
            self._kills.counted,
            self._disk,
        )
