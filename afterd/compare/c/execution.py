"""The traced failing run of a C or C++ test, with the green run beside it: model.trace.Execution."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

from afterd.compare.c.conduct import conduct
from afterd.compare.c.coverage import executed_changes
from afterd.compare.c.failures import failures, kept_going, written_from
from afterd.compare.c.handed_on import HandedOn
from afterd.compare.c.intervention import Again
from afterd.compare.c.paired import (
    ProcessPair,
    green_value,
    judged_output,
    paired_process,
    read_by_builds,
    readable_statement,
)
from afterd.compare.c.shown import Shown, turned_red
from afterd.compare.pair import Pair
from afterd.limits import C_PAIR
from afterd.model.change import ChangeId
from afterd.model.location import Location
from afterd.model.outcome import FailureKind
from afterd.model.term import Concrete, StepId, Term, concretised_terms
from afterd.model.trace import Alignment as Aligned
from afterd.model.trace import Conduct, Effect, GreenValue, Predicate, Step, StepKind, Trial
from afterd.trace.c.failure import NEVER, Failed, other_way
from afterd.trace.c.read import (
    Process,
    Statement,
    StepIds,
    choices,
    is_initial_alike,
    partners,
)
from afterd.trace.c.recorder import CRecorder, RecordedRun


class CTracer(CRecorder):
    """``compare.pair.Tracer`` for C and C++."""

    def execution(self, pair: Pair[RecordedRun]) -> LlvmExecution:
        """``mine`` with ``other`` beside it."""
        return LlvmExecution(pair, partial(self.record_replaced, pair.mine))


class LlvmExecution:
    """Implements ``model.trace.Execution`` over the processes of a test. ``again`` makes the run once more with
    a value set to another.
    """

    def __init__(self, pair: Pair[RecordedRun], again: Again | None = None) -> None:
        self._again = again
        self._sources = pair.mine.sources
        self._other = pair.other.sources if pair.other else pair.mine.sources
        other = pair.other.shown if pair.other else ""
        self._shown = Shown(pair.mine.shown, other, pair.mine.quoted)
        others = pair.other.processes if pair.other else ()
        self._pairs: dict[int, ProcessPair] = {}
        read = read_by_builds(pair)
        for process, green in partners(pair.mine.processes, others):
            self._pairs[process.recording.number] = paired_process(process, green, pair, read)
        each = [(paired.bad, paired.green) for paired in self._pairs.values()]
        self._handed = HandedOn(each, written_from)
        self._failed: dict[StepId, Failed] = {}
        self._concrete: dict[str, None] = {}
        self.step = cache(self._step)
        self.conduct = cache(self._conducted)
        self.executed_changes = cache(self._executed_changes)

    def failures(self) -> Sequence[Predicate]:
        """The failed assertions of every process that did not end as its green partner did."""
        found: list[Predicate] = []
        for pair in self._pairs.values():
            found_there = failures(pair.bad, pair.green, self._sources, self._shown.rank)
            told = _telling_failures(pair, found_there)
            for failed in kept_going(told, pair.bad, pair.dual):
                self._failed.setdefault(failed.step, failed)
                if pair.dual is not None and failed.records is not None:
                    pair.dual.pair_records(*failed.records)
                if pair.dual is not None and failed.green is not None:
                    pair.dual.pair_reads(failed.condition, failed.green)
                found.extend(self._predicate(other) for other in _departures(pair, failed))
                found.append(self._predicate(failed))
        return sorted(found, key=self._rank)

    def _rank(self, failure: Predicate) -> tuple[int, bool, bool, int]:
        """The most telling first; of wrong outputs those that say of a test that it failed, then those that the test
        looked at, or was written for.
        """
        telling, texts = (
            _TELLING[failure.kind or FailureKind.EXIT],
            (failure.observed, failure.expected),
        )
        return telling, not turned_red(*texts), *self._shown.rank(*texts)

    def _predicate(self, failed: Failed) -> Predicate:
        shown, hangs = failed.location, failed.kind is FailureKind.HANG
        if hangs:  # the condition, and not where the process was
            process = self._pairs[StepIds.process(failed.step)].bad
            shown = process.statements.statement(failed.step).location
        return Predicate(
            step=failed.step,
            condition=failed.condition,
            text=self._sources.text(shown.file, shown.line),
            failed_at=failed.location,
            kind=failed.kind,
            message=failed.message,
            observed=failed.observed,
            expected=failed.expected,
        )

    def _step(self, identifier: StepId) -> Step:
        """The step; KeyError for an id that was never handed out."""
        pair = self._pairs[StepIds.process(identifier)]
        failed = self._failed.get(identifier)
        if failed is not None and pair.bad.ids.is_failure(identifier):
            return self._failure_step(identifier, pair)
        try:
            statement = pair.bad.statements.statement(identifier)
        except KeyError:
            return self._failure_step(identifier, pair)
        self._remember_concrete(statement.term)
        tied = self._tied(pair, statement)
        green = green_value(pair, statement, tied)
        if not green.elsewhere:  # of another definition's inputs none corresponds
            self._pair_onward(pair, statement)
        place = self._place(pair, statement)
        step = Step(
            id=identifier,
            location=place,
            text=self._sources.text(place.file, place.line),
            kind=statement.kind,
            term=self._handed.term(statement, green),
            value=statement.value,
            rendered=readable_statement(pair.bad, statement),
            target=statement.target,
            control=pair.bad.statements.control(identifier),
            choices=choices(pair.bad.statements, statement),
            changes=tied,
            green=green,
            effect=pair.transplant.effect(statement)
            if pair.transplant and tied
            else Effect.UNKNOWN,
            extent=pair.bad.statements.extent(statement) if green.elsewhere else (),
        )
        return judged_output(step, failed)

    def _place(self, pair: ProcessPair, statement: Statement) -> Location:
        """Where a statement is shown: of what an initialiser gave, its entry's first line where the text tells it."""
        if pair.ties is None:
            return statement.location
        cells = pair.bad.ids.cells.get(statement.step)
        placed = pair.bad.symbols.at(cells.address) if cells else None
        if statement.kind is not StepKind.INITIAL or cells is None or placed is None:
            return pair.ties.place(statement)
        entry = pair.ties.entry(placed, cells.address)
        return Location(entry.file, entry.first) if entry else statement.location

    def _pair_onward(self, pair: ProcessPair, statement: Statement) -> None:
        """Pair what the step read with what its green partner read."""
        partner = self._partner(pair, statement)
        if partner is None or pair.green is None or pair.dual is None:
            return
        try:
            green = pair.green.statements.statement(partner)
        except KeyError:
            return
        pair.dual.pair_reads(statement.term, green.term)
        mine, other = (
            pair.bad.statements.control(statement.step),
            pair.green.statements.control(partner),
        )
        if mine is not None and other is not None:
            pair.dual.pair_records(pair.bad.ids.position(mine), pair.green.ids.position(other))

    def _partner(self, pair: ProcessPair, statement: Statement) -> StepId | None:
        """The green step of a statement: by execution index, else by data flow."""
        if pair.counterparts is None or pair.dual is None:
            return None
        return pair.counterparts.step(statement) or pair.dual.partner(statement.step)

    def _failure_step(self, identifier: StepId, pair: ProcessPair) -> Step:
        """A failed assertion that is no statement of its own: a faulting access, an exit status, what a
        call gave.
        """
        failed = self._failed[identifier]
        last = failed.at or pair.bad.frames.instance(pair.bad.recording.end - 1)
        compared = GreenValue(Aligned.DIFFERENT, rendered=failed.expected)
        place, ties = failed.location, pair.ties if failed.at else None
        return Step(
            id=identifier,
            location=failed.location,
            text=self._sources.text(failed.location.file, failed.location.line),
            kind=StepKind.OUTPUT,
            term=failed.condition,
            value=False,
            rendered=failed.observed,
            control=pair.bad.statements.control_of(last),
            changes=ties.of_line(failed.at.view, place.file, place.line)
            if ties and failed.at
            else (),
            green=compared if failed.at else GreenValue(Aligned.UNKNOWN),
        )

    def _tied(self, pair: ProcessPair, statement: Statement) -> tuple[ChangeId, ...]:
        if pair.ties is None:
            return ()
        if statement.kind is StepKind.INITIAL:
            cells = pair.bad.ids.cells.get(statement.step)
            placed = pair.bad.symbols.at(cells.address) if cells else None
            if cells is None or placed is None:
                return ()
            mine, green = pair.bad.symbols, pair.green.symbols if pair.green else None
            value = mine.initial(cells.address, cells.size)
            alike = green is not None and is_initial_alike(mine, green, cells, value)
            return pair.ties.of_global(placed, cells.address, alike=alike)
        return pair.ties.of(statement)

    def indirect_influences(self, use: StepId, definition: StepId) -> Sequence[StepId]:
        """Executed branches whose other side could have redefined what ``use`` read."""
        pair = self._pairs[StepIds.process(use)]
        try:
            statement = pair.bad.statements.statement(use)
            found = dict.fromkeys(self._kept_from(pair, self._partner(pair, statement), use))
            defined = pair.dual.partner(definition) if pair.dual else None
            found.update(dict.fromkeys(self._kept_from(pair, defined, use)))
            found.update(dict.fromkeys(pair.influence.between(use, definition)))
        except KeyError:
            return ()
        return tuple(found)

    def _kept_from(
        self, pair: ProcessPair, partner: StepId | None, use: StepId
    ) -> Iterable[StepId]:
        """Branches that kept the failing run from a step of green's."""
        return pair.dual.departed(partner, besides=use) if pair.dual and partner is not None else ()

    def omitted(self, step: StepId) -> Sequence[ChangeId]:
        """Changes that act at the step through what was removed, or what led here and had not."""
        pair = self._pairs[StepIds.process(step)]
        if pair.absence is None or pair.counterparts is None:
            return ()
        try:
            statement = pair.bad.statements.statement(step)
        except KeyError:
            return ()
        found: dict[ChangeId, None] = {}
        partner = self._partner(pair, statement)
        if partner is not None and pair.dual is not None:
            found.update(dict.fromkeys(pair.absence.writers(statement, partner)))
            found.update(dict.fromkeys(pair.dual.removed_guards(partner)))
            other = pair.dual.partner(step)
            if other is not None and not self._tied(pair, statement):
                # nothing is known against this definition: green may have read another one
                found.update(dict.fromkeys(pair.absence.definition(other)))
        if statement.instance is not None:
            found.update(dict.fromkeys(pair.absence.guards(statement.instance)))
            found.update(dict.fromkeys(pair.absence.calls(statement.instance)))
            found.update(dict.fromkeys(pair.absence.thrown(statement.instance)))
            if pair.displaced is not None:
                found.update(dict.fromkeys(pair.displaced.changes(statement.instance)))
            if pair.jumps is not None:
                found.update(dict.fromkeys(pair.jumps.led_to(statement.instance)))
        event = _event_of_green(self._failed.get(step))
        if event >= 0 and pair.green is not None:
            found.update(dict.fromkeys(pair.absence.definition(pair.green.ids.of(event))))
        return tuple(found)

    def counterpart(self, step: StepId) -> Term | None:
        """The term of green's statement."""
        pair = self._pairs[StepIds.process(step)]
        try:
            partner = self._partner(pair, pair.bad.statements.statement(step))
            if pair.green is None or partner is None:
                return None
            return pair.green.statements.statement(partner).term
        except KeyError:
            return None

    def altered(self, change: ChangeId) -> Sequence[StepId]:
        """The sampled executions of a change's statements that did otherwise than green's."""
        differs = {Aligned.DIFFERENT, Aligned.ABSENT}
        return [
            step
            for pair in self._pairs.values()
            if pair.acted is not None
            for step in pair.acted.altered(change)
            if self.step(step).green.alignment in differs
        ]

    def missed(self, change: ChangeId) -> Step | None:
        """The last step of green's in a change's lines that the failing run did not come to."""
        for pair in self._pairs.values():
            step = pair.acted.missed(change) if pair.acted is not None else None
            if step is not None and pair.green is not None:
                return self._only_green(pair.green, pair.green.statements.statement(step))
        return None

    def _only_green(self, green: Process, statement: Statement) -> Step:
        place = statement.location
        return Step(
            id=statement.step,
            location=place,
            text=self._other.text(place.file, place.line),
            kind=statement.kind,
            term=statement.term,
            value=statement.value,
            rendered=readable_statement(green, statement),
            target=statement.target,
        )

    def calling(self, step: StepId) -> StepId | None:
        """What the call gave in which a step was."""
        pair = self._pairs[StepIds.process(step)]
        if pair.acted is None or pair.bad.ids.is_initial(step):
            return None
        return pair.acted.calling(step)

    def trial(self, step: StepId) -> Trial:
        """The run made again with green's value or branch put at the step's record."""
        pair = self._pairs[StepIds.process(step)]
        if pair.intervention is None or self._again is None:
            return Trial.NOT_RUN
        try:
            replaced = pair.intervention.replacement(pair.bad.statements.statement(step))
        except KeyError:
            return Trial.NOT_RUN
        if replaced is None:
            return Trial.NOT_RUN
        return pair.intervention.trial(self._again(replaced))

    def _conducted(self) -> Mapping[ChangeId, Conduct]:
        """What the executed changes did beside their old text, on the same values."""
        found: dict[ChangeId, Conduct] = {}
        for pair in self._pairs.values():
            if pair.ties is not None and pair.transplant is not None:
                for change, did in conduct(pair.bad, pair.ties, pair.transplant).items():
                    if found.get(change) is not Conduct.PASSED:
                        found[change] = did
        return found

    def _executed_changes(self) -> Sequence[ChangeId]:
        """The changes with a statement in the failing run (or, removed ones, in the green run)."""
        found: dict[ChangeId, None] = {}
        for pair in self._pairs.values():
            if pair.ties is not None:
                found.update(dict.fromkeys(executed_changes(pair.bad, pair.green, pair.ties)))
        return tuple(found)

    def work(self) -> int:
        """Records that were looked through in both runs."""
        return sum(
            process.recording.work()
            for pair in self._pairs.values()
            for process in (pair.bad, pair.green)
            if process is not None
        )

    def notes(self) -> Sequence[str]:
        """What was not followed."""
        found: list[str] = []
        for pair in self._pairs.values():
            recording = pair.bad.recording
            program = (
                recording.arguments[0].rsplit("/", 1)[-1] if recording.arguments else "a process"
            )
            if recording.threads:
                found.append(f"{program} has several threads; only the first one was followed.")
            if recording.first:
                found.append(
                    f"Only the last {recording.end - recording.first:,} of {recording.end:,} events"
                    f" of {program} were kept."
                )
            if recording.forked_from is not None:
                found.append(
                    f"{program} was forked; values from before the fork were not followed."
                )
            found += [f"Not followed: {source}" for source in pair.bad.program.store.opaque()[:3]]
        if self._concrete:
            first = [*self._concrete][: C_PAIR.reasons]
            more = len(self._concrete) - len(first)
            found.append(
                f"Made concrete: {'; '.join(first)}{f'; and {more} more' if more else ''}."
            )
        return tuple(dict.fromkeys(found))[: C_PAIR.notes]

    def _remember_concrete(self, term: Term) -> None:
        for part in concretised_terms(term):
            if isinstance(part, Concrete):
                self._concrete.setdefault(part.reason)


_TELLING = {
    FailureKind.ASSERTION: 0,
    FailureKind.CRASH: 1,
    FailureKind.EXCEPTION: 2,
    FailureKind.OUTPUT: 3,
    FailureKind.EXIT: 4,
    FailureKind.HANG: 5,
    FailureKind.RESULT: 6,
}


def _event_of_green(failed: Failed | None) -> int:
    """What green did where a wrong output came up; -1 where that is not told."""
    if failed is None or failed.kind is not FailureKind.OUTPUT:
        return -1
    return failed.records[1] if failed.records is not None else failed.green_event


def _telling_failures(pair: ProcessPair, found: Iterable[Failed]) -> list[Failed]:
    """Without those that only say that a statement ran which the good version has as well: the branch
    above it says why. What an error message is made of was taken for the cause of its being there.
    """
    known = list(found)
    left = [failed for failed in known if failed.condition != NEVER or not _stood(pair, failed)]
    return left or known


def _stood(pair: ProcessPair, failed: Failed) -> bool:
    statement = pair.bad.statements.statement(failed.step)
    return pair.counterparts is not None and pair.counterparts.stood(statement)


def _departures(pair: ProcessPair, failed: Failed) -> Iterable[Failed]:
    """The branches that kept the failing run from what green did: they say more than what it did."""
    if failed.green_event < 0 or pair.green is None or pair.dual is None or pair.replaced is None:
        return
    event = pair.green.ids.of(failed.green_event)
    departed = list(pair.dual.departed(event, besides=failed.step))
    past = None if departed else pair.replaced.passed(failed.green_event)
    if past is not None and past != failed.step:
        departed.append(past)
    for branch in departed:
        place = pair.bad.statements.statement(branch).location
        condition = other_way(pair.bad, branch)
        yield replace(failed, step=branch, condition=condition, location=place)
