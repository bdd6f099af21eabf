"""Failing runs of real processes, end to end: which failure, which steps, which changes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from python_pairs import (
    PYTEST,
    changes_of,
    compared,
    one_file,
    reachable,
    request_for,
    suspects,
    traced_pair,
)

from afterd.causality.infection import Green, Role, role
from afterd.compare.python.execution import PythonExecution
from afterd.logic.evaluation import UNKNOWN, evaluate
from afterd.logic.terms import distinct_reads
from afterd.model.outcome import FailureKind
from afterd.model.term import Apply, Op, Read, reads
from afterd.model.trace import Alignment, Conduct, Step, StepKind

SCRIPT = (sys.executable, "main.py")
SCRIPT_TEST = (sys.executable, "test_lib.py")
UNITTEST = (sys.executable, "-m", "unittest", "-q", "test_lib")

AFTER_EXAMPLE = """\
import sys

def f(x, y, z):
    ordered = {ordered}
    if not ordered:
        if {comparison}:
            total = x
        else:
            total = y
    else:
        total = x
    if z > 0:
        total = total {sign} z
    else:
        total = total - z
    return total

assert f(3, 2, 1) == 4
"""


def test_running_example_of_the_paper(tmp_path: Path) -> None:
    """AFTER, Figs. 6 to 8: the cause's chain, its critical predicates, both versions' values."""
    good = AFTER_EXAMPLE.format(ordered="True", comparison="x > y", sign="+")
    bad = AFTER_EXAMPLE.format(ordered="False", comparison="x < y", sign="-")
    execution = traced_pair(tmp_path, {"main.py": good}, {"main.py": bad}, SCRIPT)
    (failure,) = execution.failures()
    assert failure.kind is FailureKind.ASSERTION
    assert (failure.observed, failure.expected) == ("1", "4")
    returned = execution.step(next(reads(failure.condition)).step)
    total = execution.step(next(reads(returned.term)).step)
    assert (total.text, total.rendered) == ("total = total - z", "1")
    assert (total.green.alignment, total.green.rendered) == (Alignment.DIFFERENT, "4")
    assert isinstance(total.term, Apply)
    assert total.term.op is Op.SUB
    assert total.changes == ("c3",)
    earlier = execution.step(next(reads(total.term)).step)
    assert (earlier.text, earlier.value) == ("total = y", 2)
    assert earlier.control is not None
    branch = execution.step(earlier.control)
    assert (branch.kind, branch.value, branch.changes) == (StepKind.BRANCH, False, ("c2",))
    assert suspects(execution) == {"c1", "c2", "c3"}
    assert [worth(execution, step) for step in (total, branch)] == [3, True]


def worth(execution: PythonExecution, step: Step) -> object:
    """What the statement as it stood in the good version would have made of the same values."""
    old = execution.step(step.id).old
    assert old is not None
    return evaluate(old)


STORE = """\
class Box:
    def __init__(self, value):
        self.value = value
    def get(self):
        return self.value
class Store:
    def __init__(self):
        self.__dict__['items_'] = {{}}
{}
    def read(self, key):
        if key not in self.items_:
            return None
        return self.items_[key]
def filled():
    s = Store()
    box = Box(object())
    for value in (1, {}):
        box = Box([value])
    {}
    return s.read('a')
"""


def _store(method: str, stored: str, value: int) -> str:
    """A store, one of whose values comes by an assignment that calls a method."""
    return STORE.format(method, value, stored)


STORED = "from lib import filled\ndef test():\n    assert filled() == [2]\n"
SCENARIOS = {
    "default argument": (
        "def scale(x, by=2):\n    return x * by\n",
        "def scale(x, by=3):\n    return x * by\n",
        "from lib import scale\ndef test():\n    assert scale(2) == 4\n",
    ),
    "module constant": (
        "LIMIT = 10\ndef ok(n):\n    return n < LIMIT\n",
        "LIMIT = 1\ndef ok(n):\n    return n < LIMIT\n",
        "import lib\ndef test():\n    assert lib.ok(5)\n",
    ),
    "dropped return": (
        "def add(a, b):\n    total = a + b\n    return total\n",
        "def add(a, b):\n    total = a + b\n",
        "from lib import add\ndef test():\n    assert add(1, 2) == 3\n",
    ),
    "removed call": (
        "def build():\n    items = []\n    items.append(1)\n    items.append(2)\n"
        "    return items\n",
        "def build():\n    items = []\n    items.append(1)\n    return items\n",
        "from lib import build\ndef test():\n    assert build() == [1, 2]\n",
    ),
    "a method by a name of its own": (
        "def shown(n):\n    return f'<{n}>'\n"
        "def joined(ns):\n    parts = []\n    append = parts.append\n    for n in ns:\n"
        "        append(shown(n))\n    text = ''.join(parts)\n    return text\n",
        "def shown(n):\n    return f'[{n}]'\n"
        "def joined(ns):\n    parts = []\n    append = parts.append\n    for n in ns:\n"
        "        append(shown(n))\n    text = ''.join(parts)\n    return text\n",
        "from lib import joined\ndef test():\n    assert joined([1, 2]) == '<1><2>'\n",
    ),
    "import-time table": (
        "TABLE = {\n    'a': 1,\n    'b': 2,\n}\ndef get(k):\n    return TABLE[k]\n",
        "TABLE = {\n    'a': 1,\n    'b': 3,\n}\ndef get(k):\n    return TABLE[k]\n",
        "from lib import get\ndef test():\n    assert get('b') == 2\n",
    ),
    "a name that a function inside gives a value": (
        "def source():\n    return [2]\ndef run():\n    x = None\n    def put():\n        nonlocal x\n"
        "        x = source()\n    put()\n    return x\n",
        "def source():\n    return [3]\ndef run():\n    x = None\n    def put():\n        nonlocal x\n"
        "        x = source()\n    put()\n    return x\n",
        "from lib import run\ndef test():\n    assert run() == [2]\n",
    ),
    "an item of a counter": (
        "import collections\ndef size():\n    return len([2] * 2)\ndef run():\n    found = collections.Counter()\n"
        "    found['a'] += size()\n    return found['a']\n",
        "import collections\ndef size():\n    return len([2] * 3)\ndef run():\n    found = collections.Counter()\n"
        "    found['a'] += size()\n    return found['a']\n",
        "from lib import run\ndef test():\n    assert run() == 2\n",
    ),
    "what is stored by an item": (
        _store(
            "    def __setitem__(self, key, value):\n        self.items_[key] = value\n",
            "s['a'] = box.get()",
            2,
        ),
        _store(
            "    def __setitem__(self, key, value):\n        self.items_[key] = value\n",
            "s['a'] = box.get()",
            3,
        ),
        STORED,
    ),
    "what is stored by one of several items": (
        _store(
            "    def __setitem__(self, key, value):\n        self.items_[key] = value\n",
            "s['a'], other = box.get(), 0",
            2,
        ),
        _store(
            "    def __setitem__(self, key, value):\n        self.items_[key] = value\n",
            "s['a'], other = box.get(), 0",
            3,
        ),
        STORED,
    ),
    "what is stored in an item, unpacked": (
        _store(
            "    def __setitem__(self, key, value):\n        self.items_[key] = value\n",
            "s['a'], other = (box.get(), 0)[:2]",
            2,
        ),
        _store(
            "    def __setitem__(self, key, value):\n        self.items_[key] = value\n",
            "s['a'], other = (box.get(), 0)[:2]",
            3,
        ),
        STORED,
    ),
    "what is stored by names alone": (
        _store(
            "    def __setitem__(self, key, value):\n        self.items_[key] = value\n",
            "for k, v in {'a': box.get()}.items():\n        s[k] = v",
            2,
        ),
        _store(
            "    def __setitem__(self, key, value):\n        self.items_[key] = value\n",
            "for k, v in {'a': box.get()}.items():\n        s[k] = v",
            3,
        ),
        STORED,
    ),
    "what is stored by name of the method": (
        _store(
            "    def __setitem__(self, key, value):\n        self.items_[key] = value\n",
            "s.__setitem__('a', box.get())",
            2,
        ),
        _store(
            "    def __setitem__(self, key, value):\n        self.items_[key] = value\n",
            "s.__setitem__('a', box.get())",
            3,
        ),
        STORED,
    ),
    "what is stored after an item of another": (
        _store(
            "    def __setitem__(self, key, value):\n        self.items_[key] = value\n",
            "s['b'] = 1\n    s['a'] = box.get()",
            2,
        ),
        _store(
            "    def __setitem__(self, key, value):\n        self.items_[key] = value\n",
            "s['b'] = 1\n    s['a'] = box.get()",
            3,
        ),
        STORED,
    ),
    "what is stored through a property": (
        _store(
            "    @property\n    def a(self):\n        return self.items_['a']\n    @a.setter\n"
            "    def a(self, value):\n        self.items_['a'] = value\n",
            "s.a = box.get()",
            2,
        ),
        _store(
            "    @property\n    def a(self):\n        return self.items_['a']\n    @a.setter\n"
            "    def a(self, value):\n        self.items_['a'] = value\n",
            "s.a = box.get()",
            3,
        ),
        STORED,
    ),
    "what is stored by an attribute's name": (
        _store(
            "    def __setattr__(self, name, value):\n        self.__dict__.setdefault('items_', {})[name] = value\n",
            "s.a = box.get()",
            2,
        ),
        _store(
            "    def __setattr__(self, name, value):\n        self.__dict__.setdefault('items_', {})[name] = value\n",
            "s.a = box.get()",
            3,
        ),
        STORED,
    ),
    "decorator taken away": (
        "def twice(f):\n    def inner(x):\n        return 2 * f(x)\n    return inner\n"
        "@twice\ndef same(x):\n    return x\n",
        "def twice(f):\n    def inner(x):\n        return 2 * f(x)\n    return inner\n"
        "def same(x):\n    return x\n",
        "from lib import same\ndef test():\n    assert same(2) == 4\n",
    ),
    "an __eq__": (
        "class P:\n    def __init__(self, x):\n        self.x = x\n"
        "    def __eq__(self, other):\n        return self.x == other.x\n",
        "class P:\n    def __init__(self, x):\n        self.x = x\n"
        "    def __eq__(self, other):\n        return self.x is other\n",
        "from lib import P\ndef test():\n    assert P(1) == P(1)\n",
    ),
    "a method by one name more": (
        "class Missing:\n    def fail(self, *args):\n        raise KeyError\n"
        "    __add__ = fail\n    def __iter__(self):\n        return iter(())\n",
        "class Missing:\n    def fail(self, *args):\n        raise KeyError\n"
        "    __add__ = __contains__ = fail\n    def __iter__(self):\n        return iter(())\n",
        "from lib import Missing\ndef test():\n    assert eval('1 in x', {'x': Missing()}) is False\n",
    ),
    "a generator": (
        "def up(n):\n    i = 0\n    while i < n:\n        yield i\n        i += 1\n",
        "def up(n):\n    i = 0\n    while i < n:\n        yield i\n        i += 2\n",
        "from lib import up\ndef test():\n    assert [x for x in up(3)] == [0, 1, 2]\n",
    ),
    "class attribute": (
        "class A:\n    rate = 5\n    def pay(self):\n        return self.rate * 2\n",
        "class A:\n    rate = 6\n    def pay(self):\n        return self.rate * 2\n",
        "from lib import A\ndef test():\n    assert A().pay() == 10\n",
    ),
    "shared list mutated": (
        "def fill(acc):\n    acc = list(acc)\n    acc.append(1)\n    return acc\nBASE = [0]\n",
        "def fill(acc):\n    acc.append(1)\n    return acc\nBASE = [0]\n",
        "import lib\ndef test():\n    lib.fill(lib.BASE)\n    assert lib.BASE == [0]\n",
    ),
    "sort key": (
        "def order(xs):\n    return sorted(xs, key=lambda p: (p[0], p[1]))\n",
        "def order(xs):\n    return sorted(xs, key=lambda p: (p[1], p[0]))\n",
        "from lib import order\ndef test():\n    assert order([(1, 2), (2, 1)])[0] == (1, 2)\n",
    ),
    "guard removed": (
        "def div(a, b):\n    if b == 0:\n        return 0\n    return a // b\n",
        "def div(a, b):\n    return a // b\n",
        "from lib import div\ndef test():\n    assert div(1, 0) == 0\n",
    ),
    "options that are handed over together": (
        "def size(x):\n    return x\ndef put(**options):\n    return options.get('size')\n"
        "def make(x, **options):\n    options['size'] = size(x)\n    found = put(**options)\n"
        "    return found\n",
        "def size(x):\n    return x + 1\ndef put(**options):\n    return options.get('size')\n"
        "def make(x, **options):\n    options['size'] = size(x)\n    found = put(**options)\n"
        "    return found\n",
        "from lib import make\ndef test():\n    assert make(1) == 1\n",
    ),
    "a parameter that takes an option out of those that are passed on": (
        "class Options:\n    def __init__(self, **options):\n        self.options = {}\n"
        "        self.options.update(options)\n        self.prepare(**self.options)\n"
        "    def prepare(self, size=1):\n        self.size = size\n"
        "def connect(host, *,\n            port=0,\n            **options):\n"
        "    made = Options(**options)\n    return made.size\n",
        "class Options:\n    def __init__(self, **options):\n        self.options = {}\n"
        "        self.options.update(options)\n        self.prepare(**self.options)\n"
        "    def prepare(self, size=1):\n        self.size = size\n"
        "def connect(host, *,\n            port=0, size=0,\n            **options):\n"
        "    made = Options(**options)\n    return made.size\n",
        "from lib import connect\ndef test():\n    n = connect('h', size=5)\n    assert n == 5\n",
    ),
    "another base class": (
        "class Sized:\n    def size(self):\n        return 1\nclass Plain:\n    pass\n"
        "class A(Sized):\n    def __getattr__(self, name):\n        return lambda: len(name)\n",
        "class Sized:\n    def size(self):\n        return 1\nclass Plain:\n    pass\n"
        "class A(Plain):\n    def __getattr__(self, name):\n        return lambda: len(name)\n",
        "from lib import A\ndef test():\n    a = A()\n    assert a.size() == 1\n",
    ),
    "another base class, and what looks attributes up is left by an exception": (
        "class Sized:\n    def size(self):\n        return 1\nclass Plain:\n    pass\n"
        "class A(Sized):\n    fields = {'a': 1}\n"
        "    def __getattr__(self, name):\n        return self[name]\n"
        "    def __getitem__(self, item):\n        try:\n            return self.fields[item]\n"
        "        except KeyError:\n            raise AttributeError(item) from None\n",
        "class Sized:\n    def size(self):\n        return 1\nclass Plain:\n    pass\n"
        "class A(Plain):\n    fields = {'a': 1}\n"
        "    def __getattr__(self, name):\n        return self[name]\n"
        "    def __getitem__(self, item):\n        try:\n            return self.fields[item]\n"
        "        except KeyError:\n            raise AttributeError(item) from None\n",
        "from lib import A\ndef test():\n    a = A()\n    n = a.size()\n    assert n == 1\n",
    ),
    "an attribute that no base class has any more": (
        "class Sized:\n    def size(self):\n        return 1\nclass Plain:\n    pass\n"
        "class A(Sized):\n    x = 1\ndef made(kinds):\n    return [kind() for kind in kinds]\n",
        "class Sized:\n    def size(self):\n        return 1\nclass Plain:\n    pass\n"
        "class A(Plain):\n    x = 1\ndef made(kinds):\n    return [kind() for kind in kinds]\n",
        "from lib import A, made\ndef test():\n    a, = made([A])\n    n = a.size()\n    assert n == 1\n",
    ),
    "who it is an instance of": (
        "class Sized:\n    pass\nclass Plain:\n    pass\nclass A(Sized):\n    x = 1\n"
        "def made(kinds):\n    return [kind() for kind in kinds]\n"
        "def ok(each):\n    return isinstance(each, Sized)\n",
        "class Sized:\n    pass\nclass Plain:\n    pass\nclass A(Plain):\n    x = 1\n"
        "def made(kinds):\n    return [kind() for kind in kinds]\n"
        "def ok(each):\n    return isinstance(each, Sized)\n",
        "from lib import A, made, ok\ndef test():\n    a, = made([A])\n    assert ok(a)\n",
    ),
    "what a class's decorator does": (
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n"
        "def move(p):\n    p.x = 2\n    return p\n",
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass P:\n    x: int\n"
        "def move(p):\n    p.x = 2\n    return p\n",
        "from lib import P, move\ndef test():\n    p = P(1)\n    move(p)\n    assert p.x == 2\n",
    ),
    "what a mock was called with": (
        "import time\ndef wait(n):\n    time.sleep(n + 1)\n",
        "import time\ndef wait(n):\n    time.sleep(n + 2)\n",
        "import lib\nfrom unittest.mock import patch\ndef test():\n"
        "    with patch('time.sleep') as sleep:\n        lib.wait(1)\n"
        "    assert sleep.call_args[0][0] == 2\n",
    ),
    "what a mock asserts that it was called with": (
        "import time\ndef wait(n):\n    time.sleep(n + 1)\n",
        "import time\ndef wait(n):\n    time.sleep(n + 2)\n",
        "import lib\nfrom unittest.mock import patch\ndef test():\n"
        "    with patch('time.sleep') as sleep:\n        lib.wait(1)\n"
        "    sleep.assert_called_once_with(2)\n",
    ),
    "what a mock was called with whose result is taken": (
        "import getpass\ndef ask(n):\n    told = getpass.getpass(n + 1)\n    return told\n",
        "import getpass\ndef ask(n):\n    told = getpass.getpass(n + 2)\n    return told\n",
        "import lib\nfrom unittest.mock import patch\ndef test():\n"
        "    with patch('getpass.getpass') as asked:\n        lib.ask(1)\n"
        "    assert asked.call_args[0][0] == 2\n",
    ),
    "what a method of a library was called with that a mock stands for": (
        "import string\nclass Own(string.Formatter):\n    def ask(self, n):\n"
        "        told = super().vformat(n, size=1)\n        return told\n",
        "import string\nclass Own(string.Formatter):\n    def ask(self, n):\n"
        "        told = super().vformat(n)\n        return told\n",
        "import lib\nfrom unittest.mock import patch\ndef test():\n"
        "    with patch('string.Formatter.vformat') as asked:\n        lib.Own().ask(1)\n"
        "    assert asked.call_args[1]['size'] == 1\n",
    ),
    "what a library handed on to a mock": (
        "import string\ndef ask(n):\n    return string.Formatter().format('{}', n + 1)\n",
        "import string\ndef ask(n):\n    return string.Formatter().format('{}', n + 2)\n",
        "import lib\nfrom unittest.mock import patch\ndef test():\n"
        "    with patch('string.Formatter.vformat') as asked:\n        lib.ask(1)\n"
        "    assert asked.call_args[0][1] == (2,)\n",
    ),
    "what a mock's method was called with": (
        "def log(to, n):\n    to.info(n + 1)\n",
        "def log(to, n):\n    to.info(n + 2)\n",
        "import lib\nfrom unittest.mock import Mock\ndef test():\n    to = Mock()\n"
        "    lib.log(to, 1)\n    assert to.info.call_args[0][0] == 2\n",
    ),
    "a call that led to what raised": (
        "def fetch():\n    raise OSError\n"
        "class Box:\n    @property\n    def size(self):\n        return fetch()\n"
        "def told(box):\n    found = {}\n    return found\n",
        "def fetch():\n    raise OSError\n"
        "class Box:\n    @property\n    def size(self):\n        return fetch()\n"
        "def told(box):\n    found = {}\n    found['size'] = box.size\n    return found\n",
        "import lib\ndef test():\n    lib.told(lib.Box())\n",
    ),
    "what is captured of what was printed": (
        "def count(n):\n    return n + 1\ndef report(n):\n    print('found', count(n))\n",
        "def count(n):\n    return n + 2\ndef report(n):\n    print('found', count(n))\n",
        "import lib\ndef test(capsys):\n    lib.report(1)\n"
        "    assert 'found 2' in capsys.readouterr().out\n",
    ),
    "what is captured of what was not printed": (
        "def report(n):\n    if n > 0:\n        print(f'found {n}')\n",
        "def report(n):\n    if n > 1:\n        print(f'found {n}')\n",
        "import lib\ndef test(capsys):\n    lib.report(1)\n"
        "    out, err = capsys.readouterr()\n    assert 'found' in out\n",
    ),
    "what a redirected stream was given": (
        "import sys\ndef count(n):\n    return n + 1\n"
        "def report(n):\n    sys.stdout.write(f'found {count(n)}')\n",
        "import sys\ndef count(n):\n    return n + 2\n"
        "def report(n):\n    sys.stdout.write(f'found {count(n)}')\n",
        "import io, contextlib, lib\ndef test():\n    out = io.StringIO()\n"
        "    with contextlib.redirect_stdout(out):\n        lib.report(1)\n"
        "    assert out.getvalue() == 'found 2'\n",
    ),
    "what went through a file": (
        "def count(n):\n    return n + 1\n"
        "def report(n, path):\n    with open(path, 'w') as file:\n        file.write(f'found {count(n)}')\n",
        "def count(n):\n    return n + 2\n"
        "def report(n, path):\n    with open(path, 'w') as file:\n        file.write(f'found {count(n)}')\n",
        "import lib\ndef test(tmp_path):\n    lib.report(1, tmp_path / 'a')\n"
        "    assert (tmp_path / 'a').read_text() == 'found 2'\n",
    ),
    "what was not written into a file": (
        "def report(n, path):\n    path.write_text('head')\n    if n > 0:\n        path.write_text(f'found {n}')\n",
        "def report(n, path):\n    path.write_text('head')\n    if n > 1:\n        path.write_text(f'found {n}')\n",
        "import lib\ndef test(tmp_path):\n    lib.report(1, tmp_path / 'a')\n"
        "    assert (tmp_path / 'a').read_text() == 'found 1'\n",
    ),
    "what was logged, with what a format was filled with": (
        "import logging\nLOG = logging.getLogger('lib')\ndef count(n):\n    return n + 1\n"
        "def report(n):\n    LOG.warning('of %s there are %5d', 'nuts', count(n))\n",
        "import logging\nLOG = logging.getLogger('lib')\ndef count(n):\n    return n + 2\n"
        "def report(n):\n    LOG.warning('of %s there are %5d', 'nuts', count(n))\n",
        "import lib\ndef test(caplog):\n    lib.report(1)\n    assert 'are     2' in caplog.text\n",
    ),
    "what was logged and was not before": (
        "import logging\nLOG = logging.getLogger('lib')\n"
        "def report(n):\n    if n > 1:\n        LOG.error('no %s: %r', 'nuts', n)\n",
        "import logging\nLOG = logging.getLogger('lib')\n"
        "def report(n):\n    if n > 0:\n        LOG.error('no %s: %r', 'nuts', n)\n",
        "import io, logging, lib\ndef test():\n    out = io.StringIO()\n"
        "    logging.getLogger('lib').addHandler(logging.StreamHandler(out))\n    lib.report(1)\n"
        "    assert 'nuts' not in out.getvalue()\n",
    ),
    "what was not logged": (
        "import logging\nLOG = logging.getLogger('lib')\n"
        "def report(n):\n    if n > 0:\n        LOG.error('no %s: %r', 'nuts', n)\n",
        "import logging\nLOG = logging.getLogger('lib')\n"
        "def report(n):\n    if n > 1:\n        LOG.error('no %s: %r', 'nuts', n)\n",
        "import lib\ndef test(caplog):\n    lib.report(1)\n    assert 'nuts' in caplog.text\n",
    ),
    "what was warned of": (
        "import warnings\ndef count(n):\n    return n + 1\n"
        "def report(n):\n    warnings.warn(f'there are {count(n)}')\n",
        "import warnings\ndef count(n):\n    return n + 2\n"
        "def report(n):\n    warnings.warn(f'there are {count(n)}')\n",
        "import warnings, lib\ndef test():\n    with warnings.catch_warnings(record=True) as seen:\n"
        "        warnings.simplefilter('always')\n        lib.report(1)\n"
        "    assert str(seen[0].message) == 'there are 2'\n",
    ),
    "what was not put into a dictionary": (
        "class Names:\n    def __init__(self):\n        self.of = {}\n"
        "    def fill(self, n):\n        if n > 0:\n            self.of[n] = 'one'\n"
        "    def name(self, n):\n        return self.of.get(n, n)\n",
        "class Names:\n    def __init__(self):\n        self.of = {}\n"
        "    def fill(self, n):\n        if n > 1:\n            self.of[n] = 'one'\n"
        "    def name(self, n):\n        return self.of.get(n, n)\n",
        "import lib\ndef test():\n    names = lib.Names()\n    names.fill(1)\n"
        "    assert names.name(1) == 'one'\n",
    ),
    "a call of a mock that was not made": (
        "def go(to, n):\n    if n > 0:\n        to.send(n)\n",
        "def go(to, n):\n    if n > 1:\n        to.send(n)\n",
        "import lib\nfrom unittest.mock import MagicMock\ndef test():\n    to = MagicMock()\n"
        "    lib.go(to, 1)\n    to.send.assert_called_once_with(1)\n",
    ),
    "a fixture's value": (
        "START = 1\n",
        "START = 2\n",
        "import pytest, lib\n@pytest.fixture\ndef start():\n    return lib.START\n"
        "def test(start):\n    assert start + 1 == 2\n",
    ),
}


UNDER_PYTEST = {
    "a fixture's value",
    "dropped return",
    "decorator taken away",
    "sort key",
    "what is captured of what was printed",
    "what is captured of what was not printed",
    "what was logged, with what a format was filled with",
    "what was not logged",
    "what went through a file",
    "what was not written into a file",
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_guilty_change_is_behind_the_failure(name: str, tmp_path: Path) -> None:
    """One change each: it is among the changes of the steps that the failure rests on.

    Some under pytest, whose asserts are rewritten; the rest as scripts, which start faster.
    """
    good, bad, test = SCENARIOS[name]
    if name in UNDER_PYTEST:
        execution = one_file(tmp_path, good, bad, test)
    else:
        execution = one_file(tmp_path, good, bad, f"{test}test()\n", SCRIPT_TEST)
    assert execution.failures()
    assert "c1" in suspects(execution)
    assert "c1" in execution.executed_changes()


HEADS = """\
MADE = []


def registered(function):
    MADE.append(function)
    return function


class A:
    def called({0}self):
        return {1}

    def ended({0}self):
        return 2

    def aside({0}self):
        return 3

    @registered
    def noted({0}self):
        return 4


def f(a):
    return a.called() + ({1} == 1 or a.ended())
"""


def test_a_function_that_neither_run_came_into_was_not_executed(tmp_path: Path) -> None:
    """Every head of the class is another one; one method is called in both runs, one in the failing run alone, one has
    a decorator that got it, and one is defined and no more.
    """
    test = "from lib import A, f\ndef test():\n    assert f(A()) == 2\n"
    old, new = HEADS.format("", 1), HEADS.format("__", 5).replace("__self", "self, *_")
    good, bad = ({"lib.py": text, "test_lib.py": test} for text in (old, new))
    execution = traced_pair(tmp_path, good, bad)
    executed = execution.executed_changes()
    lines = new.splitlines()
    said = {
        lines[change.new.start - 1].strip(): change.id in executed for change in execution.changes
    }
    assert said["def called(self, *_):"]
    assert said["def ended(self, *_):"]
    assert said["def noted(self, *_):"]
    assert not said["def aside(self, *_):"]


KEPT = """\
class Kept:
    def __init__(self, size=2, step=7, *rest, **options):
        self.size = size
        self.step = step
        self.rest = rest
        self.options = options
class Here:
    first = 2
    other = 3
def made():
    value = {}
    return value
"""


@pytest.mark.parametrize(
    ("good", "bad", "asserted"),
    [
        ("Kept(2)", "Kept(3)", "size == 2"),
        ("Kept(size=2)", "Kept(size=3)", "size == 2"),
        ("Kept(5)", "Kept()", "size == 5"),
        ("Kept()", "Kept(3)", "size == 2"),
        ("Kept(step=5)", "Kept()", "step == 5"),
        ("Kept([1])", "Kept([2])", "size == [1]"),
        ("Kept(1 + 1)", "Kept(1 + 2)", "size == 2"),
        ("Kept(Here.first)", "Kept(Here.other)", "size == 2"),
        ("Kept(2, 3)", "Kept(3, 2)", "size == 2"),
        ("Kept(1, 2, 5)", "Kept(1, 2, 6)", "rest == (5,)"),
        ("Kept(1, 2, 5)", "Kept(1, 2)", "rest == (5,)"),
        ("Kept(more=5)", "Kept(more=6)", "options == {'more': 5}"),
        ("Kept(more=5)", "Kept()", "options == {'more': 5}"),
        ("Kept(step=2)", "Kept(2)", "step == 2"),
        ("Kept(*[2])", "Kept(*[3])", "size == 2"),
    ],
)
def test_what_a_constructor_keeps_leads_to_the_call_that_gave_it(
    good: str, bad: str, asserted: str, tmp_path: Path
) -> None:
    """A constant leaves no row, and the attribute is read without the call: no step of it was a changed one."""
    test = f"from lib import made\nassert made().{asserted}\n"
    execution = one_file(tmp_path, KEPT.format(good), KEPT.format(bad), test, SCRIPT_TEST)
    assert execution.failures()
    assert suspects(execution) == {"c1"}
    (given,) = (step for step in reachable(execution) if step.changes)
    assert (given.location.file, given.text) == ("lib.py", f"value = {bad}")
    assert given.green.alignment is Alignment.DIFFERENT


HELD = (
    "import copy\nclass Box:\n    def __init__(self):\n        self.items = {}\n"
    "def filled(given):\n    box = Box()\n    box.items.update(given)\n    return box\n"
    "class Shown(str):\n    def __format__(self, wanted):\n        return str({'all': [BOX.items]})\n"
    "BOX = filled({'s': 1, 'body': 2})\n"
)


@pytest.mark.parametrize(
    "asked",
    [
        "{'all': BOX.items} == {'all': {'s': 1, 'body': 2}}",
        "(1, [BOX.items]) == (1, [{'s': 1, 'body': 2}])",
        "str({'all': [BOX.items]}) == str({'all': [{'s': 1, 'body': 2}]})",
        "vars(copy.deepcopy(BOX)) == {'items': {'s': 1, 'body': 2}}",
        "format(Shown()) == str({'all': [{'s': 1, 'body': 2}]})",
    ],
)
def test_what_was_written_into_a_dict_is_behind_what_holds_it(tmp_path: Path, asked: str) -> None:
    """Cornice: a key was taken out of a dict that the answer held, and the answer was read as a whole."""
    bad = HELD.replace("    return box", "    box.items.pop('body', None)\n    return box")
    test = f"import copy\nfrom lib import BOX, Shown\ndef test():\n    assert {asked}\n"
    assert "c1" in suspects(one_file(tmp_path, HELD, bad, test))


@pytest.mark.parametrize("asked", ["seen(1)['size'] == 1", "[seen(1)['size']] == [1]"])
def test_what_an_assertion_looked_at_is_read_where_a_part_of_it_raises(
    tmp_path: Path, asked: str
) -> None:
    """Pytest writes it as several statements of one line, and the first of them was looked at (jira)."""
    good = "def seen(n):\n    found = {}\n    found['size'] = n\n    return found\n"
    bad = good.replace("'size'", "'sizes'")
    test = f"from lib import seen\ndef test():\n    assert seen(2) and {asked}\n"
    execution = one_file(tmp_path, good, bad, test)
    assert "c1" in {change for step in reachable(execution) for change in step.changes}


@pytest.mark.parametrize("asked", ["root.joinpath(name)", "name.upper()", "str(name)"])
def test_who_wrote_a_text_is_not_asked_of_what_was_made_of_it(tmp_path: Path, asked: str) -> None:
    """Only of what is read from where no value leads to it: a stream, a file."""
    text = "def told(root, name):\n    print(name)\n    return ASKED\n".replace("ASKED", asked)
    test = "from pathlib import Path\nfrom lib import told\ndef test():\n    assert told(Path('r'), '{}') == 1\n"
    execution = traced_pair(
        tmp_path,
        {"lib.py": text, "test_lib.py": test.format("NAME")},
        {"lib.py": text, "test_lib.py": test.format("LONG")},
    )
    assert "print(name)" not in {step.text for step in reachable(execution)}


def test_what_a_formatted_string_held_is_told_by_what_was_put_into_it(tmp_path: Path) -> None:
    """It leaves no row, and what a call was given tells the two runs apart."""
    text = "def count(n):\n    return n + {}\ndef report(n):\n    print(f'found {{count(n)}}!')\n"
    test = "import lib\ndef test(capsys):\n    lib.report(1)\n    assert '2' in capsys.readouterr().out\n"
    execution = one_file(tmp_path, text.format(1), text.format(2), test)
    (printed,) = {step for step in reachable(execution) if step.text.startswith("print(")}
    assert printed.rendered == "('found 3!',)"
    assert printed.green.rendered == "('found 2!',)"
    assert printed.green.alignment is Alignment.DIFFERENT


def test_what_another_name_got_is_told_with_that_name(tmp_path: Path) -> None:
    """The story of scapy's rewritten method said that a format was the name of a car without the change."""
    text = "class Names:\n    kind = 'none'\n    def fill(self, name):\n        {}\n        return self.kind\n"
    good, bad = (text.format(line) for line in ("self.kind = name", "shown = name + '!'"))
    test = "import lib\ndef test():\n    assert lib.Names().fill('a') == 'a'\n"
    execution = one_file(tmp_path, good, bad, test)
    (altered,) = {execution.step(step) for step in execution.altered("c1")}
    assert altered.rendered == "'a!'"
    assert altered.green.shown == "self.kind = 'a'"


def test_who_takes_an_option_out_is_asked_where_the_others_are_bound(tmp_path: Path) -> None:
    """The parameter is met by other ways too in so small a program, so the step itself is asked."""
    good, bad, test = SCENARIOS["a parameter that takes an option out of those that are passed on"]
    execution = one_file(tmp_path, good, bad, f"{test}test()\n", SCRIPT_TEST)
    steps = [step for step in reachable(execution) if step.target == "options"]
    assert any("c1" in execution.omitted(step.id) and not step.changes for step in steps)


def test_what_a_call_is_given_by_name_is_another_thing_by_another_name(tmp_path: Path) -> None:
    """A row of patroni's table got its first cell by the name that another version asked for."""
    text = "def row(n):\n    found = {{}}\n    found.update({name}=n)\n    return found\n"
    test = "from lib import row\ndef test():\n    assert row(1).get('a') == 1\ntest()\n"
    good, bad = (text.format(name=name) for name in "ab")
    execution = one_file(tmp_path, good, bad, test, SCRIPT_TEST)
    [call] = [step for step in reachable(execution) if step.changes == ("c1",)]
    assert call.green.alignment is Alignment.DIFFERENT
    assert (call.rendered, call.green.rendered) == ("(('b', 1),)", "(('a', 1),)")


def test_a_part_of_an_assertion_is_called_by_its_text(tmp_path: Path) -> None:
    """What pytest calls its own has no name that a person knows."""
    execution = one_file(
        tmp_path,
        "def count():\n    return 1\n",
        "def count():\n    return 2\n",
        "from lib import count\ndef test():\n    assert count() == 1\n",
    )
    steps = list(map(execution.step, range(len(execution.trace))))
    shown = {step.target: step.rendered for step in steps if step.text == "assert count() == 1"}
    assert shown["count()"] == "2"


def test_pytest_raises_that_saw_nothing(tmp_path: Path) -> None:
    """The predicate is the branch that kept the raise from being reached."""
    execution = one_file(
        tmp_path,
        "def check(n):\n    if n > 5:\n        raise ValueError(n)\n",
        "def check(n):\n    if n > 50:\n        raise ValueError(n)\n",
        "import pytest\nfrom lib import check\n"
        "def test():\n    with pytest.raises(ValueError):\n        check(7)\n",
    )
    (failure,) = execution.failures()
    step = execution.step(failure.step)
    assert step.text == "if n > 50:"
    assert (step.value, step.green.value) == (False, True)
    assert step.changes == ("c1",)


WAITING = "import lib, pytest\ndef test():\n    with pytest.raises({}):\n        {}\n"
WAITING_TOO = (
    "import lib, unittest\nclass Test(unittest.TestCase):\n    def test(self):\n"
    "        with self.assertRaises({}):\n            {}\n"
)


@pytest.mark.parametrize(
    ("test", "error", "call"),
    [
        (WAITING, "ValueError", "lib.box.size = float('nan')"),
        (WAITING, "ValueError", "lib.box.sized(float('nan'))"),
        (WAITING, "ArithmeticError", "lib.box.sized(float('inf'))"),  # an OverflowError
        (WAITING, "(ValueError, KeyError)", "lib.box.sized(float('nan'))"),
        (WAITING_TOO, "ValueError", "lib.box.sized(float('nan'))"),
    ],
)
def test_what_left_the_function_before_it_raised(
    tmp_path: Path, test: str, error: str, call: str
) -> None:
    """Nothing of the program raised it, and no branch of the good version led to it (mpmath's precision)."""
    good = """
        class Box:
            def sized(self, n):
                self._size = int(n)
            size = property(lambda self: self._size, sized)
        box = Box()
    """
    bad = good.replace(
        "                self._size",
        "                if n - n != 0:\n                    return\n                self._size",
    )
    execution = one_file(tmp_path, good, bad, test.format(error, call))
    (failure,) = execution.failures()
    step = execution.step(failure.step)
    assert (step.text, step.value) == ("if n - n != 0:", True)
    assert step.changes == ("c1",)


def test_uncaught_exception_of_an_operation(tmp_path: Path) -> None:
    """A type error has no ``raise``: its operands are asked for."""
    execution = one_file(
        tmp_path,
        "def name():\n    return 'x'\ndef greet():\n    return 'hi ' + name()\n",
        "def name():\n    return None\ndef greet():\n    return 'hi ' + name()\n",
        "from lib import greet\ndef test():\n    assert greet() == 'hi x'\n",
    )
    (failure,) = execution.failures()
    assert failure.kind is FailureKind.EXCEPTION
    assert failure.message.startswith("TypeError")
    assert execution.step(failure.step).location.file == "lib.py"
    assert "c1" in suspects(execution)


def test_explicit_raise_asks_for_its_branch(tmp_path: Path) -> None:
    """The raise is not reached when the branch goes the other way."""
    execution = one_file(
        tmp_path,
        "TOP = 9\ndef take(n):\n    if n > TOP:\n        raise ValueError(n)\n    return n\n",
        "TOP = 3\ndef take(n):\n    if n > TOP:\n        raise ValueError(n)\n    return n\n",
        "from lib import take\ndef test():\n    assert take(5) == 5\n",
    )
    (failure,) = execution.failures()
    assert execution.step(failure.step).kind is StepKind.BRANCH
    assert isinstance(failure.condition, Apply)
    assert failure.condition.op is Op.NOT
    assert "c1" in suspects(execution)


def test_unittest_assertions(tmp_path: Path) -> None:
    """``self.assertEqual(a, b)`` is a comparison of its arguments."""
    execution = one_file(
        tmp_path,
        "def half(n):\n    return n // 2\n",
        "def half(n):\n    return n // 3\n",
        """\
        import unittest
        from lib import half

        class T(unittest.TestCase):
            def test_half(self):
                self.assertEqual(half(6), 3)
        """,
        UNITTEST,
    )
    (failure,) = execution.failures()
    assert failure.kind is FailureKind.ASSERTION
    assert isinstance(failure.condition, Apply)
    assert failure.condition.op is Op.EQ
    assert "c1" in suspects(execution)


def test_wrong_output_of_a_script(tmp_path: Path) -> None:
    """The good version is the golden model: the first line that departs is the failure."""
    good = "def total(xs):\n    return sum(xs)\nprint('start')\nprint('sum', total([1, 2]))\n"
    bad = good.replace("sum(xs)", "max(xs)")
    execution = traced_pair(tmp_path, {"main.py": good}, {"main.py": bad}, SCRIPT)
    (failure,) = execution.failures()
    assert failure.kind is FailureKind.OUTPUT
    assert (failure.observed, failure.expected) == ("sum 2", "sum 3")
    assert "c1" in suspects(execution)


def test_missing_output_asks_for_the_branch_that_withheld_it(tmp_path: Path) -> None:
    """Output that ends early has no statement; the branch that went another way has."""
    good = "N = 5\nprint('a')\nif N > 3:\n    print('b')\n"
    execution = traced_pair(
        tmp_path, {"main.py": good}, {"main.py": good.replace("N = 5", "N = 2")}, SCRIPT
    )
    (failure,) = execution.failures()
    assert failure.expected == "b"
    assert execution.step(failure.step).text == "if N > 3:"


def test_packages_classes_async_and_module_runs(tmp_path: Path) -> None:
    """``python -m``, relative imports, coroutines, dataclasses, match, context managers."""
    shared = {
        "pkg/__init__.py": "",
        "pkg/__main__.py": """\
            import asyncio
            from dataclasses import dataclass
            from contextlib import contextmanager
            from .core import price

            @dataclass
            class Order:
                count: int
                unit: int = 2

            @contextmanager
            def opened(order):
                yield order

            async def cost(order):
                await asyncio.sleep(0)
                match order:
                    case Order(count=n, unit=u):
                        return price(n, u)

            async def main():
                with opened(Order(3)) as order:
                    print(await cost(order))

            asyncio.run(main())
            """,
    }
    good = {**shared, "pkg/core.py": "def price(n, unit):\n    return n * unit\n"}
    bad = {**shared, "pkg/core.py": "def price(n, unit):\n    return n + unit\n"}
    execution = traced_pair(tmp_path, good, bad, (sys.executable, "-m", "pkg"))
    (failure,) = execution.failures()
    assert (failure.observed, failure.expected) == ("5", "6")
    assert "c1" in suspects(execution)


def test_indirect_influence_and_control(tmp_path: Path) -> None:
    """A branch that did not write what it could have written (AFTER, Fig. 5)."""
    text = """\
    def f(a):
        d = 0
        if a > {limit}:
            d = 1
        return d
    """
    execution = one_file(
        tmp_path,
        text.format(limit=3),
        text.format(limit=30),
        "from lib import f\ndef test():\n    assert f(5) == 1\n",
    )
    use = next(s for s in reachable(execution) if s.text == "return d")
    definition = next(reads(use.term)).step
    (branch,) = execution.indirect_influences(use.id, definition)
    assert execution.step(branch).text == "if a > 30:"


def test_what_an_exception_kept_from_being_written_is_influenced_by_its_handler(
    tmp_path: Path,
) -> None:
    good = """
        def key(item):
            return str(item)

        def table(items):
            found = {}
            for item in items:
                try:
                    name = key(item)
                except Exception:
                    continue
                else:
                    found[name] = item
            return found
    """
    bad = good.replace("return str(item)", "return {item: str(item)}[item]")
    execution = one_file(
        tmp_path,
        good,
        bad,
        "from lib import table\ndef test():\n    assert len(table([[1]])) == 1\n",
    )
    handler = next(step for step in _influences(execution) if step.text.startswith("except"))
    (raised,) = reads(handler.term)
    assert execution.step(raised.step).changes == ("c1",)
    assert execution.calling(raised.step) == handler.id


def _influences(execution: PythonExecution) -> Iterator[Step]:
    for step in reachable(execution):
        for read in reads(step.term):
            for branch in execution.indirect_influences(step.id, read.step):
                yield execution.step(branch)


def test_loops_align_by_item(tmp_path: Path) -> None:
    """An item more at the front shifts no iteration."""
    text = (
        "def squares(xs):\n    out = []\n    for x in {xs}:\n        y = x * x\n"
        "        out.append(y)\n    return out\n"
    )
    execution = one_file(
        tmp_path,
        text.format(xs="xs"),
        text.format(xs="[9, *xs]"),
        "from lib import squares\ndef test():\n    assert squares([1, 2]) == [1, 4]\n",
    )
    trace = execution.trace
    seen = {
        step.value: step.green.alignment
        for position in range(len(trace))
        if (step := execution.step(trace.number(position))).target == "y"
    }
    assert seen == {81: Alignment.ABSENT, 1: Alignment.SAME, 4: Alignment.SAME}


def test_moved_function_is_still_aligned(tmp_path: Path) -> None:
    """Definitions are paired by name, so a move to another file hides nothing."""
    good = {
        "lib.py": "def f(x):\n    y = x + 1\n    return y\n",
        "main.py": "from lib import f\nprint(f(1))\n",
    }
    bad = {
        "lib.py": "from other import f\n",
        "other.py": "def f(x):\n    y = x + 2\n    return y\n",
        "main.py": good["main.py"],
    }
    execution = traced_pair(tmp_path, good, bad, SCRIPT)
    step = next(s for s in reachable(execution) if s.target == "y")
    assert (step.green.alignment, step.green.value) == (Alignment.DIFFERENT, 2)


def test_an_activation_that_nobody_called_as_in_green_is_found_by_its_arguments(
    tmp_path: Path,
) -> None:
    """A generator became a function that reads all lines at once: what it calls is called by another one."""
    start = (
        "class Fence:\n    @classmethod\n    def start(cls, line):\n"
        "        if {}:\n            return False\n        return True\n\n"
    )
    good = (
        start.format("line[0] in line[2:]")
        + "def tokens(lines):\n    for line in lines:\n        yield Fence.start(line)\n\n"
        "def tokenize(lines):\n    return tokens(lines)\n"
    )
    bad = (
        start.format("line[0] in line[1:]")
        + "def read(lines):\n    found = []\n    for line in lines:\n"
        "        found.append(Fence.start(line))\n    return iter(found)\n\n"
        "def tokenize(lines):\n    return read(lines)\n"
    )
    test = "from lib import tokenize\ndef test():\n    assert next(tokenize(['xx', 'b']))\n"
    execution = traced_pair(
        tmp_path, {"lib.py": good, "test_lib.py": test}, {"lib.py": bad, "test_lib.py": test}
    )
    steps = [s for s in reachable(execution) if s.text.startswith("if line[0]")]
    found = {step.green.alignment for step in steps}
    assert found == {
        Alignment.DIFFERENT,
        Alignment.ABSENT,
    }  # the line that was asked for, the other one
    assert execution.conduct()[steps[0].changes[0]] is Conduct.PARTED


def test_that_a_loop_goes_on_is_decided_by_who_did_not_leave_it(tmp_path: Path) -> None:
    """The second of two handlers is asked as the first one declined, which is where the fault is."""
    text = (
        "class A:\n    @staticmethod\n    def takes(line):\n        return {}\n\n"
        "class B:\n    @staticmethod\n    def takes(line):\n        return True\n\n"
        "def kind(line):\n    for each in (A, B):\n        if each.takes(line):\n"
        "            return each.__name__\n"
    )
    test = "from lib import kind\ndef test():\n    assert kind('ab') == 'A'\n"
    execution = traced_pair(
        tmp_path,
        {"lib.py": text.format("line < 'b'"), "test_lib.py": test},
        {"lib.py": text.format("line < 'aa'"), "test_lib.py": test},
    )
    returned = next(s for s in reachable(execution) if s.text == "return each.__name__")
    decided = [returned]
    while decided[-1].control is not None:
        decided.append(execution.step(decided[-1].control))
    assert [(s.text, s.value, s.green.value) for s in decided[1:4]] == [
        ("if each.takes(line):", True, None),
        ("for each in (A, B):", True, None),
        ("if each.takes(line):", False, True),
    ]


def test_what_both_texts_ask_for_is_what_it_was(tmp_path: Path) -> None:
    """``first(text)`` was called here, so the old text's condition can be told, which calls nothing else."""
    text = "def first(x):\n    return x.strip()[0]\n\ndef f(text):\n    if {}:\n        return 1\n    return 2\n"
    old, new = "first(text) == 'b'", "first(text) == 'b' or text[-1] == 'z'"
    test = "from lib import f\ndef test():\n    assert f(' az') == 2\n"
    execution = traced_pair(
        tmp_path,
        {"lib.py": text.format(old), "test_lib.py": test},
        {"lib.py": text.format(new), "test_lib.py": test},
    )
    step = next(s for s in reachable(execution) if s.text.startswith("if first"))
    assert step.old is not None
    assert evaluate(step.old) is False
    assert step.value is True


CHOSEN = {
    "the side that was not taken is not read": (
        "def shown(x): return '<' + x + '>'\ndef f(x):\n    y = {}\n    return y\n",
        ("x", "shown(x) if x else None"),
        ("f('')", "''"),
        ({"x"}, Role.ENTRY),
    ),
    "another outcome of the test would have given something else": (
        "def g(): return {}\ndef f():\n    y = 'a' if g() else other()\n    return y\n"
        "def other(): return 'b'\n",
        ("0", "1"),
        ("f()", "'b'"),
        ({"g"}, Role.CARRIER),
    ),
    "an operand that ended the evaluation": (
        "def g(): return {}\ndef f(x):\n    y = g() or x\n    return y\n",
        ("''", "'a'"),
        ("f('b')", "'b'"),
        ({"g"}, Role.CARRIER),
    ),
    "an operand that let it go on": (
        "def g(): return {}\ndef f(x):\n    y = g() and x\n    return y\n",
        ("''", "'a'"),
        ("f('b')", "''"),
        ({"g", "x"}, Role.CARRIER),
    ),
}


@pytest.mark.parametrize("name", CHOSEN)
def test_what_chooses_among_expressions(name: str, tmp_path: Path) -> None:
    text, texts, (call, expected), (read, part) = CHOSEN[name]
    test = f"from lib import f\ndef test():\n    assert {call} == {expected}\n"
    good, bad = ({"lib.py": text.format(each), "test_lib.py": test} for each in texts)
    execution = traced_pair(tmp_path, good, bad)
    step = next(s for s in reachable(execution) if s.text.startswith("y = "))
    assert {each.name for each in distinct_reads(step.term)} == read
    assert role(execution, Green(execution), step) is part


def test_unknown_steps_and_notes(tmp_path: Path) -> None:
    """KeyError for an id never handed out; what was not followed is said."""
    bad = "import subprocess, sys\nsubprocess.run(['true'])\nassert len([1]) == 2\n"
    execution = traced_pair(tmp_path, {"main.py": "x = 1\n"}, {"main.py": bad}, SCRIPT)
    (failure,) = execution.failures()
    for read in reads(failure.condition):
        assert isinstance(read, Read)
        execution.step(read.step)
    with pytest.raises(KeyError):
        execution.step(10**9)
    assert any("processes" in note for note in execution.notes())


def test_terms_are_worth_their_values(tmp_path: Path) -> None:
    """Every modelled term, evaluated under what its reads had, gives the step's value."""
    bad = """\
        def gen(n):
            for i in range(n):
                yield i, str(i)

        class Tank:
            size = 3
            def __init__(self, level=0):
                self.level = level
            def __bool__(self):
                return self.level > 0
            def fill(self, by, *more, top=10):
                self.level += by + sum(more)
                if self.level > top or not by:
                    self.level = min(self.level, top)
                return self.level

        tank = Tank()
        parts = []
        for number, text in gen(4):
            label = "t" + text + f"{text}!"
            parts.append(label)
            if tank and number % 2 == 0 or label in ("t1", "t33!"):
                tank.fill(number, 1, top=Tank.size)
            else:
                tank.fill(number * 3 - 1)
        empty = [p for p in parts if not p.startswith("t")]
        tank.level = -tank.level if not empty else 0
        a, b = len(label), (tank.level, 1)
        assert a == 99 and b[0] < 0
        """
    execution = traced_pair(tmp_path, {"main.py": "x = 1\n"}, {"main.py": bad}, SCRIPT)
    trace = execution.trace
    modelled = 0
    for position in range(len(trace)):
        step = execution.step(trace.number(position))
        if isinstance(step.term, (Apply, Read)):
            worth = evaluate(step.term)
            if worth is not UNKNOWN:
                modelled += 1
                assert (worth, type(worth)) == (step.value, type(step.value)), step
    assert modelled > 80


def test_window_is_widened_by_running_again(tmp_path: Path) -> None:
    """A loop that outgrows the window: the first rows are still there afterwards."""
    text = "START = {start}\nn = START\nfor i in range({times}):\n    n += i % 3\nassert n < 0\n"
    bad = text.format(start=7, times=30_000)
    good = text.format(start=-99, times=3)
    request = request_for(tmp_path, {"main.py": good}, {"main.py": bad}, SCRIPT)
    small = replace(request, head=1, tail=1)
    changes = changes_of({"main.py": good}, {"main.py": bad})
    whole = compared(small, tmp_path, changes)
    assert whole.trace.gap == 0
    assert whole.step(1).text == "START = 7"
    cut = compared(replace(small, most=10, directory=tmp_path / "cut"), tmp_path, changes)
    assert cut.trace.gap > 0
    assert cut.failures()
    assert any("fell out of the window" in note for note in cut.notes())
    last = cut.step(cut.failures()[0].step)
    assert last.location.line in {3, 4, 5}


def test_whether_a_loop_goes_on_is_told_in_words(tmp_path: Path) -> None:
    """Not ``for name in names: False``, which is the truth of nothing that stands there."""
    good = """
        def last(names):
            found = ""
            for name in shown(names):
                found = name
            return found
        def shown(names):
            return [name for name in names if name]
    """
    bad = good.replace("if name]", 'if name == "c"]')
    test = "import lib\ndef test():\n    assert lib.last(['a', 'b']) == 'b'\n"
    execution = one_file(tmp_path, good, bad, test)
    loops = {step.rendered for step in _branches(execution) if step.text.startswith("for ")}
    assert loops == {"no more items"}


def _branches(execution: PythonExecution) -> list[Step]:
    rows = range(len(execution.trace))
    steps = (execution.step(execution.trace.number(row)) for row in rows)
    return [step for step in steps if step.kind is StepKind.BRANCH]


def test_a_longer_trace_costs_more_work_to_read(tmp_path: Path) -> None:
    """A step of astroid's cost 17 ms, not 1: evidence went on for minutes before a test of two seconds."""
    spent = {}
    for rounds in (10, 2_000):
        loop = f"    for i in range({rounds}):\n        found += i\n"
        text = f"def total():\n    found = 0\n{loop}    return found {{}} 1\n"
        test = f"from lib import total\nassert total() == {sum(range(rounds)) + 1}\n"
        folder = tmp_path / str(rounds)
        folder.mkdir()
        execution = one_file(folder, text.format("+"), text.format("-"), test, SCRIPT_TEST)
        begun = execution.work()
        execution.step(execution.failures()[0].step)
        spent[rounds] = begun, execution.work() - begun
    assert spent[2_000][0] > 20 * spent[10][0]
    assert spent[2_000][1] > spent[10][1]


STOPS = """
import pytest
from lib import Articles

@pytest.mark.parametrize("count", [1, 2, 3])
def test_articles(count):
    found = dict(Articles({"a": [count, 9]}))
    assert found["a"] == count
"""
ARTICLES = """
class Articles(dict):
    def __getitem__(self, key):
        return dict.__getitem__(self, key)[0]
"""
ASKED = """
    def keys(self):
        return iter(dict.keys(self))

    __iter__ = keys
"""


def test_a_run_that_ends_at_its_first_failure_is_aligned_with_one_that_went_on(
    tmp_path: Path,
) -> None:
    """Three tests of one function against one were none that corresponds, and nothing was known of the assertion.
    What ``dict(x)`` asked in the green run is missing where the class has it no more.
    """
    execution = one_file(tmp_path, f"{ARTICLES}{ASKED}", ARTICLES, STOPS, (*PYTEST, "-x"))
    (failure,) = execution.failures()
    step = execution.step(failure.step)
    assert step.green.alignment is Alignment.DIFFERENT
    assert suspects(execution) == {"c1"}


TICKETS = """\
class Queue:
    def __init__(self):
        self.kept = {kept}

class Ticket:
    def __init__(self, queue):
        self.queue = queue

class Result:
    def __init__(self, ticket):
        self.ticket = ticket

def is_revoked(found, revoked):
{unwrapped}        found = Ticket(found)
    return found in revoked

def test_revoked():
    ticket = Ticket(Queue())
    assert is_revoked(Result(ticket), [ticket])
"""


def test_a_condition_on_a_type_depends_on_nothing_else_of_the_object(tmp_path: Path) -> None:
    """What its queue keeps differs, so does each object that holds the queue: their types do not."""
    good = TICKETS.format(
        kept="{}",
        unwrapped="    if isinstance(found, Result):\n        return found.ticket in revoked\n"
        "    if not isinstance(found, Ticket):\n",
    )
    bad = TICKETS.format(kept="{'a': 1}", unwrapped="    if not isinstance(found, Ticket):\n")
    execution = traced_pair(tmp_path, {"test_lib.py": good}, {"test_lib.py": bad}, PYTEST)
    (asked,) = [step for step in reachable(execution) if step.text.startswith("if not isinstance")]
    assert asked.green.alignment is Alignment.ABSENT
    assert [read.name for read in reads(asked.term)] == ["Ticket"]


NAMES = """\
class Names:
    def __init__(self):
        self.of = {}

    def add(self, key, name):
        CONDITION
            self.of[key] = name

    def show(self, key):
        if self.of is not None:
            try:
                return self.of[key]
            except KeyError:
                pass
        return hex(key)
"""
NAMED = """\
from lib import Names

def test():
    names = Names()
    names.add(2, "two")
    assert names.show(2) == "two"
"""


def test_what_follows_a_try_ran_as_a_handler_kept_it_from_leaving(tmp_path: Path) -> None:
    """And what was looked up in vain was not put there, which is seen in green."""
    good = NAMES.replace("CONDITION", "if name:")
    bad = NAMES.replace("CONDITION", "if name and self.of:")
    execution = one_file(tmp_path, good, bad, NAMED)
    returned = next(step for step in reachable(execution) if step.text == "return hex(key)")
    assert returned.control is not None
    handler = execution.step(returned.control)
    assert handler.text == "except KeyError:"
    (raised,) = reads(handler.term)
    assert list(execution.omitted(raised.step)) == ["c1"]


@pytest.mark.parametrize(
    "block",
    [
        "with lock:\n            return path",
        "try:\n            return path\n        finally:\n            pass",
    ],
)
def test_what_follows_a_branch_ran_as_it_did_not_lead_to_an_exit_deep_in_it(
    tmp_path: Path, block: str
) -> None:
    """In a ``with`` or what is tried, and no branch around the exit but that one."""
    good = f"""
from threading import Lock

lock = Lock()

def found(path, known):
    if path in known:
        {block}
    return "none"
"""
    bad = good.replace("in known", "in known[1:]")
    test = "from lib import found\ndef test():\n    assert found('a', ['a']) == 'a'\n"
    execution = one_file(tmp_path, good, bad, test)
    returned = next(step for step in reachable(execution) if step.text == 'return "none"')
    assert returned.control is not None
    branch = execution.step(returned.control)
    assert (branch.value, branch.changes) == (False, ("c1",))


def test_a_keyword_is_not_taken_by_what_a_package_has_from_a_module_with_a_star(
    tmp_path: Path,
) -> None:
    """The call leaves no row of what was called; its definition is found all the same."""
    text = "def first(items, {0}=None):\n    return next(filter({0}, items))\n"
    shared = {
        "lib/__init__.py": "from .more import *\n",
        "lib/more.py": "from .recipes import *\n",
        "test_lib.py": "import lib\ndef test():\n    assert lib.first([1, 2], pred=None) == 1\n",
    }
    good = {**shared, "lib/recipes.py": text.format("pred")}
    bad = {**shared, "lib/recipes.py": text.format("predicate")}
    execution = traced_pair(tmp_path, good, bad)
    (failure,) = execution.failures()
    assert set(execution.omitted(failure.step)) == {"c1"}


def test_a_name_is_found_where_every_module_has_all_of_every_other(tmp_path: Path) -> None:
    """VisiData's modules do: their stars were followed along every way, for minutes."""
    names = [f"m{number}" for number in range(16)]
    stars = {
        f"lib/{own}.py": "".join(f"from lib.{each} import *\n" for each in names if each != own)
        for own in names
    }
    use = "def used():\n    return LIMIT + missing()\ndef missing():\n    return 0\n"
    good, bad = (
        stars
        | {
            "lib/__init__.py": "",
            "lib/m3.py": f"LIMIT = {limit}\n" + stars["lib/m3.py"],
            "lib/m9.py": stars["lib/m9.py"] + use,
            "test_lib.py": "from lib.m0 import *\ndef test():\n    assert used() == 4\n",
        }
        for limit in (4, 5)
    )
    execution = traced_pair(tmp_path, good, bad)
    assert "c1" in suspects(execution)


def test_a_function_came_to_its_end_as_what_would_have_left_it_raised(tmp_path: Path) -> None:
    """Its handler says so, whatever it does then."""
    good = """
        def number(path):
            try:
                return str(path) + "!"
            except Exception as error:
                print("no number", error)
    """
    bad = good.replace("str(path)", "path")
    test = "from lib import number\ndef test():\n    assert number(1) == '1!'\n"
    execution = one_file(tmp_path, good, bad, test)
    ended = next(step for step in reachable(execution) if step.text.startswith("def number"))
    (kept,) = reads(ended.term)
    handler = execution.step(kept.step)
    assert handler.text == "except Exception as error:"
    (raised,) = reads(handler.term)
    assert execution.step(raised.step).changes == ("c1",)


MOVED = """
class Base:
    def __init__(self, items):
        self.items = items
        {0}

    def noted(self):
        return len(self.notes) < 1

    def found(self):
        return self.items{2}

class Query(Base):
    def __init__(self, items):
        super().__init__(items)
        {1}
"""


@pytest.mark.parametrize("twice", [False, True], ids=["once", "twice"])
def test_what_moved_to_another_function_is_as_it_was_there(tmp_path: Path, twice: bool) -> None:
    """tortoise: an attribute that the base class came to give was called where the infection enters. Of several
    activations that it may have stood in none is chosen.
    """
    good = MOVED.format("pass", "self.notes = {}", " if self.noted() else []")
    bad = MOVED.format("self.notes = {}", "pass", "[1:] if self.noted() else []")
    if twice:
        good, bad = (text.replace("super().__init__(items)", "Base.__init__(self, items)\n"
                                  "        Base.__init__(self, items)") for text in (good, bad))  # fmt: skip
    test = "from lib import Query\ndef test():\n    assert len(Query([1, 2]).found()) == 2\n"
    execution = one_file(tmp_path, good, bad, test)
    (written,) = (s for s in reachable(execution) if s.text == "self.notes = {}")
    assert written.green.alignment is (Alignment.ABSENT if twice else Alignment.SAME)
