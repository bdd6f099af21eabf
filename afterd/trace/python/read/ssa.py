"""Rows as steps in SSA form: what each defined, by which term, and which branch decided it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from afterd.model.location import Location
from afterd.model.term import BOOL, OPAQUE, Apply, Concrete, Const, Op, Read, Term, reads
from afterd.model.trace import ANOTHER_ITEM, NO_ITEM, RAISES, Step, StepKind
from afterd.trace.python.read.cells import Cells
from afterd.trace.python.read.flow import Flow
from afterd.trace.python.read.frames import Frame
from afterd.trace.python.read.methods import function_for_effect
from afterd.trace.python.read.parameters import Parameters
from afterd.trace.python.read.program import FUNCTIONS, Node, qualified_name
from afterd.trace.python.read.terms import Terms
from afterd.trace.python.read.trace import Trace
from afterd.trace.python.read.tracefile import Recorded
from afterd.trace.python.read.values import Unknown, plain_value, render, same_object, sort_of
from afterd.trace.python.record.rows import OUTCOMES, Kind

_OF_AN_OBJECT = frozenset({"Attribute", "Subscript"})
_ITERATING = frozenset({"For", "AsyncFor", "comprehension"})
_ITEMS = {Kind.TRUE: ANOTHER_ITEM, Kind.FALSE: NO_ITEM}
_INITIAL = "a value from before the recorded window"


class Steps:
    """Steps of one trace, made when they are asked for; a step's id is its row number."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.cells = Cells(trace)
        self.flow = Flow()
        self.terms = Terms(trace, self.cells)
        self.parameters = Parameters(trace, self.cells, self.terms)
        self._made: dict[int, Step] = {}
        self._control: dict[int, int | None] = {}

    def step(self, number: int) -> Step:
        """The step with this id; raises KeyError for an id outside the window."""
        position = self.trace.position(number)
        found = self._made.get(position)
        if found is None:
            found = self._made[position] = self._make(number, position)
        return found

    def effect(self, position: int) -> Recorded:
        """What a step did: the value it defined; for a call by itself, what it was given.

        ``items.append(x)`` returns None whatever happens; two runs of it did the same when they
        appended the same.
        """
        node, frame = self.trace.node(position), self.trace.frame(position)
        value = self.terms.defined_value(position)
        taken = value is not None and (node is None or function_for_effect(node) is None)
        if node is None or frame is None or taken:
            return value
        if self._kind(node, position) is not StepKind.OPAQUE:
            return value
        given = [self._argument(part, position, frame) for part in node["args"]]
        named = [
            ("t", word["arg"], self._argument(word["value"], position, frame))
            for word in node["keywords"]
        ]
        return ("t", *given, *named)

    def _argument(self, part: Node, position: int, frame: Frame) -> Recorded:
        """What a call was given; as good as nothing where that is not known."""
        value = self.cells.value_of(part, position, frame)
        return ("n",) if isinstance(value, Unknown) else value

    def rendered(self, position: int) -> str:
        """What a step did, as a person reads it."""
        node, kind = self.trace.node(position), self.trace.kind(position)
        if node is not None and node.type in _ITERATING and kind in _ITEMS:
            return _ITEMS[kind]
        text = render(self.effect(position), self.trace.raw.header["types"])
        text = self.trace.addresses.masked(text)
        return f"{RAISES}{text}" if self.has_raised(position) else text

    def target(self, position: int) -> str:
        """What a row's statement calls the value: a variable, ``return``; empty where it has no name."""
        node = self.trace.node(position)
        return "" if node is None else _target(node, self.trace.kind(position))

    def has_raised(self, position: int) -> bool:
        """Whether the row's statement raised."""
        raises = self.trace.kind(position) is Kind.RAISE
        return raises or self.trace.raised.statement(position) is not None

    def other_way(self, branch: int) -> Term:
        """The condition under which a branch would have gone its other way."""
        step = self.step(self.trace.number(branch))
        return Apply(Op.NOT, (step.term,), BOOL) if step.value else step.term

    def owners(self, position: int) -> Iterator[Read]:
        """Where the objects came from of which a row's expression read an attribute or an item."""
        node, frame = self.trace.node(position), self.trace.frame(position)
        if node is None or frame is None:
            return
        for part in node.walk():
            if part.type in _OF_AN_OBJECT and not part["store"] and part.frame is node.frame:
                yield from reads(self.terms.term(part["value"], position, frame, 3))

    def _make(self, number: int, position: int) -> Step:
        node, frame = self.trace.node(position), self.trace.frame(position)
        value = self.terms.defined_value(position)
        if node is None or frame is None:
            return self._without_node(number, position, value)
        control = self.control(position)
        if (raising := self.trace.raised.statement(position)) is not None:
            return self._raising(raising, number, position, frame)
        return Step(
            number,
            location(node, frame),
            statement_text(node),
            self._kind(node, position),
            self._term(node, position, frame),
            plain_value(value),
            self.rendered(position),
            _target(node, self.trace.kind(position)),
            None if control is None else self.trace.number(control),
            self._given(node, frame),
        )

    def _raising(self, statement: Node, number: int, position: int, frame: Frame) -> Step:
        """A statement that raised, whatever parts of it were evaluated by then."""
        error = self.trace.raised.error(position)
        under_way = self.trace.raised.under_way(position) or statement
        found = [*self.terms.opaque_reads(failing_expression(under_way), position, frame)]
        below = self.cells.handing.all_returned(position, frame)
        found += map(self.terms.read, (*below, *self.trace.raised.let_through(position)))
        control = self.control(position)
        return Step(
            number,
            location(statement, frame),
            statement_text(statement),
            StepKind.OPAQUE,
            self.terms.concrete(error, "the statement raises", found),
            None,
            self.rendered(position),
            control=None if control is None else self.trace.number(control),
        )

    def _given(self, node: Node, frame: Frame) -> Location | None:
        """The call that gave a parameter its value; None where nobody is known."""
        call = self.parameters.call_site(frame) if node.type == "arg" else None
        if call is None:
            return None
        _, expression, caller = call
        return location(expression, caller)

    def _without_node(self, number: int, position: int, value: Recorded) -> Step:
        kind = self.trace.kind(position)
        written = kind is Kind.OUTPUT
        row = self.writer(position) if written else None
        found = (self.terms.read(row),) if row is not None else ()
        term = Concrete(
            plain_value(value), OPAQUE, "written output" if written else _INITIAL, found
        )
        step_kind = StepKind.OUTPUT if written else StepKind.INITIAL
        text = "standard output" if written else str(value)
        return Step(number, Location(""), text, step_kind, term, plain_value(value), repr(value))

    def writer(self, position: int) -> int | None:
        """The call that was writing: the next row of the frame that was running."""
        frame = self.trace.frame(position)
        return self.trace.next_in_frame(frame, position) if frame is not None else None

    def _kind(self, node: Node, position: int) -> StepKind:
        kind = self.trace.kind(position)
        if kind in OUTCOMES:
            return StepKind.BRANCH
        if kind is Kind.ENTER:
            return StepKind.CALL
        parent = node.parent
        if (
            kind is Kind.VALUE
            and node.type == "Call"
            and parent is not None
            and parent.type == "Expr"
        ):
            return StepKind.OPAQUE
        return StepKind.ASSIGN

    # -- terms -------------------------------------------------------------------------------

    def _term(self, node: Node, position: int, frame: Frame) -> Term:
        match self.trace.kind(position):
            case Kind.TRUE | Kind.FALSE:
                return self._branch(node, position, frame)
            case Kind.RETURN | Kind.YIELD | Kind.RAISE:
                expression = node["value"] or node["exc"] or node["body"]
                if isinstance(expression, Node):
                    return self.terms.term(expression, position, frame)
            case Kind.PEEK:
                return self._augmented(node, position, frame)
            case Kind.EXIT | Kind.ENTER | Kind.MARK | Kind.SYNC:
                return self._executed(node, position, frame)
        return self._bound(node, position, frame)

    def _executed(self, node: Node, position: int, frame: Frame) -> Term:
        """A statement that defines nothing: a frame that ended by itself, ``pass``, ``del``."""
        if self.trace.kind(position) is Kind.EXIT and node.type in FUNCTIONS:
            last = self.trace.previous_in_frame(frame, position)
            kind = self.trace.kind(last) if last >= 0 else None
            decided = [last] if kind in OUTCOMES else []
            if not decided and kind is not Kind.RETURN:  # what kept it from being left before
                kept = self._branch_before(self.flow.ending(node), frame, position)
                decided = [] if kept is None else [kept]
            if (inner := self.cells.returned(position, frame)) is not None:
                decided.append(inner)  # ``yield from`` went on to its end
            if decided:
                return self.terms.concrete(
                    None, "the function ended", map(self.terms.read, decided)
                )
        if node.type == "AugAssign":
            found = [*self.terms.opaque_reads(node, position, frame)]
            return self.terms.concrete(None, "an augmented assignment", found)
        return Const(None, OPAQUE)

    def _bound(self, node: Node, position: int, frame: Frame) -> Term:
        match node.type:
            case "arg":
                return self.parameters.term(position)
            case "alias":
                return self._imported(node, position)
            case "FunctionDef" | "AsyncFunctionDef" | "ClassDef":
                return self._defined(node, position, frame)
            case "Name" if node["store"]:
                return self._name(node, position, frame)
            case "MatchAs" | "MatchStar" | "MatchMapping":
                subject = _node_above(node, "Match")["subject"]
                found = reads(self.terms.term(subject, position, frame))
                return self.terms.concrete(self.trace.value(position), "a captured part", found)
        return self.terms.term(node, position, frame)

    def _name(self, node: Node, position: int, frame: Frame) -> Term:
        """A name bound other than by a plain assignment."""
        value = self.trace.value(position)
        for outer in node.ancestors():
            match outer.type:
                case "AugAssign":
                    return self._augmented(node, position, frame)
                case "Assign":
                    return self._unpacked(outer["value"], node, position, frame)
                case "For" | "AsyncFor" | "comprehension":
                    return self._iterated(outer["iter"], value, position, frame)
                case "withitem":
                    return self._entered(outer["context_expr"], value, position, frame)
        return self.terms.term(node, position, frame)

    def _unpacked(self, source: Node, name: Node, position: int, frame: Frame) -> Term:
        parent = name.parent
        both = parent is not None and parent.type in {"Tuple", "List"}
        if both and parent is not None and source.type in {"Tuple", "List"}:
            targets, items = parent["elts"], source["elts"]
            plainly = len(targets) == len(items) and parent.parent is source.parent
            if plainly and not any(item.type == "Starred" for item in [*targets, *items]):
                row = self.trace.last_at(source, frame, position) or position
                return self.terms.term(items[targets.index(name)], row, frame)
        found = reads(self.terms.term(source, position, frame))
        return self.terms.concrete(self.trace.value(position), "unpacked", found)

    def _iterated(self, source: Node, value: Recorded, position: int, frame: Frame) -> Term:
        """An iteration's item: what a traced generator yielded, or an element of a container."""
        handed = self._yielded(value, position, frame)
        if handed is not None:
            return self._part_of(handed, value)
        found = [*reads(self.terms.term(source, position, frame))]
        found.extend(self.terms.contents(source, position, frame))
        return self.terms.concrete(value, f"an item of {source.source[:40]}", found)

    def _yielded(self, value: Recorded, position: int, frame: Frame) -> Read | None:
        branch = self.trace.previous_in_frame(frame, position)
        while branch >= 0 and self.trace.kind(branch) is Kind.VALUE and branch > frame.entered:
            branch = self.trace.previous_in_frame(frame, branch)
        returned = self.cells.returned(branch, frame) if branch >= 0 else None
        if returned is None or self.trace.kind(returned) is Kind.EXIT:
            return None
        handed = self.terms.defined_value(returned)
        if self.trace.kind(returned) is Kind.YIELD or same_object(handed, value):
            return self.terms.read(returned)
        return None  # a condition's __bool__, say

    def _part_of(self, handed: Read, value: Recorded) -> Term:
        """The value handed over, or what unpacking took out of it."""
        if handed.value == plain_value(value) and handed.sort == sort_of(value):
            return handed
        return self.terms.concrete(value, "unpacked", [handed])

    def _entered(self, source: Node, value: Recorded, position: int, frame: Frame) -> Term:
        handed = self._yielded(value, position, frame)
        if handed is not None:
            return self._part_of(handed, value)
        found = reads(self.terms.term(source, position, frame))
        return self.terms.concrete(value, "what a context manager gave", found)

    def _augmented(self, target: Node, position: int, frame: Frame) -> Term:
        statement = _node_above(target, "AugAssign")
        pretended = Node(
            "BinOp",
            -1,
            statement.line,
            statement.column,
            statement.end_line,
            statement.end_column,
            {"left": target, "op": statement["op"], "right": statement["value"]},
            statement.module,
            statement.parent,
        )
        term = self.terms.term(pretended, position, frame)
        if isinstance(term, Concrete):
            found = term.reads
            return self.terms.concrete(self.trace.value(position), term.reason, found)
        return term

    def _imported(self, alias: Node, position: int) -> Term:
        statement, value = alias.parent, self.trace.value(position)
        assert statement is not None
        if statement.type == "ImportFrom":
            module = self.cells.names.imported(statement)
            if module is not None:
                row = self.cells.names.module_variable(module, alias["name"], position, value)
                if row is not None:
                    return self.terms.read(row, alias["name"])
        return self.terms.concrete(value, "imported from code that is not followed", ())

    def _defined(self, node: Node, position: int, frame: Frame) -> Term:
        """A function or class: what its definition evaluated, and a class's body."""
        found: list[Read] = []
        for part in _definition_parts(node):
            found.extend(reads(self.terms.term(part, position, frame, 4)))
        if node.type == "ClassDef":
            found.extend(self._body(node, position, frame))
        value = self.trace.value(position)
        what = "a class" if node.type == "ClassDef" else "a function"
        return self.terms.concrete(value, f"{what} defined", found)

    def _body(self, node: Node, position: int, frame: Frame) -> Iterator[Read]:
        for child in reversed(frame.children):
            if child.node is node and child.entered < position:
                for row in child.rows:
                    if self._defines(row):
                        yield self.terms.read(row)
                return

    def _defines(self, row: int) -> bool:
        node = self.trace.node(row)
        if node is None or self.trace.kind(row) is not Kind.VALUE:
            return False
        parent = node.parent
        if node.type in {"FunctionDef", "AsyncFunctionDef"}:
            # A method acts when it is called, and is then in the trace itself; a decorated one may
            # have become something else.
            return bool(node["decorator_list"])
        return parent is not None and parent.type in {"Assign", "AnnAssign"}

    def _branch(self, node: Node, position: int, frame: Frame) -> Term:
        outcome = self.trace.kind(position) is Kind.TRUE
        match node.type:
            case "If" | "While" | "Assert":
                return self.terms.condition(node["test"], position, frame, outcome=outcome)
            case "For" | "AsyncFor" | "comprehension":
                found = [*reads(self.terms.term(node["iter"], position, frame))]
                found.extend(self.terms.contents(node["iter"], position, frame))
                returned = self.cells.returned(position, frame)
                if returned is not None:
                    found.append(self.terms.read(returned))
                return self.terms.concrete(outcome, "whether there is another item", found, BOOL)
            case "match_case":
                subject = _node_above(node, "Match")["subject"]
                found = [*reads(self.terms.term(subject, position, frame))]
                return self.terms.concrete(outcome, "whether a pattern matches", found, BOOL)
            case "ExceptHandler":
                found = [self.terms.read(self.trace.raised.origin(position - 1))]
                return self.terms.concrete(True, "an exception was caught", found, BOOL)  # noqa: FBT003 # the branch's value
        return Const(outcome, BOOL)

    # -- control -----------------------------------------------------------------------------

    def control(self, position: int) -> int | None:
        """The branch row that decided that this row exists (AFTER, Algorithm 3)."""
        if position not in self._control:
            self._control[position] = self._decided(position)
        return self._control[position]

    def _decided(self, position: int) -> int | None:
        node = self.trace.raised.statement(position) or self.trace.node(position)
        frame = self.trace.frame(position)
        while node is not None and frame is not None:
            if node is not frame.node and node.type != "arg":
                deciders = self.flow.deciders(node.statement) | self.flow.going_on(node)
                row = self._branch_before(deciders, frame, position)
                if row is not None:
                    return row
            caller = frame.parent
            if caller is None or frame.entered < 0:
                return None
            position = frame.entered
            node, frame = self.parameters.statement_at(caller, position), caller
        return None

    def branch_before(self, statement: Node, frame: Frame, position: int) -> int | None:
        """The last instance, in this frame, of a branch that decides ``statement``."""
        return self._branch_before(self.flow.deciders(statement), frame, position)

    def _branch_before(self, deciders: Iterable[Node], frame: Frame, position: int) -> int | None:
        rows = [
            row
            for decider in deciders
            for kind in (Kind.TRUE, Kind.FALSE)
            if (row := self.trace.last_at(decider, frame, position, kind)) is not None
        ]
        return max(rows, default=None)


def failing_expression(statement: Node) -> Node:
    """What of a statement is evaluated by itself: of a compound one only its head."""
    for name in ("test", "iter", "subject", "value", "exc"):
        part = statement[name]
        if isinstance(part, Node):
            return part
    return statement


def location(node: Node, frame: Frame) -> Location:
    """Where a step is: its statement's line (a parameter's own)."""
    at = node if node.type in {"arg", "alias"} else node.statement
    return Location(node.module.path, at.line, at.column, qualified_name(frame.node))


def statement_text(node: Node) -> str:
    """The source a person sees for a step."""
    if node.type in {"arg", "alias"}:
        return node.text
    return node.statement.text


_KEYWORDS = {
    Kind.ENTER: "",
    Kind.RETURN: "return",
    Kind.EXIT: "return",
    Kind.YIELD: "yield",
    Kind.RAISE: "",
    Kind.TRUE: "",
    Kind.FALSE: "",
}


_SAYS_ITSELF = frozenset({"Attribute", "Call", "Name", "Subscript"})
"""Parts of an assertion that are shown by their text: ``report.errors = 1``."""


def _target(node: Node, kind: Kind) -> str:
    if kind in _KEYWORDS:
        return _KEYWORDS[kind]
    if node.type in {"arg", "alias", "FunctionDef", "AsyncFunctionDef", "ClassDef"}:
        return str(node["arg"] or node["asname"] or node["name"])
    if node["store"]:
        return _spelled_name(node)
    parent = node.parent
    if parent is not None and parent.type in {"Assign", "AnnAssign", "NamedExpr"}:
        targets = parent["targets"] or [parent["target"]]
        spelled = ", ".join(filter(None, map(_spelled_name, targets)))
        return spelled or (node.source if node.type in _SAYS_ITSELF else "")
    return ""


def _spelled_name(target: Node) -> str:
    """Pytest's own variables (``@py_assert1``) have no name a person knows."""
    if target.type == "Name":
        name = str(target["id"])
        return "" if name.startswith("@") else name
    return target.source


def _node_above(node: Node, kind: str) -> Node:
    return next(outer for outer in node.ancestors() if outer.type == kind)


def _definition_parts(node: Node) -> Iterator[Node]:
    yield from node["decorator_list"]
    if node.type == "ClassDef":
        yield from node["bases"]
        yield from (word["value"] for word in node["keywords"])
    else:
        arguments = node["args"]
        yield from arguments["defaults"] or []
        yield from (item for item in arguments["kw_defaults"] or [] if item is not None)
