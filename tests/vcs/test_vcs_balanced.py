"""Hunks that close each other's brackets are one change."""

from __future__ import annotations

from afterd.model.location import LineSpan
from afterd.vcs.balanced import balanced
from afterd.vcs.hunks import Hunk, SourceText, difference
from afterd.vcs.tokens import Language

GOOD = """\
int update(int n) {
  do {
    n = put(n);
  }
  while (n == 0);
  while (n >= 0) {
    n = step(n);

    if (done(n)) {
      finish(n);
    }
  }

  return 0;
}
"""
BAD = """\
int update(int n) {
  do
    n = give(n);
  while (again(n));

  if (n > 0 && all(n))
    finish_it(n);

  return 0;
}
"""


def _joined(good: str, bad: str) -> list[Hunk]:
    one, other = (SourceText(text.encode(), Language.C) for text in (good, bad))
    return [*balanced(difference(one.content, other.content), one, other)]


def test_a_rewritten_block_that_shares_blank_lines_is_one_change() -> None:
    """Libuv's loop: its head was changed with the lines above a blank one, and its end with those below."""
    joined = _joined(GOOD, BAD)
    assert len(difference(GOOD.encode(), BAD.encode())) > len(joined) == 1
    for hunk in joined:
        lines = GOOD.splitlines()[hunk.old.start - 1 : hunk.old.end - 1] if hunk.old.count else []
        mine = BAD.splitlines()[hunk.new.start - 1 : hunk.new.end - 1] if hunk.new.count else []
        counts = [sum(line.count("{") - line.count("}") for line in part) for part in (lines, mine)]
        assert counts[0] == counts[1], hunk


def test_brackets_that_are_closed_far_behind_leave_what_stands_between_alone() -> None:
    good = "int f(void) {\n  a();\n  b();\n  return 0;\n}\n"
    bad = "int f(void) {\n  if (x) {\n  a();\n  b();\n  }\n  return 0;\n}\n"
    assert [hunk.new for hunk in _joined(good, bad)] == [LineSpan(2, 1), LineSpan(5, 1)]


def test_what_is_balanced_stays_as_it_is() -> None:
    good = "int f(void) {\n  a();\n\n  b();\n}\n"
    bad = "int f(void) {\n  c();\n\n  d();\n}\n"
    assert len(_joined(good, bad)) == 2
