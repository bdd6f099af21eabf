"""What every tracer must say of two runs of any two variants: the checklist of adding-a-language.md."""

from __future__ import annotations

from collections import defaultdict

import pytest
from conftest import INSTALLED
from contract_cases import LANGUAGES, NAMES, Laboratory, Said

from afterd.model.change import NOTHING, ChangeSet
from afterd.model.outcome import FailureKind
from afterd.model.trace import Alignment, Conduct, Effect

GREEN = "the bad version beside the good one"
TWIN = "the bad version beside the one with only the root undone"
QUIET = "without the harmless changes, beside the good version"
PASSING = "with the root undone, beside the good version"
ITSELF = "the bad version beside itself"
FAILING = (GREEN, TWIN, QUIET)
ONLY_THE_ROOT = (TWIN, QUIET)
ANOTHER = {Alignment.DIFFERENT, Alignment.ABSENT}
EACH = pytest.mark.parametrize(
    ("language", "name"), [(language, name) for language in LANGUAGES for name in NAMES]
)


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    """Every case in every language; a variant is built and run when it is first asked for."""
    return Laboratory(tmp_path_factory.mktemp("contract"), next(iter(INSTALLED.values())))


def sets(laboratory: Laboratory, pair: str) -> tuple[ChangeSet, ChangeSet]:
    """What is undone in the run that is explained, and in the one beside it."""
    every, roots = laboratory.everything, laboratory.roots
    found = {
        GREEN: (NOTHING, every),
        TWIN: (NOTHING, roots),
        QUIET: (every - roots, every),
        PASSING: (roots, every),
        ITSELF: (NOTHING, NOTHING),
    }
    return found[pair]


def told(laboratory: Laboratory, language: str, name: str, pair: str) -> Said:
    """What the two runs of a pair say."""
    return laboratory.said(language, name, *sets(laboratory, pair))


@EACH
@pytest.mark.parametrize("pair", FAILING)
def test_the_steps_behind_the_failure_lead_to_the_root(
    laboratory: Laboratory, language: str, name: str, pair: str
) -> None:
    said = told(laboratory, language, name, pair)
    kinds = {failure.kind for failure in said.failures}
    ended = {FailureKind.ASSERTION, FailureKind.EXCEPTION}
    assert kinds & (ended if name == "raised" else {FailureKind.OUTPUT})
    root = laboratory.root(language, name)
    assert root
    assert root <= said.met
    assert root <= {*said.execution.executed_changes()}


@EACH
@pytest.mark.parametrize("pair", [GREEN, TWIN, QUIET, PASSING, ITSELF])
def test_no_change_is_named_in_which_the_two_variants_do_not_differ(
    laboratory: Laboratory, language: str, name: str, pair: str
) -> None:
    mine, other = sets(laboratory, pair)
    assert told(laboratory, language, name, pair).named <= mine ^ other


@EACH
@pytest.mark.parametrize("pair", ONLY_THE_ROOT)
def test_what_is_said_to_differ_differs_and_nothing_else(
    laboratory: Laboratory, language: str, name: str, pair: str
) -> None:
    said = told(laboratory, language, name, pair)
    differing = {
        said.line(step) for step in said.behind.values() if step.green.alignment in ANOTHER
    }
    assert not {line for line in differing if " was " not in line and "differs" not in line}
    seen: dict[str, list[tuple[object, object]]] = defaultdict(list)
    for step in said.behind.values():
        if step.green.alignment is Alignment.DIFFERENT:
            seen[said.line(step)].append((step.value, step.green.value))
    for line, both in said.expected().items():
        assert both in seen[line], line


@EACH
def test_a_variant_that_passes_has_no_failure_and_one_beside_itself_no_difference(
    laboratory: Laboratory, language: str, name: str
) -> None:
    assert not told(laboratory, language, name, PASSING).failures
    same = told(laboratory, language, name, ITSELF).behind.values()
    assert not [step for step in same if step.green.alignment in ANOTHER]


@EACH
@pytest.mark.parametrize("pair", FAILING)
def test_a_change_that_did_something_else_on_the_same_values_is_told_from_one_that_did_not(
    laboratory: Laboratory, language: str, name: str, pair: str
) -> None:
    said = told(laboratory, language, name, pair)
    conduct = said.execution.conduct()
    root = laboratory.root(language, name)
    kept = {Conduct.SAME, Conduct.NEUTRAL}
    assert not [change for change in root if conduct.get(change) in kept]
    effects = [step.effect for step in said.behind.values() if root & {*step.changes}]
    assert {*effects} != {Effect.NEUTRAL}  # it may be in a loop's first rounds
    if name == "changed_callee":
        assert {conduct.get(change) for change in root} <= {Conduct.PARTED, Conduct.PASSED}
        harmless = laboratory.of_case(language, name) - root
        guilty = {Conduct.PARTED, Conduct.PASSED}
        assert not [change for change in harmless if conduct.get(change) in guilty]


def test_every_case_is_written_in_every_language() -> None:
    assert len(NAMES) >= 11
    for language in LANGUAGES:
        assert {*NAMES} <= Laboratory.written_in(language)
