"""Which changes took away what the failing version's own exception says is missing.

A keyword that a function no longer takes, a name that a module no longer has: the call fails before any row of what was
called, so nothing that was recorded leads to its definition. The message names it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from afterd.model.change import Change, ChangeForm, ChangeId
from afterd.trace.python.source.unbuildable import MISSING, identifiers_of, module_names

_CALLED = re.compile(r"(?P<function>[\w.<>]+)\(\) (?:got|missing|takes) ")
_OF_NONE = "'NoneType' object has no attribute"
_REQUIRED = re.compile(r"required (?:positional|keyword-only) arguments?:")


def took_away(message: str, changes: Iterable[Change]) -> list[ChangeId]:
    """The changes to the definition of what an exception's ``message`` says is not there, or not called as it must be;
    none where it says nothing of the kind. Where None has not an attribute, the object is missing, not the attribute.
    """
    if _OF_NONE in message:
        return []
    name = _missing_name(message)
    took: list[Change] = []
    if functions := called_functions(message):
        own = functions[0]
        inside = [each for each in changes if _is_in(each, own) or _gives_head(each, own)]
        added = bool(_REQUIRED.search(message))
        of_it = filter(_of_signature(name, added=added), inside)
        took += _first_of_each(of_it) if added else of_it
        took += _took_any(inside) if name and not added else []
    elif name:
        took += filter(_of_definition(name), changes)
    return [*dict.fromkeys(change.id for change in took)]


def called_functions(text: str) -> list[list[str]]:
    """The functions that exceptions told in a text say are not called as they must be, in that order, each with what it
    is in as far as that is told.
    """
    names = dict.fromkeys(called["function"] for called in _CALLED.finditer(text))
    return [[part for part in name.split(".") if part != "<locals>"] for name in names]


def brought(message: str, changes: Iterable[Change]) -> bool:
    """Whether one of these changes introduced the name that an exception's ``message`` says is not there."""
    name = _missing_name(message)
    return any(
        name in identifiers_of(each.patch, "+") - identifiers_of(each.patch, "-")
        for each in changes
        if name
    )


def _missing_name(message: str) -> str:
    return next((found["name"] for each in MISSING.values() if (found := each.search(message))), "")


def _is_in(change: Change, function: list[str]) -> bool:
    """Whether a change stands in a function of this name, from the class on."""
    return change.symbol.split(".")[-len(function) :] == function


def _gives_head(change: Change, function: list[str]) -> bool:
    """Whether it stands around a function and has a head of it: a new one, or the one that was there."""
    *outer, name = function
    around = change.symbol.split(".")[-len(outer) :] == outer if outer else not change.symbol
    head = re.compile(rf"\s*(?:async\s+)?def\s+{re.escape(name)}\b")
    return around and any(map(head.match, (*change.lines("+"), *change.lines("-"))))


def _of_signature(name: str, *, added: bool) -> Callable[[Change], bool]:
    """Whether a change to a function is of a parameter that it has no more, or asks for now."""

    def took(change: Change) -> bool:
        new, old = identifiers_of(change.patch, "+"), identifiers_of(change.patch, "-")
        lines = [*change.lines("+"), *change.lines("-")]
        if not name:
            return any(line.lstrip().startswith(("def ", "async def ")) for line in lines)
        return name in new - old if added else name in old - new

    return took


def _first_of_each(changes: Iterable[Change]) -> list[Change]:
    """The first change of each function to a parameter that is new: it stands among the parameters; what is below tells
    of it, or hands it on.
    """
    first: dict[tuple[str, str], Change] = {}
    for change in sorted(changes, key=lambda each: (each.file, each.new.start)):
        first.setdefault((change.file, change.symbol), change)
    return [*first.values()]


def _took_any(inside: Iterable[Change]) -> list[Change]:
    """The change by which a function takes no more whatever it is given: the first of its text, as it stands among the
    parameters; what is below handed it on.
    """
    took = [each for each in inside if any("**" in line for line in each.lines("-"))]
    return sorted(took, key=lambda each: (each.file, each.old.start))[:1]


def _of_definition(name: str) -> Callable[[Change], bool]:
    """Whether a change removed what gave a name to something, or the file of that name."""
    word = re.escape(name)
    gives = re.compile(
        rf"\b(?:def|class|import|as)\s+{word}\b|\b{word}\s*(?::[^=]+)?=(?!=)|['\"]{word}['\"]|^\s*{word},?\s*$"
    )

    def took(change: Change) -> bool:
        if change.form is not ChangeForm.HUNK and name in module_names(change.old_file):
            return True
        gone = name in identifiers_of(change.patch, "-") - identifiers_of(change.patch, "+")
        return gone and any(map(gives.search, change.lines("-")))

    return took
