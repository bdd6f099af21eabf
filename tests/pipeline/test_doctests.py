"""Doctests: what an example printed stands beside what was expected of it, at the example's own place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pipeline_runs import afterd, repository

MODULE = '''\
"""Sums."""


def scale(value, by):
    return value * by


def total(values, by=1):
    """The sum of values.

    >>> total([1, 2, 3])
    6
    >>> for by in (1, 2):
    ...     print(total([1, 2], by))
    3
    6
    """
    return sum(scale(value, by) for value in values)
'''
CONFIGURED = "[pytest]\naddopts = --doctest-modules\n"


def test_a_doctest_says_what_was_printed_and_where(tmp_path: Path) -> None:
    """The failure was `DocTestFailure: <DocTest calc.total from /…>`, with no place and no values."""
    bad = MODULE.replace("value * by", "value * by + (by > 1)")
    where = repository(
        tmp_path / "r", {"pytest.ini": CONFIGURED, "calc.py": MODULE}, {"calc.py": bad}
    )
    done = afterd("explain", "HEAD~1..HEAD", "--format", "json", cwd=where)
    assert done.status == 0, done.err
    [found] = json.loads(done.out)["explanations"]
    failure = found["failure"]
    assert (failure["kind"], failure["file"], failure["line"]) == ("assertion", "calc.py", 13)
    assert (failure["observed"], failure["expected"]) == ("8", "6")
    assert [change["symbol"] for change in found["root"]] == ["scale"]


@pytest.mark.parametrize("option", ["", "--doctest-continue-on-failure"])
def test_what_an_example_raises_is_what_failed(tmp_path: Path, option: str) -> None:
    bad = MODULE.replace("value * by", "value * by // (2 - by)")
    files = {"pytest.ini": f"{CONFIGURED[:-1]} {option}\n", "calc.py": MODULE}
    where = repository(tmp_path / "r", files, {"calc.py": bad})
    done = afterd("explain", "HEAD~1..HEAD", "--format", "json", cwd=where)
    [found] = json.loads(done.out)["explanations"]
    assert (found["failure"]["file"], found["failure"]["line"]) == ("calc.py", 5), found["failure"]
    assert [change["symbol"] for change in found["root"]] == ["scale"]
