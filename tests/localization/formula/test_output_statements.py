"""What an output statement computes itself is a statement like another; what it only shows is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from formula_programs import compiler

from afterd.localization.formula.bugassist import bugassist
from afterd.localization.formula.on_demand import on_demand
from afterd.logic import Corrections
from afterd.model.term import Value
from afterd.symbolic import FailingRun, Input, load
from afterd.symbolic.observing import Event, Expectation

HEAD = """\
#include <stdio.h>
static const char *const names[] = {"none", "one", "two"};
static const double shares[] = {0.25, 0.5, 0.75};
static double half(double of)
{
    return of / 2;
}
static int sign(int of)
{
    if (of < 0)
        return -1;
    return 2;
}
int main(int count, char **words)
{
    int kind = count + 1;
    double whole = count * 3.0;
    double more = whole + 1.0;
"""
CASES: dict[str, tuple[str, str, tuple[Value, ...], set[str]]] = {
    "a sum": ('printf("%d\\n", count + 5);', "%d\n", (7,), {"shows"}),
    "a variable": ('printf("%d\\n", kind);', "%d\n", (7,), {"kind"}),
    "a conversion": ('printf("%ld\\n", (long)kind);', "%ld\n", (7,), {"kind"}),
    "an entry of a table": ('puts(names[kind]);', "%s\n", (b"one",), {"kind", "shows"}),
    "a character": ("putchar('a' + kind);", "%c", (98,), {"kind", "shows"}),
    "a float that is passed and returned": (
        'printf("%.3f\\n", half(shares[count]));', "%.3f\n", (0.375,), {"half", "shows"}
    ),
    "what several statements return": (
        'printf("%d\\n", sign(kind));', "%d\n", (1,), {"two"}
    ),
    "beside a float that is shown right": (
        'printf("%.1f %.1f\\n", whole, more);', "%.1f %.1f\n", (3.0, 2.0), {"more"}
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_suspects_of_a_wrong_output(name: str, tmp_path: Path) -> None:
    statement, form, values, expected = CASES[name]
    text = f"{HEAD}    {statement}\n    return 0;\n}}\n"
    lines = text.splitlines()
    known = {
        "shows": lines.index(f"    {statement}") + 1,
        "kind": lines.index("    int kind = count + 1;") + 1,
        "half": lines.index("    return of / 2;") + 1,
        "two": lines.index("    return 2;") + 1,
        "more": lines.index("    double more = whole + 1.0;") + 1,
    }
    (tmp_path / "p.c").write_text(text)
    program = load([tmp_path / "p.c"], compiler(), tmp_path)
    run = FailingRun(program, Input(()), Expectation((Event(form, values),), 0))
    for technique in (bugassist, on_demand):
        with Corrections() as solver:
            report = technique([run], solver)
        single = {s.location.line for d in report.diagnoses if len(d) == 1 for s in d}
        assert single == {known[of] for of in expected}, report.technique


UNWRITTEN = """\
#include <stdio.h>
static const int rates[] = {3, 5};
static int seen, skipped;
int main(int count, char **words)
{
    seen += count * rates[0];
    printf("%d seen, %d skipped\\n", seen, skipped);
    return 0;
}
"""


def test_a_variable_that_nothing_writes_is_named_where_nothing_else_could_repair(
    tmp_path: Path,
) -> None:
    """The statement that should have written it is missing: no list had anything at all. What another
    statement can repair leaves declarations alone, and a table's stands never there.
    """
    (tmp_path / "p.c").write_text(UNWRITTEN)
    program = load([tmp_path / "p.c"], compiler(), tmp_path)
    wanted = {(3, 2): {3}, (4, 0): {6}}
    for values, lines in wanted.items():
        shown = Expectation((Event("%d seen, %d skipped\n", values),), 0)
        for technique in (bugassist, on_demand):
            with Corrections() as solver:
                report = technique([FailingRun(program, Input(()), shown)], solver)
            assert {line for _, line in report.lines} == lines, (values, report)
