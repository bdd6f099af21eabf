"""Matrices on disk: the format is told by what the path is."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from afterd.errors import UsageError
from afterd.localization.formats.gzoltar import (
    parse_gzoltar,
    render_matrix,
    render_spectra,
    render_tests,
)
from afterd.localization.formats.tcm import parse_tcm, render_tcm
from afterd.localization.spectrum import Spectrum


def read_matrix(path: Path) -> Spectrum:
    """A TCM file, or a directory of GZoltar's files (also given as its ``matrix.txt``).

    Raises UsageError where it cannot be read, is not in that format, or holds no test or element.
    """
    try:
        directory = _gzoltar_directory(path)
        spectrum = _read_tcm(path) if directory is None else _read_gzoltar(directory)
    except OSError as error:
        raise UsageError(f"The matrix {path} cannot be read: {error.strerror}.") from error
    if not spectrum.runs or not spectrum.entities:
        raise UsageError(
            f"The matrix {path} has no tests or no elements: there is nothing to rank."
        )
    return spectrum


def write_matrix(spectrum: Spectrum, path: Path) -> None:
    """Write GZoltar's three files into an existing directory, otherwise a TCM file.

    Raises UsageError where it cannot be written, or the spectrum has no statements or blocks.
    """
    if not spectrum.units.size:
        raise UsageError(f"The matrix {path} would be empty: no statement or block was counted.")
    try:
        directory = _gzoltar_directory(path)
        if directory is None:
            _write(path, render_tcm(spectrum))
        else:
            _write(directory / "tests.csv", render_tests(spectrum))
            _write(directory / "spectra.csv", render_spectra(spectrum))
            _write(directory / "matrix.txt", render_matrix(spectrum))
    except OSError as error:
        raise UsageError(f"The matrix {path} cannot be written: {error.strerror}.") from error


def _gzoltar_directory(path: Path) -> Path | None:
    if path.is_dir():
        return path
    return path.parent if path.name == "matrix.txt" else None


def _read_tcm(path: Path) -> Spectrum:
    with path.open(encoding="utf-8", errors="surrogateescape") as lines:
        return parse_tcm(lines, str(path))


def _read_gzoltar(directory: Path) -> Spectrum:
    tests = directory / "tests.csv"
    with (
        (directory / "spectra.csv").open(encoding="utf-8", errors="surrogateescape") as spectra,
        (directory / "matrix.txt").open(encoding="utf-8", errors="surrogateescape") as matrix,
    ):
        if not tests.exists():
            return parse_gzoltar(None, spectra, matrix, str(directory))
        with tests.open(encoding="utf-8", errors="surrogateescape") as lines:
            return parse_gzoltar(lines, spectra, matrix, str(directory))


def _write(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        file.writelines(lines)
