"""The Markdown report, read by an independent CommonMark parser: only our own structure lives."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from explanation_samples import C2, RUNNING_EXAMPLE, TREE, explanations
from hostile_texts import ATTACKS, random_texts
from hypothesis import given, settings
from markdown_it import MarkdownIt
from markdown_it.token import Token

from afterd.model.explanation import (
    CauseNode,
    Evidence,
    Explanation,
    Failure,
    RankedLine,
    Status,
    TreeStep,
)
from afterd.model.outcome import FailureKind
from afterd.report.markdown import LIMIT, MOST_CAUSES, render
from afterd.report.sanitize import one_line, visible_text

GOLDEN = Path(__file__).parent / "golden"
MARKDOWN = MarkdownIt("commonmark", {"html": True})
BLOCKS = {
    "heading",
    "paragraph",
    "bullet_list",
    "ordered_list",
    "list_item",
    "inline",
    "fence",
    "html_block",
}
INLINE = {"text", "code_inline", "strong", "link", "text_special", "softbreak"}
TAGS = {"details", "summary", "code"}


def permalink(file: str, line: int) -> str:
    return f"https://forge.example/o/r/blob/abc/f#L{line}" if file else ""


class OurTags(HTMLParser):
    """Fails on any tag, attribute or comment that is not ours; keeps the text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        assert attrs in ([], [("open", None)])
        self.depth += tag == "details"

    def handle_endtag(self, tag: str) -> None:
        self.depth -= tag == "details"

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        pytest.fail(f"a comment: {data}")


def flat(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from flat(token.children or [])


def read(markdown: str) -> str:
    """All code and HTML text of a page, after checking that its structure is ours."""
    tags = OurTags()
    code: list[str] = []
    tokens = MARKDOWN.parse(markdown)
    for token in tokens:
        assert token.type.removesuffix("_open").removesuffix("_close") in BLOCKS, token
    for token in flat(tokens):
        if token.children is None and token.type in {"code_inline", "fence"}:
            code.append(token.content)
        elif token.type == "html_block":
            tags.feed(token.content)
        elif token.type == "link_open":
            assert str(token.attrs["href"]).startswith("https://forge.example/o/r/blob/abc/f#L")
        elif token.type == "text":
            assert not set("@#") & set(token.content)
    for token in tokens:
        for child in token.children or []:
            assert child.type.removesuffix("_open").removesuffix("_close") in INLINE, child
    tags.close()
    assert tags.depth == 0
    return "\n".join([*code, tags.text])


def hostile(attack: str) -> Explanation:
    step = TreeStep(attack, 1, attack, attack, attack, attack, "c2", Evidence.PROVED)
    return replace(
        RUNNING_EXAMPLE,
        test=attack,
        reason=attack,
        failure=Failure(FailureKind.CRASH, attack, attack, 1, attack, attack),
        root=(replace(C2, file=attack, symbol=attack, patch="@@ -1 +1 @@\n-" + attack),),
        tree=CauseNode(attack, attack, 1, (step,), (CauseNode(attack, attack, 2, (step,)),)),
        ranking=(RankedLine(attack, 1, 0.5, {attack: 0.5}, attack),),
        notes=(attack,),
    )


def test_golden() -> None:
    assert render([RUNNING_EXAMPLE]) == (GOLDEN / "explained.md").read_text()


def test_attacks_are_found_verbatim_in_code_and_do_nothing() -> None:
    for attack in [*ATTACKS, *random_texts(200)]:
        for explanation in (hostile(attack), replace(hostile(attack), root=())):
            shown = read(render([explanation], permalink))
            if len(attack) < 150:
                assert one_line(attack) in shown
                assert visible_text(attack).rstrip("\n") in shown


@given(explanation=explanations)
@settings(max_examples=80)
def test_any_explanation_has_our_structure_only(explanation: Explanation) -> None:
    read(render([explanation], permalink))


def always(url: str, _file: str, _line: int) -> str:
    return url


def test_a_test_outside_of_the_repository_is_no_link() -> None:
    failure = Failure(FailureKind.ASSERTION, "it failed", "/elsewhere/test_out.py", 6)
    explained = replace(RUNNING_EXAMPLE, failure=failure)
    text = render([explained], lambda file, line: f"https://example.org/{file}#L{line}")
    assert "`/elsewhere/test_out.py:6`" in text
    assert "example.org//elsewhere" not in text


def test_links_are_http_or_none() -> None:
    for url in ("javascript:alert(1)", "https://x/)", "https://x y", "http://x/\n", "//x", "f.c"):
        text = render([RUNNING_EXAMPLE], functools.partial(always, url))
        assert "](" not in text


def big(explanation: Explanation) -> Explanation:
    text = "\u202e`" * 4000
    step = TreeStep(text, 1, text, text, text, text, "c2", Evidence.PROVED)
    node = CauseNode(text, text, 1, (step,) * 300)
    for _ in range(30):
        node = replace(node, causes=(node,))
    return replace(
        explanation,
        root=(replace(C2, patch="@@ -1 +1 @@\n" + "+x\n" * 20_000),) * 300,
        tree=node,
        notes=(text,) * 300,
        ranking=(RankedLine(text, 1, 0.5, {}, text),) * 300,
        failure=Failure(FailureKind.OUTPUT, text * 9, text, 1, text, text),
    )


@pytest.mark.parametrize("count", [1, 2, 7, 100])
@pytest.mark.parametrize("limit", [4_000, LIMIT])
def test_it_is_cut_between_blocks_and_says_so(count: int, limit: int) -> None:
    text = render([big(RUNNING_EXAMPLE)] * count, permalink, limit)
    assert len(text) <= limit
    read(text)
    assert "Cut to fit" in text
    assert text.startswith("### `make check` fails because of `c2`")


def test_many_failing_tests_each_have_their_verdict() -> None:
    many = [replace(RUNNING_EXAMPLE, id=number, test=f"test_{number}") for number in range(30)]
    text = render(many)
    assert len(text) <= LIMIT
    assert all(f"### `test_{number}` fails" in text for number in range(30))
    few = render([RUNNING_EXAMPLE] * 1000)
    assert "more failing tests are left out" in few


def test_at_most_ten_causes() -> None:
    node = TREE
    for _ in range(20):
        node = replace(node, causes=(node,))
    text = render([replace(RUNNING_EXAMPLE, tree=node)])
    assert text.count("<details open>") == MOST_CAUSES
    assert "More causes are left out here." in text
    read(text)


@pytest.mark.parametrize("status", Status)
def test_every_status_has_a_headline(status: Status) -> None:
    explanation = replace(
        RUNNING_EXAMPLE, status=status, root=(), tree=None, failure=None, reason="Because."
    )
    text = render([explanation], permalink)
    read(text)
    assert text.startswith("### `make check` ")
    assert "Because" in text


def test_nothing_fails() -> None:
    assert render([]) == "No test fails.\n"
