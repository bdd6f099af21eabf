"""Running a test again in a warm process, as long as that is seen to make no difference.

A warm process is an optimisation that could lie. So it has to agree with fresh processes first, once
on a failing tree and once on a passing one (confirming both ends runs each twice anyway, or records each), and only
a run that ended by itself counts. Its first run, the probe, has nothing imported ahead: it stands for a fresh one where
that is asked for, and the tree passes. Where it disagrees, or something speaks against it, every run is a
fresh process again, and ``Reruns.why_fresh`` says why.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from afterd.execution.losses import tell_loss
from afterd.execution.process import Command, ProcessResult
from afterd.execution.recipe import Recipe
from afterd.execution.signature import runs_are_alike
from afterd.limits import ProcessLimits
from afterd.model.outcome import Outcome, Verdict

_WORTH = 30.0  # seconds of a test beside which starting a process costs nothing


class ColdError(Exception):
    """A warm process gave no result that counts; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A run of the test in ``tree`` that records itself, as its environment tells the recorder; ``version`` is that
    tree's id.
    """

    command: Command
    tree: Path
    timeout: float
    version: str = ""


class WarmTest(Protocol):
    """A test command in one slot. ``probes`` counts the runs it took to get ready.

    ``lost``: it is ``cold`` because its process ended by itself, or was killed.
    """

    cold: str
    lost: bool
    probes: int

    def run(self, timeout: float | None = None) -> ProcessResult:
        """Run the test once. Raises ColdError."""
        ...

    def taken_probe(self) -> ProcessResult | None:
        """The result of the run that it took to get ready, once; None where there was none, or it was taken."""
        ...

    def record(self, recording: Recording) -> ProcessResult:
        """Run the test once, recording itself. Raises ColdError, also where only a fresh process can."""
        ...

    def close(self) -> None:
        """End the process."""
        ...


_OWN_PROGRAMS = frozenset({"Meson"})
"""Runners that are written in Python themselves; what they test is a program of its own."""

Warm = Callable[[Command, Path, ProcessLimits, Path | None], WarmTest | None]
"""Gets a command ready in a slot; None for programs that it is not meant for."""


@dataclass(slots=True)
class _Trust:
    """What is known of one recipe."""

    fresh: dict[str, Outcome] = field(default_factory=dict)
    agreed: set[Verdict] = field(default_factory=set)
    cold: str = ""
    meant: bool = True
    losses: int = 0

    @property
    def earned(self) -> bool:
        return self.agreed >= {Verdict.PASS, Verdict.FAIL}


@dataclass(frozen=True, slots=True)
class _Ready:
    """A warm process, of which test it is, and the ``folder`` of its slot, open: one that is made anew has the old
    one's name, and what works in the old one finds nothing there.
    """

    key: str
    test: WarmTest
    folder: int

    def serves(self, recipe: Recipe, slot: Path) -> bool:
        """Whether it runs this test in the folder that the slot has now."""
        here = self.key == _key(recipe)
        return here and os.path.samestat(os.fstat(self.folder), slot.stat())

    def close(self) -> None:
        """End the process."""
        self.test.close()
        os.close(self.folder)


class Reruns:
    """The warm processes of an executor, one a slot, and whether they are to be trusted."""

    def __init__(self, warm: Warm | None = None) -> None:
        self._warm = warm
        self._trust: dict[str, _Trust] = {}
        self._tests: dict[Path, _Ready] = {}
        self._lock = threading.Lock()
        self._closed = False

    def wanted(self, recipe: Recipe, tree: str) -> bool:
        """Whether a run of ``tree`` should be warm: to be compared, or because it is trusted."""
        trust = self._of(recipe)
        return self.usable(recipe) and (trust.earned or tree in trust.fresh)

    def probed(
        self, slot: Path, recipe: Recipe, scratch: Path | None
    ) -> tuple[ProcessResult | None, int]:
        """The run that it takes to get a warm process ready, and how many were made; no result where there is one
        already, or none can be.
        """
        ready = self._tests.get(slot)
        if not self.usable(recipe) or (ready is not None and ready.serves(recipe, slot)):
            return None, 0
        test, probes = self._ready(slot, recipe, scratch)
        return (test.taken_probe() if test is not None else None), probes

    def run(
        self, slot: Path, recipe: Recipe, scratch: Path | None
    ) -> tuple[ProcessResult | None, int]:
        """A warm run's result, if it counts, and how many runs of the test were made for it."""
        test, probes = self._ready(slot, recipe, scratch)
        if test is None:
            return None, probes
        if (probed := test.taken_probe()) is not None:
            probed.remove()
        try:
            result = test.run(recipe.limits.test.timeout)
        except ColdError:
            if not test.cold:
                return None, probes + 1
            if self._is_replaced(slot, recipe, test):
                # It was lost: that is no reason, and no outcome.
                again, runs = self.run(slot, recipe, scratch)
                return again, probes + 1 + runs
            self.distrust(recipe, test.cold)
            return None, probes + 1
        except OSError as error:  # no room for its output; a fresh run will say so
            self.distrust(recipe, f"no run can be made in the warm process ({error})")
            return None, probes
        self._of(recipe).losses = 0  # they are counted in a row
        return result, probes + 1

    def recorded(
        self, slot: Path, recipe: Recipe, recording: Recording, scratch: Path | None
    ) -> ProcessResult | None:
        """A recorded run in the slot's warm process; None where there is none that is trusted, or that can be
        compared with a fresh run of the same tree, or where only a fresh process can record it. One is made where
        another slot has one: that takes no run any more.
        """
        if not self.wanted(recipe, recording.version):
            return None
        if all(each.key != _key(recipe) for each in tuple(self._tests.values())):
            return None
        test, _ = self._ready(slot, recipe, scratch)
        try:
            return test.record(recording) if test is not None else None
        except (ColdError, OSError):
            return None

    def agrees(self, recipe: Recipe, tree: str, outcome: Outcome) -> bool:
        """Compare a warm run with the fresh one of the same tree, if there was one."""
        trust = self._of(recipe)
        known = trust.fresh.get(tree)
        if known is None:
            return True
        if not runs_are_alike(known, outcome):
            self.distrust(recipe, "a warm run did not end as a fresh one of the same tree")
            return False
        trust.agreed.add(outcome.verdict)
        return True

    def earns(self, recipe: Recipe, tree: str, recorded: Outcome) -> bool:
        """Whether a recorded run in a warm process ended as the fresh one of the same tree did. Where it did not, that
        it records itself may be why: it says nothing against warm ones.
        """
        trust = self._of(recipe)
        known = trust.fresh.get(tree)
        if known is None or not runs_are_alike(known, recorded):
            return False
        trust.agreed.add(recorded.verdict)
        return True

    def note(self, recipe: Recipe, tree: str, outcome: Outcome) -> None:
        """A fresh run, to compare warm ones with."""
        trust = self._of(recipe)
        trust.fresh[tree] = outcome
        if outcome.test_seconds > _WORTH and trust.meant:
            self.distrust(recipe, f"the test itself takes longer than {_WORTH:.0f} seconds")

    def distrust(self, recipe: Recipe, why: str) -> None:
        """From now on every run of this test is a fresh process."""
        trust = self._of(recipe)
        trust.cold = trust.cold or why

    def why_fresh(self, recipe: Recipe) -> str:
        """The sentence that says why every run was fresh; empty where warm ones were trusted, or
        the program is none that they are meant for.
        """
        trust = self._of(recipe)
        if self._warm is None or not trust.meant or not trust.cold:
            return ""
        return f"The test was run in processes of its own alone: {trust.cold}."

    def compares(self, recipe: Recipe, tree: str, verdict: Verdict) -> bool:
        """Whether another run of ``tree`` that ends so would be the first warm one to be held against a fresh one."""
        trust = self._of(recipe)
        return self.usable(recipe) and verdict not in trust.agreed and tree in trust.fresh

    def trusted(self, recipe: Recipe) -> bool:
        """Whether further runs are warm."""
        trust = self._of(recipe)
        return trust.earned and not trust.cold

    def close(self) -> None:
        """End all warm processes; further runs are fresh."""
        self._closed = True
        with self._lock:
            tests, self._tests = list(self._tests.values()), {}
        for ready in tests:
            ready.close()

    def usable(self, recipe: Recipe) -> bool:
        """Whether nothing speaks against warm runs so far."""
        trust = self._of(recipe)
        return self._warm is not None and trust.meant and not trust.cold and not self._closed

    def _is_replaced(self, slot: Path, recipe: Recipe, test: WarmTest) -> bool:
        """Whether another warm process may take the place of one that was lost."""
        trust, most = self._of(recipe), recipe.limits.test.repeats
        if not test.lost or self._closed or trust.losses == most:
            return False
        trust.losses += 1
        tell_loss("A warm process", test.cold, trust.losses, most, str(slot))
        test.close()
        if ready := self._tests.pop(slot, None):
            ready.close()
        return True

    def _of(self, recipe: Recipe) -> _Trust:
        with self._lock:
            return self._trust.setdefault(
                _key(recipe),
                _Trust(meant=_is_meant(recipe)),
            )

    def _ready(
        self, slot: Path, recipe: Recipe, scratch: Path | None
    ) -> tuple[WarmTest | None, int]:
        """The slot's warm process for this recipe, and the runs that were made to have it."""
        assert self._warm is not None
        ready = self._tests.get(slot)
        if ready is not None and ready.serves(recipe, slot):
            return ready.test, 0
        if ready is not None:
            self._tests.pop(slot).close()
        try:
            made = self._warm(recipe.test_in(slot), slot, recipe.limits.test, scratch)
        except OSError as error:
            self.distrust(recipe, f"the warm process cannot be started ({error})")
            return None, 0
        if made is None:
            self._of(recipe).meant = False
            return None, 0
        if made.cold or self._closed:
            again = self._is_replaced(slot, recipe, made)
            made.close()
            if again:
                test, probes = self._ready(slot, recipe, scratch)
                return test, probes + made.probes
            self.distrust(recipe, made.cold or "the work was ended")
            return None, made.probes
        self._tests[slot] = _Ready(_key(recipe), made, os.open(slot, os.O_RDONLY))
        return made, made.probes


def _key(recipe: Recipe) -> str:
    return "\0".join((recipe.test_id, recipe.command_digest, recipe.environment_digest))


def _is_meant(recipe: Recipe) -> bool:
    """Whether the test may be one that a warm process runs."""
    elsewhere = recipe.told_by in _OWN_PROGRAMS or bool(recipe.container)
    return not elsewhere and not recipe.is_a_build
