"""What stands around the suspects is undone whole, where no set of them repairs the test."""

from __future__ import annotations

from made_changes import Counting, change, ids, repaired_by

from afterd.causality.around import Around
from afterd.causality.auxiliary import AuxiliarySearch
from afterd.causality.reversion import Reversion
from afterd.causality.shrinking import Root
from afterd.causality.standing import Standing
from afterd.causality.trials import Trials
from afterd.causality.worth import Worth
from afterd.model.change import NOTHING

_CHANGES = {f"c{n}": change(n, symbol="fgh"[(n - 1) // 3]) for n in range(1, 10)} | {
    f"c{n}": change(n) for n in range(10, 30)
}
"""Three functions of three changes each, and twenty that stand elsewhere."""


def _around(oracle: Counting) -> Around:
    trials = Trials(oracle, AuxiliarySearch(lambda _: True, _CHANGES, ids(len(_CHANGES))))
    return Around(Reversion(trials, _CHANGES), _CHANGES, Worth(changes=29), Standing())


def test_a_root_in_two_functions_is_found_with_both_undone() -> None:
    """hiredis: a function was rewritten, and what it calls keeps errno; each of the two undone alone fails as ever."""
    oracle = Counting(repaired_by({"c1", "c2", "c5"}))
    found = _around(oracle).each_with_its_function(["c1", "c5"])
    assert found == Root(frozenset({"c1", "c2", "c5"}), NOTHING, minimal=True)
    assert oracle.asked[:2] == [ids(3), ids(6)]
    assert len(oracle.asked) <= 3 + 6


def test_the_function_of_the_leading_suspect_comes_first() -> None:
    """tomlc99: it was the guilty one, and with three more undone five runs more were needed to see that."""
    oracle = Counting(repaired_by({"c1", "c3"}))
    found = _around(oracle).each_with_its_function(["c1", "c5", "c7"])
    assert found == Root(frozenset({"c1", "c3"}), NOTHING, minimal=True)
    assert all(tried <= ids(3) for tried in oracle.asked)


def test_what_no_evidence_leads_to_is_put_back_first() -> None:
    oracle = Counting(repaired_by({"c1", "c2", "c5"}))
    found = _around(oracle).each_with_its_function(["c5", "c2", "c1"])
    assert found == Root(frozenset({"c1", "c2", "c5"}), NOTHING, minimal=True)
    assert all({"c1", "c2", "c5"} <= tried for tried in oracle.asked[1:-3])


def test_functions_that_fail_as_ever_together_are_not_undone_one_by_one() -> None:
    oracle = Counting(repaired_by({"c20"}))
    assert _around(oracle).each_with_its_function(["c4", "c1", "c7"]) is None
    assert oracle.asked == [frozenset({"c4", "c5", "c6"}), ids(9)]
