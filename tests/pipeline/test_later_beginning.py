"""A range whose good version cannot run the failing test, though a later commit can, and is green."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pygit2
from pipeline_runs import afterd, repository

OTHERS = "LIMIT = 3\n\n\ndef unrelated(text):\n    return text.upper()\n"
BEFORE = "def shorten(text):\n    return text[:8]\n"
RENAMED = "def cut(text, width=8):\n    return text[:width]\n"
TIDIED = "def cut(text, width=8):\n    if not text:\n        return ''\n    return text[:width]\n"
BROKEN = TIDIED.replace("[:width]", "[: width - 1]")
TEST = "from words import cut\n\n\ndef test_cut():\n    assert cut('abcdefgh', width=4) == 'abcd'\n"
OLD_TEST = (
    "from words import shorten\n\n\ndef test_shorten():\n    assert shorten('abc') == 'abc'\n"
)


def explained(root: Path) -> dict[str, Any]:
    done = afterd("explain", "HEAD~6..HEAD", "--format", "json", cwd=root)
    assert done.status in {0, 12}, done.err
    found: dict[str, Any] = json.loads(done.out)["explanations"][0]
    return found


def history(path: Path, *modules: str) -> Path:
    """The modules' versions, each a commit, with a test for what the last one has on top."""
    first = {"pyproject.toml": "[project]\nname = 'words'\n", "tests/test_words.py": OLD_TEST}
    versions = [{"words.py": text} for text in modules]
    return repository(path, {**first, **versions[0]}, *versions[1:], {"tests/test_words.py": TEST})


def test_the_range_begins_where_the_test_can_be_run(tmp_path: Path) -> None:
    """A name that is younger than the good version: that the test is new says nothing of what broke it since."""
    begin = f"{OTHERS}\n\n{BEFORE}"
    told = [OTHERS.replace("3", str(number)) for number in (4, 5)]
    root = history(
        tmp_path,
        begin,
        f"{OTHERS}\n\n{RENAMED}",
        f"{told[0]}\n\n{RENAMED}",
        f"{told[0]}\n\n{TIDIED}",
        f"{told[0]}\n\n{BROKEN}",
        f"{told[1]}\n\n{BROKEN}",
    )
    found = explained(root)
    assert found["status"] == "explained", found["reason"]
    (change,) = found["root"]
    assert "width - 1" in change["patch"]
    said = " ".join(found["remarks"])
    assert "fails this test otherwise" in said, said
    assert "ImportError" in said or "cannot import" in said, said


def test_values_tell_one_failure_from_another(tmp_path: Path) -> None:
    """Both ends fail in the same assertion: what was there before the feature gave another value than it does now."""
    broken = RENAMED.replace("[:width]", "[: width - 1]")
    plain = "def cut(text, width=8):\n    return text\n"
    told = [OTHERS.replace("3", str(number)) for number in range(4, 9)]
    root = history(
        tmp_path,
        f"{OTHERS}\n\n{BEFORE}\n\n{plain}",
        f"{told[0]}\n\n{BEFORE}\n\n{plain}",
        f"{told[1]}\n\n{BEFORE}\n\n{plain}",
        f"{told[1]}\n\n{BEFORE}\n\n{RENAMED}",
        f"{told[1]}\n\n{BEFORE}\n\n{broken}",
        f"{told[3]}\n\n{BEFORE}\n\n{broken}",
    )
    found = explained(root)
    assert found["status"] == "explained", found["reason"]
    (change,) = found["root"]
    assert "width - 1" in change["patch"]


def test_a_test_that_was_never_green(tmp_path: Path) -> None:
    """What it fails with today came with what it tests: which commit that was is all there is to say."""
    broken = RENAMED.replace("[:width]", "[: width - 1]")
    told = [OTHERS.replace("3", str(number)) for number in range(4, 9)]
    root = history(
        tmp_path,
        f"{OTHERS}\n\n{BEFORE}",
        f"{told[0]}\n\n{BEFORE}",
        f"{told[1]}\n\n{BEFORE}",
        f"{told[1]}\n\n{broken}",
        f"{told[2]}\n\n{broken}",
        f"{told[3]}\n\n{broken}",
    )
    found = explained(root)
    assert found["status"] == "already-red"
    assert "No later commit that was run passes it" in str(found["reason"]), found["reason"]
    made = pygit2.Repository(root)
    third = str(made.revparse_single("HEAD~3").id)
    assert f"as now since {third[:10]}" in str(found["reason"]), found["reason"]
