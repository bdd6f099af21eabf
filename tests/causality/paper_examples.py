"""The paper's three examples as recorded executions."""

from __future__ import annotations

from recorded import ABSENT, Recorded, aligned, compare, op

from afterd.model.term import BOOL, Apply, Op


def running_example() -> Recorded:
    """Figs. 6 to 8: x = 3, y = 2, z = 1; s1 s2 s3 s4 s5 s7 s9 s10 s12 s13 of the buggy program.

    Line 2 defines the three parameters: steps 21, 22, 23, and so on for the other lines (step
    numbers are ten times the lines). The declaration on line 3 assigns nothing and is no step.
    """
    run = Recorded()
    is_sorted = run.assign(10, "sorted", Apply(Op.NOT, (compare(Op.EQ, 0, 0),), BOOL),
                           green=True, changes=["c1"], line=1)  # fmt: skip
    x, y, z = (run.input(s, name, v) for s, name, v in ((21, "x", 3), (22, "y", 2), (23, "z", 1)))
    unsorted = run.branch(40, Apply(Op.NOT, (is_sorted,), BOOL), green=False, line=4)
    less = run.branch(
        50, compare(Op.LT, x, y), green=ABSENT, control=unsorted, changes=["c2"], line=5
    )
    summed = run.assign(70, "sum", y, green=ABSENT, control=less, line=7)
    positive = run.branch(90, compare(Op.GT, z, 0), green=True, line=9)
    total = run.assign(
        100, "sum", op(Op.SUB, summed, z), green=4, control=positive, changes=["c3"], line=10
    )
    run.assign(120, "printf", total, green=4, changes=["c4"], line=12)
    run.fail(130, compare(Op.EQ, total, 4))
    return aligned(run)


def critical_example(*, guilty: int = 2) -> Recorded:
    """Fig. 5: lines 2 `if (a)`, 3 `if (b)`, 4 `if (!c)` inside it, 6 `d = c`, then assert(d).

    Line 3's branch is not taken, so line 4 is not executed; taken, it would have redefined ``c``.
    ``guilty`` is the line of the change.
    """
    run = Recorded()
    where = {guilty: ["c1"]}
    a, b, c = (run.assign(10 + i, name, v, changes=where.get(1, ()))
               for i, (name, v) in enumerate((("a", 1), ("b", 0), ("c", 0))))  # fmt: skip
    outer = run.branch(20, compare(Op.NE, a, 0), changes=where.get(2, ()))
    inner = run.branch(30, compare(Op.NE, b, 0), control=outer, changes=where.get(3, ()))
    d = run.assign(60, "d", c, control=outer, changes=where.get(6, ()))
    run.influences[60, 12] = [inner]
    run.fail(90, compare(Op.NE, d, 0))
    return run
