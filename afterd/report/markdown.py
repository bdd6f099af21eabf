"""An explanation as GitHub-flavoured Markdown, for a pull request or a file.

Made of blocks that are complete by themselves; when they would not fit, the last ones are left out
and the page says so, so that a cut never breaks the markup.

The blocks that Markdown reports and comments are made of, each complete by itself.

Nothing from the repository stands outside a code span, a fence or escaped HTML.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from afterd.limits import REPORT
from afterd.model.change import Change
from afterd.model.explanation import CauseNode, Explanation, Failure, TreeStep
from afterd.report.sanitize import clipped_text, code_block, code_span, html, one_line, prose
from afterd.report.snippet import EDGE, excerpt, undone_patch
from afterd.report.story import story
from afterd.report.summary import (
    acting_line,
    as_markdown,
    assurance,
    clipped_phrase,
    goes_along_sentence,
    headline,
    measure,
    next_steps,
    place,
)
from afterd.report.told_step import Told, how_decided

MOST_CAUSES = REPORT.page_causes
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
        yield (prose(clipped_text(explanation.reason, REPORT.page_message)) + "\n",)
    if explanation.root:
        yield (changes_block(explanation, permalink),)
        yield (as_markdown(assurance(explanation)) + "\n",)
    if explanation.failure is not None:
        yield (failure_block(explanation.failure, permalink),)


def changes_block(explanation: Explanation, permalink: Permalink) -> str:
    """The root and auxiliary changes, each with its place."""
    lines = [
        _change(change, acting_line(explanation, change), permalink, end)
        for changes, end in (
            (explanation.root, ""),
            (explanation.auxiliary, f" ({goes_along_sentence(explanation)})"),
        )
        for change in changes[: REPORT.page_changes]
    ]
    more = len(explanation.root) + len(explanation.auxiliary) - len(lines)
    return "\n".join([*lines, *([f"- and {more} more"] if more else []), ""])


def _change(change: Change, acting: int, permalink: Permalink, end: str) -> str:
    first, *rest = clipped_phrase(place(change, acting=acting), REPORT.page_name)
    line = acting or change.new.start
    link = _linked_label(as_markdown((first,)), change.file, line, permalink)
    return f"- {code_span(change.id)} {link}{as_markdown(tuple(rest))}{end}"


def failure_block(failure: Failure, permalink: Permalink) -> str:
    """What failed: values and message."""
    where = _where(failure.file, failure.line, permalink) if failure.file else ""
    lines = [f"**Failed** ({failure.kind.value}) {where}".rstrip(), ""]
    for name, value in (("observed", failure.observed), ("expected", failure.expected)):
        if value:
            lines.append(f"- {name} {code_span(clipped_text(value, REPORT.page_name))}")
    if failure.message:
        lines += ["", code_block(clipped_text(failure.message, REPORT.page_message))]
    return "\n".join([*lines, ""])


def story_block(explanation: Explanation, permalink: Permalink) -> Iterator[str]:
    """From the changes to the failure, a step an item; shorter, only what the changes did."""
    told = story(explanation)
    for steps in (told, [step for step in told if step.change]):
        if steps:
            yield "\n".join(["**Why**", "", *(_item(step, permalink) for step in steps), ""])


def _item(step: Told, permalink: Permalink) -> str:
    where = _linked_label(
        code_span(clipped_text(step.place, REPORT.page_name)), step.file, step.line, permalink
    )
    parts = [f"1. {where} {_statement(step.text)}"]
    if step.change:
        was = f", was {_statement(step.was)}" if step.was else ""
        parts.append(f" ({code_span(step.change)}{was})")
    if step.whose:
        parts.append(f" by {code_span(step.whose)}")
    if step.values:
        parts.append(f": {as_markdown(clipped_phrase(step.values, REPORT.page_name))}")
    return "".join(parts) + (f" ({step.evidence})" if step.evidence else "")


def tree_block(tree: CauseNode, permalink: Permalink, most: int, *, folded: bool = False) -> str:
    """Nested ``<details>``, without recursion; at most ``most`` causes."""
    lines = [
        "<details>" if folded else "<details open>",
        f"<summary>{'Every step, ' if folded else 'Why: '}from the failure back to the changes</summary>",
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
            went = how_decided(node) if shown > 1 else ""
            lines += ["<details open>", f"<summary>{known}{_predicate(node, went)}</summary>", ""]
            lines += [_step(step, permalink) for step in excerpt(node.steps, EDGE)]
            lines.append("")
            pending += [None, *reversed(node.causes)]
        elif shown == most:
            shown += 1
            lines += ["More causes are left out here.", ""]
    return "\n".join(lines)


def _predicate(node: CauseNode, went: str) -> str:
    """Inside ``<summary>`` Markdown is not read, so this is HTML."""
    text = html(one_line(clipped_text(node.predicate, REPORT.page_name)))
    place = html(one_line(clipped_text(f"{node.file}:{node.line}", REPORT.page_name)))
    return f"<code>{text}</code>{html(went)} at <code>{place}</code>"


def _step(step: TreeStep | int, permalink: Permalink) -> str:
    if isinstance(step, int):
        return f"- {step} more step{'s' if step > 1 else ''}"
    parts = [_where(step.file, step.line, permalink), _statement(step.text.strip())]
    if step.observed:
        parts.append("had " + code_span(clipped_text(step.observed, REPORT.page_name)))
    if step.green:
        parts.append("green " + code_span(clipped_text(step.green, REPORT.page_name)))
    if step.change:
        parts.append("changed by " + code_span(step.change))
    if step.whose:
        parts.append("by " + code_span(step.whose))
    return f"- {', '.join(parts)} ({step.evidence.value})"


def undone_block(root: Sequence[Change]) -> str:
    """How the root reads when it is undone."""
    text = ""
    for change in root:
        text += f"# {change.id} {change.file}\n{undone_patch(change.patch).rstrip()}\n"
        if len(text) > REPORT.page_patch:
            break
    lines = ["<details>", "<summary>Undone, it reads</summary>", ""]
    return "\n".join(
        [*lines, code_block(clipped_text(text, REPORT.page_patch), "diff"), "", "</details>", ""]
    )


def ranking_block(explanation: Explanation, permalink: Permalink) -> str:
    """The first ranked lines."""
    lines = ["**Where to look first**", ""]
    for line in explanation.ranking[: REPORT.ranked]:
        where = _where(line.file, line.line, permalink)
        text = code_span(clipped_text(line.text.strip(), REPORT.page_name))
        lines.append(f"- {line.score:.2f} {where} {text}")
    return "\n".join([*lines, ""])


def costs_block(explanation: Explanation) -> str:
    """Notes, and what the answer cost."""
    notes = [
        f"- {prose(clipped_text(note, REPORT.page_name))}"
        for note in (*explanation.remarks, *explanation.notes)[: REPORT.ranked]
    ]
    return "\n".join([*notes, *([""] if notes else []), as_markdown(measure(explanation)), ""])


def _statement(text: str) -> str:
    """A statement; of a table that is one of a thousand entries no more than says which it is."""
    return code_span(clipped_text(text, REPORT.statement))


def _where(file: str, line: int, permalink: Permalink) -> str:
    return _linked_label(
        code_span(clipped_text(f"{file}:{line}" if line else file, REPORT.page_name)),
        file,
        line,
        permalink,
    )


def _linked_label(label: str, file: str, line: int, permalink: Permalink) -> str:
    """The label, as a link where there is a URL that cannot end the link or be another scheme; of a file outside
    of the repository there is none.
    """
    url = "" if file.startswith("/") else permalink(file, line)
    return f"[{label}]({url})" if _URL.fullmatch(url) else label


LIMIT = REPORT.page

Forms = Iterable[str]
"""A block, whole and in ever shorter forms; the first that fits is taken."""

Blocks = Callable[[Explanation, Permalink], Iterator[Forms]]


def render(
    explanations: Sequence[Explanation],
    permalink: Permalink = no_permalink,
    limit: int = LIMIT,
) -> str:
    """At most ``limit`` characters; ``permalink`` gives the URL of a line, or an empty text."""
    return pages(explanations, _blocks, permalink, limit) or "No test fails.\n"


def pages(
    explanations: Sequence[Explanation],
    blocks: Blocks,
    permalink: Permalink,
    limit: int,
) -> str:
    """One page an explanation, made of what ``blocks`` gives in order of importance."""
    shown = explanations[: max(1, limit // REPORT.page_explanation - 1)]
    written: list[str] = []
    left = limit - 200  # room for the sentence below
    for position, explanation in enumerate(shown):
        share = left // (len(shown) - position)
        written.append(_page(explanation, blocks(explanation, permalink), share))
        left -= len(written[-1]) + 1
    if len(shown) < len(explanations):
        written.append(f"{len(explanations) - len(shown)} more failing tests are left out here.\n")
    return "\n".join(written)


def _page(explanation: Explanation, blocks: Iterable[Forms], limit: int) -> str:
    """The blocks that fit, in order of importance; each is tried in its shorter forms too."""
    cut = f"Cut to fit; `afterd report {explanation.id} --format html` has everything.\n"
    page = f"### {as_markdown(clipped_phrase(headline(explanation), REPORT.page_name))}\n"
    left_out = False
    for forms in blocks:
        room = limit - len(page) - len(cut) - 2
        fitting = next((form for form in forms if len(form) <= room), None)
        if fitting is None:
            left_out = True
        else:
            page += f"\n{fitting}"
    return f"{page}\n{cut}" if left_out else page


def _blocks(explanation: Explanation, permalink: Permalink) -> Iterator[Forms]:
    yield from opening_blocks(explanation, permalink)
    if (tree := explanation.tree) is not None:
        told = bool(explanation.root)
        if told:
            yield story_block(explanation, permalink)
        yield (tree_block(tree, permalink, most, folded=told) for most in (MOST_CAUSES, 4, 1))
    if explanation.root:
        yield (undone_block(explanation.root),)
    elif explanation.ranking:
        yield (ranking_block(explanation, permalink),)
    yield (costs_block(explanation),)
    if commands := next_steps(explanation):
        yield (
            "\n".join(f"- {code_span(command)}: {purpose}" for command, purpose in commands) + "\n",
        )
