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
from typing import TYPE_CHECKING, Any

from .importing import Territory

if TYPE_CHECKING:
    from typing import TypeAlias

REWRITE = "_pytest.assertion.rewrite"
Compile: TypeAlias = "Callable[[bytes, str, Callable[[ast.Module, bytes], None]], CodeType]"


def take_over_rewriting(territory: Territory, compile_module: Compile) -> None:
    """Have pytest's hook, which was imported, load the tree's modules through ``compile_module``. Before pytest 5 it
    compiles what it only finds, so there it finds nothing: asserts stay as they are, and are recorded as such.
    """
    rewrite: Any = sys.modules[REWRITE]
    original = getattr(rewrite.AssertionRewritingHook, "exec_module", None)
    if original is None:
        rewrite.AssertionRewritingHook.find_module = _finds_nothing
        return

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
            ends = _ends_of_asserts(tree)
            rewrite.rewrite_asserts(tree, source, filename, self.config)
            _end_rewritten(tree, ends)

        code = compile_module(Path(filename).read_bytes(), filename, asserts)
        exec(code, module.__dict__)  # noqa: S102 # what a loader does

    rewrite.AssertionRewritingHook.exec_module = exec_module


def _finds_nothing(self: object, name: str, path: object = None) -> None:  # as importers are asked
    """The answer of a hook that leaves a module to the next one."""


Place: TypeAlias = "tuple[int, int]"  # line and column


def _ends_of_asserts(tree: ast.Module) -> dict[Place, Place]:
    """Where each assert ends, by where it begins."""
    found = (node for node in ast.walk(tree) if isinstance(node, ast.Assert))
    return {
        (node.lineno, node.col_offset): (node.end_lineno or 0, node.end_col_offset or 0)
        for node in found
    }


def _end_rewritten(tree: ast.Module, ends: dict[Place, Place]) -> None:
    """Have what stands for an assert end where that does: pytest of before 7 only says where it begins, and no line
    was in it.
    """
    for node in ast.walk(tree) if ends else ():
        end = ends.get((getattr(node, "lineno", 0), getattr(node, "col_offset", 0)))
        if end is not None and isinstance(node, (ast.stmt, ast.expr)):
            node.end_lineno, node.end_col_offset = end
