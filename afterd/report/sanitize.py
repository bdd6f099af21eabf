r"""The one module that makes text safe for where it goes.

File names, commit messages, patches and test output come from people we do not know. A terminal
obeys ESC and C1 bytes, a pull request renders Markdown under our name, bidirectional and invisible
characters make a line read as another (reliability, section 12). What a reader must not be fooled
by becomes a visible escape such as ``\x1b``; what a format would obey is escaped for that format.
JSON is not treated here: it stays exact.
"""

from __future__ import annotations

import html as html_entities
import re

# Letters and marks that Python calls printable and nobody can see.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_BACKTICKS = re.compile("`+")
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
# A forge turns these into mentions, references and links after Markdown was rendered.
_LIVE = re.compile(r"[@#]|://|\bwww\.|\bGH-\d", re.IGNORECASE)


def visible_text(text: str) -> str:
    """``text`` with every character that is not plainly seen as its escape; lines and tabs stay.

    That is: control characters, C1, bidirectional controls, zero-width and other format characters,
    lone surrogates, unassigned code points, and spaces other than the plain one.
    """
    if text.isprintable() and not _UNSEEN.search(text):
        return text
    return "".join(map(_visible_character, text))


def one_line(text: str) -> str:
    """``text`` on a single line: line ends and tabs are shown as escapes too."""
    return visible_text(text).replace("\n", "\\n").replace("\t", "\\t")


def clipped_text(text: str, limit: int) -> str:
    """At most ``limit`` characters, with the cut marked; apply it before any escaping."""
    return text if len(text) <= limit else text[: max(limit - 1, 0)] + "…"


def html(text: str) -> str:
    """``text`` for HTML content and for quoted attributes."""
    return html_entities.escape(visible_text(text), quote=True)


def code_span(text: str) -> str:
    """``text`` as inline code of Markdown: whatever is in it, it is shown and not obeyed."""
    content = one_line(text) or " "
    fence = "`" * (_longest_run(content) + 1)
    if content.strip(" ") and ({content[0], content[-1]} & {"`", " "}):
        content = f" {content} "  # CommonMark takes one space from each side
    return f"{fence}{content}{fence}"


def code_block(text: str, language: str = "") -> str:
    """``text`` as a fenced block, the fence longer than any run of backticks in it."""
    content = visible_text(text)
    fence = "`" * max(3, _longest_run(content) + 1)
    end = "" if content.endswith("\n") or not content else "\n"
    return f"{fence}{language}\n{content}{end}{fence}"


def prose(text: str) -> str:
    """``text`` as a Markdown sentence; words that a forge would bring to life become code.

    Spaces are made one: at the beginning of a line four of them would be an indented block.
    """
    return " ".join(map(_word, one_line(text).split()))


def _word(word: str) -> str:
    return code_span(word) if _LIVE.search(word) else _PUNCTUATION.sub(r"\\\1", word)


def _longest_run(text: str) -> int:
    return max(map(len, _BACKTICKS.findall(text)), default=0)


def _visible_character(character: str) -> str:
    if character in "\n\t" or (character.isprintable() and not _UNSEEN.match(character)):
        return character
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
