"""The TCM format: tests, units under test and a sparse matrix of counts in one text file.

As published with *More Debugging in Parallel* (FernUniversität in Hagen) and extended by FLITSR
(optional exception, bug numbers after a unit)::

    #tests
    <test> PASSED|FAILED|ERROR [<exception>]
    …
                                            (an empty line ends a section)
    #uuts
    <unit> [| <bug>]…

    #matrix
    <index of unit> <executions> …          (one line a test; empty if it executed nothing)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np

from afterd.errors import UsageError
from afterd.localization.formats.labels import decoded_label, encoded_label, tcm_entity, tcm_label
from afterd.localization.rows import CountRows, Integers
from afterd.localization.spectrum import Entity, Run, Spectrum, spectrum_of

_TEST = re.compile(r"(?P<name>\S+) (?P<outcome>PASSED|FAILED|ERROR)(?: (?P<detail>.*))?")
_SKIPPED = ("#metadata", "#groups")
_NEEDED = ("#tests", "#uuts", "#matrix")

NumberedLines = Iterator[tuple[int, str]]


def parse_tcm(lines: Iterable[str], source: str) -> Spectrum:
    """The spectrum that the lines of a TCM file say; ``source`` names the file in errors.

    An ERROR is a failed test. Raises UsageError, with the line's number, for what is not TCM.
    """
    numbered = enumerate((line.rstrip("\r\n") for line in lines), start=1)
    runs: list[Run] = []
    entities: list[Entity] = []
    rows = CountRows()
    seen: list[str] = []
    for number, line in numbered:
        header = line.strip()
        if not header:
            continue
        where = f"{source}, line {number}"
        _check_header(header, seen, where)
        seen.append(header)
        if header == "#tests":
            runs = [_run(text, f"{source}, line {at}") for at, text in _section(numbered)]
        elif header == "#uuts":
            entities = [_entity(text) for _, text in _section(numbered)]
        elif header == "#matrix":
            _read_matrix(numbered, (len(runs), len(entities)), rows, source)
        else:
            for _ in _section(numbered):
                pass
    for section in _NEEDED:
        if section not in seen:
            raise UsageError(f"{source} has no section {section}: it is not a whole TCM matrix.")
    return spectrum_of(runs, entities, rows.matrix(len(entities)))


def render_tcm(spectrum: Spectrum) -> Iterator[str]:
    """The lines, each with its end, of a TCM file with the spectrum's units."""
    units = spectrum.units
    yield "#tests\n"
    for run in spectrum.runs:
        outcome = "FAILED" if run.failed else "PASSED"
        yield " ".join([encoded_label(run.name), outcome, *run.detail.split()]) + "\n"
    yield "\n#uuts\n"
    for unit in units:
        entity = spectrum.entities[unit]
        yield " | ".join([entity.name or tcm_label(entity.location), *entity.bugs]) + "\n"
    yield "\n#matrix\n"
    matrix = spectrum.executed[:, units]
    for start, end in zip(matrix.indptr, matrix.indptr[1:], strict=False):
        pairs = np.column_stack((matrix.indices[start:end], matrix.data[start:end]))
        yield " ".join(map(str, pairs[pairs[:, 0].argsort()].ravel().tolist())) + "\n"


def _check_header(header: str, seen: list[str], where: str) -> None:
    if header not in (*_NEEDED, *_SKIPPED):
        raise UsageError(
            f"{where}: {header[:40]!r} is no section of a TCM matrix (#tests, #uuts, …)."
        )
    if header in seen:
        raise UsageError(f"{where}: a second section {header}; a TCM matrix has one of each.")
    if header == "#matrix" and not {"#tests", "#uuts"} <= set(seen):
        raise UsageError(f"{where}: the matrix comes before the tests or the units it is about.")


def _section(numbered: NumberedLines) -> NumberedLines:
    """The lines up to the next empty one."""
    for number, line in numbered:
        if not line.strip():
            return
        yield number, line


def _run(line: str, where: str) -> Run:
    match = _TEST.fullmatch(line.rstrip())
    if match is None:
        raise UsageError(f"{where}: expected a test's name and PASSED, FAILED or ERROR.")
    failed = match["outcome"] != "PASSED"
    return Run(decoded_label(match["name"]), failed, match["detail"] or "")


def _entity(line: str) -> Entity:
    label, *bugs = line.strip().split(" | ")
    return tcm_entity(label, tuple(bugs))


def _read_matrix(
    numbered: NumberedLines, shape: tuple[int, int], rows: CountRows, source: str
) -> None:
    tests, width = shape
    for number, line in numbered:
        if len(rows) == tests:
            if line.strip():
                raise UsageError(
                    f"{source}, line {number}: more matrix lines than the {tests} tests."
                )
            continue
        rows.add(*_pairs(line, width, f"{source}, line {number}"))
    if len(rows) < tests:
        raise UsageError(f"{source} ends after {len(rows)} matrix lines; it has {tests} tests.")


def _pairs(line: str, width: int, where: str) -> tuple[Integers, Integers]:
    """The columns and counts of one line of the matrix."""
    try:
        numbers = np.fromiter(map(int, line.split()), np.int64)
    except (ValueError, OverflowError):
        raise UsageError(f"{where}: a matrix line holds whole numbers only.") from None
    columns, counts = numbers[::2], numbers[1::2]
    if columns.size != counts.size:
        raise UsageError(
            f"{where}: a matrix line holds pairs of a unit's index and its executions."
        )
    if columns.size and not 0 <= columns.min() <= columns.max() < width:
        raise UsageError(f"{where}: a unit's index is from 0 to {width - 1}.")
    if counts.size and counts.min() < 0:
        raise UsageError(f"{where}: a unit was executed a negative number of times.")
    if np.unique(columns).size != columns.size:
        raise UsageError(f"{where}: a unit is counted twice.")
    return columns, counts
