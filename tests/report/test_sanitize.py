"""Whatever the text is, the terminal and the pull request show it and obey none of it (row 45)."""

from __future__ import annotations

import io
import random
import re
from html.parser import HTMLParser

import pytest
from hostile_texts import ATTACKS, random_texts
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rich.console import Console
from rich.text import Text

from afterd.report.sanitize import (
    clipped_text,
    code_block,
    code_span,
    html,
    one_line,
    prose,
    visible_text,
)

TEXTS = st.text(st.characters()) | st.sampled_from(ATTACKS)
FORBIDDEN = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\U000e0000-\U000e01ef]"
)
MARKDOWN = MarkdownIt("commonmark", {"html": True})


def code_nodes(markdown: str) -> list[str]:
    """What stands in code, after checking that there is nothing but text and code."""
    contents = []
    for block in MARKDOWN.parse(markdown):
        assert block.type in {"paragraph_open", "inline", "paragraph_close", "fence"}, block
        if block.type == "fence":
            contents.append(block.content)
        for node in block.children or ():
            assert node.type in {"text", "code_inline"}, node
            if node.type == "code_inline":
                contents.append(node.content)
    return contents


def shown(markdown: str) -> str:
    """The text a reader sees of one paragraph."""
    paragraph = MARKDOWN.parse(markdown)
    assert [block.type for block in paragraph] == ["paragraph_open", "inline", "paragraph_close"]
    return "".join(node.content for node in paragraph[1].children or ())


@given(TEXTS)
def test_nothing_invisible_is_left(text: str) -> None:
    safe = visible_text(text)
    assert not FORBIDDEN.search(safe)
    assert all(character in "\n\t" or character.isprintable() for character in safe)
    assert visible_text(safe) == safe
    assert not set("\n\t") & set(one_line(text))


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain ä 漢字 e\u0301 ✓", "plain ä 漢字 e\u0301 ✓"),
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb", "a\\x0d\nb"),
        ("\x1b[31mred\x1b]0;title\x07", "\\x1b[31mred\\x1b]0;title\\x07"),
        ("\x9b2J", "\\x9b2J"),
        ("user\u202ecod.exe", "user\\u202ecod.exe"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("\u3164 \u2800 \u00a0", "\\u3164 \\u2800 \\xa0"),
        ("\U000e0041\ufe0f", "\\U000e0041\\ufe0f"),
        ("\udcff\ud800", "\\udcff\\ud800"),
        ("", ""),
    ],
)
def test_what_is_seen(text: str, seen: str) -> None:
    assert visible_text(text) == seen


def test_a_corpus_and_ten_thousand_random_texts_stay_code() -> None:
    assert len(ATTACKS) >= 60
    for text in [*ATTACKS, *random_texts(10_000)]:
        [span] = code_nodes(code_span(text))
        assert span == (one_line(text) or " ")
        [block] = code_nodes(code_block(text))
        assert block.removesuffix("\n") == visible_text(text).removesuffix("\n")


@given(TEXTS, TEXTS)
def test_a_span_between_words_and_a_span(one: str, other: str) -> None:
    assert code_nodes(f"a {code_span(one)} b {code_span(other)} c") == [
        one_line(one) or " ",
        one_line(other) or " ",
    ]


def test_prose_shows_its_text_and_nothing_lives() -> None:
    for text in [*ATTACKS, *random_texts(3_000)]:
        markdown = "x " + prose(text)
        assert shown(markdown).split() == ["x", *one_line(text).split()]
        assert not prose(text).startswith(" ")
        [paragraph] = [block for block in MARKDOWN.parse(markdown) if block.type == "inline"]
        for node in paragraph.children or ():
            assert node.type in {"text", "code_inline", "text_special"}
            if node.type != "code_inline":
                assert not set("@#") & set(node.content)
                assert "://" not in node.content


class Tags(HTMLParser):
    """Collects tags and text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.text += "".join(value or "" for _, value in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


@given(TEXTS)
def test_html_content_and_attributes_hold_text_only(text: str) -> None:
    for page in (f"<p>{html(text)}</p>", f'<p title="{html(text)}"></p>'):
        parser = Tags()
        parser.feed(page)
        parser.close()
        assert parser.tags == ["p"]
        assert parser.text == visible_text(text)


def test_a_terminal_gets_no_control_byte_and_no_markup() -> None:
    for text in [*ATTACKS, *random_texts(2_000)]:
        stream = io.StringIO()
        Console(file=stream, force_terminal=True, width=10_000).print(Text(one_line(text)))
        output = re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())
        assert not FORBIDDEN.search(output.replace("\n", ""))
        assert output.strip(" \n") == one_line(text).strip(" ")


@given(TEXTS, st.integers(1, 30))
def test_a_cut_is_marked(text: str, limit: int) -> None:
    cut = clipped_text(text, limit)
    assert len(cut) <= limit
    assert cut == text or (cut.endswith("…") and text.startswith(cut[:-1]))


def test_random_texts_are_random_and_hostile() -> None:
    texts = random_texts(500)
    assert len(set(texts)) > 450
    assert random.Random(1).choice(texts)
    assert any("`" in text and "\n" in text for text in texts)
