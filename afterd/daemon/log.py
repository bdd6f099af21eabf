"""The daemon's log: a file a repository, and standard error; no secret, no control character."""

from __future__ import annotations

import logging
import os
import shutil
from contextlib import suppress
from logging.handlers import RotatingFileHandler
from pathlib import Path

from afterd.config.secrets import secrets_of
from afterd.execution.losses import LOG, PLACE
from afterd.report.masking import Masker
from afterd.report.sanitize import visible_text

NAME = "daemon.log"
OUTPUT = "daemon.out"
"""What the daemon's processes print, which is not the log."""
_SIZE = 1 << 20
_KEPT = 2


class Plain(logging.Formatter):
    """A line that can be shown: what tests and commits say is anybody's text."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(message)s", "%Y-%m-%d %H:%M:%S")
        self._masker = Masker(secrets_of(os.environ))

    def format(self, record: logging.LogRecord) -> str:
        """The line, masked and with control characters as escapes."""
        return visible_text(self._masker.text(super().format(record)))


class _Losses(logging.Handler):
    """Hands on what was lost below one repository's state, or where that is not known."""

    def __init__(self, log: logging.Logger, state: Path) -> None:
        super().__init__()
        self.log = log
        self._state = str(state)

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record down."""
        place = str(getattr(record, PLACE, ""))
        if not place or place.startswith(self._state):
            self.log.handle(record)


def open_log(state: Path, *, spoken: bool) -> logging.Logger:
    """The log of one repository; ``spoken``: on standard error too."""
    log = logging.getLogger(f"afterd.daemon.{state}")
    log.setLevel(logging.INFO)
    log.propagate = False
    close_log(log)
    (state / NAME).touch(mode=0o600)
    (state / NAME).chmod(0o600)
    handlers: list[logging.Handler] = [
        RotatingFileHandler(state / NAME, maxBytes=_SIZE, backupCount=_KEPT, encoding="utf-8")
    ]
    if spoken:
        handlers.append(logging.StreamHandler())
    for handler in handlers:
        handler.setFormatter(Plain())
        log.addHandler(handler)
    LOG.addHandler(_Losses(log, state))
    return log


def close_log(log: logging.Logger) -> None:
    """Close the files of a log."""
    for handler in tuple(log.handlers):
        log.removeHandler(handler)
        handler.close()
    for listener in tuple(LOG.handlers):
        if isinstance(listener, _Losses) and listener.log is log:
            LOG.removeHandler(listener)


def rotate_file(path: Path) -> None:
    """Put a file that grew too large aside, in place of the one put aside before.

    Who has it open goes on writing: it is copied and emptied, and they append.
    """
    with suppress(OSError):
        if path.stat().st_size > _SIZE:
            shutil.copyfile(path, path.with_name(f"{path.name}.1"))
            os.truncate(path, 0)


def last_lines(state: Path, count: int) -> list[str]:
    """The last lines of a repository's log; none where there is none yet."""
    try:
        text = (state / NAME).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text.splitlines()[-count:]
