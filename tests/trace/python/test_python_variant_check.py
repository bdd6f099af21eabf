"""What the text of a variant says against it, and what it does not."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, replace

import pytest

from afterd.trace.python.source.mentions import Mentions, compiler_error, mentions
from afterd.trace.python.source.statements import Place
from afterd.trace.python.source.variant_check import VariantCheck

Files = Mapping[str, str]

SPANS = {
    "src/p/spans.py": "class Span:\n    def __init__(self, first, size=0):\n        self.first = first\n",
    "src/p/use.py": "from p.spans import Span\n\ndef whole():\n    return Span(1, 2).first\n",
}
RUNNING = {
    "a.py": "import b\n\ndef g(xs):\n    total = 0\n    if xs:\n        return total\n    return b.new()\n"
}
OTHER = {"a.py": RUNNING["a.py"].replace("total", "summed")}
HALF = {"a.py": RUNNING["a.py"].replace("return total", "return summed")}
SUMMED = "name 'summed' is not defined"
LINES = frozenset({1, 3, 4, 5, 6})


@dataclass(frozen=True, slots=True)
class Case:
    """Three versions, what is said of the variant (a part; empty: nothing), the lines that the run of
    the bad and of the good one came to, and whether no run is needed to be sure.
    """

    bad: Files
    good: Files
    variant: Files
    said: str
    ran: frozenset[int] = frozenset()
    green_ran: frozenset[int] = frozenset()
    certain: bool = False


ONE = "class A:\n    def f(self):\n        self.z = 1\n        y = self.z\n        self.x = y + 2\n"
HEAD = "    @property\n    def x(self):\n        if self._x: return self._x\n"
TWO = (
    "class A:\n    def f(self):\n        self.z = 1\n"
    f"{HEAD}        y = self.z\n        self._x = y + 1\n        return self._x\n"
)

ABOVE = (
    "y = z = 1\nclass Base:\n    def go(self, {}):\n        pass\n"
    "class A(Base):\n    def go(self, x, w=0):\n        super().go({})\n"
)

_PAIR = "\ndef pair(a, b=2, c=3):\n    return ({})\n{} = pair(1)\n"

POSTPONED = "from __future__ import annotations\n"
CASES = {
    "the bad version": Case(SPANS, {}, SPANS, ""),
    "does not parse": Case(SPANS, SPANS, {"src/p/spans.py": "class Span\n"}, "SyntaxError"),
    "return outside": Case(SPANS, SPANS, {"src/p/spans.py": "return 1\n"}, "SyntaxError"),
    "half a renamed local": Case(
        {"a.py": "def f(xs):\n    total = 0\n    return total\n"},
        {"a.py": "def f(xs):\n    summed = 0\n    return summed\n"},
        {"a.py": "def f(xs):\n    total = 0\n    return summed\n"},
        "name 'summed' is not defined",
    ),
    "half a renamed attribute": Case(
        {"a.py": "class A:\n    def run(self): pass\n", "b.py": "def f(a): return a.run()\n"},
        {"a.py": "class A:\n    def go(self): pass\n", "b.py": "def f(a): return a.go()\n"},
        {"a.py": "class A:\n    def go(self): pass\n", "b.py": "def f(a): return a.run()\n"},
        "'run'",
    ),
    "a name that is no longer there to import": Case(
        SPANS,
        {**SPANS, "src/p/spans.py": "class Range:\n    first = 1\n"},
        {**SPANS, "src/p/spans.py": "class Range:\n    first = 1\n"},
        "",  # the good version cannot be imported either
    ),
    "a name that is not there yet": Case(
        {"p/a.py": "def old(): pass\ndef new(): pass\n", "p/b.py": "from p.a import new\n"},
        {"p/a.py": "def old(): pass\n", "p/b.py": "from p.a import old\n"},
        {"p/a.py": "def old(): pass\n", "p/b.py": "from p.a import new\n"},
        "cannot import name 'new'",
    ),
    "a module that is not there yet": Case(
        {"p/__init__.py": "", "p/a.py": "from .b import x\n", "p/b.py": "x = 1\n"},
        {"p/__init__.py": "", "p/a.py": "x = 1\n"},
        {"p/__init__.py": "", "p/a.py": "from .b import x\n"},
        "No module named 'p.b'",
    ),
    "a parameter that is not there yet": Case(
        {"a.py": "def f(x, y): return x\n", "b.py": "from a import f\nf(1, 2)\n"},
        {"a.py": "def f(x): return x\n", "b.py": "from a import f\nf(1)\n"},
        {"a.py": "def f(x): return x\n", "b.py": "from a import f\nf(1, 2)\n"},
        "'f' does not take 2 arguments",
    ),
    "a parameter that is no longer there, beside a keyword": Case(
        {"a.py": "def f(x, deep=0): return x\nf(1, deep=2)\n"},
        {"a.py": "def f(x, kind, deep=0): return kind\nf(1, 2, deep=2)\n"},
        {"a.py": "def f(x, kind, deep=0): return kind\nf(1, deep=2)\n"},
        "'f' needs an argument 'kind'",
    ),
    "a keyword of another function": Case(
        {"a.py": "def f(x): return x\ndef g(pop): return pop\nf(1)\n"},
        {"a.py": "def f(x, pop=0): return x\ndef g(pop): return pop\nf(1, pop=1)\n"},
        {"a.py": "def f(x): return x\ndef g(pop): return pop\nf(1, pop=1)\n"},
        "'f' takes no argument 'pop'",
    ),
    "keywords that are not told": Case(
        {"a.py": "def f(x, y): return x\nd = {'y': 1}\nf(1, **d)\n"},
        {"a.py": "def f(x): return x\nd = {}\nf(1, **d)\n"},
        {"a.py": "def f(x, y): return x\nd = {}\nf(1, **d)\n"},
        "",
    ),
    "a value more is returned than is taken (pyfakefs)": Case(
        {"a.py": _PAIR.format("\n        a,\n        b,\n    ", "x, y")},
        {"a.py": _PAIR.format("\n        a,\n        b,\n        c,\n    ", "x, y, z")},
        {"a.py": _PAIR.format("\n        a,\n        b,\n        c,\n    ", "x, y")},
        "error: ValueError: 'pair' returns 3, not 2\nc,\n",
    ),
    "as many values as both versions once have": Case(
        {"a.py": _PAIR.format("a, b", "x, y") + "def pair(a): return a, 1, 2\n"},
        {"a.py": _PAIR.format("b, a", "x, y")},
        {"a.py": _PAIR.format("b, a", "x, y") + "def pair(a): return a, 1, 2\n"},
        "",
    ),
    "what a decorator or a generator makes of a tuple": Case(
        {"a.py": "@made" + _PAIR.format("a, b", "x, y")},
        {"a.py": "@made" + _PAIR.format("a, b, c", "x, y, z")},
        {"a.py": "@made" + _PAIR.format("a, b, c", "x, y").replace("c=3):", "c=3):\n    yield")},
        "",
    ),
    "an initialiser that takes less": Case(
        {"a.py": "class F:\n    def __init__(self, x, y): pass\nF(1, 2)\n"},
        {"a.py": "class F:\n    def __init__(self, x): pass\nF(1)\n"},
        {"a.py": "class F:\n    def __init__(self, x): pass\nF(1, 2)\n"},
        "'F' does not take 2 arguments",
    ),
    "a named tuple that was made of one tuple (attrs)": Case(
        {
            "a.py": "from typing import NamedTuple\nclass T(NamedTuple):\n    x: int\n    y: int\nT(1, 2)\n"
        },
        {"a.py": "from b import made\nT = made('x', 'y')\nT((1, 2))\n"},
        {
            "a.py": "from typing import NamedTuple\nclass T(NamedTuple):\n    x: int\n    y: int\nT((1, 2))\n"
        },
        "'T' needs an argument 'y'",
    ),
    "a data class with another field": Case(
        {
            "a.py": "@dataclass\nclass D:\n    x: int\n    kind: ClassVar[int] = 2\n    y: int = 0\nD(1, y=2)\n"
        },
        {"a.py": "@dataclass\nclass D:\n    x: int\nD(1)\n"},
        {"a.py": "@dataclass\nclass D:\n    x: int\nD(1, y=2)\n"},
        "'D' takes no argument 'y'",
    ),
    "a data class whose constructor is not known": Case(
        {"a.py": "@dataclass(init=False)\nclass D:\n    x: int\n    y: int\nD(1, 2)\n"},
        {"a.py": "@dataclass(init=False)\nclass D:\n    x: int\nD(1)\n"},
        {"a.py": "@dataclass(init=False)\nclass D:\n    x: int\nD(1, 2)\n"},
        "",
    ),
    "a named tuple with another field": Case(
        {"a.py": "N = namedtuple('N', 'x y')\nN(1, 2)\n"},
        {"a.py": "N = collections.namedtuple('N', ['x'])\nN(1)\n"},
        {"a.py": "N = collections.namedtuple('N', ['x'])\nN(1, 2)\n"},
        "'N' does not take 2 arguments",
    ),
    "a keyword that is not there yet": Case(
        {"a.py": "def f(x, deep=0): return x\nf(1, deep=2)\n"},
        {"a.py": "def f(x): return x\nf(1)\n"},
        {"a.py": "def f(x): return x\nf(1, deep=2)\n"},
        "'deep'",
    ),
    "a name of another package": Case(
        {"a.py": "from os import path\nx = path.join('a')\n"},
        {"a.py": "def path(): pass\n"},
        {"a.py": "from os import path\nx = path\n"},
        "",
    ),
    "open arguments": Case(
        {"a.py": "def f(*xs): pass\nf(1, 2)\n"},
        {"a.py": "def f(x): pass\nf(*[1])\n"},
        {"a.py": "def f(x): pass\nf(*[1, 2])\n"},
        "",
    ),
    "a named tuple's field": Case(
        {"a.py": "P = namedtuple('P', 'x y')\n", "b.py": "def f(p): return p.y\n"},
        {"a.py": "P = 1\n", "b.py": "def f(p): return p\n"},
        {"a.py": "P = namedtuple('P', 'x y')\n", "b.py": "def f(p): return p.y\n"},
        "",
    ),
    "a star of the program": Case(
        {"a.py": "from b import *\nprint(1)\n", "b.py": "x = 1\n"},
        {"a.py": "print(1)\n", "b.py": ""},
        {"a.py": "from b import *\nprint(x, 1)\n", "b.py": ""},
        "name 'x' is not defined",
    ),
    "a star that brings what another star brought": Case(
        {"a.py": "from b import *\n", "b.py": "from c import *\n", "c.py": "x = 1\n"},
        {"a.py": "", "b.py": "", "c.py": ""},
        {"a.py": "from b import *\nprint(x)\n", "b.py": "from c import *\n", "c.py": "x = 1\n"},
        "",
    ),
    "what a star takes, as __all__ says": Case(
        {
            "p/a.py": "__all__ = ['f', 'g']\ndef f(): pass\ndef g(): pass\n",
            "p/b.py": "from .a import *\n",
        },
        {"p/a.py": "__all__ = ['f']\ndef f(): pass\n", "p/b.py": "from .a import *\n"},
        {"p/a.py": "__all__ = ['f', 'g']\ndef f(): pass\n", "p/b.py": "from .a import *\n"},
        "module 'p.a' has no attribute 'g'",
    ),
    "what no star takes": Case(
        {
            "p/a.py": "__all__ = ['f', 'g']\ndef f(): pass\ndef g(): pass\n",
            "p/b.py": "from .a import f\n",
        },
        {"p/a.py": "__all__ = ['f']\ndef f(): pass\n", "p/b.py": "from .a import f\n"},
        {"p/a.py": "__all__ = ['f', 'g']\ndef f(): pass\n", "p/b.py": "from .a import f\n"},
        "",
    ),
    "the head of a new function undone, and its end is not": Case(
        {"a.py": TWO},
        {"a.py": ONE},
        {"a.py": TWO.replace(HEAD, "")},
        "'return self._x' stands in 'A.f'",
    ),
    "its end undone, and its head is not": Case(
        {"a.py": TWO},
        {"a.py": ONE},
        {
            "a.py": TWO.replace("  return self._x\n", "  self.x = y + 2\n", 2).replace(
                "if self._x: self.x = y + 2", "if self._x: return self._x"
            )
        },
        "'self.x = y + 2' stands in 'A.x'",
    ),
    "a function that was renamed, half undone": Case(
        {"a.py": TWO},
        {"a.py": TWO.replace("def x", "def z").replace("y + 1", "y + 2")},
        {"a.py": TWO.replace("y + 1", "y + 2")},
        "",
    ),
    "what a class above takes": Case(
        {"a.py": ABOVE.format("z", "z")},
        {"a.py": ABOVE.format("y", "y")},
        {"a.py": ABOVE.format("y, z", "y")},
        "'Base.go' needs an argument 'z'",
    ),
    "what a class above takes that is not of the program": Case(
        {"a.py": ABOVE.format("z", "z").replace("A(Base)", "A(Base, Other)")},
        {"a.py": ABOVE.format("y", "y").replace("A(Base)", "A(Base, Other)")},
        {"a.py": ABOVE.format("y, z", "y").replace("A(Base)", "A(Base, Other)")},
        "",
    ),
    "a star of another package": Case(
        {"a.py": "from os.path import *\n"},
        {"a.py": "from os.path import *\nprint(join)\n"},
        {"a.py": "from os.path import *\nprint(join, 1)\n"},
        "",
    ),
    "a local of a rewritten function, beside a star": Case(
        {"a.py": "from os.path import *\ndef f():\n    new = 1\n    return new\n"},
        {"a.py": "from os.path import *\ndef f():\n    old = 1\n    return old\n"},
        {"a.py": "from os.path import *\ndef f():\n    new = 1\n    return old\n"},
        "name 'old' is not defined",
    ),
    "a method of the same name, further down": Case(
        {"a.py": "def f(): pass\nclass A:\n    run = staticmethod(f)\n    def f(self): pass\n"},
        {"a.py": "from b import f\nclass A:\n    run = staticmethod(f)\n    def f(self): pass\n"},
        {"a.py": "class A:\n    run = staticmethod(f)\n    def f(self): pass\n"},
        "name 'f' is not defined",
    ),
    "a local that is bound too late": Case(
        {"a.py": "def f(xs):\n    n = len(xs)\n    return n\n"},
        {"a.py": "def f(xs):\n    return len(xs)\n"},
        {"a.py": "def f(xs):\n    print(n)\n    n = len(xs)\n    return n\n"},
        "cannot access local variable 'n'",
    ),
    "a local of the turn before": Case(
        {"a.py": "def f(xs):\n    return xs\n"},
        {"a.py": "def f(xs):\n    return len(xs)\n"},
        {"a.py": "def f(xs):\n    for x in xs:\n        if x: print(n)\n        n = x\n"},
        "",
    ),
    "an argument that is given twice": Case(
        {"a.py": "def f(x, deep=0): return x\nf(1, deep=2)\n"},
        {"a.py": "def f(x, y, deep=0): return x\nf(1, 2, deep=2)\n"},
        {"a.py": "def f(x, deep=0): return x\nf(1, 2, deep=2)\n"},
        "'f' is given 'deep' twice",
    ),
    "an attribute that no class of the family gives": Case(
        {
            "a.py": "class A:\n    def __init__(self, skip): self.ignore(skip)\n"
            "class B(A):\n    def f(self): return self.ignore\n"
            "def g(skip): return skip\n"
        },
        {
            "a.py": "class A:\n    def __init__(self, skip): self.skip = skip\n"
            "class B(A):\n    def f(self): return self.skip\n"
            "def g(skip): return skip\n"
        },
        {
            "a.py": "class A:\n    def __init__(self, skip): self.ignore(skip)\n"
            "class B(A):\n    def f(self): return self.skip\n"
            "def g(skip): return skip\n"
        },
        "'B' object has no attribute 'skip'",
    ),
    "an attribute that somebody else gives": Case(
        {"a.py": "class A:\n    def f(self): return 1\n", "b.py": "def g(a): a.skip = 1\n"},
        {
            "a.py": "class A:\n    skip = 0\n    def f(self): return self.skip\n",
            "b.py": "def g(a): a.skip = 1\n",
        },
        {"a.py": "class A:\n    def f(self): return self.skip\n", "b.py": "def g(a): a.skip = 1\n"},
        "",
    ),
    "not Python at all": Case({"a.py": "x = 1\n"}, {"a.py": "x = 2\n"}, {"a.txt": "class"}, ""),
    "a text for another Python, whose lines move": Case(
        {"a.py": "x = 1\nprint x\n"},
        {"a.py": "x = 2\ny = 3\nprint x\n"},
        {"a.py": "x = 1\ny = 3\nprint x\n"},
        "",
    ),
    "a text that never parsed": Case(
        {"a.py": "print 1\n"},
        {"a.py": "print 1\n"},
        {"a.py": "print 1\n"},
        "",
    ),
    "executed in both": Case(RUNNING, OTHER, HALF, SUMMED, LINES, LINES, certain=True),
    "the branch was never taken": Case(RUNNING, OTHER, HALF, SUMMED, LINES - {6}, LINES - {6}),
    "the good version never called it": Case(
        RUNNING, OTHER, HALF, SUMMED, LINES, frozenset({1, 3})
    ),
    "neither run came into the function": Case(
        RUNNING, OTHER, HALF, "", frozenset({1, 3}), frozenset({1, 3})
    ),
    "nobody imported it": Case(RUNNING, OTHER, HALF, SUMMED, frozenset(), frozenset()),
    "does not parse, and was imported": Case(
        RUNNING, OTHER, {"a.py": "def g(xs:\n"}, "SyntaxError", LINES, LINES, certain=True
    ),
    "executed on every import": Case(
        {"a.py": "x = 1\nclass A:\n    y = x\n"},
        {"a.py": "z = 1\nclass A:\n    y = z\n"},
        {"a.py": "x = 1\nclass A:\n    y = z\n"},
        "name 'z' is not defined",
        frozenset({1, 2, 3}),
        frozenset({1, 2, 3}),
        certain=True,
    ),
    "an annotation of a function that every import makes": Case(
        {"a.py": "x = 1\ndef f(y: x): pass\n"},
        {"a.py": "z = 1\ndef f(y: z): pass\n"},
        {"a.py": "x = 1\ndef f(y: z): pass\n"},
        "name 'z' is not defined",
        frozenset({1, 2}),
        frozenset({1, 2}),
        certain=True,
    ),
    "an annotation that is evaluated when somebody asks for it": Case(
        {"a.py": f"{POSTPONED}x = 1\ndef f(y: x): pass\n"},
        {"a.py": f"{POSTPONED}z = 1\ndef f(y: z): pass\n"},
        {"a.py": f"{POSTPONED}x = 1\ndef f(y: z): pass\n"},
        "name 'z' is not defined",
        frozenset({1, 2, 3}),
        frozenset({1, 2, 3}),
    ),
    "an annotation within a function, which is never evaluated": Case(
        {"a.py": "x = 1\ndef f():\n    y: x = 1\n"},
        {"a.py": "z = 1\ndef f():\n    y: z = 1\n"},
        {"a.py": "x = 1\ndef f():\n    y: z = 1\n"},
        "",
        frozenset({1, 2, 3}),
        frozenset({1, 2, 3}),
    ),
    "on some imports only": Case(
        {"a.py": "x = 1\nif x > 1:\n    y = x\n"},
        {"a.py": "z = 1\nif 1 > 1:\n    y = z\n"},
        {"a.py": "x = 1\nif x > 1:\n    y = z\n"},
        "name 'z' is not defined",
        frozenset({1, 2}),
        frozenset({1, 2}),
    ),
    "an exception that may be caught": Case(
        {"a.py": "x = 1\ntry:\n    y = x\nexcept NameError:\n    y = 2\n"},
        {"a.py": "z = 1\ntry:\n    y = z\nexcept NameError:\n    y = 2\n"},
        {"a.py": "x = 1\ntry:\n    y = z\nexcept NameError:\n    y = 2\n"},
        "name 'z' is not defined",
        frozenset({1, 2, 3}),
        frozenset({1, 2, 3}),
    ),
    "a part of it may not be evaluated": Case(
        {"a.py": "x = 1\ny = x if x > 1 else 2\n"},
        {"a.py": "z = 1\ny = z if z > 1 else 2\n"},
        {"a.py": "x = 1\ny = z if x > 1 else 2\n"},
        "name 'z' is not defined",
        frozenset({1, 2}),
        frozenset({1, 2}),
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_is_said_against_a_variant(case: Case) -> None:
    """Certain is what the runs of both versions came to; anything else is a suspicion."""
    check = _check(case)
    variant = frozenset({"c1"})
    answer = check.against(variant)
    assert (case.said in answer) if case.said else not answer
    assert bool(check.certain(variant)) == case.certain
    assert bool(check.unparsed(variant)) == (case.certain and "SyntaxError" in case.said)
    assert not check.against(frozenset())
    assert not check.against(frozenset({"c1", "c2"}))


def _check(case: Case, loaded: frozenset[str] = frozenset()) -> VariantCheck:
    """The variant is without c1, the good version without c2 as well."""
    versions = {
        frozenset(): case.bad,
        frozenset({"c1", "c2"}): case.good,
        frozenset({"c1"}): case.variant,
    }
    texts = {str(hash(text)): text for files in versions.values() for text in files.values()}
    return VariantCheck(
        lambda reverted: {path: str(hash(text)) for path, text in versions[reverted].items()},
        lambda identifier: texts[identifier].encode(),
        frozenset({"c1", "c2"}),
        ({"a.py": case.ran}, {"a.py": case.green_ran}),
        loaded,
    )


def whole(text: str) -> Mentions:
    """What is read from a file that is not cut: below a condition."""
    return mentions(f"if True:\n{textwrap.indent(text, ' ')}".encode())


def unconditional(found: Mentions) -> Mentions:
    """The same, whatever condition it is below."""

    def always(place: Place) -> Place:
        return replace(place, always=True)

    return replace(
        found,
        unbound=frozenset(replace(use, place=always(use.place)) for use in found.unbound),
        calls=frozenset(replace(call, place=always(call.place)) for call in found.calls),
    )


@pytest.mark.parametrize(
    "text",
    [
        "class A(B):\n    x = y = 1\n    z = y\n    def f(self):\n        return x, w\n",
        "class A:\n    '''A.\n\n    text: b\n    '''\n    @p\n    @q(\n        r,\n    )\n    def f(self): pass\n",
        "@d\nclass A:\n    # c\n    if a:\n        b = 1\n    else:\n        b = c\n    e = b\n",
        "class A:\n    def f(self):\n        class B:\n            y = z = 1\n        return y\n    g = 1\n",
        "class A:\n    x: int = (\n        1\n    )\n    def __init__(self, a, b=1): self.c = x\n\nA(1, 2, 3)\n",
        "class A: x = 1\nclass B(\n    A,\n):\n    y = x\n",
    ],
)
def test_a_class_is_read_member_by_member(text: str) -> None:
    """A class is cut into its members, and what they bind for each other is bound."""
    assert unconditional(mentions(text.encode())) == unconditional(whole(text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def f():\n    return 1\n\nclass A:\n    x = 1\n    def g(self):\n        return 2\n", ""),
        ("x = 1\nreturn x\n", "'return' outside function"),
        ("class A:\n    def f(self):\n        pass\n    break\n", "'break' outside loop"),
        ("class A:\n    def f(self, a, a):\n        pass\n    y = 1\n", "duplicate argument 'a'"),
        ("def f():\n    nonlocal x\n", "no binding for nonlocal 'x'"),
        ("class A:\n    if x:\n        y = 1\n    else:\n        y = (\n  2)\n", ""),
        ("def f():\n    '''\n# margin\n'''\n    return 1\n", ""),
        ("x = (\n1\n", "was never closed"),
        ("x = '\0'", "null"),
    ],
)
def test_what_a_compiler_refuses_is_said_as_of_the_whole_file(text: str, said: str) -> None:
    """A file is compiled part by part: connection.py of asyncssh, 9,000 lines, was for each of 160 variants."""
    found = compiler_error(text.encode())
    assert bool(found) is bool(said)
    assert said in found


def test_of_a_file_that_does_not_parse_nothing_else_is_told() -> None:
    """click: a re-indented half was undone, and all that the file defines seemed to be missing."""
    bad = {"a.py": "def f(x):\n    return x\n", "b.py": "import a\na.f(1)\n"}
    good = {**bad, "a.py": "def f(x):\n    return -x\n"}
    variant = {**bad, "a.py": "def f(x):\nreturn -x\n"}
    said = _check(Case(bad, good, variant, "SyntaxError")).against(frozenset({"c1"}))
    assert said.startswith("a.py: IndentationError")
    assert len(said.splitlines()) == 1


def test_a_file_that_no_run_loaded_is_not_read() -> None:
    """What it would miss is missed where the test does not come; a release alters hundreds of them."""
    bad = {"a.py": "def f(x):\n    return x\n", "b.py": "from a import f\n", "c.py": "import b\n"}
    good = {**bad, "a.py": "def f(x):\n    return -x\n"}
    case = Case(bad, good, {**bad, "a.py": "def g(x):\n    return -x\n"}, "ImportError")
    variant = frozenset({"c1"})
    assert _check(case).against(variant)
    assert _check(case, frozenset({"a.py", "b.py"})).against(variant)
    assert not _check(case, frozenset({"a.py", "c.py"})).against(variant)


@pytest.mark.parametrize(
    ("text", "speaks"),
    [
        ("import compat\nx = compat.keys(d)\n", True),
        ("from compat import keys\n", True),
        ("x = keys({})\n", True),
        ("x = getattr(compat, 'keys', None)\n", True),
        ("def keys():\n    pass\n", True),
        ("x = {}.items()\n", False),
        ("x = (\n", True),
    ],
)
def test_whether_the_bad_version_speaks_of_a_name(text: str, *, speaks: bool) -> None:
    check = _check(Case({"a.py": text}, {"a.py": "x = 1\n"}, {"a.py": text}, ""))
    assert check.speaks(frozenset({"keys"})) is speaks
