"""The lists of real regressions are whole, and a case makes two commits of them."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pygit2
import pytest

from afterd.bench import trial
from afterd.bench.case import selected_cases
from afterd.bench.facts import DATA, answers_of, facts
from afterd.bench.judgement import Verdict
from afterd.bench.real_c import long_json, real_c_cases
from afterd.bench.releases import Releases, cache_directory
from afterd.config import Strategy

LISTS = {name: facts(name) for name in ("real_c", "real_python")}
ENTRIES = [pytest.param(fact, id=fact["id"]) for facts in LISTS.values() for fact in facts]


def test_every_name_once() -> None:
    names = [fact["id"] for entries in LISTS.values() for fact in entries]
    assert len(names) == len(set(names))
    assert len(LISTS["real_c"]) >= 4
    assert len(LISTS["real_python"]) >= 15


@pytest.mark.parametrize("fact", ENTRIES)
def test_a_fact_is_whole(fact: dict[str, object]) -> None:
    assert fact["good"] != fact["bad"]
    first, *others = answers_of(fact)
    assert first
    assert all(others)
    assert fact["test"]


def test_every_c_program_has_its_test() -> None:
    for fact in LISTS["real_c"]:
        assert (DATA / "real_c" / fact["id"] / "test.sh").is_file()
    assert {path.name for path in (DATA / "real_c").iterdir()} == {f["id"] for f in LISTS["real_c"]}


def test_python_tests_compile() -> None:
    for fact in LISTS["real_python"]:
        compile(fact["test"], fact["id"], "exec")


def test_a_long_input_is_json() -> None:
    records = json.loads(long_json(3))
    assert [record["id"] for record in records] == [0, 1, 2]


def _publish(cache: Path, release: str, version: str, source: Path) -> None:
    """A release as if it had been downloaded."""
    folder = cache / "releases" / "PyPI" / f"{release}-{version}"
    folder.mkdir(parents=True)
    with tarfile.open(folder / "x.tar.gz", "w:gz") as archive:
        archive.add(source, arcname=f"{release}-{version}")


def test_two_releases_become_two_commits(tmp_path: Path) -> None:
    for version, content in (("0.5.4", "old\n"), ("0.7.1", "new\n")):
        source = tmp_path / version
        (source / "cjellyfish").mkdir(parents=True)
        (source / "cjellyfish" / "metaphone.c").write_text(content)
        (source / "setup.py").write_text("left out")
        _publish(tmp_path / "cache", "jellyfish", version, source)
    (case,) = selected_cases(
        real_c_cases(Releases(tmp_path / "cache")), ["jellyfish-metaphone-trailing-w"]
    )
    prepared = case.prepare(tmp_path / "repository")
    repository = pygit2.Repository(prepared.path)
    bad = repository[prepared.bad].peel(pygit2.Commit)
    assert [str(parent.id) for parent in bad.parents] == [prepared.good]
    for commit, text in ((bad, b"new\n"), (bad.parents[0], b"old\n")):
        assert {entry.name for entry in commit.tree} == {
            "Makefile", "cjellyfish", "driver.c", "expected", "test.sh",
        }  # fmt: skip
        assert commit.tree["cjellyfish/metaphone.c"].peel(pygit2.Blob).data == text
    assert prepared.test[-1] == "sh test.sh"


def test_what_cannot_be_downloaded_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    cases = selected_cases(real_c_cases(Releases(tmp_path)), ["jellyfish-metaphone-trailing-w"])
    (row,) = trial.measurements(cases, trial.Options([Strategy.AFTER]))
    assert row.verdict is Verdict.SKIPPED
    assert row.note.startswith("skipped: jellyfish 0.5.4 cannot be had from PyPI")


@pytest.mark.network
def test_a_real_regression_is_explained() -> None:
    """Downloaded, built, traced: the one hunk of twenty-two that changed what a word sounds like."""
    cases = selected_cases(
        real_c_cases(Releases(cache_directory())), ["jellyfish-metaphone-trailing-w"]
    )
    (row,) = trial.measurements(cases, trial.Options([Strategy.AFTER]))
    if row.verdict is Verdict.SKIPPED:
        pytest.skip(row.note)
    assert row.verdict is Verdict.MATCHED, row.note
    assert (row.root, row.auxiliary) == (1, 0)
    assert row.tests <= 1 + 4
