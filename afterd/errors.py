"""One error root. Each leaf is a sentence for the user, an exit status and a docs page."""

from __future__ import annotations

from enum import IntEnum


class ExitStatus(IntEnum):
    """afterd's own exit status (design, section 8)."""

    EXPLAINED = 0
    USAGE = 2
    INCONCLUSIVE = 10
    FLAKY = 11
    ALREADY_RED = 12
    CANNOT_RUN = 13
    BUG = 70  # EX_SOFTWARE: a bug of afterd's, with a log of what is known
    INTERRUPTED = 130  # 128 + SIGINT, as shells say it


class AfterdError(Exception):
    """Something we understood: the message says what happened, where, and what to do."""

    exit_status: ExitStatus = ExitStatus.CANNOT_RUN
    slug: str = ""  # anchor in docs/errors.md


class UsageError(AfterdError):
    """The command line or the configuration cannot be obeyed."""

    exit_status = ExitStatus.USAGE
    slug = "usage"


class RepositoryError(UsageError):
    """Not a repository, an unknown revision, an empty range, an object that is not there."""

    slug = "repository"


class ConfigurationError(UsageError):
    """A setting has a value it cannot have."""

    slug = "configuration"


class BusyError(UsageError):
    """Another afterd is at work in this repository."""

    slug = "busy"


class BuildError(AfterdError):
    """The build of an end of the range fails, or there is no compiler. ``end``: which one, where it is known."""

    slug = "build"

    def __init__(self, message: str, end: str = "") -> None:
        super().__init__(message)
        self.end = end


class TestError(AfterdError):
    """The test cannot be run at all."""

    __test__ = False  # pytest collects classes named Test*
    slug = "test"


class UntestableError(TestError):
    """The test itself says that this version cannot be tested (exit status 125)."""

    __test__ = False
    exit_status = ExitStatus.INCONCLUSIVE
    slug = "untestable"


class LostRunError(AfterdError):
    """A run of which something must be known was killed from outside each time it was made."""

    slug = "lost-run"


class SpaceError(AfterdError):
    """No space left where state or worktrees live."""

    slug = "space"


class FilesError(AfterdError):
    """A file or folder of afterd's own cannot be used: read-only, not allowed, a name too long."""

    slug = "files"


class StoreError(AfterdError):
    """The database cannot be read or written."""

    slug = "store"


class SandboxError(AfterdError):
    """A process could not be started."""

    slug = "sandbox"


class ToolchainError(AfterdError):
    """No compiler, or one that cannot be used for tracing."""

    slug = "toolchain"


class ForgeError(AfterdError):
    """The forge does not take what is to be posted, or there is no token for it."""

    slug = "forge"


class TraceError(AfterdError):
    """The failing run could not be traced; reversion alone goes on without it."""

    slug = "trace"
