"""What the benchmark counts of a causal tree."""

from __future__ import annotations

from dataclasses import replace

from explanation_samples import RUNNING_EXAMPLE, TREE

from afterd.bench.judgement import Verdict
from afterd.bench.measurement import Measurement
from afterd.bench.tables import text, trees
from afterd.bench.tree_facts import tree_facts


def test_guilty_innocent_equal_and_known() -> None:
    facts = tree_facts(RUNNING_EXAMPLE, {})
    assert facts is not None
    assert (facts.guilty, facts.root, facts.seen, facts.innocent) == (2, 2, 2, 0)
    assert (facts.proved, facts.observed, facts.inferred) == (4, 1, 0)
    assert facts.equal == 0
    wrong = replace(TREE.steps[1], change="c9", observed="4")
    tree = replace(TREE, steps=(wrong,))
    worse = tree_facts(replace(RUNNING_EXAMPLE, tree=tree), {})
    assert worse is not None
    assert (worse.guilty, worse.innocent, worse.equal) == (1, 1, 1)
    assert tree_facts(replace(RUNNING_EXAMPLE, tree=None), {}) is None


def test_a_row_a_tree() -> None:
    row = Measurement(
        "sluice/slice", "after", Verdict.MATCHED, tree=tree_facts(RUNNING_EXAMPLE, {})
    )
    shown = text(trees("trees", [row, replace(row, case="gone", tree=None)]))
    assert "sluice/slice" in shown
    assert "2/2" in shown
    assert "gone" not in shown
