"""The replayed day knows what every commit does, and notices each kind of wrong verdict."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from afterd.bench.day_people import People
from afterd.bench.day_project import (
    FUNCTIONS,
    OUTSIDE,
    Fault,
    State,
    causes,
    failing,
    files,
    merged,
    outside,
)
from afterd.bench.day_truth import Said, Tested, wrong_verdicts
from afterd.report.verdicts import VerdictKind

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


@pytest.mark.parametrize(
    ("state", "broken"),
    [
        ({}, False),
        ({**WRONG, "line 7": "raises", "remark 1": "5", "pause 1": "0.01"}, False),
        ({"scale": "100"}, False),
        ({"half": "5"}, False),
        ({"half": "5", "scale": "100"}, True),
    ],
)
def test_what_is_said_to_fail_fails(tmp_path: Path, state: State, *, broken: bool) -> None:
    for name, text in files(state).items():
        (tmp_path / name).write_text(text)
    (tmp_path / f"{OUTSIDE}.py").write_text(outside(broken=broken))
    done = subprocess.run(
        [sys.executable, "-B", "-m", "unittest", "-v"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = done.stderr.splitlines()
    seen = {line.split()[0] for line in lines if line.endswith(("... FAIL", "... ERROR"))}
    assert seen == set(failing(state)) | ({"test_rate"} if broken else set())
    assert f"Ran {FUNCTIONS + 4} tests" in done.stderr


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
    assert (list(wrong_verdicts(tested, STATES)) == []) is right


def test_no_commit_is_guilty_of_a_dependency() -> None:
    caused = Said(RATE, VerdictKind.CAUSED, ("# Revision 1",), "green")
    known = Said(RATE, VerdictKind.ALREADY_RED)
    for said, right in ((caused, False), (known, True)):
        tested = Tested("green", ["green"], [said], broken=True)
        assert (list(wrong_verdicts(tested, STATES)) == []) is right


def test_branches_that_are_green_alone_are_red_together() -> None:
    both = merged({}, {"scale": "100"}, {"half": "5"})
    assert causes(both, "test_halves") == {"SCALE = 100", "return value // 5"}
    assert not causes({"scale": "100"}, "test_halves")


def test_a_seed_is_a_day(tmp_path: Path) -> None:
    days = [
        list(People(tmp_path / name, seed).day(40)) for name, seed in (("a", 1), ("b", 1), ("c", 2))
    ]
    assert days[0] == days[1] != days[2]
    assert {event.what for event in days[0]} >= {"commit", "merge"}
