"""pytest of before 2023, whose hooks know no ``wrapper``, and of before 2022, whose configuration has no ``stash``."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from afterd.trace.python import record
from afterd.trace.python.record.asserting import REWRITE, take_over_rewriting
from afterd.trace.python.record.importing import Territory
from afterd.trace.python.record.tree import NumberedTree

Hook = Callable[..., object]


def hookimpl(
    function: Hook | None = None,
    *,
    hookwrapper: bool = False,  # noqa: ARG001 - the signature is what matters
    optionalhook: bool = False,  # noqa: ARG001 - as above
    tryfirst: bool = False,  # noqa: ARG001 - as above
    trylast: bool = False,  # noqa: ARG001 - as above
) -> Any:  # noqa: ANN401 - a decorator, or what it decorates
    """As in pluggy 1.0 and older."""
    return function or (lambda each: each)


@pytest.mark.parametrize("module", ["pytest_plugin", "fixtures"])
def test_what_records_tests_is_loaded(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pytest, "hookimpl", hookimpl)
    path = Path(record.__file__).parent / f"{module}.py"
    spec = importlib.util.spec_from_file_location(f"{record.__name__}.{module}_again", path)
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


@pytest.mark.parametrize("names", [set[str](), dict[str, Path]()], ids=["before 7", "since"])
def test_modules_that_pytest_rewrites_are_recorded(
    names: set[str] | dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """datasette: each run ended in an error of ours below pytest 6, and no sentence said that nothing was recorded."""
    hook: Any = importlib.import_module(REWRITE).AssertionRewritingHook
    monkeypatch.setattr(hook, "exec_module", hook.exec_module)  # put back afterwards
    (tmp_path / "lib.py").write_text("assert 1\nfound = 2\n")
    spec = importlib.util.spec_from_file_location("lib", tmp_path / "lib.py")
    assert spec is not None
    module = importlib.util.module_from_spec(spec)

    def compiled(text: bytes, name: str, _asserts: object) -> Any:  # noqa: ANN401 # code
        return compile(text, name, "exec")

    take_over_rewriting(Territory(tmp_path), compiled)
    hook.exec_module(SimpleNamespace(_rewritten_names=names, config=SimpleNamespace()), module)
    assert module.found == 2
    assert "lib" in names


def test_before_pytest_5_its_hook_leaves_modules_to_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """huey: each recorded run of pytest 3.5 ended in an error of ours, and nothing that it did was seen."""

    class AssertionRewritingHook:
        def find_module(self, name: str, path: object = None) -> object:  # noqa: ARG002 - as importers are asked
            return self

    old = SimpleNamespace(AssertionRewritingHook=AssertionRewritingHook)
    monkeypatch.setitem(sys.modules, REWRITE, old)
    take_over_rewriting(Territory(tmp_path), lambda *_: compile("", "lib.py", "exec"))
    assert AssertionRewritingHook().find_module("lib") is None


def test_what_stands_for_an_assert_ends_where_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before pytest 7 it is only said where it begins: no line was in it, and every test failed at its head."""

    def rewritten(tree: ast.Module, *_: object) -> None:
        (asserted,) = (node for node in tree.body if isinstance(node, ast.Assert))
        raising = ast.parse("if not wanted:\n    raise AssertionError").body[0]
        for node in ast.walk(raising):
            for attribute in ("lineno", "col_offset"):
                if attribute in node._attributes:
                    setattr(node, attribute, getattr(asserted, attribute))
            for attribute in ("end_lineno", "end_col_offset"):
                if attribute in node._attributes:
                    setattr(node, attribute, None)
        tree.body[tree.body.index(asserted)] = raising

    module: Any = importlib.import_module(REWRITE)
    monkeypatch.setattr(module, "rewrite_asserts", rewritten)
    monkeypatch.setattr(
        module.AssertionRewritingHook, "exec_module", module.AssertionRewritingHook.exec_module
    )
    (tmp_path / "lib.py").write_text("wanted = (\n    1)\nassert (\n    wanted\n    )\n")
    spec = importlib.util.spec_from_file_location("lib", tmp_path / "lib.py")
    assert spec is not None
    found: list[ast.AST] = []

    def compiled(text: bytes, name: str, asserts: Callable[[ast.Module, bytes], None]) -> Any:  # noqa: ANN401 # code
        tree = ast.parse(text)
        asserts(tree, text)
        found.extend(ast.walk(tree))
        return compile(tree, name, "exec")

    take_over_rewriting(Territory(tmp_path), compiled)
    hook = SimpleNamespace(_rewritten_names={}, config=SimpleNamespace())
    module.AssertionRewritingHook.exec_module(hook, importlib.util.module_from_spec(spec))
    kinds = (ast.If, ast.Raise, ast.UnaryOp)
    ends = {type(each): each.end_lineno for each in found if isinstance(each, kinds)}
    assert ends == dict.fromkeys(kinds, 5)
    (assigned,) = (each for each in found if isinstance(each, ast.Assign))
    assert assigned.end_lineno == 2


def test_imported_names_stand_where_their_statement_does_before_3_10() -> None:
    tree = ast.parse("import os\n\nfrom pathlib import (\n    Path,\n)\n")
    names = [each for each in ast.walk(tree) if isinstance(each, ast.alias)]
    for each in names:
        for attribute in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            delattr(each, attribute)
    lines = NumberedTree(tree).lines()
    assert sorted(lines) == [0, 1, 1, 3, 3]
