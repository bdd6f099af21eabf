"""The HTML page as a reader has it: in a real browser, in both colour schemes, by keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from chromium import ENTER, TAB, Browser, NoChromiumError, axe, browser
from explanation_samples import C2, RUNNING_EXAMPLE
from npm_packages import NoNpmError

from afterd.report.html import render

SOURCE = ["", "int sum(int x, int y, int z)", *(f"    step_{line}();" for line in range(3, 30))]


@pytest.fixture(scope="module")
def opened() -> Iterator[Browser]:
    try:
        with browser() as found:
            yield found
    except NoChromiumError as error:
        pytest.skip(str(error))


@pytest.fixture
def page(opened: Browser, tmp_path: Path) -> Browser:
    """The running example with its lines, one of them wider than any window."""
    wide = [
        line + " " * 8 + "/* " + "wide " * 60 + "*/" if "7" in line else line for line in SOURCE
    ]
    one = replace(RUNNING_EXAMPLE, root=(replace(C2, patch="@@ -1 +1 @@\n-a\n+b\n"),))
    file = tmp_path / "why.html"
    file.write_text(render([one], lambda _: wide), encoding="utf-8")
    opened.set_width(1000)
    opened.open(file)
    return opened


@pytest.mark.network
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nobody_is_shut_out(page: Browser, scheme: str, tmp_path: Path) -> None:
    """No violation of axe-core's rules: contrast, names, landmarks, headings, what can be scrolled."""
    try:
        script = axe(tmp_path)
    except NoNpmError as error:
        pytest.skip(f"axe-core comes with npm: {error}")
    page.prefer(scheme)
    page.run("document.querySelectorAll('details').forEach(each => each.open = true)")
    found = page.run_to_its_end(
        f"{script}; axe.run().then(arguments[0], error => arguments[0](String(error)))"
    )
    assert isinstance(found, dict), found
    assert [
        (each["id"], [node["html"][:120] for node in each["nodes"]]) for each in found["violations"]
    ] == []
    assert len(found["passes"]) > 10  # it really looked


def test_the_colours_follow_the_reader(page: Browser) -> None:
    """What the page paints on, in both schemes."""
    seen = {}
    for scheme in ("light", "dark"):
        page.prefer(scheme)
        seen[scheme] = page.run(
            "const probe = document.body.appendChild(document.createElement('p'));"
            "probe.style.color = 'canvas'; const seen = getComputedStyle(probe).color;"
            "probe.remove(); return seen"
        )
    assert seen["light"] == "rgb(255, 255, 255)"
    assert seen["dark"] != seen["light"]


def test_everything_that_folds_is_folded_by_keyboard(page: Browser) -> None:
    """Tab goes from one to the next, Enter opens and closes it, and the focus is seen."""
    page.press(TAB)
    focused = "const it = document.activeElement; return [it.tagName, it.parentElement.open"
    assert page.run(f"{focused}]") == ["SUMMARY", False]
    page.press(ENTER)
    assert page.run(f"{focused}]") == ["SUMMARY", True]
    assert page.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.press(ENTER)
    assert page.run(f"{focused}]") == ["SUMMARY", False]


def test_the_picture_has_a_box_a_step_and_its_words_are_within(page: Browser) -> None:
    """As the browser lays it out."""
    page.run("document.querySelectorAll('details').forEach(each => each.open = true)")
    boxes, outside = page.run(
        "const svg = document.querySelector('svg'), box = each => each.getBBox();"
        "const boxes = [...svg.querySelectorAll('rect')].map(box);"
        "const texts = [...svg.querySelectorAll('text')].map(box);"
        "const wide = svg.viewBox.baseVal.width;"
        "return [boxes.filter(each => each.width > 0 && each.height > 0).length,"
        "        texts.filter(each => each.x < 0 || each.x + each.width > wide).length]"
    )
    assert (boxes, outside) == (4, 0)


@pytest.mark.parametrize("width", [400, 1400])
def test_no_window_is_too_narrow(page: Browser, width: int) -> None:
    """What is wide scrolls within its own region."""
    page.set_width(width)
    assert page.run("const it = document.documentElement; return it.scrollWidth <= it.clientWidth")
