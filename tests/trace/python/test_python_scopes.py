"""Whose a name is: the recorder's scopes and the variant check's, beside Python's own symbol table."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from afterd.trace.python.record.scopes import BUILTIN, MODULE, Scope, ScopeBuilder
from afterd.trace.python.source.mentions import Arity, Call, mentions, statement_texts
from afterd.trace.python.source.scoping import names_of
from afterd.trace.python.source.statements import Place, Places, executed_in_run

TEXTS = {
    "closure": "x = 1\ndef f(a):\n    b = a\n    def g():\n        return a + b + x + len\n    return g\n",
    "nonlocal": "def f():\n    n = 0\n    def g():\n        nonlocal n\n        n += 1\n    return g\n",
    "global": "def f():\n    global made\n    made = 1\n    def g():\n        return made\n",
    "global below a use": "v = 0\ndef f():\n    def g():\n        global v\n        v = 2\n    v = 1\n    return v\n",
    "a class is skipped": "x = 0\nclass A:\n    x = 1\n    y = x\n    def f(self):\n        return x\n",
    "comprehension": "def f(z):\n    return [i * z for i in z if (last := i)], last\n",
    "two iterables": "def f(rows):\n    return {a: b for a in rows for b in a if b}\n",
    "in a class": "class A:\n    n = 2\n    m = [n for _ in range(n)]\n",
    "lambda": "def f(k):\n    return lambda a, *b, c=k, **d: (a, b, c, d, k)\n",
    "defaults": "d = 1\ndef f(d=d, *, e=d):\n    return d, e\n",
    "import": "import os.path, re as words\nfrom a import b as c\n"
    "def f():\n    import json.decoder\n    return json, os\n",
    "except": "def f():\n    try:\n        pass\n    except ValueError as error:\n        return error\n",
    "match": "def f(v):\n    match v:\n        case {'k': one, **rest}: return one, rest\n"
    "        case [a, *b] as c: return a, b, c\n",
    "with and for": "def f(o):\n    with o() as (p, q):\n        for r, [s] in p:\n"
    "            del q\n    return r, s\n",
    "decorated": "def d(f): return f\nclass A:\n    @d\n    def d(self): return d\n",
    "async": "async def f(x):\n    async for y in x:\n        yield [await z async for z in y]\n",
    "conditional": "if maybe:\n    name = 1\ndef f():\n    return name, missing\n",
    "augmented": "total = 0\ndef f():\n    total += 1\n",
}  # fmt: skip


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _tables(child)


def _kind(scope: Scope, name: str) -> str:
    owner = scope.owner(name)
    if owner in {MODULE, BUILTIN}:
        return "global"
    return "local" if owner == scope.number else "free"


def _named(scope: ast.AST) -> str:
    names = {
        ast.Module: "top",
        ast.Lambda: "lambda",
        ast.ListComp: "listcomp",
        ast.DictComp: "dictcomp",
    }
    return getattr(scope, "name", "") or names[type(scope)]


@pytest.mark.parametrize("title", TEXTS)
def test_a_name_lives_where_python_keeps_it(title: str) -> None:
    text = TEXTS[title]
    tree = ast.parse(text)
    found = ScopeBuilder(tree, {node: at for at, node in enumerate(ast.walk(tree))})
    tables = {
        (table.get_name().strip("<>"), table.get_lineno()): table
        for table in _tables(symtable.symtable(text, "text", "exec"))
    }
    compared = 0
    for node, scope in found.scope_of.items():
        if not isinstance(node, ast.Name):
            continue
        line = getattr(scope.node, "lineno", 0)
        symbol = tables[_named(scope.node), line].lookup(node.id)
        if isinstance(scope.node, ast.Module):
            assert (scope.owner(node.id) == BUILTIN) is not symbol.is_assigned() or (
                symbol.is_imported() or symbol.is_namespace()
            )
        else:
            theirs = "free" if symbol.is_free() else "global" if symbol.is_global() else "local"
            assert _kind(scope, node.id) == theirs, node.id
        compared += 1
    assert compared


@pytest.mark.parametrize(
    ("text", "now", "later", "binds"),
    [
        ("a = b\n", {"b"}, set(), {"a"}),
        ("def f():\n    return g()\n", set(), {"g"}, {"f"}),
        ("def f(a=b):\n    return a\n", {"b"}, set(), {"f"}),
        ("x = [y for y in z]\n", {"z"}, set(), {"x"}),
        ("class A(B):\n    c = d\n", {"B", "d"}, set(), {"A"}),
        ("@d\ndef f(): pass\n", {"d"}, set(), {"f"}),
        ("import a.b as c, d.e\n", set(), set(), {"c", "d"}),
        ("for i in n:\n    pass\nprint(i)\n", {"n", "print"}, set(), {"i"}),
        ("print(x)\nx = 1\n", {"x", "print"}, set(), {"x"}),
    ],
)
def test_what_a_text_reads_and_binds(
    text: str, now: set[str], later: set[str], binds: set[str]
) -> None:
    tree = ast.parse(text)
    own, first_class = names_of(tree, Places(tree, text))
    both = {use.name for use in (*own.now, *first_class.now)}
    assert (both, {use.name for use in own.later}, set(own.binds)) == (now, later, binds)


def test_a_function_that_reads_what_it_binds_further_down() -> None:
    text = "x = 1\ndef f():\n    print(x)\n    x = 2\n"
    tree = ast.parse(text)
    own, _ = names_of(tree, Places(tree, text))
    [use] = [use for use in (*own.now, *own.later) if use.name == "x"]
    assert use.local
    assert (use.place.statement, use.place.function) == ("print(x)", "f")


PROGRAM = """\
import os

@decorated
def outer(a):
    if a:
        b = 1
    else:
        b = 2
    try:
        return b
    finally:
        os.remove(a)


class Thing:
    size = 3
    def grow(self):
        self.size += 1
"""


def test_what_a_run_executed_is_told_by_statements_and_functions() -> None:
    did = executed_in_run(PROGRAM, frozenset({1, 3, 5, 6, 10, 12, 15, 16, 17}))
    assert did.functions == {"", "outer"}
    assert {statement for statement, function in did.statements if function == "outer"} == {
        "if a:",
        "b = 1",
        "return b",
        "os.remove(a)",
    }
    assert ("self.size += 1", "Thing.grow") not in did.statements
    assert executed_in_run("def (", frozenset({1})).statements == frozenset()


@pytest.mark.parametrize(
    ("text", "name", "place"),
    [
        ("f(a)\n", "a", Place("f(a)")),
        ("if c:\n    f(a)\n", "a", Place("f(a)", always=False)),
        ("def g():\n    f(a)\n", "a", Place("f(a)", "g", always=False)),
        ("f(b and a)\n", "a", Place("f(b and a)", certain=False)),
        ("x = lambda: a\n", "a", Place("x = lambda: a", certain=False)),
        ("try:\n    f(a)\nexcept E:\n    pass\n", "a", Place("f(a)", always=False, certain=False)),
        ("try:\n    f(a)\nfinally:\n    pass\n", "a", Place("f(a)", always=False)),
        ("with o:\n    f(a)\n", "a", Place("f(a)", certain=False)),
        ("class K:\n    def m(self):\n        f(a)\n", "a", Place("f(a)", "K.m", always=False)),
        ("match v:\n    case 1:\n        f(a)\n", "a", Place("f(a)", always=False)),
    ],
)
def test_where_a_name_stands(text: str, name: str, place: Place) -> None:
    tree = ast.parse(text)
    [node] = [each for each in ast.walk(tree) if isinstance(each, ast.Name) and each.id == name]
    assert Places(tree, text).of(node) == place


CALLS = [
    ("def f(a, b=1): pass\n", "f()", "needs an argument 'a'"),
    ("def f(a, b=1): pass\n", "f(1)", ""),
    ("def f(a, b=1): pass\n", "f(1, 2, 3)", "does not take 3 arguments"),
    ("def f(a, b=1): pass\n", "f(1, c=2)", "takes no argument 'c'"),
    ("def f(a, b=1): pass\n", "f(1, a=2)", "is given 'a' twice"),
    ("def f(a, /, *, k): pass\n", "f(1, k=2)", ""),
    ("def f(*a, **k): pass\n", "f(1, 2, x=3)", ""),
    ("def f(a=1): pass\n", "f(**b)", ""),
]


@pytest.mark.parametrize(("definition", "call", "fault"), CALLS)
def test_a_call_is_refused_where_python_refuses_it(definition: str, call: str, fault: str) -> None:
    """Beside Python's own binding of the same call."""
    [arity] = [arity for name, arity in mentions(definition.encode()).functions if name == "f"]
    [made] = [each for each in mentions(f"{call}\n".encode()).calls if each.name == "f"]
    said = arity.against(made)
    assert said == fault
    names: dict[str, object] = {"b": {}}
    exec(definition, names)
    with pytest.raises(TypeError) if fault else nullcontext():
        eval(call, names)


def test_a_function_may_read_what_is_bound_below_it_and_a_class_may_not() -> None:
    """The module's first function was read as if it were a class's body, executed where it stands."""
    assert mentions(b"def f():\n    return g()\n\ndef g():\n    pass\n").unbound == frozenset()
    assert {use.name for use in mentions(b"class K:\n    y = x\n\nx = 1\n").unbound} == {"x"}


def test_arguments_that_are_not_told_speak_against_nothing() -> None:
    unknown = Call("f", 0, None, Place("f(*a)"))
    assert Arity(("a", "b"), 2, frozenset({"a", "b"})).against(unknown) == ""
    assert Arity().against(Call("f", 9, frozenset({"x"}), Place("f"))) == ""


def test_what_does_not_compile_says_why_and_nothing_else() -> None:
    found = mentions(b"def f(:\n    pass\n")
    assert found.error.startswith("SyntaxError")
    assert not found.defined
    assert not found.unbound


def test_a_text_is_read_as_a_whole_though_statement_by_statement() -> None:
    found = mentions(
        b"from .a import b as c\nimport d\nfrom e import *\n\nclass K(L):\n    def m(self):\n"
        b"        self.x = y\n        return self.z\n\nother.q = d.w(k=1)\n"
    )
    assert {(each.level, each.module, each.name) for each in found.imports} >= {
        (1, "a", "b"),
        (0, "d", ""),
    }
    assert {each.module for each in found.stars} == {"e"}
    assert {use.name for use in found.unbound} == {"L", "y", "other"}
    assert found.foreign == {"q"}
    [part] = found.classes
    assert (part.name, set(part.bases), {use.name for use in part.reads}) == ("K", {"L"}, {"z"})
    assert "x" in part.gives
    assert {"w", "k", "z"} <= found.needed


def test_a_text_is_cut_where_statements_begin_whatever_quotes_stand_in_it() -> None:
    """tabulate: three quotes in a string of a table made one piece of 2,000 lines, read anew for each variant."""
    pieces = [
        "FORMATS = {'wiki': \"''' bold\"}  # it's \"\"\" in a comment\n\n",
        'def first():\n    """Says:\nx = 1\n\\""" and no more"""\n',
        "@cached\ndef second():\n    return r'\\''\n",
        "third = '''\nfourth = 4\n'''\n",
    ]
    assert [*statement_texts("".join(pieces))] == pieces
