"""Outcomes that need no run: the key they are kept under, and who keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from afterd.execution.recipe import Recipe
from afterd.model.outcome import Outcome

BUILD_ONLY = "\0build"
"""Stands for the test where a key is of a build alone (no runner can name a test so)."""


@dataclass(frozen=True, slots=True)
class OutcomeKey:
    """Everything an outcome depends on; ``command`` and ``environment`` are digests."""

    tree: str
    test: str
    command: str
    environment: str


class OutcomeCache(Protocol):
    """Keeps outcomes between sessions. A failure is kept with its own signature, whatever failure
    was under explanation, so that an outcome serves every later question.
    """

    def get(self, key: OutcomeKey) -> Outcome | None:
        """The outcome under ``key``, if one is kept."""
        ...

    def put(self, key: OutcomeKey, outcome: Outcome) -> None:
        """Keep ``outcome``; only such as another run would show again are offered."""
        ...


class MemoryCache:
    """Outcomes of this session alone."""

    def __init__(self) -> None:
        self._kept: dict[OutcomeKey, Outcome] = {}

    def get(self, key: OutcomeKey) -> Outcome | None:
        """The outcome under ``key``, if one is kept."""
        return self._kept.get(key)

    def put(self, key: OutcomeKey, outcome: Outcome) -> None:
        """Keep ``outcome``."""
        self._kept[key] = outcome


def key_of_test(recipe: Recipe, tree: str) -> OutcomeKey:
    """The key of testing ``tree``."""
    return OutcomeKey(tree, recipe.test_id, recipe.command_digest, recipe.environment_digest)


def key_of_build(recipe: Recipe, tree: str) -> OutcomeKey:
    """The key of only building ``tree``."""
    return OutcomeKey(tree, BUILD_ONLY, recipe.build_key, recipe.environment_digest)
