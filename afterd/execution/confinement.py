"""What a build or a test may touch: its slot and temporary files; no network, no other processes.

Two ways, both ready made: *bubblewrap* (namespaces: the file system read-only but for the places named,
its own ``/tmp``, processes and network) where it is installed and the kernel lets it, and else the
kernel's *Landlock*, which holds writing alone. The supervisor is put into it with the program, so that
statuses and signals come out as they are, and a run costs no process more.

One place a process, as there is one workspace: ``confined_programs`` holds for every run that ``sandbox`` starts
while it is open.
"""

from __future__ import annotations

import ctypes
import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from afterd.errors import SandboxError

_LANDLOCK_CREATE = 444  # the same number on every architecture
_VERSION_FLAG = 1
_TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108 - these are the places that are replaced
_SOCKETS = ("/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock")


class Means(StrEnum):
    """What holds a program."""

    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "Landlock"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Confinement:
    """What holds programs, the places they may write to, and whether they have the network. ``network_admin``: one that
    runs as root may also change how the network is set up; a project's test took the machine's own interface down.
    """

    means: Means = Means.NOTHING
    writable: tuple[Path, ...] = ()
    network: bool = False
    network_admin: bool = False

    @property
    def key(self) -> str:
        """What outcomes depend on, for cache keys; empty where nothing holds."""
        admin = "network admin" if self.network_admin else ""
        if self.means is Means.NOTHING:
            return admin
        return f"{self.means.value} {admin or ('network' if self.network else 'alone')}"

    def describe(self) -> str:
        """What held, as a sentence of an answer."""
        match self.means:
            case Means.NOTHING:
                return "Builds and tests were not held by a sandbox."
            case Means.LANDLOCK:
                return (
                    "Builds and tests were held by Landlock: they could write to their own files only; the"
                    " network and other processes were open to them."
                )
            case Means.BUBBLEWRAP:
                net = "the network" if self.network else "no network"
                return (
                    "Builds and tests were held by bubblewrap: they could write to their own files only, saw"
                    f" their own processes only, and had {net}."
                )


class _Current:
    """The confinement that holds now."""

    confinement = Confinement()


def current_confinement() -> Confinement:
    """What holds the programs that are started now."""
    return _Current.confinement


@contextmanager
def confined_programs(confinement: Confinement) -> Iterator[None]:
    """Hold every program that is started until the end of the block."""
    before, _Current.confinement = _Current.confinement, confinement
    try:
        yield
    finally:
        _Current.confinement = before


def strongest_confinement(
    writable: Iterable[Path], *, network: bool, required: bool
) -> Confinement:
    """The strongest confinement that this machine has; raises SandboxError where one is ``required``.

    Landlock alone does not cut the network: required without it, it is not enough.
    """
    places = tuple(path.resolve() for path in writable)
    if not bubblewrap_trouble():
        return Confinement(Means.BUBBLEWRAP, places, network)
    if landlock_version() and not (required and not network):
        return Confinement(Means.LANDLOCK, places, network=True, network_admin=network)
    if required:
        raise SandboxError(
            f"A sandbox was required, and there is none: {bubblewrap_trouble()}. Install bubblewrap (Debian:"
            " apt-get install bubblewrap), or set sandbox to auto or off."
        )
    return Confinement(network_admin=network)


@functools.cache
def bubblewrap_trouble() -> str:
    """Why bubblewrap cannot be used here; empty: it can, a program was run in it."""
    program = shutil.which("bwrap")
    if program is None:
        return "bubblewrap is not installed"
    try:
        done = subprocess.run(
            [
                program,
                *_NAMESPACES,
                "--unshare-net",
                "--ro-bind",
                "/",
                "/",
                "--proc",
                "/proc",
                "true",
            ],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=10.0,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap cannot be started ({error})"
    said = done.stderr.decode(errors="replace").strip().splitlines()
    return (
        "" if done.returncode == 0 else f"bubblewrap fails ({said[-1] if said else 'it is silent'})"
    )


@functools.cache
def landlock_version() -> int:
    """The kernel's version of Landlock's interface; 0 where it has none."""
    if sys.platform != "linux":
        return 0
    return max(0, int(ctypes.CDLL(None).syscall(_LANDLOCK_CREATE, None, 0, _VERSION_FLAG)))


_OURS = str(Path(__file__).parents[2])
_NAMESPACES = ("--unshare-user-try", "--unshare-ipc", "--unshare-pid", "--unshare-uts",
               "--unshare-cgroup-try", "--die-with-parent")  # fmt: skip


def prefix(
    confinement: Confinement,
    own: Iterable[Path],
    environment: Mapping[str, str],
    argv: Iterable[str],
) -> list[str]:
    """The command line that what follows it is held by; empty where bubblewrap is not what holds.

    ``own`` are the places of this run, writable too. What the program is found by (its arguments and its
    environment) stays to be seen where it lies below ``/tmp``, which is empty and the program's own
    otherwise. The docker socket and its like, which lead out, are not there.
    """
    if confinement.means is not Means.BUBBLEWRAP:
        return []
    program = shutil.which("bwrap") or "bwrap"
    line = [program, *_NAMESPACES, *(() if confinement.network else ("--unshare-net",))]
    line += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    for place in filter(os.path.isdir, _TEMPORARY):
        line += ["--tmpfs", place]
    seen = [_OURS, sys.prefix, sys.base_prefix, *argv, *environment.values()]
    for entry in _below_temporary(seen, confinement.writable):
        line += ["--ro-bind-try", entry, entry]
    for socket in filter(os.path.exists, _SOCKETS):
        line += ["--ro-bind", "/dev/null", socket]
    for folder in (*confinement.writable, *own):
        if folder.is_dir():
            line += ["--bind", str(folder), str(folder)]
    return [*line, "--chdir", "/", "--"]


def _below_temporary(values: Iterable[str], writable: Iterable[Path]) -> list[str]:
    """The entries of the temporary directories that the values name; for a path of ours, its parent's."""
    found: dict[str, None] = {}
    for value in (*values, *(str(path) for path in writable)):
        for part in value.split(os.pathsep):
            for place in _TEMPORARY:
                if part.startswith(f"{place}/"):
                    found["/".join(part.split("/")[: place.count("/") + 2])] = None
    return list(found)
