"""The HTML page: static, our own tags only, whatever is in it."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from explanation_samples import C2, RUNNING_EXAMPLE, TREE, explanations
from hostile_texts import ATTACKS
from hypothesis import given, settings

from afterd.model.explanation import Explanation, Status
from afterd.report.html import render
from afterd.report.sanitize import one_line

TAGS = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "ul", "li", "code", "b"}
TAGS |= {"main", "div", "th", "svg", "rect", "path", "text"}
TAGS |= {"pre", "span", "table", "tr", "td", "details", "summary", "ol", "br"}
ATTRIBUTES = {
    "svg": {"class", "viewbox", "role", "aria-label"},
    "rect": {"class", "x", "y", "width", "height", "rx"},
    "path": {"class", "d"},
    "text": {"class", "x", "y"},
    "div": {"class", "role", "tabindex", "aria-label"},
    "th": {"scope"},
}


class Page(HTMLParser):
    """Checks that tags are ours and nest, collects text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.text: list[str] = []
        self.meta: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        names = {name for name, _ in attrs}
        assert names <= ATTRIBUTES.get(tag, {"class", "open", "lang"}) or tag == "meta"
        if tag == "meta":
            self.meta.append(dict(attrs))
        elif tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def handle_comment(self, data: str) -> None:
        pytest.fail(f"a comment: {data}")


def parsed(text: str) -> Page:
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    return page


@given(explanation=explanations)
@settings(max_examples=60)
def test_any_explanation_is_our_tags_and_text(explanation: Explanation) -> None:
    parsed(render([explanation, explanation]))


@pytest.mark.parametrize("attack", ATTACKS, ids=range(len(ATTACKS)))
def test_an_attack_is_text(attack: str) -> None:
    hostile = replace(
        RUNNING_EXAMPLE,
        test=attack,
        tree=replace(TREE, predicate=attack),
        root=(replace(C2, file=attack, patch=attack),),
        notes=(attack,),
    )
    page = parsed(render([hostile]))
    assert one_line(attack) in "".join(page.text)


def test_the_lines_of_a_story_stand_in_their_context_with_both_values() -> None:
    """As many lines around each as a page shows, and nothing where a file cannot be read."""
    text = [f"line {number};" for number in range(1, 40)]
    page = parsed(render([RUNNING_EXAMPLE], lambda file: text if file == "sum.c" else ()))
    said = "".join(page.text)
    assert "in the failing run" in said
    shown = [number for number in range(1, 40) if f"line {number};" in said.replace("\u00a0", " ")]
    assert shown == list(range(3, 16))
    assert "sum = 2" in said
    assert "The lines it went through" not in "".join(parsed(render([RUNNING_EXAMPLE])).text)


@pytest.mark.parametrize("attack", ATTACKS, ids=range(len(ATTACKS)))
def test_an_attack_in_the_source_is_text(attack: str) -> None:
    """A file of the repository is no more to be trusted than a message."""
    parsed(render([RUNNING_EXAMPLE], lambda _: [attack] * 40))


def test_the_policy_allows_our_style_and_nothing_else() -> None:
    text = render([RUNNING_EXAMPLE])
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    [policy] = [meta["content"] for meta in parsed(text).meta if "http-equiv" in meta]
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    assert "<script" not in text
    assert not re.search(r"(src|href|style|on\w+)\s*=", text.split("</head>")[1])


def test_nothing_is_cut() -> None:
    step = replace(TREE.steps[0], text="x" * 5000)
    text = render([replace(RUNNING_EXAMPLE, tree=replace(TREE, steps=(step,) * 50))])
    assert text.count("x" * 5000) == 50
    assert "Undone, <code>c2</code> reads" in text


@pytest.mark.parametrize("status", Status)
def test_every_status_is_a_page(status: Status) -> None:
    text = render([replace(RUNNING_EXAMPLE, status=status, root=(), failure=None, reason="R.")])
    assert "<p>R.</p>" in text
    parsed(text)


def test_nothing_fails() -> None:
    assert "No test fails" in render([])
