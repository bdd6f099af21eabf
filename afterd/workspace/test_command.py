"""A command that was given: whose runner it starts, where that imports from, and one test alone.

A command may import the user's checkout: an editable install (``pip install -e .``), and a
``PYTHONPATH`` of the user's, name folders of it. Every variant would be tested with the bad version's
code, so the same folders of the slot go before them.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path

from afterd.execution.recipe import SLOT, with_assignments
from afterd.execution.runners import GIVEN
from afterd.execution.runners.cmake import literally
from afterd.execution.runners.go import anchored_pattern
from afterd.execution.runners.interpreters import Asked, ask
from afterd.execution.runners.python import home_folder
from afterd.trace.python.stage import (
    of_shell,
    python_command,
    text_for_shell,
    without_quoted,
)

_OLDEST_FOR_PLUGIN = (3, 6)


def asked_interpreter(
    command: Sequence[str], environment: Mapping[str, str], checkout: Path
) -> Asked | None:
    """What the interpreter says of itself that a command starts; None where it starts none, or nothing is said."""
    python = python_command(command, environment, checkout)
    return None if python is None else ask(python.interpreter, (), Path("/"), environment)


def takes_plugin(asked: Asked | None) -> bool:
    """Whether a Python is new enough for afterd's plugin for pytest, as far as is known. Without it what the tests
    print tells them apart.
    """
    return asked is None or asked.version >= _OLDEST_FOR_PLUGIN


def import_paths(asked: Asked | None, environment: Mapping[str, str], checkout: Path) -> str:
    """``PYTHONPATH`` for a command that starts Python: folders of the slot in place of the checkout's.

    Empty where the interpreter imports nothing from there, or is not known.
    """
    inherited = environment.get("PYTHONPATH", "")
    folders = dict.fromkeys(home_folder(entry, checkout) for entry in asked.paths) if asked else {}
    own = [f"{SLOT}/{folder}".removesuffix("/.") for folder in folders if folder]
    return os.pathsep.join([*own, *filter(None, [inherited])]) if own else ""


_PYTHON = re.compile(r"(?:python|pypy)[\d.]*|pytest|py\.test")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_WITH_ASSIGNMENTS = re.compile(
    r"(?:env\s+)?(?P<assigned>(?:[A-Za-z_]\w*=[\w./:@%+,-]*\s+)+)(?P<rest>\S.*)", re.DOTALL
)
_PROGRAM = re.compile(r"(?:'[^']*'|\S)+")
_SEVERAL_COMMANDS = re.compile(r"[;&|\n`$()]")


def without_assignments(command: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The assignments that a command which starts Python begins with, as in ``PYTHONPATH=src pytest``, and the
    rest of it; of another command none.

    What a command sets for itself hides what afterd sets: nothing would be recorded.
    """
    words = of_shell(command) or _led_by_assignments(command) or tuple(command)
    start = 1 if words and Path(words[0]).name == "env" else 0
    assigned = tuple(takewhile(_ASSIGNED.fullmatch, words[start:]))
    rest = words[start + len(assigned) :]
    if not (assigned and rest and _starts_python(rest)):
        return (), tuple(command)
    return assigned, rest


def _starts_python(command: Sequence[str]) -> bool:
    """Whether a command is Python's, or a shell's that has a pattern or a redirection to look at first."""
    named = _PROGRAM.match(_simple_command(command))
    program = named[0].strip("'") if named else command[0]
    return bool(_PYTHON.fullmatch(Path(program).name))


def _led_by_assignments(command: Sequence[str]) -> tuple[str, ...]:
    """A simple command of a shell with what it sets for itself in front of the shell; empty where it sets nothing."""
    found = _WITH_ASSIGNMENTS.fullmatch(_simple_command(command))
    return (*found["assigned"].split(), *command[:2], found["rest"]) if found else ()


def _simple_command(command: Sequence[str]) -> str:
    """The one command of a shell that needs one for a pattern or a redirection alone; empty for any other."""
    text = "" if of_shell(command) else text_for_shell(command).strip()
    return "" if _SEVERAL_COMMANDS.search(without_quoted(text)) else text


def typed_command(command: Sequence[str]) -> tuple[str, ...]:
    """A command as it is kept: what it sets for itself is set by ``env``, without a shell."""
    return with_assignments(*without_assignments(command))


def assigned_variables(assigned: Sequence[str]) -> dict[str, str]:
    """The variables of assignments; folders of an import path that they name are those of the slot."""
    found = dict(each.split("=", 1) for each in assigned)
    if entries := found.get("PYTHONPATH"):
        found["PYTHONPATH"] = os.pathsep.join(map(_in_slot, entries.split(os.pathsep)))
    return found


def _in_slot(entry: str) -> str:
    """A folder that a command names from where it is run."""
    return entry if Path(entry).is_absolute() else str(Path(SLOT, entry))


_OF_ENVIRONMENT = re.compile(r"(?<![\w./-])(?:\./)?((?:[\w.-]+/)+(?:bin|\.bin)/[\w.+-]+)")


def with_environment_of(command: Sequence[str], checkout: Path) -> tuple[str, ...]:
    """A command whose programs out of an environment in the checkout (``.venv/bin/python``,
    ``node_modules/.bin/tap``) are named by their whole path: a slot has no file that git ignores.
    """

    def placed(match: re.Match[str]) -> str:
        program = checkout / match[1]
        home = program.parent.parent
        of_environment = home.name == "node_modules" or (home / "pyvenv.cfg").is_file()
        if not (of_environment and os.access(program, os.X_OK)):
            return match[0]
        return str(program) if match[0] == match.string else shlex.quote(str(program))

    return tuple(_OF_ENVIRONMENT.sub(placed, word) for word in command)


_STARTS = {
    ("ctest",): "CTest",
    ("meson", "test"): "Meson",
    ("go", "test"): "Go",
    ("cargo", "test"): "Cargo",
}
_TAKES_VALUE = frozenset({"-k", "-m", "-p", "-c", "-o", "-n", "-r", "-W"})
_IGNORES_ENVIRONMENT = re.compile(r"-[a-zA-Z]*[EI]")


def runner_of(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> str:
    """The runner that a command starts directly; ``GIVEN`` where that is not known.

    Its tests are told apart all the same, where their names are in the output.
    """
    words = of_shell(command) or tuple(command)
    for start, runner in _STARTS.items():
        if (Path(words[0]).name, *words[1 : len(start)]) == start:
            return runner
    python = python_command(words, environment, folder)
    if python is None or any(map(_IGNORES_ENVIRONMENT.match, python.options)):
        return GIVEN
    name = Path(python.name).name
    if name in {"pytest", "py.test"}:
        return "pytest"
    return "unittest" if (python.target, name) == ("module", "unittest") else GIVEN


def command_of_tests(command: Sequence[str], runner: str, *tests: str) -> tuple[str, ...]:
    """The command that runs one test or several as the given one does; () where that is not known.

    It is no harm if it runs more: a test's outcome is read off its own lines.
    """
    words = of_shell(command) or tuple(command)
    match runner:
        case "pytest":
            return (*_without_places(words), *tests)
        case "unittest":
            patterns = (pattern for test in tests for pattern in (f"*{test}", f"*{test}.*"))
            return (*words, *(word for pattern in patterns for word in ("-k", pattern)))
        case "CTest":
            return (*words, "-R", "|".join(map(literally, tests)))
        case "Meson":
            return (*words, *tests)
        case "Go" if len(tests) == 1 and " " in tests[0]:
            return (*words, "-count=1", "-run", anchored_pattern(tests[0].partition(" ")[2]))
        case "Cargo":
            return (*words, *(() if "--" in words else ("--",)), "--exact", *tests)
    return ()


def verbose_command(command: Sequence[str]) -> tuple[str, ...]:
    """A command of unittest's that runs the same tests, and says of each that it begins."""
    return (*(of_shell(command) or command), "-v")


def _without_places(words: Sequence[str]) -> Iterator[str]:
    """Pytest's command line without the files and folders to look for tests in.

    A word after a long option may be its value, and is kept.
    """
    started = False
    for before, word in zip(("", *words), words, strict=False):
        is_value = before in _TAKES_VALUE or (before.startswith("--") and "=" not in before)
        if not started or word.startswith("-") or is_value:
            yield word
        started = started or Path(word).name in {"pytest", "py.test"}
