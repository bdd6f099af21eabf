"""A slice of the soak: bad commits made of mutants, and a false answer that is noticed."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

from afterd.bench.bad_commits import Workshop, programs
from afterd.bench.case import Prepared
from afterd.bench.soak import Soak, broken_promises, is_exact, rate, soaked
from afterd.bench.trial import Options, answered, stored_explanation
from afterd.config import Strategy

_DRAWN = 24  # mutants: few, so that the slice takes seconds


def test_a_slice_keeps_its_promises() -> None:
    found = list(soaked(Soak(2, seed=5, most_harmless=12, drawn=_DRAWN), ["sluice"]))
    assert [each.broken for each in found] == [(), ()], found
    assert rate(found).hits == 2, found


def test_a_false_answer_is_noticed(tmp_path: Path) -> None:
    [program] = [each for each in programs(["sluice"]) if each.test.endswith("::test_words")]
    workshop = Workshop(program, tmp_path, random.Random(2), _DRAWN)
    case = workshop.bad_commit(tmp_path / "case" / "repository", 12)
    assert case is not None
    commands = (tuple(case.commands.build), tuple(case.commands.test))
    prepared = Prepared(case.path, case.good, case.bad, *commands)
    found = answered(prepared, Strategy.AFTER, Options((Strategy.AFTER,)), tmp_path)
    true = stored_explanation(case.path, found.identifier)
    assert list(broken_promises(case, true, tmp_path / "true")) == []
    assert is_exact(case, true)
    nothing = replace(true, root=(), auxiliary=())
    assert list(broken_promises(case, nothing, tmp_path / "nothing")), (
        "nothing undone repairs nothing"
    )
    assert not is_exact(case, nothing)
