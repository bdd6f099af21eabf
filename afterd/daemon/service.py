"""One watched repository: its lock, its store, its log, and what is done for it."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pygit2

from afterd.config import Settings
from afterd.daemon.arrivals import take_in
from afterd.daemon.instance import only_one
from afterd.daemon.log import OUTPUT, close_log, open_log, rotate_file
from afterd.daemon.self_check import plan
from afterd.daemon.spending import DAY, pause
from afterd.daemon.worker import Worker
from afterd.errors import AfterdError, SpaceError
from afterd.store import Store, open_store
from afterd.store.database import DATABASE_NAME
from afterd.store.faults import damage_error, damage_mark
from afterd.store.jobs import JobQueue
from afterd.store.outgoing import due_postings
from afterd.store.retention import prune
from afterd.trace.kept import forget as forget_recordings
from afterd.vcs.repository import open_repository, state_directory


@dataclass(slots=True)
class Service:
    """What the daemon does for one repository; its triggers call it from threads of their own."""

    settings: Settings
    state: Path
    store: Store
    log: logging.Logger
    worker: Worker
    paused: str = ""
    full: bool = False  # the disk, when something was to be written last

    def look(self) -> bool:
        """Queue what is news; whether anything is.

        Trouble is written down, not raised: objects may be on their way, and the next look go well.
        """
        try:
            # a pygit2 repository belongs to one thread: each look opens its own
            queued = take_in(open_repository(self.settings.repository), self.store, self.settings)
        except (AfterdError, OSError, pygit2.GitError, KeyError, ValueError) as error:
            self.log.warning("the repository could not be looked at: %s", error)
            return False
        for wanted in queued:
            self.log.info("queued %s of %s", wanted.commit[:12], wanted.ref)
        return bool(queued)

    def work(self, *, always: bool = False) -> bool:
        """Do one job, unless quiet hours or a spent budget stand in the way (but ``always``).

        On a disk so full that not even a job can be put back, it is taken up again when there is room.
        Raises StoreError where the database was met damaged: only with this daemon gone can it be set
        aside, by the next one.
        """
        if damage_mark(self.store.path).exists():
            raise damage_error(self.store.path, "the daemon ends, the next one sets it aside")
        try:
            return self._work(always=always)
        except SpaceError as error:
            if not self.full:
                self.log.warning("waiting for space: %s", error)
            self.full = True
            return False

    def _work(self, *, always: bool) -> bool:
        if self.full:
            JobQueue(self.store).recover()  # the job that could not be put back
            self.log.info("there is space again")
            self.full = False
        why = "" if always else pause(self.settings, self.store)
        if why != self.paused:
            self.log.info("%s", f"nothing is started: {why}" if why else "going on")
            self.paused = why
        return not why and self.worker.work()

    def plan_self_check(self) -> bool:
        """Queue a self-check where there is time for one."""
        return not pause(self.settings, self.store) and plan(self.store, self.settings)

    def forget(self) -> None:
        """Remove what is older than the retention, and give its room back."""
        before = time.time() - self.settings.retention_days * DAY
        gone = prune(self.store, before)
        for artefact in (self.state / "outgoing").glob("*.json"):
            if artefact.stat().st_mtime < before:
                artefact.unlink(missing_ok=True)
        forget_recordings(self.state, before)
        rotate_file(self.state / OUTPUT)
        self.log.info(
            "removed what is older than %g days: %d rows", self.settings.retention_days, gone
        )

    def has_outgoing(self) -> bool:
        """Whether anything is to be posted now."""
        return bool(due_postings(self.store))


@contextmanager
def watching(settings: Settings, *, posting: bool, spoken: bool) -> Iterator[Service]:
    """Become the daemon of a repository; raises BusyError where there is one.

    What a daemon that was killed left behind is put right: its leases end.
    """
    state = state_directory(open_repository(settings.repository))
    with ExitStack() as stack:
        stack.enter_context(only_one(state))
        log = open_log(state, spoken=spoken)
        stack.callback(close_log, log)
        store = stack.enter_context(open_store(state / DATABASE_NAME, say=log.warning))
        recovered = JobQueue(store).recover()
        if recovered:
            log.info(
                "going on with what was under way when the last daemon ended: %d jobs", recovered
            )
        yield Service(settings, state, store, log, Worker(settings, store, log, posting))
