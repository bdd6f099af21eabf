"""The causal tree on a terminal: from the failed assertion back to the changes.

A cause that is the only one of its parent stays on the parent's level, so that the usual long
chain reads downwards and does not walk off the screen; the tree forks where causes fork.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text
from rich.tree import Tree

from afterd.limits import REPORT
from afterd.model.change import NOTHING, ChangeSet
from afterd.model.explanation import CauseNode, Evidence, TreeStep
from afterd.report.sanitize import clipped_text, one_line
from afterd.report.snippet import EDGE, excerpt
from afterd.report.told_step import how_decided

MOST_CAUSES = REPORT.terminal_causes
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
_KNOWN = {
    Evidence.PROVED: "proved (unsat core)",
    Evidence.OBSERVED: "observed (in both runs)",
    Evidence.INFERRED: "inferred (dependence only)",
}
_STYLES = {Evidence.PROVED: "bold", Evidence.OBSERVED: "", Evidence.INFERRED: "dim"}


@dataclass(frozen=True, slots=True)
class Signs:
    """The signs of a tree, in what the terminal's encoding has."""

    evidence: dict[Evidence, str]
    change: str
    cut: str


UNICODE = Signs({Evidence.PROVED: "■", Evidence.OBSERVED: "●", Evidence.INFERRED: "○"}, "◀", "…")
ASCII = Signs({Evidence.PROVED: "#", Evidence.OBSERVED: "*", Evidence.INFERRED: "-"}, "<-", "...")


class CausalTree:
    """Renders a tree of causes; ``root`` changes stand out, ``whole``: nothing is left out."""

    def __init__(self, tree: CauseNode, root: ChangeSet = NOTHING, *, whole: bool = False) -> None:
        self.tree = tree
        self.root = root
        self.whole = whole

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Rich's protocol: a heading, the tree, the legend."""
        signs = ASCII if options.ascii_only else UNICODE
        yield Text("Why: from the failure back to the changes", "bold")
        yield self._grown(signs, options.max_width)
        yield self._legend(signs)

    def _grown(self, signs: Signs, width: int) -> Tree:
        """The tree, grown without recursion; where the screen ends it indents no more."""
        top = Tree(_predicate(self.tree))
        self._add_steps(top, self.tree, signs, width)
        pending = _causes(self.tree, top, 1)
        shown = 1
        while pending:
            cause, parent, depth, alone = pending.pop()
            if shown >= MOST_CAUSES and not self.whole:
                parent.add(Text(f"{signs.cut} more causes than fit here: --all shows them", "dim"))
                break
            shown += 1
            branch = parent.add(_because(cause, signs))
            self._add_steps(branch, cause, signs, width - 4 * depth)
            chain = alone and len(cause.causes) == 1
            if chain or depth * 10 >= width:
                pending += _causes(cause, parent, depth)
            else:
                pending += _causes(cause, branch, depth + 1)
        return top

    def _add_steps(self, branch: Tree, node: CauseNode, signs: Signs, width: int) -> None:
        """Steps with their values in a column of their own, where the screen is wide enough."""
        chosen = excerpt(node.steps, None if self.whole else EDGE)
        statements = {
            step: _statement(step, signs, guilty=step.change in self.root)
            for step in chosen
            if isinstance(step, TreeStep)
        }
        column = max((line.cell_len for line in statements.values()), default=0)
        for step in chosen:
            if isinstance(step, int):
                more = f"{step} more step{'' if step == 1 else 's'}"
                branch.add(Text(f"{signs.cut} {more}", "dim"))
                continue
            line = statements[step].copy()
            if column < width * 0.6:
                line.pad_right(column - line.cell_len)
            branch.add(line.append_text(_values(step)))

    def _legend(self, signs: Signs) -> Text:
        return Text("  ".join(f"{signs.evidence[kind]} {_KNOWN[kind]}" for kind in Evidence), "dim")


def _causes(node: CauseNode, branch: Tree, depth: int) -> list[tuple[CauseNode, Tree, int, bool]]:
    """The causes of a node, last first, with where they hang, and whether one stands alone."""
    alone = len(node.causes) == 1
    return [(cause, branch, depth, alone) for cause in reversed(node.causes)]


def _predicate(node: CauseNode, went: str = "") -> Text:
    text = Text(_shortened_text(node.predicate, REPORT.statement), "bold").append(went, "not bold")
    return text.append(
        f"  {_shortened_text(node.file, REPORT.statement)}:{node.line}", "not bold dim"
    )


def _because(cause: CauseNode, signs: Signs) -> Text:
    text = Text.assemble((f"{signs.evidence[cause.evidence]} because ", _STYLES[cause.evidence]))
    return text.append_text(_predicate(cause, how_decided(cause)))


def _statement(step: TreeStep, signs: Signs, *, guilty: bool) -> Text:
    text = Text(f"{signs.evidence[step.evidence]} ", _STYLES[step.evidence])
    text.append(f"{_shortened_text(step.file, REPORT.statement)}:{step.line}  ", "not bold dim")
    style = "bold yellow" if guilty else "not bold"
    text.append(_shortened_text(step.text.strip(), REPORT.statement), style)
    if step.change:
        text.append(f"  {signs.change} {one_line(step.change)}", style)
    if step.whose:
        text.append(f"  by {one_line(step.whose)}", "not bold dim")
    return text


def _values(step: TreeStep) -> Text:
    text = Text()
    if step.observed:
        target = f"{_shortened_text(step.target, REPORT.value)} = " if step.target else ""
        text.append(f"  {target}{_shortened_text(step.observed, REPORT.value)}", "not bold cyan")
    if step.green:
        same = step.green == step.observed
        elsewhere = _ADDRESS.fullmatch(step.green) and _ADDRESS.fullmatch(step.observed)
        other = "another address" if elsewhere else _shortened_text(step.green, REPORT.value)
        green = "the same" if same else other
        text.append(f"  (green: {green})", "not bold dim" if same else "not bold green")
    return text


def _shortened_text(text: str, limit: int) -> str:
    return one_line(clipped_text(text, limit))
