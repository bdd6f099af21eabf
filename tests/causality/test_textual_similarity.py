"""How similar texts are to a test's: names and their parts, rare ones first, whatever the length."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterd.causality.textual_similarity import (
    TitledText,
    similarity_among,
    terms,
    textual_similarity,
)

words = st.text("abcXY_ \n", max_size=40)
texts_of_words = st.builds(TitledText, words, words)


def text(body: str) -> TitledText:
    return TitledText("", body)


def test_a_name_is_its_parts_as_well() -> None:
    assert terms("parse_url(HTTPServer, x)") == {
        "parse_url": 1, "parse": 1, "url": 1, "httpserver": 1, "http": 1, "server": 1,
    }  # fmt: skip


def test_what_is_named_alike_and_seldom_is_more_similar_than_what_is_long() -> None:
    query = text("def test_join_empty_segments():\n    assert url.join(other) == expected")
    texts = {
        "guilty": "def join(self, segments):\n    return self.url",
        "long": "url expected\n" + "\n".join(f"other{n} value{n}" for n in range(200)),
        "innocent": "def split(self): return expected",
        "strange": "import os",
    }
    found = textual_similarity(query, {key: text(body) for key, body in texts.items()})
    assert max(found, key=lambda key: found[key]) == "guilty"
    assert found["guilty"] > 1.0 > found["long"] > found["strange"]


def test_nothing_is_told_of_one_text_or_of_equal_ones() -> None:
    some, other, same = text("some"), text("other"), text("same")
    assert textual_similarity(some, {"c1": some}) == {}
    assert textual_similarity(some, {"c1": same, "c2": same}) == {}
    assert textual_similarity(text(""), {"c1": some, "c2": other}) == {}


def test_what_a_text_is_called_says_more_of_it() -> None:
    texts = {
        "called": TitledText("URL.join", "return 1"),
        "has": TitledText("URL.split", "return join"),
    }
    found = textual_similarity(TitledText("test_join", "assert url"), texts)
    assert found["called"] > found["has"]


@given(texts_of_words, st.dictionaries(st.integers(0, 5), texts_of_words))
def test_scores_are_standard_deviations(query: TitledText, texts: dict[int, TitledText]) -> None:
    found = textual_similarity(query, texts)
    if found:
        assert found.keys() == texts.keys()
        assert abs(sum(found.values())) < 1e-6
        assert abs(sum(score * score for score in found.values()) - len(found)) < 1e-6


@pytest.mark.parametrize(
    ("similarity", "among"),
    [
        ({"c1": 0.4, "c2": -0.4}, {"c1": 0.4, "c2": -0.4}),  # no further apart than all changes are
        ({"c1": 5.0, "c2": 1.0}, {"c1": 2.5, "c2": 0.5}),  # their own deviation is 2
        ({"c1": 3.0}, {"c1": 2.0, "c2": 0.0}),  # 1.5: what nothing is known of is as all are
        ({}, {"c1": 0.0, "c2": 0.0}),
    ],
)
def test_beside_each_other_suspects_are_told_by_their_own_deviation(
    similarity: dict[str, float], among: dict[str, float]
) -> None:
    """Of setuptools_scm's six suspects the guilty one had a chance of one in a thousand, for its words alone."""
    assert similarity_among(["c1", "c2"], {**similarity, "c3": 9.0}) == pytest.approx(among)
