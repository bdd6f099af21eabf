"""The budget's end is looked at wherever the search asks, not only where it runs the test."""

from __future__ import annotations

import pytest
from made_changes import made
from paper_examples import running_example

from afterd.causality.loop import Loop, Oracles
from afterd.causality.standing import Standing
from afterd.causality.trials import BudgetSpentError
from afterd.causality.watch import Watch, WatchedExecution
from afterd.logic.constraint import Undecided
from afterd.model.change import ChangeSet
from afterd.model.outcome import Outcome, Verdict
from afterd.model.progress import Silent


def test_a_question_after_the_end_is_not_asked() -> None:
    left = [2]

    def spent() -> bool:
        left[0] -= 1
        return left[0] < 0

    execution = WatchedExecution(running_example(), Watch(spent))
    assert execution.step(100).target == "sum"
    assert not execution.omitted(100)
    with pytest.raises(BudgetSpentError):
        execution.step(100)


def test_who_puts_the_answer_together_asks_on() -> None:
    watch = Watch(lambda: True)
    execution = WatchedExecution(running_example(), watch)
    with pytest.raises(BudgetSpentError):
        execution.step(100)
    watch.stop()
    assert execution.step(100).target == "sum"


def test_a_search_whose_variants_are_all_refused_ends_with_the_budget() -> None:
    """No test is ever run: it went on for minutes beyond its budget."""
    changes = made(40)
    asked: list[ChangeSet] = []

    def refused(reverted: ChangeSet) -> str:
        asked.append(reverted)
        return "it does not compile"

    oracles = Oracles(
        lambda _: Outcome(Verdict.FAIL),
        lambda _: False,
        lambda _: Undecided("nothing was asked"),
        standing=Standing(refused),
        watch=Watch(lambda: len(asked) >= 25),
    )
    analysis = Loop(running_example(), changes, frozenset(changes), oracles, Silent()).explain()
    assert not analysis.root
    assert len(asked) == 25
    assert any("budget" in note for note in analysis.notes)
