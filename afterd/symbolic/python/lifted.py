"""A Python test whose whole numbers have names, so that it can be written again with other ones.

The numbers are those of the test's body and, where it is parametrised, those of its parameters. All
else of its module stays (imports, fixtures, helpers), but for the other tests. It is written in three
forms: as it was, observing (what its assertions look at is noted, in either version of a program),
and expecting (its assertions ask for what was noted).

The values of one case of a parametrised pytest test, as statements.
"""

from __future__ import annotations

import ast
import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from afterd.limits import MACHINE
from afterd.trace.python.failure import Seen, body_expecting, body_observing, looked_at

NAME = "test_afterd_"
"""What the written tests are called, with a number behind it."""

SEEN = ".seen"
"""The ending of the file beside the module to which the observing form writes."""

_VARIABLE = "afterd_"

_PYTEST = ast.Import([ast.alias("pytest")])
_SAW = f"""
def afterd_saw(test, at, value):
    import json, pathlib, re
    text = re.sub("0x[0-9a-f]+", "0x", repr(value))
    with pathlib.Path(__file__).with_suffix({SEEN!r}).open("a") as file:
        file.write(json.dumps([test, at, text]) + "\\n")
"""


@dataclass(frozen=True, slots=True)
class LiftedTest:
    """``numbers`` are the test's own; ``assertions`` the texts of what it asserts, in order."""

    numbers: tuple[int, ...]
    assertions: tuple[str, ...]
    module: ast.Module
    holder: tuple[str, ...]  # the classes that the test is in
    function: ast.FunctionDef

    def as_it_was(self, numbers: Sequence[int], seen: Seen | None = None) -> str:
        """One test with its numbers named, a line each; with ``seen`` it expects that."""
        body = self.function.body
        if seen is not None:
            body = body_expecting(body, seen)
        named = [_assignment(at, number) for at, number in enumerate(numbers)]
        return self._written([self._test(0, [*named, *body])])

    def observing(self, every: Sequence[Sequence[int]]) -> str:
        """A test for each numbers, which notes what its assertions look at, and how it ended."""
        tests = []
        for at, numbers in enumerate(every):
            watched = body_observing(self.function.body, f"{NAME}{at}")
            named = [_assignment(n, number) for n, number in enumerate(numbers)]
            tests.append(self._test(at, [*named, *watched]))
        return self._written(tests, ast.parse(_SAW).body)

    def expecting(self, every: Sequence[tuple[Sequence[int], Seen]]) -> str:
        """A test for each numbers, which asks for what the good version showed."""
        tests = []
        for at, (numbers, seen) in enumerate(every):
            body = [_Numbered(numbers).visit(s) for s in body_expecting(self.function.body, seen)]
            tests.append(self._test(at, body))
        return self._written(tests, [] if _imports_pytest(self.module) else [_PYTEST])

    def _test(self, at: int, body: list[ast.stmt]) -> ast.FunctionDef:
        made = copy.copy(self.function)
        made.name, made.body = f"{NAME}{at}", body
        return made

    def _written(self, tests: Sequence[ast.stmt], before: Sequence[ast.stmt] = ()) -> str:
        module = copy.deepcopy(self.module)
        module.body = scope = _without_tests(module.body)
        for name in self.holder:
            scope = _named_class(scope, name).body
        scope += tests
        first = sum(_comes_first(statement) for statement in module.body)
        module.body[first:first] = before
        return ast.unparse(ast.fix_missing_locations(module)) + "\n"


def lifted_test(source: str, test: str) -> LiftedTest:
    """The test ``Class::function[parameters]`` of a module. Raises NotLiftedError."""
    path, _, parameters = test.partition("[")
    *holder, name = path.split("::")
    module = ast.parse(source)
    scope: list[ast.stmt] = module.body
    for outer in holder:
        scope = _named_class(scope, outer).body
    found = [s for s in scope if isinstance(s, ast.FunctionDef) and s.name == name]
    if not found:
        raise NotLiftedError(f"{test} is no function of its module")
    function = copy.deepcopy(found[-1])
    before = given_parameters(function, parameters.removesuffix("]"))
    lifting = _Lifting()
    function.body = [lifting.visit(statement) for statement in (*before, *function.body)]
    if not lifting.numbers:
        raise NotLiftedError(f"{test} has no numbers that could be others")
    asserted = [s for s in ast.walk(function) if isinstance(s, ast.stmt) and looked_at(s)]
    texts = [_original(s, lifting.numbers) for s in sorted(asserted, key=lambda s: s.lineno)]
    return LiftedTest(tuple(lifting.numbers), tuple(texts), module, tuple(holder), function)


def lines_of_numbers(text: str) -> Mapping[int, int]:
    """Line → which number is named there, in a module that ``as_it_was`` wrote."""
    found: dict[int, int] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name.startswith(_VARIABLE) and name.removeprefix(_VARIABLE).isdigit():
                found[node.lineno] = int(name.removeprefix(_VARIABLE))
    return found


def read_seen(text: str) -> Mapping[int, Seen]:
    """What the observing form wrote, by the tests' numbers."""
    found: dict[int, list[tuple[int, str]]] = {}
    for line in text.splitlines():
        test, at, value = json.loads(line)
        found.setdefault(int(str(test).removeprefix(NAME)), []).append((at, value))
    return {test: Seen(tuple(values)) for test, values in found.items()}


def _imports_pytest(module: ast.Module) -> bool:
    imported = (alias for s in module.body if isinstance(s, ast.Import) for alias in s.names)
    return any(alias.name == "pytest" and alias.asname is None for alias in imported)


class _Lifting(ast.NodeTransformer):
    """Gives whole numbers names, in the order of the text."""

    def __init__(self) -> None:
        self.numbers: list[int] = []

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """A negative number is one number."""
        inner = node.operand
        if isinstance(node.op, ast.USub) and isinstance(inner, ast.Constant):
            lifted_number = self.visit_Constant(ast.copy_location(ast.Constant(inner.value), inner))
            if isinstance(lifted_number, ast.Name):
                self.numbers[-1] = -self.numbers[-1]
                return lifted_number
            return node
        self.generic_visit(node)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """A number by its name."""
        if type(node.value) is not int or len(self.numbers) == MACHINE.numbers:
            return node
        self.numbers.append(node.value)
        name = ast.Name(f"{_VARIABLE}{len(self.numbers) - 1}", ast.Load())
        return ast.copy_location(name, node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        """A format's width is no input."""
        return node

    def visit_Match(self, node: ast.Match) -> ast.stmt:
        """A pattern cannot be a name."""
        return node


class _Numbered(ast.NodeTransformer):
    """Puts numbers in the place of their names."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = numbers

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """A number where it has a name."""
        at = node.id.removeprefix(_VARIABLE)
        if node.id == at or not at.isdigit():
            return node
        return ast.Constant(self._numbers[int(at)])


def _original(statement: ast.stmt, numbers: Sequence[int]) -> str:
    return ast.unparse(_Numbered(numbers).visit(copy.deepcopy(statement)))


def _assignment(at: int, number: int) -> ast.stmt:
    return ast.Assign([ast.Name(f"{_VARIABLE}{at}", ast.Store())], ast.Constant(number), lineno=0)


def _named_class(scope: Sequence[ast.stmt], name: str) -> ast.ClassDef:
    for statement in scope:
        if isinstance(statement, ast.ClassDef) and statement.name == name:
            return statement
    raise NotLiftedError(f"the class {name} is not in the test's module")


def _without_tests(scope: Sequence[ast.stmt]) -> list[ast.stmt]:
    """What tests need, without tests; a class of other tests may be inherited from, and stays empty."""
    kept: list[ast.stmt] = []
    for statement in scope:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            if not statement.name.startswith("test"):
                kept.append(statement)
            continue
        if isinstance(statement, ast.ClassDef):
            statement.body = _without_tests(statement.body) or [ast.Pass()]
        kept.append(statement)
    return kept


def _comes_first(statement: ast.stmt) -> bool:
    """The module's docstring, and what has to stand before any other statement."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


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
            parts = [
                _shown_value(name, value, at) for name, value in zip(names, values, strict=True)
            ]
            shown = own.value if isinstance(own, ast.Constant) else "-".join(parts)
            yield str(shown), list(zip(names, values, strict=True))


def _names(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant):
        return [name.strip() for name in str(node.value).split(",") if name.strip()]
    elements = node.elts if isinstance(node, ast.List | ast.Tuple) else []
    return [str(element.value) for element in elements if isinstance(element, ast.Constant)]


def _shown_value(name: str, value: ast.expr, at: int) -> str:
    """As pytest shows a value: plain ones as they are, others by name and position."""
    try:
        plain = ast.literal_eval(value)
    except ValueError:
        return f"{name}{at}"
    return str(plain) if isinstance(plain, str | int | float | None) else f"{name}{at}"
