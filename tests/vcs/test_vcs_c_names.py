"""The names of C and C++ files, of any text: what a grammar asks for in vain has no name."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from afterd.model.location import LineSpan
from afterd.vcs.c_reader import file_names

_WORDS = (
    *(
        "int",
        "f",
        "(",
        ")",
        "{",
        "}",
        ";",
        ",",
        "=",
        "<<=",
        "+",
        "x",
        "y.z",
        "->",
        "struct R",
        "::",
    ),
    *("goto", "case", "enum", "1", "#define M", "static", "template <typename T>", "\n", "*", "["),
)


def _all_names(text: str, path: str) -> set[str]:
    lines = [LineSpan(1, text.count("\n") + 2)]
    found = file_names(path, text.encode(), lines, of_cxx=True)
    by_line = (*found.defines.values(), *found.uses.values(), *found.assigned.values())
    return set().union(*by_line, found.declares.get(1, set()))


@pytest.mark.parametrize("path", ["a.c", "a.hpp"])
def test_a_macro_that_is_given_an_operator(path: str) -> None:
    """The header of doctest has three: a program that includes it was not explained at all."""
    names = _all_names("int f(int x) {\n FORBID(Result, <<= x)\n}\n", path)
    assert {"f", "Result"} <= names
    assert not {"", "."} & names


@given(st.lists(st.sampled_from(_WORDS), max_size=40), st.sampled_from(["a.c", "a.hpp"]))
@example(["int", "static", "{", "int"], "a.c")
def test_names_of_anything(words: list[str], path: str) -> None:
    names = _all_names(f"int f(void) {{\n{' '.join(words)}\n}}\n", path)
    assert not {"", "."} & names
