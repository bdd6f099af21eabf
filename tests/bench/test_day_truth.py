"""The replayed day knows what every commit does, and notices each kind of wrong verdict."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from afterd.bench.day_fees import Fees
from afterd.bench.day_kills import kind_of_process
from afterd.bench.day_people import People
from afterd.bench.day_prices import OUTSIDE, Prices, outside
from afterd.bench.day_project import BUILD, Fault, Project, State, merged_choices
from afterd.bench.day_truth import Said, Tested, Truth
from afterd.execution.compiler_shims import path_with_compiler
from afterd.execution.failures.suites import failed_tests, passed_tests
from afterd.report.verdicts import VerdictKind

PRICES, FEES = Prices(), Fees()
ONE = "test_prices_0.Prices0.test_price_2"
RATE = "test_others.Others.test_rate"
SUITE = "python -m unittest"
LINE = "total += 6"  # of function 2, whose factor is 5
WRONG = {"line 2": Fault.WRONG.value}
FLAKY = {"line 2": Fault.FLAKY.value}
HANGS = {"line 2": Fault.HANGS.value}
OTHER = {"line 9": Fault.HANGS.value}
STATES: Mapping[str, State] = {
    "green": {}, "red": WRONG, "flaky": FLAKY, "hangs": HANGS, "other hangs": OTHER,
}  # fmt: skip
FEE = "test_fee_2"
FEE_LINE = "total += 6 * *rate;"
NO_LINE = "total += missing_2;"
UNBUILDABLE = {"line 2": Fault.UNBUILDABLE.value}
FEE_STATES: Mapping[str, State] = {
    "green": {}, "red": WRONG, "unbuildable": UNBUILDABLE, "other": {**UNBUILDABLE, "line 3": "wrong"},
    "hangs": HANGS,
}  # fmt: skip


@pytest.mark.parametrize(
    ("state", "broken"),
    [
        ({}, False),
        ({**WRONG, "line 7": "crashes", "remark 1": "5", "pause 1": "0.01"}, False),
        ({"scale": "100"}, False),
        ({"half": "5"}, False),
        ({"half": "5", "scale": "100"}, True),
        ({**WRONG, "base 1": "20"}, False),
    ],
)
def test_what_is_said_to_fail_fails(tmp_path: Path, state: State, *, broken: bool) -> None:
    for name, text in PRICES.files(state).items():
        (tmp_path / name).write_text(text)
    (tmp_path / f"{OUTSIDE}.py").write_text(outside(broken=broken))
    done = subprocess.run(
        [sys.executable, "-B", "-m", "unittest", "-v"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = done.stderr.splitlines()
    seen = {line.split()[0] for line in lines if line.endswith(("... FAIL", "... ERROR"))}
    assert seen == set(PRICES.failing(state)) | ({"test_rate"} if broken else set())
    assert f"Ran {PRICES.functions + 4} tests" in done.stderr


@pytest.mark.parametrize(
    "state",
    [
        {**WRONG, "line 7": "crashes", "half": "5", "scale": "100", "remark 1": "5"},
        {**WRONG, "base 0": "20"},
        UNBUILDABLE,
    ],
)
def test_what_is_said_to_fail_fails_in_c(tmp_path: Path, state: State) -> None:
    for name, text in FEES.files(state).items():
        (tmp_path / name).write_text(text)
    path = {"PATH": path_with_compiler(tmp_path / "compilers")}
    built = subprocess.run(FEES.build, cwd=tmp_path, env=path, capture_output=True, check=False)
    if FEES.failing(state).keys() == {BUILD}:
        assert built.returncode
        return
    assert not built.returncode, built.stderr
    done = subprocess.run(
        FEES.test, cwd=tmp_path, env=path, capture_output=True, text=True, check=False
    )
    seen = failed_tests(done.stdout)
    assert set(seen) == set(FEES.failing(state))
    assert len(passed_tests(done.stdout)) + len(seen) == FEES.functions + 2


@pytest.mark.parametrize(
    ("argv", "kind"),
    [
        ("/usr/bin/cc -g -c -o fees_0.o fees_0.c", "compiler"),
        ("/usr/libexec/gcc/x86_64-linux-gnu/14/cc1 -quiet /tmp/afterd-x/fees_0.c", "compiler"),
        ("as --64 -o fees_0.o /tmp/afterd/x.s", "compiler"),
        ("/usr/bin/ld -plugin liblto_plugin.so -o check", "linker"),
        ("/v/site-packages/ziglang/zig clang -cc1 fees_0.c", "compiler"),
        ("/v/site-packages/ziglang/zig ld.lld -o check", "linker"),
        ("/v/bin/python /v/bin/afterd-cc -g -c fees_0.c", "compiler"),
        ("/v/bin/python -X faulthandler -m afterd.logic.solver_process", "solver"),
        ("make", "make"),
        ("/tmp/afterd-day-x/fees.git/afterd/slots/0/check test_fee_3", "program"),
        ("sh check.sh", "program"),
        ("", "program"),
    ],
)
def test_what_is_killed_is_called_by_its_name(argv: str, kind: str) -> None:
    assert kind_of_process(argv.split(" ")) == kind


@pytest.mark.parametrize(
    ("here", "before", "said", "right"),
    [
        ("red", ["green"], Said(ONE, VerdictKind.CAUSED, (LINE,), "green"), True),
        ("red", ["green"], Said(ONE, VerdictKind.CAUSED, ("# Revision 1",), "green"), False),
        ("red", ["green"], Said(ONE, VerdictKind.CAUSED, (LINE, "x"), "green"), False),
        ("red", ["red"], Said(ONE, VerdictKind.CAUSED, (LINE,), "red"), False),
        ("red", ["green"], Said(ONE, VerdictKind.CAUSED, (LINE,), "unknown"), False),
        ("red", ["red"], Said(ONE, VerdictKind.ALREADY_RED), True),
        ("red", ["green"], Said(ONE, VerdictKind.ALREADY_RED), False),
        ("red", ["hangs", "red"], Said(ONE, VerdictKind.ALREADY_RED), True),
        ("red", [], Said(ONE, VerdictKind.ALREADY_RED), True),
        ("hangs", ["other hangs", "hangs"], Said(ONE, VerdictKind.ALREADY_RED), True),
        ("hangs", ["green", "hangs"], Said(ONE, VerdictKind.ALREADY_RED), False),
        ("hangs", ["green"], Said(ONE, VerdictKind.CAUSED, ("left -= 0",), "green"), True),
        ("red", ["green"], Said(ONE, VerdictKind.BROKEN), False),
        ("red", ["green"], Said(ONE, VerdictKind.FLAKY), False),
        ("red", ["green"], Said(ONE, VerdictKind.UNDETERMINED), True),
        ("red", ["green"], None, False),
        ("green", ["red"], None, True),
        ("green", ["red"], Said(ONE, VerdictKind.ALREADY_RED), False),
        ("flaky", ["green"], Said(ONE, VerdictKind.FLAKY), True),
        ("flaky", ["green"], Said(ONE, VerdictKind.CAUSED, (LINE,), "green"), False),
        ("flaky", ["green"], None, True),
        ("hangs", ["green"], Said(SUITE, VerdictKind.CAUSED, ("left -= 0",), "green"), True),
        ("hangs", ["green"], Said(SUITE, VerdictKind.CAUSED, (LINE,), "green"), False),
    ],
)
def test_a_verdict_is_right_or_wrong(
    here: str, before: list[str], said: Said | None, *, right: bool
) -> None:
    tested = Tested(here, before, [said] if said else [])
    assert (list(Truth(PRICES, STATES).wrong_verdicts(tested)) == []) is right


@pytest.mark.parametrize(
    ("here", "before", "said", "right"),
    [
        ("red", ["green"], Said(FEE, VerdictKind.CAUSED, (FEE_LINE,), "green"), True),
        ("red", ["unbuildable", "green"], Said(FEE, VerdictKind.ALREADY_RED), False),
        ("unbuildable", ["red"], Said(BUILD, VerdictKind.CAUSED, (NO_LINE,), "green"), True),
        ("unbuildable", ["red"], Said(BUILD, VerdictKind.CAUSED, (FEE_LINE,), "green"), False),
        ("unbuildable", ["other"], Said(BUILD, VerdictKind.ALREADY_RED), True),
        ("unbuildable", ["green"], Said(BUILD, VerdictKind.ALREADY_RED), False),
        ("unbuildable", ["green"], None, False),
        ("other", ["green"], Said(BUILD, VerdictKind.BROKEN), False),
        ("hangs", ["green"], None, False),
        (
            "hangs",
            ["green"],
            Said("sh check.sh", VerdictKind.CAUSED, ("left -= 0;",), "green"),
            True,
        ),
    ],
)
def test_a_verdict_on_a_build_is_right_or_wrong(
    here: str, before: list[str], said: Said | None, *, right: bool
) -> None:
    tested = Tested(here, before, [said] if said else [], conclusive=here == "red")
    assert (list(Truth(FEES, FEE_STATES).wrong_verdicts(tested)) == []) is right


def test_no_commit_is_guilty_of_a_dependency() -> None:
    caused = Said(RATE, VerdictKind.CAUSED, ("# Revision 1",), "green")
    known = Said(RATE, VerdictKind.ALREADY_RED)
    for said, right in ((caused, False), (known, True)):
        tested = Tested("green", ["green"], [said], broken=True)
        assert (list(Truth(PRICES, STATES).wrong_verdicts(tested)) == []) is right


def test_branches_that_are_green_alone_are_red_together() -> None:
    both = merged_choices({}, {"scale": "100"}, {"half": "5"})
    assert PRICES.causes(both, "test_halves") == {"SCALE = 100", "return value // 5"}
    assert FEES.causes(both, "test_halves") == {"#define SCALE 100", "return value / 5;"}
    assert not PRICES.causes({"scale": "100"}, "test_halves")


@pytest.mark.parametrize("project", [PRICES, FEES], ids=["python", "c"])
def test_a_seed_is_a_day(tmp_path: Path, project: Project) -> None:
    days = [
        list(People(project, tmp_path / name, seed).day(40))
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    ]
    assert days[0] == days[1] != days[2]
    assert {event.what for event in days[0]} >= {"commit", "merge"}


def test_what_all_functions_of_a_module_add_breaks_all_its_tests() -> None:
    state = {**WRONG, "base 0": "20"}
    assert PRICES.causes(state, "test_price_3") == {"BASE = 20"}
    assert PRICES.causes(state, "test_price_2") > {"BASE = 20"}
    assert FEES.causes(state, "test_fee_3") == {"#define BASE 20"}
    assert not FEES.causes(state, "test_fee_4")
