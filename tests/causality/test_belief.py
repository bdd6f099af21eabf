"""How likely each reversion is to pass: what weights, predictions and runs say of small fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_changes import ids

from afterd.causality.belief import Belief, Field, _sums_within, bits
from afterd.causality.hypotheses import next_reversion
from afterd.causality.suspicion import Suspect, Tier
from afterd.model.change import NOTHING, ChangeSet
from afterd.model.outcome import Verdict
from afterd.weights import ODDS

ALL = ids(6)


def suspects(count: int = 6, **more: object) -> tuple[Suspect, ...]:
    """Equal suspects c1, c2, …"""
    return tuple(Suspect(f"c{n}", Tier.CAUSE, **more) for n in range(1, count + 1))  # type: ignore[arg-type]  # any field


def mask(*numbers: int) -> int:
    """The places of changes."""
    return sum(1 << (n - 1) for n in numbers)


def changes(*numbers: int) -> ChangeSet:
    return frozenset(f"c{n}" for n in numbers)


def test_equal_suspects_are_equally_guilty_and_all_of_them_pass() -> None:
    belief = Belief(Field(suspects(), {}))
    guilt = belief.guilt()
    assert max(guilt) == pytest.approx(min(guilt))
    assert belief.passes(mask(1, 2, 3, 4, 5, 6)) == pytest.approx(1.0)
    assert belief.passes(0) == 0.0
    alone = belief.passes(mask(1))
    assert alone == pytest.approx(belief.exactly(mask(1)), rel=0.01)  # and what is not modelled
    assert alone < ODDS.sizes[0] / 6 + 0.02


@given(st.sets(st.integers(1, 6)), st.integers(1, 6), st.integers(1, 6))
def test_undoing_more_is_never_less_likely_to_pass(
    undone: set[int], more: int, failed: int
) -> None:
    seen = {changes(failed): Verdict.FAIL}
    belief = Belief(Field(suspects(), seen))
    assert belief.passes(mask(*undone)) <= belief.passes(mask(*undone | {more})) + 1e-9


@pytest.mark.parametrize(
    ("verdict", "left"), [(Verdict.FAIL, 0.02), (Verdict.UNRESOLVED, 0.25), (None, 1.0)]
)
def test_a_run_that_did_not_pass_speaks_against_all_within_it(
    verdict: Verdict | None, left: float
) -> None:
    before = Belief(Field(suspects(), {}))
    after = Belief(Field(suspects(), {changes(1): verdict}))
    odds = [belief.exactly(mask(1)) / belief.exactly(mask(2)) for belief in (before, after)]
    assert odds[1] == pytest.approx(odds[0] * left)
    assert after.exactly(mask(2)) >= before.exactly(mask(2))


def test_of_a_larger_run_that_was_unresolved_little_is_said_of_its_parts() -> None:
    field = Field(suspects(), {changes(1, 2, 3): Verdict.UNRESOLVED})
    belief = Belief(field)
    assert belief.exactly(mask(1)) == pytest.approx(0.8 * belief.exactly(mask(4)))


def test_what_passed_leaves_only_what_is_within_it_and_expects_fewer() -> None:
    field = Field(suspects(), {}).within(changes(1, 2, 3))
    assert [suspect.change for suspect in field.suspects] == ["c1", "c2", "c3"]
    assert field.sizes[0] > ODDS.sizes[0]
    assert sum(field.sizes) == pytest.approx(1.0)
    assert Belief(field).passes(mask(1, 2, 3)) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("predicted", "likelier", "than"),
    [
        (changes(4), mask(4), mask(1)),
        (changes(2, 5), mask(2, 5), mask(1, 2)),
    ],
)
def test_what_is_foreseen_to_pass_is_likelier(
    predicted: ChangeSet, likelier: int, than: int
) -> None:
    field = Field(suspects(), {}, predict=lambda undone: 0.9 if predicted <= undone else 0.1)
    belief = Belief(field)
    assert belief.exactly(likelier) > 5 * belief.exactly(than)
    assert belief.likeliest(1) == [likelier]


def test_predictions_that_runs_belied_are_believed_less() -> None:
    def foreseen(undone: ChangeSet) -> float:
        return 0.9 if "c4" in undone else 0.1

    wrong = {changes(4, n): Verdict.FAIL for n in (5, 6)}
    before = Belief(Field(suspects(), {}, predict=foreseen))
    after = Belief(Field(suspects(), wrong, predict=foreseen))
    assert after.exactly(mask(4)) < 0.1 * before.exactly(mask(4))


@pytest.mark.parametrize(
    ("made", "together", "apart"),
    [
        (suspects(2, step=7) + suspects(4, step=0)[2:], mask(1, 2), mask(3, 4)),
        (suspects(2, home=("a.c",)) + suspects(4)[2:], mask(1, 2), mask(3, 4)),
        (suspects(2, home=("a.py", "f")) + suspects(4)[2:], mask(1, 2), mask(3, 4)),
    ],
    ids=["one statement", "one file", "one function"],
)
def test_changes_that_stand_together_are_likelier_to_be_needed_together(
    made: Sequence[Suspect], together: int, apart: int
) -> None:
    belief = Belief(Field(tuple(made), {}))
    assert belief.exactly(together) > 2 * belief.exactly(apart)


def test_what_a_suspect_needs_is_undone_with_it() -> None:
    first, *others = suspects()
    needing = Suspect("c1", Tier.CAUSE, needs=changes(2))
    belief = Belief(Field((needing, *others), {}))
    assert first.change == "c1"
    assert belief.passes(mask(1)) == pytest.approx(belief.passes(mask(1, 2)))
    assert belief.exactly(mask(1)) == belief.exactly(mask(1, 2))


def test_what_clashed_goes_to_the_set_with_what_it_clashed_with() -> None:
    plain = Belief(Field(suspects(), {}))
    clashed = Belief(Field(suspects(), {}, clashes=((changes(1), changes(2)),)))
    # as often as a root has more than one change
    assert 0.65 < clashed.exactly(mask(1)) / plain.exactly(mask(1)) < 0.75
    assert clashed.exactly(mask(1, 2)) > 1.5 * plain.exactly(mask(1, 2))


def test_a_run_that_takes_many_along_costs_more() -> None:
    belief = Belief(Field((Suspect("c1", Tier.CAUSE, along=8), *suspects()[1:]), {}))
    assert (belief.cost(mask(1)), belief.cost(mask(2))) == (2.0, 1.0)
    assert [belief.alone(place) for place in (0, 1)] == [False, True]


@given(st.sets(st.integers(0, 40)))
def test_bits_are_the_places_of_a_mask(places: set[int]) -> None:
    assert list(bits(sum(1 << place for place in places))) == sorted(places)


def test_nothing_seen_is_no_evidence() -> None:
    assert (
        Belief(Field(suspects(), {NOTHING: None})).guilt() == Belief(Field(suspects(), {})).guilt()
    )


def test_of_few_every_set_is_thought_of_however_many_changes_it_has() -> None:
    """anyio: five of eleven changes to one function."""
    count, root = 11, {4, 5, 6, 8, 11}
    every = changes(*range(1, count + 1))
    halves = [every - changes(missing) for missing in sorted(root)]
    seen = dict.fromkeys(halves, Verdict.FAIL)
    belief = Belief(Field(suspects(count), seen).within(every))
    likeliest = max(belief.every(), key=belief.exactly)
    assert changes(*root) <= belief.changes(likeliest)
    assert not Belief(Field(suspects(13), {}).within(changes(*range(1, 14)))).every()


@given(st.dictionaries(st.integers(1, 63), st.floats(0, 1), max_size=20))
def test_what_lies_within_a_set_is_summed(weights: dict[int, float]) -> None:
    sums = _sums_within(weights, 6)
    for within in range(64):
        inside = sum(weight for each, weight in weights.items() if not each & ~within)
        assert sums[within] == pytest.approx(inside)


def test_of_a_new_function_and_its_call_the_call_is_the_root() -> None:
    """A call of jsonargparse's was undone with the method that it calls, and with another one, before it was alone."""
    method = Suspect("c1", Tier.ENTRY, needs=changes(2), defines=True)
    deeper = Suspect("c3", Tier.CARRIER, needs=changes(1, 2), defines=True)
    call, *others = Suspect("c2", Tier.ENTRY), *(Suspect(f"c{n}", Tier.CARRIER) for n in (4, 5, 6))
    known = Field((method, call, deeper, *others), {}, None, 0.15)
    unknown = replace(known, suspects=(replace(method, defines=False), call, deeper, *others))
    assert next_reversion(known) == changes(2)
    assert Belief(known).exactly(0b10) > 1.5 * Belief(unknown).exactly(0b10)
    assert Belief(known).exactly(0b11) == 0.0
    assert Belief(known).chance(changes(1)) >= Belief(known).chance(changes(2)), (
        "it takes the call along"
    )


def test_of_a_new_name_that_two_use_the_likelier_is_asked_alone() -> None:
    """gunicorn: `result = []` was infected first; what adds to it and what returns it were undone together, with it,
    and were then parted.
    """
    name = Suspect("c1", Tier.ENTRY, needs=changes(2, 3), defines=True)
    adds, returns = Suspect("c2", Tier.CARRIER, level=1), Suspect("c3", Tier.CARRIER)
    field = Field((name, returns, adds), {}, None, 0.15)
    belief = Belief(field)
    assert belief.guilt()[1] > belief.guilt()[2] > 0.0 == belief.guilt()[0]
    assert next_reversion(field) == changes(3)


def test_what_a_suspect_needs_does_not_need_more_beside_it() -> None:
    """chameleon: the old head of a method needs the new one, which alone needs the attributes of the class."""
    old = Suspect("c1", Tier.ENTRY, needs=changes(2))
    new = Suspect("c2", Tier.CAUSE, needs=changes(1, 3, 4))
    others = [Suspect(f"c{n}", Tier.CARRIER) for n in (3, 4)]
    field = Field((old, *others, new), {}, None, 0.15)
    belief = Belief(field)
    assert belief.chance(changes(1)) == pytest.approx(belief.chance(changes(1, 2)))
    assert belief.chance(changes(1)) < belief.chance(changes(2))
    assert next_reversion(field) == changes(1)


def test_clashes_do_not_multiply_hypotheses() -> None:
    """Each may add one for each that it shares a change with: sixteen of them made 45,000 of 1,600 (pandera)."""
    field = Field(suspects(40), {})
    clashes = tuple((changes(n, n + 1), changes(n + 20)) for n in range(1, 17))
    many, usual = (
        len(Belief(each).likeliest(1_000_000)) for each in (replace(field, clashes=clashes), field)
    )
    assert usual < many <= 2 * usual
