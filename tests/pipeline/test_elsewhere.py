"""What an answer does to other tests, in a real suite: it repairs some, and may spoil some."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from pipeline_runs import afterd, repository

from afterd.config import Settings
from afterd.model.progress import Silent
from afterd.pipeline.broken import which_broke
from afterd.pipeline.elsewhere import Elsewhere, outcomes_elsewhere
from afterd.workspace import opened_workspace, wanted_range

GOOD = {
    "one.py": "ONE = 1\n",
    "two.py": "TWO = 1\n",
    "test_it.py": """
from one import ONE
from two import TWO

def test_broke(): assert ONE == 1
def test_broke_too(): assert ONE < 2
def test_alike(): assert ONE == TWO
def test_whole(): assert ONE == int(ONE)
""",
}


def test_a_repair_that_spoils_what_passes_at_both_ends_is_told(tmp_path: Path) -> None:
    path = tmp_path / "r"
    repository(path, GOOD, {"one.py": "ONE = 2\n", "two.py": "TWO = 2\n"})
    settings = replace(Settings(path), python=sys.executable)
    with opened_workspace(settings) as workspace:
        wanted = wanted_range(workspace, settings)
        broken = which_broke(workspace, settings, wanted, Silent())
        first, second = (test.recipe.test_id for test in broken.tests)
        change = next(each.id for each in wanted.changes.live if each.file == "one.py")
        found = outcomes_elsewhere(
            workspace,
            wanted,
            broken.suite,
            frozenset({change}),
            first,
            [second],
            broken.green,
            Silent(),
        )
    assert found == Elsewhere((second,), ("test_it.py::test_alike",))
    assert "test_it.py::test_alike" in found.note()
    assert not Elsewhere((second,)).note()


UNITTEST = """
import unittest
from one import ONE
from two import TWO

class T(unittest.TestCase):
    def test_a(self): self.assertEqual(ONE, 1)
    def test_b(self): self.assertLess(ONE, 2)
    def test_c(self): self.assertEqual(str(ONE), "1")
    def test_d(self): self.assertEqual(TWO, 1)
    def test_e(self): self.assertEqual(TWO, int(TWO))
"""
NODE = """
import test from 'node:test';
import assert from 'node:assert';
import { ONE, TWO } from '../ops.mjs';

test('a', () => assert.strictEqual(ONE, 1));
test('b', () => assert.strictEqual(ONE + 1, 2));
test('c', () => assert.strictEqual(`${ONE}`, '1'));
test('d', () => assert.strictEqual(TWO, 1));
test('e', () => assert.ok(TWO));
"""
PACKAGE = '{"scripts": {"test": "node --test test/"}}'
OPS = "export const ONE = 1;\n\nexport const NOTHING = 0;\n\nexport const TWO = 1;\n"


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        (
            {"one.py": "ONE = 1\n", "two.py": "TWO = 1\n", "test_it.py": UNITTEST},
            {"one.py": "ONE = 2\n", "two.py": "TWO = 2\n"},
        ),
        (
            {"package.json": PACKAGE, "ops.mjs": OPS, "test/a.test.mjs": NODE},
            {"ops.mjs": OPS.replace("ONE = 1", "ONE = 2").replace("TWO = 1", "TWO = 2")},
        ),
    ],
    ids=["unittest", "node"],
)
def test_one_run_tells_which_of_several_tests_an_answer_repairs(
    tmp_path: Path, good: Mapping[str, str], bad: Mapping[str, str]
) -> None:
    """Of eight tests of Django's with one root each was confirmed and searched by itself, in some ten runs."""
    if "package.json" in good and shutil.which("node") is None:
        pytest.skip("no node")
    path = tmp_path / "r"
    (path / "test").mkdir(parents=True)
    repository(path, good, bad)
    done = afterd("explain", "--format", "json", cwd=path)
    assert done.status == 0, done.err
    first, other = json.loads(done.out)["explanations"]
    assert [len(each["root"]) for each in (first, other)] == [1, 1]
    also = {name[-1] for name in first["also"]}
    assert {first["test"][-1], *also} == {"a", "b", "c"}
    assert (other["test"][-1], other["also"]) == ("d", [])
