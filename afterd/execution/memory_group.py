"""A limit of memory that the kernel keeps (cgroup v2), where groups below ours may be made.

The supervisor looks at a run's processes several times a second; what allocates between two looks is the
kernel's to stop. It can where somebody has delegated the memory controller to this process: systemd for a
service with ``Delegate=memory`` (as ``afterd daemon unit`` writes it), a container engine, root. Elsewhere
looking is what there is. The rules are those of the kernel's ``cgroup-v2.rst``: limits are given to groups
below one that holds no process itself, and who moves a process must own the group above both.
"""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from afterd.limits import GROUP, ProcessLimits

_LEAF = "afterd"  # where afterd itself goes, so that the group above holds no process
_DELEGATED = ("user.delegate", "trusted.delegate")  # systemd's mark on a group that is not its own
_NAME = "afterd-run-"  # then the process that made it, so that another one sees whose it was
# Who cannot be moved runs all the same: the watch holds it, and a run is worth more than a second limit.
_ENTER = '{ echo $$ >"$0"; } 2>/dev/null; exec "$@"'


@dataclass(frozen=True, slots=True)
class Group:
    """A control group of one run."""

    path: Path

    @classmethod
    def made(cls, parent: Path, settings: Mapping[str, str]) -> Group | None:
        """A fresh one below ``parent`` with these interface files set; None where the kernel refuses."""
        try:
            group = cls(Path(tempfile.mkdtemp(prefix=f"{_NAME}{os.getpid()}-", dir=parent)))
        except OSError:
            return None
        try:
            for name, value in settings.items():
                (group.path / name).write_text(value)
        except OSError:
            group.remove()
            return None
        return group

    def entering(self, argv: list[str]) -> list[str]:
        """The command line that starts ``argv`` within: whoever is moved later has children outside."""
        return ["/bin/sh", "-c", _ENTER, str(self.path / "cgroup.procs"), *argv]

    def has_killed(self) -> bool:
        """Whether the kernel ended a process because of the limit."""
        try:
            return kills_told((self.path / "memory.events").read_text()) > 0
        except OSError:
            return False

    def remove(self) -> None:
        """End what is left in it, and the group with all that the run made below it.

        A process that was killed is in its group until it has ended: that is waited for.
        """
        with contextlib.suppress(OSError):
            (self.path / "cgroup.kill").write_text("1")
        until = time.monotonic() + GROUP.removal
        while not self._is_removed() and time.monotonic() < until:
            time.sleep(GROUP.look)

    def _is_removed(self) -> bool:
        for place, _, _ in os.walk(self.path, topdown=False):
            try:
                Path(place).rmdir()
            except FileNotFoundError:
                continue
            except OSError:
                return False
        return True


def remove_left_behind(parent: Path) -> None:
    """Remove the groups of processes that were killed before they could; what ran there ended with them."""
    for path in parent.glob(f"{_NAME}*"):
        owner = path.name.removeprefix(_NAME).partition("-")[0]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            Group(path).remove()


def kills_told(events: str) -> int:
    """How many processes were killed for memory, as ``memory.events`` tells it."""
    told = dict(line.split() for line in events.splitlines() if len(line.split()) == 2)
    return int(told.get("oom_kill", "0"))


def group_for(limits: ProcessLimits) -> Group | None:
    """A group that holds a run to its memory; None where this process may not make one."""
    parent = delegated_group()
    if parent is None:
        return None
    settings = {"memory.max": str(limits.memory + limits.supervisor), "memory.oom.group": "0"}
    return Group.made(parent, settings)


def memory_is_held_by(limits: ProcessLimits) -> str:
    """Which of the two limits of memory holds runs, as a sentence of an answer; found out by making a group."""
    group = group_for(limits)
    if group is None:
        return (
            "How much memory a run may use is limited by watching its processes: the kernel would do it, but no memory"
            " controller of cgroup v2 is delegated to afterd."
        )
    group.remove()
    return (
        "How much memory a run may use is limited by the kernel, in a control group for each run."
    )


@functools.cache
def delegated_group() -> Path | None:
    """The group below which limits of memory can be set; None: none is delegated to this process."""
    own = own_group(
        *(_read(Path("/proc/self") / name) for name in ("mountinfo", "cgroup")),
    )
    if own is None:
        return None
    found = next(filter(_gives_memory, (own.parent, own)), None)
    if found is not None:
        remove_left_behind(found)
    return found


def own_group(mounts: str, groups: str) -> Path | None:
    """The directory of this process' group of version 2, by its ``mountinfo`` and ``cgroup``; None: it has none."""
    [path] = [line[3:] for line in groups.splitlines() if line.startswith("0::")][:1] or [""]
    for line in mounts.splitlines():
        place, _, system = line.partition(" - ")
        if path and system.startswith("cgroup2 "):
            root, mounted = place.split()[3:5]
            inside = path.removeprefix(root.rstrip("/"))
            return Path(mounted) / inside.lstrip("/")
    return None


def _gives_memory(group: Path) -> bool:
    """Whether groups below this one can have limits of memory, after it was asked for."""
    if "memory" not in _read(group / "cgroup.controllers").split():
        return False
    if not _is_ours(group):
        return False
    if "memory" in _read(group / "cgroup.subtree_control").split():
        return True
    with contextlib.suppress(OSError):
        inside = _read(group / "cgroup.procs").split()
        if inside and _lineage().issuperset(inside):
            (group / _LEAF).mkdir(exist_ok=True)
            for process in inside:
                (group / _LEAF / "cgroup.procs").write_text(process)
        (group / "cgroup.subtree_control").write_text("+memory")
        return True
    return False


def _lineage() -> set[str]:
    """This process and those that it was started by (``timeout``, a shell), which may share its group."""
    found, process = set[str](), str(os.getpid())
    while process not in found and process != "0":
        found.add(process)
        lines = _read(Path("/proc", process, "status")).splitlines()
        process = next((line.split()[1] for line in lines if line.startswith("PPid:")), "0")
    return found


def _is_ours(group: Path) -> bool:
    """Whether groups may be made below this one: its owner said so. Root may write anywhere, which says nothing."""
    if not all(os.access(place, os.W_OK) for place in (group, group / "cgroup.procs")):
        return False
    if (
        os.geteuid() != 0 or not (group.parent / "cgroup.procs").exists()
    ):  # the root of a container's
        return True
    for name in _DELEGATED:
        with contextlib.suppress(OSError):
            if os.getxattr(group, name) == b"1":
                return True
    return False


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
