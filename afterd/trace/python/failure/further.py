"""Where in the code a variant failed otherwise, and how far its test came, by what was printed."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from pathlib import PurePosixPath

from afterd.execution.failures.values import meant_file
from afterd.model.location import Location
from afterd.model.outcome import FailureKind, Outcome, Unresolved, Verdict

_PLACE = re.compile(
    r'^(?:(?P<file>[^:\s]+\.py):(?P<line>\d+): |\s+File "(?P<path>[^"\n]+)", line (?P<number>\d+))',
    re.MULTILINE,
)

_RAISING = re.compile(
    r'^(?:>(?P<marked>\s+\S.*)|\s+File "[^"\n]+", line \d+.*\n(?P<below>\s+\S.*))$', re.MULTILINE
)
"""The line that pytest marks, or that stands below a place in a traceback."""


def raised_at(outcome: Outcome, files: Collection[str]) -> list[Location]:
    """The lines of these files that the exception of another failure came through, innermost first.

    They are lines of the variant that was run. Empty for any other outcome.
    """
    return _places(outcome, files) if outcome.reason is Unresolved.DIFFERENT_FAILURE else []


def raised_elsewhere(outcome: Outcome, as_: Outcome, files: Collection[str]) -> list[Location]:
    """The same of a test that failed as another time, where the line of these files that raised it is another one: what
    is wrong there is wrong in a second place, to which the other run did not come. Empty for any other outcome.
    """
    signature = outcome.signature
    raised = signature is not None and signature.kind is FailureKind.EXCEPTION
    if outcome.verdict is not Verdict.FAIL or not raised:
        return []
    line, before = _raising_line(outcome), _raising_line(as_)
    places = _places(outcome, files)
    named = {PurePosixPath(place.file).name for place in places[:1]}
    is_there = _innermost_file(outcome) in named
    return places if is_there and line and before and line != before else []


def _places(outcome: Outcome, files: Collection[str]) -> list[Location]:
    return [
        Location(file, int(match["line"] or match["number"]))
        for match in reversed(list(_PLACE.finditer(outcome.detail)))
        if (file := meant_file(match["file"] or match["path"], files))
    ]


def came_further(outcome: Outcome, than: Outcome) -> bool:
    """Whether a test failed at a later line of its own than another time, and otherwise: what had failed there did not
    any more. Its own is the outermost line that is told, of a file that both times was the same.
    """
    here, there = _own_line(outcome), _own_line(than)
    return (
        outcome.reason is Unresolved.DIFFERENT_FAILURE
        and here is not None
        and there is not None
        and here[0] == there[0]
        and here[1] > there[1]
    )


def came_as_far(outcome: Outcome, as_: Outcome) -> bool:
    """Whether a test failed otherwise in what the line of its own calls at which it failed another time, too; or by
    the assertion that stands there, which found something else.
    """
    own, both = _own_line(outcome), (outcome, as_)
    if outcome.reason is not Unresolved.DIFFERENT_FAILURE or own is None or own != _own_line(as_):
        return False
    asserts = all(each.signature and each.signature.kind is FailureKind.ASSERTION for each in both)
    return asserts or all(_innermost_file(each) not in {None, own[0]} for each in both)


def moved(outcome: Outcome, as_: Outcome) -> bool:
    """Whether a test failed by what it failed by another time, in code that stood elsewhere: by the same exception, of
    which the same is said, raised by the same line's text.
    """
    here, there = outcome.signature, as_.signature
    if here is None or there is None or not here.message:
        return False
    line = _raising_line(outcome)
    same = replace(here, file=there.file, symbol=there.symbol) == there
    return same and line != "" and line == _raising_line(as_)


def _raising_line(outcome: Outcome) -> str:
    """The text of the innermost line that raised; empty where it was not printed."""
    found = list(_RAISING.finditer(outcome.detail))
    return (found[-1]["marked"] or found[-1]["below"]).strip() if found else ""


def _own_line(outcome: Outcome) -> tuple[str, int] | None:
    """The name of the outermost file that is told, which is the test's, and the line in it."""
    found = _PLACE.search(outcome.detail)
    return None if found is None else (_file_name(found), int(found["line"] or found["number"]))


def _innermost_file(outcome: Outcome) -> str | None:
    """The name of the file in which an exception was raised."""
    found = list(_PLACE.finditer(outcome.detail))
    return _file_name(found[-1]) if found else None


def _file_name(place: re.Match[str]) -> str:
    return PurePosixPath(place["file"] or place["path"]).name
