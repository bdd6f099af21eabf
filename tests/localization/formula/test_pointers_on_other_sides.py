"""A pointer that is null on the side that a side leaves is what it is on another one, however far from the run."""

from __future__ import annotations

from pathlib import Path

from formula_programs import loaded

from afterd.localization.formula.bugassist import bugassist
from afterd.localization.formula.on_demand import on_demand
from afterd.logic import Corrections
from afterd.symbolic.failing import FailingRun
from afterd.symbolic.observing import Event, Expectation
from afterd.symbolic.world import Input

WRONG = "if (price > 0)"
TEXT = """\
#include <stdio.h>
#include <stdlib.h>
struct item { int key, price; };
static struct item items[4];
static int count;
static struct item *item_of(int key)
{
    int at;
    for (at = 0; at < count; at++)
        if (items[at].key == key)
            return &items[at];
    return NULL;
}
static int read_items(int given, char **words)
{
    int at;
    for (at = 2; at + 1 < given; at += 2) {
        int price = atoi(words[at + 1]);
        WRONG
            continue;
        items[count].key = atoi(words[at]);
        items[count].price = price;
        count++;
    }
    return count;
}
int main(int given, char **words)
{
    struct item *found;
    if (read_items(given, words) == 0) {
        printf("nothing\\n");
        return 2;
    }
    found = item_of(atoi(words[1]));
    if (found == NULL) {
        printf("no such\\n");
        return 1;
    }
    printf("price %d\\n", found->price);
    return 0;
}
""".replace("WRONG", WRONG)
LINE = next(at for at, line in enumerate(TEXT.splitlines(), start=1) if WRONG in line)
SHOULD = Expectation((Event("price %d\n", (30,)),), 0)


def test_what_a_repair_would_find_is_followed_where_the_run_has_nothing(tmp_path: Path) -> None:
    """Ferry's F_COND_2 and F_COND_5: the table was empty, so what each booking looked up was null, no side behind it
    was executed, and what all of them print together could not be right.
    """
    file = tmp_path / "items.c"
    file.write_text(TEXT)
    for technique in (bugassist, on_demand):
        run = FailingRun(loaded(file), Input(("7", "7", "30")), SHOULD)
        with Corrections() as solver:
            found = technique([run], solver)
        assert {LINE} in [{s.line[1] for s in one} for one in found.diagnoses], found
