"""Statements of a variant that came to stand in another function than in the version they are from.

Where changes cut through a definition, one added the head of a new function and another its end. With only the head
undone, the end stands in the function before it: the text parses, names are bound, and what it does is of no version. A
function that was only renamed is none that was added.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import cached_property

from afterd.weights import SIMILARITY

Stand = tuple[str, str]
"""A function, by the classes and functions around it, and the first line of a statement in it; its own head too."""

_HEADS = ("def ", "async def ")


def stands_of(tree: ast.Module, text: str) -> Iterator[Stand]:
    """Where the statements of functions stand."""
    lines = text.splitlines()
    waiting: list[tuple[ast.AST, str, str]] = [(tree, "", "")]
    while waiting:
        node, scope, function = waiting.pop()
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            scope = f"{scope}.{node.name}".removeprefix(".")
            if not isinstance(node, ast.ClassDef):
                function = scope
        if isinstance(node, ast.stmt) and function and not _is_docstring(node):
            yield function, lines[node.lineno - 1].strip()
        below = (ast.stmt, ast.ExceptHandler, ast.match_case)
        waiting.extend(
            (child, scope, function)
            for child in ast.iter_child_nodes(node)
            if isinstance(child, below)
        )


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


@dataclass(frozen=True)
class Ends:
    """Where the statements of one file stand in the bad and in the good version."""

    bad: Set[Stand]
    good: Set[Stand]

    def strayed(self, variant: Set[Stand]) -> Iterator[tuple[Stand, str]]:
        """What stands in a variant where it stands in neither version, with the line whose undoing would mend it: new
        text in a function that both have, as its own is gone; old text in a function that was added.
        """
        functions = {function for function, _ in variant}
        for function, line in variant - self.bad - self.good:
            if function in self._in_both:
                own = self._bad_functions.get(line)
                if own and line not in self._good_lines and functions.isdisjoint(own):
                    yield (function, line), line
            elif function in self._added and line not in self._bad_functions:
                yield (function, line), self._added[function]

    @cached_property
    def _in_both(self) -> set[str]:
        return {function for function, _ in self.bad} & {function for function, _ in self.good}

    @cached_property
    def _bad_functions(self) -> dict[str, set[str]]:
        """In which functions of the bad version a line stands."""
        found: dict[str, set[str]] = {}
        for function, line in self.bad:
            found.setdefault(line, set()).add(function)
        return found

    @cached_property
    def _good_lines(self) -> set[str]:
        return {line for _, line in self.good}

    @cached_property
    def _added(self) -> dict[str, str]:
        """The functions that only the bad version has, and that none of the good one became, with their heads."""
        mine, others = _lines_by_function(self.bad), _lines_by_function(self.good)
        gone = [lines for function, lines in others.items() if function not in mine]
        return {
            function: head
            for function, lines in mine.items()
            if function not in others
            and not any(_became(before, lines) for before in gone)
            and (head := next((line for line in lines if line.startswith(_HEADS)), ""))
        }


def _lines_by_function(stands: Set[Stand]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for function, line in stands:
        found.setdefault(function, set()).add(line)
    return found


def _became(before: set[str], after: set[str]) -> bool:
    """Whether half of what one function says is what the other does, but for its head."""
    one, other = (
        {line for line in each if not line.startswith(_HEADS)} for each in (before, after)
    )
    return len(one & other) >= SIMILARITY.body * min(len(one), len(other))
