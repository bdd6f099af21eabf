"""Activations of functions in an execution, and how far an execution goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from afterd.logic import TooLargeError
from afterd.symbolic.branches import OpenBranch
from afterd.symbolic.code import Body
from afterd.symbolic.memory import FIRST
from afterd.symbolic.operations import Known
from afterd.symbolic.origins import Decision
from afterd.symbolic.rounds import Loop, Rounds


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far a formula goes.

    ``instances``: instructions of the run; ``forced``: of a forced side, without sides within it;
    ``symbolic``: of the run's last instructions, how many are terms (what was before is concrete);
    ``extra``: iterations of a loop more than there were, beside those up to ``rounds``: the most that the run had of
    it at once; ``depth``: of calls; ``total``: of all sides
    together. ``whole_sides``: a forced side of a short run has all sides within it (it mostly needs
    them), not only those wanted.
    ``once``: a forced side is executed as it goes, without sides within it. ``all_or_none``: where the sides are
    more than may be, there is no formula.
    ``records``: a record may be copied from and to another place than the run did.
    ``over`` says whether the time for it is up. ``doubts_premises``: what makes numbers and words of the
    input may be wrong, too, and what a variable holds that no statement has written.
    """

    instances: int = 20_000_000
    forced: int = 20_000
    symbolic: int = 6_000
    extra: int = 1
    rounds: Mapping[Loop, int] = field(default_factory=dict)
    depth: int = 400
    total: int = 40_000
    sides: int = 4_000
    whole_sides: bool = True
    once: bool = False
    all_or_none: bool = False
    records: bool = True
    over: Callable[[], bool] = lambda: False
    doubts_premises: bool = False

    def look_at_time(self) -> None:
        """Raises TooLargeError where the time for it is up."""
        if self.over():
            raise TooLargeError("the time for it is up")


@dataclass(slots=True)
class Frame:
    """An activation. ``at`` is the next code of ``block``.

    Before terms are kept, ``under`` are the origins (``origins.Origins``) of its call, ``deciding`` the
    branches on the way, each until its sides meet, ``effects`` what their other sides write, by block.
    """

    body: Body
    key: int
    registers: dict[str, Known]
    result: str
    block: int = 0
    at: int = 0
    before: int = -1
    visits: dict[int, int] = field(default_factory=dict)
    rounds: Rounds = field(default_factory=Rounds)
    open: list[OpenBranch] = field(default_factory=list)
    carried: set[str] = field(default_factory=set)  # registers that hold what was read
    locals: list[int] = field(default_factory=list)  # where its variables are
    judges: bool = False  # it is the invariant's
    under: int = 0
    deciding: list[Decision] = field(default_factory=list)
    effects: dict[int, Mapping[int, int]] = field(default_factory=dict)

    def copy(self) -> Frame:
        """The same activation in an execution of its own."""
        return replace(
            self,
            registers=dict(self.registers), visits=dict(self.visits), rounds=self.rounds.copy(), open=list(self.open),
            carried=set(self.carried), locals=list(self.locals), deciding=list(self.deciding),
            effects=dict(self.effects),
        )  # fmt: skip

    @property
    def control(self) -> int:
        """The origins of being here."""
        return self.deciding[-1].together if self.deciding else self.under

    @property
    def slots(self) -> Mapping[str, int]:
        """The registers that hold addresses, as stack slots do."""
        return {
            name: value
            for name, (value, term) in self.registers.items()
            if term is None and isinstance(value, int) and value >= FIRST
        }

    def meeting(self, block: int) -> int | None:
        """Which open branch's sides meet in a block: the innermost one's place; None if none."""
        found = range(len(self.open) - 1, -1, -1)
        return next((at for at in found if self.open[at].join == block), None)


class Finished(Exception):  # noqa: N818 - an end, not an error
    """Nothing is left to execute."""


def frame_limit(frames: list[Frame]) -> int:
    """The number of own instances at which the innermost forced side is given up; 0 where none is."""
    for frame in reversed(frames):
        for branch in reversed(frame.open):
            if branch.limit:
                return branch.limit
    return 0


def innermost_open(frames: list[Frame]) -> OpenBranch | None:
    """The last branch, in whichever activation, whose sides have not met."""
    return next((frame.open[-1] for frame in reversed(frames) if frame.open), None)
