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
from afterd.model.explanation import Explanation
from afterd.model.progress import Progress, Silent
from afterd.report import html, json, markdown, sarif
from afterd.report.live import PlainProgress, listening
from afterd.report.terminal import TerminalReport
from afterd.vcs.repository import open_repository, state_directory


@contextmanager
def progress_listener(repository: Path, loudness: Loudness) -> Iterator[Progress]:
    """A listener on standard error as loud as was asked for; with DEBUG there is a log beside it."""
    if loudness is Loudness.QUIET:
        yield Silent()
    elif loudness is Loudness.USUAL:
        with listening(errors()) as progress:
            yield progress
    elif loudness is Loudness.VERBOSE:
        yield PlainProgress(errors())
    else:
        folder = state_directory(open_repository(repository)) / "logs"
        folder.mkdir(exist_ok=True)
        path = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
        handler = logging.FileHandler(path, encoding="utf-8", errors="backslashreplace")
        handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(message)s"))
        log = logging.getLogger("afterd")
        log.setLevel(logging.DEBUG)
        log.addHandler(handler)
        try:
            yield PlainProgress(errors(), log=log.debug)
        finally:
            log.removeHandler(handler)
            handler.close()
            errors().print(f"The log is {path}.", soft_wrap=True)


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
