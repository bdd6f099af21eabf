"""A package in a namespace that is installed in place: every variant's own files are run, not the user's."""

from __future__ import annotations

import json
import sys
import venv
from pathlib import Path

import pytest
from pipeline_runs import afterd, repository

GOOD = "def price(n):\n    unit = 2\n    return n * unit\n"
BAD = GOOD.replace("unit = 2", "unit = 3")
CASE = """\
import unittest
from shop.cart import price


class TestPrice(unittest.TestCase):
    def test_price(self):
        self.assertEqual(price(2), 4)
"""
FUNCTION = "from shop.cart import price\n\n\ndef test_price():\n    assert price(2) == 4\n"
SPACE = "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n"
# as ``setup.py develop`` writes it
PTH = (
    "import sys, types, os;p = os.path.join({src!r}, *('shop',));m = sys.modules.setdefault('shop',"
    " types.ModuleType('shop'));mp = m.__dict__.setdefault('__path__',[]);(p not in mp) and mp.append(p)\n"
)


@pytest.mark.parametrize("test", [CASE, FUNCTION], ids=["unittest", "pytest"])
def test_a_namespace_of_the_work_tree_is_not_tested(tmp_path: Path, test: str) -> None:
    """zope.interface was "already red", as its namespace was there before any path was looked at."""
    files = {"setup.py": "", "src/shop/__init__.py": SPACE, "src/shop/cart/__init__.py": GOOD}
    path = repository(
        tmp_path / "r",
        {**files, "tests/test_price.py": test, ".gitignore": ".venv\n"},
        {"src/shop/cart/__init__.py": BAD},
    )
    venv.create(path / ".venv")
    [site] = path.glob(".venv/lib/python3.*/site-packages")
    seen = next(each for each in sys.path if each.endswith("site-packages"))
    (site / "beside.pth").write_text(f"{seen}\n", encoding="utf-8")
    (site / "shop.cart-nspkg.pth").write_text(PTH.format(src=str(path / "src")), encoding="utf-8")
    done = afterd("explain", "HEAD~1..HEAD", "--format", "json", cwd=path)
    assert done.status == 0, done.out + done.err
    [found] = json.loads(done.out)["explanations"]
    assert [change["file"] for change in found["root"]] == ["src/shop/cart/__init__.py"]
