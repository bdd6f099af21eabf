"""Programs of several modules, and what they read."""

from __future__ import annotations

from pathlib import Path

import pytest
from formula_programs import compiler, loaded

from afterd.localization.formula.bugassist import bugassist
from afterd.localization.formula.on_demand import on_demand
from afterd.logic.correction import Corrections
from afterd.symbolic.failing import FailingRun
from afterd.symbolic.observing import Event, Expectation
from afterd.symbolic.refusal import NotFollowedError
from afterd.symbolic.unrolling import load
from afterd.symbolic.world import Input

MAIN = """\
#include <stdio.h>
int other(int value);
static int count = 1;
static int twice(int value) { return 2 * value + count; }
int main(void) { printf("first %d\\n", twice(3)); return other(4); }
"""
OTHER = """\
#include <stdio.h>
static int count = 100;
static int twice(int value) { count++; return value + count; }
int other(int value) { printf("second %d\\n", twice(value)); printf("not @twice\\n"); return 0; }
"""
READING = """\
#include <stdio.h>
int main(int argc, char **argv)
{
    int value = 1;
    if (argc > 1)
        scanf("%d", &value);
    printf("%d\\n", value);
    return 0;
}
"""


def test_static_names_of_two_modules_are_two_things(tmp_path: Path) -> None:
    sources = [tmp_path / "main.c", tmp_path / "other.c"]
    for source, text in zip(sources, (MAIN, OTHER), strict=True):
        source.write_text(text)
    shown = load(sources, compiler(), tmp_path).run(Input())
    assert [event.values for event in shown.events] == [(7,), (105,), ()]
    assert [event.what for event in shown.events][2].strip() == "not @twice"


def test_what_came_through_a_pipe_is_not_nothing(tmp_path: Path) -> None:
    file = tmp_path / "reading.c"
    file.write_text(READING)
    program = loaded(file)
    piped = Input(("x",), stdin_known=False)
    with pytest.raises(NotFollowedError, match="pipe"):
        program.run(piped)
    assert program.run(Input((), stdin_known=False)).events == program.run(Input()).events
    assert program.run(Input(("x",), b"5")).events[0] == Event("%d\n", (5,))


def test_outputs_that_depend_on_branches_cost_no_more_than_their_number(tmp_path: Path) -> None:
    """Where a program is in its output was known path by path: 2^30 of them here."""
    file = tmp_path / "rows.c"
    rows = "".join(f'    if (value > {at}) puts("row");\n' for at in range(30))
    file.write_text(f"#include <stdio.h>\nvoid rows(int value)\n{{\n{rows}}}\n")
    program = loaded(file, "rows")
    shown = program.run(Input(("7",)))
    expected = Expectation(program.run(Input(("6",))).events)
    formula = program.formula(Input(("7",)), expected, lambda _branch: True, shown.instances)
    sides = FailingRun(program, Input(("7",)), expected)
    with Corrections() as solver:
        report = bugassist([sides], solver)
    assert formula.violated
    assert ("rows.c", 10) in report.lines  # if (value > 6)


TABLE = """\
#include <ctype.h>
#include <stdio.h>
static int chosen(int at) { return at; }
int main(int argc, char **argv)
{
    printf("%d\\n", isspace(chosen(argc + 64)) != 0);
    return 0;
}
"""


def test_a_table_is_chosen_from_by_its_index_not_by_addresses(tmp_path: Path) -> None:
    """With an address of 64 bits compared with each element's a table took 2,400 clauses."""
    file = tmp_path / "table.c"
    file.write_text(TABLE)
    program = loaded(file)
    failing = FailingRun(program, Input(), Expectation((Event("%d\n", (1,)),)))
    with Corrections() as solver:
        report = bugassist([failing], solver)
    assert report.complete
    assert ("table.c", 3) in report.lines
    assert ("table.c", 6) in report.lines
    assert report.clauses < 1500


GRADES = """\
#include <stdio.h>
static const char *const grades[] = {"steady", "loose", "loose", "wild"};
static const char *graded(int at)
{
    return grades[at];
}
int main(int count, char **words)
{
    int at = count * 2 - 1;
    (void)words;
    printf("%s\\n", graded(at));
    return 0;
}
"""


@pytest.mark.parametrize(
    ("text", "repairs"),
    [(b"fair", {5}), (b"wild", {5, 9, 11})],
    ids=["a text that the program lacks", "a text of another place"],
)
def test_a_repair_may_write_a_text(tmp_path: Path, text: bytes, repairs: set[int]) -> None:
    """Whoever reads the table may have its entry wrong; another index does not give what is not there."""
    file = tmp_path / "grades.c"
    file.write_text(GRADES)
    failing = FailingRun(loaded(file), Input(), Expectation((Event("%s\n", (text,)),)))
    with Corrections() as solver:
        for technique in (bugassist, on_demand):
            assert {line for _, line in technique([failing], solver, size=1).lines} == repairs


ROUNDS = """\
#include <stdio.h>
int main(int argc, char **argv)
{
    int odd = 0;
    for (int at = 0; at < 3; at++)
        if (at == argc + 6)
            odd++;
    printf("%d\\n", odd);
    return 0;
}
"""


def test_a_side_is_one_round_of_a_loop(tmp_path: Path) -> None:
    file = tmp_path / "rounds.c"
    file.write_text(ROUNDS)
    failing = FailingRun(loaded(file), Input(), Expectation((Event("%d\n", (1,)),)))
    unvisited = [frontier.branch for frontier in failing.on_demand(()).frontier]
    rounds = [b for b in unvisited if [o.block for o in unvisited].count(b.block) == 3]
    assert len(rounds) == 3
    assert {rounds[0], rounds[2]} < {f.branch for f in failing.on_demand(rounds[1:2]).frontier}
    assert rounds[1] not in {f.branch for f in failing.on_demand(rounds[1:2]).frontier}
    with Corrections() as solver:
        few = on_demand([failing], solver)
        every = bugassist([failing], solver)
    assert set(few.diagnoses) == set(every.diagnoses)
    assert few.instructions <= every.instructions


LIST = """\
#include <stdio.h>
#include <stdlib.h>
struct node {
    int value;
    struct node *next;
};
static struct node *head;
static void put(int value)
{
    struct node **at = &head, *made = malloc(sizeof *made);
    made->value = value;
    while (*at != NULL && (*at)->value > value)
        at = &(*at)->next;
    made->next = *at;
    *at = made;
}
int main(int argc, char **argv)
{
    for (int word = 1; word < argc; word++)
        put(atoi(argv[word]));
    for (struct node *node = head; node != NULL; node = node->next)
        printf("%d\\n", node->value);
    return 0;
}
"""


def test_a_pointer_may_mean_the_head_of_a_list_where_the_run_meant_a_node(tmp_path: Path) -> None:
    """The order of a list is wrong where its comparison is, though a repair writes into another object than the
    run did.
    """
    file = tmp_path / "list.c"
    file.write_text(LIST)
    wanted = Expectation((Event("%d\n", (1,)), Event("%d\n", (3,))))
    failing = FailingRun(loaded(file), Input(("3", "1")), wanted)
    with Corrections() as solver:
        for technique in (bugassist, on_demand):
            report = technique([failing], solver, size=1)
            assert ("list.c", 12) in report.lines, report.reason


GUARDED = """\
#include <stdlib.h>
static int size, listed;
int repOk(void)
{
    return size == listed;
}
int main(int argc, char **argv)
{
    listed = argc - 1;
    for (int at = 1; at < argc; at++)
        if (atoi(argv[at]) > 0)
            size++;
    return 0;
}
"""


def test_an_invariant_is_asked_when_main_returns(tmp_path: Path) -> None:
    file = tmp_path / "guarded.c"
    file.write_text(GUARDED)
    program = loaded(file)
    assert program.run(Input(("1", "-2"))).ending == "it ended"
    program.invariant = "repOk"
    assert program.run(Input(("1", "2"))).ending == "it ended"
    assert program.run(Input(("1", "-2"))).ending == "the invariant repOk does not hold"
    with Corrections() as solver:
        report = bugassist([FailingRun(program, Input(("1", "-2")))], solver)
    assert ("guarded.c", 11) in report.lines


CUT = """\
#include <stdio.h>
#include <stdlib.h>
struct node {
    int value;
    struct node *next;
};
static struct node *head;
int main(int argc, char **argv)
{
    for (int word = argc - 1; word > 0; word--) {
        struct node *made = calloc(1, sizeof *made);
        made->value = atoi(argv[word]);
        made->next = head;
        head = made;
    }
    if (head != NULL)
        head = NULL;
    for (struct node *node = head; node != NULL; node = node->next)
        printf("%d\\n", node->value);
    return 0;
}
"""


def test_a_list_that_was_cut_has_what_it_lost(tmp_path: Path) -> None:
    """The rounds that a repair makes follow a pointer that was null in the run."""
    file = tmp_path / "cut.c"
    file.write_text(CUT)
    wanted = Expectation((Event("%d\n", (4,)),))
    failing = FailingRun(loaded(file), Input(("3", "4")), wanted)
    with Corrections() as solver:
        for technique in (bugassist, on_demand):
            report = technique([failing], solver, size=1)
            assert {("cut.c", 17), ("cut.c", 18)} <= report.lines, report.reason
