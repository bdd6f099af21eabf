"""What a causal tree is worth to a reader: counted, over the answers of a benchmark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from afterd.model.explanation import Evidence, Explanation, TreeStep
from afterd.report.story import story

if TYPE_CHECKING:
    from afterd.bench.measurement import Measurement


@dataclass(frozen=True, slots=True)
class TreeFacts:
    """``guilty``: changes of the root that stand in the tree, ``seen`` of them with evidence; ``innocent``:
    others that are marked in it. ``lines`` are those of the default view, the failure's among them, and
    ``equal`` the steps in it that are the same in both runs. ``edges`` counts causes too, by evidence.
    ``seconds`` went into the story, of ``total``.
    """

    root: int
    guilty: int
    seen: int
    innocent: int
    steps: int
    shown: int
    lines: int
    equal: int
    proved: int
    observed: int
    inferred: int
    tested: int
    interventions: int
    seconds: float
    total: float


def tree_facts(explanation: Explanation) -> TreeFacts | None:
    """The facts of an answer's tree; None where it has none."""
    if explanation.tree is None or not explanation.root:
        return None
    root = {change.id for change in explanation.root}
    nodes = list(explanation.tree.nodes())
    steps = [step for node in nodes for step in node.steps]
    marked = {step.change for step in steps} - {""}
    told = story(explanation)
    known = Counter([step.evidence for step in steps] + [node.evidence for node in nodes[1:]])
    return TreeFacts(
        root=len(root),
        guilty=len(root & marked),
        seen=len({step.change for step in steps if step.evidence is not Evidence.INFERRED} & root),
        innocent=len(marked - root),
        steps=len(steps),
        shown=len(told),
        lines=sum(each.lines for each in told),
        equal=_equal(steps, {(each.file, each.line) for each in told}),
        proved=known[Evidence.PROVED],
        observed=known[Evidence.OBSERVED],
        inferred=known[Evidence.INFERRED],
        tested=sum(step.tested for step in steps),
        interventions=explanation.runs.interventions,
        seconds=explanation.runs.seconds.story,
        total=explanation.runs.seconds.total,
    )


def _equal(steps: Sequence[TreeStep], shown: set[tuple[str, int]]) -> int:
    """Steps of the lines shown whose value was the same, or looked the same, in both runs."""
    return sum(
        step.observed == step.green != "" for step in steps if (step.file, step.line) in shown
    )


HEADINGS = (
    "case", "result", "in tree", "seen", "innocent", "steps", "lines", "equal", "proved",
    "observed", "inferred", "tried", "seconds", "share",
)  # fmt: skip


def rows(measured: Sequence[Measurement]) -> list[list[str]]:
    """A row a case with a tree, and one of all together: medians of steps and lines, sums of the rest."""
    found = [(each, each.tree) for each in measured if each.tree is not None]
    return [_row(each.case, each.verdict.value, tree) for each, tree in found]


def _row(case: str, result: str, tree: TreeFacts) -> list[str]:
    rest = max(tree.total - tree.seconds, 0.001)
    counts = (tree.innocent, tree.steps, tree.lines, tree.equal, tree.proved, tree.observed)
    return [
        case,
        result,
        f"{tree.guilty}/{tree.root}",
        f"{tree.seen}/{tree.root}",
        *map(str, counts),
        str(tree.inferred),
        f"{tree.tested}/{tree.interventions}",
        f"{tree.seconds:.1f}",
        f"{100 * tree.seconds / rest:.0f} %",
    ]
