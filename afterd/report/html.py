"""An explanation as one static page: no script, no request, nothing but its own style.

The Content-Security-Policy allows exactly that style, by its hash, so that even a text that slipped
through the escaping could load or run nothing (Datasette's CVE-2021-32670 was a debug page).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence

from afterd.model.change import Change
from afterd.model.explanation import CauseNode, Explanation, Failure, TreeStep
from afterd.report.html_path import picture
from afterd.report.html_source import SourceLines, listing, no_source
from afterd.report.sanitize import html, one_line
from afterd.report.snippet import undone_patch
from afterd.report.story import carried_words, story
from afterd.report.summary import (
    acting_line,
    as_html,
    as_plain,
    assurance,
    goes_along_sentence,
    headline,
    measure,
    next_steps,
    place,
)
from afterd.report.told_step import Told, how_decided

_STYLE = """
:root { color-scheme: light dark; background: Canvas; color: CanvasText; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; }
pre { overflow-x: auto; padding: 0.5rem; border: 1px solid #8888; }
details { margin: 0.3rem 0 0.3rem 1rem; }
h1, p, li, td, summary { overflow-wrap: anywhere; }
td { padding: 0.1rem 1rem 0.1rem 0; vertical-align: top; }
.changed { font-weight: bold; }
.del { color: #b01010; }
.add { color: #116611; }
.quiet { color: #555; }
:focus-visible { outline: 3px solid; }
svg.path { width: 100%; max-width: 48rem; }
svg rect { fill: none; stroke: currentColor; }
svg rect.guilty { stroke: #b01010; stroke-width: 3; }
svg rect.failed { stroke-dasharray: 6 3; stroke-width: 2; }
svg text { fill: currentColor; font: 13px ui-monospace, monospace; }
svg text.where { font-weight: bold; }
svg .arrow { fill: none; stroke: currentColor; }
.source { overflow-x: auto; }
.source th { text-align: left; }
.source td:first-child { text-align: right; }
.source td { padding-right: 1rem; min-width: 8rem; }
.source td:nth-child(2) { white-space: nowrap; }
.source td:first-child { min-width: 0; }
tr.failed td { border-bottom: 2px dashed; }
@media (prefers-color-scheme: dark) {
  .del { color: #ff9090; }
  .add { color: #80e080; }
  svg rect.guilty { stroke: #ff9090; }
  .quiet { color: #bbb; }
}
"""
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_HEAD = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width">
"""


def render(explanations: Sequence[Explanation], source: SourceLines = no_source) -> str:
    """The whole page; nothing is cut. ``source`` reads the files of the bad version."""
    title = as_plain(headline(explanations[0])) if explanations else "No test fails"
    parts = [
        _HEAD,
        f"<title>{html(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n",
    ]
    for explanation in explanations:
        parts += _article(explanation, source)
    if not explanations:
        parts.append("<p>No test fails.</p>\n")
    return "".join([*parts, "</main>\n</body>\n</html>\n"])


def _article(explanation: Explanation, source: SourceLines) -> Iterator[str]:
    yield f"<h1>{as_html(headline(explanation))}</h1>\n"
    if explanation.reason:
        yield f"<p>{_text(explanation.reason)}</p>\n"
    if explanation.root:
        yield f"<ul>\n{''.join(_changes(explanation))}</ul>\n"
        yield f"<p>{as_html(assurance(explanation))}</p>\n"
    if explanation.failure is not None:
        yield from _failure(explanation.failure)
    if explanation.tree is not None:
        if explanation.root:
            told = story(explanation)
            yield "<h2>Why</h2>\n<ol>\n"
            yield from map(_step_words, told)
            yield "</ol>\n<details>\n<summary>The way as a picture</summary>\n"
            yield from picture(told)
            yield "</details>\n"
            yield from listing(explanation, source)
        yield "<h2>Every step, from the failure back to the changes</h2>\n"
        yield from _tree(explanation.tree)
    for change in explanation.root:
        yield from _undo(change)
    if explanation.ranking:
        yield "<h2>Where to look first</h2>\n<table>\n"
        for line in explanation.ranking:
            place = _text(f"{line.file}:{line.line}")
            yield f"<tr><td>{line.score:.2f}</td><td><code>{place}</code></td>"
            yield f"<td><code>{_text(line.text.strip())}</code></td></tr>\n"
        yield "</table>\n"
    yield from (
        f'<p class="quiet">{_text(note)}</p>\n'
        for note in (*explanation.remarks, *explanation.notes)
    )
    yield f'<p class="quiet">{as_html(measure(explanation))}</p>\n<ul>\n'
    for command, purpose in next_steps(explanation):
        yield f"<li><code>{_text(command)}</code> {_text(purpose)}</li>\n"
    yield "</ul>\n"


def _changes(explanation: Explanation) -> Iterator[str]:
    for change in explanation.root:
        where = as_html(place(change, acting=acting_line(explanation, change)))
        yield f'<li><code class="changed">{_text(change.id)}</code> {where}</li>\n'
    for change in explanation.auxiliary:
        yield f"<li><code>{_text(change.id)}</code> {as_html(place(change))} "
        yield f'<span class="quiet">{_text(goes_along_sentence(explanation))}</span></li>\n'


def _failure(failure: Failure) -> Iterator[str]:
    where = failure.place or failure.kind.value
    yield f"<h2>Failed <code>{_text(where)}</code></h2>\n<pre>{html(failure.message)}</pre>\n<ul>\n"
    for name, value in (("observed", failure.observed), ("expected", failure.expected)):
        if value:
            yield f"<li>{name} <code>{_text(value)}</code></li>\n"
    yield "</ul>\n"


def _tree(tree: CauseNode) -> Iterator[str]:
    """Nested details, without recursion."""
    pending: list[CauseNode | None] = [tree]
    while pending:
        node = pending.pop()
        if node is None:
            yield "</details>\n"
            continue
        known = "" if node is tree else f"because ({_text(node.evidence.value)}) "
        went = "" if node is tree else _text(how_decided(node))
        yield f"<details open>\n<summary>{known}<code>{_text(node.predicate)}</code>{went} "
        yield f'<code class="quiet">{_text(f"{node.file}:{node.line}")}</code></summary>\n<table>\n'
        yield from map(_step, node.steps)
        yield "</table>\n"
        pending += [None, *reversed(node.causes)]


def _step_words(step: Told) -> str:
    was = f", was <code>{_text(step.was)}</code>" if step.was else ""
    change = f" <b>changed by <code>{_text(step.change)}</code></b>{was}" if step.change else ""
    values = f"<br>{as_html(step.values)}" if step.values else ""
    known = f' <span class="quiet">{_text(step.evidence)}</span>' if step.evidence else ""
    carried = f'<span class="quiet">{_text(carried_words(step.carried))}</span><br>'
    return (
        f"<li>{carried if step.carried else ''}<code>{_text(step.place)}</code> "
        f"<code>{_text(step.text)}</code>{change}{_by(step.whose)}{values}{known}</li>\n"
    )


def _by(change: str) -> str:
    """Whose branch a step is on, where that is known."""
    return f' <span class="quiet">by <code>{_text(change)}</code></span>' if change else ""


def _step(step: TreeStep) -> str:
    changed = f" <b>changed by <code>{_text(step.change)}</code></b>" if step.change else ""
    kind = ' class="changed"' if step.change else ""
    green = f"green <code>{_text(step.green)}</code>" if step.green else ""
    tested = ", set to that the test passes" if step.tested else ""
    return (
        f"<tr{kind}><td><code>{_text(f'{step.file}:{step.line}')}</code></td>"
        f"<td><code>{_text(step.text.strip())}</code>{changed}{_by(step.whose)}</td>"
        f"<td><code>{_text(step.observed)}</code></td><td>{green}</td>"
        f'<td class="quiet">{_text(step.evidence.value)}{tested}</td></tr>\n'
    )


def _undo(change: Change) -> Iterator[str]:
    yield f"<h2>Undone, <code>{_text(change.id)}</code> reads</h2>\n<pre>"
    for line in undone_patch(change.patch).rstrip("\n").split("\n"):
        kind = {"-": "del", "+": "add"}.get(line[:1], "quiet")
        yield f'<span class="{kind}">{html(line)}</span>\n'
    yield "</pre>\n"


def _text(text: str) -> str:
    return html(one_line(text))
