"""What a causal tree is worth to a reader: counted, over the answers of a benchmark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from afterd.bench.judgement import Verdict
from afterd.limits import REPORT
from afterd.model.explanation import Evidence, Explanation, TreeStep
from afterd.pipeline.search import STORY_STAGES
from afterd.report.story import story

if TYPE_CHECKING:
    from afterd.bench.measurement import Measurement


@dataclass(frozen=True, slots=True)
class TreeFacts:
    """``guilty``: changes of the root that stand in the tree, ``seen`` of them with evidence; ``innocent``:
    others that are marked in it. ``lines`` are those of the default view, the failure's among them, and
    ``equal`` the steps in it that are the same in both runs. ``edges`` counts causes too, by evidence.
    ``seconds`` of CPU went into the story, of ``total``.
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


def tree_facts(explanation: Explanation, cpu: Mapping[str, float]) -> TreeFacts | None:
    """The facts of an answer's tree, with CPU seconds by stage; None where it has none."""
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
        equal=_equal_steps(steps, {(each.file, each.line) for each in told}),
        proved=known[Evidence.PROVED],
        observed=known[Evidence.OBSERVED],
        inferred=known[Evidence.INFERRED],
        tested=sum(step.tested for step in steps),
        interventions=explanation.runs.interventions,
        seconds=sum(cpu.get(stage, 0.0) for stage in STORY_STAGES),
        total=sum(cpu.values()),
    )


def _equal_steps(steps: Sequence[TreeStep], shown: set[tuple[str, int]]) -> int:
    """Steps of the lines shown whose value was the same, or looked the same, in both runs."""
    return sum(
        step.observed == step.green != "" for step in steps if (step.file, step.line) in shown
    )


HEADINGS = (
    "case", "result", "in tree", "seen", "innocent", "steps", "lines", "equal", "proved",
    "observed", "inferred", "tried", "CPU s", "share",
)  # fmt: skip
TOTALS = (
    "language", "asked", "matched", "all in tree", "all seen", "none innocent", "none equal",
    "12 lines", "edges known", "carry", "share", "within 25 %",
)  # fmt: skip


def rows(measured: Sequence[Measurement]) -> list[list[str]]:
    """A row a case with a tree."""
    found = [(each, each.tree) for each in measured if each.tree is not None]
    return [_row(each.case, each.verdict.value, tree) for each, tree in found]


def totals(measured: Sequence[Measurement]) -> list[list[str]]:
    """A row a language: of the cases that were asked, and of the trees of those that matched, how many hold
    what a tree should; edges that are known of all, steps that carry the failure of those tested, the
    median share and how many are within a quarter.
    """
    asked = [each for each in measured if each.verdict is not Verdict.SKIPPED]
    languages = sorted({each.language for each in asked})
    return [
        _total_row(name, [each for each in asked if each.language == name]) for name in languages
    ]


def _total_row(language: str, asked: Sequence[Measurement]) -> list[str]:
    matched = [each for each in asked if each.verdict is Verdict.MATCHED]
    trees = [each.tree for each in matched if each.tree is not None]
    shares = [_share(tree) for tree in trees]
    known = sum(tree.proved + tree.observed for tree in trees)
    edges = known + sum(tree.inferred for tree in trees)
    counts = (
        sum(tree.guilty == tree.root for tree in trees),
        sum(tree.seen == tree.root for tree in trees),
        sum(tree.innocent == 0 for tree in trees),
        sum(tree.equal == 0 for tree in trees),
        sum(tree.lines <= REPORT.story for tree in trees),
    )
    return [
        language,
        str(len(asked)),
        str(len(matched)),
        *(f"{count}/{len(matched)}" for count in counts),
        f"{known}/{edges}",
        f"{sum(tree.tested for tree in trees)}/{sum(tree.interventions for tree in trees)}",
        f"{100 * median(shares):.0f} %" if shares else "",
        f"{sum(share <= _MOST_ADDED for share in shares)}/{len(matched)}",
    ]


_MOST_ADDED = 0.25  # of the rest, that a story may cost (issue 14)


def _share(tree: TreeFacts) -> float:
    return tree.seconds / max(tree.total - tree.seconds, 0.001)


def _row(case: str, result: str, tree: TreeFacts) -> list[str]:
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
        f"{100 * _share(tree):.0f} %",
    ]
