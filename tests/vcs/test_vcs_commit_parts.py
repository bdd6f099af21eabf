"""Blocks that several commits made, cut where one's work ends; every subset still reverts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pygit2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from afterd.model.change import ChangeList
from afterd.vcs.diff import changes_between
from afterd.vcs.variants import Variants

PERSON = pygit2.Signature("A", "a@example.org", 1, 0)


def committed(path: Path, texts: Sequence[str], name: str = "a.py") -> tuple[str, ...]:
    """A repository with a commit for each text of one file; their ids."""
    repository = pygit2.init_repository(path)
    made: list[str] = []
    for number, text in enumerate(texts):
        tree = repository.TreeBuilder()
        tree.insert(name, repository.create_blob(text.encode()), pygit2.enums.FileMode.BLOB)
        parents = [pygit2.Oid(hex=made[-1])] if made else []
        message = f"commit {number}"
        commit = repository.create_commit(
            "refs/heads/main", PERSON, PERSON, message, tree.write(), parents
        )
        made.append(str(commit))
    return tuple(made)


def shown(changes: ChangeList, commits: Sequence[str]) -> list[tuple[str, list[int]]]:
    """The lines that each change puts in, and the numbers of its commits."""
    return [
        (
            "".join(f"{line}\n" for line in change.lines("+")),
            [commits.index(each) for each in change.commits],
        )
        for change in changes.changes
    ]


TABLE = {
    "statements of two commits": (
        "a.py",
        ["a = 1\nz = 9\n", "a = 1\nb = 2\nz = 9\n", "a = 1\nb = 2\nc = 3\nz = 9\n"],
        [("b = 2\n", [1]), ("c = 3\n", [2])],
    ),
    "a later commit within an earlier one's block": (
        "a.py",
        [
            "a = 1\n",
            "a = 1\ndef f():\n    x = 1\n    return x\n",
            "a = 1\ndef f():\n    x = 1\n    x += 1\n    return x\n",
        ],
        [
            ("def f():\n    x = 1\n", [1]),
            ("    x += 1\n", [2]),
            ("    return x\n", [1]),
        ],
    ),
    "the only statement of a block stays with it": (
        "a.py",
        ["a = 1\n", "a = 1\nif a:\n    pass\n", "a = 1\nif a:\n    b = 2\n"],
        [("if a:\n    b = 2\n", [1, 2])],
    ),
    "a replaced line, and what was added behind it": (
        "a.py",
        ["a = 1\nz = 9\n", "a = 2\nz = 9\n", "a = 2\nb = 2\nc = 3\nz = 9\n"],
        [("a = 2\n", [1]), ("b = 2\nc = 3\n", [2])],
    ),
    "cases of a test, in a file of no known language": (
        "cases-test.txt",
        ["1 a\n", "1 a\n2 b\n3 c\n", "1 a\n2 b\n3 c\n4 d\n"],
        [("2 b\n3 c\n", [1]), ("4 d\n", [2])],
    ),
    "a paragraph is its own commit's, not also its neighbour's": (
        "a.txt",
        ["1\n", "1\n\n2\na\n", "1\n\n2\na\n\n3\na\n"],
        [("\n2\na\n", [1]), ("\n", [2]), ("3\na\n", [2])],
    ),
    "two tests of two commits": (
        "test_a.py",
        ["a = 1\n", "a = 1\ndef f():\n    x\n", "a = 1\ndef f():\n    x\ndef g():\n    y\n"],
        [("def f():\n    x\n", [1]), ("def g():\n    y\n", [2])],
    ),
    "one commit's block is one change": (
        "a.py",
        ["a = 1\n", "a = 1\nb = 2\nc = 3\n", "a = 1\nb = 2\nc = 3\n"],
        [("b = 2\nc = 3\n", [1])],
    ),
    "brackets are kept together": (
        "a.c",
        [
            "int a;\n",
            "int a;\nint f(void) {\n  return 1;\n}\n",
            "int a;\nint f(void) {\n  a = 2;\n  return 1;\n}\nint g;\n",
        ],
        [
            ("int f(void) {\n  a = 2;\n  return 1;\n}\n", [1, 2]),
            ("int g;\n", [2]),
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "texts", "parts"), TABLE.values(), ids=TABLE.keys())
def test_what_each_commit_made_is_a_change_of_its_own(
    tmp_path: Path, name: str, texts: Sequence[str], parts: list[tuple[str, list[int]]]
) -> None:
    commits = committed(tmp_path, texts, name)
    repository = pygit2.Repository(str(tmp_path))
    changes = changes_between(repository, commits[0], commits[-1])
    assert shown(changes, commits) == parts


@st.composite
def histories(draw: st.DrawFn) -> list[str]:
    """A few versions of a text, each with lines put in, taken out or replaced."""
    lines = [f"v{number} = {number}" for number in range(draw(st.integers(1, 6)))]
    texts = ["\n".join(lines) + "\n"]
    for version in range(draw(st.integers(2, 4))):
        for _ in range(draw(st.integers(1, 3))):
            at = draw(st.integers(0, len(lines)))
            taken = draw(st.integers(0, 2))
            put = [f"w{version}_{n} = {at}" for n in range(draw(st.integers(0, 3)))]
            lines[at : at + taken] = put
        texts.append("\n".join(lines) + "\n")
    return texts


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(histories())
def test_all_of_them_undone_give_the_good_version(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    path = tmp_path_factory.mktemp("history")
    commits = committed(path, texts)
    repository = pygit2.Repository(str(path))
    changes = changes_between(repository, commits[0], commits[-1])
    variants = Variants(repository, commits[0], commits[-1], changes)
    good = str(repository[commits[0]].peel(pygit2.Tree).id)
    assert variants.tree(changes.ids) == good
    for change in changes.changes:
        variants.tree(frozenset([change.id]))
