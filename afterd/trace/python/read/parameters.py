"""What a parameter got: the caller's argument, the default, a fixture's value."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from afterd.limits import PYTHON_TRACE
from afterd.model.term import Read, Term, reads
from afterd.trace.python.read.cells import Cells
from afterd.trace.python.read.frames import Frame
from afterd.trace.python.read.program import Node
from afterd.trace.python.read.stores import (
    Store,
    assigned_to,
    assigned_type,
    store_calling,
    stores_in,
    stores_of,
)
from afterd.trace.python.read.terms import Terms
from afterd.trace.python.read.trace import Trace
from afterd.trace.python.read.tracefile import Recorded
from afterd.trace.python.read.values import Unknown, same_object
from afterd.trace.python.record.rows import Kind


class Parameters:
    """Links parameters to arguments. A link is believed when both have the same value."""

    def __init__(self, trace: Trace, cells: Cells, terms: Terms) -> None:
        self.trace = trace
        self.cells = cells
        self.terms = terms
        self._stores: dict[Node, list[Store]] = {}  # by the function whose they are

    def term(self, position: int) -> Term:
        """What the parameter whose row is at ``position`` was bound to."""
        node, frame = self.trace.node(position), self.trace.frame(position)
        assert node is not None
        assert frame is not None
        value = self.trace.value(position)
        name = node["arg"]
        call = self.call_site(frame)
        if call is None:
            return self._from_outside(name, position, frame)
        row, expression, caller = call
        argument = self.argument(position, expression, caller)
        if argument is not None:
            return self.terms.term(argument, frame.entered, caller)
        spread = list(self._spread(expression, frame.entered, caller))
        default = self._default(node, frame)
        if default is not None and same_object(self.trace.value(default), value):
            taken = self.terms.read(default, name)
            if not spread:
                return taken
            return self.terms.concrete(
                value, f"{name}: not among what is passed on", [taken, *spread]
            )
        found = [
            *self._receiver(expression, row, caller),
            *self._all(expression, row, caller),
            *spread,
        ]
        return self.terms.concrete(value, f"{name}: passed on by {expression.source[:40]}", found)

    def given(self, position: int) -> str | None:
        """The text of what the parameter whose row is at ``position`` was given in its call; empty where its default
        stands, and None where no call of the program is known. Of one that takes the rest it is that of all arguments.
        """
        frame = self.trace.frame(position)
        call = None if frame is None else self.call_site(frame)
        if call is None:
            return None
        _, expression, caller = call
        argument = self.argument(position, expression, caller)
        if argument is not None:
            return argument.source
        if expression.type != "Call" or self.is_default(position):
            return ""
        words = (word["value"] for word in expression["keywords"])
        return ", ".join(each.source for each in (*expression["args"], *words))

    def is_default(self, position: int) -> bool:
        """Whether the parameter whose row is at ``position`` has its default's value."""
        node, frame = self.trace.node(position), self.trace.frame(position)
        default = None if node is None or frame is None else self._default(node, frame)
        if default is None:
            return False
        return same_object(self.trace.value(default), self.trace.value(position))

    # -- the caller --------------------------------------------------------------------------

    def call_site(self, frame: Frame) -> tuple[int, Node, Frame] | None:
        """(row at or after the call, its node, the caller's frame); None when nobody is known."""
        if is_generator(frame.node):
            return self._generator_call(frame)
        caller = frame.parent
        if caller is None:
            return None
        after = frame.left if frame.left is not None else frame.entered
        row = self.trace.next_in_frame(caller, after)
        node = self.trace.node(row) if row is not None else None
        if node is None or node.type != "Call" or _last_name(node["func"]) != frame.node["name"]:
            stored = self._store_calling(frame, caller)
            if stored is not None:
                return frame.entered, stored.target, caller
        if row is not None and node is not None and row > frame.entered:
            parent = node.parent
            if parent is not None and parent.type == "AugAssign" and node is parent["target"]:
                node = parent
            if node.type in _CALLING:
                return row, node, caller
        return self._interrupted_call(frame, caller)

    def _interrupted_call(self, frame: Frame, caller: Frame) -> tuple[int, Node, Frame] | None:
        """The callee never came back: a call of its name in the statement that was under way, or in
        the next one that has such a call, where the exception left the caller without a row.
        """
        statement = self.statement_at(caller, frame.entered)
        if statement is None:
            return None
        name = _callable_name(frame.node)
        calls = [node for node in statement.walk() if node.type == "Call"]
        following = (
            node
            for node in caller.node.walk()
            if node.type == "Call" and node.frame is caller.node and node.line > statement.end_line
        )
        named = (node for node in (*calls, *following) if _last_name(node["func"]) == name)
        chosen = next(named, next(iter(calls), None))
        return (frame.entered, chosen, caller) if chosen else None

    def _store_calling(self, frame: Frame, caller: Frame) -> Store | None:
        """The assignment that called a method, where one did."""
        kind = assigned_type(frame.node)
        if not kind:
            return None
        if caller.node not in self._stores:
            self._stores[caller.node] = stores_in(caller.node)
        before = self._statement_before(caller, frame.entered)
        return store_calling(kind, self._stores[caller.node], before)

    def _statement_before(self, frame: Frame, position: int) -> Node | None:
        """The statement of a frame's last row before a position."""
        before = self.trace.node(self.trace.previous_in_frame(frame, position))
        return before.statement if before is not None else None

    def statement_at(self, frame: Frame, position: int) -> Node | None:
        """The statement a frame was executing at a position, as far as its rows tell."""
        row = self.trace.next_in_frame(frame, position)
        raising = None if row is None else self.trace.raised.statement(row)
        if raising is not None and self._came_from(position, row):
            return raising
        after = self.trace.node(row) if row is not None else None
        if after is not None and row is not None and self.trace.kind(row) not in _FRAME_KINDS:
            return after.statement
        return self._statement_before(frame, position)

    def _came_from(self, position: int, row: int | None) -> bool:
        """Whether the call at whose beginning a position is was left by the exception that a row tells of."""
        called, error = self.trace.frame(position), self.trace.raised.error(row or 0)
        left = None if called is None else called.left
        return left is not None and same_object(self.trace.raised.error(left), error)

    def _generator_call(self, frame: Frame) -> tuple[int, Node, Frame] | None:
        best: tuple[int, Node, Frame] | None = None
        for node in self._calls_by_name.get(_callable_name(frame.node), ()):
            row = self.trace.last_at(node, None, frame.entered)
            home = self.trace.frame(row) if row is not None else None
            if row is not None and home is not None and (best is None or row > best[0]):
                best = (row, node, home)
        return best

    # -- arguments ---------------------------------------------------------------------------

    def argument(self, position: int, call: Node, caller: Frame) -> Node | None:
        """The expression that the parameter whose row is at ``position`` got: the likeliest that has its value, or of
        which none is known.
        """
        node, frame = self.trace.node(position), self.trace.frame(position)
        assert node is not None
        assert frame is not None
        value = self.trace.value(position)
        for argument in self._arguments(call, node, frame):
            seen = self.cells.value_of(argument, frame.entered, caller)
            if isinstance(seen, Unknown) or same_object(seen, value):
                return argument
        return None

    def _arguments(self, call: Node, parameter: Node, frame: Frame) -> Iterator[Node]:
        """The expressions a parameter may have got, most likely first."""
        stored = next((each for each in stores_of(call.statement) if each.target is call), None)
        if stored is not None:
            given = dict(zip(self._positional(frame), stored.arguments(frame.node), strict=False))
            if (expression := given.get(parameter)) is not None:
                yield expression
            return
        if call.type != "Call":
            operands = [part for name in _OPERANDS if (part := _node(call[name])) is not None]
            operands.extend(call["comparators"] or [])
            first = self._positional(frame)[:1] == [parameter]
            yield from operands if first else reversed(operands)
            return
        for word in call["keywords"]:
            if word["arg"] == parameter["arg"]:
                yield word["value"]
        names = self._positional(frame)
        if parameter not in names:
            return
        index = names.index(parameter) - self._bound(frame)
        given = call["args"]
        if index < 0:
            function = call["func"]
            if function.type == "Attribute":
                yield function["value"]
        elif index < len(given) and all(item.type != "Starred" for item in given[: index + 1]):
            yield given[index]

    @staticmethod
    def _positional(frame: Frame) -> list[Node]:
        arguments = frame.node["args"]
        return [*(arguments["posonlyargs"] or []), *(arguments["args"] or [])]

    @staticmethod
    def _bound(frame: Frame) -> int:
        """1 for a method: the first parameter is the receiver."""
        node = frame.node
        owner = node.parent
        if owner is None or owner.type != "ClassDef" or node.type == "Lambda":
            return 0
        decorators = {_last_name(item) for item in node["decorator_list"]}
        return 0 if "staticmethod" in decorators else 1

    def _default(self, parameter: Node, frame: Frame) -> int | None:
        arguments = frame.node["args"]
        names = self._positional(frame)
        defaults = arguments["defaults"] or []
        expression = None
        if parameter in names:
            index = names.index(parameter) - len(names) + len(defaults)
            expression = defaults[index] if index >= 0 else None
        elif parameter in (arguments["kwonlyargs"] or []):
            keyword_only = arguments["kwonlyargs"].index(parameter)
            expression = arguments["kw_defaults"][keyword_only]
        return None if expression is None else self.trace.last_at(expression, None, frame.entered)

    def _receiver(self, call: Node, row: int, caller: Frame) -> Iterator[Read]:
        function = call["func"]
        if isinstance(function, Node):
            yield from reads(self.terms.term(function, row, caller, 3))

    def _all(self, call: Node, row: int, caller: Frame) -> Iterator[Read]:
        """All that a call is made of; of an assignment also what is assigned."""
        yield from self.terms.reads_below(call, row, caller)
        if (assigned := assigned_to(call)) is not None:
            yield from self.terms.reads_below(assigned, row, caller)

    def _spread(self, call: Node, entered: int, caller: Frame) -> Iterator[Read]:
        """The containers that a call hands over item by item (``*args``, ``**options``), and what was put into them."""
        words = [word["value"] for word in call["keywords"] or [] if word["arg"] is None]
        items = [item["value"] for item in call["args"] or [] if item.type == "Starred"]
        for part in (*items, *words):
            yield from reads(self.terms.term(part, entered, caller, 3))
            yield from self.terms.contents(part, entered, caller)

    def _from_outside(self, name: str, position: int, frame: Frame) -> Term:
        """Called by code that is not followed: a test runner (fixtures), a callback."""
        value = self.trace.value(position)
        handed = self._handed_by_name.get(name, [])
        for index in range(bisect_left(handed, position) - 1, -1, -1):
            if same_object(self.terms.defined_value(handed[index]), value):
                return self.terms.read(handed[index], name)
        found = self._seen_by_caller(value, frame)
        if (definition := self.trace.last_at(frame.node, None, position)) is not None:
            found.append(self.terms.read(definition))
        return self.terms.concrete(value, f"{name}: called by code that is not followed", found)

    def _seen_by_caller(self, value: Recorded, frame: Frame) -> list[Read]:
        """Where the calling activation had an object or a text that it handed over by an operation that left no row:
        ``self[name]`` that raised.
        """
        caller = frame.parent
        if caller is None or not (isinstance(value, (str, tuple)) and value):
            return []
        index = bisect_left(caller.rows, frame.entered)
        for row in reversed(caller.rows[max(0, index - PYTHON_TRACE.candidates) : index]):
            if same_object(self.terms.defined_value(row), value):
                return [self.terms.read(row)]
        return []

    @cached_property
    def _handed_by_name(self) -> Mapping[str, Sequence[int]]:
        """The rows at which a function of each name handed something on, in order."""
        found: dict[str, list[int]] = {}
        for row in self.cells.handing.rows:
            source = self.trace.frame(row)
            if source is not None:
                found.setdefault(str(source.node["name"]), []).append(row)
        return found

    @cached_property
    def _calls_by_name(self) -> Mapping[str, Sequence[Node]]:
        """The calls in all modules, by the last name of what is called."""
        found: dict[str, list[Node]] = {}
        for module in self.trace.all_modules():
            for node in module.of_type("Call"):
                found.setdefault(_last_name(node["func"]), []).append(node)
        return found


def is_generator(function: Node) -> bool:
    """Whether calling a function only makes an object that runs it later."""
    if function.type not in {"FunctionDef", "AsyncFunctionDef"}:
        return False
    if function.type == "AsyncFunctionDef":
        return True
    return bool(function.yields)


def takes_the_rest(parameter: Node) -> bool:
    """Whether a parameter takes what is given by name and has no parameter of its own: ``**options``."""
    arguments = parameter.parent
    return (
        arguments is not None and arguments.type == "arguments" and arguments["kwarg"] is parameter
    )


def _callable_name(function: Node) -> str:
    name = str(function["name"] or "")
    owner = function.parent
    if name in {"__init__", "__new__", "__post_init__"} and owner is not None:
        return str(owner["name"] or name)
    return name


def _last_name(function: Node) -> str:
    match function.type:
        case "Name":
            return str(function["id"])
        case "Attribute":
            return str(function["attr"])
        case "Call":
            return _last_name(function["func"])
    return ""


def _node(value: object) -> Node | None:
    return value if isinstance(value, Node) else None


_CALLING = frozenset(
    {"Call", "Attribute", "Subscript", "BinOp", "UnaryOp", "Compare", "Await", "AugAssign"}
)
_OPERANDS = ("left", "target", "value", "operand", "slice", "right")
_FRAME_KINDS = frozenset({Kind.ENTER, Kind.EXIT, Kind.SYNC})
