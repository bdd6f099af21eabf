"""Scoring techniques over faulty versions: Table II of the BlockRank paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from afterd.localization.examination import Line, effort, units_on
from afterd.localization.spectrum import Spectrum
from afterd.localization.techniques import TECHNIQUES, Technique

CHECKPOINTS = (0.05, 0.10, 0.15, 0.20)


@dataclass(frozen=True, slots=True, eq=False)
class FaultyVersion:
    """A version, the spectrum of running its tests, and the lines that are wrong in it.

    ``calls`` are pairs of blocks, one that calls and the entry of what it calls.
    """

    name: str
    spectrum: Spectrum
    faulty: frozenset[Line]
    calls: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Effectiveness:
    """One column of Table II. Shares are of 1.

    ``efforts`` maps a version to the share of its code examined until the fault; ``located`` maps a
    checkpoint to the share of versions whose effort is at most that. ``mean`` and ``deviation``
    (of the sample; 0 for one version) are of the efforts. ``left_out`` says of the versions that
    could not be scored why; they count nowhere.
    """

    technique: str
    efforts: Mapping[str, float]
    located: Mapping[float, float]
    mean: float
    deviation: float
    left_out: Mapping[str, str]


def table(
    versions: Sequence[FaultyVersion], techniques: Mapping[str, Technique] = TECHNIQUES
) -> tuple[Effectiveness, ...]:
    """The effectiveness of every technique, in the order of the mapping."""
    return tuple(effectiveness(name, technique, versions) for name, technique in techniques.items())


def effectiveness(
    name: str, technique: Technique, versions: Iterable[FaultyVersion]
) -> Effectiveness:
    """How well one technique finds the faults; NaN mean and deviation where nothing was scored."""
    efforts: dict[str, float] = {}
    left_out: dict[str, str] = {}
    for version in versions:
        reason = unscorable_reason(technique, version)
        if reason:
            left_out[version.name] = reason
        else:
            faulty = units_on(version.spectrum, version.faulty)
            suspicion = technique(version.spectrum)
            efforts[version.name] = effort(version.spectrum, suspicion, faulty, version.calls)
    values = np.fromiter(efforts.values(), np.float64)
    located = {
        point: float((values <= point).mean()) if values.size else np.nan for point in CHECKPOINTS
    }
    return Effectiveness(
        name,
        efforts,
        located,
        mean=float(values.mean()) if values.size else np.nan,
        deviation=float(values.std(ddof=1)) if values.size > 1 else 0.0,
        left_out=left_out,
    )


def unscorable_reason(technique: Technique, version: FaultyVersion) -> str:
    """Why a version is left out for a technique (as section IV-A.1 leaves some out), or nothing."""
    if not version.spectrum.failed.any():
        return "no test reveals the fault"
    if lacking := technique.lacks(version.spectrum):
        return f"the spectrum has no {lacking}"
    if not units_on(version.spectrum, version.faulty).any():
        return "no executable statement stands on a faulty line"
    return ""
