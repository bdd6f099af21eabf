"""What a test's own text has in quotes: the words that it looks for in what a program wrote."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from afterd.limits import C_TRACE

_INTERPRETERS = re.compile(r"(?:sh|bash|dash|ksh|zsh|perl|ruby|tclsh|(?:python|pypy)[\d.]*)$")
_QUOTED = re.compile(r"""'([^'\n]+)'|"((?:[^"\\\n]|\\.)+)\"""")


def quoted_texts(command: Sequence[str], folder: Path) -> tuple[str, ...]:
    """The texts in quotes of a test command, and of the script that it has an interpreter run; none that names a
    path or a variable. ``folder`` is where the command runs.
    """
    texts = [*command, _script(command, folder)]
    found = (
        one or other.replace('\\"', '"') for text in texts for one, other in _QUOTED.findall(text)
    )
    return tuple(dict.fromkeys(each for each in found if "/" not in each and "$" not in each))


def _script(command: Sequence[str], folder: Path) -> str:
    """The text of the script that a command runs; empty where there is none, or it is no text."""
    words = [word for word in command[1:] if not word.startswith("-")]
    named = words[:1] if _INTERPRETERS.match(Path(command[0]).name) else command[:1]
    for name in named:
        try:
            with (folder / name).open("rb") as file:
                return file.read(C_TRACE.test_text).decode()
        except (OSError, ValueError):
            return ""
    return ""
