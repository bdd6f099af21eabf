"""What a variant lacks is asked of runs: few in vain, as many as tell."""

from __future__ import annotations

from typing import cast

import pytest

from afterd.execution.oracle import Oracle
from afterd.model.change import NOTHING, Change, ChangeSet
from afterd.model.location import LineSpan
from afterd.model.outcome import FailureKind, FailureSignature, Outcome, Unresolved, Verdict
from afterd.pipeline.runs_as_builds import RunsAsBuilds, nothing_missing
from afterd.pipeline.tracers.python import python_clashes


class _Runs:
    """An oracle whose every run fails; what it was asked."""

    def __init__(self) -> None:
        self.asked: list[ChangeSet] = []

    def outcome(self, reverted: ChangeSet) -> Outcome:
        """One run."""
        self.asked.append(reverted)
        return Outcome(Verdict.FAIL)


def test_three_questions_in_vain_one_after_the_other_are_the_last() -> None:
    runs = _Runs()
    builds = RunsAsBuilds(
        cast("Oracle", runs), lambda reverted, _outcome: "" if "c1" in reverted else "missing"
    ).builds
    answers = [builds(frozenset({name})) for name in ("c2", "c3", "c1", "c4", "c5", "c6", "c1")]
    assert answers == [False, False, True, False, False, False, False]
    assert len(runs.asked) == 6


def test_where_a_line_tells_what_is_missed_nothing_is_asked_for() -> None:
    variants = RunsAsBuilds(
        cast("Oracle", _Runs()),
        lambda _reverted, _outcome: "missing",
        lambda reverted, _outcome: frozenset({"c9"}) if "c1" in reverted else frozenset(),
    )
    lines, none = frozenset({"c1"}), frozenset({"c2"})
    assert variants.outcome(lines).built
    assert variants.outcome(none).reason is Unresolved.BUILD
    assert variants.clashing(lines) == {"c9"}
    assert not variants.clashing(none)


@pytest.mark.parametrize(
    ("said", "built"),
    [
        ("make: *** [Makefile:315: repl.c] Segmentation fault", True),
        ("a.c:1:1: error: expected ';'\nmake: *** [a.o] Error 1", False),
        ("gcc: internal compiler error: Segmentation fault signal terminated program cc1", False),
        ("make: *** [a.o] Error 1", False),
    ],
)
def test_a_program_that_crashes_while_it_helps_to_build_was_run(said: str, built: bool) -> None:
    class Refusing(_Runs):
        def outcome(self, reverted: ChangeSet) -> Outcome:
            return Outcome(Verdict.UNRESOLVED, Unresolved.BUILD, f"{said}: {len(reverted)}")

    variants = RunsAsBuilds(cast("Oracle", Refusing()), nothing_missing)
    assert variants.outcome(frozenset({"c1"})).built is built


def test_a_variant_that_lacks_something_clashes_with_who_took_it_away() -> None:
    """The call stands in old text, around which something else is left: that has nothing to do with it (dulwich:
    parameters written out for ``**kwargs`` in four functions that call each other took 66 runs).
    """
    calls = _hunk(1, 10, "opened", "-    return client(url, **kwargs)", "+    return client(url)")
    beside = _hunk(2, 12, "opened", "-    x = 1", "+    x = 2")
    took = _hunk(3, 30, "client", "-def client(url, **kwargs):", "+def client(url, quiet=False):")
    asked = python_clashes({each.id: each for each in (calls, beside, took)})

    def clashes(reverted: ChangeSet, outcome: Outcome) -> ChangeSet:
        return asked(reverted, outcome, Outcome(Verdict.FAIL))

    shown = "lib.py:10: in opened\n    return client(url, **kwargs)\nlib.py:12: TypeError\n"
    said = "TypeError: client() got an unexpected keyword argument 'pool'"
    lacking = _failed_otherwise(said, shown)
    assert clashes(frozenset({"c1"}), lacking) == {"c3"}
    assert clashes(frozenset({"c1", "c3"}), lacking) == {"c2"}  # nobody is left who took it
    assert clashes(frozenset({"c1"}), _failed_otherwise("ValueError: 3", shown)) == {"c2"}
    brought = _failed_otherwise(said.replace("pool", "quiet"), "lib.py:10: TypeError\n")
    assert clashes(frozenset({"c3"}), brought) == {"c1"}  # who asks for what only c3 gives
    assert not clashes(frozenset({"c1"}), Outcome(Verdict.FAIL, None, shown, lacking.signature))


def test_a_variant_whose_call_does_not_fit_clashes_with_who_altered_it_or_its_function() -> None:
    """A library made the call, and reported what it caught: no line of the program is in what was printed."""
    head = _hunk(1, 1, "resolve", "-def resolve(a):", "+def resolve(a, b):")
    body = _hunk(2, 2, "resolve", "-    return a", "+    return a + b")
    given = _hunk(3, 5, "", "-HANDED = partial(resolve)", "+HANDED = partial(resolve, 1)")
    texts = (
        b"def resolve(a):\n    return a\n\n\nHANDED = partial(resolve)\n",
        b"def resolve(a, b):\n    return a + b\n\n\nHANDED = partial(resolve, 1)\n",
    )
    asked = python_clashes({each.id: each for each in (head, body, given)}, lambda _: texts)

    def clashes(reverted: ChangeSet, outcome: Outcome) -> ChangeSet:
        return asked(reverted, outcome, Outcome(Verdict.FAIL))

    said = "ERROR\nTypeError: resolve() missing 1 required positional argument: 'b'\n"
    assert clashes(frozenset({"c3", "c2"}), _failed_otherwise("assert not errors", said)) == {"c1"}
    assert clashes(frozenset({"c1"}), _failed_otherwise("assert not errors", said)) == {"c3"}
    assert not clashes(NOTHING, Outcome(Verdict.FAIL, None, said))


RAISED = """
    def take(data):
        print(1)
>       {text}
E       KeyError: 'result'

lib.py:{line}: KeyError
"""


@pytest.mark.parametrize(
    ("line", "text", "kind", "clash"),
    [
        (12, "if data['result'] in known:", FailureKind.EXCEPTION, {"c2"}),
        (10, "print(data['result'])", FailureKind.EXCEPTION, set()),  # where it was raised before
        (11, "seen = data['result']", FailureKind.EXCEPTION, set()),  # nobody altered that line
        (12, "if data['result'] in known:", FailureKind.ASSERTION, set()),
    ],
)
def test_the_same_failure_from_another_line_speaks_of_who_wrote_that(
    line: int, text: str, kind: FailureKind, clash: set[str]
) -> None:
    """A key renamed where it is read, in several lines: each undone alone, it failed as ever (avocado)."""
    first = _hunk(1, 10, "take", "-    print(data['status'])", "+    print(data['result'])")
    second = _hunk(2, 12, "take", "-    if data['status']", "+    if data['result']")
    signature = FailureSignature(kind, message="KeyError: 'result'")
    bad = RAISED.format(text="print(data['result'])", line=10)
    then = RAISED.format(text=text, line=line)
    outcomes = (Outcome(Verdict.FAIL, None, detail, signature) for detail in (then, bad))
    clashes = python_clashes({"c1": first, "c2": second})
    assert clashes(frozenset({"c1"}), *outcomes) == clash


def _hunk(number: int, line: int, symbol: str, *lines: str) -> Change:
    span = LineSpan(line, 1)
    patch = "\n".join([f"@@ -{line} +{line} @@", *lines, ""])
    return Change(f"c{number}", "lib.py", "lib.py", span, span, symbol=symbol, patch=patch)


def _failed_otherwise(message: str, detail: str) -> Outcome:
    signature = FailureSignature(FailureKind.EXCEPTION, message)
    return Outcome(Verdict.UNRESOLVED, Unresolved.DIFFERENT_FAILURE, detail, signature)
