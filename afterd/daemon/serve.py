"""The daemon's main thread: it does the jobs, so that a signal ends the one under way at once."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial

from afterd.config import Settings
from afterd.daemon.poster import Poster
from afterd.daemon.service import Service, watching
from afterd.daemon.starter import wait_for_starter
from afterd.daemon.triggers import running_triggers
from afterd.limits import WATCH


def serve(repositories: Sequence[Settings], poster: Poster, *, once: bool, spoken: bool) -> None:
    """Watch repositories until a signal comes; ``once``: until there is nothing to do.

    Raises BusyError where one of them has a daemon already.
    """
    with ExitStack() as stack:
        stack.callback(poster.close)
        services = [
            stack.enter_context(watching(each, posting=poster.is_there, spoken=spoken))
            for each in repositories
        ]
        wait_for_starter()
        for service in services:
            service.log.info("watching %s", service.settings.repository)
            service.look()
        if once:
            _drain(services)
            _post(services, poster)
        else:
            _go_on(services, poster)


def _drain(services: Sequence[Service]) -> None:
    busy = [True]
    while any(busy):
        busy = [service.work(always=True) or service.look() for service in services]


def _go_on(services: Sequence[Service], poster: Poster) -> None:
    wake = threading.Event()
    with running_triggers(services, wake) as triggers:
        triggers.every(WATCH.posting, partial(_post, services, poster))
        while True:
            wake.clear()
            busy = [service.work() for service in services]  # a turn for each
            if any(busy):
                _post(services, poster)
            else:
                wake.wait(WATCH.rest)


def _post(services: Sequence[Service], poster: Poster) -> None:
    """Tell the poster of the databases in which something is due."""
    for service in services:
        if poster.is_there and service.has_outgoing() and not poster.tell(service.store.path):
            service.log.warning("the posting process has ended: nothing is posted any more")
