"""Why the test is red where it should be green: something is not installed or not found, or it fails otherwise."""

from __future__ import annotations

from collections.abc import Collection
from posixpath import normpath

from afterd.config import command_line
from afterd.execution.confirmation import Confirmation
from afterd.execution.failures.lacks import lack_of
from afterd.execution.failures.text import with_relative_paths
from afterd.execution.recipe import Recipe
from afterd.execution.runners.interpreters import own_modules
from afterd.execution.signature import is_not_compiled, same_failure
from afterd.limits import REPORT
from afterd.model.change import FileKind
from afterd.model.explanation import Explanation, Status
from afterd.model.outcome import Outcome
from afterd.model.wording import first_names
from afterd.pipeline.case import Case, told_by_test
from afterd.pipeline.empty_submodules import named_submodule
from afterd.pipeline.installed_copy import not_importable
from afterd.workspace import Range, unbuilt_checkout, words_of_command

_RED_AT_BOTH = "The test, as the bad version has it, fails at the good version as well"
_RED_WITH_OWN = "The test fails at the good version as well, with that version's own "


def red_at_both(wanted: Range, recipe: Recipe) -> str:
    """That the good version is red too, with which text of the test: a clause. A range has the good version's own text
    of what its changes are searched in, be it a test file or named by the test command.
    """
    named = {normpath(word) for word in words_of_command(command_line(recipe.typed))}
    live = wanted.changes.live
    own = [each.file for each in live if each.kind is FileKind.TEST or each.file in named]
    files = first_names(list(dict.fromkeys(own)), REPORT.named)
    return f"{_RED_WITH_OWN}{files}" if own else _RED_AT_BOTH


def lack_sentence(case: Case, wanted: Range, outcome: Outcome | None) -> str:
    """What is not installed, by the words of a failure, as a sentence; else empty."""
    return "" if outcome is None else lack_told(case, wanted, _words(outcome))


def lack_at_good(case: Case, wanted: Range, confirmation: Confirmation) -> str:
    """What the good version fails for want of, as a sentence that names the version where the bad one does not want it:
    a project that dropped a package asks its users for none of it.
    """
    lack = lack_sentence(case, wanted, confirmation.good)
    alone = lack and not lack_sentence(case, wanted, confirmation.bad)
    return f"At the good version: {lack}" if alone else lack


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


def empty_sentence(case: Case, wanted: Range, confirmation: Confirmation) -> str:
    """The submodule that the test wants at both versions and that is not checked out, as a sentence; else empty."""
    ends = (confirmation.bad, confirmation.good)
    said = [_words(end) for end in ends if end is not None]
    return named_submodule(case.workspace, wanted.variants.bad, *said)


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


def untried_older_commits(
    red_too: str, confirmation: Confirmation, before: Collection[Explanation]
) -> str:
    """Why none of the commits before the good version is tried, as a sentence that begins with the clause that it is
    ``red_too``; else empty. ``before``: what was answered to other tests.
    """
    ends = (confirmation.bad, confirmation.good)
    bad, good = (is_not_compiled(end.signature if end else None) for end in ends)
    red = f"{red_too}{otherwise_clause(confirmation)}"
    if good and not bad:
        return f"{red}. Older commits were not tried, as it was not compiled there (--history tries all)."
    if any(each.status is Status.EXPLAINED for each in before):
        return f"{red}; older commits were not tried, as another test of this range is explained (--history tries all)."
    if any(each.reason.startswith((_RED_AT_BOTH, _RED_WITH_OWN)) for each in before):
        return f"{red}; older commits were not tried, as none of them passed another test (--history tries all)."
    return ""


def _words(outcome: Outcome) -> str:
    """What a failure says."""
    return f"{outcome.signature.message if outcome.signature else ''}\n{outcome.detail}"
