"""A module was written anew as a package: nothing smaller than the whole can be undone, and the answer says so."""

from __future__ import annotations

from pathlib import Path

from pipeline_runs import repository

from afterd.config import Settings
from afterd.model.explanation import Status
from afterd.pipeline import explain

OLD = "def price(count):\n    total = 0\n    for _ in range(count):\n        total += 3\n    return total\n"
OLD += "".join(f"\n\ndef older_{i}(value):\n    return value + {i}\n" for i in range(6))
NEW = "from shop.tariff import TARIFF\n\n\nclass Till:\n    def price(self, count):\n"
NEW += "        return TARIFF.get(count, 4 * count)\n\n\nprice = Till().price\n"
NEW += "".join(f"\n\ndef newer_{i}(value):\n    return value - {i}\n" for i in range(6))
TEST = "from shop import price\n\n\ndef test_price():\n    assert price(2) == 6\n"
GOOD = {"shop.py": OLD, "test_shop.py": TEST}
BAD = {
    "shop/__init__.py": NEW,
    "shop/tariff.py": "TARIFF = {1: 3}\n",
    "test_shop.py": TEST,
}


def test_a_file_that_is_undone_whole_is_said_to_be(tmp_path: Path) -> None:
    repository(tmp_path / "r", GOOD, BAD)
    [answer] = explain(Settings(repository=tmp_path / "r", range="HEAD~1..HEAD", test=("pytest",)))
    assert answer.status is Status.EXPLAINED
    assert any("is all of a file of" in note for note in answer.notes), answer.notes
