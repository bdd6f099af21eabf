"""Where the commits say that it is one of few changes, what was wrong is told as the first two runs showed it."""

from __future__ import annotations

import json
from pathlib import Path

from pipeline_runs import afterd, git

_COMMITS, _GUILTY = 12, 8
_PART = 'static int part%d(void) { return (int)strtol("%d", 0, 10); }\n\n'
_TEST = "./prog > out; diff wanted out"


def _program(commit: int) -> str:
    """Each commit takes from one part what it gives to another; one of them gives more."""
    weights = [3**each if commit >= each else 0 for each in range(1, _COMMITS)]
    amounts = [(w + 2 if w and n == _GUILTY else w, -w) for n, w in enumerate(weights, start=1)]
    each = enumerate(amount for pair in amounts for amount in pair)
    parts = [_PART % (number, 10 + amount) for number, amount in each]
    adds = "".join(f"    found += part{n}();\n" for n in range(len(parts)))
    main = f'int main(void) {{\n    int found = 0;\n{adds}    printf("total %d\\n", found);\n    return 0;\n}}\n'
    return "#include <stdio.h>\n#include <stdlib.h>\n\n" + "".join(parts) + main


def test_the_wrong_output_is_told_and_not_what_a_tool_said_of_it(tmp_path: Path) -> None:
    """Md4c: `1c1`, which diff says, stood for what the program had written into a file."""
    git("init", "-q", "-b", "main", cwd=tmp_path)
    (tmp_path / "Makefile").write_text("prog: main.c\n\t$(CC) -o prog main.c\n")
    (tmp_path / ".gitignore").write_text("prog\nout\n")
    (tmp_path / "wanted").write_text(f"total {20 * (_COMMITS - 1)}\n")
    for commit in range(_COMMITS):
        (tmp_path / "main.c").write_text(_program(commit))
        git("add", "-A", cwd=tmp_path)
        git("commit", "-q", "-m", f"version {commit}", cwd=tmp_path)
    explain = ("explain", f"HEAD~{_COMMITS - 1}..HEAD", "--build", "make", "--format", "json")
    done = afterd(*explain, "--", "sh", "-c", _TEST, cwd=tmp_path)
    (found,) = json.loads(done.out)["explanations"]
    assert "bisecting the commits" in done.err
    commits = git("rev-list", "--reverse", "HEAD", cwd=tmp_path).split()
    assert {name for each in found["root"] for name in each["commits"]} == {commits[_GUILTY]}
    failure, total = found["failure"], 20 * (_COMMITS - 1)
    right, wrong = f"total {total}", f"total {total + 2}"
    assert (failure["file"], failure["observed"], failure["expected"]) == ("main.c", wrong, right)
