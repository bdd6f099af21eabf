"""The examples of AFTER (ICSE 2015), from two commits to a stored explanation and back."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pipeline_runs import afterd, git, snapshot

from afterd import pipeline
from afterd.cli.options import settings_for
from afterd.config import Settings
from afterd.errors import ToolchainError
from afterd.execution import toolchain
from afterd.execution.compiler_shims import path_with_compiler
from afterd.model.change import Change
from afterd.model.explanation import CauseNode, Evidence, Explanation, Status
from afterd.vcs.sample import SampleRepository, fixtures_directory, matches, materialise


def _has_toolchain() -> bool:
    try:
        toolchain.find()
    except ToolchainError:
        return False
    return True


pytestmark = pytest.mark.skipif(not _has_toolchain(), reason="no clang and no ziglang here")


@dataclass(frozen=True, slots=True)
class Explained:
    """An example with its explanation, and the user's files as they were before it."""

    sample: SampleRepository
    before: dict[str, tuple[int, str]]
    explanation: Explanation

    @property
    def path(self) -> Path:
        return self.sample.path


def _settings(sample: SampleRepository, **more: object) -> Settings:
    given = {
        "range": f"{sample.good}..{sample.bad}",
        "build": sample.scenario.build,
        "test": sample.scenario.test,
    }
    return settings_for(sample.path, given | more)


def _explained(name: str, folder: Path) -> Explained:
    sample = materialise(fixtures_directory() / name, "", folder / name)
    before = snapshot(sample.path)
    [explanation] = pipeline.explain(_settings(sample))
    return Explained(sample, before, explanation)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Explained:
    """The running example (Figs. 6 to 9)."""
    return _explained("after-example", tmp_path_factory.mktemp("pipeline"))


@pytest.fixture(scope="module")
def auxiliary(tmp_path_factory: pytest.TempPathFactory) -> Explained:
    """The example of auxiliary changes (Fig. 4)."""
    return _explained("auxiliary", tmp_path_factory.mktemp("pipeline"))


@pytest.fixture(scope="module")
def critical(tmp_path_factory: pytest.TempPathFactory) -> Explained:
    """The example of critical predicates (Fig. 5)."""
    return _explained("critical", tmp_path_factory.mktemp("pipeline"))


def _ids(changes: tuple[Change, ...]) -> set[str]:
    return {change.id for change in changes}


def _nodes(node: CauseNode) -> Iterator[CauseNode]:
    yield node
    for child in node.causes:
        yield from _nodes(child)


def _guilty_exactly(explained: Explained) -> None:
    """Each marker of the scenario means one change found, and each change found has a marker."""
    scenario, found = explained.sample.scenario, explained.explanation
    for markers, changes in (
        (scenario.guilty, found.root),
        (scenario.auxiliary, found.auxiliary),
    ):
        assert len(changes) == len(markers)
        assert all(any(matches(change, marker) for change in changes) for marker in markers)


@pytest.mark.parametrize("name", ["running", "auxiliary", "critical"])
def test_the_guilty_changes_exactly(name: str, request: pytest.FixtureRequest) -> None:
    explained: Explained = request.getfixturevalue(name)
    found = explained.explanation
    assert (found.status, found.strategy, found.reason) == (Status.EXPLAINED, "after", "")
    _guilty_exactly(explained)
    assert found.minimal is True
    assert found.verified
    assert found.tree is not None
    assert Evidence.PROVED in {step.evidence for node in _nodes(found.tree) for step in node.steps}
    assert 0 < found.runs.confirmation <= 6
    assert found.runs.tests <= 4  # the bound that the paper's example is held to


def test_the_running_example_has_two_causes_joined_by_its_predicate(running: Explained) -> None:
    """Not {c1, c3}: that passes too, by another branch."""
    found = running.explanation
    assert _ids(found.root) == {"c2", "c3"}
    assert found.failure is not None
    assert (found.failure.file, found.failure.line) == ("sum.c", 13)
    assert found.tree is not None
    failure, predicate = _nodes(found.tree)
    assert (failure.line, predicate.line) == (13, 5)
    assert predicate.predicate == "if (x < y)"
    assert "c3" in {step.change for step in failure.steps}
    assert "c2" in {step.change for step in predicate.steps}
    assert "c1" not in {step.change for node in (failure, predicate) for step in node.steps}
    assert {step.evidence for node in (failure, predicate) for step in node.steps} == {
        Evidence.PROVED
    }
    observed = {step.line: (step.observed, step.green) for step in failure.steps}
    assert observed[10] == ("1", "4")
    # line 7 runs because of c2: seen beside the twins in which one of the two alone is undone
    assert {step.line: step.whose for step in failure.steps} == {7: "c2", 10: ""}


def test_the_critical_predicate_is_one_that_was_executed(critical: Explained) -> None:
    tree = critical.explanation.tree
    assert tree is not None
    places = {(node.file, node.line) for node in _nodes(tree)}
    assert ("decide.c", 8) in places
    assert ("decide.c", 3) in places
    assert ("decide.c", 4) not in places  # touched by a change, and not executed


@pytest.mark.parametrize("strategy", ["dd", "add"])
def test_delta_debugging_on_the_same_changes(running: Explained, strategy: str) -> None:
    """Zeller's algorithms isolate a difference; it may repair nothing, and then that is said."""
    [found] = pipeline.explain(_settings(running.sample, strategy=strategy))
    assert found.strategy == strategy
    assert found.root
    assert found.changes.total == 4
    assert (found.runs.seconds.trace > 0) is (strategy == "add")  # which asks what was executed
    assert found.status is (Status.EXPLAINED if found.verified else Status.INCONCLUSIVE)
    assert bool(found.reason) is not found.verified
    reverted = ",".join(sorted(_ids(found.root)))
    seen = afterd("replay", str(found.id), "--revert", reverted, cwd=running.path)
    assert seen.out.startswith("The test passes") is found.verified
    assert snapshot(running.path) == running.before


def test_nothing_of_the_user_s_is_touched(running: Explained) -> None:
    assert ".git/index" in running.before
    assert ".git/refs/heads/main" in running.before
    assert "sum.c" in running.before
    assert snapshot(running.path) == running.before


def test_the_patch_repairs(running: Explained, tmp_path: Path) -> None:
    done = afterd("patch", str(running.explanation.id), cwd=running.path)
    assert done.status == 0, done.err
    copy = tmp_path / "copy"
    git("clone", "-q", str(running.path), str(copy), cwd=tmp_path)
    environment = {**os.environ, "PATH": path_with_compiler(tmp_path / "compiler")}
    commands = [
        shlex.split(running.sample.scenario.build),
        shlex.split(running.sample.scenario.test),
    ]

    def statuses() -> list[int]:
        return [
            subprocess.run(
                command, cwd=copy, env=environment, capture_output=True, check=False
            ).returncode
            for command in commands
        ]

    built, tested = statuses()
    assert built == 0
    assert tested != 0
    git("apply", cwd=copy, given=done.out)
    assert statuses() == [0, 0]
    assert git("diff", "--stat", cwd=copy).splitlines()[-1].split()[3:] == [
        *("2", "insertions(+),", "2", "deletions(-)")
    ]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "The test passes"),
        (["--revert", "c2,c3"], "The test passes"),
        (["--revert", "c1,c3"], "The test passes"),  # by another branch: why passing is not enough
        (["--revert", "c2"], "The test fails as it did"),
        (["--revert", "c3"], "The test fails as it did"),
    ],
)
def test_replay(running: Explained, arguments: list[str], says: str) -> None:
    done = afterd("replay", str(running.explanation.id), *arguments, cwd=running.path)
    assert done.status == 0, done.err
    assert done.out.startswith(says)
    assert snapshot(running.path) == running.before


def test_replay_of_a_root_without_its_auxiliary_change_cannot_tell(auxiliary: Explained) -> None:
    root = ",".join(sorted(_ids(auxiliary.explanation.root)))
    identifier = str(auxiliary.explanation.id)
    done = afterd("replay", identifier, "--revert", root, cwd=auxiliary.path)
    assert done.status == 10
    assert done.out.startswith("The test cannot tell")
    assert afterd("replay", identifier, cwd=auxiliary.path).out.startswith("The test passes")


@pytest.mark.parametrize("form", ["json", "md", "html", "sarif"])
def test_report_of_the_stored_explanation(running: Explained, form: str) -> None:
    done = afterd("report", str(running.explanation.id), "--format", form, cwd=running.path)
    assert done.status == 0, done.err
    if form in {"json", "sarif"}:
        json.loads(done.out)
    for word in ("sum.c", "c2", "c3", running.sample.bad[:10]):
        assert word in done.out


def test_show_and_list_the_stored_explanation(running: Explained) -> None:
    identifier = str(running.explanation.id)
    shown = afterd("show", identifier, cwd=running.path)
    assert shown.status == 0, shown.err
    assert "fails because of c2 and c3" in shown.out
    assert "if (x < y)  c2   was if (x > y)" in shown.out
    listed = afterd("list", "--format", "json", cwd=running.path)
    [entry] = [each for each in json.loads(listed.out) if str(each["id"]) == identifier]
    assert (entry["status"], entry["root"]) == ("explained", ["c2", "c3"])
