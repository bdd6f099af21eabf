"""Test outcomes by commit: where a test was last green, and how often it contradicts itself."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from afterd.model.outcome import FailureSignature, Verdict
from afterd.store.database import Reader, Store
from afterd.store.outcomes import signature_from, signature_text
from afterd.store.repositories import repository_id
from afterd.store.rows import from_row, to_row
from afterd.store.text import loaded_text, stored_text


@dataclass(frozen=True, slots=True)
class Observation:
    """One run of a test on a commit; ``command`` is the digest of build and test command.

    ``signature`` is how it failed, as far as is known.
    """

    commit_id: str
    test: str
    command: str
    verdict: Verdict
    seconds: float = 0.0
    signature: FailureSignature | None = None


def observe(store: Store, repository: str, observation: Observation) -> None:
    """Append what was seen; ``repository`` is the absolute path of the common git directory."""
    with store.transaction() as database:
        owner = {"repository_id": repository_id(database, repository), "created": time.time()}
        row = owner | to_row(observation, omit=("signature",))
        row["signature"] = signature_text(observation.signature)
        database.table("history").insert(row)


def observations(reader: Reader, repository: str, test: str) -> list[Observation]:
    """Every run of a test in a repository, oldest first."""
    with reader.snapshot():
        rows = reader.rows(
            """SELECT h.* FROM history h JOIN repository r ON r.id = h.repository_id
               WHERE r.path = ? AND h.test = ? ORDER BY h.id""",
            (stored_text(repository), stored_text(test)),
        )
        return [
            from_row(Observation, row, signature=signature_from(loaded_text(row["signature"])))
            for row in rows
        ]


def tested_commits(reader: Reader, repository: str, command: str) -> dict[str, Verdict]:
    """The commits at which a whole command was run, with its newest verdict.

    ``command`` is the digest of build and test command: another one says nothing of this one.
    """
    with reader.snapshot():
        rows = reader.rows(
            """SELECT h.commit_id, h.verdict FROM history h
               JOIN repository r ON r.id = h.repository_id
               WHERE r.path = ? AND h.test = '' AND h.command = ? ORDER BY h.id""",
            (stored_text(repository), command),
        )
        return {loaded_text(row["commit_id"]): Verdict(loaded_text(row["verdict"])) for row in rows}


Red = dict[str, dict[str, FailureSignature | None]]
"""How tests failed, by commit and test; None: that is not known."""


def red_at(reader: Reader, repository: str, command: str) -> Red:
    """The tests that a run of a whole command saw failing, by commit, each with its newest failure that is known.

    Without those that were also seen to pass there: a flaky test's failure is no state of a commit.
    """
    with reader.snapshot():
        rows = reader.rows(
            """SELECT h.commit_id, h.test, h.signature FROM history h
               JOIN repository r ON r.id = h.repository_id
               WHERE r.path = ? AND h.test <> '' AND h.command = ? AND h.verdict = 'fail'
               AND NOT EXISTS (SELECT 1 FROM history p
                   WHERE p.repository_id = h.repository_id AND p.test = h.test
                     AND p.commit_id = h.commit_id AND p.verdict = 'pass')
               ORDER BY h.id""",
            (stored_text(repository), command),
        )
    red: Red = {}
    for row in rows:
        seen = red.setdefault(loaded_text(row["commit_id"]), {})
        test, failure = loaded_text(row["test"]), signature_from(loaded_text(row["signature"]))
        seen[test] = failure or seen.get(test)
    return red


@dataclass(frozen=True, slots=True)
class SuiteRecord:
    """What is on record of a suite at each commit: whether the whole of it passed (``tested``), and what failed.

    ``suite`` is the name under which the whole fails as one test.
    """

    suite: str
    tested: Mapping[str, Verdict]
    red: Red

    def is_green(self, commit: str, test: str) -> bool:
        """Whether the test passed there: the suite was run, and did not fail with or before it."""
        verdict, red = self.tested.get(commit, Verdict.UNRESOLVED), self.red.get(commit, {})
        if test == self.suite:
            return verdict is Verdict.PASS
        return verdict is not Verdict.UNRESOLVED and test not in red and self.suite not in red

    def passed(self, commit: str) -> bool:
        """Whether all of the suite passed there."""
        return self.tested.get(commit) is Verdict.PASS

    def is_red(self, commit: str, test: str) -> bool:
        """Whether the test failed there, in whatever way."""
        if test == self.suite and self.tested.get(commit) is Verdict.FAIL:
            return True
        return test in self.red.get(commit, {})


def suite_record(reader: Reader, repository: str, command: str, suite: str) -> SuiteRecord:
    """The record of a suite by the digest of its ``command`` and its name."""
    tested = tested_commits(reader, repository, command)
    return SuiteRecord(suite, tested, red_at(reader, repository, command))
