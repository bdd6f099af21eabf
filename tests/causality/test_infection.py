"""What the green run tells of a step, and what that makes of its changes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from recorded import ABSENT, Recorded, aligned, compare, op

from afterd.causality.cause import Cause, Link
from afterd.causality.infection import Green, Role, detours, effect, is_settled, role
from afterd.causality.suspicion import Suspect, Tier, ranked_suspects, suspects_of
from afterd.logic.evaluation import UNKNOWN
from afterd.model.explanation import Evidence
from afterd.model.term import INT, OPAQUE, Const, Op, Read, Value
from afterd.model.trace import Alignment, Conduct, Effect, GreenValue, Step

UNALIGNED = Alignment.UNKNOWN


def _role(run: Recorded, step: int) -> Role:
    return role(run, Green(run), run.steps[step])


def _two(first: Value | Alignment, second: Value | Alignment) -> Recorded:
    """A = 4; b = a + 1 (so 5), each with what green had."""
    run = Recorded()
    a = run.assign(1, "a", 4, green=first)
    run.assign(2, "b", op(Op.ADD, a, 1), green=second)
    return aligned(run)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (4, 5, Role.CLEAN),
        (4, 9, Role.ENTRY),  # clean input, ill value
        (7, 8, Role.CARRIER),  # 7 + 1 is 8: the input explains it
        (7, 12, Role.ENTRY),  # 7 + 1 is not 12: something is added here
        (7, 5, Role.CLEAN),  # masked
        (4, UNALIGNED, Role.UNKNOWN),
        (UNALIGNED, 9, Role.ENTRY),  # an untouched constant was 4 in green as well
        (4, ABSENT, Role.ENTRY),  # a new statement at the outermost level
        (ABSENT, ABSENT, Role.CARRIER),
    ],
)
def test_roles(first: Value | Alignment, second: Value | Alignment, expected: Role) -> None:
    assert _role(_two(first, second), 2) is expected


@pytest.mark.parametrize(
    ("guard", "expected"), [(False, Role.GUARDED), (True, Role.ENTRY), (ABSENT, Role.GUARDED)]
)
def test_a_step_that_green_did_not_execute(guard: Value | Alignment, expected: Role) -> None:
    """It is there because the branch above went another way; or, if that did not, by itself."""
    run = Recorded()
    a = run.input(1, "a", 4)
    branch = run.branch(2, compare(Op.GT, a, 1), green=guard)
    run.assign(3, "b", a, green=ABSENT, control=branch)
    assert _role(aligned(run), 3) is expected


@pytest.mark.parametrize(
    ("read", "own", "expected"),
    [
        ("clean", True, Role.ENTRY),
        ("clean", False, Role.GUARDED),
        ("ill", True, Role.GUARDED),
    ],
)
def test_what_a_change_brought_in_with_its_own_branch_is_infected_by_nothing_else(
    read: str, *, own: bool, expected: Role
) -> None:
    """sphinx-autodoc-typehints: `if …: obj = obj.__new__` was called a carrier, as its own branch led to it."""
    run = Recorded()
    a = run.input(1, "a", 4)
    ill = run.assign(2, "ill", op(Op.ADD, a, 1), green=9)
    inputs = {"clean": a, "ill": ill}
    outer = run.branch(3, compare(Op.GT, a, 1), green=True)
    branch = run.branch(
        4, compare(Op.GT, inputs[read], 2), green=ABSENT, control=outer, changes=["c1"]
    )
    run.assign(5, "b", a, green=ABSENT, control=branch, changes=["c1" if own else "c2"])
    assert _role(aligned(run), 5) is expected


@pytest.mark.parametrize(
    ("shown", "expected"), [(("[1]", "[2]"), Role.ENTRY), (("None", "None"), Role.CARRIER)]
)
def test_two_objects_are_not_alike_for_want_of_a_value(
    shown: tuple[str, str], expected: Role
) -> None:
    """Of None alone nothing more is recorded than that it is none."""
    run = Recorded()
    run.assign(1, "made", Const(None, OPAQUE))
    mine, other = shown
    green = GreenValue(Alignment.DIFFERENT, None, other)
    run.steps[1] = replace(run.steps[1], rendered=mine, green=green)
    assert _role(run, 1) is expected


def test_a_gap_in_the_alignment_is_bridged_by_evaluation() -> None:
    run = Recorded()
    a = run.assign(1, "a", 4, green=7)
    b = run.assign(2, "b", op(Op.ADD, a, 1))
    c = run.assign(3, "c", op(Op.MUL, b, 2), green=16)
    run.assign(4, "d", op(Op.SUB, c, 1), green=99)
    green = Green(run)
    assert green.value(run.steps[2]) == 8
    assert _role(run, 3) is Role.CARRIER
    assert _role(run, 4) is Role.ENTRY


def test_where_nobody_knows_what_came_in() -> None:
    run = _two(UNALIGNED, 9)
    run.steps[1] = replace(run.steps[1], changes=("c1",))
    assert _role(run, 2) is Role.CARRIER


def test_no_bridge_over_a_changed_statement() -> None:
    run = Recorded()
    a = run.assign(1, "a", 4, green=7)
    run.assign(2, "b", op(Op.ADD, a, 1), changes=["c1"])
    assert Green(run).value(run.steps[2]) is UNKNOWN


def test_a_long_unaligned_run_is_not_walked_to_its_beginning() -> None:
    run = Recorded()
    last: Read = run.assign(1, "x", 1)
    for i in range(2, 5000):
        last = run.assign(i, "x", op(Op.ADD, last, 1))
    run.asked.clear()
    assert Green(run).value(run.steps[last.step]) is UNKNOWN
    assert len(run.asked) < 10


def test_objects_that_look_alike_are_not_settled() -> None:
    run = _two(4, 5)
    assert is_settled(run.steps[2])
    looks_alike = replace(run.steps[2], term=Const("<obj>", OPAQUE), value="<obj>")
    assert not is_settled(looks_alike)


@pytest.mark.parametrize(
    ("given", "old", "expected"),
    [
        (Effect.MATTERS, None, Effect.MATTERS),
        (Effect.UNKNOWN, None, Effect.UNKNOWN),
        (Effect.UNKNOWN, 5, Effect.NEUTRAL),
        (Effect.UNKNOWN, 6, Effect.MATTERS),
    ],
)
def test_effect_is_given_or_evaluated(given: Effect, old: int | None, expected: Effect) -> None:
    step = _two(4, 5).steps[2]
    text = None if old is None else Const(old, INT)
    assert effect(replace(step, effect=given, old=text)) is expected


@pytest.mark.parametrize(("old", "expected"), [(1, Effect.UNKNOWN), (2, Effect.NEUTRAL)])
def test_what_another_object_would_have_done_is_not_known(old: int, expected: Effect) -> None:
    """gunicorn: `return val` was said to do what `return result` does, as both are lists."""
    run = Recorded()
    objects = [run.assign(n, name, Const(None, OPAQUE)) for n, name in enumerate("ab", 1)]
    run.assign(3, "c", objects[1])
    assert effect(replace(run.steps[3], old=objects[old - 1])) is expected


def test_a_detour_is_seen_where_a_value_has_no_other_origin() -> None:
    """Green took the branch and wrote b again; the failing run read the older b."""
    run = Recorded()
    b = run.assign(1, "b", 4, green=4)
    branch = run.branch(2, compare(Op.GT, b, 9), green=True, changes=["c1"])
    run.assign(3, "c", b, green=50)
    run.influences[3, 1] = [branch]
    aligned(run)
    assert detours(run, Green(run), run.steps[3]) == [2]
    run.steps[3] = replace(run.steps[3], green=GreenValue(Alignment.SAME, 4))
    assert detours(run, Green(run), run.steps[3]) == []


def _suspects(run: Recorded, *core: int, beyond: tuple[int, ...] = ()) -> list[Suspect]:
    predicate = run.fail(99, compare(Op.EQ, 0, 1)) if not run.failed else run.failed[0]

    def steps(ids: tuple[int, ...]) -> tuple[Step, ...]:
        return tuple(run.steps[i] for i in ids)

    cause = Cause(predicate, steps(core), Evidence.PROVED, beyond=steps(beyond))
    return suspects_of(run, Green(run), [Link(cause)])


def _changed(first: Value | Alignment, second: Value | Alignment, what: Effect) -> Recorded:
    run = _two(first, second)
    run.steps[2] = replace(run.steps[2], changes=("c1",), effect=what)
    return run


@pytest.mark.parametrize(
    ("first", "second", "what", "expected"),
    [
        (4, 9, Effect.UNKNOWN, Tier.ENTRY),
        (7, 8, Effect.UNKNOWN, Tier.CARRIER),
        (7, 8, Effect.MATTERS, Tier.ENTRY),
        (7, 8, Effect.NEUTRAL, Tier.SLICE),
        (4, 5, Effect.UNKNOWN, Tier.SLICE),
        (4, 5, Effect.MATTERS, Tier.SLICE),  # as in green all the same
        (4, UNALIGNED, Effect.UNKNOWN, Tier.CAUSE),
        (4, UNALIGNED, Effect.MATTERS, Tier.CARRIER),
    ],
)
def test_tiers(
    first: Value | Alignment, second: Value | Alignment, what: Effect, expected: Tier
) -> None:
    (suspect,) = _suspects(_changed(first, second, what), 1, 2)
    assert (suspect.change, suspect.tier, suspect.step) == ("c1", expected, 2)


def test_outside_the_core_the_evidence_is_weaker() -> None:
    (suspect,) = _suspects(_changed(4, 9, Effect.UNKNOWN), 1, beyond=(2,))
    assert suspect.tier is Tier.CARRIER


def test_what_is_missing_explains_what_nothing_present_does() -> None:
    run = _two(4, 9)
    run.absent[2] = ("c7",)
    (suspect,) = _suspects(run, 1, 2)
    assert (suspect.change, suspect.tier) == ("c7", Tier.ENTRY)
    changed = _changed(4, 9, Effect.UNKNOWN)
    changed.absent[2] = ("c7",)
    assert [(s.change, s.tier) for s in _suspects(changed, 1, 2)] == [
        ("c1", Tier.ENTRY),
        ("c7", Tier.CAUSE),
    ]


def test_a_nearer_cause_counts_more() -> None:
    near, far = Suspect("c1", Tier.CARRIER, 0), Suspect("c2", Tier.CARRIER, 2)
    assert near.weight > far.weight
    assert Suspect("c3", Tier.ENTRY, 2).weight > near.weight


def test_further_tiers_come_after_and_change_nothing() -> None:
    known = [Suspect("c3", Tier.ENTRY)]
    found = ranked_suspects(known, [(Tier.EXECUTED, ["c1", "c3"]), (Tier.OTHER, ["c1", "c2"])], {})
    assert found == [*known, Suspect("c1", Tier.EXECUTED), Suspect("c2", Tier.OTHER)]


def test_what_its_calls_did_speaks_for_and_against_a_change() -> None:
    run = _changed(4, 9, Effect.UNKNOWN)
    (plain,) = _suspects(run, 1, 2)
    run.conducts = {"c5": Conduct.PARTED, "c1": Conduct.SAME, "c6": Conduct.CARRIED}
    first, second = _suspects(run, 1, 2)
    assert (first.change, first.tier) == ("c5", Tier.CAUSE)  # no cause has come to it
    assert (second.change, second.tier) == ("c1", Tier.SLICE)
    run.conducts = {"c1": Conduct.PARTED}
    (parted,) = _suspects(run, 1, 2)
    assert parted.weight > plain.weight
    assert parted.tier is plain.tier


def test_a_step_as_in_green_takes_no_change_from_the_suspects() -> None:
    """Of re2c a comparison that did otherwise was a suspect until a cause came to another round of it, in which green
    had the same.
    """
    run = _changed(4, 5, Effect.MATTERS)
    run.conducts = {"c1": Conduct.PASSED}
    passed = frozenset([Conduct.PASSED])
    (before,) = suspects_of(run, Green(run), [], unmet=passed)
    predicate = run.fail(99, compare(Op.EQ, 0, 1))
    link = Link(Cause(predicate, (run.steps[1], run.steps[2]), Evidence.PROVED))
    (after,) = suspects_of(run, Green(run), [link], unmet=passed)
    assert before.tier is after.tier is Tier.CAUSE


def test_conduct_that_a_step_belies_is_that_of_other_executions() -> None:
    run = _changed(7, 8, Effect.MATTERS)
    (plain,) = _suspects(run, 1, 2)
    run.conducts = {"c1": Conduct.NEUTRAL}
    assert _suspects(run, 1, 2) == [plain]
    run.conducts = {"c1": Conduct.SAME}  # of whole calls: what went on in them is another question
    assert _suspects(run, 1, 2)[0].tier is Tier.SLICE


@pytest.mark.parametrize(("green", "tier"), [(False, Tier.ENTRY), (True, Tier.SLICE)])
def test_a_condition_that_went_another_way_on_green_inputs_is_no_idle_change(
    green: bool, tier: Tier
) -> None:
    """Nanopb: of ``a && b && c`` a change took ``c`` away. ``b`` is what it was, and led on where green asked ``c``."""
    run = Recorded(conducts={"c1": Conduct.NEUTRAL})
    a = run.assign(1, "a", 4, green=4)
    branch = run.branch(2, compare(Op.EQ, a, 4), green=green, changes=["c1"])
    predicate = run.fail(3, compare(Op.EQ, a, 5), control=branch)
    run = aligned(run)
    run.steps[2] = replace(run.steps[2], effect=Effect.NEUTRAL)
    link = Link(Cause(predicate, (run.steps[2],), Evidence.PROVED))
    [found] = suspects_of(run, Green(run), [link])
    assert (found.change, found.tier) == ("c1", tier)
