"""Modules that are run: what they run is defined by then."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import afterd

PACKAGE = Path(afterd.__file__).parent
RUN = [path for path in sorted(PACKAGE.rglob("*.py")) if "\nif __name__ ==" in path.read_text()]


@pytest.mark.parametrize("path", RUN, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_is_defined_after_the_module_was_run(path: Path) -> None:
    """A module that took up another one ran before that one's classes were there."""
    last = ast.parse(path.read_text()).body[-1]
    assert isinstance(last, ast.If)
