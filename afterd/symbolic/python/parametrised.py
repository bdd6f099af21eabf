"""The values of one case of a parametrised pytest test, as statements."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import product


class NotLiftedError(Exception):
    """A test cannot be written with other numbers; the message is a sentence's end."""


def given_parameters(function: ast.FunctionDef, case: str) -> list[ast.stmt]:
    """Assignments that stand for the case ``3-25`` of a test, which loses its parameters for it.

    ``case`` is what pytest shows in brackets; a test without parameters has none. Raises
    NotLiftedError where the case's values are not to be found in its decorators.
    """
    decorators = [d for d in function.decorator_list if _is_parametrize(d)]
    function.decorator_list = [d for d in function.decorator_list if d not in decorators]
    rows = [list(_rows(d)) for d in reversed(decorators) if isinstance(d, ast.Call)]
    for chosen in product(*rows):
        if "-".join(shown for shown, _ in chosen) == case:
            values = {name: value for _, row in chosen for name, value in row}
            function.args.args = [a for a in function.args.args if a.arg not in values]
            return [
                ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), function)
                for name, value in values.items()
            ]
    raise NotLiftedError(f"the parameters [{case}] of {function.name} are not written at the test")


def _is_parametrize(decorator: ast.expr) -> bool:
    return (
        isinstance(decorator, ast.Call)
        and isinstance(decorator.func, ast.Attribute)
        and decorator.func.attr == "parametrize"
    )


def _rows(decorator: ast.Call) -> Iterator[tuple[str, list[tuple[str, ast.expr]]]]:
    """The cases of a decorator: what pytest shows of each, and its values by name."""
    if len(decorator.args) < 2:  # by keywords, or not understood
        return
    names = _names(decorator.args[0])
    listed = decorator.args[1]
    if not isinstance(listed, ast.List | ast.Tuple):
        return
    given = next((k.value for k in decorator.keywords if k.arg == "ids"), None)
    ids = given.elts if isinstance(given, ast.List | ast.Tuple) else []
    for at, case in enumerate(listed.elts):
        own: ast.expr | None = ids[at] if at < len(ids) else None
        values: Sequence[ast.expr] = [case]
        if isinstance(case, ast.Call):  # pytest.param(…, id=…)
            values = case.args
            own = next((k.value for k in case.keywords if k.arg == "id"), own)
        elif len(names) > 1 and isinstance(case, ast.Tuple | ast.List):
            values = case.elts
        if len(values) == len(names):
            parts = [_shown(name, value, at) for name, value in zip(names, values, strict=True)]
            shown = own.value if isinstance(own, ast.Constant) else "-".join(parts)
            yield str(shown), list(zip(names, values, strict=True))


def _names(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant):
        return [name.strip() for name in str(node.value).split(",") if name.strip()]
    elements = node.elts if isinstance(node, ast.List | ast.Tuple) else []
    return [str(element.value) for element in elements if isinstance(element, ast.Constant)]


def _shown(name: str, value: ast.expr, at: int) -> str:
    """As pytest shows a value: plain ones as they are, others by name and position."""
    try:
        plain = ast.literal_eval(value)
    except ValueError:
        return f"{name}{at}"
    return str(plain) if isinstance(plain, str | int | float | None) else f"{name}{at}"
