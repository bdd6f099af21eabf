"""The suite of a failing test counted for a ranking, and the lines of it that are likeliest at fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from afterd.errors import TestError
from afterd.localization.spectrum import Spectrum, spectrum_of
from afterd.localization.suite.counting import Counting
from afterd.localization.suite.repository import source_text, suite_spectrum
from afterd.localization.votes import VOTERS, Counted, changed_lines, ranked_lines
from afterd.model.explanation import RankedLine
from afterd.workspace import Suite, Workspace

SHOWN = 20
"""Lines of an explanation's ranking, at most."""

ORDERED_BY = "ochiai"
_VOTING = (ORDERED_BY, "tarantula", "blockrank")


def counted_suite(
    workspace: Workspace, suite: Suite, tree: str, tests: Sequence[str], counting: Counting
) -> Counted:
    """The failing ``tests``' own files where their runner can choose them and tests pass in them, else the
    whole suite. Raises TestError where nothing passed, or nothing failed.
    """
    near = _of_some(workspace, suite, tree, tests, counting)
    spectrum = near or suite_spectrum(workspace, suite, tree, counting)
    if not _told_apart(spectrum):
        outcome = "failed" if spectrum.failed.all() else "passed"
        raise TestError(f"all tests that were counted {outcome}.")
    return Counted(workspace, suite, tree, spectrum)


def _of_some(
    workspace: Workspace, suite: Suite, tree: str, tests: Sequence[str], counting: Counting
) -> Spectrum | None:
    """Of the failing tests' own files alone; None where nothing can be told from that."""
    some = _suite_beside(suite, tests)
    if some == suite:
        return None
    try:
        spectrum = suite_spectrum(workspace, some, tree, counting)
    except TestError:  # one test alone, say
        return None
    return spectrum if _told_apart(spectrum) else None


def _told_apart(spectrum: Spectrum) -> bool:
    return bool(spectrum.failed.any() and not spectrum.failed.all())


def _suite_beside(suite: Suite, tests: Sequence[str]) -> Suite:
    """Of a suite the test files of ``tests``, where its runner can choose them."""
    files = dict.fromkeys(test.partition("::")[0] for test in tests)
    if suite.found is None or not suite.found.reported or not all("::" in test for test in tests):
        return suite
    return replace(suite, recipe=replace(suite.recipe, test=(*suite.recipe.test, *files)))


def lines_ranked(counted: Counted, test: str) -> tuple[RankedLine, ...]:
    """The ranking of one failed test: what it executed, against what passed."""
    spectrum = against_passed(counted.spectrum, test)
    alone = replace(counted, spectrum=spectrum)
    votes = {name: VOTERS[name](alone) for name in _VOTING if not VOTERS[name].lacks(alone)}
    wanted = counted.wanted
    changed = changed_lines(wanted.changes.live) if wanted is not None else {}
    text = source_text(counted.workspace, counted.tree)
    places = ranked_lines(spectrum, votes[ORDERED_BY], changed, text)
    return tuple(
        RankedLine(
            place.file,
            place.line,
            place.score,
            {
                name: given.scores[place.file, place.line]
                for name, given in votes.items()
                if (place.file, place.line) in given.scores
            },
            place.text,
        )
        for place in places[:SHOWN]
        if place.score > 0
    )


def against_passed(spectrum: Spectrum, test: str) -> Spectrum:
    """The passed runs and one failed; all failed ones where none has that name."""
    named = [run.failed and run.name == test for run in spectrum.runs]
    if not any(named):
        return spectrum
    rows = np.flatnonzero(np.array(named) | ~spectrum.failed)
    return spectrum_of(
        [spectrum.runs[row] for row in rows],
        spectrum.entities,
        spectrum.executed[rows],
        spectrum.held[rows],
    )
