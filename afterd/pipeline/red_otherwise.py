"""Why the test is red where it should be green: something is not installed or not found, or it fails otherwise."""

from __future__ import annotations

from afterd.execution.confirmation import Confirmation
from afterd.execution.failures.lacks import lack_of
from afterd.execution.failures.text import with_relative_paths
from afterd.execution.runners.interpreters import own_modules
from afterd.execution.signature import same_failure
from afterd.model.outcome import Outcome
from afterd.pipeline.case import Case, told_by_test
from afterd.pipeline.installed_copy import not_importable
from afterd.workspace import Range, unbuilt_checkout


def lack_sentence(case: Case, wanted: Range, outcome: Outcome | None) -> str:
    """What is not installed, by the words of a failure, as a sentence; else empty."""
    return "" if outcome is None else lack_told(case, wanted, _words(outcome))


def lack_told(case: Case, wanted: Range, said: str) -> str:
    """What is not installed, by what was said, as a sentence; else empty."""
    if lack_of(said) is None:
        return ""
    there = unbuilt_checkout(case.workspace, wanted.variants.bad)
    slots = map(str, there.parent.iterdir())
    lack = lack_of(with_relative_paths(said, slots), own_modules(there))
    return lack.sentence(case.test.recipe.test[0]) if lack else ""


def unfound_sentence(case: Case, wanted: Range, confirmation: Confirmation) -> str:
    """The project's own module that the test of neither version finds, as a sentence; else empty."""
    ends = (confirmation.bad, confirmation.good)
    said = [_words(end) for end in ends if end is not None]
    return "" if lack_of(said[-1]) is None else not_importable(case, wanted.variants.bad, *said)


def otherwise_clause(confirmation: Confirmation) -> str:
    """What the test says at the good version, where that is another failure than the bad version's."""
    bad, good = confirmation.bad, confirmation.good
    if good is None or bad.signature is None or good.signature is None:
        return ""
    said = told_by_test(good)
    if said is None or not said.message or same_failure(bad.signature, good.signature):
        return ""
    place = f"{said.place}: " if said.place else ""
    return f", though otherwise ({place}{said.message})"


def _words(outcome: Outcome) -> str:
    """What a failure says."""
    return f"{outcome.signature.message if outcome.signature else ''}\n{outcome.detail}"
