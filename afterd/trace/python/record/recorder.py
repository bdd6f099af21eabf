"""The recorder: rows into chunks, chunks into a window, the window to a file at the end.

Memory is bounded: the first ``head`` chunks (imports and set-up) and the last ``tail`` chunks are
kept, the rest is only counted. Each chunk starts with the frames that were open, so an analysis can
begin at any of them. A row is appended in one bytecode-atomic step (``chunk += (site, value)``):
a signal handler or a finaliser that runs traced code in between can not tear it.
"""

from __future__ import annotations

import builtins
import sys
from _thread import get_ident  # not threading: a program may not have imported it
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import calls
from .describe import LONG, Describer, Recorded, TypeTable, came_through, stored_attribute
from .rows import Kind

Anything = Any  # a value of the traced program

CHUNK = 1 << 16  # entries; two to a row
_THREAD = Kind.THREAD
ITEMS_KEPT_PLAINLY = frozenset((dict, list, Counter, OrderedDict, defaultdict))
"""Containers of which reading an item that was just written runs nothing of the program."""


@dataclass
class Chunk:
    """A run of rows: the number of the first, the frames open before it, and the rows flat."""

    first: int
    frames: tuple[tuple[int, int, int], ...]  # (site, address, row number of ENTER)
    entries: list[Any]


@dataclass
class Recording:
    """What was kept; ``total`` counts all rows, ``dropped`` those that fell out of the window."""

    head: int
    tail: int
    types: TypeTable = field(default_factory=TypeTable)
    first: list[Chunk] = field(default_factory=list)
    last: deque[Chunk] = field(default_factory=deque)
    threads: set[int] = field(default_factory=set)
    total: int = 0

    def keep(self, chunk: Chunk) -> None:
        """File a full chunk; the oldest of the tail falls out."""
        self.total = chunk.first + len(chunk.entries) // 2
        if len(self.first) < self.head:
            self.first.append(chunk)
        else:
            self.last.append(chunk)
            if len(self.last) > self.tail:
                self.last.popleft()

    def chunks(self) -> list[Chunk]:
        """Everything that was kept, in order."""
        return [*self.first, *self.last]


class Recorder:
    """Owns the functions that instrumented code calls."""

    def __init__(self, head: int, tail: int, types: TypeTable | None = None) -> None:
        self.recording = Recording(head, tail, types or TypeTable())
        self.filled: Callable[[int], None] = _go_on
        self.describer = Describer(self.recording.types)
        self.describe = self.describer.describe
        self.functions = _recording_functions(self)

    @property
    def row(self) -> int:
        """The number of rows so far."""
        count: int = self.functions["count"]()
        return count

    def write(self, site: int, value: Recorded) -> None:
        """A row from outside instrumented code."""
        self.functions["write"](site, value)

    def install(self) -> None:
        """Give instrumented code its names."""
        for name in calls.NAMES:
            setattr(builtins, name, self.functions[name])

    def follow_threads(self) -> None:
        """From now on every row says which thread it is of; called before a second one starts."""
        self.functions["threaded"]()

    def stop(self) -> Recording:
        """Stop recording (instrumented code goes on undisturbed) and return what was kept."""
        install_silence()
        self.functions["flush"]()
        return self.recording


def _go_on(_rows: int) -> None:
    """What a full chunk means to a run that may be as long as it likes."""


def install_silence() -> None:
    """Instrumented code goes on, recording nothing."""
    for name, function in silent_functions().items():
        setattr(builtins, name, function)


def silent_functions() -> dict[str, Callable[..., Any]]:
    """Stand-ins that record nothing: for instrumented code outside a recording."""

    def last(*arguments: object) -> object:
        return arguments[-1]

    def nothing(*_: object) -> None:
        return None

    def true(*_: object) -> bool:
        return True

    return {
        name: true
        if name == calls.GUARD
        else last
        if name in {calls.VALUE, calls.RESUMED, calls.LAMBDA}
        else nothing
        for name in calls.NAMES
    }


def _recording_functions(recorder: Recorder) -> dict[str, Callable[..., Any]]:  # noqa: C901, PLR0915 # one closure: cells are faster than attributes, and these run at every step
    chunk: list[Any] = []
    first = 0
    frames: dict[int, tuple[int, int]] = {}  # address: (site, row)
    opened: tuple[tuple[int, int, int], ...] = ()
    depth = 1  # frames between instrumented code and here
    describe = recorder.describe
    recording = recorder.recording
    long, getframe, full = LONG, sys._getframe, CHUNK  # noqa: SLF001 # the documented way to the caller's frame
    identity, kind_of, length, exc_info, ident = id, type, len, sys.exc_info, get_ident
    integer, boolean, string = int, bool, str

    def rotate() -> None:
        nonlocal chunk, first, opened
        done, chunk = chunk, []
        recording.keep(Chunk(first, opened, done))
        first += length(done) // 2
        opened = tuple((site, address, row) for address, (site, row) in frames.items())
        recorder.filled(first)

    def value(site: int, result: Anything) -> Anything:
        nonlocal chunk
        kind = kind_of(result)  # compared by identity: hashing a class runs its metaclass's code
        if (
            kind is integer
            or kind is boolean
            or result is None
            or (kind is string and length(result) <= long)
        ):
            chunk += (site, result)
        else:
            chunk += (site, describe(result))
        return result

    def mark(site: int) -> None:
        nonlocal chunk
        chunk += (site, None)

    def branch(site: int) -> None:
        nonlocal chunk
        chunk += (site, None)
        if length(chunk) >= full:
            rotate()

    def guard(site: int, *pairs: Anything) -> bool:
        branch(site)
        for position in range(0, length(pairs), 2):
            value(pairs[position], pairs[position + 1])
        return True

    def enter(site: int, sites: tuple[int, ...], *values: Anything) -> None:
        nonlocal chunk
        if length(chunk) >= full:
            rotate()
        address = identity(getframe(depth))
        frames[address] = (site, first + length(chunk) // 2)
        chunk += (site, address)
        for code, argument in zip(sites, values):  # noqa: B905 # strict= costs a keyword a call
            kind = kind_of(argument)
            if kind is integer or kind is boolean or argument is None:
                chunk += (code, argument)
            else:
                chunk += (code, describe(argument))

    def leave(site: int) -> None:
        nonlocal chunk
        frame = getframe(depth)
        address = identity(frame)
        frames.pop(address, None)
        error = exc_info()[1]
        line = 0 if error is None else came_through(error, frame)
        chunk += (site, ("t", address, describe(error), line) if line else address)

    def sync(site: int) -> None:
        nonlocal chunk
        chunk += (site, identity(getframe(depth)))

    def resumed(sync_site: int, site: int, result: Anything) -> Anything:
        nonlocal chunk
        chunk += (sync_site, identity(getframe(depth)), site, describe(result))
        return result

    def caught(sync_site: int, site: int) -> None:
        nonlocal chunk
        frame, error = getframe(depth), exc_info()[1]
        described = describe(error)
        line = 0 if error is None else came_through(error, frame)
        passed = ("t", identity(frame), described, line) if line else identity(frame)
        chunk += (sync_site, passed, site, described)

    def leave_lambda(site: int, _: None, result: Anything) -> Anything:
        nonlocal chunk
        address = identity(getframe(depth))
        frames.pop(address, None)
        chunk += (site, address)
        return result

    def peek_attribute(site: int, owner: Anything, name: str) -> None:
        nonlocal chunk
        try:
            found = stored_attribute(owner, name)
        except Exception:  # noqa: BLE001 # properties, classes: the value stays unknown
            chunk += (site - Kind.PEEK + Kind.MARK, None)
        else:
            chunk += (site, describe(found))

    def peek_item(site: int, owner: Anything, key: Anything) -> None:
        nonlocal chunk
        known = kind_of(owner) in ITEMS_KEPT_PLAINLY and kind_of(key) in (int, str)
        if known:
            chunk += (site, describe(owner[key]))
        else:
            chunk += (site - Kind.PEEK + Kind.MARK, None)

    def threaded() -> None:
        nonlocal depth
        if recording.threads:
            return
        depth = 2
        recording.threads.add(ident())
        for name in calls.NAMES:
            setattr(builtins, name, _announced(functions[name]))

    def _announced(function: Callable[..., Any]) -> Callable[..., Any]:
        def announced(*arguments: Anything) -> Anything:
            nonlocal chunk
            chunk += (_THREAD, ident())
            return function(*arguments)

        return announced

    def write(site: int, result: Recorded) -> None:
        nonlocal chunk
        chunk += (site, result)

    functions: dict[str, Callable[..., Any]] = {
        calls.VALUE: value,
        calls.MARK: mark,
        calls.BRANCH: branch,
        calls.GUARD: guard,
        calls.ENTER: enter,
        calls.EXIT: leave,
        calls.SYNC: sync,
        calls.RESUMED: resumed,
        calls.CAUGHT: caught,
        calls.PEEK_ATTRIBUTE: peek_attribute,
        calls.PEEK_ITEM: peek_item,
        calls.LAMBDA: leave_lambda,
        "flush": rotate,
        "threaded": threaded,
        "write": write,
        "count": lambda: first + length(chunk) // 2,
    }
    return functions
