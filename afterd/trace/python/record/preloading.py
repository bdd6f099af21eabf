"""Importing ahead what many runs need, as far as no run can tell the difference.

A fork scouts first: it imports one module after the other and looks after each. What starts a
thread, keeps a file or socket open, warns, reads or writes files that a variant may have otherwise,
or brings in what must not be there yet is left out with its whole package, and another fork scouts
what remains. Only what was seen to be harmless is imported here.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import stat
import sys
import threading
import time
import warnings
from collections.abc import Mapping
from signal import SIGKILL

from .importing import Territory
from .reaping import children, sweep

_ROUNDS = 8
_SECONDS = 60.0
_FILE_EVENTS = frozenset({"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate"})
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Preloading:
    """Imports ahead; ``unsafe`` says why there must be no fork at all, ``left_out`` what stayed.

    ``foreign`` names modules that must be loaded by each run itself.
    """

    def __init__(self, territory: Territory, foreign: frozenset[str]) -> None:
        self.territory = territory
        self.foreign = foreign
        self.unsafe = ""
        self.left_out: dict[str, str] = {}

    def load(self, modules: Mapping[str, str]) -> None:
        """Import ``modules`` (their file by name), without those that a scout warns of."""
        wanted = dict(modules)
        for _ in range(_ROUNDS):
            culprit, why = self._scout(wanted)
            if not culprit:
                break
            package = culprit.partition(".")[0]
            self.left_out[package] = why
            wanted = {
                name: file for name, file in wanted.items() if name.partition(".")[0] != package
            }
        else:
            self.unsafe = f"too much cannot be imported ahead, {culprit} because it {why}"
            return
        watch = Watch(self.territory, self.foreign)
        for name in wanted:
            _import(name)
        why = watch.complaint()
        self.unsafe = f"what was imported ahead {why}" if why else ""

    def _scout(self, modules: Mapping[str, str]) -> tuple[str, str]:
        """The first module that must not be imported ahead, and what it does; or nothing."""
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            try:
                os.close(reading)
                self._explore(modules, writing)
            finally:
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            said = _read(pipe.fileno())
        os.kill(child, SIGKILL)
        os.waitpid(child, 0)
        sweep()
        lines = [json.loads(line) for line in said.splitlines() if line.endswith(b"]")]
        if not lines:
            return "its first module", "ended the process"
        name, why = lines[-1]
        return name, why

    def _explore(self, modules: Mapping[str, str], pipe: int) -> None:
        """In the fork. The last line written is the answer."""
        watch = Watch(self.territory, self.foreign)
        watch.listen()
        for name, file in modules.items():
            if name in sys.modules:
                continue
            os.write(pipe, _line(name, "ends the process or hangs"))
            why = watch.importing(name, file)
            if why:
                os.write(pipe, _line(name, why))
                return
        os.write(pipe, _line("", ""))


class Watch:
    """What imports do beside defining things."""

    def __init__(self, territory: Territory, foreign: frozenset[str]) -> None:
        self.territory = territory
        self.foreign = foreign
        self.touched = ""
        self.descriptors = _descriptors()
        self.threads = _threads()
        self.judged: dict[str, object] = {}

    def listen(self) -> None:
        """Hear of every file that is opened; for the rest of this process."""
        sys.addaudithook(self._hear)

    def importing(self, name: str, file: str) -> str:
        """Import ``name``; what it did that a run could tell, or nothing."""
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            module = _import(name)
        if warned:
            return f"warns ({warned[0].category.__name__})"
        if module is not None and file and getattr(module, "__file__", "") != file:
            return "is another file when it is imported ahead"
        return self.complaint()

    def complaint(self) -> str:
        """What speaks against a fork of this process now."""
        if _threads() > self.threads:
            names = [each.name for each in threading.enumerate()][1:]
            return f"starts the thread {names[0]}" if names else "starts threads in native code"
        for descriptor, kind in _descriptors().items():
            if descriptor not in self.descriptors:
                return f"keeps a {kind} open"
        if children():
            return "starts a process"
        return self._of_modules() or self.touched

    def _of_modules(self) -> str:
        """The same of the modules that are there; what has a file stays what it is, and is judged once."""
        for name, module in list(sys.modules.items()):
            if self.judged.get(name, self) is module:
                continue
            if name in self.foreign:
                return f"brings in {name}, which somebody else's loader loads"
            if is_own(module, self.territory):
                return f"imports {name} from the tree"
            if isinstance(getattr(module, "__file__", None), str):
                self.judged[name] = module
        return ""

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if event not in _FILE_EVENTS or not arguments or not isinstance(arguments[0], (str, bytes)):
            return
        path = os.path.abspath(os.fsdecode(arguments[0]))  # noqa: PTH100 # hot
        flags = arguments[2] if event == "open" and len(arguments) > 2 else _WRITING
        if path.startswith("/dev/"):
            return
        if self.territory.owns(path):
            self.touched = f"reads {path} of the tree"
        elif isinstance(flags, int) and flags & _WRITING:
            self.touched = f"writes {path}"


def is_own(module: object, territory: Territory) -> bool:
    """Whether a module is the tree's; a namespace package is if any part of it is."""
    file = getattr(module, "__file__", None)
    if isinstance(file, str):
        return territory.owns(file)
    try:
        return any(territory.owns(f"{path}/") for path in getattr(module, "__path__", ()))
    except Exception:  # noqa: BLE001 # whatever stands in sys.modules
        return False


def _import(name: str) -> object | None:
    try:
        return importlib.import_module(name)
    except BaseException:  # noqa: BLE001 # the program's environment may do anything
        return None


def _threads() -> int:
    return len(os.listdir("/proc/self/task"))  # noqa: PTH208 # only their number


def _descriptors() -> dict[int, str]:
    """What is open, by number, as what it is; the listing itself is closed by then."""
    found = {}
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 # names are numbers
        try:
            mode = os.fstat(int(name)).st_mode
        except OSError:
            continue
        if not stat.S_ISCHR(mode):
            found[int(name)] = "socket" if stat.S_ISSOCK(mode) else "file or pipe"
    return found


def _line(name: str, why: str) -> bytes:
    return json.dumps([name, why]).encode() + b"\n"


def _read(pipe: int) -> bytes:
    """All that is written until the pipe is closed, or time is up."""
    deadline = time.monotonic() + _SECONDS
    said = b""
    while select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))[0]:
        part = os.read(pipe, 1 << 16)
        if not part:
            break
        said += part
    return said
