"""A second test that the first one's root repairs: few runs, and a story of its own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from pipeline_runs import afterd, repository

CODE = "def f(x):\n    y = x + 1\n    return y\n\n\ndef g(x):\n    return x\n\n\ndef h(x):\n    return f(x) + g(x)\n"
BAD = CODE.replace("x + 1", "x + 2").replace("    return x\n", "    return 1 * x\n")
TESTS = """\
import unittest
from calc import f, g, h


class T(unittest.TestCase):
    def test_f(self):
        self.assertEqual(f(1), 2)

    def test_h(self):
        total = h(2)
        self.assertEqual(total, 5)
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The answers of both tests, of a runner that is asked for each by itself."""
    path = tmp_path_factory.mktemp("same") / "r"
    repository(path, {"calc.py": CODE, "test_calc.py": TESTS}, {"calc.py": BAD})
    done = afterd("explain", "--format", "json", cwd=path)
    assert done.status == 0, done.err
    answers: list[dict[str, Any]] = json.loads(done.out)["explanations"]
    return answers


def test_both_have_the_root(found: list[dict[str, Any]]) -> None:
    assert [each["test"] for each in found] == ["test_calc.T.test_f", "test_calc.T.test_h"]
    assert [[change["id"] for change in each["root"]] for each in found] == [["c1"], ["c1"]]
    assert (
        "The root of explanation 1 (test_calc.T.test_f) repairs this test too."
        in found[1]["remarks"]
    )
    assert found[1]["changes"]["total"] == 2


def test_the_second_has_its_own_story(found: list[dict[str, Any]]) -> None:
    """Read off its own run, beside the version with the root undone."""
    assert found[1]["tree"]["line"] == 11
    assert any(step["change"] == "c1" for step in found[1]["tree"]["steps"])
    assert found[1]["failure"]["expected"] == "5"


def test_the_second_takes_one_run_to_search(found: list[dict[str, Any]]) -> None:
    """And no more to confirm than a first one: what was recorded speaks for it."""
    assert found[1]["runs"]["tests"] == 1
    assert found[1]["runs"]["confirmation"] <= found[0]["runs"]["confirmation"]


MANY = 8
SUM = "def f(x):\n    total = 0\n{}    return total\n\n\ndef h(x):\n    return 10 * f(x)\n"


def _sum(factor: int) -> str:
    parts = (
        f"    total += {factor} * x\n    total = total + {place}\n" for place in range(1, MANY + 1)
    )
    return SUM.format("".join(parts))


MANY_TESTS = f"""\
import unittest
from calc import f, h


class T(unittest.TestCase):
    def test_f(self):
        self.assertEqual(f(1), {MANY + 36})

    def test_h(self):
        self.assertEqual(h(2), {10 * (2 * MANY + 36)})
"""


def test_what_was_seen_to_be_needed_is_not_searched_again(tmp_path: Path) -> None:
    """The second test's root is run once undone, and each change of it is put back once."""
    path = tmp_path / "r"
    repository(path, {"calc.py": _sum(1), "test_calc.py": MANY_TESTS}, {"calc.py": _sum(2)})
    done = afterd("explain", "--format", "json", cwd=path)
    assert done.status == 0, done.err
    first, second = json.loads(done.out)["explanations"]
    assert len(first["root"]) == len(second["root"]) == MANY
    assert second["minimal"]
    assert second["runs"]["tests"] <= 1 + MANY
    assert second["tree"]["steps"]


NODE_TEST = """\
import test from 'node:test';
import assert from 'node:assert';
import * as ops from '../ops.mjs';

test('NAME', () => {
  assert.strictEqual(ops.CALL, 2);
});
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_that_it_repairs_a_new_test_is_said(tmp_path: Path) -> None:
    """A test that was new, or had moved, had "no green to compare with", and what broke it stood above (autocfg)."""
    old = NODE_TEST.replace("NAME", "is two").replace("CALL", "two()")
    new = NODE_TEST.replace("NAME", "is twice").replace("CALL", "twice(1)")
    ops = "export function two() {\n  return 2;\n}\n\nexport function one() {\n  return 1;\n}\n"
    more = (
        ops.replace("return 2", "return 3")
        + "\nexport function twice(x) {\n  return x * two();\n}\n"
    )
    package = {"package.json": '{"scripts": {"test": "node --test test/"}}'}
    where = tmp_path / "r"
    (where / "test").mkdir(parents=True)
    repository(
        where,
        {**package, "ops.mjs": ops, "test/a.test.mjs": old},
        {"ops.mjs": more, "test/a.test.mjs": old, "test/b.test.mjs": new},
    )
    done = afterd("explain", "--format", "json", cwd=where)
    first, second = json.loads(done.out)["explanations"]
    assert [change["file"] for change in first["root"]] == ["ops.mjs"], done.err
    assert "ranking" not in " ".join((*first["notes"], *second["notes"]))
    assert second["reason"].startswith("This test is new: there is no green to compare with.")
    guilty = first["root"][0]["id"]
    assert second["reason"].endswith(
        f"With {guilty} undone, as for test/a.test.mjs > is two (explanation 1), it passes."
    )
