"""Everything that can be set, in one frozen value.

A setting is a field of :class:`Settings`: its annotation holds how it is read, what it means and
whether it is *privileged*. A file inside a repository may only set what is not privileged when its
commit is not trusted (reliability, section 2: trust is decided by where a commit came from and is
never upgraded by its content). ``docs/configuration.md`` is checked against these fields.
"""

from __future__ import annotations

import functools
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, get_type_hints

from afterd.config.kinds import (
    BUDGET,
    COMMAND,
    COUNT,
    EXECUTOR,
    FLAG,
    HALF_AN_HOUR,
    HOURS,
    NATURAL,
    NO_LIMIT,
    PATH,
    SPAN,
    TEXT,
    TEXTS,
    Budget,
    Format,
    Hours,
    Kind,
    Sandbox,
    Strategy,
    one_of,
)
from afterd.limits import Limits

_LIMITS = Limits()
ENVIRONMENT_PREFIX = "AFTERD_"


@dataclass(frozen=True, slots=True)
class Setting:
    """What is known of a setting beside its type and default, kept in the field's annotation."""

    kind: Kind
    meaning: str
    privileged: bool = True


_STRATEGY = one_of(Strategy)
_FORMAT = one_of(Format)
_TEST = Setting(
    COMMAND,
    "the test command; a string is run by `sh -c`; or names of Python tests; empty: detected",
)
_BUILD = Setting(COMMAND, "the build command, likewise; empty: detected, or none")
_DIFF = Setting(PATH, "a patch to explain: the bad version is the good one with it applied")
_TESTS = Setting(
    TEXTS,
    "explain only these failing tests (ids as the runner says; a file, class or function stands for all in it)",
    privileged=False,
)
_PYTHON = Setting(
    TEXT,
    "the Python that runs the project's tests, as a path in the work tree or a command; empty: looked for",
)
_PREPARE = Setting(
    TEXT,
    "`auto`: an environment for the Python tests is made below `.git/afterd`; or a command that is run in"
    " every checkout before it is built",
)
_FIRST = Setting(FLAG, "stop at the first test that broke, and explain that one", privileged=False)
_HISTORY = Setting(FLAG, "look in the history for where tests broke that are red at both ends")
_GLOBS = Setting(TEXTS, "paths of test files, besides those recognised", privileged=False)
_KEEP = Setting(FLAG, "every variant has the test files of the bad version", privileged=False)
_WARNINGS = Setting(
    FLAG,
    "compilers are started as older ones were: no warning is an error, and `-fcommon` (Rust: `--cap-lints warn`, Go:"
    " `-vet=off`); `explain` does so by itself where a version does not build otherwise, or with a part of the changes"
    " undone is refused for a warning alone",
)
_SANDBOX = Setting(one_of(Sandbox), "what holds builds and tests; see reliability.md")
_NETWORK = Setting(
    FLAG,
    "builds and tests in a sandbox have the network, and as root may set it up in any (`CAP_NET_ADMIN`)",
)
_WRITABLE = Setting(TEXTS, "more directories that builds and tests in a sandbox may write to")
_PASS = Setting(TEXTS, "variables that tests and builds get although they look secret")
_CONTAINER = Setting(
    TEXT,
    "the command that builds and tests run behind, such as `docker run --rm --init -v {slot}:{slot} IMAGE`;"
    " `{slot}`: the checkout",
)
_WATCH = Setting(TEXTS, "refs that the daemon watches, as globs")
_TRUSTED = Setting(
    TEXTS, "refs whose commits are tested without approval; empty: see reliability.md"
)
_AUTHORS = Setting(TEXTS, "e-mail addresses: commits of others wait for approval; empty: anybody's")
_JOB_BUDGET = Setting(BUDGET, "when the daemon stops one commit's explanations")
_DAY_BUDGET = Setting(BUDGET, "builds and tests of the daemon in 24 hours")
_QUIET = Setting(HOURS, "in these hours (local time) the daemon starts nothing")
_POLL = Setting(SPAN, "how often refs are looked at where no file event told of them")
_RETENTION = Setting(COUNT, "days after which the daemon forgets")
_SELF_CHECK = Setting(SPAN, "how often an idle daemon verifies a past answer again")
_RLIMIT = Setting(NATURAL, "z3 resource units of one solver call (not time); 0: no limit")
_WINDOW = Setting(
    COUNT, "events kept of a recorded run; older ones are recorded again if asked for"
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user asked for. Times are wall-clock seconds; an empty command means: find it."""

    repository: Annotated[
        Path, Setting(PATH, "the repository, or a folder in it; not in a file")
    ] = Path()
    range: Annotated[str, Setting(TEXT, "`GOOD..BAD`, or `BAD` alone")] = "HEAD~1..HEAD"
    good: Annotated[str, Setting(TEXT, "the last green revision; empty: from the range")] = ""
    diff: Annotated[Path | None, _DIFF] = None
    test: Annotated[tuple[str, ...], _TEST] = ()
    build: Annotated[tuple[str, ...], _BUILD] = ()
    tests: Annotated[tuple[str, ...], _TESTS] = ()
    python: Annotated[str, _PYTHON] = ""
    prepare: Annotated[str, _PREPARE] = ""
    first: Annotated[bool, _FIRST] = False
    history: Annotated[bool, _HISTORY] = False
    strategy: Annotated[
        Strategy, Setting(_STRATEGY, "how the root is searched", privileged=False)
    ] = Strategy.AFTER
    budget: Annotated[Budget, Setting(BUDGET, "when to stop")] = NO_LIMIT
    jobs: Annotated[int, Setting(COUNT, "variants built and tested at the same time")] = 1
    executor: Annotated[str, Setting(EXECUTOR, "where variants are built and tested")] = "local"
    format: Annotated[Format, Setting(_FORMAT, "how the answer is written")] = Format.TEXT
    output: Annotated[Path | None, Setting(PATH, "the file to write; empty: the terminal")] = None
    test_timeout: Annotated[
        float,
        Setting(
            SPAN,
            "the time limit of one test run; variants get little more than 5 times what the slower end"
            " took, and at least 10 s",
        ),
    ] = _LIMITS.test.timeout
    build_timeout: Annotated[float, Setting(SPAN, "the time limit of one build")] = (
        _LIMITS.build.timeout
    )
    confirmations: Annotated[int, Setting(COUNT, "runs of each end before anything else")] = 2
    test_globs: Annotated[tuple[str, ...], _GLOBS] = ()
    keep_tests: Annotated[bool, _KEEP] = True
    older_compilers: Annotated[bool, _WARNINGS] = False
    sandbox: Annotated[Sandbox, _SANDBOX] = Sandbox.OFF
    network: Annotated[bool, _NETWORK] = False
    writable: Annotated[tuple[str, ...], _WRITABLE] = ()
    container: Annotated[str, _CONTAINER] = ""
    pass_environment: Annotated[tuple[str, ...], _PASS] = ()
    solver_rlimit: Annotated[int, _RLIMIT] = _LIMITS.solver.rlimit
    trace_window: Annotated[int, _WINDOW] = _LIMITS.trace.window
    watch: Annotated[tuple[str, ...], _WATCH] = (
        "refs/heads/*",
        "refs/remotes/*",
        "refs/pull/*",
        "refs/merge-requests/*",
    )
    trusted: Annotated[tuple[str, ...], _TRUSTED] = ()
    trusted_authors: Annotated[tuple[str, ...], _AUTHORS] = ()
    job_budget: Annotated[Budget, _JOB_BUDGET] = HALF_AN_HOUR
    day_budget: Annotated[Budget, _DAY_BUDGET] = NO_LIMIT
    quiet_hours: Annotated[Hours | None, _QUIET] = None
    poll: Annotated[float, _POLL] = 30.0
    retention_days: Annotated[int, _RETENTION] = 180
    self_check: Annotated[float, _SELF_CHECK] = 3600.0


@functools.cache
def catalogue() -> Mapping[str, Setting]:
    """Every setting by its key, in the order of the fields."""
    hints = get_type_hints(Settings, include_extras=True)
    return {key: next(iter(hint.__metadata__)) for key, hint in hints.items()}


def privileged_names() -> frozenset[str]:
    """The settings that a file in a repository may not set when its commit is not trusted."""
    return frozenset(key for key, setting in catalogue().items() if setting.privileged)


def environment_name(setting: str) -> str:
    """The environment variable of a setting: ``AFTERD_`` and its key in capitals."""
    return ENVIRONMENT_PREFIX + setting.upper()


def shell(command: str) -> tuple[str, ...]:
    """The argument vector that runs a command line as the user's shell would."""
    return ("sh", "-c", command)


def command_line(argv: tuple[str, ...]) -> str:
    """An argument vector as it can be typed into a shell; ``sh -c TEXT`` shows as TEXT."""
    if len(argv) == 3 and argv[:2] == ("sh", "-c"):
        return argv[2]
    return shlex.join(argv)
