"""The comment on a pull request: verdicts first, then for each test why, and how to undo it.

Written by the process that posts it, out of values that were read as untrusted data: nothing of
them stands outside a code span, a fence or escaped HTML, and a cut never breaks the markup. Its
first line is a marker that no reader sees, by which the next comment finds this one.

The causal tree as a small mermaid graph: forges draw it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from afterd import __version__
from afterd.limits import REPORT
from afterd.model.explanation import CauseNode, Explanation, RevisionRange, RunCounts
from afterd.report.markdown import (
    LIMIT,
    MOST_CAUSES,
    Forms,
    Permalink,
    costs_block,
    details,
    no_permalink,
    opening_blocks,
    pages,
    ranking_block,
    story_block,
    tree_block,
    undone_block,
)
from afterd.report.received import Received
from afterd.report.revert import revert_patch
from afterd.report.sanitize import clipped_text, code_block, one_line, prose
from afterd.report.summary import as_markdown, clipped_phrase, explain_command
from afterd.report.verdicts import TestVerdict, in_order, sentence, summed_up

MOST_NODES = REPORT.graph_nodes
_UNSAFE = re.compile(r"[^A-Za-z0-9 _.,/=+*-]")


def graph(explanation: Explanation) -> str:
    """The first causes, breadth first, and the changes that enter at each; empty without a tree."""
    if explanation.tree is None:
        return ""
    guilty = {change.id for change in (*explanation.root, *explanation.auxiliary)}
    return "\n".join(["flowchart TD", *_lines(explanation.tree, guilty)])


def _lines(tree: CauseNode, guilty: set[str]) -> Iterator[str]:
    pending: list[tuple[CauseNode, int]] = [(tree, -1)]
    entered: set[str] = set()
    for number in range(MOST_NODES):
        if number >= len(pending):
            break
        node, parent = pending[number]
        where = f"{node.file.rpartition('/')[2]}:{node.line}"
        yield f'  n{number}["{_label(node.predicate)} at {_label(where)}"]'
        if parent >= 0:
            yield f"  n{parent} -->|{node.evidence.value}| n{number}"
        for change in dict.fromkeys(step.change for step in node.steps if step.change in guilty):
            name = _UNSAFE.sub("", change)
            yield f'  {name}(["{name}"]):::root' if change not in entered else f"  {name}"
            yield f"  n{number} --> {name}"
            entered.add(change)
        pending += [(cause, number) for cause in node.causes]
    if len(pending) > MOST_NODES:
        yield f'  more["{len(pending) - MOST_NODES} more"]'
        yield f"  n{MOST_NODES - 1} -.-> more"
    if entered:
        yield "  classDef root stroke-width:3px"


def _label(text: str) -> str:
    """Text that mermaid shows and does not read: whatever it might read is a character entity."""
    short = clipped_text(" ".join(one_line(text).split()), REPORT.graph_label)
    return _UNSAFE.sub(lambda match: f"#{ord(match[0])};", short)


MARKER = "<!-- afterd: this comment is edited in place -->"
SMALLEST = REPORT.comment


def comment(
    given: Received, permalink: Permalink = no_permalink, limit: int = LIMIT, told: str = ""
) -> str:
    """The whole comment, of at most ``limit`` characters (at least SMALLEST); ``told``: its gist, where known."""
    head = f"{MARKER}\n{told or gist(given)}\n"
    foot = f"\n<sub>afterd {__version__} on commit {given.commit[: REPORT.commit]}</sub>\n"
    limit = max(limit, SMALLEST)
    return head + _verdict_lines(given, permalink, limit - len(head) - len(foot)) + foot


def gist(given: Received) -> str:
    """A line that no reader sees, the same for comments that tell the same.

    Which commit was looked at and what that took are no news: a push that changes nothing else leaves the
    comment that is there alone.
    """
    timeless = (
        replace(each, id=0, range=RevisionRange("", ""), runs=RunCounts())
        for each in given.explanations
    )
    told = _verdict_lines(
        replace(given, explanations=tuple(timeless), commit=""), no_permalink, LIMIT
    )
    digest = hashlib.sha256(told.encode("utf-8", "surrogateescape")).hexdigest()
    return f"<!-- told: {digest[: REPORT.gist]} -->"


def visible_part(text: str) -> str:
    """A comment without the two lines that no reader sees."""
    return text.split("\n", 2)[2]


def _verdict_lines(given: Received, permalink: Permalink, limit: int) -> str:
    """The verdicts, and a page for each explanation."""
    by_test = {
        test: explanation
        for explanation in reversed(given.explanations)
        for test in (*explanation.also, explanation.test)
    }
    verdicts = in_order(given.verdicts)
    head = f"## afterd: {summed_up(verdicts)}\n\n"
    lines = [_verdict(verdict, by_test.get(verdict.test)) for verdict in verdicts]
    head += _fitting_lines(lines[: REPORT.verdicts], len(verdicts), (limit - len(head)) // 2)
    ordered = [by_test[verdict.test] for verdict in verdicts if verdict.test in by_test]
    each_once = list({explanation.test: explanation for explanation in ordered}.values())
    return head + pages(each_once, _blocks, permalink, limit - len(head))


def _verdict(verdict: TestVerdict, explanation: Explanation | None) -> str:
    phrase = clipped_phrase(sentence(verdict, explanation), REPORT.page_name)
    reason = "" if explanation else prose(clipped_text(verdict.reason, REPORT.page_name))
    return f"- {as_markdown(phrase)}{f' ({reason})' if reason else ''}\n"


def _fitting_lines(lines: Sequence[str], total: int, limit: int) -> str:
    """The first lines that fit, and how many more there are."""
    text, shown = "", 0
    for line in lines:
        if len(text) + len(line) > limit:
            break
        text += line
        shown += 1
    return (
        text + (f"- and {total - shown} more\n" if shown < total else "") + ("\n" if total else "")
    )


def _blocks(explanation: Explanation, permalink: Permalink) -> Iterator[Forms]:
    """In order of importance; none of it asks the reader to have afterd's database."""
    yield from opening_blocks(explanation, permalink)
    if (tree := explanation.tree) is not None:
        if explanation.root:
            yield story_block(explanation, permalink)
        yield (tree_block(tree, permalink, most, folded=True) for most in (MOST_CAUSES, 4, 1))
        yield (details("The same as a graph", code_block(graph(explanation), "mermaid")),)
    if explanation.root:
        yield _revert(explanation)
    elif explanation.ranking:
        yield (ranking_block(explanation, permalink),)
    command = explain_command(_as_elsewhere(explanation))
    yield (details("See it again", code_block(clipped_text(command, REPORT.page_message), "sh")),)
    yield (costs_block(explanation),)


def _as_elsewhere(explanation: Explanation) -> Explanation:
    """With programs by their names: where this machine has them is of no use to the reader."""
    return replace(
        explanation,
        build_command=_by_name(explanation.build_command),
        test_command=_by_name(explanation.test_command),
    )


def _by_name(argv: tuple[str, ...]) -> tuple[str, ...]:
    if argv and argv[0].startswith("/"):
        return argv[0].rpartition("/")[2], *argv[1:]
    return argv


def _revert(explanation: Explanation) -> Forms:
    """The patch, or where it is too long, how the root reads when it is undone."""
    patch = revert_patch((*explanation.root, *explanation.auxiliary))
    title = "The revert, for <code>git apply --unidiff-zero</code>"
    if len(patch) <= LIMIT:  # escaping megabytes to find that they do not fit took seconds
        yield details(title, code_block(patch, "diff"))
    if len(patch) > REPORT.page_patch:
        yield undone_block(explanation.root)
