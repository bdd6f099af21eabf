"""The tables of Jin and Orso (I to IV) from measured versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from afterd.bench.formula import CONBAS, FORMULAS, Explained, VersionResult
from afterd.bench.formula_work import mean_work
from afterd.bench.tables import Grid
from afterd.localization.fusion import (
    WEIGHTS,
    Case,
    chance_among,
    fused_lines,
    place_of,
    weights_learned,
)
from afterd.model.explanation import RankedLine

_TIMED = (*FORMULAS, CONBAS)
_COMPARED = ("BA", "OFC")
_ALL = (*_TIMED, "Ochiai", "fused")
_FIRST = 10


def formula_tables(results: Sequence[VersionResult]) -> list[Grid]:
    """Tables I to IV, and the fusion's weights.

    A fault that a technique does not report has the number of lines as place.
    """
    scored = [result for result in results if not result.left_out]
    return [
        _ranks(results, scored),
        _seconds(scored),
        _averages(scored),
        _work_grid(scored),
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
    rows += [
        (f"mean of {label}", *(f"{mean_rank(group, name):.1f}" for name in _ALL), "")
        for label, group in _groups(scored)
    ]
    return Grid("Table I: place of the fault", ("version", *_ALL, "said"), tuple(rows))


def _groups(
    results: Sequence[VersionResult],
) -> list[tuple[str, Sequence[VersionResult]]]:
    """The versions of each program, where there are several, and all versions."""
    programs = dict.fromkeys(result.program for result in results)
    if len(programs) < 2:
        return [("all", results)]
    own = [(program, [r for r in results if r.program == program]) for program in programs]
    return [*own, ("all", results)]


def _label(result: VersionResult) -> str:
    return f"{result.program} {result.version}".strip()


def _row(result: VersionResult) -> tuple[str, ...]:
    if result.left_out:
        return (_label(result), *("-" for _ in _ALL), result.left_out)
    said = dict.fromkeys(f"{n}: {e.said}" for n, e in result.techniques.items() if e.said)
    return (_label(result), *(_place(result.techniques[n]) for n in _ALL), " | ".join(said))


def _place(explained: Explained) -> str:
    return "-" if explained.rank is None else f"{explained.rank:g}"


def _seconds(scored: Sequence[VersionResult]) -> Grid:
    rows = [
        (
            _label(r),
            f"{r.techniques['BA'].seconds:.2f}",
            f"{r.techniques['OFC'].seconds:.2f}",
            _factor(r),
            *(_instructions(r.techniques[name]) for name in ("BA", "OFC")),
            f"{r.techniques['OFC'].iterations:g}",
            {True: "yes", False: "no", None: "-"}[r.techniques["OFC"].agrees],
        )
        for r in scored
    ]
    title = (
        "Table II: CPU seconds and instructions a failing input, iterations of OFC, same sets as BA"
    )
    made_of = ("instructions BA", "OFC")
    headings = ("version", "BA", "OFC", "BA/OFC", *made_of, "iterations", "same sets")
    return Grid(title, headings, tuple(rows))


def _instructions(explained: Explained) -> str:
    """How large the program is of which the formula was made, where it was made."""
    return f"{explained.work.formula:.0f}" if explained.work.formula else "-"


def _factor(result: VersionResult) -> str:
    """How many times as long BugAssist took, where both gave an answer to the same question."""
    every, few = (result.techniques[name] for name in _COMPARED)
    return (
        f"{every.seconds / few.seconds:.1f}" if _answered_both(result) and _whole(result) else "-"
    )


def _answered_both(result: VersionResult) -> bool:
    """Whether BugAssist and OFC named something."""
    return all(result.techniques[name].reported for name in _COMPARED)


def _whole(result: VersionResult) -> bool:
    """Whether both settled what repairs the whole runs on any path: only then is the factor of one question."""
    return all(result.techniques[name].whole for name in _COMPARED)


def _averages(scored: Sequence[VersionResult]) -> Grid:
    rows = [
        (
            f"{label} of {which}",
            *(f"{of([r.techniques[n].seconds for r in group]):.2f}" for n in _TIMED),
        )
        for which, group in _groups(scored)
        for label, of in (("mean", fmean), ("most", max))
        if group
    ]
    return Grid("Table III: CPU seconds a failing input", ("", *_TIMED), tuple(rows))


def _work_grid(scored: Sequence[VersionResult]) -> Grid:
    """Where BugAssist and OFC both answered: what they touched, and how many times as long BugAssist took.

    There is no factor where one of them answered in part: it was asked about less. The last column is the most that
    the factor could be if OFC were done with the failing path alone.
    """
    rows: list[tuple[str, ...]] = []
    for which, group in _groups(scored):
        both = [r for r in group if _answered_both(r)]
        rows += _work_rows(which, [r for r in both if _whole(r)], compared=True)
        rows += _work_rows(f"{which}, in part", [r for r in both if not _whole(r)], compared=False)
    headings = (
        "", "instructions of the run", "of the last formula", "of all formulas", "clauses",
        "questions", "s to execute", "to encode", "to solve", "BA/OFC", "at most",
    )  # fmt: skip
    return Grid("What a failing input took, where both answered", headings, tuple(rows))


def _work_rows(
    which: str, group: Sequence[VersionResult], *, compared: bool
) -> Iterator[tuple[str, ...]]:
    """What BugAssist and OFC took in the mean of these versions, a row each; nothing of none."""
    if not group:
        return
    every, few = (mean_work([r.techniques[name].work for r in group]) for name in _COMPARED)
    factor = f"{every.seconds / max(few.seconds, 1e-9):.2f}"
    at_most = f"{every.formula / max(1.0, every.run):.1f}"
    for name, work, told in zip(_COMPARED, (every, few), (False, compared), strict=True):
        yield (
            f"{name} of {which} ({len(group)})",
            *(f"{n:.0f}" for n in (work.run, work.formula, work.executed, work.clauses)),
            f"{work.questions:.1f}",
            *(f"{s:.2f}" for s in (work.executing, work.encoding, work.solving)),
            *((factor, at_most) if told else ("-", "-")),
        )


def _weights(scored: Sequence[VersionResult]) -> Grid:
    """Table IV (OFC+CW alone) is a column of Table I; here is how often it is among the first."""
    first = [sum(rank_of(r, n) <= limit for r in scored) for n in _ALL for limit in (1, 3, _FIRST)]
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
    return weights_learned(_cases(results))


def _cases(results: Sequence[VersionResult]) -> list[Case]:
    return [Case(r.heard, r.faulty, float(r.lines), r.shares) for r in results if not r.left_out]


def _fusions(scored: Sequence[VersionResult]) -> Grid:
    """Weights that were learned are judged by programs that they never saw; with a single program, by
    versions that they never saw.
    """
    programs = list(dict.fromkeys(result.program for result in scored))
    apart = [r.program if len(programs) > 1 else r.version for r in scored]
    unseen = {
        held_out: weights_learned(
            _cases([r for r, group in zip(scored, apart, strict=True) if group != held_out])
        )
        for held_out in dict.fromkeys(apart)
    }
    names = sorted({name for result in scored for name in result.votes})
    every = learned_weights(scored)
    others = "program" if len(programs) > 1 else "version"
    ranked: dict[str, Sequence[_Met]] = {
        **{f"{name} alone": [_met_alone(r, name) for r in scored] for name in names},
        "default weights": [_met_fused(r, WEIGHTS) for r in scored],
        "learned from all versions": [_met_fused(r, every) for r in scored],
        f"learned without the {others} that is ranked": [
            _met_fused(r, unseen[group]) for r, group in zip(scored, apart, strict=True)
        ],
    }
    shown = programs if len(programs) > 1 else []
    rows = [(label, *_means(scored, met, shown)) for label, met in ranked.items()]
    title = (
        "Fusion: mean place of the fault; faults whose mean place among equals is among the first ten; and those "
        "that are met there, where equals come in any order"
    )
    return Grid(title, ("weights", *shown, "place", "first ten", "met"), tuple(rows))


@dataclass(frozen=True, slots=True)
class _Met:
    """The mean place of a fault, and the chance that it is met among the first ten lines."""

    place: float
    chance: float


def _met_alone(result: VersionResult, name: str) -> _Met:
    return _met(result, fused_lines({name: result.votes.get(name, {})}, {name: 1.0}))


def _met_fused(result: VersionResult, weights: Mapping[str, float]) -> _Met:
    return _met(result, fused_lines(result.heard, weights, result.shares))


def _met(result: VersionResult, ranking: Sequence[RankedLine]) -> _Met:
    return _Met(
        place_of(ranking, result.faulty, float(result.lines)),
        chance_among(ranking, result.faulty, _FIRST),
    )


def _means(
    scored: Sequence[VersionResult], met: Sequence[_Met], programs: Sequence[str]
) -> list[str]:
    """Of each program in one cell, of all in three."""
    if not scored:
        return ["-", "-", "-"]
    of_program = [
        [one for one, r in zip(met, scored, strict=True) if r.program == program]
        for program in programs
    ]
    return [*(", ".join(_summed(found)) for found in of_program), *_summed(met)]


def _summed(met: Sequence[_Met]) -> tuple[str, str, str]:
    return (
        f"{fmean(one.place for one in met):.1f}",
        str(sum(one.place <= _FIRST for one in met)),
        f"{sum(one.chance for one in met):.1f}",
    )
