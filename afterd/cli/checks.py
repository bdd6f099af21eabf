"""What afterd needs of a machine, each looked at for real: the answers of ``afterd doctor``."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib import metadata
from pathlib import Path

import pygit2

from afterd.errors import AfterdError, ToolchainError
from afterd.execution import toolchain
from afterd.execution.confinement import bubblewrap_trouble, landlock_version
from afterd.execution.memory_group import delegated_group, memory_is_held_by
from afterd.limits import ProcessLimits
from afterd.logic import Constraint, Kind, Problem, Solver, Unsatisfiable
from afterd.model.term import BOOL, INT, Apply, Const, Op, Read
from afterd.store.database import DATABASE_NAME, open_reader
from afterd.store.faults import damage_error
from afterd.vcs.repository import open_repository, state_directory

GIB = 1 << 30
_REPAIRED = ((3, 51, 3), (3, 53, 0))  # 3.52.0 was withdrawn


class State(StrEnum):
    """How a check ended."""

    FINE = "fine"
    WORSE = "worse"  # afterd works, with less
    MISSING = "missing"  # it does not


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at and what was found, as a sentence that says what to do."""

    name: str
    state: State
    sentence: str


def all_checks(repository: Path) -> Iterator[Check]:
    """Every check in the order it is shown; none raises."""
    yield python()
    yield git()
    yield sqlite(sqlite3.sqlite_version_info)
    yield compiler(toolchain.find)
    yield sandbox()
    yield memory()
    yield llvm()
    yield solver()
    try:
        state = state_directory(open_repository(repository))
    except AfterdError as error:
        yield Check("repository", State.WORSE, str(error))
        return
    yield permissions(state)
    yield space(shutil.disk_usage(state).free)
    yield database(state / DATABASE_NAME)


def python() -> Check:
    """The interpreter; the installer has checked its version."""
    return Check("python", State.FINE, f"Python {platform.python_version()} ({sys.executable}).")


def git() -> Check:
    """The git that repositories are read with; the ``git`` command is not needed."""
    version = metadata.version("pygit2")
    return Check("git", State.FINE, f"libgit2 {pygit2.LIBGIT2_VERSION}, pygit2 {version}.")


def sqlite(version: tuple[int, ...]) -> Check:
    """SQLite's version, for the WAL-reset bug (3.7.0 to 3.51.2)."""
    words = ".".join(map(str, version))
    if version >= _REPAIRED[1] or _REPAIRED[0] <= version < (3, 52):
        return Check("sqlite", State.FINE, f"SQLite {words}.")
    return Check(
        "sqlite",
        State.WORSE,
        f"SQLite {words} has the WAL-reset bug. afterd writes one connection at a time, so it is "
        "safe; let no other program write to afterd.db, or use a Python with SQLite 3.51.3.",
    )


def compiler(find: Callable[[], toolchain.Toolchain]) -> Check:
    """A clang that C programs can be traced with."""
    try:
        found = find()
    except ToolchainError as error:
        return Check(
            "compiler", State.WORSE, f"{error} C and C++ are explained by reverting alone."
        )
    kind = "zig's clang" if found.is_zig else "clang"
    return Check("compiler", State.FINE, f"{kind} {found.version} ({' '.join(found.argv)}).")


def sandbox() -> Check:
    """What can hold builds and tests."""
    why = bubblewrap_trouble()
    if not why:
        return Check(
            "sandbox", State.FINE, "bubblewrap works: --sandbox auto and require are whole."
        )
    rest = (
        "Landlock can hold writing" if landlock_version() else "this kernel has no Landlock either"
    )
    return Check(
        "sandbox",
        State.WORSE,
        f"There is no whole sandbox: {why}; {rest}. On Debian: apt-get install bubblewrap.",
    )


def memory() -> Check:
    """Who holds a run to its memory."""
    found = memory_is_held_by(ProcessLimits())
    if delegated_group() is None:
        found += (
            " Systemd delegates it: `systemd-run --user --scope -p Delegate=yes afterd explain`."
        )
    return Check("memory", State.FINE, found)


def llvm() -> Check:
    """The LLVM that instruments; it runs in a child process, so only its presence is asked here."""
    try:
        return Check("llvm", State.FINE, f"llvmlite {metadata.version('llvmlite')}.")
    except metadata.PackageNotFoundError:
        return Check("llvm", State.MISSING, "llvmlite is not installed. Install afterd again.")


def solver() -> Check:
    """The solver, by a question whose answer is known: 1 is not 2."""
    wrong = Apply(Op.EQ, (Read(1, INT), Const(2, INT)), BOOL)
    problem = Problem((Constraint(1, Kind.DEFINES, Const(1, INT)),), wrong)
    try:
        with Solver() as asked:
            answer = asked.core(problem)
    except AfterdError as error:
        return Check("solver", State.MISSING, str(error))
    if isinstance(answer, Unsatisfiable):
        return Check("solver", State.FINE, f"z3 {metadata.version('z3-solver')} answers.")
    return Check("solver", State.MISSING, f"z3 does not answer: {answer}. Install z3-solver again.")


def permissions(state: Path) -> Check:
    """Whether the state directory can be written."""
    try:
        with tempfile.TemporaryFile(dir=state):
            pass
    except OSError as error:
        owner = state.stat().st_uid
        return Check(
            "state",
            State.MISSING,
            f"The state directory {state} cannot be written ({error.strerror}): it belongs to user "
            f"{owner}, afterd runs as {os.getuid()}. Give it to this user.",
        )
    return Check("state", State.FINE, f"{state} can be written.")


def space(free: int) -> Check:
    """Room for worktree slots and builds."""
    sentence = f"{free / GIB:.1f} GiB are free where state and worktrees live"
    if free < GIB // 10:
        return Check("space", State.MISSING, f"{sentence}: too little. Make room.")
    if free < 2 * GIB:
        return Check("space", State.WORSE, f"{sentence}; builds of larger projects may not fit.")
    return Check("space", State.FINE, f"{sentence}.")


def database(path: Path) -> Check:
    """The database, read through once."""
    if not path.exists():
        return Check("database", State.FINE, "Nothing was explained here yet.")
    said: list[str] = []
    try:
        with open_reader(path, say=said.append) as reader:
            [row] = reader.rows("PRAGMA integrity_check(1)")
            [count] = reader.rows("SELECT count(*) AS n FROM explanation")
    except AfterdError as error:
        return Check("database", State.MISSING, str(error))
    if said:
        return Check("database", State.WORSE, said[0])
    if row["integrity_check"] == "ok":
        return Check("database", State.FINE, f"{path} is sound, with {count['n']} explanations.")
    return Check("database", State.MISSING, str(damage_error(path, str(row["integrity_check"]))))
