"""What sets the daemon going: file events of refs and inbox, and the clock.

APScheduler keeps its jobs in memory only and never drops a late one: its default is to drop what is
a second late (measured, reliability section 10). The truth about work is in our own queue.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from afterd.daemon.service import Service
from afterd.errors import AfterdError
from afterd.limits import JOB, WATCH
from afterd.vcs.hook import INBOX
from afterd.vcs.repository import common_directory, open_repository

_LOG = logging.getLogger(__name__)
_READ_ONLY = frozenset({"opened", "closed_no_write"})


class _Heard(FileSystemEventHandler):
    """Calls back when something was written; reading a ref is an event too, and is our own."""

    def __init__(self, heard: Callable[[], None]) -> None:
        self._heard = heard

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Something happened to a file."""
        if event.event_type not in _READ_ONLY:
            self._heard()


def _said(call: Callable[[], object]) -> None:
    """Call; a failure that we understood (a full disk) is a line of the log, and the next call has its time."""
    try:
        call()
    except AfterdError as error:
        _LOG.warning("%s", error)


class Triggers:
    """Calls services when it is time; ``wake`` is set when there may be work."""

    def __init__(self, services: Sequence[Service], wake: threading.Event) -> None:
        self._wake = wake
        self._scheduler = BackgroundScheduler(
            timezone=UTC,
            executors={"default": ThreadPoolExecutor(4)},
            job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
        )
        self._observer = Observer()
        for service in services:
            self._schedule(service)
            self._observe(service)

    def every(self, seconds: float, call: Callable[[], object]) -> None:
        """Call something again and again, late rather than never."""
        self._scheduler.add_job(partial(_said, call), "interval", seconds=seconds)

    def start(self) -> None:
        """Begin; where the system has no more file events to give, polling is what is left."""
        self._scheduler.start()
        try:
            self._observer.start()
        except OSError:
            return

    def stop(self) -> None:
        """End, and wait for calls under way."""
        if self._observer.is_alive():
            self._observer.stop()
            self._observer.join()
        self._scheduler.shutdown(wait=True)

    def _schedule(self, service: Service) -> None:
        self.every(service.settings.poll, partial(self._look, service))
        self.every(JOB.lease / 4, service.worker.heartbeat)
        self.every(WATCH.idle, partial(self._self_check, service))
        self.every(WATCH.tidying, service.forget)

    def _observe(self, service: Service) -> None:
        common = common_directory(open_repository(service.settings.repository))
        soon = _Heard(partial(self._soon, service))
        for path, recursive in ((common, False), (common / "refs", True)):
            self._watch(soon, path, recursive=recursive)
        self._watch(soon, service.state / INBOX, recursive=False)

    def _watch(self, handler: _Heard, path: Path, *, recursive: bool) -> None:
        if path.is_dir():
            self._observer.schedule(handler, str(path), recursive=recursive)

    def _soon(self, service: Service) -> None:
        """Look when no more events come: the date of the one look is put off."""
        self._scheduler.add_job(
            partial(_said, partial(self._look, service)),
            "date",
            run_date=datetime.now(UTC) + timedelta(seconds=WATCH.settle),
            id=f"look {service.state}",
            replace_existing=True,
        )

    def _look(self, service: Service) -> None:
        if service.look():
            self._wake.set()

    def _self_check(self, service: Service) -> None:
        if service.plan_self_check():
            self._wake.set()


@contextmanager
def running_triggers(services: Sequence[Service], wake: threading.Event) -> Iterator[Triggers]:
    """Triggers that run while the block does."""
    triggers = Triggers(services, wake)
    triggers.start()
    try:
        yield triggers
    finally:
        triggers.stop()
