"""A function that gave way to another one is not cut at the lines that both happen to have."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from afterd.model.location import LineSpan
from afterd.vcs.enclosing import Enclosing
from afterd.vcs.hunks import Hunk, SourceText, difference, split_lines, undone_lines
from afterd.vcs.other_functions import without_accidents
from afterd.vcs.tokens import Language

BEFORE = "int first(void)\n{\n    return 1;\n}\n\n"
BEHIND = "\nint last(void)\n{\n    return 9;\n}\n"
SCAN = """\
static int scan_address(const char *text, int at)
{
    int dots = 0;
    while (text[at]) {
        if (text[at] == '.') {
            dots++;
            at++;
        } else {
            break;
        }
    }
    if (dots == 0)
        return -1;
    return at;
}
"""
LOOK = """\
static struct mark *look_left(struct mark *from, long offset, int flags)
{
    struct mark *found;
    for (found = from; found->previous; found = found->previous) {
        if (found->kind == DUMMY || found->begin > offset) {
            continue;
        } else {
            break;
        }
    }
    if (found->flags & flags)
        return found;
    return NULL;
}
"""


def _found(good: str, bad: str) -> tuple[list[Hunk], list[Hunk]]:
    one, other = (SourceText(text.encode(), Language.C) for text in (good, bad))
    hunks = difference(one.content, other.content)
    before, after = (Enclosing(text.content, text.language) for text in (one, other))
    return hunks, without_accidents(hunks, one, other, before, after)


def _undone(good: str, bad: str, hunks: Sequence[Hunk]) -> str:
    before, after = (split_lines(text.encode()) for text in (good, bad))
    return b"".join(undone_lines(before, after, hunks)).decode()


def test_a_function_that_gave_way_to_another_one_is_one_change() -> None:
    """Md4c's autolinks: of 22 parts of five functions none could be undone alone."""
    good, bad = BEFORE + SCAN + BEHIND, BEFORE + LOOK + BEHIND
    hunks, found = _found(good, bad)
    assert len(hunks) > 1
    assert found == [Hunk(LineSpan(6, SCAN.count("\n")), LineSpan(6, LOOK.count("\n")))]
    assert _undone(good, bad, found) == good


def test_a_function_that_was_renamed_is_cut_as_it_was() -> None:
    renamed = SCAN.replace("scan_address", "scan_host").replace("dots == 0", "dots < 2")
    hunks, found = _found(BEFORE + SCAN + BEHIND, BEFORE + renamed + BEHIND)
    assert len(hunks) == 2
    assert found == hunks


def test_what_was_taken_out_of_a_function_is_cut_as_it_was() -> None:
    """The end of the one function is nearly all of the other one, which is much shorter."""
    body = "".join(f"    step(text, {each});\n" for each in range(12))
    good = (
        f"static int whole(char *text)\n{{\n{body}    finish(text);\n    return used(text);\n}}\n"
    )
    parted = "    return end(text);\n}\n\nstatic int end(char *text)\n{\n    finish(text);\n"
    bad = good.replace("    finish(text);\n", parted)
    hunks, found = _found(good, bad)
    assert found == hunks


@given(st.lists(st.sampled_from([SCAN, LOOK, BEFORE, BEHIND]), max_size=4), st.data())
def test_undoing_all_of_it_gives_the_good_text(parts: list[str], data: st.DataObject) -> None:
    good = "".join(parts)
    lines = data.draw(
        st.lists(st.sampled_from((SCAN + LOOK).splitlines(keepends=True)), max_size=30)
    )
    for bad in ("".join(lines), good + "".join(lines), "".join(reversed(parts))):
        _, found = _found(good, bad)
        assert _undone(good, bad, found) == good
