"""A process of the failing run beside its green partner, and what is asked of the two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from afterd.compare.c.absence import Absence
from afterd.compare.c.acted import Acted
from afterd.compare.c.alignment import Alignment
from afterd.compare.c.counterpart import Counterparts
from afterd.compare.c.displaced import Displaced
from afterd.compare.c.dual import DualSlice
from afterd.compare.c.intervention import Intervention
from afterd.compare.c.jumps import Jumps
from afterd.compare.c.replaced import Replaced
from afterd.compare.c.ties import Ties
from afterd.compare.c.transplant import Transplant
from afterd.compare.pair import Pair
from afterd.model.change import Change, ChangeId
from afterd.model.outcome import FailureKind
from afterd.model.term import Concrete, bitvec, reads
from afterd.model.trace import Alignment as Aligned
from afterd.model.trace import GreenValue, Step, StepKind
from afterd.trace.c.build.built_sources import BuiltSources
from afterd.trace.c.failure import Failed
from afterd.trace.c.read import (
    Influence,
    Process,
    Statement,
    initial_counterpart,
    is_initial_alike,
)
from afterd.trace.c.recorder import RecordedRun
from afterd.trace.linemap import Reversed
from afterd.trace.rendering import rendered_value


@dataclass(frozen=True, slots=True)
class ProcessPair:
    """A process of the failing run and what belongs to it; the rest is None without a green partner."""

    bad: Process
    influence: Influence
    green: Process | None = None
    ties: Ties | None = None
    counterparts: Counterparts | None = None
    absence: Absence | None = None
    displaced: Displaced | None = None
    jumps: Jumps | None = None
    transplant: Transplant | None = None
    dual: DualSlice | None = None
    replaced: Replaced | None = None
    acted: Acted | None = None
    intervention: Intervention | None = None


def paired_process(
    process: Process, green: Process | None, pair: Pair[RecordedRun], read: Sequence[Change]
) -> ProcessPair:
    """A process and its green partner, with what is asked of the two; ``read`` are the changes of files that a build
    reads.
    """
    influence = Influence(process)
    if green is None or pair.other is None:
        return ProcessPair(process, influence)
    green.recording.reach(process.recording.first, process.recording.end)
    lines = pair.lines
    alignment = Alignment(process.frames, green.frames, lines)
    good, bad = pair.other.sources, pair.mine.sources
    ties = Ties(read, lines, good, bad, alignment, pair.mine.preprocessed)
    backward = Alignment(green.frames, process.frames, Reversed(lines))
    dual = DualSlice(process, green, alignment, backward, ties)
    counterparts = Counterparts(process, green, alignment, dual)
    jumps = Jumps(alignment, backward, ties)
    return ProcessPair(
        bad=process,
        influence=influence,
        green=green,
        ties=ties,
        counterparts=counterparts,
        absence=Absence(green, alignment, backward, ties, jumps),
        displaced=Displaced(alignment, ties),
        jumps=jumps,
        transplant=Transplant(process, alignment),
        dual=dual,
        replaced=Replaced(process, green, backward, (pair.mine.sources, pair.other.sources)),
        acted=Acted(process, green, backward, ties),
        intervention=Intervention(pair, process, green, alignment, counterparts),
    )


def built_for(runs: Sequence[RecordedRun]) -> BuiltSources:
    """What was compiled for some runs."""
    return BuiltSources([run.program.store for run in runs], [run.sources for run in runs])


def read_by_builds(pair: Pair[RecordedRun]) -> tuple[Change, ...]:
    """The changes that may matter of files that a build reads: a struct of an example has fields whose names others
    have as well.
    """
    built = built_for([pair.mine, *filter(None, [pair.other])])
    return tuple(change for change in pair.live if not built.lack_both_of(change))


def judged_output(step: Step, failed: Failed | None) -> Step:
    """A call that wrote something else than in green, with what each wrote (what the call returned is no measure of
    it), made also from all that was judged of it; any other step as it is.
    """
    if failed is None or failed.kind is not FailureKind.OUTPUT or step.kind is not StepKind.OPAQUE:
        return step
    if failed.observed == failed.expected or step.green.alignment is not Aligned.SAME:
        return step
    judged = (read for read in reads(failed.condition) if read.step != failed.step)
    made_from = tuple(dict.fromkeys((*reads(step.term), *judged)))
    return replace(
        step,
        term=Concrete(step.value, step.term.sort, "what was written", made_from),
        rendered=failed.observed,
        green=replace(step.green, alignment=Aligned.DIFFERENT, rendered=failed.expected),
    )


def green_value(pair: ProcessPair, statement: Statement, tied: tuple[ChangeId, ...]) -> GreenValue:
    """Green's value; a static initialiser that no change touches is what it was."""
    if pair.counterparts is None:
        return GreenValue(Aligned.UNKNOWN)
    if statement.kind is not StepKind.INITIAL:
        return pair.counterparts.green_value(statement)
    defined = pair.counterparts.defined(statement)
    if defined is not None:
        return defined
    if not statement.location.file:
        return GreenValue(Aligned.UNKNOWN)
    cells = pair.bad.ids.cells[statement.step]
    there = initial_counterpart(pair.bad.symbols, pair.green.symbols, cells) if pair.green else None
    elsewhere = pair.counterparts.led_elsewhere(statement)
    if there is None or not isinstance(statement.value, int):
        same = GreenValue(
            Aligned.SAME, statement.value, readable_statement(pair.bad, statement), elsewhere
        )
        return GreenValue(Aligned.DIFFERENT) if tied else same
    mine = pair.bad.symbols
    equal = pair.green and is_initial_alike(mine, pair.green.symbols, cells, statement.value)
    alignment = Aligned.SAME if equal else Aligned.DIFFERENT
    return GreenValue(alignment, there, rendered_value(there, bitvec(8 * cells.size)), elsewhere)


def readable_statement(process: Process, statement: Statement) -> str:
    """The value of a statement as it is shown."""
    if statement.called and statement.instance is not None:
        return process.statements.readable(statement.called, statement.instance)
    pointer = isinstance(statement.value, int) and statement.is_address
    return rendered_value(
        statement.value, statement.term.sort, unsigned=statement.unsigned, pointer=pointer
    )
