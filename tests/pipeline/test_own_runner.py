"""A C program that runs its own tests and prints a line for each, those that pass as well."""

from __future__ import annotations

import json
from pathlib import Path

from pipeline_runs import afterd, repository

MAIN = """\
#include <stdio.h>
int size(void), amount(int);
static int failed;
static void check(const char *what, int got, int wanted) {
    if (got == wanted)
        printf("[pass] %s %d\\n", what, got);
    else {
        printf("[fail] %s %d\\n", what, got);
        failed++;
    }
}
int main(void) {
    check("size", size(), size());
    check("amount", amount(2), 6);
    printf("%d failed\\n", failed);
    return failed != 0;
}
"""
FILES = {
    ".gitignore": "prog\n",
    "Makefile": "prog: main.c part.c\n\tcc -g -o prog main.c part.c\ncheck: prog\n\t./prog\n",
    "main.c": MAIN,
    "part.c": "int size(void) { return 40; }\n\nint unused;\n\nint amount(int n) { return n * 3; }\n",
}


def test_the_story_ends_at_the_line_that_says_fail(tmp_path: Path) -> None:
    """It ended at the first line that differed, which a test printed that passes (tinyxml2)."""
    part = FILES["part.c"].replace("40", "48").replace("n * 3", "n * 2")
    where = repository(tmp_path / "r", FILES, {"part.c": part})
    done = afterd("explain", "HEAD~1..HEAD", "--format", "json", cwd=where)
    assert done.status == 0, done.err + done.out
    [found] = json.loads(done.out)["explanations"]
    assert found["failure"]["observed"].startswith("[fail] amount")
    assert [change["file"] for change in found["root"]] == ["part.c"]
