"""A pair of runs: what everything in this package is a function of.

Bad against green is one pair; bad against *bad with some changes undone* is another, and costs no
other code: which instance corresponds, which values differ, where control parted, what a changed
statement's other text would have done are asked of two runs and the changes between them.

An execution of which nothing is known: what a test that is not traced has, and what others say more than.

A tracer's bug may cost an edge of the tree, never the answer: what cannot be read is unknown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

from afterd.limits import REPORT
from afterd.model.change import Change, ChangeForm, ChangeId, ChangeSet
from afterd.model.inside import outer_hunks, taken_out_by, with_inner
from afterd.model.location import LineSpan, Location
from afterd.model.term import OPAQUE, Concrete, StepId, Term
from afterd.model.trace import Conduct, Predicate, Step, StepKind, Trial, TwinExecution
from afterd.trace.linemap import LineMap

RunT = TypeVar("RunT")
_MIRRORED = {ChangeForm.ADDED: ChangeForm.DELETED, ChangeForm.DELETED: ChangeForm.ADDED}


@dataclass(frozen=True, slots=True)
class Pair(Generic[RunT]):
    """Two recorded runs of two variants of one program.

    ``mine`` is the run that is explained, ``other`` the one it is held against (None: there is
    none). ``changes`` are those in which the two variants differ: their ``new`` spans are lines of
    mine's variant, their ``old`` ones of other's.
    """

    mine: RunT
    other: RunT | None = None
    changes: tuple[Change, ...] = ()

    @property
    def live(self) -> tuple[Change, ...]:
        """The changes that may matter."""
        return tuple(change for change in self.changes if not change.pruned)

    @property
    def lines(self) -> LineMap:
        """Lines of the one variant as lines of the other."""
        return LineMap(self.changes)


class Tracer(Protocol[RunT]):
    """What a language supplies: a variant's run, and what is read of two of them."""

    def record(self, variant: ChangeSet) -> RunT:
        """The test's run without the changes of ``variant``. Raises TraceError, ToolchainError."""
        ...

    def execution(self, pair: Pair[RunT]) -> TwinExecution:
        """``mine`` as the algorithms see it, with ``other`` beside it."""
        ...


class Runs(Generic[RunT]):
    """The runs of a test's variants, each recorded once; any two of them are a pair.

    ``width`` is how many may be recorded at the same time, where the tracer can.
    """

    def __init__(self, tracer: Tracer[RunT], changes: Sequence[Change], width: int = 1) -> None:
        self._tracer = tracer
        self._changes = tuple(changes)
        self._width = width
        self._recorded: dict[ChangeSet, RunT] = {}

    @property
    def recorded(self) -> Mapping[ChangeSet, RunT]:
        """Those that were recorded so far."""
        return self._recorded

    def execution(self, mine: ChangeSet, other: ChangeSet) -> TwinExecution:
        """The run without the changes of ``mine``, beside the one without those of ``other``.

        Raises TraceError, ToolchainError.
        """
        return self._tracer.execution(self.pair(mine, other))

    def pair(self, mine: ChangeSet, other: ChangeSet) -> Pair[RunT]:
        """Both runs, and what their variants differ in. Raises TraceError, ToolchainError."""
        self.record_beside(mine, other)
        first, second = self.run(mine), self.run(other)
        return Pair(first, second, differences(self._changes, mine, other))

    def record_beside(self, *variants: ChangeSet) -> None:
        """Record what is not yet recorded of them side by side, where so many may be. Raises TraceError,
        ToolchainError.
        """
        missing = [variant for variant in variants if variant not in self._recorded]
        if min(self._width, len(missing)) > 1:
            with ThreadPoolExecutor(len(missing), "afterd-record") as pool:
                self._recorded.update(
                    zip(missing, pool.map(self._tracer.record, missing), strict=True)
                )

    def run(self, variant: ChangeSet) -> RunT:
        """One run. Raises TraceError, ToolchainError."""
        if variant not in self._recorded:
            self._recorded[variant] = self._tracer.record(variant)
        return self._recorded[variant]


def differences(changes: Iterable[Change], mine: ChangeSet, other: ChangeSet) -> tuple[Change, ...]:
    """The changes in which two variants differ, at their lines of these variants.

    A variant is the bad version without some changes. What ``mine`` is without and ``other`` is not
    stands the other way round: its ``new`` lines are the good version's.
    """
    by_file: dict[str, list[Change]] = defaultdict(list)
    changes = tuple(changes)
    outer = outer_hunks(changes)
    mine, other = with_inner(mine, outer), with_inner(other, outer)
    for change in changes:
        by_file[change.file].append(change)
    here = {file: _placed_changes(hunks, mine) for file, hunks in by_file.items()}
    there = {file: _placed_changes(hunks, other, mine) for file, hunks in by_file.items()}
    added = {each.file: each.id for each in changes if each.form is ChangeForm.ADDED}
    altered = {each.file for each in changes if each.id in mine}
    not_as_in_good = {each.old_file for each in changes if each.id not in other}
    found: list[Change] = []
    for change in changes:
        if (change.id in mine) == (change.id in other):
            continue
        if change.form is ChangeForm.HUNK and (whole := added.get(change.file, "")):
            if change.file not in altered and change.old_file not in not_as_in_good:
                found.append(change)
                continue
            if whole in mine or whole in other:
                continue  # one of the two has no such file, the other no text that it was cut out of
        own, beside = here[change.file], there[change.file]
        if change.id in outer and not (change.id in own.spans and change.id in beside.spans):
            continue  # one of the two has the text where the other has it as well, or nowhere
        found.append(
            replace(
                change,
                file=own.path,
                old_file=beside.path,
                new=own.spans.get(change.id, change.new),
                old=beside.spans.get(change.id, change.old),
                form=_MIRRORED.get(change.form, change.form) if change.id in mine else change.form,
            )
        )
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _File:
    """A changed file of one variant: its path, and where each hunk's lines are."""

    path: str
    spans: Mapping[str, LineSpan]


def _placed_changes(
    changes: Sequence[Change], reverted: ChangeSet, beside: ChangeSet | None = None
) -> _File:
    """Where the changes are in a variant. What is inside of moved text that it has not got is where it was taken out,
    unless it stands there ``beside`` it as well.
    """
    moved = any(each.form is ChangeForm.RENAMED and each.id in reverted for each in changes)
    hunks = [change for change in changes if change.form is ChangeForm.HUNK]
    outer = outer_hunks(hunks)
    gone = [hunk for hunk in hunks if hunk.id in outer and outer[hunk.id].id in reverted]
    standing = [hunk for hunk in hunks if hunk not in gone]
    standing.sort(key=lambda c: (_first_line(c.new), c.id in outer, _first_line(c.old)))
    growth = {hunk.id: _growth(hunk, reverted) for hunk in standing}
    within: dict[ChangeId, int] = defaultdict(int)
    for hunk in standing:
        if hunk.id in outer:
            within[outer[hunk.id].id] += growth[hunk.id]
    spans: dict[str, LineSpan] = {}
    offset = 0  # by which lines have moved so far, against the bad version
    for hunk in standing:
        first = _first_line(hunk.new) + offset
        count = hunk.new.count + growth[hunk.id] + within[hunk.id]
        spans[hunk.id] = LineSpan(first if count else first - 1, count)
        offset += growth[hunk.id]
    taken = taken_out_by(changes, outer) if gone and beside is not None else {}
    for hunk in gone:
        taker = taken.get(hunk.id)
        if taker is not None and beside is not None and taker.id in reverted - beside:
            first = spans[taker.id].before + hunk.old.before - taker.old.before
            count = hunk.old.count
            spans[hunk.id] = LineSpan(first + 1 if count else first, count)
    return _File(changes[0].old_file if moved else changes[0].file, spans)


def _growth(hunk: Change, reverted: ChangeSet) -> int:
    """How many lines more than in the bad version stand there in a variant."""
    return hunk.old.count - hunk.new.count if hunk.id in reverted else 0


def _first_line(span: LineSpan) -> int:
    """Where a span's lines are or would be: an empty span stands after its start line."""
    return span.start if span.count else span.start + 1


class UntracedExecution:
    """The execution of a test that could not be traced, or of which only the ``executed`` changes are asked for: it has
    nothing else to say.
    """

    def __init__(self, executed: Sequence[ChangeId] = ()) -> None:
        self._executed = executed

    def failures(self) -> Sequence[Predicate]:
        """None was recognised."""
        return ()

    def step(self, identifier: StepId) -> Step:
        """No step was ever handed out."""
        raise KeyError(identifier)

    def indirect_influences(self, use: StepId, definition: StepId) -> Sequence[StepId]:  # noqa: ARG002 - the protocol's signature
        """None."""
        return ()

    def omitted(self, step: StepId) -> Sequence[ChangeId]:  # noqa: ARG002 - the protocol's signature
        """None."""
        return ()

    def counterpart(self, step: StepId) -> None:
        """Nothing."""

    def altered(self, change: ChangeId) -> Sequence[StepId]:  # noqa: ARG002 - the protocol's signature
        """Nothing."""
        return ()

    def missed(self, change: ChangeId) -> None:
        """Nothing."""

    def calling(self, step: StepId) -> None:
        """Nothing."""

    def trial(self, step: StepId) -> Trial:  # noqa: ARG002 - the protocol's signature
        """None is made."""
        return Trial.NOT_RUN

    def conduct(self) -> Mapping[ChangeId, Conduct]:
        """Not known."""
        return {}

    def executed_changes(self) -> Sequence[ChangeId]:
        """Those that are known."""
        return self._executed

    def work(self) -> int:
        """None was done."""
        return 0

    def notes(self) -> Sequence[str]:
        """None."""
        return ()


_T = TypeVar("_T")


class CautiousExecution:
    """An execution whose every answer is given, if only "unknown"; reversion goes on without it."""

    def __init__(self, execution: TwinExecution) -> None:
        self._execution = execution
        self._faults: dict[str, None] = {}

    def failures(self) -> Sequence[Predicate]:
        """The failed assertions; none when they cannot be read."""
        return self._asked(self._execution.failures, ())

    def step(self, identifier: StepId) -> Step:
        """The step; an opaque one, of no known place, when it cannot be read."""
        lost = Concrete(None, OPAQUE, "a step that could not be read")
        unknown = Step(identifier, Location(""), "", StepKind.OPAQUE, lost)
        return self._asked(lambda: self._execution.step(identifier), unknown)

    def indirect_influences(self, use: StepId, definition: StepId) -> Sequence[StepId]:
        """Branches between the two; none when they cannot be read."""
        return self._asked(lambda: self._execution.indirect_influences(use, definition), ())

    def omitted(self, step: StepId) -> Sequence[ChangeId]:
        """Changes that act through absence; none when they cannot be read."""
        return self._asked(lambda: self._execution.omitted(step), ())

    def counterpart(self, step: StepId) -> Term | None:
        """The other run's term; none when it cannot be read."""
        return self._asked(lambda: self._execution.counterpart(step), None)

    def altered(self, change: ChangeId) -> Sequence[StepId]:
        """Steps that a change altered; none when they cannot be read."""
        return self._asked(lambda: self._execution.altered(change), ())

    def missed(self, change: ChangeId) -> Step | None:
        """A step that did not happen; none when it cannot be read."""
        return self._asked(lambda: self._execution.missed(change), None)

    def calling(self, step: StepId) -> StepId | None:
        """The caller's step; none when it cannot be read."""
        return self._asked(lambda: self._execution.calling(step), None)

    def trial(self, step: StepId) -> Trial:
        """How the run ends; one that cannot be read tells nothing."""
        return self._asked(lambda: self._execution.trial(step), Trial.ELSEWHERE)

    def conduct(self) -> Mapping[ChangeId, Conduct]:
        """The changes' conduct; of none when it cannot be read."""
        return self._asked(self._execution.conduct, {})

    def executed_changes(self) -> Sequence[ChangeId]:
        """Executed changes; none when they cannot be read."""
        return self._asked(self._execution.executed_changes, ())

    def work(self) -> int:
        """What answering has cost so far."""
        return self._execution.work()

    def notes(self) -> Sequence[str]:
        """The execution's own notes, and what could not be read."""
        none: Sequence[str] = ()
        own = self._asked(self._execution.notes, none)
        faults = [f"A part of the trace could not be read ({fault})." for fault in self._faults]
        return (*own, *faults[: REPORT.faults])

    def _asked(self, question: Callable[[], _T], otherwise: _T) -> _T:
        try:
            return question()
        except Exception as error:  # noqa: BLE001 - whatever a hostile trace provokes is one gap more
            self._faults.setdefault(f"{type(error).__name__}: {error}"[:120])
            return otherwise
