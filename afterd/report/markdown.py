"""An explanation as GitHub-flavoured Markdown, for a pull request or a file.

Made of blocks that are complete by themselves; when they would not fit, the last ones are left out
and the page says so, so that a cut never breaks the markup. Nothing from the repository stands
outside a code span, a fence or escaped HTML.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from afterd.model.change import Change
from afterd.model.explanation import CauseNode, Explanation, Failure, TreeStep
from afterd.report.excerpt import EDGE, excerpt
from afterd.report.phrases import as_markdown, clipped_phrase
from afterd.report.sanitize import clipped, code_block, code_span, html, one_line, prose
from afterd.report.snippet import undone
from afterd.report.summary import assurance, headline, measure, next_steps, place

LIMIT = 60_000  # characters; GitHub refuses comments over 65,536
MOST_CAUSES = 10
_LEAST = 1_500  # characters an explanation needs to say anything
_NAME = 200
_MESSAGE = 4_000
_PATCH = 6_000
_CHANGES = 20
_LINES = 10
_URL = re.compile(r"https?://[A-Za-z0-9._~/?#%=&:@+,;$*!-]+")

Permalink = Callable[[str, int], str]


def no_permalink(file: str, line: int) -> str:
    """For reports that are read where there is no forge."""
    del file, line
    return ""


def render(
    explanations: Sequence[Explanation],
    permalink: Permalink = no_permalink,
    limit: int = LIMIT,
) -> str:
    """At most ``limit`` characters; ``permalink`` gives the URL of a line, or an empty text."""
    shown = explanations[: max(1, limit // _LEAST - 1)]
    pages: list[str] = []
    left = limit - 200  # room for the sentence below
    for position, explanation in enumerate(shown):
        share = left // (len(shown) - position)
        pages.append(_page(explanation, permalink, share))
        left -= len(pages[-1]) + 1
    if len(shown) < len(explanations):
        pages.append(f"{len(explanations) - len(shown)} more failing tests are left out here.\n")
    return "\n".join(pages) or "No test fails.\n"


def _page(explanation: Explanation, permalink: Permalink, limit: int) -> str:
    """The blocks that fit, in order of importance; each is tried in its shorter forms too."""
    cut = f"Cut to fit; `afterd report {explanation.id} --format html` has everything.\n"
    page = f"### {as_markdown(clipped_phrase(headline(explanation), _NAME))}\n"
    left_out = False
    for forms in _blocks(explanation, permalink):
        room = limit - len(page) - len(cut) - 2
        fitting = next((form for form in forms if len(form) <= room), None)
        if fitting is None:
            left_out = True
        else:
            page += f"\n{fitting}"
    return f"{page}\n{cut}" if left_out else page


def _blocks(explanation: Explanation, permalink: Permalink) -> Iterator[Iterable[str]]:
    if explanation.reason:
        yield (prose(clipped(explanation.reason, _MESSAGE)) + "\n",)
    if explanation.root:
        yield (_changes(explanation, permalink),)
        yield (as_markdown(assurance(explanation)) + "\n",)
    if explanation.failure is not None:
        yield (_failure(explanation.failure, permalink),)
    if (tree := explanation.tree) is not None:
        yield (_tree(tree, permalink, most) for most in (MOST_CAUSES, 4, 1))
    if explanation.root:
        yield (_undo(explanation.root),)
    elif explanation.ranking:
        yield (_ranking(explanation, permalink),)
    yield (_costs(explanation),)
    if commands := next_steps(explanation):
        yield ("\n".join(f"- `{command}`: {purpose}" for command, purpose in commands) + "\n",)


def _changes(explanation: Explanation, permalink: Permalink) -> str:
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
    first, *rest = clipped_phrase(place(change), _NAME)
    link = _linked(as_markdown((first,)), change.file, change.new.start, permalink)
    return f"- {code_span(change.id)} {link}{as_markdown(tuple(rest))}{end}"


def _failure(failure: Failure, permalink: Permalink) -> str:
    where = _where(failure.file, failure.line, permalink) if failure.file else ""
    lines = [f"**Failed** ({failure.kind.value}) {where}".rstrip(), ""]
    for name, value in (("observed", failure.observed), ("expected", failure.expected)):
        if value:
            lines.append(f"- {name} {code_span(clipped(value, _NAME))}")
    if failure.message:
        lines += ["", code_block(clipped(failure.message, _MESSAGE))]
    return "\n".join([*lines, ""])


def _tree(tree: CauseNode, permalink: Permalink, most: int) -> str:
    """Nested ``<details>``, without recursion; at most ``most`` causes."""
    lines = ["<details open>", "<summary>Why: from the failure back to the changes</summary>", ""]
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
    text = html(one_line(clipped(node.predicate, _NAME)))
    place = html(one_line(clipped(f"{node.file}:{node.line}", _NAME)))
    return f"<code>{text}</code> at <code>{place}</code>"


def _step(step: TreeStep | int, permalink: Permalink) -> str:
    if isinstance(step, int):
        return f"- {step} more steps"
    parts = [_where(step.file, step.line, permalink)]
    parts.append(code_span(clipped(step.text.strip(), _NAME)))
    if step.observed:
        parts.append("had " + code_span(clipped(step.observed, _NAME)))
    if step.green:
        parts.append("green " + code_span(clipped(step.green, _NAME)))
    if step.change:
        parts.append("changed by " + code_span(step.change))
    return f"- {', '.join(parts)} ({step.evidence.value})"


def _undo(root: Sequence[Change]) -> str:
    text = ""
    for change in root:
        text += f"# {change.id} {change.file}\n{undone(change.patch).rstrip()}\n"
        if len(text) > _PATCH:
            break
    lines = ["<details>", "<summary>Undone, it reads</summary>", ""]
    return "\n".join([*lines, code_block(clipped(text, _PATCH), "diff"), "", "</details>", ""])


def _ranking(explanation: Explanation, permalink: Permalink) -> str:
    lines = ["**Where to look first**", ""]
    for line in explanation.ranking[:_LINES]:
        where = _where(line.file, line.line, permalink)
        text = code_span(clipped(line.text.strip(), _NAME))
        lines.append(f"- {line.score:.2f} {where} {text}")
    return "\n".join([*lines, ""])


def _costs(explanation: Explanation) -> str:
    notes = [f"- {prose(clipped(note, _NAME))}" for note in explanation.notes[:_LINES]]
    return "\n".join([*notes, *([""] if notes else []), as_markdown(measure(explanation)), ""])


def _where(file: str, line: int, permalink: Permalink) -> str:
    return _linked(code_span(clipped(f"{file}:{line}", _NAME)), file, line, permalink)


def _linked(label: str, file: str, line: int, permalink: Permalink) -> str:
    """The label, as a link where there is a URL that cannot end the link or be another scheme."""
    url = permalink(file, line)
    return f"[{label}]({url})" if _URL.fullmatch(url) else label
