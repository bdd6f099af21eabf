"""``explain`` and ``rank`` of the same range: what was seen to repair a test leads, or its absence is said."""

from __future__ import annotations

import json
from pathlib import Path

import fees_project
import pytest
from pipeline_runs import afterd, repository

C = """\
#include <stdio.h>
#include <stdlib.h>
static int fee(int days, int weight)
{
    int base = days * 4;
    int extra = 0;
    base += weight > 20;
    if (weight > 20)
        extra = weight - 20;
    return base + extra;
}
int main(int argc, char **argv)
{
    printf("%d\\n", argc > 2 ? fee(atoi(argv[1]), atoi(argv[2])) : 0);
    return 0;
}
"""
SUITE = """\
bad=0
check() {
    if [ "$(./fee $1 $2)" = "$3" ]; then echo "ok $4 - fee"; else echo "not ok $4 - fee"; bad=1; fi
}
check 2 10 8 1
check 3 25 18 2
check 4 20 16 3
check 5 9 20 4
exit $bad
"""
MAKEFILE = "fee: fee.c\n\t$(CC) -o $@ fee.c\ncheck: fee\n\tsh suite.sh\n"
BESIDE = "extra = -20 + weight"  # changed without effect, where failed tests alone come
PYTHON = fees_project.LIBRARY.replace("weight - 20", BESIDE)


def pair(path: Path, name: str) -> Path:
    """A repository of two commits: the fault, and a change that every spectrum suspects more."""
    if name == "python":
        path.mkdir()
        wrong = PYTHON.replace("1, 30) * 4", "1, 30) * 4 + (weight > 20)")
        files = {
            "fees.py": fees_project.LIBRARY,
            "test_fees.py": fees_project.TESTS,
            **fees_project.SETTINGS,
        }
        return repository(path, files, {"fees.py": wrong})
    path.mkdir()
    wrong = {
        "a statement changed": C.replace("weight > 20;", "weight > 30;"),
        "a statement removed": C.replace("    base += weight > 20;\n", ""),
    }[name]
    files = {"fee.c": C, "suite.sh": SUITE, "Makefile": MAKEFILE}
    return repository(path, files, {"fee.c": wrong.replace("extra = weight - 20", BESIDE)})


@pytest.mark.parametrize("name", ["a statement changed", "a statement removed", "python"])
def test_the_first_line_is_of_the_change_that_explain_names(tmp_path: Path, name: str) -> None:
    path = pair(tmp_path / "fees", name)
    asked = ("HEAD~1..HEAD", "--technique", "fused", "--technique", "ochiai", "--format", "json")
    before = json.loads(afterd("rank", *asked, cwd=path).out)
    assert any("no vote of loop" in note for note in before["notes"])
    explained = afterd("explain", "HEAD~1..HEAD", "--format", "json", cwd=path)
    assert explained.status == 0, explained.err
    root = {change["id"] for change in json.loads(explained.out)["explanations"][0]["root"]}
    found = json.loads(afterd("rank", *asked, cwd=path).out)
    fused, ochiai = (ranking["ranking"] for ranking in found["rankings"])
    assert fused[0]["change"] in root
    assert fused[0]["votes"]["loop"] < 2  # around a removed line two share the place
    assert ochiai[0]["change"] not in root  # so that the test is not about nothing
