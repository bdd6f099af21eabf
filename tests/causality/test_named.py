"""What a failure names is evidence where there is no trace."""

from __future__ import annotations

from dataclasses import replace

from made_changes import change, repaired_by

from afterd.causality.analysis import Oracles
from afterd.causality.loop import Loop
from afterd.causality.named import NOTHING_NAMED, NamedByFailure
from afterd.compare import UntracedExecution
from afterd.execution.failures.values import shown_lines
from afterd.logic.constraint import Undecided
from afterd.model.change import ChangeSet
from afterd.model.location import LineSpan, Location
from afterd.model.outcome import Outcome
from afterd.model.progress import Silent

CHANGES = {f"c{n}": replace(change(n, file="a.py"), new=LineSpan(10 * n, 2)) for n in range(1, 9)}


def runs(named: NamedByFailure, guilty: str = "c6") -> list[ChangeSet]:
    """The reversions that a search without a trace makes."""
    asked: list[ChangeSet] = []

    def outcome(reverted: ChangeSet) -> Outcome:
        asked.append(reverted)
        return repaired_by({guilty})(reverted)

    oracles = Oracles(outcome, lambda _: True, lambda _: Undecided(""), named=named)
    found = Loop(UntracedExecution(), CHANGES, frozenset(CHANGES), oracles, Silent()).explain()
    assert found.root == {guilty}
    assert found.minimal
    return asked


def test_a_line_that_the_report_shows_is_tried_first() -> None:
    assert runs(NamedByFailure((Location("a.py", 61),))) == [{"c6"}]


def test_a_line_that_nobody_changed_says_nothing() -> None:
    assert runs(NamedByFailure((Location("a.py", 62), Location("b.py", 61)))) == runs(NOTHING_NAMED)


def test_of_several_that_are_shown_each_is_tried_in_the_order_of_the_report() -> None:
    places = [Location("a.py", line) for line in (60, 20, 40)]
    assert runs(NamedByFailure(tuple(places))) == [{"c6"}]
    assert runs(NamedByFailure(tuple(reversed(places)))) == [{"c4"}, {"c2"}, {"c6"}]


def test_the_function_that_the_message_names_comes_before_others() -> None:
    placed = {key: replace(each, symbol=f"Table.f{key}") for key, each in CHANGES.items()}
    named = NamedByFailure((), frozenset({"object", "fc6"}))
    assert [key for key, each in placed.items() if named.speaks_of(each)] == ["c6"]


def test_the_lines_of_a_report() -> None:
    text = (
        'File "/slot/src/a.py", line 7, in f\n'
        "src/b.py:12: TypeError\n"
        "    at g (/slot/lib/c.js:3:9)\n"
        'File "/usr/lib/python3/a.py", line 9, in z\n'
    )
    files = {"src/a.py", "src/b.py", "lib/c.js", "a.py"}
    assert shown_lines(text, files) == [
        Location("src/a.py", 7),
        Location("src/b.py", 12),
        Location("lib/c.js", 3),
        Location("a.py", 9),
    ]
