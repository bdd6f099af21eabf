"""A suite that several processes count is counted as if one had run it."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from python_pairs import PYTEST, Files, request_for, written

from afterd.spectra.python.shares import shared_spectra
from afterd.spectra.python.spectra import PythonSpectra
from afterd.trace.python.record.shares import share_of

UNITTEST = (sys.executable, "-m", "unittest", "-q")
LIB = """\
def opened(n):
    total = 0
    while total < n:
        total += 1
    return total


def closed(n):
    return -n


def sign(n):
    if n > 0:
        return 1
    return -1 if n else 0
"""


@given(st.lists(st.integers(0, 5), max_size=40).map(sorted), st.integers(1, 9))
def test_shares_are_all_tests_once(groups: list[int], shares: int) -> None:
    """In their order; and none is more than twice as long as it should be."""
    found = [share_of(groups, share, shares) for share in range(shares)]
    assert [position for share in found for position in share] == list(range(len(groups)))
    assert all(len(share) <= 2 * len(groups) / shares + 1 for share in found)


def test_a_cut_is_made_between_files() -> None:
    """Where one ends near enough."""
    assert share_of(["a", "a", "a", "b", "b"], 0, 2) == range(3)
    assert share_of(["a"] * 5, 1, 2) == range(2, 5)


def counted(files: Files, folder: Path, shares: int, command: tuple[str, ...]) -> PythonSpectra:
    """What so many processes counted."""
    trees = [written(folder / f"tree-{share}", files) for share in range(shares)]
    return shared_spectra(request_for(folder, {}, files, command), trees, lambda _, __: None)


def rows(found: PythonSpectra) -> list[object]:
    """All that was counted, test by test in their order, entities by name."""
    return [
        (run, sorted((row.kind, row.file, row.line, row.label, row.count) for row in mine))
        for run in found.tests
        for mine in [[row for row in found.rows if row.test == run.test]]
    ]


@st.composite
def suites(draw: st.DrawFn) -> Files:
    """Test files with fixtures of every scope, some tests failing."""
    scope = st.sampled_from(["session", "package", "module", "class", "function"])
    head = "import pytest, lib\n\n\n@pytest.fixture(scope={!r})\n"
    fixture = head + "def {}({}):\n    yield lib.opened({})\n    lib.closed(1)\n"
    files = {"lib.py": LIB, "conftest.py": fixture.format("session", "wide", "", 2)}
    for number in range(draw(st.integers(1, 3))):
        lines = [fixture.format(draw(scope), "own", draw(st.sampled_from(["", "wide"])), 3)]
        for test in range(draw(st.integers(1, 3))):
            asked = ", ".join(draw(st.sets(st.sampled_from(["own", "wide"]))))
            value, expected = draw(st.integers(-1, 1)), draw(st.integers(-1, 1))
            body = f"    assert lib.sign({value}) == {expected}\n"
            lines.append(f"\n\ndef test_{test}({asked}):\n{body}")
        files[f"test_{number}.py"] = "".join(lines)
    return files


@settings(max_examples=5)
@given(suites(), st.integers(2, 3))
def test_shares_count_what_one_process_counts(files: Files, shares: int) -> None:
    """Whatever the fixtures are, and wherever the suite is cut."""
    with TemporaryDirectory() as folder:
        one = counted(files, Path(folder) / "one", 1, PYTEST)
        assert one.tests
        assert rows(counted(files, Path(folder) / "several", shares, PYTEST)) == rows(one)


def test_unittest_is_shared(tmp_path: Path) -> None:
    """By classes."""
    classes = "".join(
        f"class T{name}(unittest.TestCase):\n"
        f"    def test_a(self): self.assertEqual(lib.sign({name}), 1)\n"
        f"    def test_b(self): self.assertEqual(lib.opened({name}), {name})\n"
        for name in range(3)
    )
    files = {"lib.py": LIB, "test_lib.py": f"import unittest\nimport lib\n{classes}"}
    one = counted(files, tmp_path / "one", 1, UNITTEST)
    assert [run.passed for run in one.tests] == [False, True, True, True, True, True]
    assert rows(counted(files, tmp_path / "several", 2, UNITTEST)) == rows(one)


def test_a_fixture_counts_for_all_its_tests(tmp_path: Path) -> None:
    """Setting it up; what it does when nobody needs it any more is nobody's."""
    fixture = (
        "@pytest.fixture(scope='module')\ndef it():\n    yield lib.opened(2)\n    lib.closed(2)\n"
    )
    tests = "def test_a(it): pass\ndef test_b(): pass\ndef test_c(request):\n    request.getfixturevalue('it')\n"
    files = {"lib.py": LIB, "test_lib.py": f"import pytest, lib\n{fixture}{tests}"}
    found = counted(files, tmp_path, 1, PYTEST)
    executed = {(row.test[-1], row.line) for row in found.rows if row.file == "lib.py"}
    assert {test for test, line in executed if line == 4} == {"a", "c"}
    assert not {test for test, line in executed if line == 9}


def test_a_test_without_a_verdict_is_none(tmp_path: Path) -> None:
    """Skipped, or failed as was expected; one that passes against expectation has failed."""
    marks = ["skip", "xfail", "xfail(strict=True)"]
    bodies = ["pass", "assert lib.sign(0)", "pass"]
    tests = "".join(
        f"@pytest.mark.{mark}\ndef test_{number}(): {body}\n"
        for number, (mark, body) in enumerate(zip(marks, bodies, strict=True))
    )
    files = {"lib.py": LIB, "test_lib.py": f"import pytest, lib\n{tests}def test_3(): pass\n"}
    found = counted(files, tmp_path, 1, PYTEST)
    assert [(run.test[-1], run.passed) for run in found.tests] == [("2", False), ("3", True)]


@pytest.mark.parametrize(
    "collected",
    ["range(os.getpid() % 1000, os.getpid() % 1000 + 3)", "range(int(os.getcwd()[-1]) + 2)"],
)
def test_processes_that_disagree_about_the_suite_do_not_share_it(
    collected: str, tmp_path: Path
) -> None:
    """Other tests, or another number of them."""
    tests = f"@pytest.mark.parametrize('n', {collected})\ndef test_n(n): assert n >= 0\n"
    files = {"test_it.py": f"import os, pytest\n{tests}"}
    found = counted(files, tmp_path, 2, PYTEST)
    assert len({run.test for run in found.tests}) == len(found.tests) == found.collected


def test_who_waits_hears_of_every_test(tmp_path: Path) -> None:
    """In the end, of all."""
    files = {f"test_{name}.py": "def test_a(): pass\ndef test_b(): pass\n" for name in "xyz"}
    trees = [written(tmp_path / f"tree-{share}", files) for share in range(2)]
    heard = list[tuple[int, int]]()
    shared_spectra(
        request_for(tmp_path, {}, files), trees, lambda done, tests: heard.append((done, tests))
    )
    assert heard[-1] == (6, 6)
    assert heard == sorted(heard)


def test_shares_that_were_counted_before_a_kill_are_taken_up(tmp_path: Path) -> None:
    """None runs again for the same piece of work."""
    log = tmp_path / "log"
    test = f"def test_a():\n    open({str(log)!r}, 'a').write('x')\n"
    files = {"test_a.py": test, "test_b.py": test}
    trees = [written(tmp_path / f"tree-{share}", files) for share in range(2)]
    request = replace(request_for(tmp_path, {}, files), work="job 1")
    first = shared_spectra(request, trees, lambda _, __: None)
    assert shared_spectra(request, trees, lambda _, __: None) == first
    assert log.read_text() == "xx"
