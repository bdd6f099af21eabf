"""Sentences with quoted parts, so that every format can quote in its own way.

What comes from the repository or a test is always a :class:`Quoted` part: bold on a terminal, a
code span in Markdown, ``<code>`` in HTML. The plain parts are afterd's own words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

from afterd.report import sanitize

_MOST = 8  # names in a list


@dataclass(frozen=True, slots=True)
class Quoted:
    """Somebody else's text, or a command to type."""

    text: str


Phrase = tuple[str | Quoted, ...]


def listed(names: Sequence[str]) -> Phrase:
    """Quoted names with commas and an "and"; of many, the first few and how many more."""
    shown = names if len(names) <= _MOST else names[: _MOST - 1]
    items: list[str | Quoted] = [Quoted(name) for name in shown]
    if len(shown) < len(names):
        items.append(f"{len(names) - len(shown)} more")
    parts: list[str | Quoted] = []
    for position, item in enumerate(items):
        if position:
            parts.append(" and " if position == len(items) - 1 else ", ")
        parts.append(item)
    return tuple(parts)


def clipped_phrase(phrase: Phrase, limit: int) -> Phrase:
    """The phrase with each quoted part cut to ``limit`` characters."""
    return tuple(
        Quoted(sanitize.clipped(part.text, limit)) if isinstance(part, Quoted) else part
        for part in phrase
    )


def as_terminal(phrase: Phrase, style: str = "bold") -> Text:
    """For a rich console."""
    text = Text()
    for part in phrase:
        if isinstance(part, Quoted):
            text.append(sanitize.one_line(part.text), style)
        else:
            text.append(part)
    return text


def as_markdown(phrase: Phrase) -> str:
    """As a paragraph of Markdown; afterd's own words hold no markup."""
    return "".join(
        sanitize.code_span(part.text) if isinstance(part, Quoted) else part for part in phrase
    )


def as_html(phrase: Phrase) -> str:
    """As HTML content."""
    return "".join(
        f"<code>{sanitize.html(sanitize.one_line(part.text))}</code>"
        if isinstance(part, Quoted)
        else sanitize.html(part)
        for part in phrase
    )


def as_plain(phrase: Phrase) -> str:
    """As one line of plain text."""
    return "".join(
        sanitize.one_line(part.text) if isinstance(part, Quoted) else part for part in phrase
    )
