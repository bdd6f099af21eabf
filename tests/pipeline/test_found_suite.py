"""Tests that nobody named: found, explained, and replayed with what their runner sets."""

from __future__ import annotations

import json
from pathlib import Path

from pipeline_runs import afterd, repository

GOOD = "def f(x):\n    y = x + 1\n    return y\n\n\ndef g(x):\n    return x\n"
TEST = """\
import unittest

from package.a import f, g


class Test(unittest.TestCase):
    def test_f(self):
        self.assertEqual(f(1), 2)

    def test_g(self):
        self.assertEqual(g(1), 1)
"""


def test_a_package_below_src(tmp_path: Path) -> None:
    """The package is found by its tests through PYTHONPATH alone, which a replay needs as well."""
    path = tmp_path / "r"
    for folder in ("src/package", "tests"):
        (path / folder).mkdir(parents=True)
    repository(
        path,
        {
            "src/package/__init__.py": "",
            "src/package/a.py": GOOD,
            "tests/__init__.py": "",
            "tests/test_a.py": TEST,
            "pyproject.toml": '[project]\nname = "package"\nversion = "1"\n',
        },
        {"src/package/a.py": GOOD.replace("x + 1", "x + 2").replace("return x", "return 1 * x")},
    )
    done = afterd("explain", "--format", "json", cwd=path)
    assert done.status == 0, done.err
    [found] = json.loads(done.out)["explanations"]
    assert "test_f" in found["test"]
    assert [change["id"] for change in found["root"]] == ["c1"]
    assert afterd("replay", "1", cwd=path).out.startswith("The test passes")
    assert afterd("replay", "1", "--revert", "c2", cwd=path).out.startswith("The test fails as")
