"""Records that one side of a branch copies as a whole and another one writes otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest
from formula_programs import loaded

from afterd.limits import DEMAND
from afterd.localization.formula.bugassist import bugassist
from afterd.logic import Corrections
from afterd.model.term import Const, Read, bitvec
from afterd.symbolic.failing import FailingRun
from afterd.symbolic.observing import Event, Expectation
from afterd.symbolic.pieces import Changed, cut_alike, written_over
from afterd.symbolic.world import Input

TEXT = """\
#include <stdio.h>
#include <stdlib.h>
struct pair { int first; int second; };
static struct pair none;
int main(int count, char **words)
{
    struct pair made, kept;
    int number = count > 1 ? atoi(words[1]) : 0;
    made.first = number;
    made.second = number * 3;
    if (number > LIMIT)
        kept = made;
    else
        OTHERWISE
    printf("%d\\n", kept.second);
    return 0;
}
"""
FAULT = 10


@pytest.mark.parametrize("otherwise", ["kept = none;", "kept.second = 7;"])
@pytest.mark.parametrize("nested", [False, True])
def test_a_statement_that_wrote_a_field_of_a_copied_record_is_named(
    tmp_path: Path, otherwise: str, nested: bool
) -> None:
    """meet, `F_OP_4`: entries are sorted by copying them, and what the wrong statement had written was a constant
    where the sides met, so that it repaired nothing.
    """
    if nested:
        otherwise = "{ if (count > 5) kept = none; else kept = made; }"
    file = tmp_path / "pairs.c"
    file.write_text(TEXT.replace("OTHERWISE", otherwise).replace("LIMIT", "4"))
    run = FailingRun(loaded(file), Input(("5",)), Expectation((Event("%d\n", (10,)),), 0))
    assert run.length
    with Corrections() as solver:
        found = bugassist([run], solver)
    lines = {s.line[1] for one in found.diagnoses if len(one) == 1 for s in one}
    assert FAULT in lines, found
    assert not any("pieces" in note for note in found.notes)


CHOSEN = """\
#include <stdio.h>
#include <stdlib.h>
struct mark { int bib; int best; };
static struct mark marks[4] = {{1, 30}, {2, 50}, {3, 40}, {4, 20}};
int main(int count, char **words)
{
    int at = count > 1 ? atoi(words[1]) : 0;
    struct mark chosen = {7, 60};
    int place = at + 1;
    COPIED
    printf("%d\\n", SHOWN);
    return 0;
}
"""
PLACE = 9


@pytest.mark.parametrize(
    ("copied", "shown", "wanted"),
    [
        ("chosen = marks[place];", "chosen.best", 20),
        ("marks[place] = chosen;", "marks[3].best", 60),
        ("marks[place] = marks[0];", "marks[3].bib", 1),
    ],
)
def test_a_record_is_copied_from_and_to_another_element_in_a_repair(
    tmp_path: Path, copied: str, shown: str, wanted: int
) -> None:
    """meet, `F_COND_2`: records were copied from and to where the run had them, whatever the index."""
    file = tmp_path / "marks.c"
    file.write_text(CHOSEN.replace("COPIED", copied).replace("SHOWN", shown))
    run = FailingRun(loaded(file), Input(("1",)), Expectation((Event("%d\n", (wanted,)),), 0))
    assert run.length
    with Corrections() as solver:
        found = bugassist([run], solver)
    lines = {s.line[1] for one in found.diagnoses if len(one) == 1 for s in one}
    assert PLACE in lines, found


def test_few_paths_of_a_long_run_copy_records_from_and_to_another_element(tmp_path: Path) -> None:
    """scribe, `F_COND_1`: lines are sorted by copying them, and of a run of more than 1,000 instructions each copy
    went from and to where the run had it.
    """
    longer = "for (place = 0; place < 300; place++)\n        count += place;\n    place = at + 1;"
    text = CHOSEN.replace("COPIED", f"{longer}\n    chosen = marks[place];")
    file = tmp_path / "marks.c"
    file.write_text(text.replace("SHOWN", "chosen.best"))
    run = FailingRun(loaded(file), Input(("1",)), Expectation((Event("%d\n", (20,)),), 0))
    assert run.length > DEMAND.whole
    with Corrections() as solver:
        found = solver.enumerate(solver.encoding.encode(run.paths_leaving_once()), size=1)
    wrong = next(
        at for at, line in enumerate(file.read_text().splitlines(), 1) if "   place = at" in line
    )
    assert wrong in {s.line[1] for one in found.diagnoses for s in one}, found


def test_writes_are_cut_where_another_one_begins_or_ends() -> None:
    word = Read(1, bitvec(64))
    whole: Changed = {0: (bytes(range(8)), word), 16: (b"\x01", None)}
    left, right = cut_alike([whole, {4: (b"abcd", None)}])
    assert {at: data for at, (data, _) in left.items()} == {
        0: bytes(range(4)), 4: bytes(range(4, 8)), 16: b"\x01",
    }  # fmt: skip
    assert left[4][1] is not None
    assert left[4][1].sort == bitvec(32)
    assert right == {4: (b"abcd", None)}
    assert written_over(whole, {4: (b"abcd", None)})[4] == (b"abcd", None)
    alike: list[Changed] = [{0: (b"ab", None)}, {2: (b"c", Const(1, bitvec(8)))}]
    assert cut_alike(alike) is alike
