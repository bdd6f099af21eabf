"""The programs that read what a language's own coverage wrote."""

from __future__ import annotations

from pathlib import Path

from afterd.execution.environment import scrubbed_environment
from afterd.execution.process import Command
from afterd.execution.recipe import Recipe
from afterd.execution.sandbox import run


def tool_said(argv: tuple[str, ...], folder: Path, recipe: Recipe) -> tuple[bool, str]:
    """Whether a program succeeded, and what it printed; it may take as long as a build."""
    result = run(Command(argv, folder, scrubbed_environment()), recipe.limits.build)
    try:
        return result.succeeded, result.stdout.text(recipe.limits.build.output)
    finally:
        result.remove()
