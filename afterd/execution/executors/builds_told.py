"""What a build made so far, told while it runs: a large one takes minutes before its test is run."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from afterd.execution.executors.protocol import Attempt, Executor, Job
from afterd.limits import REPORT
from afterd.model.progress import Progress

_MADE = (".o", ".obj", ".rmeta", ".rlib", ".class")
_MODULES = "node_modules"
_NO_PRODUCTS = frozenset({".git", _MODULES})


@dataclass(frozen=True, slots=True)
class BuildsTold:
    """An executor whose listener hears what the build of a job made, below ``folder``, for as long as that takes."""

    behind: Executor
    progress: Progress
    folder: Path

    @property
    def width(self) -> int:
        """How many jobs can be under way at once."""
        return self.behind.width

    def submit(self, job: Job) -> Future[Attempt]:
        """Run the job, and tell of its build."""
        began = _now()
        future = self.behind.submit(job)
        if job.recipe.build and not future.done():
            _beside(
                self.progress,
                self.folder,
                began,
                lambda seconds: bool(wait([future], seconds).done),
            )
        return future

    def close(self) -> None:
        """End what is under way."""
        self.behind.close()


@contextmanager
def build_told(progress: Progress, folder: Path) -> Iterator[None]:
    """Tell what the block builds below a folder, for as long as it takes."""
    over = threading.Event()
    beside = _beside(progress, folder, _now(), over.wait)
    try:
        yield
    finally:
        over.set()
        beside.join()


def _now() -> int:
    """By the clock that files are stamped with, which may be a tick behind the finer one."""
    with tempfile.TemporaryFile() as made:
        return os.fstat(made.fileno()).st_ctime_ns


def _beside(
    progress: Progress, folder: Path, began: int, is_over: Callable[[float], bool]
) -> threading.Thread:
    thread = threading.Thread(target=_tell, args=(progress, folder, began, is_over), daemon=True)
    thread.start()
    return thread


def _tell(progress: Progress, folder: Path, began: int, is_over: Callable[[float], bool]) -> None:
    """Look until it ``is_over``, and less often where nothing is made: a test may be running by then."""
    seconds, told = REPORT.every, dict[str, int]()
    while not is_over(seconds):
        seconds *= 2
        with suppress(Exception):  # progress never costs an answer
            for what, made in (
                ("object files built for it", _built(folder, began)),
                ("packages installed for it", _installed(folder, began)),
            ):
                if made > max(1, told.get(what, 0)):
                    told[what] = made
                    progress.advanced(made, what)
                    seconds = REPORT.every


def _built(folder: Path, began: int) -> int:
    """How many object files below a folder were made since then."""
    made = 0
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _NO_PRODUCTS]
        made += sum(_is_newer(Path(place, name), began) for name in names if name.endswith(_MADE))
    return made


def _installed(folder: Path, began: int) -> int:
    """How many packages of npm came into the folder, or a slot in it, since then."""
    modules = [*folder.glob(_MODULES), *folder.glob(f"*/{_MODULES}")]
    return sum(_is_newer(package, began) for each in modules for package in each.iterdir())


def _is_newer(path: Path, began: int) -> bool:
    """By when its entry was written: what is unpacked keeps the time that it had."""
    try:
        return path.lstat().st_ctime_ns >= began
    except OSError:
        return False
