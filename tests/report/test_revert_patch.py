"""The revert patch of an answer is taken by a real git, and gives what was meant."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from explanation_samples import C2, C7
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from afterd.model.change import Change, ChangeForm
from afterd.model.location import LineSpan
from afterd.report.revert import revert_patch
from afterd.vcs.file_changes import hunk_patch
from afterd.vcs.hunks import difference, split_lines

LINES = st.lists(st.sampled_from(["a", "b", "c", "", " x", "-y", "+z", "\\ w"]), max_size=12)


def text(lines: list[str], *, ended: bool = True) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()[: None if ended else -1]


def changes_of(good: bytes, bad: bytes, file: str) -> list[Change]:
    old, new = split_lines(good), split_lines(bad)
    return [
        Change(
            f"c{number}", file, file, hunk.old, hunk.new, patch=hunk_patch(hunk, old, new, "f()")
        )
        for number, hunk in enumerate(difference(good, bad), 1)
    ]


def undone(good: bytes, bad: bytes, chosen: list[Change]) -> bytes:
    """The bad text with the chosen changes undone, from the last to the first."""
    old, lines = split_lines(good), split_lines(bad)
    for change in reversed(chosen):
        start = change.new.start - 1 if change.new.count else change.new.start
        lines[start : start + change.new.count] = (
            old[change.old.start - 1 : change.old.start - 1 + change.old.count]
            if change.old.count
            else []
        )
    return b"".join(lines)


def applied(folder: Path, patch: str) -> None:
    done = subprocess.run(
        ["git", "apply", "--unidiff-zero", "--whitespace=nowarn", "-"],
        cwd=folder, input=patch.encode(errors="surrogateescape"), capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, (done.stderr.decode(), patch)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("apply")


def test_a_last_line_without_an_end_is_not_taken_for_the_like_one_before_it(folder: Path) -> None:
    changes = changes_of(b"a\n", b"a\na", "f.c")
    (folder / "f.c").write_bytes(b"a\na")
    applied(folder, revert_patch(changes))
    assert (folder / "f.c").read_bytes() == b"a\n"


@given(good=LINES, bad=LINES, ended=st.booleans(), data=st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_git_applies_the_revert_of_any_subset(
    folder: Path, good: list[str], bad: list[str], ended: bool, data: st.DataObject
) -> None:
    before, after = text(good), text(bad, ended=ended)
    changes = changes_of(before, after, "f.c")
    chosen = [change for change in changes if data.draw(st.booleans())]
    if not chosen:
        return
    (folder / "f.c").write_bytes(after)
    applied(folder, revert_patch(chosen))
    assert (folder / "f.c").read_bytes() == undone(before, after, chosen)


@pytest.mark.parametrize("name", ["a b.c", 'q"uo\\te', "tab\there", "ümlaut", "\udcff.c", "sub/f"])
def test_names_are_quoted_as_git_does(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"1\n2\n")
    applied(tmp_path, revert_patch(changes_of(b"1\nx\n", b"1\n2\n", name)))
    assert path.read_bytes() == b"1\nx\n"


def test_what_is_no_hunk_is_named_and_left_out() -> None:
    renamed = Change("c9", "n\n+.c", "o.c", LineSpan(0, 0), LineSpan(0, 0), ChangeForm.RENAMED)
    shortened = Change(
        "c8", "f.c", "f.c", LineSpan(1, 9), LineSpan(1, 9), patch="@@ -1 +1 @@\n-a\n"
    )
    patch = revert_patch((C2, renamed, shortened, C7))
    assert patch.startswith(
        "# not in this patch: c9 n\\n+.c (renamed file)\n# not in this patch: c8"
    )
    assert patch.count("diff --git") == 2
