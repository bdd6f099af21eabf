"""GZoltar's text reports: ``tests.csv``, ``spectra.csv`` and ``matrix.txt``.

As GZoltar 1.7 writes them (com.gzoltar.report, FaultLocalizationTxtReport). Despite their names
nothing in them is quoted::

    tests.csv      name,outcome,runtime,stacktrace    then a line a test; outcome PASS or FAIL
    spectra.csv    name                               then package$class#method(types):line
    matrix.txt     0 1 0 … +                          a line a test; + passed, - failed

A matrix says *whether* a test executed an element, not how often.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from afterd.errors import UsageError
from afterd.localization.formats.labels import (
    decoded_label,
    encoded_label,
    gzoltar_entity,
    gzoltar_label,
)
from afterd.localization.rows import CountRows
from afterd.localization.spectrum import Columns, Entity, Run, Spectrum, spectrum_of

TESTS_HEADER = "name,outcome,runtime,stacktrace"
SPECTRA_HEADER = "name"

_TEST = re.compile(r"(?P<name>.+?),(?P<outcome>PASS|FAIL|ERROR)(?:,[^,]*(?:,(?P<detail>.*))?)?")
_FAILED_OF_SIGN = {"+": False, "-": True}
_ZERO, _ONE, _SPACE = b"01 "


def parse_gzoltar(
    tests: Iterable[str] | None, spectra: Iterable[str], matrix: Iterable[str], source: str
) -> Spectrum:
    """The spectrum that the lines of the three files say; ``source`` names their directory.

    Older GZoltar versions wrote no tests.csv (None here): tests are then called t1, t2, …
    Raises UsageError, with the file and the line's number, for what is not a GZoltar report.
    """
    entities = list(_entities(spectra, source))
    named = None if tests is None else list(_runs(tests, source))
    rows = CountRows()
    runs: list[Run] = []
    for number, line in enumerate(matrix, start=1):
        where = f"{source}/matrix.txt, line {number}"
        columns, failed = _row(line.rstrip(), len(entities), where)
        rows.add(columns, np.ones(columns.size, np.int64))
        runs.append(_run_of(named, number, where, failed=failed))
    if named is not None and len(named) != len(runs):
        raise UsageError(
            f"{source}/matrix.txt has {len(runs)} lines, tests.csv {len(named)} tests."
        )
    return spectrum_of(runs, entities, rows.matrix(len(entities)))


def render_tests(spectrum: Spectrum) -> Iterator[str]:
    """The lines of tests.csv; the running time, which a spectrum does not know, is left empty."""
    yield TESTS_HEADER + "\n"
    for run in spectrum.runs:
        outcome = "FAIL" if run.failed else "PASS"
        yield f"{encoded_label(run.name, ',')},{outcome},,{' '.join(run.detail.split())}\n"


def render_spectra(spectrum: Spectrum) -> Iterator[str]:
    """The lines of spectra.csv."""
    yield SPECTRA_HEADER + "\n"
    for unit in spectrum.units:
        entity = spectrum.entities[unit]
        is_ours = gzoltar_entity(entity.name) is None  # or TCM's, which is no name here
        label = gzoltar_label(entity.location) if is_ours else entity.name
        yield ":".join([label, *entity.bugs]) + "\n"


def render_matrix(spectrum: Spectrum) -> Iterator[str]:
    """The lines of matrix.txt."""
    hits = spectrum.executed[:, spectrum.units]
    nothing = np.tile(np.array([_ZERO, _SPACE], np.uint8), hits.shape[1])
    for run, start, end in zip(spectrum.runs, hits.indptr, hits.indptr[1:], strict=False):
        row = nothing.copy()
        row[2 * hits.indices[start:end]] = _ONE
        yield row.tobytes().decode("ascii") + ("-\n" if run.failed else "+\n")


def _entities(spectra: Iterable[str], source: str) -> Iterator[Entity]:
    for number, line in enumerate(spectra, start=1):
        label = line.rstrip("\r\n")
        if number == 1 and label == SPECTRA_HEADER:
            continue
        entity = gzoltar_entity(label)
        if entity is None:
            where = f"{source}/spectra.csv, line {number}"
            raise UsageError(f"{where}: expected package$class#method:line, not {label[:80]!r}.")
        yield entity


def _runs(tests: Iterable[str], source: str) -> Iterator[Run]:
    for number, line in enumerate(tests, start=1):
        text = line.rstrip("\r\n")
        if number == 1 and text.startswith("name,outcome"):
            continue
        match = _TEST.fullmatch(text)
        if match is None:
            where = f"{source}/tests.csv, line {number}"
            raise UsageError(f"{where}: expected a test's name and PASS or FAIL.")
        failed = match["outcome"] != "PASS"
        yield Run(decoded_label(match["name"], ","), failed, match["detail"] or "")


def _run_of(named: Sequence[Run] | None, number: int, where: str, *, failed: bool) -> Run:
    """The run of a line of the matrix, checked against tests.csv where there is one."""
    if named is None:
        return Run(f"t{number}", failed)
    if number > len(named):
        raise UsageError(f"{where}: there are only {len(named)} tests in tests.csv.")
    run = named[number - 1]
    if run.failed != failed:
        raise UsageError(
            f"{where}: the matrix and tests.csv disagree on whether {run.name} failed."
        )
    return run


def _row(line: str, width: int, where: str) -> tuple[Columns, bool]:
    """The columns that a line of the matrix marks, and whether its test failed."""
    hits, sign = line[:-1], line[-1:]
    if sign not in _FAILED_OF_SIGN:
        raise UsageError(f"{where}: expected + or - at the end.")
    cells = np.frombuffer(hits.encode("ascii", "replace"), np.uint8)
    if cells.size == 2 * width and np.all(cells[1::2] == _SPACE):
        cells = cells[::2]
    else:  # more white space than GZoltar writes, or another number of elements
        cells = np.array([ord(word) if len(word) == 1 else 0 for word in hits.split()], np.uint8)
    if cells.size != width:
        raise UsageError(f"{where}: {cells.size} elements, spectra.csv has {width}.")
    if not np.all((cells == _ZERO) | (cells == _ONE)):
        raise UsageError(f"{where}: an element is marked 0 or 1.")
    return np.flatnonzero(cells == _ONE), _FAILED_OF_SIGN[sign]
