"""Every run goes through the oracle: cached, counted, budgeted, compared; with real git trees."""

from __future__ import annotations

import dataclasses
import pickle
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from trees_and_slots import Workshop

from afterd.config import Budget
from afterd.errors import BuildError, LostRunError, SpaceError, TestError
from afterd.execution.cache import MemoryCache, key_of_test
from afterd.execution.confirmation import Confirmation, Ends, confirm
from afterd.execution.executors import Job, LocalExecutor, workbench
from afterd.execution.flakiness import Prior, Repeats
from afterd.execution.oracle import Oracle
from afterd.execution.recipe import Recipe
from afterd.execution.second_runs import with_last_runs
from afterd.limits import Limits, ProcessLimits
from afterd.model.change import NOTHING, ChangeSet
from afterd.model.outcome import FailureKind, FailureSignature, Outcome, Unresolved, Verdict

LIMITS = dataclasses.replace(
    Limits(), test=ProcessLimits(timeout=20.0, grace=0.1), build=ProcessLimits(timeout=20.0)
)
ALL = frozenset({"c1", "c2", "c3"})
# Three changes, each a file that says bad or good; the "build" needs c2 not to be alone in good.
BUILD = "! { grep -q good c2 && grep -q bad c3; } || { echo 'c2: error: needs c3'; exit 1; }"
ASSERTION = 'echo "p: a.c:7: f: Assertion \\`x\' failed." >&2; exit 1'
TEST = f'echo run >> "$COUNT"; grep -q good c1 || {{ {ASSERTION}; }}'


class Heard:
    """A listener that remembers."""

    def __init__(self) -> None:
        self.stages: list[str] = []
        self.outcomes: list[tuple[ChangeSet, Verdict, int]] = []
        self.builds: list[tuple[ChangeSet, bool]] = []

    def stage(self, name: str, detail: str = "") -> None:
        self.stages.append(f"{name} {detail}".strip())

    def tried(self, reverted: ChangeSet, outcome: Outcome, runs: int) -> None:
        self.outcomes.append((reverted, outcome.verdict, runs))

    def built(self, reverted: ChangeSet, *, ok: bool) -> None:
        self.builds.append((reverted, ok))

    def counted(self, done: int, found: int, red: int) -> None:
        raise AssertionError((done, found, red))

    def advanced(self, done: int, what: str) -> None:
        raise AssertionError((done, what))

    def suspects(self, signs: object) -> None:
        raise AssertionError(signs)


class Range:
    """A range of three changes with an oracle over it."""

    def __init__(self, folder: Path) -> None:
        self.workshop = Workshop(folder)
        self.count = folder / "count"
        self.heard = Heard()
        self.cache = MemoryCache()
        self.executors: list[LocalExecutor] = []

    def tree_of(self, reverted: ChangeSet) -> str:
        files = {change: "good\n" if change in reverted else "bad\n" for change in sorted(ALL)}
        return self.workshop.tree(files)

    def recipe(self, test: str = TEST, build: str = BUILD) -> Recipe:
        return Recipe(
            ("sh", "-c", test),
            ("sh", "-c", build) if build else (),
            test_id="t",
            extra={"COUNT": str(self.count)},
            limits=LIMITS,
        )

    def oracle(
        self, test: str = TEST, build: str = BUILD, slots: int = 1, budget: Budget | None = None
    ) -> Oracle:
        executor = LocalExecutor(
            [self.workshop.slot(f"{len(self.executors)}-{n}") for n in range(slots)]
        )
        self.executors.append(executor)
        recipe = self.recipe(test, build)
        return Oracle(
            self.tree_of, recipe, executor, cache=self.cache, budget=budget, progress=self.heard
        )

    def runs(self) -> int:
        return len(self.count.read_text().splitlines()) if self.count.exists() else 0


@pytest.fixture
def span(tmp_path: Path) -> Iterator[Range]:
    made = Range(tmp_path)
    yield made
    for executor in made.executors:
        executor.close()


def change_set(*changes: str) -> ChangeSet:
    return frozenset(changes)


def test_pass_fail_and_unbuildable(span: Range) -> None:
    oracle = span.oracle()
    assert oracle.outcome(NOTHING).verdict is Verdict.FAIL
    assert oracle.outcome(change_set("c1")).passed
    broken = oracle.outcome(change_set("c2"))
    assert (broken.verdict, broken.reason, broken.built) == (
        Verdict.UNRESOLVED,
        Unresolved.BUILD,
        False,
    )
    assert broken.detail == "c2: error: needs c3"
    assert [verdict for _, verdict, _ in span.heard.outcomes] == ["fail", "pass", "unresolved"]


def test_nothing_is_run_twice(span: Range) -> None:
    oracle = span.oracle()
    first = oracle.outcome(change_set("c1"))
    again = oracle.outcome(change_set("c1"))
    assert (first.cached, again.cached) == (False, True)
    counts = oracle.counts()
    assert (counts.tests, counts.builds, counts.cached, span.runs()) == (1, 1, 1, 1)


def test_sets_that_give_one_tree_are_one_variant(span: Range) -> None:
    oracle = span.oracle()
    oracle.tree_of = lambda _: span.tree_of(change_set("c1"))
    assert len(oracle.outcomes([change_set("c1"), change_set("c2"), NOTHING])) == 3
    assert oracle.counts().tests == 1


def test_another_session_uses_what_this_one_found(span: Range) -> None:
    span.oracle().outcome(change_set("c1"))
    oracle = span.oracle()
    assert oracle.outcome(change_set("c1")).cached
    assert oracle.counts().tests == 0


def test_a_remembered_outcome_counts_as_the_run_that_it_saves(span: Range) -> None:
    """How much is tested of a story goes by the runs before it: they are as many on the second time."""
    for remembered in (False, True):
        oracle = span.oracle()
        for each in ("c1", "c1", "c2", "c3"):
            oracle.outcome(change_set(each))
        oracle.settle(span.tree_of(NOTHING), Outcome(Verdict.FAIL))
        oracle.outcome(NOTHING)
        ledger = oracle.ledger
        assert (ledger.tests, ledger.remembered) == ((0, 2) if remembered else (2, 0))


@pytest.mark.parametrize("what", ["test", "test_id", "build", "folder", "extra", "tools"])
def test_the_key_holds_everything_an_outcome_depends_on(span: Range, what: str) -> None:
    recipe = span.recipe()
    other = {"extra": {"A": "1"}, "test": ("x",), "build": ("y",)}.get(what, "other")
    changed = dataclasses.replace(recipe, **{what: other})  # type: ignore[arg-type] # by name
    assert key_of_test(changed, "t") != key_of_test(recipe, "t")


def test_building_alone_does_not_test_and_is_remembered(span: Range) -> None:
    oracle = span.oracle()
    assert oracle.builds(change_set("c1"))
    assert not oracle.builds(change_set("c2"))
    assert not oracle.builds(change_set("c2"))
    counts = oracle.counts()
    assert (counts.tests, counts.builds, counts.cached, span.runs()) == (0, 2, 1, 0)
    assert oracle.outcome(change_set("c2")).reason is Unresolved.BUILD
    assert oracle.counts().builds == 2


def test_a_tested_variant_is_known_to_build(span: Range) -> None:
    oracle = span.oracle()
    oracle.outcome(change_set("c1"))
    assert oracle.builds(change_set("c1"))
    assert oracle.counts().builds == 1


@pytest.mark.parametrize("prints", [True, False])
def test_a_pass_without_a_word_is_none_where_both_versions_print(
    span: Range, *, prints: bool
) -> None:
    """With c2 undone nothing of the test is come to; c1 is what is guilty."""
    said = "echo fine" if prints else "true"
    test = f"if grep -q good c2 && grep -q bad c1; then exit 0; fi; {TEST}; {said}"
    oracle = span.oracle(f"set -e; {test}", build="")
    assert confirm(oracle, ALL).ends is Ends.CONFIRMED
    vacuous = oracle.outcome(change_set("c2"))
    assert (vacuous.passed, vacuous.reason) == (
        (False, Unresolved.SILENT) if prints else (True, None)
    )
    assert oracle.outcome(change_set("c1")).passed


def test_a_pass_that_unittest_tells_of_is_none_without_a_word(span: Range) -> None:
    """vobject: what printed was undone as well, and sixteen commits were asked in vain."""
    counted = "echo 'Ran 2 tests in 0.001s' >&2"
    test = f"if grep -q good c2; then {counted}; exit 0; fi; {TEST}; echo fine; {counted}"
    oracle = span.oracle(f"set -e; {test}", build="")
    assert confirm(oracle, ALL).ends is Ends.CONFIRMED
    assert oracle.outcome(change_set("c2")).passed


def test_a_failure_of_another_kind_is_not_this_failure(span: Range) -> None:
    test = f"grep -q good c1 || {{ {ASSERTION}; }}; grep -q bad c2 || exit 3"
    oracle = span.oracle(test, build="")
    confirm(oracle, change_set("c1"))
    other = oracle.outcome(change_set("c1", "c2"))
    assert (other.verdict, other.reason) == (Verdict.UNRESOLVED, Unresolved.DIFFERENT_FAILURE)
    assert other.signature is not None
    assert other.signature.message == "exit status 3"
    assert oracle.outcome(change_set("c2")).verdict is Verdict.FAIL


@pytest.mark.parametrize(("limit", "bound"), [(300.0, 10.0), (4.0, 4.0)])
def test_variants_get_little_longer_than_both_ends(span: Range, limit: float, bound: float) -> None:
    """A variant that hangs must not use up the time-out of a test of which nothing is known."""
    oracle = span.oracle()
    limits = dataclasses.replace(LIMITS, test=dataclasses.replace(LIMITS.test, timeout=limit))
    oracle.recipe = dataclasses.replace(oracle.recipe, limits=limits)
    assert confirm(oracle, ALL).ends is Ends.CONFIRMED
    assert oracle.recipe.limits.test.timeout == bound


def test_a_good_version_is_red_only_where_it_is_built_from_nothing(span: Range) -> None:
    """What the bad version's build left was taken for the good one's: a folder configured once for all."""
    stale = "test -e made || cp c1 made"
    oracle = span.oracle("grep -q good made", stale)
    assert confirm(oracle, ALL).ends is Ends.CONFIRMED
    assert oracle.outcome(change_set("c1")).passed
    assert not oracle.outcome(change_set("c2")).passed
    assert confirm(span.oracle("false", stale), ALL).ends is Ends.ALREADY_RED


def test_an_end_on_record_is_confirmed_by_that_and_fewer_runs(span: Range) -> None:
    """A bisection ran both ends of what it left: each was built and run twice more before anything else."""
    span.oracle().outcomes([NOTHING, ALL])
    made, surely = span.runs(), Prior(flaky=0.05)
    found = confirm(span.oracle(), ALL, 1, surely, remembers=True)
    assert (found.ends, found.repeats.runs, span.runs() - made) == (Ends.CONFIRMED, 1, 0)
    assert confirm(span.oracle(), ALL, 2, surely, remembers=True).ends is Ends.CONFIRMED
    assert span.runs() - made == 2
    assert confirm(span.oracle(), ALL, 2, surely).ends is Ends.CONFIRMED
    assert span.runs() - made == 6


@pytest.mark.parametrize(
    ("bad", "good", "ends", "runs"),
    [
        ("alike", "alike", Ends.CONFIRMED, 0),
        (None, "alike", Ends.CONFIRMED, 1),
        ("alike", "otherwise", Ends.CONFIRMED, 1),
        (None, None, Ends.CONFIRMED, 2),
    ],
)
def test_a_recorded_run_is_the_last_one_of_its_end(
    span: Range, bad: str | None, good: str | None, ends: Ends, runs: int
) -> None:
    """Where it ends as the plain ones did; else a plain one is made, as what records a run may change it."""
    oracle = span.oracle()
    confirmed = confirm(oracle, ALL, puts_off=True)
    assert (confirmed.ends, confirmed.repeats.runs, span.runs()) == (Ends.CONFIRMED, 1, 2)
    assert confirmed.good is not None
    recorded = {
        oracle.tree_of(each): seen if how == "alike" else other
        for each, how, seen, other in (
            (NOTHING, bad, confirmed.bad, confirmed.good),
            (ALL, good, confirmed.good, confirmed.bad),
        )
        if how
    }
    found = with_last_runs(oracle, confirmed, recorded)
    assert (found.ends, found.repeats.runs, found.put_off) == (ends, 2, None)
    assert span.runs() == 2 + runs


def test_a_last_run_that_ends_otherwise_is_a_flaky_end(span: Range) -> None:
    test = f"n=$(wc -l < $COUNT); {TEST}; test $n -lt 2"
    oracle = span.oracle(test)
    confirmed = confirm(oracle, ALL, puts_off=True)
    assert confirmed.ends is Ends.CONFIRMED
    found = with_last_runs(oracle, confirmed, {oracle.tree_of(NOTHING): confirmed.bad})
    assert (found.ends, found.repeats, found.flaky) == (Ends.FLAKY_GOOD, Repeats(2, 1), 1.0)


@pytest.mark.parametrize("good", ["c1", "c2"])
def test_what_is_not_as_it_should_be_is_run_again_at_once(span: Range, good: str) -> None:
    """Nothing is recorded of a version that passes where it should fail, or fails where it should pass."""
    passes = good == "c1"
    test = f"true; {TEST}" if not passes else 'echo run >> "$COUNT"'
    found = confirm(span.oracle(test, build=""), change_set(good), puts_off=True)
    assert found.ends is (Ends.GREEN if passes else Ends.ALREADY_RED)
    assert found.repeats.runs == 2
    assert found.put_off is None


def test_a_cached_failure_serves_another_question(span: Range) -> None:
    """The cache keeps what was seen; whether it is *this* failure depends on the reference."""
    oracle = span.oracle()
    failed = oracle.outcome(NOTHING)
    assert failed.signature is not None
    later = span.oracle()
    later.reference = dataclasses.replace(failed.signature, message="y")
    assert later.outcome(NOTHING).reason is Unresolved.DIFFERENT_FAILURE
    later.reference = failed.signature
    assert later.outcome(NOTHING).verdict is Verdict.FAIL


def test_a_budget_of_runs(span: Range) -> None:
    oracle = span.oracle(budget=Budget(runs=2), slots=2)
    sets = [NOTHING, change_set("c1"), change_set("c3"), change_set("c1", "c3")]
    outcomes = oracle.outcomes(sets)
    assert [outcome.reason for outcome in outcomes[2:]] == [Unresolved.NOT_RUN] * 2
    assert (oracle.spent, span.runs()) == (True, 2)
    assert oracle.outcome(change_set("c1")).passed  # what is known costs nothing
    confirmed = confirm(oracle, change_set("c1"))
    assert confirmed.ends is Ends.CONFIRMED  # confirmation is not in the budget of runs
    assert oracle.counts().tests == 2


def test_a_budget_of_runs_ends_a_search_that_only_builds(span: Range) -> None:
    """None of the variants came to a test run, and there was no end of them."""
    oracle = span.oracle(build="test -n ''", budget=Budget(runs=2))
    sets = [change_set("c1"), change_set("c3"), change_set("c1", "c3")]
    tried = [oracle.outcome(sets[0]).built, oracle.spent, oracle.builds(sets[1]), oracle.spent]
    assert tried == [False, False, False, True]
    assert oracle.outcome(sets[2]).reason is Unresolved.NOT_RUN
    assert not oracle.builds(sets[2])
    assert (oracle.counts().builds, oracle.counts().tests) == (2, 0)
    assert oracle.ledger.exhausted, "nothing is asked of a trace or a compiler any more either"


def test_a_budget_of_time_cuts_the_run_that_is_under_way(span: Range) -> None:
    oracle = span.oracle("sleep 60", build="", budget=Budget(seconds=0.4))
    began = time.monotonic()
    assert oracle.outcome(NOTHING).reason is Unresolved.NOT_RUN
    assert time.monotonic() - began < 2.0
    assert oracle.outcome(change_set("c1")).reason is Unresolved.NOT_RUN
    assert not oracle.builds(change_set("c3"))
    assert oracle.counts().tests == 1


def test_a_time_out_is_remembered_for_this_session_only(span: Range) -> None:
    hasty = dataclasses.replace(LIMITS, test=ProcessLimits(timeout=0.2, grace=0.1))
    oracle = span.oracle("sleep 60", build="")
    oracle.recipe = dataclasses.replace(oracle.recipe, limits=hasty)
    for _ in range(2):
        assert oracle.outcome(NOTHING).hangs
    assert oracle.counts().tests == 1
    assert span.cache.get(key_of_test(oracle.recipe, span.tree_of(NOTHING))) is None


def test_candidates_are_tried_side_by_side_in_order(span: Range) -> None:
    oracle = span.oracle("sleep 0.5; " + TEST, build="", slots=3)
    sets = [NOTHING, change_set("c1"), change_set("c3")]
    began = time.monotonic()
    outcomes = oracle.outcomes(sets)
    assert time.monotonic() - began < 1.4
    assert [outcome.passed for outcome in outcomes] == [False, True, False]
    assert [reverted for reverted, _, _ in span.heard.outcomes] == sets


def test_a_test_that_alters_its_tree_does_not_alter_the_next(span: Range) -> None:
    oracle = span.oracle("cat c1; echo good > c1; grep -q good c2 || exit 1", build="")
    assert not oracle.outcome(NOTHING).passed
    oracle.outcome(change_set("c1", "c3"))
    bench = oracle.outcome(change_set("c3"))
    assert "bad" in bench.detail


def test_the_environment_names_no_repository_above_the_slot(span: Range) -> None:
    oracle = span.oracle('test "$GIT_CEILING_DIRECTORIES" = "$(dirname "$PWD")"', build="")
    assert oracle.outcome(NOTHING).passed


def test_a_full_disk_is_not_a_failure_of_the_variant(
    span: Range, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbench, "_ROOM", 1 << 62)
    with pytest.raises(SpaceError, match="are free where"):
        span.oracle().outcome(NOTHING)


class TestBothEnds:
    """What the two ends of a range can show."""

    def confirmed(self, span: Range, test: str, build: str = "") -> Confirmation:
        return confirm(span.oracle(test, build), ALL)

    def test_confirmed(self, span: Range) -> None:
        oracle = span.oracle()
        found = confirm(oracle, ALL)
        assert found.ends is Ends.CONFIRMED
        assert found.bad.signature == oracle.reference
        counts = oracle.counts()
        assert (counts.confirmation, counts.tests, counts.builds) == (4, 0, 2)
        assert span.heard.stages == [
            "confirming the bad version 2 runs",
            "confirming the good version 2 runs",
        ]
        assert oracle.outcome(NOTHING).cached
        assert oracle.outcome(ALL).cached

    @pytest.mark.parametrize(
        ("test", "ends"),
        [
            ("exit 0", Ends.GREEN),
            ("exit 1", Ends.ALREADY_RED),
            ("grep -q good c1 && exit 2; exit 1", Ends.ALREADY_RED),
            ('echo >> "$COUNT"; exit $(( $(wc -l < "$COUNT") % 2 ))', Ends.FLAKY_BAD),
            ('echo >> "$COUNT"; exit $(wc -l < "$COUNT")', Ends.FLAKY_BAD),
            (
                'grep -q bad c1 && exit 1; echo >> "$COUNT"; exit $(( $(wc -l < "$COUNT") - 1 ))',
                Ends.FLAKY_GOOD,
            ),
        ],
    )
    def test_results(self, span: Range, test: str, ends: Ends) -> None:
        assert self.confirmed(span, test).ends is ends

    def test_a_program_that_dies_of_this_signal_or_that_is_red_each_time(self, span: Range) -> None:
        """As the heap happens to lie: that is one failure, of the variants too. What passes now and then is flaky."""
        even = '[ $(( $(wc -l < "$COUNT") % 2 )) = 0 ]'
        dies = f'echo >> "$COUNT"; {even} && kill -ABRT $$; kill -SEGV $$'
        oracle = span.oracle(f"grep -q good c1 && exit 0; {dies}")
        found = confirm(oracle, ALL)
        assert found.ends is Ends.CONFIRMED
        assert (oracle.reference, *oracle.other_crashes) == (
            FailureSignature(FailureKind.CRASH, message="SIGSEGV", test="t"),
            FailureSignature(FailureKind.CRASH, message="SIGABRT", test="t"),
        )
        seen = [oracle.outcome(change_set(*each)).verdict for each in (("c3",), ("c2", "c3"))]
        assert seen == [Verdict.FAIL, Verdict.FAIL]
        span.count.unlink()
        assert self.confirmed(span, dies.replace("kill -ABRT $$", "exit 0")).ends is Ends.FLAKY_BAD

    def test_a_suspicious_history_asks_for_more_runs(self, span: Range) -> None:
        """Three failures in ten runs, seeded by a counter: the fourth run differs."""
        test = 'echo >> "$COUNT"; case $(wc -l < "$COUNT") in 4|7|9) exit 0;; esac; exit 1'
        unsuspecting = self.confirmed(span, test)
        assert unsuspecting.ends is Ends.ALREADY_RED or unsuspecting.ends is Ends.FLAKY_GOOD
        span.count.unlink()
        found = confirm(span.oracle(test, ""), ALL, 2, Prior(0.6, 4, 8))
        assert (found.ends, found.flaky) == (Ends.FLAKY_BAD, 1.0)
        assert found.repeats.other == 1

    @pytest.mark.parametrize(
        ("test", "build", "error", "said"),
        [
            ("exit 1", "echo a: error: no; exit 2", BuildError, "The bad version does not build"),
            ("exit 1", "grep -q bad c1", BuildError, "The good version does not build"),
            ("exit 1", "no-such-cc -c", BuildError, "because no-such-cc is missing"),
            ("no-such-test", "", TestError, "At the bad version: The test command"),
            ("grep -q bad c1 && exit 1; no-test", "", TestError, "At the good version: The test"),
            ("exit 125", "", TestError, "the test says it cannot tell"),
            ("exit 200", "", TestError, "a status of 128 or more aborts"),
            ("kill -9 $$", "", LostRunError, "was killed from outside 4 times in a row"),
        ],
    )  # fmt: skip
    def test_what_stands_in_the_way(
        self, span: Range, test: str, build: str, error: type[Exception], said: str
    ) -> None:
        with pytest.raises(error, match=said):
            self.confirmed(span, test, build)


def test_the_local_executor_gives_slots_for_other_work(span: Range) -> None:
    oracle = span.oracle(slots=2)
    oracle.outcomes([NOTHING, change_set("c1")])
    (executor,) = span.executors
    tree = span.tree_of(NOTHING)
    with executor.workbench(tree) as first, executor.workbench() as second:
        assert first.slot.tree == tree
        assert second.slot.path != first.slot.path


def test_a_job_can_be_sent_to_another_machine(span: Range) -> None:
    job = Job("tree", span.recipe(), seconds=3.0)
    assert pickle.loads(pickle.dumps(job)) == job


def test_closing_an_executor_ends_what_is_under_way(tmp_path: Path) -> None:
    workshop = Workshop(tmp_path)
    executor = LocalExecutor([workshop.slot()])
    recipe = Recipe(("sleep", "60"), limits=LIMITS)
    future = executor.submit(Job(workshop.tree({"a": ""}), recipe))
    time.sleep(0.3)
    began = time.monotonic()
    executor.close()
    assert time.monotonic() - began < 2.0
    assert future.result().outcome.reason is Unresolved.NOT_RUN


MEETING = """\
touch "$COUNT.$(cat c1).$$"
for _ in $(seq 100); do
  [ -n "$(ls "$COUNT".good.* 2>/dev/null)" ] && [ -n "$(ls "$COUNT".bad.* 2>/dev/null)" ] && break
  sleep 0.1
done
"""


def test_two_workers_confirm_both_ends_side_by_side(span: Range) -> None:
    """Each end's first run waits for the other's: one after the other, both would wait in vain."""
    both = MEETING + '[ -n "$(ls "$COUNT".good.*)" ] && [ -n "$(ls "$COUNT".bad.*)" ] || exit 125\n'
    oracle = span.oracle(both + TEST, build="", slots=2)
    confirmed = confirm(oracle, ALL)
    assert confirmed.ends is Ends.CONFIRMED
    assert (oracle.counts().confirmation, span.runs()) == (4, 4)


@pytest.mark.parametrize(("test", "ends"), [("exit 0", Ends.GREEN), ("exit 1", Ends.ALREADY_RED)])
def test_what_was_run_beside_an_end_counts_though_it_was_in_vain(
    span: Range, test: str, ends: Ends
) -> None:
    oracle = span.oracle(f'echo run >> "$COUNT"; {test}', build="", slots=2)
    assert confirm(oracle, ALL).ends is ends
    assert oracle.counts().confirmation == span.runs() == 4
