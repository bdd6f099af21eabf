"""Which language's run is recorded first where a range changes several."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pipeline_runs import afterd, git

_CALC = "def total(prices):\n    return sum(prices) {} 1\n"
_TEST = "from calc import total\n\n\ndef test_total():\n    assert total([1, 2]) == 4\n"


@pytest.mark.parametrize(
    ("command", "first"),
    [
        (("-m", "pytest", "-q", "test_calc.py"), "Python, through its syntax tree"),
        (("-c", "import test_calc; test_calc.test_total()"), "C and C++, through LLVM IR"),
    ],
)
def test_no_c_is_woven_for_a_runner_of_pythons_that_builds_nothing(
    tmp_path: Path, command: tuple[str, ...], first: str
) -> None:
    """Babel's tools have a file of C++ that its tests do not know: a build and a run were made for it. A script
    may compile what it tests.
    """
    git("init", "-q", "-b", "main", cwd=tmp_path)
    for sign in "+-":
        (tmp_path / "calc.py").write_text(_CALC.format(sign))
        (tmp_path / "tool.c").write_text(f"int main(void) {{ return 1 {sign} 1; }}\n")
        (tmp_path / "test_calc.py").write_text(_TEST)
        git("add", "-A", cwd=tmp_path)
        git("commit", "-q", "-m", sign, cwd=tmp_path)
    done = afterd("explain", "HEAD~1..HEAD", "--", sys.executable, *command, cwd=tmp_path)
    assert "calc.py:2" in done.out
    traced = [line for line in done.err.splitlines() if "tracing the failing" in line]
    assert first in traced[0]
    assert len(traced) == 1 + (first[0] == "C")
