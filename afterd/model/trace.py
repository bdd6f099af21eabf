"""The recorded execution as the algorithms see it: steps in SSA form, read on demand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from afterd.model.change import ChangeId
from afterd.model.location import Location
from afterd.model.outcome import FailureKind
from afterd.model.term import StepId, Term, Value


class StepKind(StrEnum):
    """What a step did."""

    ASSIGN = "assign"  # defines a cell: value of term
    BRANCH = "branch"  # term is the condition, value the outcome (a bool)
    OPAQUE = "opaque"  # external call or input: a concrete value that depends on reads
    INITIAL = "initial"  # a value from before the window, or a static initialiser
    OUTPUT = "output"  # an observable event: bytes written, exit status, process spawned
    CALL = "call"  # a call as an event (control only)


class Alignment(StrEnum):
    """How a step of the failing run stands to the green run."""

    SAME = "same"  # aligned, same value
    DIFFERENT = "different"  # aligned, another value
    ABSENT = "absent"  # the green run did not execute it at this point
    UNKNOWN = "unknown"  # no alignment was attempted or it is not trusted


class Effect(StrEnum):
    """What the changes of a step do *here*: the statement as it stood in the good version, evaluated
    on the values that the failing run had at this point.
    """

    MATTERS = "matters"  # it would have done something else
    NEUTRAL = "neutral"  # it would have done the same
    UNKNOWN = "unknown"  # it cannot be evaluated, or the step has no change


class Conduct(StrEnum):
    """What the code that a change is in did, call by call, beside its counterpart in green."""

    PARTED = "parted"  # on the same arguments it did something else, and no call below it
    PASSED = "passed"  # on the same arguments it did something else, as did a call below it
    CARRIED = "carried"  # it was given something else, and did something else
    ABSORBED = "absorbed"  # it parted, but a caller of it did as in green
    SAME = "same"  # it did as in green
    NEUTRAL = (
        "neutral"  # its statements, where they were looked at, did as their old text would have
    )


class Trial(StrEnum):
    """How the failing run ends once one step is given what it had in the other run."""

    PASSES = "passes"  # the step carries the failure
    FAILS = "fails"
    ELSEWHERE = "elsewhere"  # it went where neither run ever was, which tells nothing
    NOT_RUN = "not run"  # what the step had there cannot be put here


NOT_EXECUTED = "not executed"
"""What stands in a tree for the value of a step that a run did not take."""


ANOTHER_ITEM, NO_ITEM = "another item", "no more items"
"""What a loop over something says of whether it goes on, in a tree."""
RAISES = "raises "
"""What the value of a statement that raised begins with, in a tree."""
NO_EXCEPTION = "control goes on"
"""What stands in a tree for a statement that raised in the other run alone, and gives nothing."""


@dataclass(frozen=True, slots=True)
class GreenValue:
    """What the aligned step of the green run had; ``rendered`` as a person reads it.

    ``elsewhere``: green read another definition where the failing run read this one, in a call that
    is not the one that corresponds. The step itself may well be as it was.
    """

    alignment: Alignment
    value: Value = None
    rendered: str = ""
    elsewhere: bool = False

    @property
    def shown(self) -> str:
        """What a step of a tree says of it; empty where it is not known."""
        absent = self.alignment is Alignment.ABSENT
        return self.rendered or (NOT_EXECUTED if absent else "")


@dataclass(frozen=True, slots=True)
class Step:
    """One executed instance of a statement.

    ``id`` grows with execution order. ``target`` is the source's name of what was defined.
    ``rendered`` is ``value`` as a person reads it. ``control`` is the closest enclosing branch
    instance that decided that this step was executed (AFTER, Alg. 3: not post-dominated), ``None``
    at the outermost level. ``given`` is the statement that gave the value, where that is another one: a
    parameter's call. ``choices`` are the branches within the statement that chose what it
    read: of a conditional expression, of ``and`` and ``or``. ``changes`` are the changes this step's
    statement was altered by (directly, through a macro, a type, an initialiser; or a removed
    statement that stood here).
    ``extent`` are the steps that said where, and how much, a copy wrote from whose output the failing run has
    what green has from another write.
    ``old`` is the statement as it stood in the good version, over what the *failing* run could have
    read here; None where that cannot be told. What ``effect`` says is its value against ``value``.
    """

    id: StepId
    location: Location
    text: str
    kind: StepKind
    term: Term
    value: Value = None
    rendered: str = ""
    target: str = ""
    control: StepId | None = None
    given: Location | None = None
    choices: tuple[StepId, ...] = ()
    changes: tuple[ChangeId, ...] = ()
    green: GreenValue = GreenValue(Alignment.UNKNOWN)
    effect: Effect = Effect.UNKNOWN
    old: Term | None = None
    extent: tuple[StepId, ...] = ()


@dataclass(frozen=True, slots=True)
class Predicate:
    """A condition that held at ``step`` and is asked to be explained.

    ``condition`` is a Boolean term that is *false* in this execution: the negation of what
    happened ("the assertion holds", "the branch goes the other way", "this byte is as in green").
    ``failed_at`` is where a failure came up, which may be another line than the step's: a ``raise`` is
    explained from the branch that led to it. ``text`` is the statement there. ``by_others``: code that is not
    followed found the fault, a test outside of the repository say.
    """

    step: StepId
    condition: Term
    text: str
    kind: FailureKind | None = None  # set for a failed assertion, None for a critical predicate
    message: str = ""
    observed: str = ""
    expected: str = ""
    failed_at: Location | None = None
    by_others: bool = False

    @property
    def is_inferred(self) -> bool:
        """Whether it was seen to differ, but not that the test failed by it: code that is not followed
        judged it.
        """
        return self.by_others or self.kind is FailureKind.RESULT


class Execution(Protocol):
    """A traced failing run (with the green run beside it): what a tracer must provide.

    Every method may re-execute the program with another window; none is called in a loop over the
    whole trace. ``causality`` and ``localization`` know nothing else about a language.
    """

    def failures(self) -> Sequence[Predicate]:
        """The failed assertions to explain, most likely first; empty when none was recognised."""
        ...

    def step(self, identifier: StepId) -> Step:
        """The step; raises KeyError for an id this execution never handed out."""
        ...

    def indirect_influences(self, use: StepId, definition: StepId) -> Sequence[StepId]:
        """Executed branches between ``definition`` and ``use`` whose other side could have
        redefined what ``use`` read from ``definition`` (AFTER, Def. 2; potential dependence),
        nearest to ``use`` first; before them those at which the other run was seen to part on its way to
        what it has there.
        """
        ...

    def omitted(self, step: StepId) -> Sequence[ChangeId]:
        """Changes that act at ``step`` only through something the failing run did *not* do: a
        removed statement whose green instance wrote what ``step`` reads, a removed guard.
        """
        ...

    def conduct(self) -> Mapping[ChangeId, Conduct]:
        """How the executed changes' code did beside green's, nearest to the failure first.

        What is not in it is not known; empty where a tracer does not compare calls.
        """
        ...

    def executed_changes(self) -> Sequence[ChangeId]:
        """The changes with a statement in the failing run, last executed first (ADD's order)."""
        ...

    def work(self) -> int:
        """What answering has cost so far, in records looked through: the same on every machine."""
        ...

    def notes(self) -> Sequence[str]:
        """Sentences on what was not followed: threads, longjmp, windows cut, terms made concrete."""
        ...


class TwinExecution(Execution, Protocol):
    """A failing run beside its twin, of which more is asked: what a story is made of."""

    def counterpart(self, step: StepId) -> Term | None:
        """The term of the other run's step that corresponds, over what was read there."""
        ...

    def altered(self, change: ChangeId) -> Sequence[StepId]:
        """The steps that a change altered and that are not as in the other run, the last first."""
        ...

    def missed(self, change: ChangeId) -> Step | None:
        """The last step that only the other run took because of a change, as it was there."""
        ...

    def calling(self, step: StepId) -> StepId | None:
        """The step of the caller at which the activation that ``step`` belongs to was left."""
        ...

    def trial(self, step: StepId) -> Trial:
        """The failing run once more, ``step`` given what it had in the other run: one run of the test,
        unless it cannot be given that.
        """
        ...
