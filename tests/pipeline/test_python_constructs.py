"""One bad commit, a regression in every construct of Python that is promised, and no configuration.

Each construct has a module below ``src`` and a test. All changes are in one commit, so each
explanation has all others as its harmless changes.
"""

from __future__ import annotations

import json
from textwrap import dedent
from typing import Any

import pytest
from pipeline_runs import afterd, repository

# The module with ``@@`` where the versions differ, the good and the bad text there, the test.
CONSTRUCTS = {
    "classes": (
        """
        class Shape:
            sides = 0
            def __init__(self, size): self.size = size
            def around(self): return self.sides * self.size
        class Square(Shape):
            sides = @@
        """,
        "4",
        "5",
        "assert mod.Square(3).around() == 12",
    ),
    "decorators": (
        """
        import functools
        def scaled(by):
            def around(function):
                @functools.wraps(function)
                def inner(*given): return function(*given) * @@
                return inner
            return around
        @scaled(3)
        def plus(a, b): return a + b
        """,
        "by",
        "(by + 1)",
        "assert mod.plus(1, 2) == 9 and mod.plus.__name__ == 'plus'",
    ),
    "generators": (
        """
        def countdown(n):
            while n > @@:
                yield n
                n -= 1
        def relayed(n):
            yield from countdown(n)
        """,
        "0",
        "1",
        "assert list(mod.relayed(3)) == [3, 2, 1]",
    ),
    "comprehensions": (
        "def large(xs): return [x * y for x in xs if x > @@ for y in (1, 2)]\n",
        "1",
        "2",
        "assert mod.large([1, 2, 3]) == [2, 4, 3, 6]",
    ),
    "context_managers": (
        """
        class Depth:
            def __init__(self): self.now = 0
            def __enter__(self):
                self.now += @@
                return self
            def __exit__(self, *error): self.now -= 1
        def nested(depth):
            with depth, depth:
                return depth.now
        """,
        "1",
        "2",
        "assert mod.nested(mod.Depth()) == 2",
    ),
    "exceptions_and_finally": (
        """
        def parsed(texts):
            found, tried = [], 0
            for text in texts:
                try:
                    found.append(int(text))
                except ValueError:
                    found.append(@@)
                finally:
                    tried += 1
            return found, tried
        """,
        "0",
        "-1",
        "assert mod.parsed(['3', 'x']) == ([3, 0], 2)",
    ),
    "closures": (
        """
        def counter(step):
            total = 0
            def count():
                nonlocal total
                total += @@
                return total
            return count
        """,
        "step",
        "step * 2",
        "count = mod.counter(5)\n    count()\n    assert count() == 10",
    ),
    "dataclasses": (
        """
        from dataclasses import dataclass, field
        @dataclass
        class Order:
            count: int
            unit: int = @@
            tags: list = field(default_factory=list)
            def price(self): return self.count * self.unit
        """,
        "2",
        "3",
        "assert mod.Order(4).price() == 8",
    ),
    "match_statements": (
        """
        def area(shape):
            match shape:
                case {"side": side}: return side @@ side
                case [width, height]: return width * height
                case _: return 0
        """,
        "*",
        "+",
        "assert mod.area([2, 3]) == 6 and mod.area({'side': 3}) == 9",
    ),
    "walrus": (
        "def longest(words):\n    if (most := max(map(len, words))) > @@:\n        return most\n    return 0\n",
        "2",
        "3",
        "assert mod.longest(['abc', 'a']) == 3",
    ),
    "star_args": (
        """
        def joined(first, *others, sep="-", **named):
            return sep.join([first, *others, *(f"{k}@@{v}" for k, v in named.items())])
        """,
        "=",
        ":",
        "assert mod.joined('a', *['b'], **{'c': 1}) == 'a-b-c=1'",
    ),
    "properties": (
        """
        class Disk:
            def __init__(self, radius): self._radius = radius
            @property
            def width(self): return self._radius * @@
            @width.setter
            def width(self, value): self._radius = value / 2
        """,
        "2",
        "4",
        "disk = mod.Disk(1)\n    disk.width = 6\n    assert disk.width == 6",
    ),
    "getattr_of_a_class": (
        """
        class Record:
            def __init__(self, **fields): self.fields = fields
            def __getattr__(self, name):
                if name.startswith("_"): raise AttributeError(name)
                return self.fields.get(name, @@)
        """,
        "0",
        "None",
        "assert mod.Record(a=1).a == 1\n    assert mod.Record().b == 0",
    ),
    "monkeypatching": (
        """
        import time
        def age(born): return int(time.time()) - born @@ 1
        """,
        "+",
        "-",
        "monkeypatch.setattr(mod.time, 'time', lambda: 100.5)\n    assert mod.age(40) == 61",
    ),
    "parametrised": (
        "def even(n): return n % @@ == 0\n",
        "2",
        "3",
        "assert mod.even(n) == expected",
    ),
    "asynchronous": (
        """
        import asyncio
        async def waited(n):
            await asyncio.sleep(0)
            return n + @@
        async def all_of(ns): return sum(await asyncio.gather(*map(waited, ns)))
        """,
        "1",
        "2",
        "import asyncio\n    assert asyncio.run(mod.all_of([1, 2])) == 5",
    ),
    "fixtures": (
        "def basket(): return ['apple'] * @@\n",
        "3",
        "2",
        "assert len(basket) == 3",
    ),
    "multiprocessing": (
        """
        import multiprocessing
        def squared(queue, n): queue.put(n * n)
        def total(ns):
            context = multiprocessing.get_context("fork")
            queue = context.Queue()
            workers = [context.Process(target=squared, args=(queue, n)) for n in ns]
            for worker in workers: worker.start()
            found = sum(queue.get() for _ in workers) + @@
            for worker in workers: worker.join()
            return found
        """,
        "0",
        "1",
        "assert mod.total([2, 3]) == 13",
    ),
    "unittest": (
        "def halved(n): return n @@ 2\n",
        "//",
        "-",
        "",
    ),
}
GIVEN = {"monkeypatching": "monkeypatch", "parametrised": "n, expected", "fixtures": "basket"}
ABOVE = {
    "parametrised": "@pytest.mark.parametrize(('n', 'expected'), [(1, False), (2, True), (4, True)])\n"
}
UNITTEST = """\
import unittest
from namespace.unittest import code as mod

class Halves(unittest.TestCase):
    def setUp(self): self.whole = 9
    def test_unittest(self): self.assertEqual(mod.halved(self.whole), 4)
    def test_unittest_again(self): self.assertEqual(mod.halved(7), 3)
"""
CONFTEST = """\
import pytest
from namespace.fixtures import code

@pytest.fixture
def basket(): return code.basket()
"""
SETTINGS = "[pytest]\npythonpath = src\naddopts = -p no:hypothesispytest -p no:xdist\n"


def _module(construct: str, *, bad: bool) -> str:
    text, good_text, bad_text, _ = CONSTRUCTS[construct]
    return dedent(text).replace("@@", bad_text if bad else good_text)


def _test(construct: str) -> str:
    if construct == "unittest":
        return UNITTEST
    head = f"import pytest\nfrom namespace.{construct} import code as mod\n\n"
    function = f"def test_{construct}({GIVEN.get(construct, '')}):\n"
    return head + ABOVE.get(construct, "") + function + f"    {CONSTRUCTS[construct][3]}\n"


def _modules(*, bad: bool) -> dict[str, str]:
    """A src layout, of namespace packages: no folder has an ``__init__``."""
    return {
        f"src/namespace/{construct}/code.py": _module(construct, bad=bad)
        for construct in CONSTRUCTS
    }


@pytest.fixture(scope="module")
def explained(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """All explanations of ``afterd explain`` without an option."""
    path = tmp_path_factory.mktemp("constructs") / "r"
    for construct in CONSTRUCTS:
        (path / "src/namespace" / construct).mkdir(parents=True)
    (path / "tests").mkdir()
    tests = {f"tests/test_{construct}.py": _test(construct) for construct in CONSTRUCTS}
    shared = {**tests, "tests/conftest.py": CONFTEST, "pytest.ini": SETTINGS}
    repository(path, {**shared, **_modules(bad=False)}, _modules(bad=True))
    done = afterd("explain", "--format", "json", cwd=path)
    assert done.status == 0, done.err
    found: list[dict[str, Any]] = json.loads(done.out)["explanations"]
    return found


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_the_change_in_it_is_found(construct: str, explained: list[dict[str, Any]]) -> None:
    """It alone is the root; the causes lead to it, or it is said that re-execution found it."""
    own = [each for each in explained if f"test_{construct}" in each["test"]]
    assert own
    for found in own:
        assert [change["file"] for change in found["root"]] == [
            f"src/namespace/{construct}/code.py"
        ]
        assert not found["auxiliary"]
        assert found["minimal"]
        assert found["runs"]["tests"] <= 5


@pytest.mark.parametrize("construct", ["parametrised", "unittest"])
def test_tests_with_the_same_root_are_merged(
    construct: str, explained: list[dict[str, Any]]
) -> None:
    """They are one answer: of each further test one run is asked, whether the first one's root repairs it."""
    [own] = [each for each in explained if f"test_{construct}" in each["test"]]
    assert own["also"]
    assert all(f"test_{construct}" in other for other in own["also"])


def test_forks_are_followed(explained: list[dict[str, Any]]) -> None:
    """So nothing is said of processes of which nothing is known."""
    [found] = [each for each in explained if "test_multiprocessing" in each["test"]]
    assert not any("process" in note for note in found["notes"]), found["notes"]
