"""What can be benchmarked: a program with a failing test whose cause is known."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from afterd.bench.judgement import Answer
from afterd.errors import AfterdError, UsageError


class UnavailableError(AfterdError):
    """A case cannot be asked on this machine; the sentence says what is missing."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A case made real: a repository at ``path`` with two commits, and its commands."""

    path: Path
    good: str
    bad: str
    build: tuple[str, ...]
    test: tuple[str, ...]


class Case(Protocol):
    """A regression with a known cause. ``answers`` are the change sets that are right."""

    @property
    def name(self) -> str:
        """As it stands in the table."""
        ...

    @property
    def answers(self) -> Sequence[Answer]:
        """The right ones; the first is the one that was written down as guilty."""
        ...

    def prepare(self, directory: Path) -> Prepared:
        """Make the repository in ``directory``, which does not exist yet.

        Raises UnavailableError when what it is made of cannot be had here.
        """
        ...


Some = TypeVar("Some", bound=Case)


def selected_cases(cases: Sequence[Some], names: Sequence[str]) -> list[Some]:
    """The cases of these names, or below them (``brindle`` for ``brindle/crash``); none: all.

    Raises UsageError for a name that is none.
    """
    known = [case.name for case in cases]
    for name in names:
        if not any(_case_belongs(case, name) for case in known):
            near = difflib.get_close_matches(name, known, n=3) or known
            raise UsageError(f"There is no case {name!r}; there are {', '.join(near)}.")
    return [case for case in cases if not names or any(_case_belongs(case.name, n) for n in names)]


def _case_belongs(case: str, name: str) -> bool:
    return case == name or case.startswith(f"{name}/")
