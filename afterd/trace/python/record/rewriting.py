"""Modules outside the tree whose asserts pytest rewrites: rewritten once, for all runs.

pytest does so with its plugins (hypothesis has a hundred modules), and keeps the result beside its
bytecode. Where no bytecode is written every run would do it again, which takes a second and more. A
fork takes it from memory instead, by the text it finds on disk, as pytest takes it from its cache.
"""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from types import CodeType
from typing import Any

_REWRITE = "_pytest.assertion.rewrite"


class Rewritten:
    """Code objects by file name and text; filled before a fork, used after it."""

    def __init__(self) -> None:
        self._codes: dict[str, tuple[bytes, CodeType]] = {}

    def rewrite(self, files: Iterable[str]) -> None:
        """Rewrite ahead, where pytest was imported ahead; what cannot be is left to each run.

        What pytest warns of while it rewrites it must say in every run.
        """
        pytest = sys.modules.get(_REWRITE)
        for file in files if pytest is not None else ():
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                try:
                    source = Path(file).read_bytes()
                    tree = ast.parse(source, filename=file)
                    pytest.rewrite_asserts(tree, source, file, None)  # type: ignore[union-attr]
                    code = compile(tree, file, "exec", dont_inherit=True)
                except Exception:  # noqa: BLE001, S112 # another pytest, or no Python: each run will see
                    continue
            if not said:
                self._codes[file] = source, code

    def offer(self) -> None:
        """Have this process's pytest take them as it takes what it finds in its cache."""
        pytest = sys.modules.get(_REWRITE)
        cached: Callable[..., CodeType | None] | None = getattr(pytest, "_read_pyc", None)
        if pytest is None or cached is None or not self._codes:
            return

        def found(source: Path, *rest: Any) -> CodeType | None:  # noqa: ANN401 # pytest's own
            known = self._codes.get(str(source))
            if known is None or _asked_for_more(pytest) or source.read_bytes() != known[0]:
                return cached(source, *rest)
            return known[1]

        pytest._read_pyc = found  # type: ignore[attr-defined] # noqa: SLF001 # the place of its cache


def is_rewritten(loader: object) -> bool:
    """Whether pytest's hook loaded a module."""
    return type(loader).__module__ == _REWRITE


def _asked_for_more(pytest: Any) -> bool:  # noqa: ANN401 # a module
    """Whether the project has a hook called for asserts that hold: they are rewritten otherwise."""
    hooks = (each for each in sys.meta_path if isinstance(each, pytest.AssertionRewritingHook))
    return any(each.config.getini("enable_assertion_pass_hook") for each in hooks)
