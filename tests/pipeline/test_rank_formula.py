"""Formula-based techniques of ``afterd rank``: a real build, its IR, the good version as the oracle."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from pipeline_runs import afterd, repository

LIBRARY = """\
static int limited(int value, int low, int high)
{
    if (value < low)
        return low;
    if (value > high)
        return high;
    return value;
}

int fee(int days, int weight)
{
    int base = limited(days, 1, 30) * 4;
    int extra = 0;
    if (weight > 20)
        extra = weight - 20;
    return base + extra;
}
"""
WRONG = LIBRARY.replace("weight - 20", "weight - 10")
PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
int fee(int days, int weight);
int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    printf("%d\\n", fee(atoi(argv[1]), atoi(argv[2])));
    return 0;
}
"""
CHECKED = """\
#include <assert.h>
int fee(int days, int weight);
int main(void)
{
    assert(fee(2, 10) == 8);
    assert(fee(3, 25) == 17);
    return 0;
}
"""
SUITE = """\
check() {
    if [ "$(./fee $1 $2)" = "$3" ]; then echo "ok $4 - fee"; else echo "not ok $4 - fee"; fi
}
check 2 10 8 1
check 3 25 17 2
check 40 20 120 3
check 1 30 14 4
"""
ASSERTED = """\
./fee_test && echo "PASS: fee" || echo "FAIL: fee"
./other_test && echo "PASS: other" || echo "FAIL: other"
"""
OTHER = CHECKED.replace("    assert(fee(3, 25) == 17);\n", "")
FAULT = 15  # extra = weight - 10


def project(path: Path, suite: str, **programs: str) -> Path:
    path.mkdir()
    rules = "".join(f"{name}: {name}.c lib.c\n\t$(CC) -o $@ {name}.c lib.c\n" for name in programs)
    makefile = f"all: {' '.join(programs)}\n{rules}check: all\n\tsh suite.sh\n"
    files = {f"{name}.c": text for name, text in programs.items()}
    files |= {"lib.c": LIBRARY, "suite.sh": suite, "Makefile": makefile}
    return repository(path, files, {"lib.c": WRONG})


def ranked(path: Path, *arguments: str) -> Any:  # noqa: ANN401 # a JSON document
    done = afterd("rank", "--format", "json", *arguments, cwd=path)
    assert done.status == 0, done.err
    return json.loads(done.out)


def rank_of(document: Any, technique: str) -> int:  # noqa: ANN401 # a JSON document
    (ranking,) = (r["ranking"] for r in document["rankings"] if r["technique"] == technique)
    place = next(p for p in ranking if (p["file"], p["line"]) == ("lib.c", FAULT))
    return int(place["rank"])


@pytest.mark.parametrize("technique", ["bugassist-cw", "ofc-cw"])
def test_the_good_version_is_the_oracle(tmp_path: Path, technique: str) -> None:
    path = project(tmp_path / "fees", SUITE, fee=PROGRAM)
    asked = ("HEAD~1..HEAD", "--technique", technique, "--technique", "fused")
    found = ranked(path, *asked, "--build", "make", "--", "make", "check")
    assert rank_of(found, technique) == 1
    assert rank_of(found, "fused") == 1


def test_an_assertion_is_the_oracle_without_a_range(tmp_path: Path) -> None:
    path = project(tmp_path / "fees", ASSERTED, fee_test=CHECKED, other_test=OTHER)
    found = ranked(path, "--technique", "ofc", "--build", "make", "--", "make", "check")
    named = {p["file"] for r in found["rankings"] for p in r["ranking"]}
    assert named == {"lib.c"}  # a test cannot be what is wrong
    assert rank_of(found, "ofc") <= 6


def test_without_an_oracle_there_is_a_reason(tmp_path: Path) -> None:
    path = project(tmp_path / "fees", SUITE, fee=PROGRAM)
    done = afterd(
        "rank", "--technique", "ofc-cw", "--build", "make", "--", "make", "check", cwd=path
    )
    assert done.status != 0
    assert "does what it should when it is executed from its IR" in done.err


def test_generated_tests_are_kept_as_c(tmp_path: Path) -> None:
    path = project(tmp_path / "fees", SUITE, fee=PROGRAM)
    kept = tmp_path / "kept"
    asked = ("HEAD~1..HEAD", "--emit-tests", str(kept), "--build", "make", "--", "make", "check")
    assert "of them fail on this version" in " ".join(ranked(path, *asked)["notes"])
    sources = sorted(kept.iterdir())
    assert len(sources) > 2  # the failed test's input and others
    built = {version: tmp_path / version for version in ("good", "bad")}
    for version, text in (("good", LIBRARY), ("bad", WRONG)):
        (path / "lib.c").write_text(text)
        program = str(built[version])
        subprocess.run(["cc", "-o", program, "fee.c", "lib.c"], cwd=path, check=True)
    failed = 0
    for source in sources:
        case = source.with_suffix("")
        subprocess.run(["cc", "-Wall", "-Werror", "-o", case, source], check=True)
        assert subprocess.run([case, built["good"]], check=False).returncode == 0
        failing = subprocess.run([case, built["bad"]], check=False).returncode != 0
        assert failing == ("It fails on" in source.read_text())
        failed += failing
    assert 0 < failed < len(sources)
