"""News become jobs: one a commit, the newest of a ref only, waiting where nobody vouches for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass

import pygit2

from afterd.config import Settings
from afterd.daemon.refs import Look, look
from afterd.daemon.trust import RUNS, Origins, Trust
from afterd.store import Store
from afterd.store.jobs import Job, JobQueue
from afterd.store.recovery import was_set_aside
from afterd.store.repositories import is_approved, keep_ref_tips, ref_tips
from afterd.vcs.repository import common_directory

COMMIT = "commit"
_PRIORITY = {Trust.LOCAL: 10, Trust.COLLABORATOR: 5}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a job of the kind ``commit`` is to do: test ``commit``, which ``ref`` pointed to.

    ``first``: it was there when the daemon was first started, and is tested to have a base.
    """

    commit: str
    ref: str
    first: bool = False


def wanted_of(job: Job) -> Wanted:
    """What a job's payload says."""
    return Wanted(**json.loads(job.payload))


def take_in(repository: pygit2.Repository, store: Store, settings: Settings) -> list[Wanted]:
    """Look at refs and inbox and queue a job for each commit that is news; those that are.

    In one transaction with where the refs are now, so that a kill loses nothing and repeats nothing.
    At the very first look the refs are only remembered, and HEAD is tested to have a base; unless
    the hook named it, and whoever put the hook there wants to hear of it. After a database was lost it is
    no first look: what is red may be so since a moment ago.
    """
    name = str(common_directory(repository))
    with store.transaction():
        known = ref_tips(store, name)
        seen = look(repository, known, settings)
        wanted = (
            [Wanted(arrival.commit, arrival.ref) for arrival in seen.arrivals]
            if known
            else _first_arrivals(repository, seen, lost=was_set_aside(store.path))
        )
        origins = Origins(repository, seen.tips, settings) if wanted else None
        queued = [
            each for each in _each_commit_once(wanted) if origins and _enqueue(store, origins, each)
        ]
        if dict(seen.tips) != known:
            keep_ref_tips(store, name, seen.tips)
    for drop in seen.drops:
        with suppress(OSError):
            drop.unlink()
    return queued


def _first_arrivals(repository: pygit2.Repository, seen: Look, *, lost: bool) -> list[Wanted]:
    if repository.head_is_unborn:
        return []
    head = str(repository.head.target)
    refs = [arrival.ref for arrival in seen.arrivals if arrival.commit == head]
    named = any(drop.name == head for drop in seen.drops)
    return [Wanted(head, (refs or ["HEAD"])[0], first=not named and not lost)]


def _each_commit_once(wanted: list[Wanted]) -> Iterator[Wanted]:
    """Each commit once, under the first of its refs."""
    yield from {each.commit: each for each in reversed(wanted)}.values()


def _enqueue(store: Store, origins: Origins, wanted: Wanted) -> bool:
    """Queue a commit unless it was dealt with; older queued commits of its ref are superseded."""
    queue = JobQueue(store)
    _supersede(queue, store, wanted)
    if _is_answered(store, wanted.commit):
        return False
    trust = origins.trust(wanted.commit)
    if trust not in RUNS and is_approved(store, wanted.commit):
        trust = Trust.APPROVED
    job = queue.enqueue(
        key_of(wanted.commit),
        COMMIT,
        json.dumps(asdict(wanted)),
        trust=trust.value,
        priority=_PRIORITY.get(trust, 0),
        waiting=trust not in RUNS,
    )
    if trust in RUNS:  # it may have waited since it came from elsewhere
        queue.release(job, trust.value)
    return True


def _supersede(queue: JobQueue, store: Store, wanted: Wanted) -> None:
    """Give up older commits of the same ref that no run was made for yet."""
    rows = store.rows(
        """SELECT id FROM job WHERE kind = ? AND state IN ('waiting', 'queued') AND stage = ''
           AND json_extract(payload, '$.ref') = ? AND key <> ?""",
        (COMMIT, wanted.ref, key_of(wanted.commit)),
    )
    for row in rows:
        queue.abandon(int(str(row["id"])), f"superseded by {wanted.commit[:12]}")


def _is_answered(store: Store, commit: str) -> bool:
    """Whether a job for the commit ended with an answer."""
    rows = store.rows(
        "SELECT 1 FROM job WHERE key = ? AND state IN ('done', 'failed')", (key_of(commit),)
    )
    return bool(rows)


def key_of(commit: str) -> str:
    """The key of a commit's job."""
    return f"{COMMIT}:{commit}"
