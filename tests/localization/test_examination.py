"""The code-examining effort: read from the top, ties whole; T-score walks from the predicates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from schedule_example import schedule
from spectra_of import drawn_statements, statements, timeless

from afterd.localization.examination import effort, on_units, t_score, units_on
from afterd.localization.rows import CountRows
from afterd.localization.spectrum import (
    NO_COLUMN,
    Entity,
    EntityKind,
    Mask,
    Run,
    Spectrum,
    spectrum_of,
)
from afterd.localization.techniques import TECHNIQUES, Suspicion
from afterd.model.location import Location


def suspicion(scores: list[float], first: int = 0) -> Suspicion:
    """Scores of the columns from ``first`` on."""
    return Suspicion(np.arange(first, first + len(scores)), np.array(scores))


def units(*numbers: int, of: int) -> Mask:
    mask = np.zeros(of, np.bool_)
    mask[list(numbers)] = True
    return mask


@pytest.mark.parametrize(
    ("scores", "faulty", "share"),
    [
        ([4, 3, 2, 1], [0], 0.25),
        ([4, 3, 2, 1], [2], 0.75),
        ([4, 3, 2, 1], [3, 1], 0.5),  # the first that is met
        ([2, 3, 3, 3], [1], 0.75),  # ties as a whole
        ([0, 0, 0, 0], [0], 1.0),
    ],
)
def test_reading_from_the_top(scores: list[float], faulty: list[int], share: float) -> None:
    spectrum = statements([[1, 1, 1, 1]], "-")
    assert effort(spectrum, suspicion(scores), units(*faulty, of=4)) == share


@timeless
@given(drawn_statements(), st.integers(0, 7))
def test_the_effort_is_a_share_that_more_faulty_units_never_raise(
    spectrum: Spectrum, fault: int
) -> None:
    size = len(spectrum.entities)
    result = TECHNIQUES["ochiai"](spectrum)
    one = effort(spectrum, result, units(fault % size, of=size))
    assert 1 / size <= one <= 1
    assert effort(spectrum, result, np.ones(size, np.bool_)) <= one


def test_nothing_faulty_is_nothing_to_find() -> None:
    with pytest.raises(ValueError, match="no unit"):
        effort(statements([[1]], "-"), suspicion([1.0]), units(of=1))


def chain(predicates: list[int], blocks: int = 6, *, stray: bool = False) -> Spectrum:
    """Blocks b0 → b1 → …, statement i on line i in each, and predicates on the given lines.

    Columns: blocks, edges, statements (a stray one in no block after them), predicates.
    """
    entities = [Entity(EntityKind.BLOCK, Location("f.c", line)) for line in range(blocks)]
    entities += [
        Entity(EntityKind.EDGE, Location("f.c", line), source=line, target=line + 1)
        for line in range(blocks - 1)
    ]
    entities += [
        Entity(EntityKind.STATEMENT, Location("f.c", line), block=line) for line in range(blocks)
    ]
    if stray:
        entities.append(Entity(EntityKind.STATEMENT, Location("f.c", 99)))
    entities += [
        Entity(
            EntityKind.PREDICATE,
            Location("f.c", line),
            block=line if line < blocks else NO_COLUMN,
        )
        for line in predicates
    ]
    rows = CountRows()
    rows.add_mapping({})
    return spectrum_of([Run("t", failed=True)], entities, rows.matrix(len(entities)))


@pytest.mark.parametrize(
    ("fault", "share"),
    [
        (2, 1 / 6),  # the predicate's own statement
        (3, 3 / 6),  # its neighbours on both sides, examined together
        (1, 3 / 6),
        (4, 5 / 6),
        (0, 5 / 6),
        (5, 6 / 6),
    ],
)
def test_the_walk_examines_whole_levels(fault: int, share: float) -> None:
    spectrum = chain([2])
    assert t_score(spectrum, suspicion([1.0], 17), units(fault, of=6)) == share


def test_the_walk_starts_from_the_top_five_and_what_is_tied_with_the_fifth() -> None:
    spectrum = chain(list(range(7)), blocks=8)
    first = 8 + 7 + 8
    five = suspicion([7, 6, 5, 4, 3, 2, 1], first)
    six = suspicion([7, 6, 5, 4, 3, 3, 1], first)
    assert t_score(spectrum, five, units(4, of=8)) == 5 / 8
    assert t_score(spectrum, five, units(5, of=8)) == 6 / 8
    assert t_score(spectrum, six, units(4, of=8)) == 6 / 8


def test_what_the_walk_does_not_reach_comes_last() -> None:
    spectrum = chain([2], stray=True)
    assert t_score(spectrum, suspicion([1.0], 18), units(6, of=7)) == 1.0


def test_no_predicate_leads_nowhere() -> None:
    assert t_score(chain([]), suspicion([]), units(0, of=6)) == 1.0


def test_a_given_dependence_graph_replaces_the_flow_graph() -> None:
    spectrum = chain([2])
    statement = {line: 11 + line for line in range(6)}
    dependences = [(statement[2], statement[5])]
    result = suspicion([1.0], 17)
    assert t_score(spectrum, result, units(5, of=6), dependences) == 2 / 6
    assert t_score(spectrum, result, units(3, of=6), dependences) == 1.0


def test_rankings_of_predicates_are_walked() -> None:
    spectrum = schedule(statements=True)
    faulty = units_on(spectrum, {("schedule.c", 1)})
    assert effort(spectrum, TECHNIQUES["sober"](spectrum), faulty) == 2 / 9  # s1 and s5 themselves


def test_a_statement_outside_of_all_blocks_comes_last() -> None:
    spectrum = chain([], stray=True)
    scores = on_units(spectrum, suspicion([5.0, 4.0, 3.0, 2.0, 1.0, -7.0]))
    assert scores.tolist() == [5, 4, 3, 2, 1, -7, -np.inf]
