"""A file that does not parse and that the bad version fails before it comes to."""

from __future__ import annotations

import json
from pathlib import Path

from pipeline_runs import afterd, repository

GOOD = {
    "pkg/__init__.py": "",
    "pkg/a.py": "from pkg.b import total\n\n\ndef f(x):\n    return total(x) + 1\n\n\ndef g(x):\n    return x\n",
    "pkg/b.py": "def total(x):\n    return sum(\n        [x, 1]\n    )\n\n\ndef other(x):\n    y = x\n    return y\n",
    "tests/test_a.py": "from pkg.a import f\n\n\ndef test_f():\n    assert f(1) == 3\n",
    "pytest.ini": "[pytest]\npythonpath = .\n",
}


def test_what_does_not_parse_goes_along_by_the_line_that_the_error_tells(tmp_path: Path) -> None:
    """Nothing was undone in it, so nothing of it was looked for: what stood nearest to the undone change was tried."""
    bad = {
        "pkg/a.py": "import pkg.gone\n" + GOOD["pkg/a.py"].replace("return x\n", "return 2 * x\n"),
        "pkg/b.py": GOOD["pkg/b.py"].replace("[x, 1]", "print(").replace("y = x", "y = 1 * x"),
    }
    path = repository(tmp_path / "r", GOOD, bad)
    done = afterd("explain", "--test", "tests/test_a.py", "--format", "json", cwd=path)
    assert done.status == 0, done.err
    [found] = json.loads(done.out)["explanations"]
    undone = [*found["root"], *found["auxiliary"]]
    assert sorted((each["file"], each["new"][0]) for each in undone) == [
        ("pkg/a.py", 1),
        ("pkg/b.py", 3),
    ]
    tried = [line.partition("] ")[2] for line in done.err.splitlines() if "] run " in line]
    assert tried[1].startswith("run 2: with c1, c3 undone it passes"), tried
