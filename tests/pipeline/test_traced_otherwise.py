"""A program may do otherwise when it is traced: that is noticed and said, and the answer stands."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipeline_runs import afterd, git

_MAIN = """#include <stdio.h>
#include <stdlib.h>
int scaled(int n);
int main(void) {{
    int n = scaled(3);
    if (getenv("AFTERD_TRACE")) {traced}
    printf("%d\\n", n);
    return n == 6 ? 0 : 1;
}}
"""
_SCALED = "int scaled(int n) {{\n    return n * {};\n}}\n"
_MAKEFILE = "prog: main.c scaled.c\n\t$(CC) -o prog main.c scaled.c\n"


@pytest.mark.parametrize(
    ("traced", "said"),
    [
        ("n = n > 8 ? n : 6;", ""),
        ("n = 6;", "When it is traced, the failing version's test passes"),
        ("n = 7;", "When it is traced, the good version's test fails"),
        ("abort();", "When it is traced, the failing version's test fails otherwise (SIGABRT"),
    ],
)
def test_what_a_traced_program_does_otherwise_is_said(
    tmp_path: Path, traced: str, said: str
) -> None:
    git("init", "-q", "-b", "main", cwd=tmp_path)
    for factor in (2, 3):
        (tmp_path / "main.c").write_text(_MAIN.format(traced=traced))
        (tmp_path / "scaled.c").write_text(_SCALED.format(factor))
        (tmp_path / "Makefile").write_text(_MAKEFILE)
        (tmp_path / ".gitignore").write_text("prog\n")
        git("add", "-A", cwd=tmp_path)
        git("commit", "-q", "-m", str(factor), cwd=tmp_path)
    done = afterd("explain", "HEAD~1..HEAD", "--build", "make", "--", "./prog", cwd=tmp_path)
    assert done.status == 0, done.err
    assert "scaled.c:2" in done.out
    assert said in " ".join(done.out.split())
    assert ("When it is traced" in done.out) is bool(said)
