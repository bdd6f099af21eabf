"""From what the test runner reported to predicates over the trace.

Each predicate is a condition that is false in this execution: the assertion holds, the raise is not
reached, the operation is possible, the output is the good version's.

Where a test run's exception came from and passed, as pytest or the interpreter printed it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any, Protocol

from afterd.execution.failures.pytest_says import compared_values
from afterd.model.outcome import FailureKind
from afterd.model.term import BOOL, INT, Apply, Concrete, Const, Op, Read, Term, reads
from afterd.model.trace import Predicate
from afterd.trace.linemap import one_line_of
from afterd.trace.python.read.frames import Frame
from afterd.trace.python.read.program import Module, Node, innermost_statement
from afterd.trace.python.read.raised import under_way
from afterd.trace.python.read.ssa import Steps, failing_expression, location
from afterd.trace.python.read.tracefile import Recorded
from afterd.trace.python.read.values import (
    UNKNOWN,
    Unknown,
    identity,
    is_container,
    plain_value,
    render,
)
from afterd.trace.python.record.rows import Kind

_RUNNER_FAILED = frozenset({"Failed", "Exit"})  # pytest.fail, pytest.raises that saw nothing


@dataclass(frozen=True, slots=True)
class Place:
    """Where a failure came up: a statement in an activation, at a position in the trace."""

    node: Node
    frame: Frame
    position: int


def reported_failures(steps: Steps, test: str = "") -> list[dict[str, Any]]:
    """The failures of one test (of all, if ``test`` is empty), in the order they happened."""
    found: list[dict[str, Any]] = steps.trace.raw.header["failures"]
    mine = [failure for failure in found if not test or _same_test(failure["test"], test)]
    return mine or found


def _same_test(reported_id: str, wanted: str) -> bool:
    return reported_id == wanted or wanted.endswith(reported_id) or reported_id.endswith(wanted)


class Beside(Protocol):
    """What the green run says of rows that raise."""

    def raises_by_change(self, raised: int) -> bool:
        """Whether a changed ``raise`` was come to by the way that green took."""
        ...

    def raised_too(self, row: int) -> bool:
        """Whether green raised the same there, or left there by it."""
        ...


class Failures:
    """Recognises failures in one trace. ``beside`` is what the green run says of them, where there is one."""

    def __init__(self, steps: Steps, beside: Beside | None = None) -> None:
        self.steps = steps
        self._beside = beside
        self.trace = steps.trace
        self._paths = {module.path: module for module in self.trace.all_modules()}

    def predicate(self, failure: dict[str, Any]) -> Predicate | None:
        """The predicate for a reported failure; None when the program has no part in it."""
        place = self.place(failure)
        if place is None:
            return None
        kind = FailureKind.EXCEPTION
        if failure["type"] in _RUNNER_FAILED or "AssertionError" in failure["bases"]:
            kind = FailureKind.ASSERTION
        if failure["type"] == "SystemExit":
            kind = FailureKind.EXIT
        condition, step = self._condition(place, failure)
        # An exception out of a statement is not what that compares.
        raised = kind is FailureKind.EXCEPTION and self._raise_at(place) is None
        observed, expected = ("", "") if raised else self._compared(condition, place)
        said = f"{failure['type']}: {failure['message']}".strip()
        if not observed and not expected and kind is FailureKind.ASSERTION:
            observed, expected = compared_values(said)
        return Predicate(
            step=self.trace.number(step),
            condition=condition,
            text=place.node.statement.text,
            kind=kind,
            message=said.splitlines()[0],
            observed=observed,
            expected=expected,
            failed_at=location(place.node.statement, place.frame),
        )

    # -- where -------------------------------------------------------------------------------

    def place(self, failure: dict[str, Any]) -> Place | None:
        """The innermost statement of the program on the traceback; where the green run raised there as well, the one at
        which it did not, on the way outwards: who goes on after an exception may raise it later.
        """
        places = self._places(failure)
        innermost = next(places, None)
        if innermost is None or not self._raised_too(innermost):
            return innermost
        for _, listed in groupby(places, key=lambda place: place.frame):
            *_, last = listed  # before that it was caught there, and raised again further down
            if not self._raised_too(last):
                return last
        return innermost

    def _raised_too(self, place: Place) -> bool:
        raised = self._raise_at(place) or place.frame.left
        return self._beside is not None and raised is not None and self._beside.raised_too(raised)

    def _places(self, failure: dict[str, Any]) -> Iterator[Place]:
        """The statements of the program on the traceback, the innermost first."""
        for file, line, function in reversed(failure["frames"]):
            module = self._module(file)
            if module is None:
                continue
            found = self._activation(
                module.root, line, function, self.trace.position_or_end(failure["row"])
            )
            if found is not None:
                yield found

    def _module(self, file: str) -> Module | None:
        parts = PurePosixPath(file).parts
        called = (file, *("/".join(parts[start:]) for start in range(len(parts))))
        return next((self._paths[path] for path in called if path in self._paths), None)

    def _activation(self, root: Node, line: int, function: str, before: int) -> Place | None:
        """The last activation that executed the line, and what it did last there."""
        statement = innermost_statement(root, line)
        if statement is None:
            return None
        home = statement.frame
        frames = [f for f in self.trace.frames if f.node is home and f.entered < before]
        for frame in reversed(frames[-50:]):
            rows = [row for row in frame.rows if row < before]
            for row in reversed(rows[-400:]):
                node = self.trace.node(row)
                if node is not None and node is not home and node.statement is statement:
                    return Place(statement, frame, row)
            # A statement that raised before it left a row shows as its function's early end.
            ends = home.type != "Module"
            inner = [row for row in rows if ends or self.trace.kind(row) is not Kind.EXIT]
            if inner and (function == "" or frame is frames[-1]):
                return Place(statement, frame, inner[-1])
        return None

    # -- what --------------------------------------------------------------------------------

    def _condition(self, place: Place, failure: dict[str, Any]) -> tuple[Term, int]:
        raised = self._raise_at(place)
        if raised is not None:
            decided = self.steps.control(raised)
            own = decided is not None and self._same_frame(decided, place.frame)
            by_change = self._beside is not None and self._beside.raises_by_change(raised)
            if decided is not None and own and not by_change:
                return self._other_way(decided), decided
            return self._not_reached(raised), raised
        if failure["type"] == "SystemExit" and (ended := self._exit(place)) is not None:
            return ended
        if place.node.type == "Assert":
            return self._assertion(place), place.position
        if place.node.type == "Expr" and (checked := self._checked(place)) is not None:
            return checked, place.position
        last = self._done_last(place)
        expression = failing_expression(under_way(place.node, self.trace.node(last)))
        position = place.position if expression.statement is place.node else last
        found = self.steps.terms.opaque_reads(expression, position, place.frame)
        why = f"the statement raises {failure['type']}"
        raising = self._raising(place)
        return self.steps.terms.concrete(False, why, found, BOOL), raising  # noqa: FBT003 # the condition is false

    def _done_last(self, place: Place) -> int:
        """The last row of an activation before it was left."""
        rows = [row for row in place.frame.rows[-2:] if self.trace.kind(row) is not Kind.EXIT]
        return rows[-1] if rows else place.position

    def _raising(self, place: Place) -> int:
        """The row that says that the failing statement raised; of a lambda, which has none, its last one."""
        left = place.frame.left
        raised = None if left is None else self.trace.raised.statement(left)
        return place.position if left is None or raised is not place.node else left

    def _exit(self, place: Place) -> tuple[Term, int] | None:
        """``sys.exit(status)``: the status is 0; for a status that is written there, its branch."""
        call = place.node["value"] or place.node["exc"]
        status = call["args"][0] if isinstance(call, Node) and call["args"] else None
        if status is not None and status.type != "Constant":
            term = self.steps.terms.term(status, place.position, place.frame)
            if term.sort == INT:
                return Apply(Op.EQ, (term, Const(0, INT)), BOOL), place.position
            if term.sort == BOOL:
                return Apply(Op.NOT, (term,), BOOL), place.position
            return None
        decided = self.steps.branch_before(place.node, place.frame, place.position + 1)
        return None if decided is None else (self._other_way(decided), decided)

    def _same_frame(self, row: int, frame: Frame) -> bool:
        return self.trace.frame(row) is frame

    def _raise_at(self, place: Place) -> int | None:
        """The RAISE row of the failing statement, if it is a ``raise`` (pytest's asserts are)."""
        for row in reversed(place.frame.rows):
            if row > place.position + 2:
                continue
            node = self.trace.node(row)
            if self.trace.kind(row) is Kind.RAISE and node is not None:
                return row if node.line == place.node.line else None
            if row < place.position - 6:
                return None
        return None

    def _other_way(self, branch: int) -> Term:
        """The condition under which a branch would have gone its other way."""
        node = self.trace.node(branch)
        if node is not None and node.type == "If":
            test, negated = node["test"], self.trace.kind(branch) is Kind.TRUE
            while test.type == "UnaryOp" and test["op"] == "Not":
                test, negated = test["operand"], not negated
            frame = self.trace.frame(branch)
            assert frame is not None
            term = self.steps.terms.condition(test, branch, frame, outcome=negated)
            return Apply(Op.NOT, (term,), BOOL) if negated else term
        return self.steps.other_way(branch)

    def _not_reached(self, row: int) -> Term:
        """No branch of its own decides: what was raised, and the call that came here."""
        step = self.steps.step(self.trace.number(row))
        control = self.steps.control(row)
        found = [
            *reads(step.term),
            *([self.steps.terms.read(control)] if control is not None else []),
        ]
        return self.steps.terms.concrete(False, "the raise is not reached", found, BOOL)  # noqa: FBT003 # the condition is false

    def _assertion(self, place: Place) -> Term:
        """The test as it stood when the frame was left: an ``__eq__`` may have run last."""
        left = self.trace.next_in_frame(place.frame, place.position)
        position = place.position if left is None else left
        return self.steps.terms.condition(place.node["test"], position, place.frame, outcome=False)

    def _checked(self, place: Place) -> Term | None:
        """``self.assertEqual(a, b)`` and its kin."""
        call = place.node["value"]
        if call.type != "Call" or call["func"].type != "Attribute":
            return None
        method, arguments = call["func"]["attr"], call["args"]
        compared = _compared_by_method(call)
        if compared is not None:
            return self.steps.terms.condition(compared, place.position, place.frame, outcome=False)
        if method in {"assertTrue", "assertFalse"} and arguments:
            truth = method == "assertTrue"
            term = self.steps.terms.condition(
                arguments[0], place.position, place.frame, outcome=not truth
            )
            return term if truth else Apply(Op.NOT, (term,), BOOL)
        return None

    def _compared(self, condition: Term, place: Place) -> tuple[str, str]:
        """Observed and expected, as a person reads them: an equality expects its right side, an order a
        side of it, ``in`` shows what was searched, and a name by itself its value.
        """
        node = self._comparison(condition, place)
        if node is None:
            return self._alone(place), ""
        if len(node["comparators"]) != 1:
            return "", ""
        left, right = (self._shown(side, place) for side in (node["left"], node["comparators"][0]))
        match node["ops"][0]:
            case "In" | "NotIn":
                return right, ""
            case "NotEq" | "IsNot":
                return left, f"not {right}" if right else ""
            case sign if sign in _ORDERS:
                return left, f"{_ORDERS[sign]} {right}" if right else ""
        return left, right

    def _shown(self, side: Node, place: Place) -> str:
        value = self.steps.cells.value_of(side, place.position, place.frame)
        if side.type in _LOADED:
            value = self._now(value, place)
        return "" if isinstance(value, Unknown) else render(value, self.trace.raw.header["types"])

    def _now(self, value: Recorded | Unknown, place: Place) -> Recorded | Unknown:
        """A value as it is at a place: a list that was filled since it was seen is not what it was then."""
        if not is_container(value):
            return value
        written = self.steps.cells.contents.content_writes(value, place.position)
        last = next((row for row in written if not self._is_at(row, place)), None)
        if last is None:
            return value
        since = map(self.trace.value, range(place.position, last, -1))
        return next((seen for seen in since if identity(seen) == identity(value)), UNKNOWN)

    def _is_at(self, row: int, place: Place) -> bool:
        """Whether it is of the failed statement: pytest describes what it looked at there."""
        node = self.trace.node(row)
        return (
            self._same_frame(row, place.frame) and node is not None and node.line == place.node.line
        )

    def _alone(self, place: Place) -> str:
        """The value of the one thing that was asserted to be true, or not to be. Of an assertion that
        pytest wrote anew only the text still has it whole.
        """
        asserted = place.node.statement.text.removeprefix("assert ").removeprefix("not ").strip()
        for node in place.node.module.root.walk():
            if (
                node.line == place.node.line
                and not node["store"]
                and one_line_of(node.source.splitlines()) == asserted
            ):
                shown = self._shown(node, place)
                if shown:
                    return shown
        return ""

    def _comparison(self, condition: Term, place: Place) -> Node | None:
        """The comparison behind an assertion: in the statement, or in pytest's variable."""
        if place.node.type == "Assert":
            test = place.node["test"]
            return test if test.type == "Compare" else None
        if place.node.type == "Expr" and (compared := _compared_by_method(place.node["value"])):
            return compared
        rows = [self.trace.position(read.step) for read in reads(condition)]
        for found in (rows, place.frame.rows[-12:][::-1]):
            asked = [row for row in found if self._compares(row, place)]
            if asked:  # of ``a < b < c`` the part that does not hold
                row = next(
                    (row for row in asked if plain_value(self.trace.value(row)) is False), asked[0]
                )
                return self.trace.node(row)
        return None

    def _compares(self, row: int, place: Place) -> bool:
        node = self.trace.node(row)
        return node is not None and node.line == place.node.line and _is_comparison(node)


def _is_comparison(node: Node) -> bool:
    """Whether a comparison stands in the text: pytest asks beside it what is in ``locals()``."""
    if node.type != "Compare":
        return False
    try:
        return isinstance(ast.parse(f"({node.source})", mode="eval").body, ast.Compare)
    except (SyntaxError, ValueError):
        return False


def departures(bad: Steps, green: Steps) -> Iterator[tuple[int | None, str, str]]:
    """(position of the first departing output row or None, observed, expected) of two runs."""
    mine, other = _outputs(bad), _outputs(green)
    for (row, text), (_, expected) in zip(mine, other, strict=False):
        if text != expected:
            yield row, text, expected
            return
    if len(mine) > len(other):
        row, text = mine[len(other)]
        yield row, text, ""
    elif len(mine) < len(other):
        yield None, "", other[len(mine)][1]


def _outputs(steps: Steps) -> list[tuple[int, str]]:
    """Output rows, one for each line or what is left of one."""
    found: list[tuple[int, str]] = []
    for row in range(len(steps.trace)):
        if steps.trace.kind(row) is Kind.OUTPUT:
            text = str(steps.trace.value(row))
            if found and not found[-1][1].endswith("\n"):
                found[-1] = (row, found[-1][1] + text)
            else:
                found.append((row, text))
    return found


def output_predicate(steps: Steps, row: int, observed: str, expected: str) -> Predicate:
    """A written line is not the good version's."""
    step = steps.step(steps.trace.number(row))
    found: Sequence[Read] = tuple(reads(step.term))
    condition = Concrete(False, BOOL, "the output departs from the good version's", tuple(found))  # noqa: FBT003 # the condition is false
    return Predicate(
        step=step.id,
        condition=condition,
        text=step.text,
        kind=FailureKind.OUTPUT,
        message="the output departs from the good version's",
        observed=observed.rstrip("\n"),
        expected=expected.rstrip("\n"),
    )


def _compared_by_method(call: Node) -> Node | None:
    """``self.assertEqual(a, b)`` as ``a == b``."""
    if call.type != "Call" or call["func"].type != "Attribute" or len(call["args"]) < 2:
        return None
    operation = _COMPARING.get(call["func"]["attr"])
    left, right = call["args"][:2]
    if operation is None:
        return None
    return _pretended_node(call, "Compare", left=left, ops=[operation], comparators=[right])


def _pretended_node(like: Node, kind: str, **fields: object) -> Node:
    return Node(
        kind,
        -1,
        like.line,
        like.column,
        like.end_line,
        like.end_column,
        fields,
        like.module,
        like.parent,
    )


_LOADED = frozenset({"Attribute", "Name", "Subscript"})
_ORDERS = {"Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">="}
_COMPARING = {
    "assertEqual": "Eq",
    "assertEquals": "Eq",
    "assertNotEqual": "NotEq",
    "assertIs": "Is",
    "assertIsNot": "IsNot",
    "assertIn": "In",
    "assertNotIn": "NotIn",
    "assertLess": "Lt",
    "assertLessEqual": "LtE",
    "assertGreater": "Gt",
    "assertGreaterEqual": "GtE",
    "assertListEqual": "Eq",
    "assertDictEqual": "Eq",
    "assertTupleEqual": "Eq",
    "assertSetEqual": "Eq",
    "assertMultiLineEqual": "Eq",
    "assertSequenceEqual": "Eq",
}
