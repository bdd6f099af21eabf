"""Which names a changed line declares."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from afterd.compare.c.declared import declarations, read_by_compilers
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
        ("static constexpr int LIMIT = 11;", {"LIMIT"}),
        ("typedef unsigned char byte;", {"byte"}),
        ("typedef struct point *place;", {"place"}),
        ("using byte = unsigned char;", {"byte"}),
        ('static const char *known = "enum { RED };";', {"known"}),
        (r'    "\"enum \" type \" {\" nl indent\n"', set()),
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


def test_what_a_function_that_was_not_built_declares_is_known_in_it_alone(tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    for directory, text in ((good, "\n"), (bad, f"struct pair {{\n    int left;\n}};\n{MOVED}")):
        directory.mkdir()
        (directory / "a.c").write_text(text)
    change = Change("c1", "a.c", "a.c", LineSpan(0, 0), LineSpan(1, 10))
    found = declarations([change], Sources(good), Sources(bad), lambda _: False)
    within = {name: declared.function for declared in found for name in declared.names}
    assert within == {"spot": "first", "second": "", "left": ""}


def test_a_manual_declares_nothing_and_what_is_included_does(tmp_path: Path) -> None:
    for side in ("good", "bad"):
        (tmp_path / side / "src").mkdir(parents=True)
    (tmp_path / "good/src/a.c").write_text("\n")
    (tmp_path / "bad/src/a.c").write_text('#include "src/codes.def"\n')
    (tmp_path / "bad/src/codes.def").write_text("first,\n")
    (tmp_path / "bad/manual.html").write_text("first\n")
    changes = [
        Change("c1", name, name, LineSpan(0, 0), LineSpan(1, 1))
        for name in ("src/codes.def", "manual.html")
    ]
    changes[1] = replace(changes[1], id="c2")
    sides = Sources(tmp_path / "good"), Sources(tmp_path / "bad")
    is_read = read_by_compilers(sides, ["src/a.c", "manual.html"])
    found = declarations(changes, *sides, lambda _: False, is_read)
    assert [(each.change, each.names) for each in found] == [("c1", frozenset({"first"}))]


RECORD = """struct first {
    int given;
#define LIMIT 4
    enum { RED, GREEN } colour;
    union { int whole; char part[4]; } value;
};
int second;
"""


def test_what_stands_in_a_struct_is_a_field(tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    for directory, text in ((good, "\n"), (bad, RECORD)):
        directory.mkdir()
        (directory / "a.c").write_text(text)
    change = Change("c1", "a.c", "a.c", LineSpan(0, 0), LineSpan(1, 7))
    [found] = declarations([change], Sources(good), Sources(bad), lambda _: False)
    assert found.fields == {"given"}
    assert found.records == {"first"}
    assert {"given", "LIMIT", "RED", "GREEN", "second"} <= found.names


def test_what_may_be_named_as_a_field(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("x = a.b + c->d[e] + offsetof(struct f, g) + h(i) + (j);\n")
    assert Sources(tmp_path).members("a.c", 1) == {"b", "d", "g", "i", "j"}
