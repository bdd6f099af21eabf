"""Changes that only import: names in another order, from where they are now, or for what other lines do with them.

What is imported by a name that the good version has not in its module, or that is what it was there, does nothing by
itself: who reads the name was changed as well, or has what it had.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from afterd.compare.python.alignment import Alignment
from afterd.model.change import Change, ChangeForm, ChangeId
from afterd.model.location import LineSpan
from afterd.trace.python.read import IMPORTS, MODULE_SCOPE, Module, Node, Steps, bound_name

_COMMENT = "#"


class Imports:
    """Imports of the failing version beside green's; ``as_green`` says of a row whether its value is green's."""

    def __init__(self, steps: Steps, alignment: Alignment, as_green: Callable[[int], bool]) -> None:
        self._steps = steps
        self._alignment = alignment
        self._as_green = as_green
        self._modules = {each.path: each for each in alignment.bad.all_modules()}
        self._green_modules = {each.path: each for each in alignment.green.all_modules()}

    def mere(self, changes: Iterable[Change]) -> Iterator[ChangeId]:
        """The changes that import, and do nothing else that either run could tell."""
        for change in changes:
            mine, other = self._modules.get(change.file), self._green_modules.get(change.old_file)
            if change.form is not ChangeForm.HUNK or mine is None or other is None:
                continue
            here, there = _imports_in(mine, change.new), _imports_in(other, change.old)
            if here is None or there is None or not (here or there):
                continue
            names = chain.from_iterable(each["names"] for each in here)
            if all(self._tells_nothing(name, other) for name in names):
                yield change.id

    def _tells_nothing(self, alias: Node, other: Module) -> bool:
        rows = self._alignment.bad.at_site(alias)
        if not rows:
            return True
        if self._alignment.row(rows[-1]) is not None:
            return self._as_green(rows[-1])
        name = bound_name(alias)
        known = alias.frame.type != "Module" or other.bindings(MODULE_SCOPE, name)
        return not known and not hasattr(builtins, name) and not self._loads(alias)

    def _loads(self, alias: Node) -> bool:
        """Whether a module of the program may have been loaded for it that green's run never loaded."""
        names, statement = self._steps.cells.names, alias.parent
        module = (
            names.imported(statement)
            if statement is not None and statement.type == "ImportFrom"
            else names.module_named(alias["name"])
        )
        return module is not None and module.root not in self._alignment.matching.good


def _imports_in(module: Module, span: LineSpan) -> list[Node] | None:
    """The import statements of a span of lines; None where anything else stands there."""
    lines = {line for line in range(span.start, span.end) if _says_something(module, line)}
    found = [
        node
        for node in module.of_type(*IMPORTS)
        if not lines.isdisjoint(range(node.line, node.end_line + 1))
    ]
    covered = {line for node in found for line in range(node.line, node.end_line + 1)}
    return found if lines <= covered else None


def _says_something(module: Module, line: int) -> bool:
    text = module.text[line - 1].strip() if 0 < line <= len(module.text) else ""
    return bool(text) and not text.startswith(_COMMENT)
