"""The edge of the program: what is raised inside becomes a sentence and an exit status here.

A user's mistake is one sentence. An exception nobody expected is our bug: the traceback goes into a
file, never onto the terminal.
"""

from __future__ import annotations

import errno
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from types import FrameType

import click

from afterd.errors import AfterdError, ExitStatus, FilesError, SpaceError
from afterd.report.sanitize import visible_text

READER_GONE = 1  # as click says it
_OF_THE_MACHINE = frozenset(
    {
        *(errno.EACCES, errno.EPERM, errno.EROFS),  # not allowed
        *(errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM),  # no more of it
        *(errno.ENAMETOOLONG, errno.ELOOP, errno.EIO, errno.ESTALE),  # that name, that disk
    }
)


def run(group: click.Group, arguments: Sequence[str]) -> int:
    """Run a command line and return its exit status; nothing but SystemExit gets out."""
    _prepare_streams()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _terminate)
    try:
        status = _understood_status(group, arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        _abandon_output()
        return READER_GONE
    except (SystemExit, Exception) as error:  # the one place where a bug is turned into words
        if ended := _ended_by(error):
            return ended.told_status()
        if isinstance(error, SystemExit):
            raise
        return _bug(error, arguments)
    return status


def _understood_status(group: click.Group, arguments: Sequence[str]) -> int:
    """The exit status of a command line that ends in a way that was thought of."""
    try:
        # without standalone mode click returns the status that a command left with
        status = group.main(list(arguments), prog_name="afterd", standalone_mode=False)
    except AfterdError as error:
        return _told_status(error)
    except OSError as error:
        if error.errno not in _OF_THE_MACHINE:
            raise
        return _told_status(_files_error(error))
    except click.ClickException as error:
        error.show()
        return int(ExitStatus.USAGE)
    except (KeyboardInterrupt, click.Abort):
        _say("Interrupted.")
        return int(ExitStatus.INTERRUPTED)
    return status if isinstance(status, int) else int(ExitStatus.EXPLAINED)


def _told_status(error: AfterdError) -> int:
    if ended := _ended_by(error):
        return ended.told_status()
    where = f" (docs/errors.md#{error.slug})" if error.slug else ""
    _say(f"{error}{where}")
    return int(error.exit_status)


def _files_error(error: OSError) -> AfterdError:
    """What the machine does not let us do with a file is no bug of ours."""
    where = os.fsdecode(error.filename) if error.filename else "a file that afterd needs"
    said = f"{where} cannot be used: {error.strerror}"
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return SpaceError(f"{said}; free some space and run afterd again.")
    return FilesError(f"{said}; check who owns it, how its disk is mounted, and the limits there.")


def _prepare_streams() -> None:
    """A file name must not end the program where the locale is ``C``."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


class _Ended(SystemExit):
    """Somebody ended us by the signal ``number``."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self._number = number

    def told_status(self) -> int:
        """The exit status, after the sentence."""
        _say(f"Ended by {signal.Signals(self._number).name}.")
        return 128 + self._number


def _terminate(number: int, _frame: FrameType | None) -> None:
    """Being ended is an exit, so that children are ended and leases given back."""
    raise _Ended(number)


def _ended_by(error: BaseException | None) -> _Ended | None:
    """The signal that ended us, also where what was under way then failed as it was put away."""
    while error is not None and not isinstance(error, _Ended):
        error = error.__context__
    return error


def _bug(error: Exception, arguments: Sequence[str]) -> int:
    account = importlib.import_module("afterd.cli.bug_account")  # most command lines have no bug
    path = account.bug_account_file(error, arguments)
    kept = f"What is known is in {path}" if path else "It could not even be written down"
    _say(
        f"afterd has a bug: {type(error).__name__}. {kept}; please report it. (docs/errors.md#bug)"
    )
    return int(ExitStatus.BUG)


def _say(sentence: str) -> None:
    with suppress(OSError, ValueError):
        click.echo(f"afterd: {visible_text(sentence)}", err=True)


def _abandon_output() -> None:
    """Python would complain again when it flushes at exit."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
