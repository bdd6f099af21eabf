"""The verdicts a team needs, on real repositories, by a daemon that empties its queue."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from daemon_repositories import TEXT, commit, git, made, once, opened, verdicts

from afterd.config import Budget, shell
from afterd.daemon.flakiness import prior_of
from afterd.execution.flakiness import Prior
from afterd.limits import TraceLimits
from afterd.model.outcome import FailureKind
from afterd.pipeline.tracing import Tracing, traced_failure
from afterd.store.database import open_store
from afterd.store.explanations import load
from afterd.store.marks import Mark, MarkKind, add_mark
from afterd.workspace import FailingTest

PROJECT = '[project]\nname = "p"\nversion = "1"\n'
TESTS = """\
import unittest

from lib import one, two


class Test(unittest.TestCase):
    def test_one(self):
        self.assertEqual(one(), 1)

    def test_two(self):
        self.assertEqual(two(), 2)
"""
LIB = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"


def test_green_then_red_is_caused_with_its_root_and_then_already_red(tmp_path: Path) -> None:
    where = made(tmp_path / "r", {"text": TEXT, "other": "a\n"})
    once(where)
    assert verdicts(where, git("rev-parse", "HEAD", cwd=where)) == []
    red = commit(where, {"text": "one\ntwo\n3\n", "other": "b\n"})
    once(where)
    [verdict] = verdicts(where, red)
    assert verdict.kind == "caused"
    assert verdict.base == git("rev-parse", f"{red}~1", cwd=where)
    assert verdict.explanation_id is not None
    with opened(where) as reader:
        explanation = load(reader, verdict.explanation_id)
    assert [change.file for change in explanation.root] == ["text"]
    assert explanation.minimal
    still = commit(where, {"other": "c\n"})
    once(where)
    [verdict] = verdicts(where, still)
    assert (verdict.kind, verdict.base, verdict.explanation_id) == ("already-red", red, None)
    assert red[:12] in verdict.reason
    fixed = commit(where, {"text": TEXT})
    once(where)
    assert verdicts(where, fixed) == []


def test_superseded_commits_are_in_the_range_of_the_one_that_was_tested(tmp_path: Path) -> None:
    where = made(tmp_path / "r", {"text": TEXT, "other": "a\n"})
    green = git("rev-parse", "HEAD", cwd=where)
    once(where)
    guilty = commit(where, {"text": "one\ntwo\n3\n"})
    commit(where, {"other": "b\n"})
    last = commit(where, {"other": "c\n"})
    once(where)
    [verdict] = verdicts(where, last)
    assert (verdict.kind, verdict.base) == ("caused", green)
    with opened(where) as reader:
        explanation = load(reader, verdict.explanation_id or 0)
    assert [change.commits for change in explanation.root] == [(guilty,)]


def test_red_when_first_seen_is_already_red(tmp_path: Path) -> None:
    where = made(tmp_path / "r")
    red = commit(where, {"text": "x\n"})
    once(where)
    [verdict] = verdicts(where, red)
    assert verdict.kind == "already-red"
    assert "first commit" in verdict.reason


def test_each_failing_test_of_a_suite_has_a_verdict_of_its_own(tmp_path: Path) -> None:
    where = made(tmp_path / "r", {"pyproject.toml": PROJECT, "lib.py": LIB, "test_lib.py": TESTS})
    once(where, test=())
    first = commit(where, {"lib.py": LIB.replace("return 1", "return 3")})
    once(where, test=())
    second = commit(
        where, {"lib.py": LIB.replace("return 1", "return 3").replace("return 2", "return 4")}
    )
    once(where, test=())
    assert [(v.test, v.kind) for v in verdicts(where, first)] == [
        ("test_lib.Test.test_one", "caused")
    ]
    assert [(v.test, v.kind, v.base) for v in verdicts(where, second)] == [
        ("test_lib.Test.test_one", "already-red", first),
        ("test_lib.Test.test_two", "caused", first),
    ]
    with opened(where) as reader:
        found = load(reader, verdicts(where, first)[0].explanation_id or 0)
    assert (found.ranking[0].file, found.ranking[0].line) == ("lib.py", 2)


def test_a_flaky_test_has_its_rate_and_is_not_explained(tmp_path: Path) -> None:
    """Every third run fails: seen by repeating it, measured by repeating it more often."""
    where = made(tmp_path / "r")
    counter = tmp_path / "counter"
    script = f"n=$(cat {counter}); n=$((n + 1)); echo $n >{counter}; [ $((n % 3)) -ne 0 ]"
    counter.write_text("0")
    once(where, test=("sh", "-c", script))
    flaky = commit(where, {"other": "b\n"})
    counter.write_text("2")
    once(where, test=("sh", "-c", script))
    [verdict] = verdicts(where, flaky)
    assert verdict.kind == "flaky"
    assert verdict.runs >= 10
    assert verdict.rate is not None
    assert abs(verdict.rate - 1 / 3) < 0.1
    assert f"Of {verdict.runs} runs" in verdict.reason
    counter.write_text("0")
    later = commit(where, {"other": "c\n"})
    once(where, test=("sh", "-c", script))
    assert verdicts(where, later) == []
    with opened(where) as reader:
        learnt = prior_of(reader, str(where / ".git"), verdict.test)
    assert learnt.flaky > Prior().flaky


def test_a_mark_flaky_makes_the_next_confirmation_longer(tmp_path: Path) -> None:
    where = made(tmp_path / "r")
    once(where)
    red = commit(where, {"text": "x\n"})
    once(where)
    [verdict] = verdicts(where, red)
    name = str(where / ".git")
    with open_store(where / ".git/afterd/afterd.db") as store:
        before = prior_of(store, name, verdict.test)
        add_mark(store, verdict.explanation_id or 0, Mark(MarkKind.FLAKY))
        assert prior_of(store, name, verdict.test).flaky > before.flaky


def test_what_does_not_build_is_explained_like_a_test(tmp_path: Path) -> None:
    where = made(tmp_path / "r", {"text": TEXT, "source": "good\n"})
    build = ("sh", "-c", "grep -q good source || { echo error: bad source >&2; exit 1; }")
    once(where, build=build)
    red = commit(where, {"source": "bad\n", "text": TEXT + "x\n"})
    once(where, build=build)
    [verdict] = verdicts(where, red)
    assert (verdict.test, verdict.kind) == ("the build", "caused")
    with opened(where) as reader:
        explanation = load(reader, verdict.explanation_id or 0)
    assert [change.file for change in explanation.root] == ["source"]
    still = commit(where, {"text": TEXT})
    once(where, build=build)
    assert [(v.test, v.kind) for v in verdicts(where, still)] == [("the build", "already-red")]


def test_a_commit_that_makes_a_test_hang_is_explained_and_then_already_red(tmp_path: Path) -> None:
    where = made(tmp_path / "r", {"text": TEXT, "other": "a\n"})
    test = ("sh", "-c", "grep -q three text || sleep 60")
    once(where, test=test, test_timeout=1.0)
    red = commit(where, {"text": "one\ntwo\n3\n", "other": "b\n"})
    once(where, test=test, test_timeout=1.0)
    [verdict] = verdicts(where, red)
    assert verdict.kind == "caused", verdict.reason
    with opened(where) as reader:
        explanation = load(reader, verdict.explanation_id or 0)
    assert [change.file for change in explanation.root] == ["text"]
    assert explanation.failure is not None
    assert (explanation.failure.kind, explanation.minimal) == (FailureKind.HANG, True)
    still = commit(where, {"other": "c\n"})
    once(where, test=test, test_timeout=1.0)
    assert [(v.kind, v.base) for v in verdicts(where, still)] == [("already-red", red)]


@pytest.mark.parametrize(
    "test",
    [
        shell(f"{sys.executable} -B -m unittest -q"),
        (sys.executable, "-B", "-m", "unittest", "-v"),
    ],
)
def test_the_test_that_hangs_is_named_and_what_else_is_wrong_is_not_its_cause(
    tmp_path: Path, test: tuple[str, ...]
) -> None:
    where = made(tmp_path / "r", {"lib.py": LIB, "test_lib.py": TESTS, "pyproject.toml": PROJECT})
    once(where, test=test, test_timeout=2.0)
    hangs = LIB.replace("    return 1", "    while True:\n        pass").replace("2", "3")
    red = commit(where, {"lib.py": hangs})
    once(where, test=test, test_timeout=2.0)
    [verdict] = verdicts(where, red)
    assert (verdict.test, verdict.kind) == ("test_lib.Test.test_one", "caused"), verdict.reason
    with opened(where) as reader:
        explanation = load(reader, verdict.explanation_id or 0)
    assert [change.lines("-") for change in explanation.root] == [["    return 1"]]
    assert explanation.failure is not None
    assert explanation.failure.kind is FailureKind.HANG
    ends = commit(where, {"lib.py": LIB.replace("2", "3")})
    once(where, test=test, test_timeout=2.0)
    [other] = verdicts(where, ends)
    assert (other.test, other.kind) == ("test_lib.Test.test_two", "caused"), other.reason


_TAP = """\
if grep -q three text; then echo "ok 1 - three"; else echo "not ok 1 - three"; red=1; fi
while grep -q forever loop; do sleep 0.1; done
echo "ok 2 - loop"
exit ${red:-0}
"""


def test_a_hang_is_not_hidden_by_a_test_that_failed_before_it(tmp_path: Path) -> None:
    """A runner that names a test when it has ended: the hang has no name, and is the suite's."""
    where = made(tmp_path / "r", {"text": TEXT, "loop": "once\n", "check.sh": _TAP})
    test = ("sh", "check.sh")
    once(where, test=test, test_timeout=1.0)
    red = commit(where, {"text": "one\ntwo\n3\n"})
    once(where, test=test, test_timeout=1.0)
    hangs = commit(where, {"loop": "forever\n", "other": "b\n"})
    once(where, test=test, test_timeout=1.0)
    by_test = {each.test: each for each in verdicts(where, hangs)}
    assert (by_test["three"].kind, by_test["three"].base) == ("already-red", red)
    [verdict] = [each for name, each in by_test.items() if name != "three"]
    assert verdict.kind == "caused", verdict.reason
    with opened(where) as reader:
        explanation = load(reader, verdict.explanation_id or 0)
    assert [change.file for change in explanation.root] == ["loop"]
    still = commit(where, {"other": "c\n"})
    once(where, test=test, test_timeout=1.0)
    assert {(each.kind, each.base) for each in verdicts(where, still)} == {
        ("already-red", red), ("already-red", hangs),
    }  # fmt: skip


def test_what_is_wrong_behind_a_test_that_hangs_is_not_its_cause(tmp_path: Path) -> None:
    """The first test hangs, so none is named; one behind it is red, and with both undone all pass."""
    loop, three, last = _TAP.splitlines()[1], _TAP.splitlines()[0], _TAP.splitlines()[3]
    script = "\n".join((loop, 'echo "ok 1 - loop"', three.replace(" 1 ", " 2 "), last, ""))
    where = made(tmp_path / "r", {"text": TEXT, "loop": "once\n", "check.sh": script})
    test = ("sh", "check.sh")
    once(where, test=test, test_timeout=1.0)
    hangs = commit(where, {"loop": "forever\n", "text": "one\ntwo\n3\n"})
    once(where, test=test, test_timeout=1.0)
    [verdict] = verdicts(where, hangs)
    assert verdict.kind == "caused", verdict.reason
    with opened(where) as reader:
        explanation = load(reader, verdict.explanation_id or 0)
    assert [change.file for change in explanation.root] == ["loop"]
    assert explanation.minimal
    still = commit(where, {"other": "c\n"})
    once(where, test=test, test_timeout=1.0)
    assert [(each.kind, each.base) for each in verdicts(where, still)] == [("already-red", hangs)]


_CHECK = """\
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int twice(int n);
int main(int argc, char **argv) {
    while (strcmp(argv[1], "endless") == 0)
        sleep(1);
    return twice(2) != 4;
}
"""
_TWICE = "int twice(int n) {\n    return 2 * n;\n}\n"
_SUITE = """\
for name in twice endless; do
    if ./p $name; then echo "ok - $name"; else echo "not ok - $name"; red=1; fi
done
exit ${red:-0}
"""


def test_a_recording_beside_a_test_that_waits_for_ever_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both ends' runs are recorded, and neither ends by itself: they are ended as those of a hang are."""
    waited: list[float] = []

    def noting(*given: object, **named: object) -> Tracing:
        test = next(each for each in given if isinstance(each, FailingTest))
        waited.append(test.recipe.limits.trace.slowdown)
        return traced_failure(*given, **named)  # type: ignore[arg-type] # handed on as they come

    monkeypatch.setattr("afterd.pipeline.searched.traced_failure", noting)
    files = {"check.c": _CHECK, "lib.c": _TWICE, "check.sh": _SUITE, ".gitignore": "p\n"}
    where = made(
        tmp_path / "r", {**files, "Makefile": "p: check.c lib.c\n\tcc -g -o p check.c lib.c\n"}
    )
    how = {"build": ("make",), "test": ("sh", "check.sh"), "test_timeout": 0.5}
    once(where, **how)
    red = commit(where, {"lib.c": _TWICE.replace("2 *", "3 *")})
    once(where, **how)
    by_test = {each.test: each for each in verdicts(where, red)}
    assert by_test["twice"].kind == "caused", by_test
    with opened(where) as reader:
        explanation = load(reader, by_test["twice"].explanation_id or 0)
    assert explanation.tree is not None, explanation.notes
    assert waited == [TraceLimits().waiting]


def test_a_suite_whose_limit_is_too_short_from_the_start_is_broken(tmp_path: Path) -> None:
    where = made(tmp_path / "r")
    once(where, test=("sleep", "60"), test_timeout=0.3)
    [verdict] = verdicts(where, git("rev-parse", "HEAD", cwd=where))
    assert verdict.kind == "broken"
    assert "test_timeout" in verdict.reason


def test_a_missing_tool_is_a_broken_environment(tmp_path: Path) -> None:
    where = made(tmp_path / "r")
    once(where)
    of = commit(where, {"other": "b\n"})
    once(where, test=("no-such-program-anywhere",))
    [verdict] = verdicts(where, of)
    assert verdict.kind == "broken"
    assert "no-such-program-anywhere" in verdict.reason


def test_a_spent_budget_is_said(tmp_path: Path) -> None:
    """Of two changes that each must be undone no single run tells."""
    where = made(tmp_path / "r", {"text": TEXT, "other": TEXT})
    both = ("sh", "-c", "grep -q three text && grep -q three other")
    once(where, test=both)
    of = commit(where, {"text": "x\n", "other": "b\n"})
    once(where, test=both, job_budget=Budget(runs=1))
    [verdict] = verdicts(where, of)
    assert verdict.kind == "undetermined"
    assert "budget" in verdict.reason


def test_python_is_given_a_tree(tmp_path: Path) -> None:
    check = "from lib import one\n\nassert one() == 1\n"
    where = made(tmp_path / "r", {"lib.py": LIB, "check.py": check})
    test = (sys.executable, "check.py")
    once(where, test=test)
    red = commit(where, {"lib.py": LIB.replace("return 1", "return 2")})
    once(where, test=test)
    [verdict] = verdicts(where, red)
    with opened(where) as reader:
        explanation = load(reader, verdict.explanation_id or 0)
    assert explanation.tree is not None
    assert any(step.change == "c1" for step in explanation.tree.steps)


ENDS = """\
import os
from pathlib import Path


def two():
    runs = Path(os.environ["RUNS_OF_TEST"])
    ends = runs.read_text()
    runs.write_text(ends[1:])
    return 1 if ends[:1] == "F" else 2


def one():
    return 1
"""


def test_what_fails_each_time_is_not_flaky_where_it_was_flaky_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit before passed when it was tested, and does not always; this one fails in every run."""
    runs = tmp_path / "runs"
    monkeypatch.setenv("RUNS_OF_TEST", str(runs))
    runs.write_text("PP" + 200 * "F")
    where = made(tmp_path / "r", {"lib.py": ENDS, "test_lib.py": TESTS})
    command = (sys.executable, "-B", "-m", "unittest", "-q")
    once(where, test=command)
    bad = commit(where, {"lib.py": "def one():\n    return 1\n\n\ndef two():\n    return 3\n"})
    once(where, test=command)
    [verdict] = verdicts(where, bad)
    assert verdict.kind == "undetermined", verdict.reason
    assert verdict.reason.startswith("It failed in all 10 runs at this commit. ")
    assert "the good version" in verdict.reason


def test_a_test_that_fails_beside_others_only_by_chance_is_flaky(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Red in its suite, green alone, red again twice in its suite: two runs of another kind are no proof."""
    runs = tmp_path / "runs"
    monkeypatch.setenv("RUNS_OF_TEST", str(runs))
    lib = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
    where = made(tmp_path / "r", {"lib.py": lib, "test_lib.py": TESTS})
    command = (sys.executable, "-B", "-m", "unittest", "-q")
    once(where, test=command)
    runs.write_text("FPPFFFFP" + 200 * "F")  # once more than chance lets it, and it passes
    bad = commit(where, {"lib.py": ENDS})
    once(where, test=command)
    [verdict] = verdicts(where, bad)
    assert verdict.kind == "flaky", verdict.reason
