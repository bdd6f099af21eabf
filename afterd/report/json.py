"""The JSON contract of ``afterd explain --format json`` (design, section 8), both ways; schema 1.

Exact, not sanitised: a program reads it. Bytes that are not UTF-8 stay escaped surrogates, so the
output is plain ASCII. What is unknown is ``null``. Keys are only added, never moved, within a
schema; ``notes``, ``range``, ``reason``, ``commands``, ``evidence`` of a cause, and what else a comment
on a pull request needs were added to what the design lists.

Each key is said once, with the form in which it is written and asked for again: what is read back
is data that nobody vouches for (``received``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from operator import attrgetter
from pathlib import PurePosixPath
from typing import Any, get_type_hints

from afterd import __version__
from afterd.limits import RECEIVED
from afterd.model.change import Change, ChangeForm
from afterd.model.explanation import (
    CauseNode,
    ChangeCounts,
    Evidence,
    Explanation,
    Failure,
    RankedLine,
    RevisionRange,
    RunCounts,
    Seconds,
    Status,
    TreeStep,
)
from afterd.model.location import LineSpan
from afterd.report.received_values import Item, Malformed

SCHEMA = 1
COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
COMMIT_IS = "a full commit id"
_CHANGE_ID = re.compile(r"c[1-9][0-9]{0,8}")
_STRATEGY = re.compile(r"[a-z]{1,20}|")

Json = Mapping[str, object]


def render(explanations: Sequence[Explanation], repository: str) -> str:
    """The whole document, with a line end; a test that passes (GREEN) has no object."""
    return json.dumps(document(explanations, repository), indent=2, allow_nan=False) + "\n"


def document(explanations: Sequence[Explanation], repository: str) -> Json:
    """One object a failing test, in the order given; ``repository`` as the user named it."""
    shown = [each for each in explanations if each.status is not Status.GREEN]
    return {
        "schema": SCHEMA,
        "afterd": __version__,
        "repository": repository,
        "range": _RANGE.written(explanations[0].range) if explanations else None,
        "explanations": [contract(explanation) for explanation in shown],
    }


def contract(explanation: Explanation) -> Json:
    """The object of one failing test; the store keeps its text."""
    reason = explanation.reason
    notes = (*filter(None, [reason]), *explanation.remarks, *explanation.notes)
    written: Json = _EXPLANATION.written(replace(explanation, notes=notes))
    commands = _COMMANDS.written((explanation.build_command, explanation.test_command))
    lists = {"also": list(explanation.also), "remarks": list(explanation.remarks)}
    return {**written, "commands": commands, **lists}


def explanation_received(item: Item, default: RevisionRange | None) -> Explanation:
    """One of the list ``explanations``; ``default`` is the range of the whole document."""
    read: Explanation = _EXPLANATION.read(item)
    build, test = _COMMANDS.read(item["commands"]) if item["commands"] else ((), ())
    remarks = item["remarks"].texts()
    before = (*filter(None, [read.reason]), *remarks)
    is_repeated = read.notes[: len(before)] == before
    return replace(
        read,
        range=default if default and not item["range"] else revisions(item["range"]),
        notes=read.notes[len(before) :] if is_repeated else read.notes,
        remarks=remarks,
        build_command=build,
        test_command=test,
        also=item["also"].texts(),
    )


def revisions(item: Item) -> RevisionRange:
    """Two commits; of a patch that was tried (``--diff``) the second is a tree."""
    read: RevisionRange = _RANGE.read(item)
    return read


@dataclass(frozen=True, slots=True)
class _Form:
    """How a value is written, and how it is asked for again. ``read`` raises Malformed."""

    written: Callable[[Any], Any]
    read: Callable[[Item], Any]


def _as_is(value: object) -> object:
    return value


def _or_null(value: object) -> object:
    return value or None


def _path(item: Item) -> str:
    """A path inside the repository; empty where it is not known."""
    text = item.text(RECEIVED.path)
    parts = PurePosixPath(text).parts
    if text.startswith("/") or "\0" in text or ".." in parts:
        raise Malformed(item.where, "a path inside the repository")
    return text


def _matching_form(pattern: re.Pattern[str], must: str) -> _Form:
    return _Form(_as_is, lambda item: item.matching(pattern, must))


def _member(kind: type[StrEnum], default: StrEnum | None = None) -> _Form:
    return _Form(attrgetter("value"), lambda item: item.one_of(kind, default))


def _list_form(form: _Form, most: int = RECEIVED.items) -> _Form:
    return _Form(
        lambda values: list(map(form.written, values)),
        lambda item: tuple(map(form.read, item.items(most))),
    )


def _optional_form(form: _Form, otherwise: object = None) -> _Form:
    """A value that may be null, which reads as ``otherwise``."""
    return _Form(
        lambda value: None if value is None else form.written(value),
        lambda item: form.read(item) if item else otherwise,
    )


def _record(kind: type[Any], keys: str, **special: _Form) -> _Form:
    """A value type as an object with these keys, which are fields; a form for each type of field."""
    hints = get_type_hints(kind)
    forms = {key: special.get(key) or _form_of(hints[key]) for key in keys.split()}

    def written(value: object) -> Json:
        row = {}
        for key, form in forms.items():
            row[key] = form.written(getattr(value, key))
        return row

    def read(item: Item) -> object:
        fields = {}
        for key, form in forms.items():
            fields[key] = form.read(item[key])
        return kind(**fields)

    return _Form(written, read)


def _form_of(hint: type[Any]) -> _Form:
    return _FORMS.get(hint) or _member(hint)


def _span(item: Item) -> LineSpan:
    numbers = [each.integer() for each in item.items()]
    if len(numbers) != 2:
        raise Malformed(item.where, "a first line and a number of lines")
    return LineSpan(*numbers)


def _change(item: Item) -> Change:
    """A change; an older afterd did not say where a file had been."""
    read: Change = _CHANGE.read(item)
    return replace(read, old_file=read.old_file or read.file)


def _seconds(item: Item) -> object:
    return _SECONDS.read(item or Item({}, ""))


def _causes(item: Item) -> tuple[CauseNode, ...]:
    """What is deeper than a comment shows is not read."""
    is_read = item.where.count(".causes") <= RECEIVED.deepest
    return tuple(map(_TREE.read, item.items(RECEIVED.causes))) if is_read else ()


def _votes(item: Item) -> Mapping[str, float]:
    return {name: vote.real() for name, vote in item.entries().items()}


_TEXT, _KNOWN_TEXT = _Form(_as_is, Item.text), _Form(_or_null, Item.text)
_PATH, _KNOWN_PATH = _Form(_as_is, _path), _Form(_or_null, _path)
_WHOLE, _KNOWN_WHOLE = _Form(_as_is, Item.integer), _Form(_or_null, Item.integer)
_COMMIT = _matching_form(COMMIT, COMMIT_IS)
_FORMS: Mapping[object, _Form] = {
    str: _TEXT,
    int: _WHOLE,
    float: _Form(_as_is, Item.real),
    bool: _Form(_as_is, lambda item: bool(item.flag())),
    bool | None: _Form(_as_is, Item.flag),
    LineSpan: _Form(lambda span: [span.start, span.count], _span),
}
_RANGE = _record(RevisionRange, "good bad", good=_COMMIT, bad=_COMMIT)
_COMMANDS = _Form(
    lambda commands: {"build": list(commands[0]), "test": list(commands[1])},
    lambda item: (item["build"].texts(), item["test"].texts()),
)
_FAILURE = _record(
    Failure,
    "kind message file line observed expected",
    file=_KNOWN_PATH,
    line=_KNOWN_WHOLE,
    observed=_KNOWN_TEXT,
    expected=_KNOWN_TEXT,
)
_CHANGE = _record(
    Change,
    "id file old new kind commits patch old_file form symbol",
    id=_matching_form(_CHANGE_ID, "a change id such as c7"),
    file=_PATH,
    commits=_list_form(_COMMIT, RECEIVED.changes),
    old_file=_PATH,
    form=_member(ChangeForm, ChangeForm.HUNK),
    symbol=_KNOWN_TEXT,
)
_CHANGES = _list_form(_Form(_CHANGE.written, _change), RECEIVED.changes)
_STEP = _record(
    TreeStep,
    "file line text observed green change evidence target was computed undone tested whose",
    file=_PATH,
    observed=_KNOWN_TEXT,
    green=_KNOWN_TEXT,
    change=_Form(_or_null, _optional_form(_matching_form(_CHANGE_ID, "a change id"), "").read),
    target=_KNOWN_TEXT,
    was=_KNOWN_TEXT,
    computed=_KNOWN_TEXT,
    undone=_KNOWN_TEXT,
    whose=_Form(_or_null, _optional_form(_matching_form(_CHANGE_ID, "a change id"), "").read),
)
_TREE: _Form = _record(
    CauseNode,
    "predicate file line evidence steps causes",
    file=_PATH,
    evidence=_member(Evidence, Evidence.INFERRED),
    steps=_list_form(_STEP),
    causes=_Form(lambda causes: list(map(_TREE.written, causes)), _causes),
)
_RANKED = _record(RankedLine, "file line score votes text", file=_PATH, votes=_Form(dict, _votes))
_SECONDS = _record(Seconds, "total build test trace solve story")
_RUNS = _record(
    RunCounts,
    "tests builds cached smt_calls seconds confirmation warm interventions",
    seconds=_Form(_SECONDS.written, _seconds),
)
_EXPLANATION = _record(
    Explanation,
    "id test status failure root auxiliary minimal verified changes tree ranking runs notes reason"
    " range strategy out_of_budget",
    failure=_optional_form(_FAILURE),
    root=_CHANGES,
    auxiliary=_CHANGES,
    changes=_optional_form(_record(ChangeCounts, "total pruned executed"), ChangeCounts()),
    tree=_optional_form(_TREE),
    ranking=_list_form(_RANKED),
    runs=_optional_form(_RUNS, RunCounts()),
    notes=_list_form(_TEXT, RECEIVED.notes),
    reason=_KNOWN_TEXT,
    range=_optional_form(_RANGE),
    strategy=_matching_form(_STRATEGY, "the name of a strategy"),
)
