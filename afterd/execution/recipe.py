"""How a variant is built and tested: the commands, where they run, and with which environment."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path

from afterd.execution.confinement import current_confinement
from afterd.execution.environment import (
    NODE_OPTIONS,
    REPEATABLE,
    digest,
    names_test_outside,
    node_options,
    scrubbed_environment,
)
from afterd.execution.process import Command
from afterd.limits import Limits
from afterd.model.explanation import THE_BUILD

SLOT = "{slot}"
"""Stands for the slot's directory in ``Recipe.extra``; its tree has another path in each slot."""

_IN_FOLDER = 'cd "$0" && exec "$@"'
_INTERPRETER = re.compile(r"/.*/python[\d.]*")
_OURS = frozenset({"PATH"})
"""Variables of ``Recipe.extra`` that a container has its own of."""


class Scope(Enum):
    """What of a test command's run the test is."""

    WHOLE = auto()  # the command is the test
    ALONE = auto()  # a test that its runner was asked to run alone
    AMONG = auto()  # one of the tests that the command runs


@dataclass(frozen=True, slots=True)
class Recipe:
    """Build command (empty: none), test command, and their surroundings.

    ``test_id`` names the test in reports and caches. ``told_by`` is the runner that tells the tests of
    a run apart (empty: they need not be), ``scope`` which of them is meant. ``folder`` is where the commands run, below
    the slot. ``assigned`` is what the test command set for itself when it was given, and ``extra`` sets now.
    ``extra`` is set on top of the scrubbed environment. ``tools`` is whatever else the
    outcome depends on, such as the compiler's version: it only goes into the cache key. ``generated`` are
    files of the checkout, with their text, that git ignores and a build elsewhere would have made: they
    are put where a tree lacks them. ``container`` is the command that what is built and tested runs behind
    (``docker run … IMAGE``, empty: none).
    """

    test: tuple[str, ...]
    build: tuple[str, ...] = ()
    test_id: str = ""
    folder: str = "."
    extra: Mapping[str, str] = field(default_factory=dict)
    tools: str = ""
    told_by: str = ""
    scope: Scope = Scope.WHOLE
    generated: Mapping[str, str] = field(default_factory=dict)
    assigned: tuple[str, ...] = ()
    container: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)

    def environment(self, slot: Path) -> dict[str, str]:
        """The whole environment of a command in ``slot``.

        Git looks for a repository no higher than the slot: its parents belong to the user. Jest finds tests
        there (``environment``); where afterd is installed is no part of what an outcome depends on.
        """
        extra = {name: value.replace(SLOT, str(slot)) for name, value in self.extra.items()}
        found = self.scrubbed({"GIT_CEILING_DIRECTORIES": str(slot.parent), **extra})
        return {**found, NODE_OPTIONS: node_options(found.get(NODE_OPTIONS, ""))}

    def scrubbed(self, extra: Mapping[str, str]) -> dict[str, str]:
        """Afterd's own environment as a command gets it, with ``extra`` on top."""
        return scrubbed_environment(extra=extra, outside=names_test_outside(self.test))

    def build_in(self, slot: Path) -> Command:
        """The build command in ``slot``, its diagnostics in the order they were written."""
        argv = self._contained(self.build, slot)
        return Command(argv, slot / self.folder, self.environment(slot), merge=True)

    def test_in(self, slot: Path) -> Command:
        """The test command in ``slot``."""
        argv = self._contained(self.test, slot)
        return Command(argv, slot / self.folder, self.environment(slot))

    def _contained(self, argv: tuple[str, ...], slot: Path) -> tuple[str, ...]:
        """A command as it runs in the container, which inherits nothing: neither the folder nor variables.

        What names places of this machine (its ``PATH``, an interpreter) has no meaning there.
        """
        if not self.container or not argv:
            return argv
        prefix = (word.replace(SLOT, str(slot)) for word in self.container)
        extra = {name: value.replace(SLOT, str(slot)) for name, value in self.extra.items()}
        there = {**REPEATABLE, **extra}
        if _INTERPRETER.fullmatch(argv[0]):
            argv = ("python3", *argv[1:])
        assigned = (f"{name}={value}" for name, value in there.items() if name not in _OURS)
        return (*prefix, "sh", "-c", _IN_FOLDER, str(slot / self.folder), "env", *assigned, *argv)

    @property
    def is_a_build(self) -> bool:
        """Whether the test is the build itself: nothing of it is a run of the program."""
        return self.test_id == THE_BUILD

    @property
    def typed(self) -> tuple[str, ...]:
        """The test command as it can be run by hand."""
        return with_assignments(self.assigned, self.test)

    @property
    def words(self) -> str:
        """All that the build and the test are told: macros may be among it."""
        known = scrubbed_environment(extra=self.extra).values()
        return "\n".join((*self.build, *self.test, *self.assigned, *known))

    @property
    def build_key(self) -> str:
        """Which build this is, surroundings included: objects of another are of no use to it."""
        return _digest(self.folder, self.environment_digest, "\0", *self.build)

    @property
    def command_digest(self) -> str:
        """Which build and test this is, for cache keys."""
        return _digest(self.folder, *self.build, "\0", *self.test)

    @property
    def environment_digest(self) -> str:
        """Which surroundings these are, for cache keys; slots do not differ in them."""
        text = digest(self.scrubbed(self.extra))
        made = (part for item in sorted(self.generated.items()) for part in item)
        held = filter(None, [current_confinement().key, *self.container])
        return _digest(text, self.tools, *made, *held)


def _digest(*parts: str) -> str:
    text = "\0\0".join(parts)
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:16]


def with_assignments(assigned: Sequence[str], command: Sequence[str]) -> tuple[str, ...]:
    """A command for which ``env`` sets variables, without a shell; itself where there are none."""
    return ("env", *assigned, *command) if assigned else tuple(command)


def import_path(recipe: Recipe) -> tuple[dict[str, str], tuple[str, ...]]:
    """What is added to the environment, and the folders of the slot's tree that ``PYTHONPATH`` names."""
    extra = dict(recipe.extra)
    entries = [entry for entry in extra.pop("PYTHONPATH", "").split(":") if entry]
    if elsewhere := [entry for entry in entries if not entry.startswith(SLOT)]:
        extra["PYTHONPATH"] = ":".join(elsewhere)
    own = (entry for entry in entries if entry.startswith(SLOT))
    return extra, tuple(entry.removeprefix(SLOT).strip("/") or "." for entry in own)
