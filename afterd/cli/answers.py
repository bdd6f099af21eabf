"""Explanations on their way to the user: what is heard until they are there, and how they are written."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from afterd.cli.commits import bad_version
from afterd.cli.options import Loudness
from afterd.cli.output import errors, print_parts, write
from afterd.config import Format
from afterd.execution.losses import LOG
from afterd.model.explanation import Explanation
from afterd.model.progress import Progress, Silent
from afterd.report import html, json, markdown, sarif
from afterd.report.live import PlainProgress, listening
from afterd.report.terminal import TerminalReport
from afterd.vcs.repository import open_repository, state_directory

_LOG = "afterd"


class _LossesTold(logging.Handler):
    """Says on standard error that something was lost, once of each: what is made again may be lost again."""

    def __init__(self) -> None:
        super().__init__()
        self._told: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Say it where it was not said of the same thing; its name is the record's first argument."""
        what, *_ = record.args if isinstance(record.args, tuple) else ("",)
        if str(what) not in self._told:
            self._told.add(str(what))
            errors().print(record.getMessage(), soft_wrap=True, markup=False)


@contextmanager
def losses_told(loudness: Loudness) -> Iterator[None]:
    """What is lost in the block is told; with QUIET it is not."""
    handler = logging.NullHandler() if loudness is Loudness.QUIET else _LossesTold()
    LOG.addHandler(handler)
    try:
        yield
    finally:
        LOG.removeHandler(handler)


@contextmanager
def progress_listener(loudness: Loudness) -> Iterator[Progress]:
    """A listener on standard error as loud as was asked for; with DEBUG it writes into the log, too."""
    if loudness is Loudness.QUIET:
        yield Silent()
    elif loudness is Loudness.USUAL:
        with listening(errors()) as progress:
            yield progress
    else:
        log = logging.getLogger(_LOG).debug if loudness is Loudness.DEBUG else None
        yield PlainProgress(errors(), log=log)


@contextmanager
def listener_after_answer() -> Iterator[Progress]:
    """Who hears of what goes on when the answer stands there: no line comes after it that is not part of it, so
    only a terminal is told, which forgets what it drew.
    """
    if errors().is_terminal:
        with listening(errors()) as progress:
            yield progress
    else:
        yield Silent()


@contextmanager
def command_log(repository: Path, loudness: Loudness) -> Iterator[None]:
    """With DEBUG a log of every command that is run in the block, whose name is told first."""
    if loudness is not Loudness.DEBUG:
        yield
        return
    folder = state_directory(open_repository(repository)) / "logs"
    folder.mkdir(exist_ok=True)
    path = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    errors().print(f"The log is {path}.", soft_wrap=True)
    handler = logging.FileHandler(path, encoding="utf-8", errors="backslashreplace")
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(message)s"))
    log = logging.getLogger(_LOG)
    log.setLevel(logging.DEBUG)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
        handler.close()


def deliver(
    explanations: Sequence[Explanation],
    form: Format,
    output: Path | None,
    repository: Path,
    subjects: Mapping[str, str] | None = None,
) -> None:
    """Write explanations in a format, to a file or to the terminal."""
    if form is Format.TEXT:
        reports = [TerminalReport(each, subjects=subjects) for each in explanations]
        print_parts(reports, output)
    else:
        write(rendered_document(explanations, form, repository), output)


def rendered_document(explanations: Sequence[Explanation], form: Format, repository: Path) -> str:
    """The document in any format but text."""
    match form:
        case Format.MARKDOWN:
            return markdown.render(explanations)
        case Format.HTML:
            return html.render(explanations, bad_version(repository, explanations))
        case Format.SARIF:
            return sarif.render(explanations)
        case _:
            return json.render(explanations, str(repository.absolute()))
