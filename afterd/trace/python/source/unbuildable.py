"""When a variant of a Python program "does not build": the rest needs what was taken away.

Python has no compiler to say so. The signs are a text that does not parse, an import that fails,
and a name, attribute or parameter that is missing *because a reverted change had introduced it*;
the same error on any other name is a failure of the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from afterd.model.change import Change, ChangeForm, ChangeId, ChangeSet
from afterd.model.outcome import Outcome, Unresolved

_SAID = re.compile(
    r"^(?:E\s+)?(?P<type>(?:\w+\.)*\w*(?:Error|NotFound))(?:: (?P<text>.*))?$", re.MULTILINE
)
_DOES_NOT_PARSE = frozenset({"SyntaxError", "IndentationError", "TabError"})
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
MISSING = {
    "ModuleNotFoundError": re.compile(r"No module named '(?P<name>[\w.]+)'"),
    "ImportError": re.compile(r"cannot import name '(?P<name>\w+)'"),
    "NameError": re.compile(r"name '(?P<name>\w+)' is not defined"),
    "UnboundLocalError": re.compile(r"variable '(?P<name>\w+)'"),
    "AttributeError": re.compile(r"has no attribute '(?P<name>\w+)'"),
    "TypeError": re.compile(
        r"(?:unexpected keyword argument|required (?:positional|keyword-only) arguments?:)"
        r" '(?P<name>\w+)'"
    ),
}


@dataclass(frozen=True, slots=True)
class Missing:
    """Why a variant does not build: the exception's ``text``, and the ``name`` that is missing."""

    text: str
    name: str = ""


def taken_away(reverted: Iterable[Change]) -> frozenset[str]:
    """Names and modules that are gone, or mean something else, when these changes are undone."""
    found: set[str] = set()
    for change in reverted:
        new, old = identifiers_of(change.patch, "+"), identifiers_of(change.patch, "-")
        found |= new ^ old
        if change.form in {ChangeForm.ADDED, ChangeForm.RENAMED, ChangeForm.DELETED}:
            found |= module_names(change.file) | module_names(change.old_file)
    return frozenset(found)


def identifiers_of(patch: str, sign: str) -> set[str]:
    """The identifiers on one side of a unified hunk."""
    double = sign * 3
    lines = (line for line in patch.splitlines() if line.startswith(sign))
    text = "\n".join(line[1:] for line in lines if not line.startswith(f"{double} "))
    return set(_IDENTIFIER.findall(text))


def module_names(path: str) -> set[str]:
    """The names by which a file may be imported, dotted: with each number of the folders above it."""
    parts = PurePosixPath(path).with_suffix("").parts
    if parts and parts[-1] == "__init__":
        parts = parts[:-1]
    return {".".join(parts[start:]) for start in range(len(parts))}


def missing_in_output(output: str, taken: frozenset[str]) -> Missing | None:
    """What is missing, read from a test run's output; None when the variant did build.

    ``output`` is what pytest, unittest or the interpreter printed; ``taken`` is of ``taken_away``.
    """
    for said in _SAID.finditer(output):
        kind = said["type"].rpartition(".")[2]
        text = said["text"] or ""
        if kind in _DOES_NOT_PARSE:
            return Missing(f"{kind}: {text}".rstrip(": "))
        pattern = MISSING.get(kind)
        found = pattern.search(text) if pattern else None
        if found and _is_taken(found["name"], taken):
            return Missing(f"{kind}: {text}", found["name"])
    return None


def _is_taken(name: str, taken: frozenset[str]) -> bool:
    """``a.b`` is gone when ``a.b`` or the module ``b`` is."""
    return name in taken or any(name.endswith(f".{gone}") for gone in taken if "." in gone)


_GIVEN_UP = re.compile(
    r'File "(?P<path>[^"\n]+)", line (?P<line>\d+)\n(?:[^\n]*\n){0,3}?(?:E +)?'
    r"(?P<said>(?:Syntax|Indentation|Tab)Error: [^\n]+)"
)
_PLACED = re.compile(r"\.py, line \d+\)")


class MissingPieces:
    """Tells of a variant's run whether it failed for want of what was undone."""

    def __init__(self, changes: Mapping[ChangeId, Change]) -> None:
        self._changes = changes

    def __call__(self, reverted: ChangeSet, outcome: Outcome) -> str:
        """The exception that says so; empty where the run ended for another reason.

        Only a failure that is not the one under explanation is looked at: that one may be a
        NameError itself.
        """
        if outcome.reason is not Unresolved.DIFFERENT_FAILURE:
            return ""
        said = outcome.signature.message if outcome.signature else ""
        taken = taken_away(self._changes[each] for each in reverted if each in self._changes)
        found = missing_in_output(f"{said}\n{outcome.detail}", taken)
        return _with_place(found.text, outcome.detail) if found else ""


def _with_place(said: str, detail: str) -> str:
    """What a parser said, with where it gave up as Python words it, which a report of pytest's tells above it."""
    told = None if _PLACED.search(said) else _GIVEN_UP.search(detail)
    if told is None or not said.startswith(told["said"].strip()):
        return said
    return f"{said} ({PurePosixPath(told['path']).name}, line {told['line']})"
