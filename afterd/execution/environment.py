"""The environment that builds and tests run in: scrubbed, repeatable, and digested for cache keys.

A program under test gets the user's environment, because it needs the user's PATH, HOME and
locale, without three kinds of variables:

- *git's local variables*. In a linked worktree a hook runs with absolute ``GIT_DIR`` and
  ``GIT_INDEX_FILE``; a ``git add`` in another repository then wrote into the user's index (200
  entries became 201; reliability.md, section 0, finding 1).
- *secrets* (``secrets``): whatever looks like a token, a password, a key or an agent's socket. The
  program is code from a commit; what it does not have it cannot print.
- *afterd's own settings* and what varies from shell to shell (``PWD``, ``TMPDIR``, ``COLUMNS``).

and with what makes two runs alike: ``PYTHONHASHSEED=0``; no byte code written, because a slot
moves between trees within one second, and CPython takes a stale ``.pyc`` for fresh when size and
second of the source agree.

pytest looks for its configuration upward from the tests, through ``.git`` into the user's work tree,
which is of another version. A ``pytest.ini`` in the state directory (``vcs.repository``) ends that search; as pytest
would then count that directory as the project's, it is told that the project is where it starts. A test that
stands outside of the slots has the project that pytest finds: no search from there comes to ours.
Jest passes over all that stands below a folder named ``.git``, so Node loads a line of ours that ends this
(``runners/plugins/jest_below_git.cjs``).
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from afterd.config.secrets import is_secret

GIT_LOCAL = frozenset(
    # `git rev-parse --local-env-vars` of git 2.39 to 2.51, and what hooks and rebases add.
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_AUTHOR_DATE",
        "GIT_CEILING_DIRECTORIES",
        "GIT_COMMITTER_DATE",
        "GIT_COMMON_DIR",
        "GIT_CONFIG",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_PARAMETERS",
        "GIT_DIR",
        "GIT_EDITOR",
        "GIT_EXEC_PATH",
        "GIT_GRAFT_FILE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_NAMESPACE",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_QUARANTINE_PATH",
        "GIT_REFLOG_ACTION",
        "GIT_REF_FORMAT",
        "GIT_REPLACE_REF_BASE",
        "GIT_SEQUENCE_EDITOR",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)
_GIT_CONFIG_PAIR = re.compile(r"GIT_CONFIG_(KEY|VALUE)_\d+")

_VARYING = frozenset(
    {"PYTEST_CURRENT_TEST", "PYTEST_VERSION", "PYTEST_XDIST_TESTRUNUID"}
    | {"PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT"}
    | {"PWD", "OLDPWD", "SHLVL", "_", "TMPDIR", "COLUMNS", "LINES", "WINDOWID", "TERM_SESSION_ID"}
)
REPEATABLE: Mapping[str, str] = {
    "GIT_TERMINAL_PROMPT": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
}

_PYTEST_OPTIONS = "PYTEST_ADDOPTS"
_PYTEST_PROJECT = "--rootdir=."
_PYTHON_TEST = re.compile(r"(?<![^\s'\"=])(/[^\s'\":]*test[^\s'\":/]*\.py)\b")
NODE_OPTIONS = "NODE_OPTIONS"
_BELOW_GIT = Path(__file__).with_name("runners") / "plugins" / "jest_below_git.cjs"

LOOKS_SECRET = "looks like a secret"  # noqa: S105 - a sentence
"""What ``removal_reason`` says of what whoever knows better can let through (``pass_environment``)."""

_NOT_DIGESTED = frozenset({"PATH_INFO", "XDG_SESSION_ID", "INVOCATION_ID", "JOURNAL_STREAM"})


def scrubbed_environment(
    environment: Mapping[str, str] | None = None,
    extra: Mapping[str, str] | None = None,
    *,
    outside: bool = False,
) -> dict[str, str]:
    """The environment for a program under test, from afterd's own; ``extra`` is set on top.

    ``extra`` is what the user configured for the test: it is not scrubbed. ``outside``: its files of tests are no part
    of the repository.
    """
    source = os.environ if environment is None else environment
    kept = {name: value for name, value in source.items() if not removal_reason(name, value)}
    found = {**kept, **REPEATABLE, **(extra or {})}
    options = found.get(_PYTEST_OPTIONS, "")
    if not outside and _PYTEST_PROJECT not in options.split():
        found[_PYTEST_OPTIONS] = f"{_PYTEST_PROJECT} {options}".rstrip()
    return found


def names_test_outside(command: Iterable[str]) -> bool:
    """Whether a command that runs in any slot, or the text of a shell in it, names a file of Python tests by a path
    of its own.
    """
    return any(Path(found).is_file() for word in command for found in _PYTHON_TEST.findall(word))


def node_options(options: str) -> str:
    """Node's options where a program stands below ``.git``: it loads our lines first, then what was set.

    The path is in quotes, as it may have spaces.
    """
    path = str(_BELOW_GIT).replace("\\", r"\\").replace('"', r"\"")
    return f'--require "{path}" {options}'.rstrip()


def removal_reason(name: str, value: str = "") -> str:
    """Why a variable does not reach a program under test; empty if it does."""
    if name in GIT_LOCAL or _GIT_CONFIG_PAIR.fullmatch(name):
        return "points git to another repository"
    if is_secret(name, value):
        return LOOKS_SECRET
    if name.startswith("AFTERD_"):
        return "is afterd's own"
    if name in _VARYING:
        return "varies from run to run"
    return ""


def digest(environment: Mapping[str, str]) -> str:
    """A short digest of ``environment`` for cache keys; session numbers do not count."""
    text = hashlib.sha256()
    for name in sorted(environment.keys() - _NOT_DIGESTED):
        text.update(os.fsencode(f"{name}={environment[name]}\0"))
    return text.hexdigest()[:16]
