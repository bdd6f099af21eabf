"""What is on record of one project's repository after a day, and what of it is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pygit2

from afterd.bench.day_people import People
from afterd.bench.day_truth import Said, Tested, Truth
from afterd.errors import AfterdError
from afterd.report.verdicts import VerdictKind
from afterd.store.database import DATABASE_NAME, Reader, open_reader
from afterd.store.explanations import load

_VERDICTS = """
SELECT commit_id, test, kind, explanation_id FROM verdict ORDER BY id"""
_RUNS = "SELECT commit_id, verdict, created FROM history WHERE test = '' ORDER BY id"
_TO_DO = "SELECT count(*) AS n FROM job WHERE kind = 'commit' AND state IN ('queued', 'leased')"
_UNDER_WAY = "SELECT key FROM job WHERE kind = 'commit' AND state = 'leased'"
_LEASABLE = f"{_TO_DO} AND (state = 'leased' OR not_before <= strftime('%s', 'now'))"
_ENDED = "SELECT key, state, updated FROM job WHERE kind = 'commit'"
_UNFINISHED = """
SELECT key, state, reason FROM job WHERE kind = 'commit' AND state NOT IN ('done', 'abandoned')"""


@dataclass(frozen=True, slots=True)
class Record:
    """The database of the daemon, beside the repository in which ``people`` work."""

    people: People
    repository: Path

    @property
    def database(self) -> Path:
        """Where it is, once the daemon has made it."""
        return self.repository / "afterd" / DATABASE_NAME

    def to_do(self) -> int:
        """How many jobs are not done; below 0 while there is no database."""
        return self._counted(_TO_DO)

    def under_way(self) -> list[str]:
        """The keys of the jobs that are being done."""
        if not self.database.exists():
            return []
        try:
            with open_reader(self.database) as reader:
                return [str(row["key"]) for row in reader.rows(_UNDER_WAY)]
        except AfterdError:
            return []  # it is being made

    def held_back(self) -> bool:
        """Whether all that is to do waits for its time: what was lost is taken up again later."""
        return self.to_do() > 0 and self._counted(_LEASABLE) == 0

    def unfinished(self) -> list[str]:
        """The jobs that are not done, and why."""
        with open_reader(self.database) as reader:
            rows = reader.rows(_UNFINISHED)
        return [f"{row['key']} is {row['state']} ({row['reason'] or 'no reason'})" for row in rows]

    def has_seen_all(self) -> bool:
        """Whether the daemon has seen where each branch is now."""
        with open_reader(self.database) as reader:
            rows = reader.rows("SELECT key FROM job")
        keys = {str(row["key"]).rpartition(":")[2] for row in rows}
        return bool(keys) and self.people.tips() <= keys

    def ended(self) -> dict[str, float]:
        """When the job of each commit was done, in seconds since the epoch."""
        with open_reader(self.database) as reader:
            return {
                str(row["key"]).rpartition(":")[2]: float(str(row["updated"]))
                for row in reader.rows(_ENDED)
                if row["state"] == "done"
            }

    def tested(self, broken: Sequence[tuple[float, float]]) -> list[Tested]:
        """Every tested commit, oldest run first; ``broken``: when what the project depends on was."""
        with open_reader(self.database) as reader:
            said: dict[str, list[Said]] = {}
            for row in reader.rows(_VERDICTS):
                said.setdefault(str(row["commit_id"]), []).append(_said_verdict(reader, row))
            found: list[Tested] = []
            known: set[str] = set()
            for row in reader.rows(_RUNS):
                commit, at = str(row["commit_id"]), float(str(row["created"]))
                before = [each for each in self._first_parents(commit) if each in known]
                at_that_time = any(start <= at <= end for start, end in broken)
                conclusive = row["verdict"] != "unresolved"
                found.append(Tested(commit, before, said.get(commit, []), at_that_time, conclusive))
                known.add(commit)
            return found

    def wrong(self, tested: Sequence[Tested]) -> Iterator[str]:
        """What is wrong: verdicts, and jobs that were not brought to an end."""
        with open_reader(self.database) as reader:
            for row in reader.rows(_UNFINISHED):
                yield f"{row['key']} is {row['state']}: {row['reason']}"
        truth = Truth(self.people.project, self.people.states)
        for each in tested:
            for why in truth.wrong_verdicts(each):
                yield f"{self.people.project.name}, {each.commit[:12]}: {why}"

    def _counted(self, query: str) -> int:
        if not self.database.exists():
            return -1
        try:
            with open_reader(self.database) as reader:
                return int(str(reader.rows(query)[0]["n"]))
        except AfterdError:
            return -1  # it is being made

    def _first_parents(self, commit: str) -> list[str]:
        found = []
        while parents := self.people.repository[commit].peel(pygit2.Commit).parent_ids:
            commit = str(parents[0])
            found.append(commit)
        return found


def _said_verdict(reader: Reader, row: Mapping[str, object]) -> Said:
    test, kind = str(row["test"]), VerdictKind(str(row["kind"]))
    if row["explanation_id"] is None:
        return Said(test, kind)
    found = load(reader, int(str(row["explanation_id"])))
    lines = (line for change in (*found.root, *found.auxiliary) for line in change.lines("+"))
    return Said(test, kind, tuple(line.strip() for line in lines), found.range.good)
