"""Spectra of Python programs, counted by the recorder's own instrumentation."""

from afterd.spectra.python.entities import Entity, EntityKind
from afterd.spectra.python.shares import shared_spectra
from afterd.spectra.python.spectra import PythonSpectra, counted_spectra

__all__ = [
    "Entity",
    "EntityKind",
    "PythonSpectra",
    "counted_spectra",
    "shared_spectra",
]
