"""What a test command starts: which interpreter, with which options, and what it runs."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from afterd.limits import PYTHON_TRACE
from afterd.trace.python.record.importing import NEVER

_TESTS = ("test_*.py", "*_test.py")
_WITH_VALUE = frozenset({"-W", "-X", "--check-hash-based-pycs"})
_SHELLS = frozenset({"sh", "bash", "dash"})
_ASSIGNED_PATH = re.compile(r"(?<!\w)PYTHONPATH=(?=[^\s;&|])")
_SINGLE_QUOTED = re.compile(r"'[^']*'")
_MEANT_FOR_SHELLS = re.compile(r"[^\w\s./:,@%+=\"-]|\n")


@dataclass(frozen=True, slots=True)
class PythonCommand:
    """``interpreter options -m name argv`` (target module) or ``… name argv`` (target script)."""

    interpreter: str
    options: tuple[str, ...]
    target: str
    name: str
    argv: tuple[str, ...]


def python_command(
    command: Sequence[str], environment: Mapping[str, str], folder: Path
) -> PythonCommand | None:
    """The parts of a command that starts Python directly; None for anything else.

    A console script (``pytest``) is a script whose interpreter its first line names. A shell that has
    nothing to do but to start one command (``sh -c 'python -m pytest'``) is looked through.
    """
    command = of_shell(command) or command
    program = shutil.which(command[0], path=environment.get("PATH"))
    if program is None and os.path.isfile(folder / command[0]):  # noqa: PTH113 - no error for a long name
        program = str(folder / command[0])
    if program is None:
        return None
    if Path(program).name.startswith(("python", "pypy")):
        return _interpreted_command(program, command[1:])
    interpreter = shebang(Path(program))
    if interpreter is None:
        return None
    return PythonCommand(interpreter, (), "script", program, tuple(command[1:]))


def folders_beside(command: Sequence[str]) -> tuple[str, ...]:
    """The folders of the Python files that a command names by where they lie, whatever tree it is run in: a test
    that is younger than the versions it is run at is kept where no checkout touches it.

    A file is named by its absolute path, with or without a test in it (``/tmp/test_new.py::test_it``); a folder
    that is named counts where tests lie in it.
    """
    named = {Path(word.partition("::")[0]) for word in _words(command) if word.startswith("/")}
    found = {path.parent for path in named if path.suffix == ".py" and path.is_file()}
    found |= {
        path for path in named if path.is_dir() and any(any(path.glob(each)) for each in _TESTS)
    }
    folders = {same for each in found for same in (each, each.resolve())}
    return tuple(sorted(str(each) for each in folders if NEVER.isdisjoint(each.parts)))


def _words(command: Sequence[str]) -> list[str]:
    """The words of a command, and of what it gives a shell."""
    words: list[str] = []
    for argument in command:
        try:
            words += shlex.split(argument)
        except ValueError:
            words.append(argument)
    return words


def text_for_shell(command: Sequence[str]) -> str:
    """The text that a shell is started for (``sh -c text``); empty for any other command."""
    if len(command) != len(("sh", "-c", "text")) or command[1] != "-c":
        return ""
    return command[2] if Path(command[0]).name in _SHELLS else ""


def beside_own_paths(command: Sequence[str], variable: str) -> tuple[str, ...]:
    """A shell's text in which whatever is assigned to ``PYTHONPATH`` has the folders in front that the ``variable`` of
    the environment holds: what a text sets for itself (``cd lib && PYTHONPATH=. pytest``) hides what is set around it.
    """
    text = text_for_shell(command)
    beside = _ASSIGNED_PATH.sub(f'PYTHONPATH="${variable}":', text)
    return (*command[:2], beside) if text else tuple(command)


def without_quoted(text: str) -> str:
    """A text for a shell without what it takes as it stands, between single quotes."""
    return _SINGLE_QUOTED.sub("", text)


def of_shell(command: Sequence[str]) -> tuple[str, ...]:
    """The one command that a shell is to start, if there is nothing in it that a shell gives a meaning.

    Empty for anything else.
    """
    text = text_for_shell(command)
    if _MEANT_FOR_SHELLS.search(without_quoted(text)):
        return ()
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return ()


def _interpreted_command(program: str, arguments: Sequence[str]) -> PythonCommand | None:
    position = 0
    while position < len(arguments):
        argument = arguments[position]
        if argument == "-m" and position + 1 < len(arguments):
            rest = tuple(arguments[position + 2 :])
            options = tuple(arguments[:position])
            return PythonCommand(program, options, "module", arguments[position + 1], rest)
        if not argument.startswith("-"):
            rest = tuple(arguments[position + 1 :])
            return PythonCommand(program, tuple(arguments[:position]), "script", argument, rest)
        if argument in {"-c", "-"}:
            return None
        position += 2 if argument in _WITH_VALUE else 1
    return None


def shebang(script: Path) -> str | None:
    """The Python interpreter that a script's first line names."""
    try:
        with script.open("rb") as file:
            first = file.read(PYTHON_TRACE.shebang).splitlines()[:1]
    except OSError:
        return None
    line = first[0].decode(errors="replace") if first else ""
    if not line.startswith("#!"):
        return None
    words = line[2:].split()
    if words and Path(words[0]).name == "env":
        words = words[1:]
    found = shutil.which(words[0]) if words else None
    return found if found and Path(found).name.startswith(("python", "pypy")) else None
