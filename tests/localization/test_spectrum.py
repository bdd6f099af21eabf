"""The spectrum value: counts from the matrix, normal form, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse
from spectra_of import drawn_statements, statements, timeless

from afterd.localization.rows import CountRows
from afterd.localization.spectrum import (
    Entity,
    EntityKind,
    Matrix,
    Run,
    Spectrum,
    spectrum_of,
)
from afterd.model.location import Location

HERE = Location("f.c", 1)
BLOCK = Entity(EntityKind.BLOCK, HERE)
RUN = Run("t", failed=False)
STATEMENT = Entity(EntityKind.STATEMENT, HERE)


def matrix(rows: list[list[int]]) -> Matrix:
    return sparse.csr_array(np.array(rows, np.int64))


def test_counts_of_a_small_matrix() -> None:
    spectrum = statements([[1, 0, 2], [1, 0, 0], [0, 0, 5]], "-++")
    n = spectrum.counts(spectrum.units)
    assert [v.tolist() for v in (n.ef, n.ep, n.nf, n.np)] == [
        [1, 0, 1],
        [1, 0, 1],
        [0, 1, 0],
        [1, 2, 1],
    ]


@timeless
@given(drawn_statements())
def test_counts_agree_with_a_dense_count(spectrum: Spectrum) -> None:
    hit, failed = spectrum.executed.toarray() > 0, spectrum.failed
    n = spectrum.counts(spectrum.units)
    assert n.ef.tolist() == hit[failed].sum(axis=0).tolist()
    assert n.ep.tolist() == hit[~failed].sum(axis=0).tolist()
    assert (n.ef + n.nf).tolist() == [failed.sum()] * hit.shape[1]
    assert (n.ep + n.np).tolist() == [(~failed).sum()] * hit.shape[1]


def test_stored_zeros_and_doubled_cells_are_no_hits() -> None:
    cells = (np.array([0, 2, 3]), (np.array([0, 1, 1]), np.array([0, 1, 1])))
    spectrum = spectrum_of(
        [Run("t1", failed=True), Run("t2", failed=True)],
        [STATEMENT, STATEMENT],
        sparse.coo_array(cells, shape=(2, 2)).tocsr(),
    )
    assert spectrum.counts(spectrum.units).ef.tolist() == [0, 1]
    assert spectrum.executed.toarray().tolist() == [[0, 0], [0, 5]]


def test_the_caller_keeps_its_matrix() -> None:
    mine = matrix([[1]])
    spectrum = spectrum_of([Run("t", failed=True)], [STATEMENT], mine)
    mine.data[0] = 7
    assert spectrum.executed.toarray().tolist() == [[1]]


def test_units_are_statements_or_else_blocks() -> None:
    both = spectrum_of([Run("t", failed=True)], [BLOCK, STATEMENT], matrix([[1, 1]]))
    blocks = spectrum_of([Run("t", failed=True)], [BLOCK, BLOCK], matrix([[1, 1]]))
    assert both.units.tolist() == [1]
    assert blocks.units.tolist() == [0, 1]


def test_rows_one_by_one() -> None:
    rows = CountRows()
    rows.add_mapping({2: 5, 0: 1})
    rows.add_mapping({})
    assert len(rows) == 2
    assert rows.matrix(3).toarray().tolist() == [[1, 0, 5], [0, 0, 0]]


def test_a_spectrum_may_be_empty() -> None:
    spectrum = spectrum_of([], [], CountRows().matrix(0))
    assert spectrum.units.tolist() == []
    assert spectrum.counts(spectrum.units).ef.tolist() == []


@pytest.mark.parametrize(
    ("runs", "entities", "executed", "held", "complaint"),
    [
        ([RUN], [STATEMENT], [[1, 1]], None, "runs and entities say"),
        ([RUN], [STATEMENT], [[-1]], None, "negative"),
        ([RUN], [STATEMENT], [[1]], [[2]], "held more often"),
        ([RUN], [Entity(EntityKind.EDGE, HERE)], [[1]], None, "join two blocks"),
        (
            [RUN],
            [STATEMENT, Entity(EntityKind.EDGE, HERE, source=0, target=0)],
            [[1, 1]],
            None,
            "join two blocks",
        ),
        (
            [RUN],
            [Entity(EntityKind.STATEMENT, HERE, block=0)],
            [[1]],
            None,
            "not a block",
        ),
        ([Run("t", failed=True, crashed_in=3)], [STATEMENT], [[1]], None, "does not exist"),
    ],
)
def test_what_is_refused(
    runs: list[Run],
    entities: list[Entity],
    executed: list[list[int]],
    held: list[list[int]] | None,
    complaint: str,
) -> None:
    with pytest.raises(ValueError, match=complaint):
        spectrum_of(runs, entities, matrix(executed), None if held is None else matrix(held))
