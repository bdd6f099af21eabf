"""The same Python project ranked by FauxPy, from its own counts: the same order.

FauxPy is no dependency; ``tests/localization/test_cross_check.py`` says how to run this.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
from pipeline_runs import afterd, repository
from test_rank_repository import LIBRARY, PYTEST

Line = tuple[str, int]
TECHNIQUES = ("ochiai", "tarantula", "dstar")


def theirs(path: Path, name: str) -> dict[Line, float]:
    [file] = path.parent.glob(f"FauxPyReport_{path.name}_*/Scores_{name.capitalize()}.csv")
    with file.open(newline="") as text:
        rows = list(csv.reader(text))[1:]
    places = ((row[0].rpartition("::"), float(row[1])) for row in rows)
    return {(Path(file).name, int(line)): score for (file, _, line), score in places}


def test_fauxpy_orders_lines_alike(tmp_path: Path) -> None:
    pytest.importorskip("fauxpy", reason="FauxPy is not installed (see this file's docstring)")
    path = tmp_path / "r"
    path.mkdir()
    files = {"library.py": LIBRARY, "test_library.py": PYTEST, "pyproject.toml": "[project]\n"}
    repository(path, files)
    options = ("--src", "library.py", "--family", "sbfl", "--granularity", "statement")
    line = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_library.py", *options)
    subprocess.run(line, cwd=path, check=False, capture_output=True)
    chosen = [word for name in TECHNIQUES for word in ("--technique", name)]
    done = afterd("rank", "--format", "json", *chosen, cwd=path)
    for ranking in json.loads(done.out)["rankings"]:
        ours = {(place["file"], place["line"]): place["score"] for place in ranking["ranking"]}
        scores = theirs(path, ranking["technique"])
        both = [line for line in scores if line in ours]
        assert len(both) >= 5
        assert sorted(both, key=lambda at: (-ours[at], at)) == sorted(
            both, key=lambda at: (-scores[at], at)
        )
