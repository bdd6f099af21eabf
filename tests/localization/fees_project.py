"""A package of two functions with a wrong number in its last version, for techniques that rank Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pipeline_runs import afterd, repository

LIBRARY = """\
def limited(value, low, high):
    if value < low:
        return low
    if value > high:
        return high
    return value


def fee(days, weight):
    base = limited(days, 1, 30) * 4
    extra = 0
    if weight > 20:
        extra = weight - 20
    unused = days * weight
    if days > 100:
        raise ValueError("too long")
    return base + extra
"""
WRONG = LIBRARY.replace("weight - 20", "weight - 10")
FAULT, DEAD = 13, 14
TESTS = """\
from fees import fee


def test_light():
    assert fee(2, 10) == 8


def test_heavy():
    assert fee(3, 25) == 17


def test_long():
    assert fee(40, 20) == 120
"""
SETTINGS = {"pytest.ini": "[pytest]\n"}


def project(path: Path, tests: str = TESTS, **more: str) -> Path:
    """A repository with the right version and the wrong one."""
    path.mkdir()
    return repository(path, {"fees.py": LIBRARY, "test_fees.py": tests, **more}, {"fees.py": WRONG})


def ranked(path: Path, *arguments: str) -> Any:  # noqa: ANN401 # a JSON document
    """What ``afterd rank`` answers."""
    done = afterd("rank", "--format", "json", *arguments, cwd=path)
    assert done.status == 0, done.err
    return json.loads(done.out)
