"""A traced failing run with the green run beside it: ``model.trace.Execution`` for Python."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from itertools import chain
from typing import Any

from afterd.compare.pair import Pair
from afterd.compare.python.absence import Absence, Ties
from afterd.compare.python.acted import Acted
from afterd.compare.python.alignment import Alignment
from afterd.compare.python.asked_types import AskedTypes
from afterd.compare.python.callbacks import Callbacks
from afterd.compare.python.callers import Callers
from afterd.compare.python.calls import Calls
from afterd.compare.python.changed_calls import ChangedCalls
from afterd.compare.python.classes import Classes
from afterd.compare.python.displays import Displays
from afterd.compare.python.executed import executed_changes
from afterd.compare.python.imports import Imports
from afterd.compare.python.intervention import Again, Intervention
from afterd.compare.python.likeness import Likeness
from afterd.compare.python.matching import match
from afterd.compare.python.raising import Raising
from afterd.compare.python.relaid import READERS, relaid, versions_read
from afterd.compare.python.transplant import Transplant
from afterd.compare.python.unraised import Unraised
from afterd.limits import PYTHON_PAIR, WORK
from afterd.model.change import Change, ChangeId, ChangeSet
from afterd.model.outcome import FailureKind
from afterd.model.term import (
    BOOL,
    Apply,
    Concrete,
    Free,
    Op,
    Read,
    StepId,
    Term,
    concretised_terms,
    reads,
)
from afterd.model.trace import NO_EXCEPTION, Conduct, GreenValue, Predicate, Step, Trial
from afterd.model.trace import Alignment as Aligned
from afterd.trace.python.failure import (
    Failures,
    Outside,
    departures,
    never_left,
    output_predicate,
    reported_failures,
)
from afterd.trace.python.read import (
    Frame,
    Influence,
    Steps,
    Trace,
    location,
    plain_value,
    statement_text,
)
from afterd.trace.python.record.failures import HANG
from afterd.trace.python.record.rows import Kind
from afterd.trace.python.recorder import PythonRecorder, RecordedRun, partner

_UNKNOWN = GreenValue(Aligned.UNKNOWN)
_ABSENT = GreenValue(Aligned.ABSENT)
Lines = Mapping[str, frozenset[int]]


class PythonTracer(PythonRecorder):
    """``compare.pair.Tracer`` for Python. What is known of one run is read once, whatever it is held against."""

    @cached_property
    def _steps_of(self) -> Callable[[Trace], Steps]:
        return cache(Steps)

    def execution(self, pair: Pair[RecordedRun]) -> PythonExecution:
        """``mine`` with ``other`` beside it."""
        again = partial(self.record_replaced, pair.mine)
        return PythonExecution(pair, self.test, again, self._steps_of)


def executed_lines(pair: Pair[RecordedRun]) -> tuple[Lines, Lines]:
    """By file, the lines that both runs came to, as far as was recorded."""
    other = partner(pair.mine, pair.other).lines() if pair.other else {}
    return pair.mine.traces[0].lines(), other


def executed_spans(run: RecordedRun, changes: Iterable[Change]) -> ChangeSet:
    """The changes on whose lines something that a run executed begins, or beside what they took away; by the lines
    alone, so that nothing of the run is read step by step.
    """
    lines = run.traces[0].lines()
    return frozenset(
        change.id
        for change in changes
        if not lines.get(change.file, frozenset()).isdisjoint(change.new.lines)
    )


def loaded_files(pair: Pair[RecordedRun]) -> frozenset[str]:
    """The files of the program that any process of either run loaded."""
    runs = (pair.mine, pair.other) if pair.other else (pair.mine,)
    return frozenset(path for run in runs for trace in run.traces for path in trace.files())


class PythonExecution:
    """Implements ``model.trace.Execution``; ``test`` is the failing test's id, or empty. ``again`` records
    the run once more with a value set to another; ``steps_of`` reads one trace.
    """

    def __init__(
        self,
        pair: Pair[RecordedRun],
        test: str = "",
        again: Again | None = None,
        steps_of: Callable[[Trace], Steps] = Steps,
    ) -> None:
        self.test = test
        self._again = again
        self.changes = pair.live
        self.trace = bad = pair.mine.traces[0]
        green = partner(pair.mine, pair.other) if pair.other else None
        self.steps = steps_of(bad)
        lines = pair.lines
        self.ties = Ties(self.changes, lines)
        self.influence = Influence(self.steps)
        self.green: Steps | None = None
        self._raising: Raising | None = None
        if green is not None:
            self.green = steps_of(green)
            matching = match(bad.all_modules(), green.all_modules(), lines)
            self.alignment = Alignment(bad, green, matching)
            self.likeness = Likeness(self.steps, self.green, self.alignment)
            self._asked_types = AskedTypes(self.likeness)
            self._raising = Raising(self.steps, self._changes_at, self._is_as_green)
            self._displays = Displays(self.steps, self.green, self.likeness)
            self.callbacks = Callbacks(bad, self.alignment)
            self.absence = Absence(self.alignment, self.green, self.ties)
            self.transplant = Transplant(self.steps, matching)
            calls = self.steps, self.green, self.alignment, self.ties
            self._changed_calls = ChangedCalls(*calls, self._is_not_green_s)
            self._classes = Classes(self.steps, self.alignment, self.ties)
            self._callers = Callers(self.steps, self.alignment, self.ties, self._failing_frames)
            self._intervention = Intervention(pair, self.steps, self.green, self.alignment)
            self._acted = Acted(self.alignment, self.absence, self.ties, self._differs)
        self._made: dict[StepId, Step] = {}
        self._conduct: dict[ChangeId, Conduct] | None = None
        self._reasons: dict[str, None] = {}

    # -- the protocol ------------------------------------------------------------------------

    def failures(self) -> Sequence[Predicate]:
        """The failed assertions in the order they happened; else the first wrong output."""
        recognise = Failures(self.steps, self._raising)
        found: list[Predicate] = []
        reported = reported_failures(self.steps, self.test)
        for failure in reported:
            ended = failure["type"] == HANG
            predicate = (
                self._never_left(recognise, failure)
                if ended
                else self._not_raised(recognise, failure) or recognise.predicate(failure)
            )
            if predicate is not None:
                found.append(predicate)
        if not found and self.green is not None:
            outside = Outside(self.steps, self._is_not_green_s, self._wrong_output)
            found.extend(outside.failures(reported))
        return found

    def _is_not_green_s(self, row: int) -> bool:
        return self._green_value(row).alignment in {Aligned.DIFFERENT, Aligned.ABSENT}

    def step(self, identifier: StepId) -> Step:
        """The step, with its changes and the green run's value."""
        found = self._made.get(identifier)
        if found is None:
            plainly = self.steps.step(identifier)
            position = self.trace.position(identifier)
            for made in concretised_terms(plainly.term):
                self._reasons.setdefault(made.reason)
            changes = self._changes_at(position)
            green = self._green_value(position)
            old = self.transplant.old(position) if changes and self.green else None
            if self.green and (site := self._changed_calls.giving(position)) is not None:
                call, caller = site
                here, text = location(call, caller), statement_text(call)
                called = self.trace.frame(position)
                target = f"{plainly.target} of {called.node['name']}()" if called else ""
                plainly = replace(plainly, location=here, text=text, target=target)
                changes = tuple(dict.fromkeys((*changes, *self.ties.of_node(call))))
            term = self._chosen(position, plainly.term, green)
            if self.trace.addresses.is_address(plainly.value):
                plainly = replace(plainly, value=None)  # which object it is of is not settled by it
            found = replace(plainly, term=term, changes=changes, green=green, old=old)
            self._made[identifier] = found
        return found

    def _changes_at(self, position: int) -> tuple[ChangeId, ...]:
        raising = self.trace.raised.statement(position)
        return (
            self.ties.of_row(self.trace, position)
            if raising is None
            else self.ties.of_node(raising)
        )

    def _chosen(self, position: int, term: Term, green: GreenValue) -> Term:
        """What was read of an object, and which object that was: where all that it was made from is as
        in green and the value is not, another object was read. Where green did not come here, no type that is green's.
        """
        if green.alignment is Aligned.ABSENT:
            return self._asked_types.left_out(term)
        if green.alignment is not Aligned.DIFFERENT:
            return term
        if any(map(self._unlike, reads(term))):
            return term
        found = dict.fromkeys(self.steps.owners(position))
        if not (owners := tuple(r for r in found if self._unlike(r) or self._is_another(r))):
            return term
        if isinstance(term, Concrete):
            return replace(term, reads=tuple(dict.fromkeys((*term.reads, *owners))))
        which = Concrete(True, BOOL, "which object was read", owners)  # noqa: FBT003 # it held
        return Apply(Op.ITE, (which, term, Free("of another object", term.sort)), term.sort)

    def _unlike(self, read: Read) -> bool:
        """Whether what was read is known not to be green's."""
        return self._is_not_green_s(self.trace.position(read.step))

    def _is_another(self, read: Read) -> bool:
        """Whether green has the object that was read too, and read another one, alike as it may be."""
        position = self.trace.position(read.step)
        row = self.alignment.row(position)
        if row is None or self.green is None:
            return False
        mine, other = self.steps.effect(position), self.green.effect(row)
        return self.likeness.is_another(mine, position, other, row)

    def indirect_influences(self, use: StepId, definition: StepId) -> Sequence[StepId]:
        """Branches between the two whose other side could have redefined what was read.

        Also those below code that is not followed, where nothing that was read tells green apart.
        """
        position = self.trace.position(use)
        rows = list(self.influence.branches(position, self.trace.position(definition)))
        if self.green is not None:
            rows.extend(self.absence.prevented(position))
            if self._unaccounted(use):
                rows.extend(self.callbacks.departures(position))
        return [self.trace.number(row) for row in dict.fromkeys(rows)]

    def _unaccounted(self, identifier: StepId) -> bool:
        """Whether a value is not green's although all is that it was made from, as far as seen."""
        step = self.step(identifier)
        if step.green.alignment is Aligned.SAME or not isinstance(step.term, Concrete):
            return False
        inputs = (self.step(read.step).green.alignment for read in reads(step.term))
        return all(alignment is Aligned.SAME for alignment in inputs)

    def omitted(self, step: StepId) -> Sequence[ChangeId]:
        """Changes that removed what the green run's counterpart of the step depended on, that act by the class of what
        it was done to, or that made a call which led there.
        """
        if self.green is None:
            return []
        ways = (self.absence, self._classes, self._callers)
        position = self.trace.position(step)
        return list(dict.fromkeys(chain.from_iterable(each.changes(position) for each in ways)))

    def counterpart(self, step: StepId) -> Term | None:
        """What green's row was made from."""
        if self.green is None or (row := self.alignment.row(self.trace.position(step))) is None:
            return None
        return self.green.step(self.green.trace.number(row)).term

    def altered(self, change: ChangeId) -> Sequence[StepId]:
        """The rows in a change's lines that are not as in green."""
        if self.green is None:
            return []
        return [self.trace.number(row) for row in self._acted.altered(change)]

    def missed(self, change: ChangeId) -> Step | None:
        """The last of green's rows in a change's lines that this run has no counterpart of."""
        row = None if self.green is None else self._acted.missed(change)
        return None if row is None or self.green is None else self.green.step(row)

    def calling(self, step: StepId) -> StepId | None:
        """The row of the calling activation that follows the call."""
        row = None if self.green is None else self._acted.calling(self.trace.position(step))
        return None if row is None else self.trace.number(row)

    def trial(self, step: StepId) -> Trial:
        """The run recorded again with green's value or branch put at the row."""
        if self.green is None or self._again is None:
            return Trial.NOT_RUN
        replaced = self._intervention.replacement(self.trace.position(step))
        if replaced is None:
            return Trial.NOT_RUN
        return self._intervention.trial(self._again(replaced))

    def conduct(self) -> Mapping[ChangeId, Conduct]:
        """What the changed functions did on what they were given, beside green's."""
        if self.green is None:
            return {}
        if self._conduct is None:
            calls = Calls(
                self.steps,
                self.green,
                self.alignment,
                self.absence.inverse,
                self.likeness,
                self.ties,
                self._failing_frames(),
            )
            annotations = not READERS & self.likeness.mentioned
            modules = self.trace.all_modules(), self.green.trace.all_modules()
            versions = versions_read(self.changes, *modules)
            relaid_here = relaid(self.changes, versions, annotations=annotations)
            imported = Imports(self.steps, self.alignment, self._is_as_green).mere(self.changes)
            neutral = dict.fromkeys((*relaid_here, *imported), Conduct.NEUTRAL)
            self._conduct = {**calls.conduct(), **neutral}
        return self._conduct

    def _failing_frames(self) -> Iterator[Frame]:
        """The activations that the failure ended."""
        for failure in self.failures():
            frame = self.trace.frame(self.trace.position(failure.step))
            if frame is not None:
                yield from frame.with_callers()

    @cached_property
    def _executed(self) -> Sequence[ChangeId]:
        beside = None if self.green is None else self.alignment
        return executed_changes(self.steps, self.ties, self._failing_frames(), beside)

    def executed_changes(self) -> Sequence[ChangeId]:
        """Changes the failing run executed, last executed first; then those only green ran."""
        return self._executed

    def work(self) -> int:
        """What reading both traces and every step that was made cost, as many records as can be looked through in
        that time.
        """
        rows = self.trace.raw.kept + (0 if self.green is None else self.green.trace.raw.kept)
        return rows * WORK.row + len(self._made) * (WORK.step + WORK.step * rows // WORK.step_rows)

    def notes(self) -> Sequence[str]:
        """What was not followed."""
        found = list(self.trace.raw.header["notes"])
        if self.trace.gap:
            found.append(
                f"{self.trace.gap} of {self.trace.raw.total} recorded steps fell out of the window."
            )
        for path, why in self.trace.raw.header["refused"].items():
            found.append(f"{path} runs untraced: {why}.")
        if reasons := list(self._reasons):
            shown, more = reasons[: PYTHON_PAIR.reasons], len(reasons) - PYTHON_PAIR.reasons
            others = [f"{more} other expressions"] if more > 0 else []
            found.append(f"The solver took as it was: {'; '.join([*shown, *others])}.")
        return found

    def _is_as_green(self, row: int) -> bool:
        return self._green_value(row).alignment is Aligned.SAME

    def _differs(self, position: int) -> Aligned:
        return self._green_value(position).alignment

    # -- the green run -----------------------------------------------------------------------

    def _green_value(self, position: int) -> GreenValue:
        if self.green is None:
            return _UNKNOWN
        node, frame = self.trace.node(position), self.trace.frame(position)
        if node is None or frame is None:
            return _UNKNOWN
        row = self.alignment.row(position)
        if row is None:
            return self._unaligned(position)
        mine = self.steps.effect(position)
        other = self.green.effect(row)
        cut, more = self.likeness.guessed + self.likeness.unseen, self.likeness.given_more
        same = self.likeness.alike(mine, position, other, row)
        if same and self.likeness.guessed + self.likeness.unseen > cut:
            same = self._displays.are_alike(position, row)
        text = self.green.rendered(row) if same else self._other_text(position, row)
        alignment = Aligned.SAME if same else Aligned.DIFFERENT
        if same and self.likeness.given_more > more:
            alignment = Aligned.UNKNOWN
        return GreenValue(alignment, plain_value(other), text)

    def _other_text(self, position: int, row: int) -> str:
        """What a person reads of a green row that did something else: what it did where the failing run raised, and
        what got the value where that is called otherwise.
        """
        assert self.green is not None
        text, target = self.green.rendered(row), self.green.target(row)
        if self.steps.has_raised(position) and not self.green.has_raised(row):
            return f"{target} = {text}" if target else NO_EXCEPTION
        another = target and self.steps.target(position) not in {"", target}
        return f"{target} = {text}" if another else text

    def _unaligned(self, position: int) -> GreenValue:
        """ABSENT when green has nothing here; UNKNOWN when there was nothing to look from."""
        node, frame = self.trace.node(position), self.trace.frame(position)
        assert node is not None
        assert frame is not None
        if self.alignment.frame(frame) is not None or node not in self.alignment.matching.good:
            return _ABSENT
        return _UNKNOWN if frame.parent is None else _ABSENT

    # -- failures that only the green run explains -------------------------------------------

    def _never_left(self, recognise: Failures, failure: dict[str, Any]) -> Predicate | None:
        place = recognise.place(failure)
        if place is None:
            return None
        return never_left(self.steps, place, self._parts, waits=failure["waits"])

    def _parts(self, branch: int) -> bool:
        """Whether green went another way at a branch, or has no such round of it any more."""
        frame = self.trace.frame(branch)
        if self.green is None or frame is None or self.alignment.frame(frame) is None:
            return False
        other = self.alignment.row(branch)
        return other is None or self.green.trace.kind(other) is not self.trace.kind(branch)

    def _not_raised(self, recognise: Failures, failure: dict[str, object]) -> Predicate | None:
        """``pytest.raises`` or ``assertRaises`` that saw nothing: what kept green's exception from coming."""
        message = str(failure["message"])
        wanted = _awaited_class(message)
        if self.green is None or wanted is None:
            return None
        place = recognise.place(failure)
        if place is None:
            return None
        unraised = Unraised(self.steps, self.green, self.alignment, self.absence.inverse)
        branch = unraised.branch(place.frame, wanted)
        if branch is None:
            return None
        condition = self.steps.other_way(branch)
        step = self.steps.step(self.trace.number(branch))
        return Predicate(
            step.id,
            condition,
            place.node.statement.text,
            FailureKind.ASSERTION,
            message,
            "no exception",
            wanted,
            location(place.node.statement, place.frame),
        )

    def _wrong_output(self) -> Iterator[Predicate]:
        assert self.green is not None
        for row, observed, expected in departures(self.steps, self.green):
            if row is not None:
                yield output_predicate(self.steps, row, observed, expected)
            else:
                yield from self._missing_output(expected)

    def _missing_output(self, expected: str) -> Iterator[Predicate]:
        """The good version wrote more: the branch that kept this one from it."""
        assert self.green is not None
        for row in range(len(self.green.trace) - 1, -1, -1):
            if self.green.trace.kind(row) is Kind.OUTPUT:
                writer = self.green.writer(row)
                decided = self.green.control(writer) if writer is not None else None
                branch = self.alignment.opposite(decided) if decided is not None else None
                if branch is not None:
                    step = self.steps.step(self.trace.number(branch))
                    yield Predicate(
                        step.id,
                        self.steps.other_way(branch),
                        step.text,
                        FailureKind.OUTPUT,
                        "the output ends early",
                        "",
                        expected.rstrip("\n"),
                    )
                    return


def _awaited_class(message: str) -> str | None:
    """Of ``DID NOT RAISE <class 'a.Error'>`` or ``Error not raised by f`` the class; empty where several were named,
    None where it says something else.
    """
    if by_unittest := re.match(r"(?:\w+: )?(\w+) not raised\b", message):
        return by_unittest[1]
    if not message.startswith("DID NOT RAISE"):
        return None
    named = re.fullmatch(r"DID NOT RAISE (?:<class ')?(?:\w+\.)*(\w+)(?:'>)?", message)
    return named[1] if named else ""
