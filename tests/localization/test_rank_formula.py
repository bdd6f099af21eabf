"""Formula-based techniques of ``afterd rank``: a real build, its IR, the good version as the oracle."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pipeline_runs import afterd, repository

from afterd.localization.fusion import KINDS, STAND_INS

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
    (fused,) = (r["ranking"] for r in found["rankings"] if r["technique"] == "fused")
    fault = next(p for p in fused if p["line"] == FAULT)
    assert fault["votes"]["bugassist-cw"] == 1
    assert set(fault["votes"]) == {"ochiai", "op2", "dstar", "blockrank", "bugassist-cw"}
    assert next(p for p in found["rankings"][0]["ranking"])["votes"] is None


def test_the_votes_of_a_fusion_are_shown(tmp_path: Path) -> None:
    path = project(tmp_path / "fees", SUITE, fee=PROGRAM)
    asked = ("--technique", "fused", "--build", "make", "--", "make", "check")
    shown = afterd("rank", "HEAD~1..HEAD", *asked, cwd=path)
    assert "bugassist-cw 1" in shown.out, shown.err + shown.out
    assert "fused has no vote of loop: it needs an explanation of a failed test" in shown.out


def test_weights_decide_what_a_fusion_says(tmp_path: Path) -> None:
    path = project(tmp_path / "fees", SUITE, fee=PROGRAM)
    names = ("ochiai", "op2", "dstar", "blockrank")
    weights = tmp_path / "weights.json"
    weights.write_text(json.dumps({"schema": 1, "weights": dict.fromkeys(names, 0)}))
    asked = ("HEAD~1..HEAD", "--technique", "fused", "--weights", str(weights))
    found = ranked(path, *asked, "--build", "make", "--", "make", "check")
    ranking = found["rankings"][0]["ranking"]
    unnamed = {p["score"] for p in ranking if not {"bugassist-cw", "conbas"} & set(p["votes"])}
    assert len(unnamed) == 1  # what tells these lines apart weighs nothing
    weights.write_text("{}")
    afterd("rank", *asked, "--", "make", "check", cwd=path).refused(2, "weights")


def test_all_kinds_of_evidence_vote_once_the_loop_was_asked(tmp_path: Path) -> None:
    suite = "bad=0\n" + SUITE.replace('else echo "not', 'else bad=1; echo "not') + "exit $bad\n"
    path = project(tmp_path / "fees", suite, fee=PROGRAM)
    command = ("--build", "make", "--", "make", "check")
    assert afterd("explain", "HEAD~1..HEAD", *command, cwd=path).status == 0
    found = ranked(path, "HEAD~1..HEAD", "--technique", "fused", "--technique", "loop", *command)
    assert found["notes"] == []
    assert rank_of(found, "loop") == 1
    fault = found["rankings"][0]["ranking"][0]
    assert fault["line"] == FAULT
    assert fault["votes"].keys() == {
        name for names in KINDS.values() for name in names if name not in STAND_INS
    }
    assert fault["votes"]["loop"] == 1
    files = {place["file"] for place in found["rankings"][1]["ranking"]}
    assert "suite.sh" not in files


def test_all_failing_inputs_in_one_formula(tmp_path: Path) -> None:
    suite = SUITE + "check 40 30 130 5\n"
    path = project(tmp_path / "fees", suite, fee=PROGRAM)
    asked = ("HEAD~1..HEAD", "--technique", "ofc-cw", "--technique", "bugassist-cw")
    command = ("--build", "make", "--", "make", "check")
    each, together = (ranked(path, *asked, *way, *command) for way in ((), ("--one-formula",)))
    for technique in ("ofc-cw", "bugassist-cw"):
        assert rank_of(each, technique) == rank_of(together, technique) == 1


TWO = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    int a = atoi(argv[1]);
    int b = atoi(argv[2]);
    int area = a * b;
    int edge = 2 * (a + b);
    printf("%d\\n", area);
    printf("%d\\n", edge);
    return 0;
}
"""


def test_conbas_explains_two_wrong_outputs(tmp_path: Path) -> None:
    path = tmp_path / "areas"
    path.mkdir()
    suite = SUITE.partition("check 2")[0].replace("./fee $1 $2", "./two $1 $2 | tr '\\n' ' '")
    suite += 'check 3 5 "15 16 " 1\ncheck 2 2 "4 8 " 2\ncheck 0 0 "0 0 " 3\n'
    makefile = "all: two\ntwo: two.c\n\t$(CC) -o $@ two.c\ncheck: all\n\tsh suite.sh\n"
    wrong = TWO.replace("a * b", "a + b + 2").replace("2 * (a + b)", "2 * (a + b + 1)")
    repository(path, {"two.c": TWO, "suite.sh": suite, "Makefile": makefile}, {"two.c": wrong})
    asked = ("HEAD~1..HEAD", "--technique", "conbas", "--build", "make", "--", "make", "check")
    found = ranked(path, *asked)
    named = {p["line"] for p in found["rankings"][0]["ranking"]}
    assert {9, 10} <= named  # no single statement explains both
    assert 6 not in named


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
    assert "only a RANGE says what it should have shown" in done.err


READER = """\
#include <stdio.h>
int main(int argc, char **argv)
{
    FILE *file = fopen(argv[argc - 1], "r");
    int number, sum = 0;
    if (file == NULL) {
        puts("no file");
        return 2;
    }
    while (fscanf(file, "%d", &number) == 1)
        sum += number;
    printf("%d\\n", sum);
    return 0;
}
"""
READ = """\
printf '1 2 3' > one.tmp; printf '4' > two.tmp
if [ "$(./sum one.tmp)" = 6 ]; then echo "ok 1"; else echo "not ok 1"; fi
if [ "$(./sum two.tmp)" = 4 ]; then echo "ok 2"; else echo "not ok 2"; fi
rm one.tmp two.tmp
"""


@pytest.mark.parametrize("asked", [(), ("HEAD~1..HEAD",)])
def test_a_file_that_is_gone_is_said_and_its_absence_is_not_explained(
    tmp_path: Path, asked: tuple[str, ...]
) -> None:
    """Executed once more the program finds no file: that is another failure than the test's."""
    files = {"sum.c": READER, "suite.sh": READ}
    files["Makefile"] = "sum: sum.c\n\t$(CC) -o $@ sum.c\ncheck: sum\n\tsh suite.sh\n"
    wrong = READER.replace("sum += number", "sum += number - (number == 2)")
    path = repository(tmp_path / "sum", files, {"sum.c": wrong})
    found = ranked(path, *asked, "--technique", "all", "--", "make", "check")
    named = {ranking["technique"] for ranking in found["rankings"]}
    for technique in ("bugassist", "ofc-cw", "conbas", "sat-tar"):
        assert technique not in named
        assert (
            "it now executes sum.c:7, which the test did not: what it read may be gone"
            in (found["lacking"][technique])
        )


def test_a_technique_that_cannot_run_is_reported_beside_those_that_can(tmp_path: Path) -> None:
    path = project(tmp_path / "fees", SUITE, fee=PROGRAM)
    asked = ("--technique", "ochiai", "--technique", "ofc", "--technique", "loop")
    found = ranked(path, *asked, "--build", "make", "--", "make", "check")
    assert [ranking["technique"] for ranking in found["rankings"]] == ["ochiai"]
    assert "only a RANGE says what it should have shown" in found["lacking"]["ofc"]
    assert "an explanation of a failed test" in found["lacking"]["loop"]


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


def test_generated_tests_are_kept_for_pytest(tmp_path: Path) -> None:
    path = project(tmp_path / "fees", SUITE, fee=PROGRAM)
    kept = tmp_path / "kept"
    emitted = ("--emit-tests", str(kept), "--emit-form", "pytest", "--technique", "sat-tar")
    asked = ("HEAD~1..HEAD", *emitted, "--build", "make", "--", "make", "check")
    found = ranked(path, *asked)
    assert rank_of(found, "sat-tar") == 1
    (said,) = (note for note in found["notes"] if "of them fail on this version" in note)
    failing = int(said.partition("; ")[2].split()[0])
    for text, failed in ((LIBRARY, 0), (WRONG, failing)):
        (path / "lib.c").write_text(text)
        subprocess.run(["cc", "-o", tmp_path / "fee", "fee.c", "lib.c"], cwd=path, check=True)
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", kept],
            env={**os.environ, "AFTERD_PROGRAM": str(tmp_path / "fee")},
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (f"{failed} failed" in done.stdout) == bool(failed), done.stdout
        assert done.returncode == bool(failed)


KEPT = """\
#include <stdio.h>
#include <stdlib.h>
static int size, listed;
int repOk(void)
{
    return size == listed;
}
int main(int argc, char **argv)
{
    for (int at = 1; at < argc; at++) {
        listed++;
        if (atoi(argv[at]) > 0)
            size++;
    }
    printf("%d\\n", repOk());
    return 0;
}
"""


@pytest.mark.parametrize("ending", ["return 0;", "exit(0);"])
def test_an_invariant_is_an_oracle_without_a_range(tmp_path: Path, ending: str) -> None:
    path = tmp_path / "list"
    path.mkdir()
    suite = (
        'check() { if [ "$(./list $1 $2)" = 1 ]; then echo "ok $3"; else echo "not ok $3"; fi; }\n'
        "check 1 2 1\ncheck 5 -3 2\ncheck 4 4 3\n"
    )
    makefile = "all: list\nlist: list.c\n\t$(CC) -o $@ list.c\ncheck: all\n\tsh suite.sh\n"
    kept = KEPT.replace("return 0;", ending)
    good = kept.replace(" > 0)", " != 0)")
    repository(path, {"list.c": good, "suite.sh": suite, "Makefile": makefile}, {"list.c": kept})
    asked = ("--technique", "ofc", "--build", "make", "--", "make", "check")
    assert afterd("rank", *asked, cwd=path).status != 0  # it does nothing wrong that is known
    found = ranked(path, "--invariant", "repOk", *asked)
    lines = {place["line"] for place in found["rankings"][0]["ranking"]}
    assert 12 in lines
    assert 6 not in lines  # the invariant is no suspect


def test_rounds_are_bounded(tmp_path: Path) -> None:
    path = project(tmp_path / "fees", SUITE, fee=PROGRAM)
    kept = tmp_path / "kept"
    asked = ("HEAD~1..HEAD", "--emit-tests", str(kept), "--rounds", "1", "--build", "make")
    ranked(path, *asked, "--", "make", "check")
    assert len(list(kept.iterdir())) == 2  # the failed test's input and one more
