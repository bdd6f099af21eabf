"""What the calls of two versions did beside each other, and what that says of the changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from python_pairs import one_file, reachable, traced_pair

from afterd.model.trace import Alignment, Conduct

KIND = """
def f(x):
    try:
        a(x)
    except Exception as error:
        return type(error)
"""

# name: the good version, the bad one, the test, the conduct of c1, c2, … (None: not known)
CASES: dict[str, tuple[str, str, str, list[Conduct | None]]] = {
    "a rewriting that does the same, and a fault": (
        "def a(x):\n    y = x + 1\n    return y\n\ndef f(x):\n    return a(x) * 2\n",
        "def a(x):\n    return 1 + x\n\ndef f(x):\n    return a(x) * 3\n",
        "from lib import f\ndef test():\n    assert f(1) == 4\n",
        [Conduct.SAME, Conduct.PARTED],
    ),
    "what was put into a list that its new object had been given already": (
        ("class Stack:\n"
         "    def __init__(self):\n"
         "        self.steps = []\n"
         "\n"
         "def f(x):\n"
         "    return len(Stack().steps)\n"),
        ("class Stack:\n"
         "    def __init__(self, strip=True):\n"
         "        self.steps = []\n"
         "        if strip:\n"
         "            self.steps.append(1)\n"
         "\n"
         "def f(x):\n"
         "    return len(Stack().steps)\n"),
        "from lib import f\ndef test():\n    assert f(1) == 0\n",
        [Conduct.PARTED, Conduct.PARTED],
    ),
    "the same items put into another slice": (
        "def a(x):\n    x[1:-1] = [7, 8]\n    return None\n\ndef f(x):\n    a(x)\n    return len(x)\n",
        "def a(x):\n    x[1:-2] = [7, 8]\n    return None\n\ndef f(x):\n    a(x)\n    return len(x)\n",
        "from lib import f\ndef test():\n    assert f([0, 1, 2, 3]) == 4\n",
        [Conduct.PARTED],
    ),
    "the same value stored by another key": (
        "def a(x):\n    x['low'] = 1\n\ndef f(x):\n    a(x)\n    return x.get('low')\n",
        "def a(x):\n    x['high'] = 1\n\ndef f(x):\n    a(x)\n    return x.get('low')\n",
        "from lib import f\ndef test():\n    assert f({}) == 1\n",
        [Conduct.PARTED],
    ),
    "one call of many that did otherwise": (
        "def a(x):\n    return x\n\ndef f(x):\n    return sum([a(i) for i in range(200)])\n",
        ("def a(x):\n    return x + (x == 100)\n\n"
         "def f(x):\n    return sum([a(i) for i in range(200)])\n"),
        "from lib import f\ndef test():\n    assert f(1) == 19900\n",
        [Conduct.PARTED],
    ),
    "what a caller was not moved by": (
        ("def a(x):\n"
         "    return x\n"
         "\n"
         "def b(x):\n"
         "    return abs(a(x))\n"
         "\n"
         "def f(x):\n"
         "    return b(x) + 1\n"),
        ("def a(x):\n"
         "    return -x\n"
         "\n"
         "def b(x):\n"
         "    return abs(a(x))\n"
         "\n"
         "def f(x):\n"
         "    return b(x) + 2\n"),
        "from lib import f\ndef test():\n    assert f(1) == 2\n",
        [Conduct.ABSORBED, Conduct.PARTED],
    ),
    "raised another exception": (
        "def a(x):\n    return float(x)\n" + KIND,
        "def a(x):\n    return float(x or [])\n" + KIND,
        "from lib import f\ndef test():\n    assert f('') is ValueError\n",
        [Conduct.PARTED],
    ),
    "carried along": (
        ("def a(x):\n"
         "    return x\n"
         "\n"
         "def b(x):\n"
         "    y = x\n"
         "    return y\n"
         "\n"
         "def f(x):\n"
         "    return b(a(x))\n"),
        "def a(x):\n    return x + 1\n\ndef b(x):\n    return x\n\ndef f(x):\n    return b(a(x))\n",
        "from lib import f\ndef test():\n    assert f(1) == 1\n",
        [Conduct.PARTED, Conduct.CARRIED],
    ),
    "a condition that went another way, behind a call that parted": (
        ("def a(x):\n"
         "    return {'later': x}\n"
         "\n"
         "def f(x):\n"
         "    y = a(x)\n"
         "    if y['later']:\n"
         "        return 1\n"
         "    return 0\n"),
        ("def a(x):\n"
         "    return {'later': x, 'now': 1}\n"
         "\n"
         "def f(x):\n"
         "    y = a(x)\n"
         "    if getattr(y, 'later', False):\n"
         "        return 1\n"
         "    return 0\n"),
        "from lib import f\ndef test():\n    assert f(1) == 1\n",
        [Conduct.PARTED, Conduct.PARTED],
    ),
    "a new call that the failure ended: no row is its own": (
        "def low(x):\n    return x.lower()\n\ndef f(x):\n    y = x\n    return y\n",
        (
            "def low(x):\n"
            "    return x.lower()\n"
            "\n"
            "def f(x):\n"
            "    y = x\n"
            "    y = low(y)\n"
            "    return y\n"
        ),
        "from lib import f\ndef test():\n    assert f(None) is None\n",
        [Conduct.PARTED],
    ),
    "a removed function": (
        "def h(x):\n    return x\n\ndef f(x):\n    return h(x)\n",
        "def f(x):\n    return -x\n",
        "from lib import f\ndef test():\n    assert f(1) == 1\n",
        [Conduct.PARTED, Conduct.PARTED],
    ),
    "a constructor that keeps something else, one that does so otherwise, one below another": (
        ("class A:\n"
         "    def __init__(self, x):\n"
         "        self.x = x\n"
         "class B:\n"
         "    def __init__(self, x):\n"
         "        self.x = x + x\n"
         "class C(A):\n"
         "    def __init__(self, x):\n"
         "        super().__init__(x)\n"
         "def f(x):\n"
         "    return A(x).x + B(x).x + C(x).x\n"),
        ("class A:\n"
         "    def __init__(self, x):\n"
         "        self.x = -x\n"
         "class B:\n"
         "    def __init__(self, x):\n"
         "        self.x = 2 * x\n"
         "class C(A):\n"
         "    def __init__(self, x):\n"
         "        A.__init__(self, x)\n"
         "def f(x):\n"
         "    return A(x).x + B(x).x + C(x).x\n"),
        "from lib import f\ndef test():\n    assert f(1) == 4\n",
        [Conduct.PARTED, Conduct.SAME, Conduct.PASSED],
    ),
    "a method by one name more, and by one that nobody says": (
        ("class Missing:\n"
         "    def fail(self, *args):\n"
         "        raise KeyError\n"
         "\n"
         "    __add__ = (\n"
         "        __call__\n"
         "    ) = fail\n"
         "\n"
         "    def size(self):\n"
         "        return 0\n"
         "\n"
         "    refuse = fail\n"
         "    def __iter__(self):\n"
         "        return iter(())\n"),
        ("class Missing:\n"
         "    def fail(self, *args):\n"
         "        raise KeyError\n"
         "\n"
         "    __add__ = __contains__ = __call__ = fail\n"
         "\n"
         "    def size(self):\n"
         "        return 0\n"
         "\n"
         "    refuse = deny = fail\n"
         "    def __iter__(self):\n"
         "        return iter(())\n"),
        "from lib import Missing\ndef test():\n    assert eval('1 in x', {'x': Missing()}) is False\n",
        [Conduct.PARTED, Conduct.SAME],
    ),
    "entries of a table: one that is looked up, one that is not, one that was added": (
        ("WORDS = {\n"
         "    'a': 1,\n"
         "    'b': 2,\n"
         "    'c': 3,\n"
         "    'd': 4,\n"
         "}\n"
         "def f(t):\n"
         "    return WORDS.get(t.lower())\n"),
        ("WORDS = {\n"
         "    'a': 10,\n"
         "    'b': 2,\n"
         "    'c': 30,\n"
         "    'd': 4,\n"
         "    'e': 5,\n"
         "}\n"
         "def f(t):\n"
         "    return WORDS.get(t.lower())\n"),
        "from lib import f\ndef test():\n    assert f('A') == 1\n",
        [Conduct.PARTED, None, None],
    ),
    "a constant of a module, a pattern of another": (
        ("import re\n"
         "A = 1\n"
         "P = re.compile('a+')\n"
         "Q = re.compile('c')\n"
         "def f(t):\n"
         "    return bool(P.fullmatch(t))\n"),
        ("import re\n"
         "A = 0 + 1\n"
         "P = re.compile('b+')\n"
         "Q = re.compile('' 'c')\n"
         "def f(t):\n"
         "    return bool(P.fullmatch(t))\n"),
        "from lib import f\ndef test():\n    assert f('aa')\n",
        [Conduct.PARTED],
    ),
    "a constant that nothing reads, and one that says which function it is": (
        ("__version__ = '1.0'\n"
         "def one(x):\n"
         "    return x\n"
         "def two(x):\n"
         "    return -x\n"
         "class A:\n"
         "    go = staticmethod(one)\n"),
        ("__version__ = '1.1'\n"
         "def one(x):\n"
         "    return x\n"
         "def two(x):\n"
         "    return -x\n"
         "class A:\n"
         "    go = staticmethod(two)\n"),
        "from lib import A\ndef test():\n    assert A.go(1) == 1\n",
        [None, Conduct.PARTED],
    ),
    "what is no longer deleted, and a store of what is there": (
        ("def taken(d):\n"
         "    x = d['a']\n"
         "    del d['a']\n"
         "    return x\n"
         "def known(d):\n"
         "    if 'b' not in d:\n"
         "        d['b'] = 2\n"
         "    return d['b']\n"
         "def f():\n"
         "    d = {'a': 1, 'b': 2}\n"
         "    return taken(d), known(d), d\n"),
        ("def taken(d):\n"
         "    x = d['a']\n"
         "    return x\n"
         "def known(d):\n"
         "    found = d.get('b') or 2\n"
         "    d['b'] = found\n"
         "    return found\n"
         "def f():\n"
         "    d = {'a': 1, 'b': 2}\n"
         "    return taken(d), known(d), d\n"),
        "from lib import f\ndef test():\n    assert 'a' not in f()[2]\n",
        [Conduct.PARTED, Conduct.SAME],
    ),
    "a parameter that is written otherwise, and was given another value": (
        "def g(x=0):\n    y = x\n    return y\n\ndef f():\n    return g(1)\n",
        "def g(x: int = 0):\n    return x\n\ndef f():\n    return g(2)\n",
        "from lib import f\ndef test():\n    assert f() == 1\n",
        [Conduct.CARRIED, Conduct.PARTED],
    ),
    "an object of a class that was made from the other's": (
        ("class A:\n"
         "    def __init__(self, x):\n"
         "        self.x = x\n"
         "class B(A):\n"
         "    pass\n"
         "def make():\n"
         "    return B(1)\n"
         "def f():\n"
         "    return make().x\n"),
        ("class A:\n"
         "    def __init__(self, x):\n"
         "        self.x = x\n"
         "class B(A):\n"
         "    pass\n"
         "def make():\n"
         "    return A(1)\n"
         "def f():\n"
         "    return make().x + 1\n"),
        "from lib import f\ndef test():\n    assert f() == 1\n",
        [None, Conduct.PARTED],
    ),
    "the same, written to another object: of one class, and of another one that is found elsewhere": (
        ("import contextlib, io, sys\n"
         "def put(out, spare, x):\n"
         "    out.append(x)\n"
         "def told(text):\n"
         "    sys.stderr.write(text)\n"
         "def tell(text):\n"
         "    with contextlib.redirect_stderr(sys.stderr):\n"
         "        told(text)\n"
         "def f(x):\n"
         "    out = []\n"
         "    spare = []\n"
         "    put(out, spare, x)\n"
         "    with contextlib.redirect_stderr(io.StringIO()) as text:\n"
         "        tell('x')\n"
         "    return text.getvalue(), out, spare\n"),
        ("import contextlib, io, os, sys\n"
         "def put(out, spare, x):\n"
         "    spare.append(x)\n"
         "def told(text):\n"
         "    sys.stderr.write(text)\n"
         "def tell(text):\n"
         "    with open(os.devnull, 'w') as nowhere, contextlib.redirect_stderr(nowhere):\n"
         "        told(text)\n"
         "def f(x):\n"
         "    out = []\n"
         "    spare = []\n"
         "    put(out, spare, x)\n"
         "    with contextlib.redirect_stderr(io.StringIO()) as text:\n"
         "        tell('x')\n"
         "    return text.getvalue(), out, spare\n"),
        "from lib import f\ndef test():\n    assert f(1) == ('x', [1], [])\n",
        [Conduct.NEUTRAL, Conduct.PARTED, Conduct.PASSED],
    ),
    "an attribute that one run alone wrote over: its caller did not do as in green": (
        ("from dataclasses import dataclass\n"
         "@dataclass\n"
         "class P:\n"
         "    x: object\n"
         "def spec(p):\n"
         "    return None\n"
         "def found(p):\n"
         "    spec(p)\n"
         "    return [p]\n"
         "def f(x):\n"
         "    return [p.x for p in found(P(x))]\n"),
        ("from dataclasses import dataclass\n"
         "@dataclass\n"
         "class P:\n"
         "    x: object\n"
         "def spec(p):\n"
         "    p.x = {'a': 1}\n"
         "def found(p):\n"
         "    spec(p)\n"
         "    return [p]\n"
         "def f(x):\n"
         "    return [p.x for p in found(P(x))]\n"),
        "from lib import f\ndef test():\n    assert f(1) == [1]\n",
        [Conduct.PARTED],
    ),
    "a function that is called for what it does, and no longer is": (
        ("class P:\n"
         "    def __init__(self):\n"
         "        self.y = 0\n"
         "    def restore(self, state):\n"
         "        put = object.__setattr__.__get__(self)\n"
         "        for name, value in state.items():\n"
         "            put(name, value)\n"
         "def f(state):\n"
         "    p = P()\n"
         "    p.restore(state)\n"
         "    return p\n"),
        ("class P:\n"
         "    def __init__(self):\n"
         "        self.y = 0\n"
         "    def restore(self, state):\n"
         "        put = object.__setattr__.__get__(self)\n"
         "        for name, value in state.items():\n"
         "            if name.isupper():\n"
         "                put(name, value)\n"
         "def f(state):\n"
         "    p = P()\n"
         "    p.restore(state)\n"
         "    return p\n"),
        "from lib import f\ndef test():\n    assert f({'x': 1}).x == 1\n",
        [Conduct.PARTED],
    ),
    "an option that a parameter takes out of those that are passed on": (
        ("def put(**options):\n"
         "    return options.get('size', 0)\n"
         "def connect(host, **options):\n"
         "    return put(**options)\n"),
        ("def put(**options):\n"
         "    return options.get('size', 0)\n"
         "def connect(host, size=1, **options):\n"
         "    return put(**options)\n"),
        "from lib import connect\ndef test():\n    assert connect('h', size=2, other=1) == 2\n",
        [Conduct.PARTED],
    ),
    "a default": (
        "def f(x, *, y=1):\n    return x + y\n",
        "def f(x, *, y=2):\n    return x + y\n",
        "from lib import f\ndef test():\n    assert f(1) == 2\n",
        [Conduct.PARTED],
    ),
    "nothing can be told apart": (
        "def f(x):\n    return iter([x])\n",
        "def f(x):\n    return iter([-x])\n",
        "from lib import f\ndef test():\n    assert next(f(1)) == 1\n",
        [None],
    ),
    "left by an exception": (
        "def a(x):\n    return None\n\ndef b(x):\n    a(x)\n\ndef f(x):\n    b(x)\n    return 1\n",
        ("def a(x):\n"
         "    raise ValueError(x)\n"
         "\n"
         "def b(x):\n"
         "    a(x)\n"
         "\n"
         "def f(x):\n"
         "    b(x)\n"
         "    return 1\n"),
        "from lib import f\ndef test():\n    assert f(1) == 1\n",
        [Conduct.PARTED],
    ),
    "a store into an object that a caller handed on": (
        ("class Best:\n"
         "    def __init__(self):\n"
         "        self.best = None\n"
         "    def add(self, x):\n"
         "        if self.best is None or self.replaces(x):\n"
         "            self.best = x\n"
         "    def replaces(self, x):\n"
         "        return x < self.best\n"
         "class First(Best):\n"
         "    def replaces(self, x):\n"
         "        return False\n"
         "def f(xs):\n"
         "    best = First()\n"
         "    for x in xs:\n"
         "        best.add(x)\n"
         "    return best\n"),
        ("class Best:\n"
         "    def __init__(self):\n"
         "        self.best = None\n"
         "    def add(self, x):\n"
         "        if self.best is None or self.replaces(x):\n"
         "            self.best = x\n"
         "    def replaces(self, x):\n"
         "        return x < self.best\n"
         "class First(Best):\n"
         "    pass\n"
         "def f(xs):\n"
         "    best = First()\n"
         "    for x in xs:\n"
         "        best.add(x)\n"
         "    return best\n"),
        "from lib import f\ndef test():\n    assert f([3, 1, 2]).best == 3\n",
        [Conduct.PARTED],
    ),
    "what is handed on to a call that stores it": (
        ("class Box:\n"
         "    def put(self, x):\n"
         "        self.x = x\n"
         "def g(box):\n"
         "    box.put(1)\n"
         "def f():\n"
         "    box = Box()\n"
         "    g(box)\n"
         "    return box\n"),
        ("class Box:\n"
         "    def put(self, x):\n"
         "        self.x = x\n"
         "def g(box):\n"
         "    box.put(2)\n"
         "def f():\n"
         "    box = Box()\n"
         "    g(box)\n"
         "    return box\n"),
        "from lib import f\ndef test():\n    assert f().x == 1\n",
        [Conduct.PARTED],
    ),
    "a generator that ends too early, and the one that it takes from": (
        ("def numbers(xs):\n"
         "    for x in xs:\n"
         "        y = x + 0\n"
         "        yield y\n"
         "\n"
         "def distinct(xs):\n"
         "    seen = set()\n"
         "    for x in xs:\n"
         "        if x in seen:\n"
         "            continue\n"
         "        seen.add(x)\n"
         "        yield x\n"),
        ("def numbers(xs):\n"
         "    for x in xs:\n"
         "        yield 0 + x\n"
         "\n"
         "def distinct(xs):\n"
         "    seen = set()\n"
         "    for x in xs:\n"
         "        if x in seen:\n"
         "            return\n"
         "        seen.add(x)\n"
         "        yield x\n"),
        ("from lib import distinct, numbers\n"
         "def test():\n"
         "    assert list(distinct(numbers([1, 1, 2]))) == [1, 2]\n"),
        [Conduct.SAME, Conduct.PARTED],
    ),
    "a generator that was given less": (
        ("def few(xs):\n"
         "    return xs[1:]\n"
         "\n"
         "def twice(xs):\n"
         "    for x in xs:\n"
         "        y = x * 2\n"
         "        yield y\n"
         "\n"
         "def f(xs):\n"
         "    return list(twice(iter(few(xs))))\n"),
        ("def few(xs):\n"
         "    return xs[2:]\n"
         "\n"
         "def twice(xs):\n"
         "    for x in xs:\n"
         "        yield 2 * x\n"
         "\n"
         "def f(xs):\n"
         "    return list(twice(iter(few(xs))))\n"),
        "from lib import f\ndef test():\n    assert f([1, 2, 3]) == [4, 6]\n",
        [Conduct.PARTED, Conduct.CARRIED],
    ),
    "generators that hand out the same, item by item and at once": (
        ("def both(a, b):\n"
         "    yield a\n"
         "    yield b\n"
         "\n"
         "def every(a, b):\n"
         "    yield from both(a, b)\n"
         "\n"
         "def known(x):\n"
         "    return x in (1, 2)\n"
         "\n"
         "def f():\n"
         "    for x in every(1, 2):\n"
         "        if not known(x):\n"
         "            return False\n"
         "    return 1\n"),
        ("def both(a, b):\n"
         "    yield from (a, b)\n"
         "\n"
         "def every(a, b):\n"
         "    yield from both(a, b)\n"
         "\n"
         "def known(x):\n"
         "    return x == 1 or x == 2\n"
         "\n"
         "def f():\n"
         "    for x in every(1, 2):\n"
         "        if not known(x):\n"
         "            return False\n"
         "    return 2\n"),
        "from lib import f\ndef test():\n    assert f() == 1\n",
        [Conduct.SAME, Conduct.SAME, Conduct.PARTED],
    ),
    "nobody knows what an object of its own, that is not followed, did with what it was not given": (
        ("import shelve\n"
         "\n"
         "def f(path):\n"
         "    kept = shelve.open(path)\n"
         "    if kept is not None:\n"
         "        kept['a'] = 1\n"
         "    return path\n"),
        ("import shelve\n"
         "\n"
         "def f(path):\n"
         "    kept = shelve.open(path)\n"
         "    if kept:\n"
         "        kept['a'] = 1\n"
         "    return path\n"),
        "import shelve\nfrom lib import f\n"
        "def test(tmp_path):\n    assert 'a' in shelve.open(f(str(tmp_path / 'k')))\n",
        [None],
    ),
    "a stream of its own that was filled with the same in another way": (
        ("import io\n"
         "\n"
         "def f(x):\n"
         "    out = io.StringIO()\n"
         "    out.write(x)\n"
         "    return out.getvalue()\n"),
        ("import io\n"
         "\n"
         "def f(x):\n"
         "    out = io.StringIO()\n"
         "    out.write(x + '')\n"
         "    return out.getvalue()\n"),
        "from lib import f\ndef test():\n    assert f('a') == 'b'\n",
        [Conduct.SAME],
    ),
    "a caller that was divided: what did otherwise is below the new function": (
        ("def takes(x):\n"
         "    return x > 1\n"
         "\n"
         "def f(xs):\n"
         "    found = []\n"
         "    for x in xs:\n"
         "        found.append(takes(x))\n"
         "    return found\n"),
        ("def takes(x):\n"
         "    return x > 2\n"
         "\n"
         "def every(xs):\n"
         "    return [takes(x) for x in xs]\n"
         "\n"
         "def f(xs):\n"
         "    return every(xs)\n"),
        "from lib import f\ndef test():\n    assert f([2]) == [True]\n",
        [Conduct.PARTED, Conduct.PASSED],
    ),
    "a maker that one alone was given more": (
        ("from textwrap import TextWrapper\n"
         "def wrapper(width):\n"
         "    return TextWrapper(width=width)\n"),
        ("from textwrap import TextWrapper\n"
         "def wrapper(width):\n"
         "    return TextWrapper()\n"),
        "from lib import wrapper\ndef test():\n    assert wrapper(5).fill('a b c d') == 'a b c\\nd'\n",
        [None],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_conduct(case: tuple[str, str, str, list[Conduct | None]], tmp_path: Path) -> None:
    good, bad, test, expected = case
    files = {"lib.py": good, "test_lib.py": test}, {"lib.py": bad, "test_lib.py": test}
    execution = traced_pair(tmp_path, *files)
    found = execution.conduct()
    names = [change.id for change in execution.changes]
    if len(expected) < len(names):  # hunks that stand together
        assert expected[0] in found.values()
    else:
        assert [found.get(name) for name in names] == expected


COMMON = "import lib\n\n"

# What code that is not followed keeps from the slice: the guilty change must be suspected all the same.
GAPS: dict[str, tuple[str, str, str]] = {
    "an item that a generator passed over": (
        ("def distinct():\n"
         "    def go(xs):\n"
         "        seen = set()\n"
         "        for x in xs:\n"
         "            if x in seen:\n"
         "                continue\n"
         "            seen.add(x)\n"
         "            yield x\n"
         "    return go\n"),
        ("def distinct():\n"
         "    seen = set()\n"
         "    def go(xs):\n"
         "        for x in xs:\n"
         "            if x in seen:\n"
         "                continue\n"
         "            seen.add(x)\n"
         "            yield x\n"
         "    return go\n"),
        ("def test():\n"
         "    go = lib.distinct()\n"
         "    first = list(go([1, 1, 2]))\n"
         "    assert list(go([1, 1, 2])) == first\n"),
    ),
    "a generated comparison": (
        ("from dataclasses import dataclass, field\n"
         "\n"
         "@dataclass\n"
         "class P:\n"
         "    x: int\n"
         "    at: int = field(default=0, compare=False)\n"),
        ("from dataclasses import dataclass, field\n"
         "\n"
         "@dataclass\n"
         "class P:\n"
         "    x: int\n"
         "    at: int = 0\n"),
        "def test():\n    assert lib.P(1, 2) == lib.P(1, 3)\n",
    ),
    "a context variable that is not reset": (
        ("from contextlib import contextmanager\n"
         "from contextvars import ContextVar\n"
         "V = ContextVar('v', default=1)\n"
         "\n"
         "@contextmanager\n"
         "def other():\n"
         "    token = V.set(2)\n"
         "    try:\n"
         "        yield\n"
         "    finally:\n"
         "        V.reset(token)\n"
         "\n"
         "def now():\n"
         "    return V.get()\n"),
        ("from contextlib import contextmanager\n"
         "from contextvars import ContextVar\n"
         "V = ContextVar('v', default=1)\n"
         "\n"
         "@contextmanager\n"
         "def other():\n"
         "    V.set(2)\n"
         "    yield\n"
         "\n"
         "def now():\n"
         "    return V.get()\n"),
        "def test():\n    with lib.other():\n        pass\n    assert lib.now() == 1\n",
    ),
    "a context variable that is not reset after an error": (
        ("from contextlib import contextmanager\n"
         "from contextvars import ContextVar\n"
         "V = ContextVar('v', default=1)\n"
         "\n"
         "@contextmanager\n"
         "def other():\n"
         "    token = V.set(2)\n"
         "    try:\n"
         "        yield V\n"
         "    finally:\n"
         "        V.reset(token)\n"),
        ("from contextlib import contextmanager\n"
         "from contextvars import ContextVar\n"
         "V = ContextVar('v', default=1)\n"
         "\n"
         "@contextmanager\n"
         "def other():\n"
         "    token = V.set(2)\n"
         "    yield V\n"
         "    V.reset(token)\n"),
        ("def test():\n"
         "    try:\n"
         "        with lib.other():\n"
         "            raise ValueError\n"
         "    except ValueError:\n"
         "        pass\n"
         "    assert lib.V.get() == 1\n"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", GAPS.values(), ids=GAPS)
def test_a_change_is_seen_across_code_that_is_not_followed(
    case: tuple[str, str, str], tmp_path: Path
) -> None:
    good, bad, test = case
    old, new = ({"lib.py": text, "test_lib.py": COMMON + test} for text in (good, bad))
    found = traced_pair(tmp_path, old, new).conduct()
    assert Conduct.PARTED in found.values()


def test_a_parameter_that_only_one_run_bound_is_its_calls_too(tmp_path: Path) -> None:
    """The call gave nothing, so no step is its own: what it handed over is what led to the failure."""
    text = "def low(x):\n    return x.lower()\n\ndef f(x):\n    y = x\n{}    return y\n"
    test = "from lib import f\ndef test():\n    assert f(None) is None\n"
    calls = ("", "    y = low(y)\n")
    old, new = ({"lib.py": text.format(call), "test_lib.py": test} for call in calls)
    execution = traced_pair(tmp_path, old, new)
    trace = execution.trace
    steps = [execution.step(trace.number(row)) for row in range(len(trace))]
    handed = [step for step in steps if step.target == "x of low()"]
    assert [(step.changes, step.location.line, step.text) for step in handed] == [
        (("c1",), 6, "y = low(y)")
    ]


def test_objects_that_hold_other_things_are_not_alike(tmp_path: Path) -> None:
    """``box`` is a Box in both runs; what was put into it is not the same."""
    text = (
        "class Box:\n    def __init__(self, x):\n        self.x = x\n\n"
        "def f():\n    box = Box({})\n    return box\n"
    )
    test = "import lib\ndef test():\n    box = lib.f()\n    assert box.x == 1\n"
    old, new = ({"lib.py": text.format(value), "test_lib.py": test} for value in (1, 2))
    execution = traced_pair(tmp_path, old, new)
    trace = execution.trace
    steps = (execution.step(trace.number(row)) for row in range(len(trace)))
    boxes = [step for step in steps if step.target == "box"]
    assert boxes
    assert all(step.green.alignment is Alignment.DIFFERENT for step in boxes)


def test_what_two_calls_made_is_not_known_to_be_alike_where_one_was_given_more(
    tmp_path: Path,
) -> None:
    """Both are a TextWrapper, of which nothing is recorded; what it fills differs."""
    text = "from textwrap import TextWrapper\n\ndef f():\n    wrapper = TextWrapper({})\n    return wrapper\n"
    test = "import lib\ndef test():\n    assert lib.f().fill('a b c') == 'a b\\nc'\n"
    old, new = ({"lib.py": text.format(given), "test_lib.py": test} for given in ("width=3", ""))
    execution = traced_pair(tmp_path, old, new)
    trace = execution.trace
    steps = (execution.step(trace.number(row)) for row in range(len(trace)))
    made = [step for step in steps if step.target == "wrapper"]
    assert made
    assert all(step.green.alignment is Alignment.UNKNOWN for step in made)


def test_what_a_callback_passed_over_is_an_influence(tmp_path: Path) -> None:
    """``list(…)`` has fewer items: the branch in the generator is behind it."""
    text = "def few(xs):\n    for x in xs:\n        if x > {}:\n            yield x\n"
    test = "import lib\ndef test():\n    got = list(lib.few([1, 2, 3]))\n    assert got == [2, 3]\n"
    old, new = ({"lib.py": text.format(limit), "test_lib.py": test} for limit in (1, 3))
    execution = traced_pair(tmp_path, old, new)
    trace = execution.trace
    (got,) = (
        step
        for step in (execution.step(trace.number(row)) for row in range(len(trace)))
        if step.target == "got"
    )
    texts = [
        execution.step(branch).text for branch in execution.indirect_influences(got.id, got.id)
    ]
    assert "if x > 3:" in texts


def test_what_a_subclass_of_a_list_was_given_leads_to_who_gave_it(tmp_path: Path) -> None:
    """``<LoggingList> where [] was expected``, and no step between the change and that."""
    good = """
        class Log(list):
            def append(self, item):
                print(item)
                super().append(item)
        def report(found, name):
            found.append(name)
        def check(names):
            found = Log()
            for name in names:
                if name.isupper():
                    report(found, name)
            return found
    """
    test = """
        import lib
        def test():
            assert lib.check(["a", "B"]) == []
    """
    bad = good.replace("isupper", "strip")
    execution = one_file(tmp_path, good, bad, test.replace("[]", "['B']"))
    steps = list(reachable(execution))
    assert any(step.text == "super().append(item)" for step in steps), [s.text for s in steps]
    (given,) = [step for step in steps if step.text == "return found"]
    assert (given.rendered, given.green.shown) == ("Log(['a', 'B'])", "Log(['B'])")
