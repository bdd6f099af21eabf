"""Changes that act through what the failing run did *not* do, read off the green run, or through
what green could not do.

By which names a value is known: ``__contains__ = __call__ = fail``.

A name more is another way to reach a function, often one that no code says: Python itself looks
``__contains__`` up.

Which changes altered the statement of a row, and which removed one of the good version.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from afterd.compare.python.alignment import Alignment
from afterd.compare.python.matching import Matching
from afterd.limits import PYTHON_PAIR
from afterd.model.change import Change, ChangeForm, ChangeId
from afterd.model.term import reads
from afterd.trace.linemap import LineMap
from afterd.trace.python.read import (
    BLOCKS,
    FRAMES,
    FUNCTIONS,
    Node,
    Recorded,
    Steps,
    Trace,
    is_container,
    recorded_pairs,
    takes_the_rest,
)
from afterd.trace.python.record.describe import CUT
from afterd.trace.python.record.rows import OUTCOMES, Kind


def targets(value: Node) -> frozenset[str]:
    """The plain names that an assigned expression is bound to."""
    statement = value.statement
    if value is not statement["value"]:
        return frozenset()
    bound = statement["targets"] or []
    return frozenset(str(each["id"]) for each in bound if each.type == "Name")


def is_special(name: str) -> bool:
    """Whether Python itself looks a name up, in a class."""
    return name.startswith("__") and name.endswith("__")


def other_names(function: Node, matching: Matching) -> Iterator[Node]:
    """Where a function is bound to names beside its own, in its class or module, that its
    counterpart of the other version is not bound to there.
    """
    scope = function.parent["body"] if function.parent is not None else None
    if function.type not in FUNCTIONS or not isinstance(scope, list):
        return
    for statement in scope:
        value = statement["value"] if statement.type == "Assign" else None
        if isinstance(value, Node) and value.type == "Name" and value["id"] == function["name"]:
            twin = matching.good.get(value)
            if twin is None or targets(value) - targets(twin):
                yield value


_OWN_LINES = frozenset({"arg", "alias", "keyword"})
_JUMPS = frozenset({"Break", "Continue", "Raise", "Return"})
_SILENT = frozenset({"AnnAssign", "Global", "Nonlocal", "Try", "TryStar", "TypeAlias"})


class Ties:
    """Ties by lines: a change belongs to what stands in its lines, in either version."""

    def __init__(self, changes: Sequence[Change], lines: LineMap) -> None:
        self._lines = lines
        self._placed = {
            change.file: change.id
            for change in changes
            if change.form in {ChangeForm.RENAMED, ChangeForm.ADDED}
        }
        self._found: dict[tuple[Node, bool], tuple[ChangeId, ...]] = {}

    def of_row(self, trace: Trace, position: int) -> tuple[ChangeId, ...]:
        """The changes that altered what a row of the failing run recorded."""
        node = trace.node(position)
        if node is None:
            return ()
        if trace.kind(position) is Kind.ENTER and node.type == "Module":
            placed = self._placed.get(node.module.path)
            return (placed,) if placed else ()
        return self.of_node(node)

    def of_node(self, node: Node) -> tuple[ChangeId, ...]:
        """The changes in a node's own lines of the bad version."""
        return self._in(node, bad=True)

    def removed(self, node: Node) -> tuple[ChangeId, ...]:
        """The changes that removed or altered a node of the good version."""
        return self._in(node, bad=False)

    def _in(self, node: Node, *, bad: bool) -> tuple[ChangeId, ...]:
        found = self._found.get((node, bad))
        if found is None:
            changes_in = self._lines.changes_in_bad if bad else self._lines.changes_in_good
            path = node.module.path
            ids = [
                change for first, last in spans(node) for change in changes_in(path, first, last)
            ]
            found = self._found[node, bad] = tuple(dict.fromkeys(ids))
        return found


def spans(node: Node) -> list[tuple[int, int]]:
    """The lines that are a node's own: a compound statement's without its blocks.

    Parts of a statement over several lines are tied by their own lines where they have a row.
    A statement that leaves no row itself (``x: int`` in a class body, ``else:``) belongs to what
    encloses it.
    """
    if node.type == "Module":
        return []
    if node.type in _OWN_LINES:
        return [(node.line, node.end_line)]
    statement = node.statement
    if not _stands_for(node, statement):
        return [(node.line, node.end_line)]
    found = [header(statement)]
    if statement.type in FRAMES:
        found.extend(header(child) for child in statement["body"] if _is_silent(child))
    parent = statement.parent
    if parent is not None and parent.type in {"Try", "TryStar"} and parent["body"][0] is statement:
        found.append((parent.line, parent.line))
    return found


def _is_silent(statement: Node) -> bool:
    return statement.type in _SILENT and statement["value"] is None and statement["body"] is None


def header(statement: Node) -> tuple[int, int]:
    """First and last line of a statement without its blocks; decorators included."""
    first = statement.line
    decorators = statement["decorator_list"]
    if decorators:
        first = min(first, *(item.line for item in decorators))
    last = statement.end_line
    for name in BLOCKS:
        block = statement[name]
        if isinstance(block, list) and block:
            start = min(child.line for child in block)
            last = min(last, max(statement.line, start - 1 if start > statement.line else start))
            for child in block[:1]:
                if child["decorator_list"]:
                    top = min(item.line for item in child["decorator_list"])
                    last = min(last, max(statement.line, top - 1))
    return first, last


def _stands_for(node: Node, statement: Node) -> bool:
    """Whether a row at ``node`` is the row of its whole statement."""
    if node is statement or statement.line == header(statement)[1]:
        return True
    parent = node.parent
    if parent is statement:
        return node in (statement["value"], statement["test"], statement["exc"]) or bool(
            node["store"]
        )
    return False


def _parameters(rest: Node) -> dict[str, Node]:
    """The parameters beside it that can be given by name."""
    arguments = rest.parent
    assert arguments is not None
    return {each["arg"]: each for each in (*arguments["args"], *arguments["kwonlyargs"])}


def _may_hold(options: Recorded, name: str) -> bool:
    """Whether a recorded dictionary has this key, as far as it was recorded."""
    pairs = recorded_pairs(options)
    return pairs is not None and (CUT in options or any(key == name for key, _ in pairs))


class Absence:
    """Walks green from a row's counterpart over what the failing run had not done by then."""

    def __init__(self, alignment: Alignment, green: Steps, ties: Ties) -> None:
        self.alignment = alignment
        self.inverse = Alignment(green.trace, alignment.bad, alignment.matching.inverted())
        self.green = green
        self.ties = ties
        self._sources_of: dict[int, Sequence[int]] = {}

    def changes(self, position: int) -> Iterator[ChangeId]:
        """The changes that removed or altered what only the green counterpart had."""
        counterpart = self.alignment.row(position)
        if counterpart is None:
            yield from self._around(position)
            yield from self._reached_by(position)
            return
        ended_by_error = self.green.trace.kind(counterpart) is Kind.EXIT
        if ended_by_error:
            yield from self._around(position)
        yield from self._own(counterpart)
        yield from self._taken_out(position, counterpart)
        yield from self._called(counterpart)
        yield from self._entered(counterpart)
        pending = [counterpart]
        seen = {counterpart}
        while pending and len(seen) < PYTHON_PAIR.green_rows:
            for row in self._sources(pending.pop(0)):
                if row not in seen:
                    seen.add(row)
                    removed = self._own(row)
                    yield from removed
                    if self._missing(row, position):
                        yield from self._callers(row, position)
                        if not removed:
                            pending.append(row)

    def _own(self, row: int) -> tuple[ChangeId, ...]:
        node = self.green.trace.node(row)
        return self.ties.removed(node) if node is not None else ()

    def _taken_out(self, position: int, counterpart: int) -> Iterator[ChangeId]:
        """For the rest of what a function is given by name, ``**options``: changes to parameters that only one version
        has, and that are or were in it.
        """
        bad, green = self.alignment.bad, self.green.trace
        mine, other = bad.node(position), green.node(counterpart)
        if mine is None or other is None or not (takes_the_rest(mine) and takes_the_rest(other)):
            return
        here, there = _parameters(mine), _parameters(other)
        held, held_there = bad.value(position), green.value(counterpart)
        for name in here.keys() - there.keys():
            if _may_hold(held_there, name):
                yield from self.ties.of_node(here[name])
        for name in there.keys() - here.keys():
            if _may_hold(held, name):
                yield from self.ties.removed(there[name])

    def _called(self, row: int) -> Iterator[ChangeId]:
        """Changes to the definitions of what green called: a decorator that was removed."""
        node, frame = self.green.trace.node(row), self.green.trace.frame(row)
        if node is None or frame is None:
            return
        for part in node.walk():
            if part.type == "Call":
                definition = self.green.cells.callee(part, row, frame)
                if definition is not None:
                    yield from self._own(definition)

    def _entered(self, row: int) -> Iterator[ChangeId]:
        """Changes that removed what only green's call of code that is not followed entered: ``dict(x)`` asks the
        ``__iter__`` and ``keys`` of a class that has them.
        """
        frame = self.green.trace.frame(row)
        if frame is None:
            return
        first = self.green.trace.previous_in_frame(frame, row)
        for child in frame.children:
            if first < child.entered < row and self.inverse.frame(child) is None:
                yield from self.ties.removed(child.node)

    def _sources(self, row: int) -> Sequence[int]:
        """What a green row reads, and the branch that let it happen, each once."""
        if row not in self._sources_of:
            self._sources_of[row] = tuple(dict.fromkeys(self._each_source(row)))
        return self._sources_of[row]

    def _each_source(self, row: int) -> Iterator[int]:
        step = self.green.step(self.green.trace.number(row))
        for read in reads(step.term):
            yield self.green.trace.position(read.step)
        value = self.green.trace.value(row)
        if is_container(value):
            yield from self.green.cells.contents.content_writes(value, row)
        if step.control is not None:
            yield self.green.trace.position(step.control)

    def _missing(self, row: int, position: int) -> bool:
        """Whether the failing run has no counterpart of a green row, or only a later one."""
        mine = self.inverse.row(row)
        return mine is None or mine > position

    def prevented(self, position: int) -> Iterator[int]:
        """The branches by which the failing run did not come to what its counterpart read in green."""
        counterpart = self.alignment.row(position)
        for row in () if counterpart is None else self._sources(counterpart):
            decided: int | None = row
            while decided is not None and self._missing(decided, position):
                decided = self.green.control(decided)
                mine = None if decided is None else self.alignment.opposite(decided)
                if mine is not None and mine < position:
                    yield mine
                    break

    def _callers(self, row: int, position: int) -> Iterator[ChangeId]:
        """Removed statements whose call led to a row, up to an activation that both runs have."""
        frame = self.green.trace.frame(row)
        while frame is not None and frame.parent is not None:
            mine = self.inverse.frame(frame)
            if mine is not None and mine.entered <= position:
                return
            calling = self.green.parameters.statement_at(frame.parent, frame.entered)
            if calling is not None:
                yield from self.ties.removed(calling)
            frame = frame.parent

    def _reached_by(self, position: int) -> Iterator[ChangeId]:
        """For a row that green never reached: the names by which its function is known here alone."""
        frame = self.alignment.bad.frame(position)
        if frame is not None:
            for value in other_names(frame.node, self.alignment.matching):
                yield from self.ties.of_node(value)

    def _around(self, position: int) -> Iterator[ChangeId]:
        """For a row that green never reached: the removed guards its activation passed in green, and the removed
        statements by which that left the way to here.
        """
        frame = self.alignment.bad.frame(position)
        green = self.alignment.frame(frame) if frame is not None else None
        if green is None:
            return
        for row in reversed(green.rows[-PYTHON_PAIR.green_rows :]):
            node = self.green.trace.node(row)
            if node is not None and self._turned(node, row):
                yield from self.ties.removed(node)

    def _turned(self, node: Node, row: int) -> bool:
        """Whether a row of green is of a branch or a jump that the bad version does not have."""
        branch = self.green.trace.kind(row) in OUTCOMES
        turns = node if branch else node.statement
        return (branch or turns.type in _JUMPS) and turns not in self.alignment.matching.bad
