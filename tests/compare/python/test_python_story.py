"""Chains of dependences that Python programs leave from a guilty change to the failure: where one is seen, no more runs
are made to see that the test did not fail by chance.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from in_process_solver import InProcess
from python_pairs import traced_pair

from afterd.causality.story import story
from afterd.limits import StoryLimits
from afterd.logic.solver import Solver

RAISING = """
    class A:
        def __eq__(self, other):
            if isinstance(other, A):
                return True
            return NotImplemented
"""
YIELDING = """
    def lines(rows, unsafe, allow):
        unsafe = unsafe if allow else set()
        for row in rows:
            if row in unsafe:
                continue
            yield row
        if unsafe:
            yield "unsafe"
            yield from sorted(unsafe)
"""
DEEP = """
    def event(record):
        made = {}
        made["entry"] = {"message": record[0], "params": {"k": list(record[1])}}
        return serialized(made)
    def serialized(value):
        if isinstance(value, dict):
            found = {}
            for key, held in value.items():
                found[key] = serialized(held)
            return found
        return value
"""

AGAIN = """
    def short(text):
        if len(text) > 1:
            raise ValueError(text)
        return text
    def long(text):
        return text.upper()
    def parsed(text):
        found, error = [], None
        for style in (short, long):
            try:
                found.append(style(text))
            except ValueError as caught:
                error = caught
        if not found:
            raise error
        return found[0]
"""

MERGED = """
    def merged(one, other):
        result = dict(one)
        for key, value in other.items():
            result[key] = result[key] + value if key in result else value
        return result
"""
KEPT = """
    class Kept:
        def __init__(self, names):
            self.names = names
        def more(self, others):
            self.names = self.names + others
            return self
"""


@pytest.mark.parametrize(
    ("good", "old", "new", "test"),
    [
        pytest.param(
            RAISING,
            "return NotImplemented",
            "raise NotImplementedError(str(other))",
            """
            from lib import A
            def test():
                assert A() not in [1, 2]
            """,
            id="a changed raise, where the branch before it went as ever",
        ),
        pytest.param(
            YIELDING,
            "if allow",
            "if not allow",
            """
            from lib import lines
            def test():
                found = list(lines(["a", "b"], {"b"}, True))
                assert found.index("a") < found.index("unsafe") < found.index("b")
            """,
            id="what a generator did not yield, and a part of an assertion that raises",
        ),
        pytest.param(
            DEEP,
            "list(record[1])",
            "str(record[1])",
            """
            from lib import event
            def test():
                assert event(("m", [1]))["entry"]["params"] == {"k": [1]}
            """,
            id="a value deeper in a display than is recorded of it",
        ),
        pytest.param(
            AGAIN,
            "if not found",
            "if error is not None",
            """
            from lib import parsed
            def test():
                assert parsed("xy") == "XY"
            """,
            id="an exception that came in both runs and is raised again in one",
        ),
        pytest.param(
            MERGED,
            "result[key] = result[key] + value if key in result else value",
            "result[key] += value",
            """
            from lib import merged
            def test():
                base = {"r": [1]}
                merged(base, {"r": [2]})
                assert base["r"] == [1]
            """,
            id="a list of another dictionary that was added to in place",
        ),
        pytest.param(
            KEPT,
            "self.names = self.names + others",
            "self.names += others",
            """
            from lib import Kept
            def test():
                names = [1]
                Kept(names).more([2])
                assert names == [1]
            """,
            id="a display that was added to in place by another name",
        ),
        pytest.param(
            """
            import xml.etree.ElementTree as ET
            def build(key):
                root = ET.Element("list")
                item = ET.SubElement(root, "item")
                item.set("key", key)
                return root
            """,
            '"key", key',
            '"key", key.upper()',
            """
            import xml.etree.ElementTree as ET
            from lib import build
            def test():
                assert ET.tostring(build("a")) == b'<list><item key="a" /></list>'
            """,
            id="an element of a tree that a library keeps",
        ),
        pytest.param(
            """
            import io, logging
            def logged(text):
                stream = io.StringIO()
                handler = logging.StreamHandler(stream)
                handler.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
                log = logging.Logger("lib")
                log.addHandler(handler)
                log.warning(text)
                return stream.getvalue()
            """,
            "%(levelname)s: ",
            "%(levelname)s ",
            """
            from lib import logged
            def test():
                assert logged("a") == "WARNING: a\\n"
            """,
            id="a handler of a stream that is asked for what was written",
        ),
        pytest.param(
            """
            from collections import deque
            class History:
                def __init__(self, size):
                    self.items = deque(maxlen=size)
                def add(self, item):
                    self.items.append(item)
            """,
            "maxlen=size",
            "maxlen=size - 1",
            """
            from lib import History
            def test():
                kept = History(2)
                kept.add(1)
                kept.add(2)
                assert list(kept.items) == [1, 2]
            """,
            id="what a constructor gave an object that is made in it",
        ),
        pytest.param(
            """
            import io
            class Printer:
                def __init__(self):
                    self.out = io.StringIO()
                    self.depth = 1
                def end(self):
                    self.depth -= 1
                def line(self, text):
                    self.out.write("  " * self.depth)
                    self.out.write(text)
            """,
            "self.depth -= 1",
            "self.depth -= 0",
            """
            from lib import Printer
            def test():
                printer = Printer()
                printer.end()
                printer.line("a")
                assert printer.out.getvalue() == "a"
            """,
            id="a text that was written so many times",
        ),
        pytest.param(
            """
            from functools import lru_cache
            @lru_cache(maxsize=None)
            def number(kind):
                return {"a": 1, "b": 2}.get(kind, 0)
            def numbers(kinds):
                return [number(kind) for kind in kinds]
            """,
            '"b": 2',
            '"b": 3',
            """
            from lib import numbers
            def test():
                assert numbers(["a", "b", "c"]) == [1, 2, 0]
            """,
            id="an element that a comprehension collected before its last",
        ),
    ],
)
def test_a_chain_of_steps_that_differ_leads_to_the_change(
    good: str, old: str, new: str, test: str, tmp_path: Path
) -> None:
    versions = (dedent(good), dedent(good).replace(old, new))
    before, after = ({"lib.py": text, "test_lib.py": dedent(test)} for text in versions)
    execution = traced_pair(tmp_path, before, after)
    changes = {change.id: change for change in execution.changes}
    with Solver(worker=InProcess()) as solver:
        told = story(execution, frozenset(changes), changes, solver.core, StoryLimits())
    assert told is not None
    assert told.followed == changes.keys()
