"""What a program says at its end is missing: who had given the C library the function that says it is suspected."""

from __future__ import annotations

import json
from pathlib import Path

from pipeline_runs import afterd, git
from two_versions import sides

_MAIN = """#include <stdio.h>
#include <stdlib.h>
-static int limit = 100;
+static int limit = 120;
-static int scaled(int n) { return n * 2; }
+static int scaled(int n) { return n << 1; }
-static int more(int n) { return n + 3; }
+static int more(int n) { return n + 4; }
static void say_last(void) { puts("last"); }
static void work(void) {
-    atexit(say_last);
    puts("first");
    if (limit > 200) say_last();
}
int main(void) {
    int n = scaled(3);
    if (n > 90) n = more(n);
    work();
    return n > 500;
}
"""


def test_a_function_that_is_not_given_any_more_is_found_in_one_run(tmp_path: Path) -> None:
    git("init", "-q", "-b", "main", cwd=tmp_path)
    (tmp_path / "Makefile").write_text("prog: main.c\n\t$(CC) -o prog main.c\n")
    (tmp_path / ".gitignore").write_text("prog\n")
    for text in sides(_MAIN):
        (tmp_path / "main.c").write_text(text)
        git("add", "-A", cwd=tmp_path)
        git("commit", "-q", "-m", "a version", cwd=tmp_path)
    test = ("sh", "-c", 'test "$(./prog)" = "first\nlast"')
    explain = ("explain", "HEAD~1..HEAD", "--build", "make", "--format", "json", "--", *test)
    (found,) = json.loads(afterd(*explain, cwd=tmp_path).out)["explanations"]
    assert [change["patch"].splitlines()[-1] for change in found["root"]] == [
        "-    atexit(say_last);"
    ]
    assert found["runs"]["tests"] == 1
