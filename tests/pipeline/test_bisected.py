"""Where evidence leads no further in a range of several commits, their own versions are bisected."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pygit2
import pytest
from pipeline_runs import authored_git

from afterd.config import Budget, Settings
from afterd.execution.oracle import Oracle
from afterd.limits import SEARCH
from afterd.model.explanation import Explanation, Status
from afterd.model.progress import Silent
from afterd.pipeline.bisected import Bisection, version_with_tests, with_red_first
from afterd.pipeline.explain import explain
from afterd.pipeline.searched import searched_explanation
from afterd.vcs import blame
from afterd.vcs.diff import changes_between
from afterd.vcs.file_changes import KEPT_TEST
from afterd.vcs.kinds import FileRules
from afterd.vcs.repository import open_repository
from afterd.vcs.variants import Variants
from afterd.workspace import given_recipe, opened_workspace, wanted_range

COMMITS = 7
BREAKS = 4
ENTRIES = SEARCH.all_sets


def _table(commit: int) -> str:
    """Every commit rewrites each entry; what belongs together is only whole within one version."""
    answer = 41 if commit >= BREAKS else 42
    entries = [f"entry {number} of {commit}\n# {number}\n" for number in range(ENTRIES)]
    return "".join((f"version {commit}\n", "# head\n", *entries, f"answer {answer} of {commit}\n"))


CHECK = """
import pathlib, re, sys
text = pathlib.Path("table.txt").read_text()
versions = set(re.findall(r"(?:version|of) (\\d+)", text))
if len(versions) > 1:
    sys.exit(f"Mixed: {sorted(versions)}")
assert "answer 42" in text, "answer"
"""


def _history(path: Path, *, with_check_from: int = 0, untestable: int = -1) -> list[str]:
    """A history in which each commit rewrites the table; its commits, oldest first. The table of ``untestable``
    is of two versions.
    """
    versions = []
    for commit in range(COMMITS):
        mixed = "version 99\n" if commit == untestable else ""
        check = {"test_table.py": CHECK} if commit >= with_check_from else {}
        versions.append({"table.txt": _table(commit) + mixed, **check})
    return _committed(path, versions)


def _committed(path: Path, versions: Sequence[Mapping[str, str]]) -> list[str]:
    """A repository with a commit for each of some versions of its files; these, oldest first."""
    authored_git(path.parent, "init", "-q", "-b", "main", str(path))
    for number, files in enumerate(versions):
        for name, text in files.items():
            (path / name).parent.mkdir(exist_ok=True)
            (path / name).write_text(text)
        authored_git(path, "add", "-A")
        authored_git(path, "commit", "-q", "-m", f"version {number}")
    return authored_git(path, "rev-list", "--reverse", "HEAD").split()


class _Heard(Silent):
    """How many commits' versions were run for each test."""

    def __init__(self) -> None:
        self.bisected: list[int] = []

    def stage(self, name: str, detail: str = "") -> None:  # noqa: ARG002 - a listener's signature
        if name == "explaining":
            self.bisected.append(0)
        self.bisected[-1:] = [
            each + (name == "bisecting the commits") for each in self.bisected[-1:]
        ]


def _explained(path: Path, good: str, budget: Budget | None = None) -> Explanation:
    [found] = explain(
        Settings(
            path,
            range=f"{good}..HEAD",
            test=(sys.executable, "test_table.py"),
            budget=budget or Budget(),
        )
    )
    return found


def test_the_commit_that_broke_it_is_searched_alone(tmp_path: Path) -> None:
    commits = _history(tmp_path / "repository")
    found = _explained(tmp_path / "repository", commits[0])
    assert found.status is Status.EXPLAINED
    assert (found.range.good, found.range.bad) == (commits[BREAKS - 1], commits[BREAKS])
    assert {change.file for change in found.root} == {"table.txt"}
    assert found.verified
    said = next(note for note in found.remarks if note.startswith("Commits of the range were run"))
    assert commits[BREAKS - 1][:10] in said
    assert f"red at {commits[BREAKS][:10]}, whose lines these are" in said
    assert found.runs.tests >= 3, "the runs of the bisection are counted"


STATUS = """
import pathlib, re, sys
text = pathlib.Path("table.txt").read_text()
if len(set(re.findall(r"(?:version|of) (\\d+)", text))) > 1:
    sys.exit(4)
sys.exit(3 * ("answer 42" not in text))
"""


def test_what_was_mended_before_the_test_turned_red_for_good_is_not_the_answer(
    tmp_path: Path,
) -> None:
    """A crash of pahole's looked the same as one before, which had been mended: its line was called guilty."""
    path, broken, versions = tmp_path / "repository", _table(BREAKS), []
    for commit in range(9):
        text = broken.replace(f"version {BREAKS}", f"version {commit}")
        text = text.replace(f" of {BREAKS}", f" of {commit}")
        table = _table(0) if commit in {0, 3} else text
        versions.append({"table.txt": table, "test_table.py": STATUS})
    commits = _committed(path, versions)
    found = _explained(path, commits[0])
    assert found.status is Status.EXPLAINED
    assert (found.range.good, found.range.bad) == (commits[3], commits[4])


def test_what_a_bisection_left_is_the_answer_of_other_tests_too(tmp_path: Path) -> None:
    """Each of several red tests was bisected anew (kramdown, pluggy)."""
    path = tmp_path / "repository"
    commits = _history(path)
    body = "".join(f"    {line}\n" for line in CHECK.strip().splitlines())
    both = "".join(f"def test_{name}():\n{body}\n\n" for name in ("one", "two"))
    (path / "test_table.py").write_text(both.replace("sys.exit(", "raise OSError("))
    (path / "conftest.py").touch()
    authored_git(path, "add", "-A")
    authored_git(path, "commit", "-q", "-m", "as tests of pytest")
    settings = Settings(path, range=f"{commits[0]}..HEAD", python=sys.executable)
    heard = _Heard()
    [found] = explain(settings, heard)
    assert (found.range.good, found.range.bad) == (commits[BREAKS - 1], commits[BREAKS])
    assert {change.file for change in found.root} == {"table.txt"}
    assert found.also == ("test_table.py::test_two",)
    assert len(heard.bisected) == 1


def test_two_tests_of_a_runner_that_names_what_fails_are_bisected_once(tmp_path: Path) -> None:
    """The second one is asked by itself, at the end of the part that the first one's bisection left."""
    path = tmp_path / "repository"
    commits = _history(path)
    body = "".join(f"        {line}\n" for line in CHECK.strip().splitlines())
    both = "".join(f"    def test_{name}(self):\n{body}\n" for name in ("one", "two"))
    both = f"import unittest\n\n\nclass T(unittest.TestCase):\n{both}"
    (path / "test_table.py").write_text(both.replace("sys.exit(", "raise OSError("))
    authored_git(path, "add", "-A")
    authored_git(path, "commit", "-q", "-m", "as tests of unittest")
    settings = Settings(path, range=f"{commits[0]}..HEAD", python=sys.executable)
    heard = _Heard()
    one, two = explain(settings, heard)
    assert one.range == two.range
    assert one.root == two.root
    assert two.minimal
    assert any("repairs this test too" in note for note in two.remarks)
    assert heard.bisected[1] == 0
    assert two.runs.tests < one.runs.tests


def test_a_test_that_came_last_is_run_on_all_versions(tmp_path: Path) -> None:
    """The regression's test is committed with the fix, long after what it tests."""
    commits = _history(tmp_path / "repository", with_check_from=COMMITS - 1)
    found = _explained(tmp_path / "repository", commits[0])
    assert found.status is Status.EXPLAINED
    assert found.range.bad == commits[BREAKS]


@pytest.mark.parametrize("entries", [3, SEARCH.put_back + 2])
def test_few_changes_of_the_commit_are_undone_in_the_bad_version(
    tmp_path: Path, entries: int
) -> None:
    """Each commit rewrites entries of its own: the answer is of the whole range, as the version at hand is repaired.
    (Of a commit with seven changes, simplecpp's, the ends were confirmed and recorded once more, and others searched.)
    """
    path = tmp_path / "repository"
    authored_git(tmp_path, "init", "-q", "-b", "main", str(path))
    (path / "test_table.py").write_text(CHECK.replace("len(versions) > 1", "not versions"))
    for commit in range(COMMITS):
        own = [
            f"entry {n} of {int(commit >= n % COMMITS)}\n# {n}\n" for n in range(entries * COMMITS)
        ]
        answer = 41 if commit >= BREAKS else 42
        (path / "table.txt").write_text("".join([*own, f"answer {answer} of all\n"]))
        authored_git(path, "add", "-A")
        authored_git(path, "commit", "-q", "-m", f"version {commit}")
    commits = authored_git(path, "rev-list", "--reverse", "HEAD").split()
    found = _explained(path, commits[0])
    assert found.status is Status.EXPLAINED
    assert (found.range.good, found.range.bad) == (commits[0], commits[-1])
    [guilty] = found.root
    assert "+answer 41" in guilty.patch
    assert found.minimal
    told = (
        "Commits of the range were run",
        "The test is green before",
    )  # bisected, or undone at once
    assert any(note.startswith(told) for note in found.remarks)
    late = replace(found, root=(replace(guilty, commits=(commits[-1], *guilty.commits)),))
    [named] = with_red_first(late, frozenset([commits[BREAKS]])).root
    assert named.commits == (commits[BREAKS], commits[-1]), "ufo's answer named it third of six"


def test_commits_too_many_to_blame_are_bisected_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a long range nobody knows which commit made which change: where it turned red needs no such knowledge."""
    monkeypatch.setattr(blame, "MOST_COMMITS", COMMITS - 3)
    commits = _history(tmp_path / "repository")
    found = _explained(tmp_path / "repository", commits[0])
    assert found.status is Status.EXPLAINED
    assert (found.range.good, found.range.bad) == (commits[BREAKS - 1], commits[BREAKS])


class Details(Silent):
    """What was said of each version of a commit, in order."""

    def __init__(self) -> None:
        self.versions: list[str] = []

    def stage(self, name: str, detail: str = "") -> None:
        """Keep what is run."""
        if name == "bisecting the commits":
            self.versions.append(detail)


def test_a_commit_that_could_not_be_tested_is_not_run_again_in_what_is_left(
    tmp_path: Path,
) -> None:
    """textX: a version that went on until its time limit, twice within the range and twice in what was left."""
    path = tmp_path / "repository"
    commits = _history(path, untestable=BREAKS)
    heard = Details()
    [found] = explain(
        Settings(path, range=f"{commits[0]}..HEAD", test=(sys.executable, "test_table.py")), heard
    )
    assert found.status is Status.EXPLAINED
    assert (found.range.good, found.range.bad) == (commits[BREAKS - 1], commits[BREAKS + 1])
    assert any(commits[BREAKS][:10] in version for version in heard.versions)
    assert len(heard.versions) == len(set(heard.versions))


def test_a_spent_budget_tells_between_which_commits_it_is(tmp_path: Path) -> None:
    commits = _history(tmp_path / "repository")
    runs = COMMITS.bit_length() + 2  # what halving the commits needs, and two more
    found = _explained(tmp_path / "repository", commits[0], Budget(runs=runs))
    assert found.status is Status.INCONCLUSIVE
    assert any(commits[BREAKS][:10] in note for note in found.remarks)
    assert found.runs.tests <= runs


@pytest.mark.parametrize(("keeps", "expected"), [(True, "new test\n"), (False, "old test\n")])
def test_a_version_has_the_test_files_of_the_bad_one(
    tmp_path: Path, keeps: bool, expected: str
) -> None:
    path = tmp_path / "repository"
    authored_git(tmp_path, "init", "-q", "-b", "main", str(path))
    for code, test in (("a", "old"), ("b", "old"), ("c", "new")):
        (path / "code.py").write_text(f"{code}\n")
        (path / "test_code.py").write_text(f"{test} test\n")
        if code == "b":
            (path / "test_gone.py").write_text("gone\n")
        else:
            (path / "test_gone.py").unlink(missing_ok=True)
        authored_git(path, "add", "-A")
        authored_git(path, "commit", "-q", "-m", code)
    good, middle, bad = authored_git(path, "rev-list", "--reverse", "HEAD").split()
    repository, rules = open_repository(path), FileRules(keep_tests=keeps)
    variants = Variants(repository, good, bad, changes_between(repository, good, bad, rules))
    tree = variants.store[version_with_tests(middle, variants, rules)].peel(pygit2.Tree)
    assert (tree / "code.py").peel(pygit2.Blob).data == b"b\n"
    assert (tree / "test_code.py").peel(pygit2.Blob).data.decode() == expected
    assert ("test_gone.py" in tree) is not keeps


def test_a_part_of_the_range_has_the_bad_version_s_tests_whatever_its_own_commits_did_to_them(
    tmp_path: Path,
) -> None:
    """Undone, what a commit of the part did to a test file would take away what a later one brought."""
    path = tmp_path / "r"
    _history(path)
    for commit in range(COMMITS):
        (path / "table.txt").write_text(_table(commit))
        (path / "test_table.py").write_text(f"# {commit}\n{CHECK}\n# the end of {commit}\n")
        authored_git(path, "commit", "-q", "-am", f"again {commit}")
    command = (sys.executable, "-m", "test_table")
    settings = Settings(repository=path, range=f"HEAD~{COMMITS - 1}..HEAD", test=command)
    with opened_workspace(settings) as workspace:
        wanted = wanted_range(workspace, settings)
        oracle = Oracle(wanted.variants.tree, given_recipe(workspace, settings), workspace.executor)
        bisection = Bisection(workspace, wanted, oracle, [])
        assert bisection.narrows()
        assert bisection.within is not None
        own = [each for each in bisection.within.changes.changes if each.file == "test_table.py"]
        assert own
        assert all(each.pruned not in ("", KEPT_TEST) for each in own)


def test_what_is_only_named_like_a_test_is_the_commit_s_own(tmp_path: Path) -> None:
    """werkzeug/test.py is a test client: the bad version's, put into an older commit, could not be imported there."""
    path = tmp_path / "repository"
    authored_git(tmp_path, "init", "-q", "-b", "main", str(path))
    (path / "web").mkdir()
    for version in ("good", "middle", "bad"):
        (path / "web" / "__init__.py").write_text("from web.test import Client\n")
        (path / "web" / "test.py").write_text(f"Client = {version!r}\n")
        (path / "test_web.py").write_text(f"import web  # {version}\n")
        authored_git(path, "add", "-A")
        authored_git(path, "commit", "-q", "-m", version)
    good, middle, bad = authored_git(path, "rev-list", "--reverse", "HEAD").split()
    repository, rules = open_repository(path), FileRules()
    variants = Variants(repository, good, bad, changes_between(repository, good, bad, rules))
    tree = variants.store[version_with_tests(middle, variants, rules)].peel(pygit2.Tree)
    client = (tree / "web").peel(pygit2.Tree)["test.py"].peel(pygit2.Blob)
    assert client.data == b"Client = 'middle'\n"
    assert (tree / "test_web.py").peel(pygit2.Blob).data == b"import web  # bad\n"


def test_the_only_change_is_known_before_anything_is_traced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bisection leaves a commit of one change, and tracing may take what is left of the budget."""
    path = tmp_path / "repository"
    authored_git(tmp_path, "init", "-q", "-b", "main", str(path))
    for answer in (42, 41):
        text = f"ANSWER = {answer}\nOTHER = 1\n# said of {answer}\n"
        (path / "answer.py").write_text(text)
        (path / "test_table.py").write_text("import answer\nassert answer.ANSWER == 42\n")
        authored_git(path, "add", "-A")
        authored_git(path, "commit", "-q", "-m", f"answer {answer}")
    runs: list[int] = []

    def searched(*arguments: object) -> Explanation:
        oracle = arguments[2]
        assert isinstance(oracle, Oracle)
        runs.append(oracle.counts().tests)
        return searched_explanation(*arguments)  # type: ignore[arg-type] # as it was called

    monkeypatch.setattr("afterd.pipeline.searched.searched_explanation", searched)
    found = _explained(path, "HEAD~1")
    assert (found.status, runs, found.runs.tests) == (Status.EXPLAINED, [1], 1)


WORDED = CHECK.replace(
    'assert "answer 42"',
    """word = pathlib.Path("tests/word.txt").read_text()
if word not in text:
    sys.exit(f"Nothing is called {word}.")
assert word + " 42"\
""",
)


def test_where_neither_version_passes_with_the_other_s_test_files_each_commit_has_its_own(
    tmp_path: Path,
) -> None:
    """django-oscar's settings for tests: with the bad version's, no commit before they changed could be told."""
    path, versions = tmp_path / "repository", []
    for commit in range(COMMITS):
        word = "reply" if commit >= BREAKS // 2 else "answer"
        table = _table(commit).replace("answer", word)
        versions.append({"table.txt": table, "tests/word.txt": word, "test_table.py": WORDED})
    commits = _committed(path, versions)
    found = _explained(path, commits[0])
    assert found.status is Status.EXPLAINED
    assert {commits[BREAKS]} <= {name for change in found.root for name in change.commits}
    assert any(f"red at {commits[BREAKS][:10]}" in note for note in found.remarks), found.remarks
    assert any("with their own test files" in note for note in found.remarks), found.remarks
