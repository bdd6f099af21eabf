"""The tree's modules whose asserts pytest rewrites: rewritten first, then instrumented.

pytest loads the plugins that are installed before those that the environment names, ours among them. Of a
project that is such a plugin all modules were loaded by then. So pytest's hook is taken over as soon as
there is one.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from .importing import Territory

REWRITE = "_pytest.assertion.rewrite"
Compile = Callable[[bytes, str, Callable[[ast.Module, bytes], None]], CodeType]


def take_over_rewriting(territory: Territory, compile_module: Compile) -> None:
    """Have pytest's hook, which was imported, load the tree's modules through ``compile_module``."""
    rewrite: Any = sys.modules[REWRITE]
    original = rewrite.AssertionRewritingHook.exec_module

    def exec_module(self: Any, module: ModuleType) -> None:  # noqa: ANN401 # pytest's hook
        """Like pytest's hook, without its bytecode cache."""
        filename = None if module.__spec__ is None else module.__spec__.origin
        if filename is None or not territory.owns(filename):
            original(self, module)
            return
        known = self._rewritten_names
        if isinstance(known, set):  # before pytest 7
            known.add(module.__name__)
        else:
            known[module.__name__] = Path(filename)

        def asserts(tree: ast.Module, source: bytes) -> None:
            rewrite.rewrite_asserts(tree, source, filename, self.config)

        code = compile_module(Path(filename).read_bytes(), filename, asserts)
        exec(code, module.__dict__)  # noqa: S102 # what a loader does

    rewrite.AssertionRewritingHook.exec_module = exec_module
