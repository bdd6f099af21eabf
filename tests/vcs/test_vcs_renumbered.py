"""Tables of numbers: what was handed around is one change, what is another number is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_repositories import FILE, Made

from afterd.vcs.diff import changes_between
from afterd.vcs.hunks import difference, split_lines
from afterd.vcs.renumbered import Renumbered


def _macros(*names: str, first: int = 0) -> str:
    return "".join(
        f"#define OP_{name} {number} /* synopsis */\n" for number, name in enumerate(names, first)
    )


def _items(*names: str) -> str:
    inside = "".join(f"  {name} = {number + 258},\n" for number, name in enumerate(names))
    return f"enum tokens {{\n{inside}}};\n"


_OPCODES = ["Add", "Goto", "Halt", "Init", "Jump", "Last", "Move", "Next", "Open"]
_MORE = ["Add", "Goto", "Half", "Halt", "Init", "Jump", "Last", "Mode", "Move", "Next", "Open"]


def _joined(good: str, bad: str) -> list[bool]:
    """Of each hunk whether it is a renumbered table."""
    one, other = good.encode(), bad.encode()
    renumbered = Renumbered(split_lines(one), split_lines(other))
    return [whole for _, whole in renumbered.joined(difference(one, other))]


@pytest.mark.parametrize(
    ("good", "bad", "expected"),
    [
        (_macros(*_OPCODES), _macros(*_MORE), [True]),
        (_items(*_OPCODES), _items(*_MORE), [True]),
        (_macros(*_MORE), _macros(*_OPCODES), [True]),
        ("int a;\n" + _macros(*_OPCODES), "int b;\n" + _macros(*_MORE), [False, True]),
        # two that changed places
        (_macros("A", "B", "C"), _macros("B", "A", "C"), [True]),
        # at the end nobody's number is another one's
        (_macros(*_OPCODES), _macros(*_OPCODES, "Zero"), [False]),
        # each is another number, which no other had
        (_macros("A", "B", "C"), _macros("A", "B", "C", first=100), [False]),
        ("#define SIZE 100\n", "#define SIZE 200\n", [False]),
        ("#define SIZE 100\n#define MOST SIZE\n", "#define SIZE 200\n#define MOST 2\n", [False]),
        ("int f(void) { return 1; }\n", "int f(void) { return 2; }\n", [False]),
    ],
)
def test_only_numbers_that_were_handed_around_are_one_change(
    good: str, bad: str, expected: list[bool]
) -> None:
    """SQLite: 15 of 32 suspects were opcodes, most of which moved by one; half of them undone are numbers twice."""
    assert _joined(good, bad) == expected


def test_a_renumbered_table_is_one_change_from_its_first_line_to_its_last(tmp_path: Path) -> None:
    around = "int before;\n", "int behind;\n"
    good = around[0] + _macros(*_OPCODES) + "\n" + around[1]
    bad = "long before;\n" + _macros(*_MORE) + "\n" + "long behind;\n"
    made = Made(tmp_path)
    one, other = (made.tree({b"a.c": (FILE, text.encode())}) for text in (good, bad))
    found = changes_between(made.repository, one, other).changes
    assert [(each.old.start, each.new.start) for each in found] == [(1, 1), (4, 4), (12, 14)]
    assert "OP_Halt 2" in found[1].patch
    assert "OP_Open 10" in found[1].patch
