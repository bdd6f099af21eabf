"""Who descends from a process, read from /proc. Imported by the supervisor: it must load fast."""

from __future__ import annotations

import os
from itertools import islice

TYPE_CHECKING = False  # typing's own constant costs 2 ms to import
if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = os.sysconf("SC_PAGE_SIZE")


def walk(ancestor: int) -> Iterator[int]:
    """Process ids below ``ancestor``, nearest first; a snapshot that may be old on arrival.

    Each is given before its own children are looked for, so that whoever ends it at once takes
    the least time between seeing a process and stopping it from forking.
    """
    families = None if _lists_children() else _families()
    waiting = [ancestor]
    for parent in waiting:  # grows while we walk it
        for child in _children(parent) if families is None else families.get(parent, []):
            yield child
            waiting.append(child)


def descendants(ancestor: int, at_most: int | None = None) -> list[int]:
    """The first ``at_most`` process ids below ``ancestor`` (None: all), nearest first."""
    return list(islice(walk(ancestor), at_most))


def resident_bytes(pids: list[int]) -> int:
    """Bytes of memory of ``pids`` together.

    Resident pages first, which count a page shared after fork once per process; that sum only
    decides whether the exact count (proportional shares, slow to read) is worth asking for.
    """
    return sum(_statm(pid) for pid in pids)


def proportional_bytes(pids: list[int]) -> int:
    """Bytes of memory of ``pids`` together, each shared page counted once (PSS)."""
    return sum(_pss(pid) for pid in pids)


def starved_seconds(pids: list[int]) -> float:
    """Seconds for which the one of ``pids`` that waited longest could have run, and had no processor;
    0 where the kernel does not count them.
    """
    waits = (_read(f"/proc/{pid}/schedstat").split()[1:2] for pid in pids)
    return max((int(wait[0]) for wait in waits if wait), default=0) / 1e9


def tagged_processes(tag: bytes) -> list[int]:
    """Processes whose environment holds ``tag``: what is left when a supervisor was killed."""
    return [pid for pid in _numbers("/proc") if tag in _read(f"/proc/{pid}/environ")]


def threads_alive() -> int:
    """Threads on this machine, all users together; 0 where unknown."""
    fields = _read("/proc/loadavg").split()
    return int(fields[3].partition(b"/")[2]) if len(fields) > 3 else 0


def _lists_children() -> bool:
    """Whether the kernel was built with CONFIG_PROC_CHILDREN (sandboxed kernels are not)."""
    return os.access("/proc/thread-self/children", os.R_OK)


def _children(pid: int) -> list[int]:
    children: list[int] = []
    for thread in _numbers(f"/proc/{pid}/task"):
        children += map(int, _read(f"/proc/{pid}/task/{thread}/children").split())
    return children


def _families() -> dict[int, list[int]]:
    """Every parent's children, from a scan of the whole process table."""
    families: dict[int, list[int]] = {}
    for pid in _numbers("/proc"):
        # The name in parentheses may hold anything, so the fields are counted from its end.
        fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
        if len(fields) > 1:
            families.setdefault(int(fields[1]), []).append(pid)
    return families


def _statm(pid: int) -> int:
    fields = _read(f"/proc/{pid}/statm").split()
    return int(fields[1]) * PAGE if len(fields) > 1 else 0


def _pss(pid: int) -> int:
    for line in _read(f"/proc/{pid}/smaps_rollup").splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) << 10
    return 0


def _numbers(directory: str) -> list[int]:
    try:
        names = os.listdir(directory)  # noqa: PTH208 - pathlib takes 3 ms to load
    except OSError:
        return []
    return [int(name) for name in names if name.isdigit()]


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib takes 3 ms to load
            return file.read()
    except OSError:  # it ended in the meantime, or belongs to another user
        return b""
