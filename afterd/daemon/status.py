"""How the daemon of a repository does: what it is at, what waits, how often it was right."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from afterd.config import Settings
from afterd.daemon.instance import running
from afterd.daemon.self_check import Calibration, calibration
from afterd.daemon.spending import pause
from afterd.store.database import Reader
from afterd.store.jobs import Job, unfinished_jobs
from afterd.store.self_checks import record


@dataclass(frozen=True, slots=True)
class Waiting:
    """A job that is not done; ``what`` is its commit or the explanation it checks.

    ``not_before``: when it may be taken up, in seconds since 1970 (0: at once).
    """

    id: int
    state: str
    kind: str
    what: str
    ref: str
    trust: str
    stage: str
    reason: str
    not_before: float = 0.0


@dataclass(frozen=True, slots=True)
class DaemonStatus:
    """``process`` is None where no daemon runs; ``paused`` says why nothing is started. ``jobs``
    and ``verdicts`` and ``outgoing`` are counts by state and kind.
    """

    process: int | None
    paused: str
    queue: tuple[Waiting, ...]
    jobs: Mapping[str, int]
    verdicts: Mapping[str, int]
    outgoing: Mapping[str, int]
    calibration: Calibration
    untold: int


def status(reader: Reader, state: Path, settings: Settings) -> DaemonStatus:
    """What the store and the lock say now."""
    told = record(reader)
    return DaemonStatus(
        running(state),
        pause(settings, reader),
        tuple(map(_waiting_job, unfinished_jobs(reader))),
        _counts(reader, "SELECT state AS name, count(*) AS n FROM job GROUP BY state"),
        _counts(reader, "SELECT kind AS name, count(*) AS n FROM verdict GROUP BY kind"),
        _counts(reader, "SELECT state AS name, count(*) AS n FROM outgoing GROUP BY state"),
        calibration(told),
        told.untold,
    )


def _waiting_job(job: Job) -> Waiting:
    payload: dict[str, object] = {}
    with suppress(ValueError):
        payload = json.loads(job.payload)
    what = str(payload.get("commit") or payload.get("explanation") or "")
    ref = str(payload.get("ref") or "")
    return Waiting(
        job.id,
        job.state.value,
        job.kind,
        what,
        ref,
        job.trust,
        job.stage,
        job.reason,
        job.not_before,
    )


def _counts(reader: Reader, query: str) -> dict[str, int]:
    return {str(row["name"]): int(str(row["n"])) for row in reader.rows(query)}
