"""The daemon's log: a file a repository, and standard error; no secret, no control character."""

from __future__ import annotations

import logging
import os
from logging.handlers import RotatingFileHandler
from pathlib import Path

from afterd.report.masking import Masker, secrets_of
from afterd.report.sanitize import visible

NAME = "daemon.log"
_SIZE = 1 << 20
_KEPT = 2


class Plain(logging.Formatter):
    """A line that can be shown: what tests and commits say is anybody's text."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(message)s", "%Y-%m-%d %H:%M:%S")
        self._masker = Masker(secrets_of(os.environ))

    def format(self, record: logging.LogRecord) -> str:
        """The line, masked and with control characters as escapes."""
        return visible(self._masker.text(super().format(record)))


def open_log(state: Path, *, spoken: bool) -> logging.Logger:
    """The log of one repository; ``spoken``: on standard error too."""
    log = logging.getLogger(f"afterd.daemon.{state}")
    log.setLevel(logging.INFO)
    log.propagate = False
    close_log(log)
    handlers: list[logging.Handler] = [
        RotatingFileHandler(state / NAME, maxBytes=_SIZE, backupCount=_KEPT, encoding="utf-8")
    ]
    if spoken:
        handlers.append(logging.StreamHandler())
    for handler in handlers:
        handler.setFormatter(Plain())
        log.addHandler(handler)
    return log


def close_log(log: logging.Logger) -> None:
    """Close the files of a log."""
    for handler in tuple(log.handlers):
        log.removeHandler(handler)
        handler.close()


def last_lines(state: Path, count: int) -> list[str]:
    """The last lines of a repository's log; none where there is none yet."""
    try:
        text = (state / NAME).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text.splitlines()[-count:]
