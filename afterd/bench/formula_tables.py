"""The tables of Jin and Orso (I to IV) from measured versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from afterd.bench.formula import CONBAS, FORMULAS, Explained, VersionResult
from afterd.bench.tables import Grid
from afterd.localization.fusion import WEIGHTS, Case, fused_lines, learned, place_of

_TIMED = (*FORMULAS, CONBAS)
_ALL = (*_TIMED, "Ochiai", "fused")


def formula_tables(results: Sequence[VersionResult]) -> list[Grid]:
    """Tables I to IV, and the fusion's weights.

    A fault that a technique does not report has the number of lines as place.
    """
    scored = [result for result in results if not result.left_out]
    return [
        _ranks(results, scored),
        _seconds(scored),
        _averages(scored),
        _weights(scored),
        _fusions(scored),
    ]


def rank_of(result: VersionResult, technique: str) -> float:
    """The place of the fault, last where it is not reported."""
    rank = result.techniques[technique].rank
    return float(result.lines) if rank is None else rank


def mean_rank(results: Sequence[VersionResult], technique: str) -> float:
    """Over the versions that could be scored."""
    return fmean(rank_of(r, technique) for r in results) if results else 0.0


def _ranks(results: Sequence[VersionResult], scored: Sequence[VersionResult]) -> Grid:
    rows = [_row(result) for result in results]
    rows.append(("mean", *(f"{mean_rank(scored, name):.1f}" for name in _ALL), ""))
    return Grid("Table I: place of the fault", ("version", *_ALL, "said"), tuple(rows))


def _row(result: VersionResult) -> tuple[str, ...]:
    if result.left_out:
        return (result.version, *("-" for _ in _ALL), result.left_out)
    said = dict.fromkeys(f"{n}: {e.said}" for n, e in result.techniques.items() if e.said)
    return (result.version, *(_place(result.techniques[n]) for n in _ALL), " | ".join(said))


def _place(explained: Explained) -> str:
    return "-" if explained.rank is None else f"{explained.rank:g}"


def _seconds(scored: Sequence[VersionResult]) -> Grid:
    rows = [
        (
            r.version,
            f"{r.techniques['BA'].seconds:.2f}",
            f"{r.techniques['OFC'].seconds:.2f}",
            _factor(r),
            f"{r.techniques['OFC'].iterations:g}",
            {True: "yes", False: "no", None: "-"}[r.techniques["OFC"].agrees],
        )
        for r in scored
    ]
    title = "Table II: CPU seconds a failing input, iterations of OFC, same sets as BA"
    return Grid(title, ("version", "BA", "OFC", "BA/OFC", "iterations", "same sets"), tuple(rows))


def _factor(result: VersionResult) -> str:
    """How many times as long BugAssist took, where both gave an answer."""
    every, few = (result.techniques[name] for name in ("BA", "OFC"))
    return f"{every.seconds / few.seconds:.1f}" if every.reported and few.reported else "-"


def _averages(scored: Sequence[VersionResult]) -> Grid:
    means = [fmean(r.techniques[n].seconds for r in scored) if scored else 0.0 for n in _TIMED]
    most = [max((r.techniques[n].seconds for r in scored), default=0.0) for n in _TIMED]
    rows = (("mean", *(f"{m:.2f}" for m in means)), ("most", *(f"{m:.2f}" for m in most)))
    return Grid("Table III: CPU seconds a failing input", ("", *_TIMED), rows)


def _weights(scored: Sequence[VersionResult]) -> Grid:
    """Table IV (OFC+CW alone) is a column of Table I; here is how often it is among the first."""
    first = [sum(rank_of(r, n) <= limit for r in scored) for n in _ALL for limit in (1, 3, 10)]
    rows = [
        (name, *(str(count) for count in first[3 * at : 3 * at + 3]))
        for at, name in enumerate(_ALL)
    ]
    weights = ", ".join(f"{name} {weight:g}" for name, weight in learned_weights(scored).items())
    title = (
        f"Table IV: faults among the first 1, 3, 10 of {len(scored)}; learned weights: {weights}"
    )
    return Grid(title, ("technique", "1", "3", "10"), tuple(rows))


def learned_weights(results: Sequence[VersionResult]) -> dict[str, float]:
    """Weights of a fusion with the best mean place of these versions' faults."""
    return learned(_cases(results))


def _cases(results: Sequence[VersionResult]) -> list[Case]:
    return [(r.votes, r.faulty, float(r.lines)) for r in results if not r.left_out]


def _fusions(scored: Sequence[VersionResult]) -> Grid:
    """Weights that were learned from the versions are judged by versions that they never saw."""
    cases = _cases(scored)
    unseen = [learned(cases[:at] + cases[at + 1 :]) for at in range(len(cases))]
    names = sorted({name for votes, _, _ in cases for name in votes})
    rows = (
        *(
            (f"{name} alone", _mean_place(cases, [_only(name, names)] * len(cases)))
            for name in names
        ),
        ("default weights", _mean_place(cases, [WEIGHTS] * len(cases))),
        ("learned from all versions", _mean_place(cases, [learned(cases)] * len(cases))),
        ("learned from all but the one that is ranked", _mean_place(cases, unseen)),
    )
    return Grid("Fusion: mean place of the fault", ("weights", "place"), rows)


def _only(name: str, names: Sequence[str]) -> Mapping[str, float]:
    return {other: float(other == name) for other in names}


def _mean_place(cases: Sequence[Case], weights: Sequence[Mapping[str, float]]) -> str:
    places = [
        place_of([line for line in fused_lines(votes, given) if line.score], lines, missing)
        for (votes, lines, missing), given in zip(cases, weights, strict=True)
    ]
    return f"{fmean(places):.1f}" if places else "-"
