"""Added files: cut into parts that can be undone alone, and compared with what they were cut out of."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_repositories import FILE, Made, read_listing

from afterd.model.change import Change, ChangeForm, ChangeList
from afterd.model.location import LineSpan
from afterd.trace.linemap import LineMap
from afterd.vcs.diff import changes_between
from afterd.vcs.hunks import Hunk, split_lines
from afterd.vcs.moved_text import MovedText, Source
from afterd.vcs.tokens import Language
from afterd.vcs.variants import Variants

HEAD = "import json\nfrom decimal import Decimal\n\n\n"
PRICE = '''\
def price_of(article, count):
    """What so many of an article cost."""
    whole = Decimal(article["price"]) * count
    return whole.quantize(Decimal("0.01"))
'''
DISCOUNT = '''\
def discount_for(customer, whole):
    """What a customer does not pay."""
    if customer["orders"] > 10:
        return whole * Decimal("0.1")
    return Decimal(0)
'''
STORED = """\
def stored_articles(path):
    with open(path, encoding="utf-8") as file:
        return {article["name"]: article for article in json.load(file)}
"""


def module(*parts: str, head: str = HEAD) -> str:
    return head + "\n\n".join(parts)


def changed(made: Made, *versions: dict[str, str]) -> tuple[ChangeList, list[str]]:
    commits = [made.text(**version) for version in versions]
    return changes_between(made.repository, commits[0], commits[-1]), commits


def hunks_of(changes: ChangeList, file: str) -> list[Change]:
    return [c for c in changes.changes if c.file == file and c.form is ChangeForm.HUNK]


def test_what_was_altered_in_a_module_that_was_divided_is_a_change_of_its_own(
    tmp_path: Path,
) -> None:
    altered = DISCOUNT.replace("> 10", ">= 10")
    before = {"shop__py": module(PRICE, DISCOUNT, STORED)}
    after = {
        "shop__py": module(STORED, head="import json\n\n\n"),
        "money__py": module(PRICE, altered, head="from decimal import Decimal\n\n\n"),
    }
    made = Made(tmp_path / "r")
    changes, (good, bad) = changed(made, before, after)
    guilty = next(c for c in hunks_of(changes, "money.py") if c.symbol == "discount_for")
    assert guilty.old_file == "shop.py"
    assert (guilty.lines("-"), guilty.lines("+")) == (
        ['    if customer["orders"] > 10:'],
        ['    if customer["orders"] >= 10:'],
    )
    variants = Variants(made.repository, good, bad, changes)
    undone = read_listing(variants.store, variants.tree(frozenset([guilty.id])))
    assert undone[b"money.py"] == (FILE, after["money__py"].replace(">= 10", "> 10").encode())
    assert undone[b"shop.py"] == (FILE, after["shop__py"].encode())


def test_the_head_of_a_moved_function_was_altered_not_written_anew(tmp_path: Path) -> None:
    """``static`` goes where a function of C moves to a file of its own."""
    made = Made(tmp_path / "r")
    before = """\
#include <stdio.h>

static int discount_for(int orders, int whole)
{
    if (orders > 10)
        return whole / 10;
    return whole / 100 > orders ? orders : 0;
}

int main(void)
{
    return discount_for(1, 2);
}
"""
    moved = "int discount_for(int orders, int whole)\n{\n    if (orders >= 10)\n"
    after = {
        "shop__c": "int main(void)\n{\n    return discount_for(1, 2);\n}\n",
        "money__c": f'#include "money.h"\n\n{moved}'
        "        return whole / 10;\n    return whole / 100 > orders ? orders : 0;\n}\n",
    }
    changes, _ = changed(made, {"shop__c": before}, after)
    assert [(each.lines("-"), each.lines("+")) for each in hunks_of(changes, "money.c")] == [
        ([], ['#include "money.h"', ""]),
        (
            ["static int discount_for(int orders, int whole)"],
            ["int discount_for(int orders, int whole)"],
        ),
        (["    if (orders > 10)"], ["    if (orders >= 10)"]),
    ]


def test_undoing_that_the_file_was_added_takes_all_of_it_away(tmp_path: Path) -> None:
    made = Made(tmp_path / "r")
    after = {"shop__py": module(STORED), "money__py": module(PRICE, DISCOUNT)}
    changes, (good, bad) = changed(made, {"shop__py": module(STORED)}, after)
    added = next(c for c in changes.changes if c.form is ChangeForm.ADDED)
    parts = hunks_of(changes, "money.py")
    assert [part.symbol for part in parts] == ["", "price_of", "discount_for"]
    variants = Variants(made.repository, good, bad, changes)
    assert b"money.py" not in read_listing(variants.store, variants.tree(frozenset([added.id])))
    assert variants.tree(frozenset([added.id])) == variants.tree(changes.ids)
    without = read_listing(variants.store, variants.tree(frozenset([parts[1].id])))
    assert without[b"money.py"] == (FILE, module(DISCOUNT).encode())


def test_an_added_file_of_one_part_is_one_change(tmp_path: Path) -> None:
    made = Made(tmp_path / "r")
    after = {"shop__py": module(STORED), "money__py": PRICE}
    changes, _ = changed(made, {"shop__py": module(STORED)}, after)
    assert [(c.file, c.form) for c in changes.changes] == [("money.py", ChangeForm.ADDED)]


def test_who_altered_moved_text_before_it_was_moved(tmp_path: Path) -> None:
    altered = DISCOUNT.replace("> 10", ">= 10")
    made = Made(tmp_path / "r")
    rest = {"shop__py": module(STORED)}
    changes, commits = changed(
        made,
        {"shop__py": module(PRICE, DISCOUNT, STORED)},
        {"shop__py": module(PRICE, altered, STORED)},
        {**rest, "money__py": module(PRICE, altered)},
        {**rest, "money__py": module(PRICE.replace("0.01", "0.1"), altered)},
    )
    makers = {
        part.symbol: [commits.index(each) for each in part.commits]
        for part in hunks_of(changes, "money.py")
        if part.symbol
    }
    assert makers == {"discount_for": [1], "price_of": [3]}
    added = next(c for c in changes.changes if c.form is ChangeForm.ADDED)
    assert [commits.index(each) for each in added.commits] == [2]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("money__json", '{"price": 1,\n\n"orders": [1, 2]}\n'),
        ("money__txt", module(PRICE, DISCOUNT)),
        ("test_money__py", module(PRICE, DISCOUNT)),
        ("y__tab__c", "/* A Bison parser, made by GNU Bison 3.8. */\nint a;\n\nint b;\n"),
    ],
)
def test_data_tests_and_what_a_tool_made_stay_whole(tmp_path: Path, name: str, text: str) -> None:
    made = Made(tmp_path / "r")
    kept = {"shop__py": module(STORED)}
    changes, _ = changed(made, kept, {**kept, name: text})
    assert [c.form for c in changes.changes] == [ChangeForm.ADDED]


def test_text_that_still_stands_where_it_stood_was_copied_not_moved(tmp_path: Path) -> None:
    made = Made(tmp_path / "r")
    before = {"shop__py": module(PRICE, DISCOUNT)}
    changes, _ = changed(made, before, {**before, "money__py": module(PRICE, DISCOUNT)})
    parts = hunks_of(changes, "money.py")
    assert all(part.old_file == "money.py" and not part.old.count for part in parts)
    assert sum(part.new.count for part in parts) == len(module(PRICE, DISCOUNT).splitlines())


def test_a_licence_and_includes_make_no_file_another_one_s_child(tmp_path: Path) -> None:
    """jsoncons: five new headers were called cut out of one that was taken away, for what all headers begin with."""
    head = "// Distributed under the terms of the licence in LICENSE.txt\n#include <system_error>\n"
    head += "#include <type_traits>\n\n"
    made = Made(tmp_path / "r")
    before = {
        "gone__h": head + "".join(f"int removed_{n}(int);\n" for n in range(40)),
        "kept__h": f"{head}int kept_as_it_was(int);\n",
    }
    after = {
        "kept__h": f"{before['kept__h']}int something_more(int);\n",
        "fresh__h": head + "".join(f"long written_anew_{n}(char *);\n" for n in range(40)),
    }
    changes, _ = changed(made, before, after)
    assert {c.old_file for c in changes.changes if c.file == "fresh.h"} == {"fresh.h"}


_LINES = st.lists(
    st.sampled_from(
        [
            *("", "    return left + right", "    total = count_of(everything)", "value = 1"),
            *("def first_of(many):", "def last_of(many):", "    raise ValueError(many, count)"),
        ]
    ),
    max_size=14,
)


def _text(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


@st.composite
def _moves(draw: st.DrawFn) -> tuple[list[str], LineSpan, list[str]]:
    """A text, the lines that were removed from it, and a new one that has some of them, in order."""
    old = draw(_LINES)
    start = draw(st.integers(0, len(old)))
    end = draw(st.integers(start, len(old)))
    cuts = sorted(draw(st.lists(st.integers(start, end), min_size=2, max_size=6)))
    new = draw(_LINES)[:3]
    for first, last in zip(cuts[::2], cuts[1::2], strict=False):
        new += [*old[first:last], *draw(_LINES)[:2]]
    return old, LineSpan(start + 1, end - start), new


@given(_moves())
@settings(max_examples=300)
def test_what_stands_in_no_hunk_is_the_origin_s_line_that_the_map_names(
    moved: tuple[list[str], LineSpan, list[str]],
) -> None:
    old, gone, new = moved
    source = Source(b"old.py", _text(old), (gone,))
    origin = MovedText([source], Language.PYTHON).origin(_text(new))
    if origin is None:
        return
    lines = LineMap(_as_changes(origin.hunks, len(new)))
    good, bad = split_lines(origin.content), split_lines(_text(new))
    for number in range(1, len(bad) + 1):
        if not any(hunk.new.covers(number) for hunk in origin.hunks):
            file, there = lines.to_good("new.py", number)
            assert (file, good[there - 1]) == ("old.py", bad[number - 1])
            assert gone.covers(there)
            assert lines.to_bad("old.py", there) == ("new.py", number)
            assert lines.is_kept("new.py", number)
            assert lines.was_kept("old.py", there)
    ends = [(h.new.start + (not h.new.count), h.new.end + (not h.new.count)) for h in origin.hunks]
    assert ends == sorted(ends)


def _as_changes(hunks: tuple[Hunk, ...], count: int) -> list[Change]:
    """The changes of a range that has moved old.py's lines to new.py."""
    nowhere = LineSpan(0, 0)
    added = Change("c1", "new.py", "new.py", nowhere, LineSpan(1, count), ChangeForm.ADDED)
    deleted = Change("c2", "old.py", "old.py", LineSpan(1, 99), nowhere, ChangeForm.DELETED)
    parts = [
        Change(f"c{number}", "new.py", "old.py", hunk.old, hunk.new)
        for number, hunk in enumerate(hunks, start=3)
    ]
    return [added, deleted, *parts]


@given(_LINES, _LINES, _LINES, st.data())
@settings(max_examples=25)
def test_every_subset_is_defined_and_all_of_them_give_the_good_version(
    tmp_path_factory: pytest.TempPathFactory,
    old: list[str],
    kept: list[str],
    added: list[str],
    data: st.DataObject,
) -> None:
    made = Made(tmp_path_factory.mktemp("moved"))
    versions = [
        {b"a.py": (FILE, _text(old))},
        {b"a.py": (FILE, _text(kept)), b"b.py": (FILE, _text(added))},
    ]
    good, bad = (made.commit(version) for version in versions)
    changes = changes_between(made.repository, good, bad)
    variants = Variants(made.repository, good, bad, changes)
    assert read_listing(variants.store, variants.tree(changes.ids)) == versions[0]
    some = data.draw(st.frozensets(st.sampled_from(sorted(changes.ids))))
    variants.tree(some)
