"""A module that ends the process while it is imported: pytest says that no test ran, and yet it is a failure."""

from __future__ import annotations

import json
from pathlib import Path

from pipeline_runs import afterd, repository

LIMITS = "def limits(text):\n    return [int(part) for part in text.split({})]\n\n\nLIMITS = limits('3,4')\n"
MAIN = (
    "import sys\n\nfrom app.limits import LIMITS\n\n\ndef check(limits):\n    if len(limits) < 2:\n"
    "        sys.exit(2)\n"
    "    return sum(limits)\n\n\nTOTAL = check(LIMITS)\n"
)
TEST = "from app.main import TOTAL\n\n\ndef test_total():\n    assert TOTAL == 7\n"


def test_the_change_behind_it_is_found(tmp_path: Path) -> None:
    good = {"app/limits.py": LIMITS.format("','"), "app/main.py": MAIN, "app/names.py": "A = 1\n"}
    bad = {"app/limits.py": LIMITS.format("'.'").replace("int(part)", "part")}
    shared = {"app/__init__.py": "", "test_app.py": TEST, "pytest.ini": ""}
    path = repository(tmp_path / "r", {**shared, **good}, {**bad, "app/names.py": "A = 2\n"})
    done = afterd("explain", "--format", "json", cwd=path)
    assert done.status == 0, done.err
    (found,) = json.loads(done.out)["explanations"]
    assert [change["file"] for change in found["root"]] == ["app/limits.py"]
    assert found["failure"]["message"] == "SystemExit: 2"
    assert "app/main.py" in json.dumps(found["tree"])
