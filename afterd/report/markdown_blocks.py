"""The blocks that Markdown reports and comments are made of, each complete by itself.

Nothing from the repository stands outside a code span, a fence or escaped HTML.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from afterd.model.change import Change
from afterd.model.explanation import CauseNode, Explanation, Failure, TreeStep
from afterd.report.excerpt import EDGE, excerpt
from afterd.report.phrases import as_markdown, clipped_phrase
from afterd.report.sanitize import clipped, code_block, code_span, html, one_line, prose
from afterd.report.snippet import undone
from afterd.report.summary import assurance, measure, place

MOST_CAUSES = 10
MESSAGE = 4_000  # characters of what a test said
NAME = 200
PATCH = 6_000
_CHANGES = 20
_LINES = 10
_URL = re.compile(r"https?://[A-Za-z0-9._~/?#%=&:@+,;$*!-]+")

Permalink = Callable[[str, int], str]
"""The URL of a line of a file, or an empty text."""


def no_permalink(file: str, line: int) -> str:
    """For reports that are read where there is no forge."""
    del file, line
    return ""


def details(summary: str, content: str) -> str:
    """A folded part; ``summary`` is afterd's own words, ``content`` whole Markdown blocks."""
    return f"<details>\n<summary>{summary}</summary>\n\n{content}\n\n</details>\n"


def opening_blocks(explanation: Explanation, permalink: Permalink) -> Iterator[tuple[str]]:
    """What every report begins with: why there is no answer, or what it is, and what failed."""
    if explanation.reason:
        yield (prose(clipped(explanation.reason, MESSAGE)) + "\n",)
    if explanation.root:
        yield (changes_block(explanation, permalink),)
        yield (as_markdown(assurance(explanation)) + "\n",)
    if explanation.failure is not None:
        yield (failure_block(explanation.failure, permalink),)


def changes_block(explanation: Explanation, permalink: Permalink) -> str:
    """The root and auxiliary changes, each with its place."""
    lines = [
        _change(change, permalink, end)
        for changes, end in (
            (explanation.root, ""),
            (explanation.auxiliary, " (goes along, or it does not build)"),
        )
        for change in changes[:_CHANGES]
    ]
    more = len(explanation.root) + len(explanation.auxiliary) - len(lines)
    return "\n".join([*lines, *([f"- and {more} more"] if more else []), ""])


def _change(change: Change, permalink: Permalink, end: str) -> str:
    first, *rest = clipped_phrase(place(change), NAME)
    link = _linked(as_markdown((first,)), change.file, change.new.start, permalink)
    return f"- {code_span(change.id)} {link}{as_markdown(tuple(rest))}{end}"


def failure_block(failure: Failure, permalink: Permalink) -> str:
    """What failed: values and message."""
    where = _where(failure.file, failure.line, permalink) if failure.file else ""
    lines = [f"**Failed** ({failure.kind.value}) {where}".rstrip(), ""]
    for name, value in (("observed", failure.observed), ("expected", failure.expected)):
        if value:
            lines.append(f"- {name} {code_span(clipped(value, NAME))}")
    if failure.message:
        lines += ["", code_block(clipped(failure.message, MESSAGE))]
    return "\n".join([*lines, ""])


def tree_block(tree: CauseNode, permalink: Permalink, most: int, *, folded: bool = False) -> str:
    """Nested ``<details>``, without recursion; at most ``most`` causes."""
    lines = [
        "<details>" if folded else "<details open>",
        "<summary>Why: from the failure back to the changes</summary>",
        "",
    ]
    pending: list[CauseNode | None] = [None, tree]
    shown = 0
    while pending:
        node = pending.pop()
        if node is None:
            lines += ["</details>", ""]
        elif shown < most:
            shown += 1
            known = f"because ({node.evidence.value}) " if shown > 1 else ""
            lines += ["<details open>", f"<summary>{known}{_predicate(node)}</summary>", ""]
            lines += [_step(step, permalink) for step in excerpt(node.steps, EDGE)]
            lines.append("")
            pending += [None, *reversed(node.causes)]
        elif shown == most:
            shown += 1
            lines += ["More causes are left out here.", ""]
    return "\n".join(lines)


def _predicate(node: CauseNode) -> str:
    """Inside ``<summary>`` Markdown is not read, so this is HTML."""
    text = html(one_line(clipped(node.predicate, NAME)))
    place = html(one_line(clipped(f"{node.file}:{node.line}", NAME)))
    return f"<code>{text}</code> at <code>{place}</code>"


def _step(step: TreeStep | int, permalink: Permalink) -> str:
    if isinstance(step, int):
        return f"- {step} more steps"
    parts = [_where(step.file, step.line, permalink)]
    parts.append(code_span(clipped(step.text.strip(), NAME)))
    if step.observed:
        parts.append("had " + code_span(clipped(step.observed, NAME)))
    if step.green:
        parts.append("green " + code_span(clipped(step.green, NAME)))
    if step.change:
        parts.append("changed by " + code_span(step.change))
    return f"- {', '.join(parts)} ({step.evidence.value})"


def undone_block(root: Sequence[Change]) -> str:
    """How the root reads when it is undone."""
    text = ""
    for change in root:
        text += f"# {change.id} {change.file}\n{undone(change.patch).rstrip()}\n"
        if len(text) > PATCH:
            break
    lines = ["<details>", "<summary>Undone, it reads</summary>", ""]
    return "\n".join([*lines, code_block(clipped(text, PATCH), "diff"), "", "</details>", ""])


def ranking_block(explanation: Explanation, permalink: Permalink) -> str:
    """The first ranked lines."""
    lines = ["**Where to look first**", ""]
    for line in explanation.ranking[:_LINES]:
        where = _where(line.file, line.line, permalink)
        text = code_span(clipped(line.text.strip(), NAME))
        lines.append(f"- {line.score:.2f} {where} {text}")
    return "\n".join([*lines, ""])


def costs_block(explanation: Explanation) -> str:
    """Notes, and what the answer cost."""
    notes = [f"- {prose(clipped(note, NAME))}" for note in explanation.notes[:_LINES]]
    return "\n".join([*notes, *([""] if notes else []), as_markdown(measure(explanation)), ""])


def _where(file: str, line: int, permalink: Permalink) -> str:
    return _linked(code_span(clipped(f"{file}:{line}", NAME)), file, line, permalink)


def _linked(label: str, file: str, line: int, permalink: Permalink) -> str:
    """The label, as a link where there is a URL that cannot end the link or be another scheme."""
    url = permalink(file, line)
    return f"[{label}]({url})" if _URL.fullmatch(url) else label
