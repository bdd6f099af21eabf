"""A test command that builds by itself, as `make check` does, where no build command is given."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pipeline_runs import afterd, repository

MAKEFILE = """\
check: prog
\t./prog
prog: amount.o main.o
\tcc -o prog amount.o main.o
%.o: %.c
\tcc -g -c -o $@ $<
"""
FILES = {
    ".gitignore": "prog\n*.o\n",
    "Makefile": MAKEFILE,
    "limit.h": "#define LIMIT 3\n",
    "amount.c": '#include "limit.h"\nint amount(void) { return LIMIT; }\n',
    "main.c": "int amount(void);\nint main(void) { return amount() != 3; }\n",
}
BAD = {
    "limit.h": "#define LIMIT 4\n",
    "amount.c": FILES["amount.c"].replace("LIMIT;", "LIMIT + 0;"),
}


@pytest.mark.parametrize("options", [(), ("--build", "make prog")], ids=["no build", "a build"])
def test_a_header_that_make_knows_nothing_of_is_found(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    """Objects that stayed from another variant made the other line guilty, or the test flaky. What the
    test compiles is counted, read in the twin as well, and the status that main returned is main's.
    """
    where = repository(tmp_path / "r", FILES, BAD)
    command = ("explain", "HEAD~1..HEAD", "--format", "json", *options, "--", "make", "check")
    done = afterd(*command, cwd=where)
    assert done.status == 0, done.err + done.out
    [found] = json.loads(done.out)["explanations"]
    assert [change["file"] for change in found["root"]] == ["limit.h"]
    assert found["changes"]["executed"] > 0
    assert (found["failure"]["file"], found["failure"]["line"]) == ("main.c", 2)
    [step] = found["tree"]["steps"]
    assert (step["observed"], step["green"], step["tested"]) == ("4", "3", True)
