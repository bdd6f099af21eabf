"""An answer for each test that broke: one that an earlier answer repairs needs none of its own, and one that was red
before waits until the others are answered.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from afterd.config import Settings, Strategy
from afterd.errors import BuildError, TestError
from afterd.execution.signature import same_failure, telling_signature
from afterd.model.change import NOTHING
from afterd.model.explanation import Explanation, Status
from afterd.model.progress import Progress
from afterd.pipeline.answer import unanswered_explanation
from afterd.pipeline.asking import oracle_of
from afterd.pipeline.bisected import Bisection
from afterd.pipeline.broken import Broken
from afterd.pipeline.broken_build import BUILD_BROKE, broken_build
from afterd.pipeline.case import Case
from afterd.pipeline.elsewhere import Elsewhere, outcomes_elsewhere, repaired_in_part
from afterd.pipeline.kept import keep
from afterd.pipeline.on_record import narrowed_range
from afterd.pipeline.one_test import Walk, explain_test
from afterd.pipeline.same_root import reverted_changes
from afterd.workspace import FailingTest, Phase, Range, Workspace, range_between


@dataclass(slots=True)
class EachTest:
    """Answers the tests that broke in a range, in their order; ``note`` goes into each answer.

    ``_walks`` are those of tests that the good version shows as red too: the history before it is looked at when all
    others are answered. ``_stopped`` says what stood in the way of a test that cannot be run at an end, ``_unbuilt`` of
    a build command that fails at the good version whatever its tests are.
    """

    workspace: Workspace
    settings: Settings
    wanted: Range
    broken: Broken
    heard: Progress
    note: str
    _found: list[Explanation] = field(default_factory=list)
    _stopped: dict[str, TestError | BuildError] = field(default_factory=dict)
    _walks: dict[str, Walk] = field(default_factory=dict)
    _unbuilt: dict[tuple[str, ...], BuildError] = field(default_factory=dict)

    def answers(self) -> tuple[Explanation, ...]:
        """An answer for each test that no answer before it repairs; each is kept. With ``--first`` one.

        Raises what stands in the way of the first where none can be answered.
        """
        left = list(self.broken.tests)
        while left and not self._has_enough():
            left = self._answered(left.pop(0), left)
        while self._walks and not self._has_enough():
            name = next(iter(self._walks))
            self._attempt(name, partial(self._walked, self._walks.pop(name)))
        if self._stopped and not self._found:
            raise next(iter(self._stopped.values()))
        for name, why in self._stopped.items():
            told = unanswered_explanation(name, Status.BROKEN, self.wanted.revisions, str(why))
            self._found.append(keep(self.workspace, told))
        return tuple(self._found)

    def _has_enough(self) -> bool:
        return self.settings.first and bool(self._found or self._stopped)

    def _answered(self, test: FailingTest, left: Sequence[FailingTest]) -> list[FailingTest]:
        """Answer a test; those of the ones that are ``left`` that its answer does not repair."""
        name = test.recipe.test_id
        if self.broken.suite.found is not None:
            self.heard.stage("explaining", name)
        repaired: list[str] = []

        def answer() -> None:
            if known := self._unbuilt.get(test.recipe.build):
                raise known
            try:
                within, found = self._answer(test)
            except BuildError as error:
                within, found = self._answer_of_build(test, error)
            if name in self._walks:
                return
            with self.workspace.clock.during(Phase.SUITE):
                others = self._effects_elsewhere(within, found, left)
            repaired.extend(others.repaired)
            self._keep(replace(found, also=others.repaired), others.note())

        self._attempt(name, answer)
        return [test for test in left if test.recipe.test_id not in repaired]

    def _answer_of_build(self, test: FailingTest, error: BuildError) -> tuple[Range, Explanation]:
        """The answer of a test's build, where that is what broke; else raises why it does not build."""
        if error.end == "good":  # so it is for every test that is built by the same command
            self._unbuilt[test.recipe.build] = error
        if error.end != "bad":
            raise error
        wanted, settings, recipe = self.wanted, self.settings, test.recipe
        build = broken_build(self.workspace, settings, wanted, recipe, self.heard)
        if build is None:
            raise error
        found = explain_test(self.workspace, settings, *build, self.heard, before=self._found)
        return build[0], replace(found, remarks=(*found.remarks, BUILD_BROKE))

    def _attempt(self, name: str, answer: Callable[[], None]) -> None:
        try:
            answer()
        except (TestError, BuildError) as error:
            self._stopped[name] = error

    def _walked(self, walk: Walk) -> None:
        self._keep(walk(self._found))

    def _keep(self, answer: Explanation, said: str = "") -> None:
        """Keep an answer; the first says what was set aside as well."""
        remarks = (said, *(() if self._found else self.broken.notes), self.note)
        answer = replace(answer, remarks=(*answer.remarks, *filter(None, remarks)))
        self._found.append(keep(self.workspace, answer))

    def _answer(self, test: FailingTest) -> tuple[Range, Explanation]:
        """The answer of one test, and the range that it is for: what the record leaves of the wanted one, where the
        test fails at its bad end as it does at the wanted one's; else all of it.
        """
        name, wanted = test.recipe.test_id, self.wanted
        explained = partial(
            explain_test,
            self.workspace,
            self.settings,
            before=self._found,
            ends_on_warnings=not self.settings.older_compilers,
        )
        known = narrowed_range(self.workspace, wanted.revisions, self.broken.suite, name)
        if known is not None and self.settings.strategy is Strategy.AFTER:
            revisions, note = known
            self.heard.stage("searching what the record leaves", note)
            within = range_between(self.workspace, revisions)
            case = Case(self.workspace, self.settings, test, self.heard, time.monotonic(), None)
            if _fails_alike(case, wanted, within):
                found = explained(within, test, self.heard)
                if found.status is Status.EXPLAINED:
                    holds = found.range == revisions
                    return within, replace(found, remarks=(note,) * holds + found.remarks)
        put_off = partial(self._walks.__setitem__, name)
        return wanted, explained(wanted, test, self.heard, put_off=put_off)

    def _effects_elsewhere(
        self, within: Range, answer: Explanation, left: Sequence[FailingTest]
    ) -> Elsewhere:
        """What an answer does to the tests that are ``left``, and to its own test's neighbours."""
        if answer.status is not Status.EXPLAINED:
            return Elsewhere()
        if answer.range != within.revisions:
            return self._effects_in_part(within, answer, left)
        names = [test.recipe.test_id for test in left]
        undone, broken = reverted_changes(answer), self.broken
        return outcomes_elsewhere(
            self.workspace,
            within,
            broken.suite,
            undone,
            answer.test,
            names,
            broken.green,
            self.heard,
        )

    def _effects_in_part(
        self, within: Range, answer: Explanation, left: Sequence[FailingTest]
    ) -> Elsewhere:
        """What an answer that a bisection left does to the tests that are ``left``, in the part of the range that it is
        of.
        """
        said = self.broken.said
        red = {name: said[name] for test in left if (name := test.recipe.test_id) in said}
        if not red:
            return Elsewhere()
        case = Case(self.workspace, self.settings, left[0], self.heard, time.monotonic(), None)
        part = Bisection(self.workspace, within, oracle_of(case, within)).part_of(answer)
        if part is None:
            return Elsewhere()
        undone = reverted_changes(answer)
        return repaired_in_part(self.workspace, part, self.broken.suite, undone, red, self.heard)


def _fails_alike(case: Case, wanted: Range, within: Range) -> bool:
    """Whether the test's failure at the bad end of a part of the range is that of the whole."""
    if within.revisions.bad == wanted.revisions.bad:
        return True
    here, there = (oracle_of(case, each).outcome(NOTHING) for each in (wanted, within))
    if here.signature is None or there.signature is None:
        return False
    return same_failure(telling_signature(here, ""), telling_signature(there, ""))
