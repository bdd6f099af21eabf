"""Real repositories for the daemon's tests, and the daemon in this process."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from afterd.config import Settings
from afterd.daemon.poster import Poster
from afterd.daemon.serve import serve
from afterd.daemon.service import Service, watching
from afterd.store.database import DATABASE_NAME, Reader, open_reader
from afterd.store.verdicts import StoredVerdict, verdicts_at
from afterd.vcs.repository import common_directory, open_repository, state_directory

TEXT = "one\ntwo\nthree\n"
TEST = ("sh", "-c", "grep -q three text || { echo three is missing; exit 1; }")


def plain(cwd: Path) -> dict[str, str]:
    """The environment of a user who has no settings."""
    plain = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    plain |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": str(cwd / "no-such-file")}
    for role in ("AUTHOR", "COMMITTER"):
        plain |= {f"GIT_{role}_NAME": "A", f"GIT_{role}_EMAIL": "a@example.org"}
    return plain


def git(*arguments: str, cwd: Path, **environment: str) -> str:
    """A git command of a user who has no settings."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=cwd,
        env=plain(cwd) | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def commit(where: Path, files: Mapping[str, str], *options: str, **environment: str) -> str:
    """Write files and commit them as a user does; the commit."""
    for name, content in files.items():
        (where / name).write_text(content)
    git("add", "-A", cwd=where)
    message = () if any(option.startswith("--fixup") for option in options) else ("-m", "work")
    git("commit", "-q", "--allow-empty", *message, *options, cwd=where, **environment)
    return git("rev-parse", "HEAD", cwd=where)


def made(path: Path, files: Mapping[str, str] | None = None) -> Path:
    """A repository of one commit whose test passes."""
    path.mkdir()
    git("init", "-q", "-b", "main", cwd=path)
    commit(path, files or {"text": TEXT})
    return path


def settings(path: Path, **given: object) -> Settings:
    """Settings for a repository, with the test that looks for a word."""
    return replace(Settings(path, test=TEST), **given)  # type: ignore[arg-type] # a test's own names


def once(path: Path, **given: object) -> None:
    """A daemon that empties the queue and leaves."""
    serve([settings(path, **given)], Poster(None), once=True, spoken=False)


@contextmanager
def service(path: Path, **given: object) -> Iterator[Service]:
    """The service of one repository, nothing triggered."""
    wanted = settings(path, **given)
    with watching(wanted, posting=False, spoken=False) as found:
        yield found


@contextmanager
def opened(path: Path) -> Iterator[Reader]:
    """The database that a daemon left."""
    with open_reader(state_directory(open_repository(path)) / DATABASE_NAME) as reader:
        yield reader


def verdicts(path: Path, of: str) -> list[StoredVerdict]:
    """The verdicts on a commit."""
    with opened(path) as reader:
        return verdicts_at(reader, str(common_directory(open_repository(path))), of)


def verdict_where_tests(path: Path, command: str) -> StoredVerdict:
    """The one verdict on the second commit of a fresh repository, whose tests are a shell's command."""
    where = made(path)
    once(where)
    of = commit(where, {"other": "b\n"})
    once(where, test=("sh", "-c", command))
    [verdict] = verdicts(where, of)
    return verdict


def jobs(path: Path) -> list[tuple[str, str]]:
    """Commit and state of every job of a commit, in the order they were made."""
    with opened(path) as reader:
        rows = reader.rows("SELECT key, state FROM job WHERE kind = 'commit' ORDER BY id")
        return [(str(row["key"]).removeprefix("commit:"), str(row["state"])) for row in rows]
