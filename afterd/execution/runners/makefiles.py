"""A makefile with what it includes, read without make: make would run the commands that it holds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from afterd.execution.runners.reading import text

_INCLUDE = re.compile(r"^[ ]*(?:-|s)?include[ \t]+(?P<files>[^#\n]+)", re.MULTILINE)
_VARIABLE = re.compile(
    r"^[ ]*(?:override +|export +)?(?P<name>[\w.-]+)[ \t]*[:?]{0,2}=[ \t]*(?P<value>[^#\n]*?)[ \t]*$",
    re.MULTILINE,
)


def makefile_text(root: Path, name: str) -> str:
    """The makefile ``name`` of the checkout ``root``, followed by the files that it includes, each once.

    A file is included where the variables in its name are given by plain assignments before it; one that is
    named by a function, or lies outside of the checkout, is passed over.
    """
    return "\n".join(_texts(root, name, {}, set()))


def _texts(root: Path, name: str, variables: dict[str, str], seen: set[Path]) -> Iterator[str]:
    path = (root / name).resolve()
    if path in seen or not path.is_relative_to(root.resolve()):
        return
    seen.add(path)
    own = text(path)
    yield own
    variables.update((match["name"], match["value"]) for match in _VARIABLE.finditer(own))
    for include in _INCLUDE.finditer(own):
        for file in _without_variables(include["files"], variables).split():
            yield from _texts(root, file, variables, seen)


def _without_variables(words: str, variables: dict[str, str]) -> str:
    """The words with what plain assignments say of their variables; each is asked once, as one may hold itself."""
    for name, value in variables.items():
        for use in (f"$({name})", f"${{{name}}}"):
            words = words.replace(use, value)
    return words
