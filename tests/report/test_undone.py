"""Hunks taken back, as snippets and as patches that git applies."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pygit2
import pytest
from explanation_samples import C3, RUNNING_EXAMPLE
from hypothesis import given, settings
from hypothesis import strategies as st

from afterd.report.revert import encoded_patch, render
from afterd.report.snippet import undone_patch

LINES = st.lists(st.sampled_from(["a", "b", "-", "+x", "\\ y", "@@"]), max_size=6)


def file(lines: list[str], *, ended: bool) -> bytes:
    return ("\n".join(lines) + ("\n" if ended and lines else "")).encode()


def hunks(old: bytes, new: bytes) -> str:
    """Git's zero-context hunks from ``old`` to ``new``."""
    patch = pygit2.Patch.create_from(old, new, "f", "f", context_lines=0)
    text = patch.text or ""
    text = text[text.index("@@") :] if "@@" in text else ""
    return re.sub(r"^(@@ -\S+ \+\S+ @@).*$", r"\1", text, flags=re.MULTILINE)  # no function names


def applied(patch: str, text: bytes) -> bytes:
    """``text`` with zero-context hunks applied, the last one first; checks what they remove."""
    lines = text.decode().splitlines(keepends=True)
    for hunk in reversed(re.split(r"^(?=@@ -\d)", patch, flags=re.MULTILINE)[1:]):
        header, *body = hunk.splitlines(keepends=True)
        start, count = re.match(r"@@ -(\d+)(?:,(\d+))? ", header).groups()  # type: ignore[union-attr]  # a header matches
        first = int(start) - (count != "0")
        sides: dict[str, list[str]] = {"-": [], "+": []}
        last = sides["-"]
        for line in body:
            if line.startswith("\\"):
                last[-1] = last[-1].removesuffix("\n")
            else:
                last = sides[line[0]]
                last.append(line[1:])
        assert lines[first : first + len(sides["-"])] == sides["-"]
        lines[first : first + len(sides["-"])] = sides["+"]
    return "".join(lines).encode()


@given(LINES, LINES, st.booleans(), st.booleans())
@settings(max_examples=200)
def test_it_takes_the_change_back(one: list[str], other: list[str], end: bool, last: bool) -> None:
    old, new = file(one, ended=end), file(other, ended=last)
    assert applied(hunks(old, new), old) == new
    assert applied(undone_patch(hunks(old, new)), new) == old


@given(LINES, LINES)
def test_twice_undone_is_as_it_was(one: list[str], other: list[str]) -> None:
    patch = hunks(file(one, ended=True), file(other, ended=True))
    assert undone_patch(undone_patch(patch)) == patch


@pytest.mark.parametrize(
    ("patch", "shown"),
    [
        ("@@ -5 +5 @@\n-a\n+b\n", "@@ -5 +5 @@\n-b\n+a\n"),
        ("@@ -5,2 +4,0 @@\n-a\n-b\n", "@@ -4,0 +5,2 @@\n+a\n+b\n"),
        ("old mode 100644\nnew mode 100755\n", "old mode 100644\nnew mode 100755\n"),
        ("", ""),
    ],
)
def test_examples(patch: str, shown: str) -> None:
    assert undone_patch(patch) == shown


def test_git_applies_the_patch_under_its_words(tmp_path: Path) -> None:
    repository = pygit2.init_repository(tmp_path)
    bad, good = b"x\nsum - z\xff\ny\n", b"x\nsum + z\xff\ny\n"
    (tmp_path / "sum.c").write_bytes(bad)
    patch = pygit2.Patch.create_from(bad, good, "sum.c", "sum.c")
    diff = (patch.data or b"").decode("utf-8", "surrogateescape")
    text = render(
        replace(RUNNING_EXAMPLE, root=(C3,), test="a\n--- a/x\n+++ b/x\n@@ -1 +1 @@"), diff
    )
    assert text.startswith("Explanation 42: a\\n--- a/x")
    assert "Reverts c3 and c7." in text
    repository.apply(
        pygit2.Diff.parse_diff(encoded_patch(text)), pygit2.enums.ApplyLocation.WORKDIR
    )
    assert (tmp_path / "sum.c").read_bytes() == good
