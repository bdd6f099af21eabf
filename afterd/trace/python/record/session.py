"""One traced process, from interpreter start to the trace file.

``begin`` is called by ``sitecustomize`` before any module of the program is imported. Everything
it touches outside itself: ``sys.meta_path``, ``sys.excepthook``, names in ``builtins`` that cannot
be spelled, the functions that start threads, an exit function.
"""

from __future__ import annotations

import _thread
import atexit
import os
import signal
import sys
from collections.abc import Callable, Hashable, Sequence
from functools import wraps
from pathlib import Path
from time import localtime
from time import time as _now  # before a program's test sets it
from types import CodeType, FrameType
from typing import Any

from . import tracefile
from .asserting import REWRITE, take_over_rewriting
from .chance import SEEDED
from .command_line import original_arguments
from .compiled import Compiler, Rewrite
from .counting import Counter, interned_pairs
from .failures import Failure, failure, hang, watch_uncaught, watch_unittest
from .importing import (
    OwnFinder,
    Territory,
    take_over_loading_by_path,
    take_over_running_by_path,
)
from .output import watch_output
from .processes import (
    ancestor_processes,
    before_immediate_exit,
    is_pool_worker,
    watch_forks,
    watch_subprocess,
)
from .progress import Tally
from .recorder import Recorder, install_silence
from .replacing import Replacing
from .settings import Settings
from .shares import share_of
from .unittest_shares import share_suites

Anything = Any  # passed on as it is


class Session:
    """The recording of this process and what is to be known beside it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.territory = Territory(Path(settings.tree), settings.excluded, settings.beside)
        self.compiler = Compiler(self.territory, Path(settings.cache), settings.replaced)
        self.recorder = Recorder(settings.head, settings.tail)
        self.replacing: Replacing | None = None
        if settings.replaced is not None:
            self.replacing = Replacing(settings.replaced, lambda: self.recorder.row)
        if settings.stop:
            self.recorder.filled = self._filled
            signal.signal(signal.SIGTERM, lambda _number, frame: self._end(frame, waits=True))
        self.counter = Counter() if settings.mode == "count" else None
        self.tally = Tally(Path(settings.out))
        self.began = _now()
        self.collected = 0
        self.failures: list[Failure] = []
        self.tests: list[dict[str, Any]] = []
        self.unowned: list[list[int]] = []
        self.notes: set[str] = set()
        self.ancestors = ancestor_processes()
        self.started: list[tuple[int, int]] = []
        self.forked = False
        # Of the processes that a fork left: to free what they wrote would copy it.
        self.left_behind: list[Recorder] = []
        self.finished = False

    def start(self) -> None:
        """Record from here on."""
        (self.counter or self.recorder).install()
        if self.replacing is not None:
            self.replacing.install()
        # unittest.runner is imported after unittest.result, by whoever uses unittest.
        asked = {"unittest.runner": self._watch_unittest}
        if "unittest.runner" in sys.modules:  # in a fork, where it was imported ahead
            self._watch_unittest()
        after: dict[str, Callable[[], None]] = {
            REWRITE: self._take_over_rewriting,
            "runpy": lambda: take_over_running_by_path(self.territory, self.compile),
            **SEEDED,
        }
        if self.counter is None:
            after["subprocess"] = lambda: watch_subprocess(self._process_starts)
        for act in (act for name, act in after.items() if name in sys.modules):
            act()
        finder = OwnFinder(self.territory, self.compile, asked=asked, after=after)
        sys.meta_path.insert(0, finder)
        take_over_loading_by_path(self.territory, self.compile)
        watch_uncaught(self.failures.append, lambda: self.recorder.row)
        watch_output(self._written)
        self._announce_threads()
        os.register_at_fork(after_in_child=self._forked)
        atexit.register(self.finish)
        if self.counter is None:
            watch_forks(self._process_starts)
            before_immediate_exit(self.finish)

    def compile(self, source: bytes, filename: str, rewrite: Rewrite | None = None) -> CodeType:
        """Instrumented code for a module of the program."""
        flavour = "pytest" if rewrite is not None else ""
        return self.compiler.compile(source, filename, rewrite, flavour=flavour)

    def _take_over_rewriting(self) -> None:
        take_over_rewriting(self.territory, self.compile)

    def _watch_unittest(self) -> None:
        watch_unittest(
            self.failures.append, lambda: self.recorder.row, self.begin_test, self.end_test
        )
        if self.counter is not None:
            share_suites(self.share, self.tally.announce)

    def share(self, groups: Sequence[Hashable]) -> range:
        """Which of the collected tests this process runs: see ``shares``."""
        self.collected += len(groups)
        return share_of(groups, self.settings.share, self.settings.shares)

    def begin_test(self) -> None:
        """What was counted before a test (imports, fixtures of others) is nobody's."""
        if self.counter is not None:
            self.unowned.append(interned_pairs(self.counter.take()))

    def end_test(self, test: str, first: int, passed: bool) -> None:  # noqa: FBT001 # an outcome
        """A test's rows and, when counting, its counts."""
        fact: dict[str, Any] = {
            "test": test,
            "first": first,
            "last": self.recorder.row,
            "passed": passed,
        }
        if self.counter is not None:
            fact["counts"] = interned_pairs(self.counter.take())
            self.tally.ended()
        self.tests.append(fact)

    def exited(self, ending: SystemExit) -> None:
        """The script ended itself; with a status that says it failed, if nothing else did."""
        if ending.code not in (None, 0) and not self.failures:
            self.failures.append(failure("", "process", ending, self.recorder.row))

    def _filled(self, rows: int) -> None:
        """End a run that goes on past any end that it should have."""
        if rows >= self.settings.stop and not self.finished:
            self._end(sys._getframe(2), waits=False)  # noqa: SLF001 # the documented way to the caller's frame

    def _end(self, frame: FrameType | None, *, waits: bool) -> None:
        self.failures.append(hang(frame, self.recorder.row, waits=waits))
        self.finish()
        os._exit(124)

    def finish(self) -> None:
        """Write the trace; a second call does nothing."""
        if self.finished:
            return
        self.finished = True
        recording = self.recorder.stop()
        tracefile.write(Path(self.settings.out), recording, self._facts())

    def _placed(self, failure: Failure) -> Failure:
        """A failure whose place in the tree is called as in the repository."""
        judged, root = failure.get("judged"), self.compiler.territory.root
        if not judged or not judged[0].startswith(root):
            return failure
        return {**failure, "judged": (judged[0][len(root) :], *judged[1:])}

    def _facts(self) -> dict[str, Any]:
        return {
            "python": list(sys.version_info[:3]),
            "pid": os.getpid(),
            "ancestors": self.ancestors,
            "started": self.started,
            "forked": self.forked,
            "argv": original_arguments(),
            "modules": [[key, *place] for key, place in self.compiler.modules.items()],
            "refused": self.compiler.refused,
            "failures": list(map(self._placed, self.failures)),
            "tests": self.tests,
            "texts": self.recorder.describer.texts,
            "collected": self.collected,
            "unowned": self.unowned,
            "threads": len(self.recorder.recording.threads),
            "notes": sorted(self.notes),
            "replaced": self.replacing is not None and self.replacing.met,
            "clock": [self.began, _now(), localtime().tm_gmtoff],
        }

    def _thread_starts(self) -> None:
        if not self.finished and self.counter is None:
            self.recorder.follow_threads()
            self.notes.add("The program starts threads; their steps are kept apart.")

    def _announce_threads(self) -> None:
        """Notice the calls that start threads.

        Not by an audit hook: ``id`` and ``sys._getframe`` are audited too, and the recorder lives
        on them; with a hook a traced loop ran five times slower.
        """
        threading = sys.modules.get("threading")  # imported ahead, it has them by names of its own
        for name in ("start_new_thread", "start_joinable_thread"):
            original = getattr(_thread, name, None)
            if original is not None:
                announcing = self._announcing(original)
                setattr(_thread, name, announcing)
                if threading is not None:
                    setattr(threading, f"_{name}", announcing)

    def _announcing(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        def start(*arguments: Anything, **named: Anything) -> Anything:
            self._thread_starts()
            return original(*arguments, **named)

        return start

    def _written(self, site: int, text: str) -> None:
        self.recorder.write(site, text)

    def _process_starts(self, process: int) -> None:
        if not self.finished:
            self.started.append((process, self.recorder.row))

    def _forked(self) -> None:
        """A forked child (multiprocessing, os.fork) records what it does from here on; not one that counts, and not one
        that is ended by a signal whenever its work is done: whether it had written anything by then is chance.
        """
        if self.finished or self.counter is not None or is_pool_worker():
            self.finished = True
            install_silence()
            return
        self.left_behind.append(self.recorder)
        self.recorder = Recorder(
            self.settings.head, self.settings.tail, self.recorder.recording.types
        )
        if self.settings.stop:
            self.recorder.filled = self._filled
        self.recorder.install()
        for told in (self.failures, self.tests, self.started):
            told.clear()
        self.notes.clear()
        self.ancestors = ancestor_processes()
        self.forked = True


_sessions: list[Session] = []


def begin(settings: Settings) -> Session:
    """Start the one session of this process."""
    session = Session(settings)
    session.start()
    _sessions.append(session)
    return session


def current_session() -> Session | None:
    """The session of this process, if it is traced."""
    return _sessions[0] if _sessions else None
