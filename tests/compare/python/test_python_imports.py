"""What an import says of a change: by itself nothing, unless it binds something else."""

from __future__ import annotations

from pathlib import Path

import pytest
from python_pairs import traced_pair

from afterd.model.trace import Alignment, Conduct

HELPER = "def a(x):\n    return x\ndef b(x):\n    return -x\ndef c(x):\n    return 0\nabs = c\n"
GOOD = "from helper import (\n    a,\n    b,\n)\ndef f(x):\n    return abs(a(x)) + {}\n"
TEST = "from lib import f\ndef test():\n    assert f(1) == 2\n"


@pytest.mark.parametrize(
    ("imports", "neutral"),
    [
        ("from helper import b, a", True),
        ("# all of it\nfrom helper import b, c, a\nimport re", True),
        ("from helper import a, b as d", True),
        ("from helper import b as a", False),
        ("from helper import a, b, abs", False),
        ("import other\nfrom helper import a, b", False),  # what it does when it is loaded
        ("from helper import a, b\nONE = 1", False),
    ],
)
def test_a_change_that_only_imports(imports: str, neutral: bool, tmp_path: Path) -> None:
    files = {"helper.py": HELPER, "other.py": "print()\n", "test_lib.py": TEST}
    bad = imports + GOOD.format(2).partition(")")[2]
    execution = traced_pair(tmp_path, {**files, "lib.py": GOOD.format(1)}, {**files, "lib.py": bad})
    first, *_ = (change.id for change in execution.changes)
    assert (execution.conduct().get(first) is Conduct.NEUTRAL) == neutral


def test_a_class_that_moved_to_another_module_is_the_one_that_it_was(tmp_path: Path) -> None:
    kept = "class A:\n    size = 1\n\n    def m(self):\n        return self.size\n"
    test = "from lib import A\ndef test():\n    assert A().m() == {}\n"
    good = {"lib.py": kept, "new.py": "X = 1\n", "test_lib.py": test.format(1)}
    bad = {
        "lib.py": "from new import A\n",
        "new.py": "X = 1\n" + kept.replace("1", "2"),
        "test_lib.py": test.format(1),
    }
    execution = traced_pair(tmp_path, good, bad)
    defined = [
        execution.trace.at_site(node)
        for module in execution.trace.all_modules()
        for node in module.of_type("ClassDef")
    ]
    (made,) = (row for rows in defined for row in rows)
    assert execution.step(execution.trace.number(made)).green.alignment is Alignment.SAME


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("from posixpath import join", "from ntpath import join"),
        ("from math import floor", "from math import ceil as floor"),
        ("from math import log", "from cmath import log"),
        ("from queue import Empty as join", "from _queue import Empty as join"),
    ],
)
def test_what_a_library_calls_the_same_is_another_thing_in_another_module(
    good: str, bad: str, tmp_path: Path
) -> None:
    name = good.rsplit(maxsplit=1)[-1]
    files = {"lib.py": f"{{}}\ndef f(x):\n    return {name}(x)\n"}
    test = "from lib import f\ndef test():\n    assert f(1.5) == 0\n"
    good, bad = (files["lib.py"].format(each) for each in (good, bad))
    execution = traced_pair(
        tmp_path, {"lib.py": good, "test_lib.py": test}, {"lib.py": bad, "test_lib.py": test}
    )
    (change,) = (each.id for each in execution.changes)
    same = "Empty" in good  # one class, wherever it is imported from
    assert (execution.conduct().get(change) is Conduct.NEUTRAL) == same
    assert (change in execution.executed_changes()) or same
