"""What is written down of an exception that nobody expected, for who mends it."""

from __future__ import annotations

import os
import platform
import sqlite3
import tempfile
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from afterd import __version__
from afterd.config.secrets import secrets_of
from afterd.errors import AfterdError
from afterd.report.masking import Masker
from afterd.vcs.repository import open_repository, state_directory


def bug_account_file(error: Exception, arguments: Sequence[str]) -> Path | None:
    """The log's path: in the state directory, or where that cannot be, in the temporary one."""
    account = _account(error, arguments)
    name = f"bug-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    folders = [Path(tempfile.gettempdir())]
    with suppress(AfterdError):
        folders.insert(0, state_directory(open_repository(Path())))
    for folder in folders:
        path = folder / name
        with suppress(OSError):
            path.write_text(account, encoding="utf-8", errors="surrogateescape")
            return path
    return None


def _account(error: Exception, arguments: Sequence[str]) -> str:
    """Everything a maintainer asks for first, without the secrets of the environment."""
    lines = [
        f"afterd {__version__}",
        f"Python {platform.python_version()} on {platform.platform()}",
        f"SQLite {sqlite3.sqlite_version}",
        f"arguments: {list(arguments)!r}",
        "",
        *traceback.format_exception(error),
    ]
    return Masker(secrets_of(os.environ)).text("\n".join(lines))
