"""Subscripts as the tracer reads them: Python 3.8 wraps what stands between the brackets."""

from __future__ import annotations

import ast
import sys
from typing import Any

_WRAPS = sys.version_info < (3, 9)
_OLD: Any = ast  # its ``Index`` and ``ExtSlice``, which newer versions have no more


def unwrap_slices(tree: ast.AST) -> None:
    """Have every subscript hold its key, its slice, or a tuple of these, as since Python 3.9."""
    for node in ast.walk(tree) if _WRAPS else ():
        if isinstance(node, ast.Subscript):
            node.slice = _unwrapped(node.slice, node)


def wrap_slices(tree: ast.AST) -> None:
    """The same back, for the compiler of Python 3.8."""
    for node in ast.walk(tree) if _WRAPS else ():
        if isinstance(node, ast.Subscript):
            node.slice = _wrapped(node.slice)


def _unwrapped(key: Any, subscript: ast.Subscript) -> Any:  # noqa: ANN401 # nodes that newer versions have no more
    if isinstance(key, _OLD.Index):
        return key.value
    if isinstance(key, _OLD.ExtSlice):
        several = ast.Tuple([_unwrapped(each, subscript) for each in key.dims], ast.Load())
        return ast.copy_location(several, subscript)
    return key


def _wrapped(key: Any) -> Any:  # noqa: ANN401 # nodes that newer versions have no more
    if isinstance(key, ast.Slice):
        return key
    if isinstance(key, ast.Tuple) and any(isinstance(each, ast.Slice) for each in key.elts):
        return _OLD.ExtSlice([_wrapped(each) for each in key.elts])
    return _OLD.Index(key)
