"""``afterd bench day``: a day of five people replayed against a daemon, every verdict compared with the truth.

With ``kills`` something of the daemon's is killed from outside at random moments: the daemon itself, a
supervisor, a solver, a program under test; with ``full`` its disk is full for a while: a small one of its
own, or, where none can be mounted, a limit on the size of files.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from multiprocessing.process import BaseProcess
from pathlib import Path

import pygit2

from afterd.bench.budgets import DAY
from afterd.bench.day_kills import Kills
from afterd.bench.day_people import Event, People
from afterd.bench.day_project import OUTSIDE, outside
from afterd.bench.day_truth import Said, Tested, wrong_verdicts
from afterd.bench.small_disk import filled, small_disk, top_up
from afterd.config import Settings, shell
from afterd.config.kinds import parse_budget
from afterd.daemon.poster import Poster
from afterd.daemon.serve import serve
from afterd.errors import AfterdError
from afterd.execution.process_tree import walk
from afterd.report.verdicts import VerdictKind
from afterd.store.database import DATABASE_NAME, Reader, open_reader
from afterd.store.explanations import load

_TEST = shell(f"{sys.executable} -B -m unittest -q")

_VERDICTS = """
SELECT commit_id, test, kind, explanation_id FROM verdict ORDER BY id"""
_RUNS = "SELECT commit_id, verdict, created FROM history WHERE test = '' ORDER BY id"
_TO_DO = "SELECT count(*) AS n FROM job WHERE kind = 'commit' AND state IN ('queued', 'leased')"
_UNDER_WAY = "SELECT count(*) AS n FROM job WHERE kind = 'commit' AND state = 'leased'"
_ENDED = "SELECT key, state, updated FROM job WHERE kind = 'commit'"


@dataclass(frozen=True, slots=True)
class Day:
    """How the day is: ``commits`` pushed, ``kills`` from outside, a ``full`` disk for a while or not.

    ``kept``: where the repository is left, with the daemon's database and log (None: nowhere).
    """

    commits: int
    seed: int = 0
    kills: int = 0
    full: bool = False
    kept: Path | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """What became of the day. ``delays`` are seconds from a push to its answer, ``cpu`` those of the daemon and
    all that it started; ``killed`` counts what was killed, by what it was; ``disk`` says how the disk was full
    (empty: it was not).
    """

    pushed: int
    tested: int
    verdicts: Mapping[str, int]
    wrong: tuple[str, ...]
    delays: tuple[float, ...]
    cpu: float
    seconds: float
    killed: Mapping[str, int] = field(default_factory=dict)
    disk: str = ""


class _Watched:
    """The daemon, in a process of its own, started again whenever it is gone."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.path = home / "repository.git"
        self._context = multiprocessing.get_context("spawn")
        self._process: BaseProcess | None = None

    def ensure(self) -> None:
        """Start it where it is not there."""
        if self._process is None or not self._process.is_alive():
            self.end()
            self._process = self._context.Process(target=_serve, args=(self.path,))
            self._process.start()

    @property
    def pid(self) -> int:
        """The process that does the jobs."""
        return (self._process.pid if self._process else None) or 0

    def limit(self, size: int) -> None:
        """No file of the daemon's or its programs' may grow past so many bytes, as on a full disk."""
        for pid in (self.pid, *walk(self.pid)):
            try:
                _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, hard))
            except (ProcessLookupError, ValueError):
                continue

    def pause(self) -> None:
        """It hears of nothing for now."""
        self.ensure()
        os.kill(self.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """After a pause."""
        os.kill(self.pid, signal.SIGCONT)

    def end(self) -> None:
        """As systemd ends it."""
        if self._process is not None:
            self._process.terminate()
            self._process.join(15.0)
            self._process.kill()
            self._process.join()
            self._process = None


def _serve(path: Path) -> None:
    os.environ["PYTHONPATH"] = str(path.parent / "outside")
    tempfile.tempdir = str(path.parent / "temporary")  # on the same disk
    settings = Settings(
        path,
        test=_TEST,
        test_timeout=DAY.suite,
        poll=2.0,
        day_budget=parse_budget("24h"),
        self_check=0.0,
    )
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    serve([settings], Poster(None), once=False, spoken=False)


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
        account = replay.account(time.monotonic() - began)
        if day.kept is not None:
            shutil.copytree(replay.daemon.path, day.kept, symlinks=True)
    return replace(account, cpu=_children_cpu() - before)


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class _Replay:
    """One day under way."""

    def __init__(self, day: Day, home: Path, say: Callable[[str], None], *, small: bool) -> None:
        self._day, self._home, self._say, self._small = day, home, say, small
        self._chance = random.Random(f"bursts {day.seed}")  # noqa: S311 - no secret
        self.daemon = _Watched(home)
        self.people = People(self.daemon.path, day.seed)
        self._pushed: list[tuple[Event, float]] = []
        self._kills = Kills(day.seed)
        self._disk = ""
        self._broken: list[tuple[float, float]] = []
        self._broke = 0.0
        (home / "outside").mkdir()
        (home / "temporary").mkdir()
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
        for number, event in enumerate(self.people.day(self._day.commits)):
            self._pushed.append((event, time.time()))
            self._say(f"{number + 1} of {self._day.commits}: {event.what} to {event.ref}")
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
            if number + 1 == self._day.commits:
                break
        self._wait()

    def _wait(self) -> None:
        """Until nothing is to do; meanwhile things are killed where that is asked for."""
        moved, left = time.monotonic(), -2
        quiet = 0
        while quiet < 3:  # a look may come between a push and the daemon's own look
            self.daemon.ensure()
            time.sleep(DAY.look)
            self._disturb()
            to_do = self._to_do()
            if to_do != left:
                moved, left = time.monotonic(), to_do
            quiet = quiet + 1 if to_do == 0 and self._is_seen() else 0
            if time.monotonic() - moved > DAY.patience:
                raise AfterdError(f"The daemon stands still, with {to_do} jobs to do.")

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
            with filled(self._home):
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
            self.daemon.limit(self._database.stat().st_size)
            self.daemon.go_on()
            time.sleep(DAY.full)
            self.daemon.limit(resource.RLIM_INFINITY)
        self._say("there is room again")

    def _is_seen(self) -> bool:
        """Whether the daemon has seen where each branch is now."""
        with open_reader(self._database) as reader:
            rows = reader.rows("SELECT key FROM job")
        keys = {str(row["key"]).rpartition(":")[2] for row in rows}
        return bool(keys) and (not self._pushed or self.people.tips() <= keys)

    def _to_do(self) -> int:
        return self._counted(_TO_DO)

    def _is_at_work(self) -> bool:
        return self._counted(_UNDER_WAY) > 0

    def _counted(self, query: str) -> int:
        if not self._database.exists():
            return -1
        try:
            with open_reader(self._database) as reader:
                return int(str(reader.rows(query)[0]["n"]))
        except AfterdError:
            return -1  # it is being made

    @property
    def _database(self) -> Path:
        return self.daemon.path / "afterd" / DATABASE_NAME

    def _depend(self, *, broken: bool) -> None:
        """Another release of the dependency is installed."""
        (self._home / "outside" / f"{OUTSIDE}.py").write_text(outside(broken=broken))
        if broken:
            self._broke = time.time()
        elif self._broke:
            self._broken.append((self._broke, time.time()))
            self._broke = 0.0

    def _disturb(self) -> None:
        """Kill something of a daemon at work, so often that the day has as many kills as are asked for."""
        due = self._day.kills * (len(self._pushed) + 1) / self._day.commits
        if self._kills.done < due and self._is_at_work():
            self._kills.disturb(self.daemon.pid)

    def account(self, seconds: float) -> Account:
        """Every verdict compared."""
        with open_reader(self._database) as reader:
            tested = self._tested(reader)
            ended = {
                str(row["key"]).rpartition(":")[2]: float(str(row["updated"]))
                for row in reader.rows(_ENDED)
                if row["state"] == "done"
            }
            others = reader.rows(
                "SELECT key, state, reason FROM job WHERE state NOT IN ('done', 'abandoned')"
            )
        wrong = [f"{row['key']} is {row['state']}: {row['reason']}" for row in others]
        kinds: dict[str, int] = {}
        for each in tested:
            wrong += [
                f"{each.commit[:12]}: {why}" for why in wrong_verdicts(each, self.people.states)
            ]
            for said in each.said:
                kinds[said.kind.value] = kinds.get(said.kind.value, 0) + 1
        delays = [ended[event.commit] - at for event, at in self._pushed if event.commit in ended]
        return Account(
            len(self._pushed),
            len(tested),
            kinds,
            tuple(wrong),
            tuple(delays),
            0.0,
            seconds,
            self._kills.counted,
            self._disk,
        )

    def _tested(self, reader: Reader) -> list[Tested]:
        said: dict[str, list[Said]] = {}
        for row in reader.rows(_VERDICTS):
            said.setdefault(str(row["commit_id"]), []).append(_said(reader, row))
        found: list[Tested] = []
        known: set[str] = set()
        for row in reader.rows(_RUNS):
            commit, at = str(row["commit_id"]), float(str(row["created"]))
            before = [each for each in self._first_parents(commit) if each in known]
            ends = [*self._broken, *([(self._broke, float("inf"))] if self._broke else [])]
            broken = any(start <= at <= end for start, end in ends)
            conclusive = row["verdict"] != "unresolved"
            found.append(Tested(commit, before, said.get(commit, []), broken, conclusive))
            known.add(commit)
        return found

    def _first_parents(self, commit: str) -> list[str]:
        found = []
        while parents := self.people.repository[commit].peel(pygit2.Commit).parent_ids:
            commit = str(parents[0])
            found.append(commit)
        return found


def _said(reader: Reader, row: Mapping[str, object]) -> Said:
    test, kind = str(row["test"]), VerdictKind(str(row["kind"]))
    if row["explanation_id"] is None:
        return Said(test, kind)
    found = load(reader, int(str(row["explanation_id"])))
    lines = (line for change in (*found.root, *found.auxiliary) for line in change.lines("+"))
    return Said(test, kind, tuple(line.strip() for line in lines), found.range.good)
