"""Which names a changed line declares."""

from __future__ import annotations

from pathlib import Path

import pytest

from afterd.compare.c.declared import declarations
from afterd.model.change import Change
from afterd.model.location import LineSpan
from afterd.trace.c.build.source import Sources


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("unsigned known = 0;", {"known"}),
        ("    struct point *at;", {"at"}),
        ("int cells[4];", {"cells"}),
        ("unsigned flag : 1;", {"flag"}),
        ("#define LIMIT 4", {"LIMIT"}),
        ("enum colour { RED, GREEN = 2 };", {"RED", "GREEN"}),
        ("return known;", set()),
        ("goto done;", set()),
        ("else known = 1;", set()),
        ("known = 1;", set()),
        ("found(known);", set()),
    ],
)
def test_declared_names(tmp_path: Path, line: str, names: set[str]) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    for directory, text in ((good, "\n"), (bad, line + "\n")):
        directory.mkdir()
        (directory / "a.c").write_text(text)
    change = Change("c1", "a.c", "a.c", LineSpan(1, 1), LineSpan(1, 1))
    found = declarations([change], Sources(good), Sources(bad), lambda _: False)
    assert {name for declared in found for name in declared.names} == names


MOVED = """int first(int given)
{
    int spot = given;
    return spot;
}

int second;
"""


def test_what_a_moved_function_declares_is_known_in_it_alone(tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    for directory, text in ((good, "\n"), (bad, MOVED)):
        directory.mkdir()
        (directory / "a.c").write_text(text)
    change = Change("c1", "a.c", "a.c", LineSpan(0, 0), LineSpan(1, 7))
    found = declarations([change], Sources(good), Sources(bad), {"first"}.__contains__)
    within = {name: declared.function for declared in found for name in declared.names}
    assert within["spot"] == "first"
    assert not within["second"]


def test_a_source_need_not_be_in_utf_8(tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    for directory, text in ((good, "\n"), (bad, f"/* J\xf8rgen */\n{MOVED}")):
        directory.mkdir()
        (directory / "a.c").write_text(text, encoding="latin-1")
    change = Change("c1", "a.c", "a.c", LineSpan(0, 0), LineSpan(2, 7))
    found = declarations([change], Sources(good), Sources(bad), {"first"}.__contains__)
    assert {name: declared.function for declared in found for name in declared.names} == {
        "spot": "first",
        "second": "",
    }
