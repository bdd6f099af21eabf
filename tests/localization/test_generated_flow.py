"""Where BlockRank and CP are before the techniques that count tests, on made-up flow graphs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from flow_programs import program, runs

from afterd.localization.examination import effort
from afterd.localization.techniques import TECHNIQUES

NAMES = ("blockrank", "cp", "tarantula", "ochiai")
CHANCES = (0.02, 0.1, 0.5)
RARE = 0.6  # failed runs at most
ALWAYS = 0.95  # of the passed runs execute the fault


def mean_efforts(loops: float, *, always: bool, programs: int, size: int) -> Mapping[str, float]:
    """The mean share of code examined per technique, over faults that all passed runs execute, or not."""
    found = []
    for seed in range(programs):
        made = program(seed, size, loops)
        fault = int(np.random.default_rng(1000 + seed).integers(len(made.successors)))
        for chance in CHANCES:
            spectrum = runs(made, fault, seed, chance)
            if spectrum is None or spectrum.failed.mean() > RARE:
                continue
            executed = spectrum.executed[:, [fault]].toarray().ravel() > 0
            if bool(executed[~spectrum.failed].mean() > ALWAYS) != always:
                continue
            lines = np.array([spectrum.entities[u].location.line for u in spectrum.units])
            found.append(
                [effort(spectrum, TECHNIQUES[n](spectrum), lines == fault + 1) for n in NAMES]
            )
    return dict(zip(NAMES, np.mean(found, axis=0).tolist(), strict=True))


@pytest.mark.parametrize(
    ("loops", "always", "before", "after"),
    [
        # Only how often the rounds of a loop were executed tells runs apart that all execute the fault.
        (1.0, True, ("blockrank", "cp"), ("tarantula",)),
        # Without loops each block is executed once or not, which says less than who executes it.
        (0.0, False, ("tarantula", "ochiai"), ("blockrank", "cp")),
    ],
)
def test_loops_bring_blockrank_and_cp_before_tarantula(
    loops: float, always: bool, before: tuple[str, ...], after: tuple[str, ...]
) -> None:
    efforts = mean_efforts(loops, always=always, programs=8, size=60)
    assert max(efforts[name] for name in before) < min(efforts[name] for name in after)
