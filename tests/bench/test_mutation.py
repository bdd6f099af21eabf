"""Mutation operators: each kind on C and on Python, and nothing but one line of code is touched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterd.bench.mutation import Operator, mutants, mutated_text

C = """\
/* a + b */
int total(int a, int b) {
    int sum = a + b; // 1 < 2
    if (a <= b && *p) {
        sum -= 7;
        puts("a == b");
    }
    return -sum;
}
"""
PYTHON = '''\
def total(a, b):
    """Whether a + b."""
    total = a + b  # a - b
    if a <= b and b:
        self.count += 7
    print(
        "a == b")
    return -total
'''


def _of(file: str, text: str, operator: Operator) -> list[tuple[int, str]]:
    return [
        (each.line, each.text.strip()) for each in mutants(file, text) if each.operator is operator
    ]


@pytest.mark.parametrize(
    ("file", "text", "operator", "expected"),
    [
        ("a.c", C, Operator.AOR, [(3, f"int sum = a {sign} b; // 1 < 2") for sign in "-*/%"]),
        ("a.c", C, Operator.ROR, [(4, f"if (a {sign} b && *p) {{") for sign in ("<", ">", ">=", "==", "!=")]),
        ("a.c", C, Operator.LCR, [(4, "if (a <= b || *p) {")]),
        ("a.c", C, Operator.CRCR, [(5, "sum -= 0;"), (5, "sum -= 6;"), (5, "sum -= 8;")]),
        ("a.c", C, Operator.COI, [(4, "if (!(a <= b && *p)) {")]),
        ("a.c", C, Operator.SSDL, [(5, ";"), (6, ";")]),
        ("a.py", PYTHON, Operator.AOR, [(3, f"total = a {sign} b  # a - b") for sign in "-*/%"]),
        ("a.py", PYTHON, Operator.LCR, [(4, "if a <= b or b:")]),
        ("a.py", PYTHON, Operator.CRCR, [(5, f"self.count += {n}") for n in (0, 6, 8)]),
        ("a.py", PYTHON, Operator.COI, [(4, "if not (a <= b and b):")]),
        ("a.py", PYTHON, Operator.SSDL, [(3, "pass"), (5, "pass")]),
    ],
)  # fmt: skip
def test_each_operator(
    file: str, text: str, operator: Operator, expected: list[tuple[int, str]]
) -> None:
    assert sorted(_of(file, text, operator)) == sorted(expected)


def test_files_of_other_languages_have_none() -> None:
    assert mutants("a.txt", "a + b\n") == []


@pytest.mark.parametrize(("file", "text"), [("a.c", C), ("a.py", PYTHON)])
def test_a_mutant_is_another_line_and_only_that(file: str, text: str) -> None:
    assert mutated_text(text, ()) == text
    for mutant in mutants(file, text):
        changed = [
            number
            for number, (old, new) in enumerate(
                zip(text.splitlines(), mutated_text(text, [mutant]).splitlines(), strict=True), 1
            )
            if old != new
        ]
        assert changed == [mutant.line]


@given(st.text(alphabet="ab1+-<=&|;(){}\"/*\\\n '#", max_size=80))
def test_any_text_is_read(text: str) -> None:
    for mutant in mutants("a.c", text):
        assert mutated_text(text, [mutant]) != text
