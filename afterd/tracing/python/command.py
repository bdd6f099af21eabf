"""What a test command starts: which interpreter, with which options, and what it runs."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_WITH_VALUE = frozenset({"-W", "-X", "--check-hash-based-pycs"})
_SHEBANG_LIMIT = 512


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

    A console script (``pytest``) is a script whose interpreter its first line names.
    """
    program = shutil.which(command[0], path=environment.get("PATH"))
    if program is None and (folder / command[0]).is_file():
        program = str(folder / command[0])
    if program is None:
        return None
    if Path(program).name.startswith(("python", "pypy")):
        return _interpreted(program, command[1:])
    interpreter = shebang(Path(program))
    if interpreter is None:
        return None
    return PythonCommand(interpreter, (), "script", program, tuple(command[1:]))


def _interpreted(program: str, arguments: Sequence[str]) -> PythonCommand | None:
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
            first = file.read(_SHEBANG_LIMIT).splitlines()[:1]
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
