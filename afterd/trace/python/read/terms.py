"""Expressions as terms over the rows they read.

Modelled: integers, booleans, strings, and comparisons of tuples and lists of them written as
displays. All else is Concrete: the value that was seen, depending on what was read to get it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import cast

from afterd.limits import PYTHON_TRACE
from afterd.model.term import (
    BOOL,
    INT,
    OPAQUE,
    STRING,
    Apply,
    Concrete,
    Const,
    Free,
    Op,
    Read,
    Sort,
    SortKind,
    Term,
    reads,
)
from afterd.trace.python.read.cells import Cells
from afterd.trace.python.read.choices import Choices
from afterd.trace.python.read.collected import collected_elements
from afterd.trace.python.read.comparisons import Comparisons
from afterd.trace.python.read.evaluation import constant
from afterd.trace.python.read.frames import Frame
from afterd.trace.python.read.operands import asked_for_type, looks_inside, operands_of
from afterd.trace.python.read.program import BUILTIN, FRAMES, Node
from afterd.trace.python.read.trace import Trace
from afterd.trace.python.read.tracefile import Recorded
from afterd.trace.python.read.values import (
    UNKNOWN,
    Unknown,
    identity,
    is_container,
    plain_value,
    recorded_items,
    same_object,
    sort_of,
    truth,
)
from afterd.trace.python.record.rows import Kind

_INTEGER = {"Add": Op.ADD, "Sub": Op.SUB, "Mult": Op.MUL, "FloorDiv": Op.SDIV, "Mod": Op.SREM}
_DISPLAYS = frozenset({"List", "Tuple", "Dict"})
_CHOOSES = frozenset({"Call", "IfExp", "Subscript"})
"""Where a function is called by one of these, what it reads chose the function."""


class Terms:
    """Builds terms in one trace."""

    def __init__(self, trace: Trace, cells: Cells) -> None:
        self.trace = trace
        self.cells = cells
        self.comparisons = Comparisons(self)
        self.choices = Choices(self, trace)
        self._builders: dict[str, Callable[[Node, int, Frame, int], Term]] = {
            "Constant": self._constant,
            "Name": self._name,
            "NamedExpr": self._named,
            "Attribute": self._attribute,
            "Subscript": self._subscript,
            "BinOp": self._binary,
            "UnaryOp": self._unary,
            "BoolOp": self.choices.boolean,
            "IfExp": self.choices.conditional,
            "Compare": self.comparisons.term,
            "JoinedStr": self._joined,
            "Call": self._call,
        }

    # -- building blocks ---------------------------------------------------------------------

    def read(self, row: int, name: str = "", *, value: Recorded | Unknown = UNKNOWN) -> Read:
        """A reading of what the row at a position defined."""
        found = self.defined_value(row) if isinstance(value, Unknown) else value
        return Read(self.trace.number(row), sort_of(found), name, plain_value(found))

    def defined_value(self, row: int) -> Recorded:
        """The value a row's step has: an outcome for a branch, None for an EXIT."""
        kind = self.trace.kind(row)
        if kind is Kind.TRUE:
            node = self.trace.node(row)
            if node is not None and node.type == "ExceptHandler":
                return self.trace.value(row)
            return True
        if kind is Kind.FALSE:
            return False
        if kind in {Kind.EXIT, Kind.ENTER, Kind.SYNC}:
            return self.trace.raised.error(row)
        return self.trace.value(row)

    def concrete(
        self,
        value: Recorded | Unknown,
        reason: str,
        found: Iterable[Read],
        sort: Sort | None = None,
    ) -> Concrete:
        """A value the theory does not follow."""
        known = None if isinstance(value, Unknown) else value
        unique = {read.step: read for read in found}
        kept = tuple(sorted(unique.values(), key=lambda read: read.step)[-PYTHON_TRACE.reads :])
        return Concrete(plain_value(known), sort or sort_of(known), reason, kept)

    # -- expressions -------------------------------------------------------------------------

    def term(
        self, node: Node, position: int, frame: Frame, depth: int = PYTHON_TRACE.depth
    ) -> Term:
        """The expression at ``node`` as it was evaluated at or before a position in ``frame``."""
        if not depth:
            return self.concrete(
                self.cells.value_of(node, position, frame),
                "an expression nested too deep",
                self.reads_below(node, position, frame),
            )
        if (handed := self._handed(node, position, frame)) is not None:
            return handed
        build = self._builders.get(node.type)
        if build is not None:
            return build(node, position, frame, depth - 1)
        reason = _REASONS.get(node.type, f"{node.type} expression")
        return self.opaque(node, position, frame, reason)

    def condition(self, node: Node, position: int, frame: Frame, *, outcome: bool) -> Term:
        """The truth of an expression, as a BOOL term whose value is ``outcome``."""
        term = self.truth(self.term(node, position, frame), node, position, frame, outcome=outcome)
        if isinstance(term, Concrete) and term.value is None:  # no row said, but the branch did
            return replace(term, value=outcome)
        return term

    def truth(self, term: Term, node: Node, position: int, frame: Frame, *, outcome: bool) -> Term:
        """A term's truth value."""
        match term.sort.kind:
            case SortKind.BOOL:
                return term
            case SortKind.INT:
                return Apply(Op.NE, (term, Const(0, INT)), BOOL)
            case SortKind.STRING:
                return Apply(Op.NE, (Apply(Op.STR_LEN, (term,), INT), Const(0, INT)), BOOL)
        found = [*reads(term)]
        value = self.cells.value_of(node, position, frame)
        if is_container(value):
            found.extend(self.contents(node, position, frame))
        found.extend(self._asked_for_truth(node, position, frame))
        return self.concrete(outcome, "the truth of an object", found, BOOL)

    def _handed(self, node: Node, position: int, frame: Frame) -> Term | None:
        """What a traced callee handed out and this expression received, whatever the syntax."""
        row = self.trace.last_at(node, frame, position + 1)
        if row is None or node.type in {"Name", "Constant"}:
            return None
        returned = self.cells.returned(row, frame)
        if returned is None:
            return None
        received = self.trace.value(row)
        if same_object(self.defined_value(returned), received):
            return self._by_what_was_called(
                self.read(returned, _called_name(node)), node, row, frame
            )
        if node.type == "Call" and self._is_construction(row, frame):
            return None
        handed = dict.fromkeys([*self.cells.handing.all_returned(row, frame), returned])
        handed |= dict.fromkeys(self.cells.written.writers(node, received, row, frame))
        found = [*map(self.read, handed), *self.reads_below(node, position, frame)]
        for each in handed:
            within = self.cells.contents.writes_within(self.defined_value(each), row)
            found += map(self._read_into, within)
        return self.concrete(received, f"{_called_name(node) or 'a call'} calls back", found)

    def _by_what_was_called(self, result: Read, node: Node, row: int, frame: Frame) -> Term:
        """A result also depends on what chose the function: a decorator of its definition; a table that it is in."""
        if node.type != "Call":
            return result
        if node["func"].type in _CHOOSES:
            table = reads(self.term(node["func"], row, frame))
            return self._by_choice(result, table, node["func"].source)
        definition = self.cells.callee(node, row, frame)
        source = self.trace.node(definition) if definition is not None else None
        if definition is None or source is None or not source["decorator_list"]:
            return result
        return self._by_choice(result, (self.read(definition),), source["name"])

    def _by_choice(self, result: Read, chosen_by: Iterable[Read], name: str) -> Term:
        called = self.concrete(True, "what was called", tuple(chosen_by), BOOL)  # noqa: FBT003 # the condition held
        return Apply(Op.ITE, (called, result, Free(f"another {name}", result.sort)), result.sort)

    def _is_construction(self, row: int, frame: Frame) -> bool:
        returned = self.cells.returned(row, frame)
        callee = self.trace.frame(returned) if returned is not None else None
        return callee is not None and callee.node["name"] == "__init__"

    def _constant(self, node: Node, _position: int, _frame: Frame, _depth: int) -> Term:
        value = constant(node["value"])
        return Const(plain_value(value), sort_of(value))

    def _named(self, node: Node, position: int, frame: Frame, depth: int) -> Term:
        return self.term(node["value"], position, frame, depth)

    def _name(self, node: Node, position: int, frame: Frame, _depth: int) -> Term:
        row = self.cells.names.name(node, position, frame)
        if row is not None:
            return self.read(row, node["id"])
        value = self.cells.value_of(node, position, frame)
        why = (
            "a builtin" if node["owner"] == BUILTIN else f"{node['id']} was set where no step shows"
        )
        return self.concrete(value, why, ())

    def _attribute(self, node: Node, position: int, frame: Frame, _depth: int) -> Term:
        row = self.cells.attributes.attribute(node, position, frame)
        if row is not None:
            return self.read(row, node.source)
        why = f"{node.source} was set in code that is not followed"
        return self.opaque(node, position, frame, why)

    def _subscript(self, node: Node, position: int, frame: Frame, depth: int) -> Term:
        row = self.cells.contents.item(node, position, frame)
        if row is not None:
            return self.read(row, node.source)
        key = self.cells.value_of(node["slice"], position, frame)
        display = self.display(node["value"], position, frame)
        if display is not None:
            element, row, home = display
            part = _element(element, key)
            if part is not None:
                chosen = self.term(part, row, home, depth)
                found = [*reads(chosen), *self.reads_below(node, position, frame), self.read(row)]
                return self.concrete(
                    self.cells.value_of(node, position, frame), f"{node.source}: an item", found
                )
        return self.opaque(node, position, frame, f"{node.source}: an item")

    def display(self, node: Node, position: int, frame: Frame) -> tuple[Node, int, Frame] | None:
        """The list, tuple or dict display a name stands for, and where it was evaluated; None where something was
        written into it since.
        """
        if node.type in _DISPLAYS:
            return node, position, frame
        if node.type != "Name":
            return None
        row = self.cells.names.name(node, position, frame)
        source = self.trace.node(row) if row is not None else None
        home = self.trace.frame(row) if row is not None else None
        if row is None or source is None or home is None or source.type not in _DISPLAYS:
            return None
        written = self.cells.contents.content_writes(self.trace.value(row), position)
        return None if written else (source, row, home)

    def _binary(self, node: Node, position: int, frame: Frame, depth: int) -> Term:
        left = self.term(node["left"], position, frame, depth)
        right = self.term(node["right"], position, frame, depth)
        if left.sort == right.sort == INT and node["op"] in _INTEGER:
            return Apply(_INTEGER[node["op"]], (left, right), INT)
        if left.sort == right.sort == STRING and node["op"] == "Add":
            return Apply(Op.STR_CONCAT, (left, right), STRING)
        return self.opaque(node, position, frame, f"{node['op']} on values that are not modelled")

    def _unary(self, node: Node, position: int, frame: Frame, depth: int) -> Term:
        operand = node["operand"]
        term = self.term(operand, position, frame, depth)
        if node["op"] == "Not":
            known = self.outcome(node, position, frame)
            negated = isinstance(known, bool) and not known
            inner = self.truth(term, operand, position, frame, outcome=negated)
            return Apply(Op.NOT, (inner,), BOOL)
        if node["op"] == "USub" and term.sort == INT:
            return Apply(Op.NEG, (term,), INT)
        return self.opaque(node, position, frame, f"{node['op']} on a value that is not modelled")

    def outcome(self, node: Node, position: int, frame: Frame) -> bool | Unknown:
        """A condition's truth where a row tells it."""
        value = self.cells.value_of(node, position, frame)
        if not isinstance(value, Unknown):
            known = truth(value)
            return UNKNOWN if known is None else known
        parent = node.parent
        if parent is not None and parent.type in {"If", "While"}:
            row = self.trace.next_in_frame(frame, position - 1)
            if row is not None and self.trace.node(row) is parent:
                return self.trace.kind(row) is Kind.TRUE
        return UNKNOWN

    # -- strings and calls -------------------------------------------------------------------

    def _joined(self, node: Node, position: int, frame: Frame, depth: int) -> Term:
        parts: list[Term] = []
        for part in node["values"]:
            plainly = part.type == "Constant" or (
                part["conversion"] == -1 and part["format_spec"] is None
            )
            inner = part if part.type == "Constant" else part["value"]
            term = self.term(inner, position, frame, depth)
            if not plainly or term.sort != STRING:
                return self.opaque(node, position, frame, "a formatted string")
            parts.append(term)
        if len(parts) < 2:
            return parts[0] if parts else Const("", STRING)
        result = parts[0]
        for part in parts[1:]:
            result = Apply(Op.STR_CONCAT, (result, part), STRING)
        return result

    def _call(self, node: Node, position: int, frame: Frame, depth: int) -> Term:
        function, arguments = node["func"], node["args"]
        if function.type == "Name" and function["owner"] == BUILTIN and len(arguments) == 1:
            term = self.term(arguments[0], position, frame, depth)
            if function["id"] == "len" and term.sort == STRING:
                return Apply(Op.STR_LEN, (term,), INT)
            if (function["id"], term.sort) in {("int", INT), ("str", STRING), ("bool", BOOL)}:
                return term
        row = self._looked_up(node, position, frame)
        if row is not None:
            return self.read(row, node.source)
        if function.type == "Attribute" and len(arguments) == 1 and not node["keywords"]:
            modelled = self._string_method(function, arguments[0], position, frame, depth)
            if modelled is not None:
                return modelled
        return self.opaque(node, position, frame, f"the result of {_called_name(node)}()")

    def _looked_up(self, node: Node, position: int, frame: Frame) -> int | None:
        """``getattr(x, name)`` and ``d.get(key)`` by the row that wrote what they found."""
        function, arguments = node["func"], node["args"]
        if function.type == "Name" and function["id"] == "getattr" and len(arguments) > 1:
            owner = self.cells.value_of(arguments[0], position, frame)
            name = self.cells.value_of(arguments[1], position, frame)
            found = self.cells.value_of(node, position, frame)
            if isinstance(name, str) and not isinstance(owner, Unknown):
                return self.cells.attributes.attribute_of(owner, name, position, found)
        if function.type == "Attribute" and function["attr"] == "get" and arguments:
            owner = self.cells.value_of(function["value"], position, frame)
            key = self.cells.value_of(arguments[0], position, frame)
            found = self.cells.value_of(node, position, frame)
            if isinstance(owner, tuple) and owner[0] == "d" and not isinstance(key, Unknown):
                return self.cells.contents.item_of(owner, key, position, found)
        return None

    def _string_method(
        self, function: Node, argument: Node, position: int, frame: Frame, depth: int
    ) -> Term | None:
        operation = {"startswith": Op.STR_PREFIX, "endswith": Op.STR_SUFFIX}.get(function["attr"])
        if operation is None:
            return None
        text = self.term(function["value"], position, frame, depth)
        part = self.term(argument, position, frame, depth)
        if text.sort == part.sort == STRING:
            return Apply(operation, (text, part), BOOL)
        return None

    # -- what is not followed ----------------------------------------------------------------

    def opaque(self, node: Node, position: int, frame: Frame, reason: str) -> Concrete:
        """What an expression gave that the theory does not follow, for a reason."""
        value = self.cells.value_of(node, position, frame)
        sort = BOOL if node.type == "Compare" else None
        found = [*self.opaque_reads(node, position, frame), *self._origin(value, position)]
        found.extend(map(self.read, self.cells.written.writers(node, value, position, frame)))
        return self.concrete(value, reason, found, sort)

    def _origin(self, value: Recorded | Unknown, position: int) -> Iterator[Read]:
        """Where an object that an opaque expression gave was born, if it is not here."""
        if not isinstance(value, Unknown):
            born = self.cells.births.made(value, position)
            if born is not None and born < position - 1 and self.trace.node(born) is not None:
                yield self.read(born)

    def opaque_reads(self, node: Node, position: int, frame: Frame) -> Iterator[Read]:
        """Everything an opaque expression may have looked at: operands and what is in them."""
        below = list(self.reads_below(node, position, frame))
        asked = self._read_for_type(node, position, frame)
        once = asked is not None and [read.step for read in below].count(asked.step) == 1
        for read in below:
            yield replace(read, of_type=True) if once and read == asked else read
        if node.type == "Compare" and self.trace.last_at(node, frame, position + 1) is None:
            implicit = self.cells.returned(position, frame)  # an __eq__ that no row received
            if implicit is not None:
                yield self.read(implicit)
        if node.type == "IfExp":
            yield from self._asked_for_truth(node["test"], position, frame)
        yield from map(self.read, collected_elements(self.trace, node, position, frame))
        looked_into = operands_of(node) if looks_inside(node) else ()
        if node.type == "Attribute":
            owner = self.cells.value_of(node["value"], position, frame)
            looked_into = (node["value"],) if self.cells.contents.is_mock(owner) else ()
        for child in looked_into:
            yield from self.contents(child, position, frame)
        if (kept := self.cells.contents.kept_method(node, position, frame)) is not None:
            yield from self.contents(*kept)

    def _asked_for_truth(self, operand: Node, position: int, frame: Frame) -> Iterator[Read]:
        given = self.cells.asked_for_truth(operand, position, frame)
        return iter(()) if given is None else iter([self.read(given)])

    def _read_for_type(self, node: Node, position: int, frame: Frame) -> Read | None:
        """The reading of the object of which an expression asks for no more than its type."""
        asked = asked_for_type(node)
        whole = self.term(asked, position, frame, 1) if asked is not None else None
        return whole if isinstance(whole, Read) and whole.sort == OPAQUE else None

    def reads_below(self, node: Node, position: int, frame: Frame) -> Iterator[Read]:
        """The definitions read by the parts of an expression."""
        for child in operands_of(node):
            if child.type in FRAMES:
                continue
            row = self.trace.last_at(child, frame, position + 1)
            if (
                child.type in {"Constant", "Starred", "keyword"}
                or row is None
                or child.type == "Name"
            ):
                term_reads = (
                    reads(self.term(child, position, frame, 1)) if child.type == "Name" else ()
                )
                yield from term_reads
                if child.type != "Name":
                    yield from self.reads_below(child, position, frame)
                continue
            yield from reads(self.term(child, row, frame, 3))

    def contents(self, node: Node, position: int, frame: Frame) -> Iterator[Read]:
        """The writes into the mutable object that an expression stands for, and into the containers in it: who looks
        into a container looks into those.
        """
        value = self.cells.value_of(node, position, frame)
        if isinstance(value, Unknown):
            for part in operands_of(node) if node.type in _DISPLAYS else ():
                yield from self.contents(part, position, frame)
            return
        if identity(value) is not None:
            yield from map(self._read_into, self._writes_into(value, position))
        within = self.cells.contents.writes_within(value, position)
        yield from map(self._read_into, within)
        parent = node.parent
        compared = parent is not None and parent.type == "Compare"
        for part in recorded_items(value) if compared else ():
            if identity(part) is not None:
                written = self.cells.attributes.attribute_writes(part, position, limit=4)
                yield from map(self._read_into, written)

    def _read_into(self, row: int) -> Read:
        return replace(self.read(row), into=True)

    def _writes_into(self, owner: Recorded, position: int) -> Iterator[int]:
        """The writes into an object: its items, its attributes and the containers that these hold, and what may have
        changed it unseen.
        """
        contents = self.cells.contents
        yield from contents.content_writes(owner, position)
        for row in self.cells.attributes.attribute_writes(owner, position):
            yield row
            held = self.cells.attributes.stored(row)
            if is_container(held):
                yield from contents.content_writes(held, position, limit=4)
        yield from contents.unseen_writes(owner, position)


def _element(display: Node, key: Recorded | Unknown) -> Node | None:
    """The expression in a display that a key selects."""
    if display.type == "Dict":
        for name, value in zip(display["keys"], display["values"], strict=True):
            if name is not None and name.type == "Constant" and constant(name["value"]) == key:
                return cast("Node", value)
        return None
    items = display["elts"]
    plainly = isinstance(key, int) and not any(item.type == "Starred" for item in items)
    if plainly and -len(items) <= cast("int", key) < len(items):
        return cast("Node", items[cast("int", key)])
    return None


def _called_name(node: Node) -> str:
    return node["func"].source if node.type == "Call" else ""


_REASONS = {
    "List": "a list",
    "Dict": "a dict",
    "Set": "a set",
    "Tuple": "a tuple",
    "ListComp": "a list comprehension",
    "SetComp": "a set comprehension",
    "DictComp": "a dict comprehension",
    "GeneratorExp": "a generator",
    "Lambda": "a function",
    "Await": "an awaited result",
    "Yield": "what was sent to a generator",
    "Starred": "an unpacked value",
}
