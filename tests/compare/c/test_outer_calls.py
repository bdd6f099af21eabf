"""Untraced code calls traced code and judges what it gives: a library that a test in Python loads."""

from __future__ import annotations

import re
import sys

import pytest
from conftest import INSTALLED
from two_versions import VERSIONS, Case, committed, sides, traced_processes

from afterd.model.outcome import FailureKind
from afterd.model.trace import Alignment, StepKind

LIBRARY = VERSIONS.with_name("versions_of_a_library")
_CASE = re.compile(r"^def case_(\w+)\(", re.MULTILINE)


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Case]:
    """Each case a process of Python's, by its name."""
    directory = tmp_path_factory.mktemp("library")
    judge = (LIBRARY / "judge.python").read_text()
    judged = " ".join(_CASE.findall(judge))
    others = {
        "judge.py": judge,
        "Makefile": "libshelf.so: shelf.c\n\t$(CC) -g -fPIC -shared shelf.c -o libshelf.so\n",
        "run.sh": f'for name in {judged}; do {sys.executable} judge.py "$name"; done\n',
    }
    repository = directory / "repository"
    texts = sides((LIBRARY / "shelf.c").read_text())
    committed(repository, [{**others, "shelf.c": text} for text in texts])
    return traced_processes(directory, next(iter(INSTALLED.values())))


GIVEN = [
    ("number", "area() returned", "5", "6", "return width + height;"),
    ("text", "label() returned", "<bc>", "<abc>", "return line;"),
    ("literal", "truth() returned", "false", "true", "return number > 3"),
    ("fraction", "half() returned", "0.75", "1.5", "return of / 4;"),
    ("state", "shelf_total() returned", "14", "21", "return total;"),
    ("lent", "split() wrote, where tens points,", "0", "4", "*tens = number / 100;"),
    ("made", "reader() gave fmemopen()", "41", "40", "return fmemopen("),
]


@pytest.mark.parametrize(("name", "deed", "observed", "expected", "text"), GIVEN)
def test_a_result_that_differs_is_the_failure(
    cases: dict[str, Case], name: str, deed: str, observed: str, expected: str, text: str
) -> None:
    failure = cases[name].failures[0]
    assert failure.kind is FailureKind.RESULT
    assert failure.message == f"{deed} something else, to code that is not followed"
    assert (failure.observed, failure.expected) == (observed, expected)
    assert text in failure.text
    assert failure.is_inferred


def test_an_address_for_none_is_told_without_the_address(cases: dict[str, Case]) -> None:
    (failure,) = cases["null"].failures
    assert failure.expected == "NULL"
    assert "if (key > 3) return NULL;" in {step.text for step in cases["null"].closure.values()}


TIED = {
    "number": "-return width * height; +return width + height;",
    "text": "-for (int n = 0; n < number; n++) line[at++] = 'a' + n;",
    "literal": '-return number > 2 ? "true" : "false";',
    "null": "-if (key >= 3) return NULL; +if (key > 3) return NULL;",
    "state": "-on->books[on->number++] = book;",
    "lent": "-*tens = number / 10; +*tens = number / 100;",
    "made": '-return fmemopen(NULL, size, "w+");',
    "elsewhere": "-return number != 5; +return number == 5;",
}


@pytest.mark.parametrize("name", TIED)
def test_the_change_stands_behind_the_result(cases: dict[str, Case], name: str) -> None:
    assert any(change.startswith(TIED[name]) for change in cases[name].tied), cases[name].tied


def test_a_result_is_a_step_that_differs(cases: dict[str, Case]) -> None:
    case = cases["state"]
    step = case.execution.step(case.failures[0].step)
    assert (step.kind, step.rendered) == (StepKind.OUTPUT, "14")
    assert (step.green.alignment, step.green.rendered) == (Alignment.DIFFERENT, "21")


def test_the_first_of_several_is_where_it_began(cases: dict[str, Case]) -> None:
    told = [failure.observed for failure in cases["number"].failures]
    assert told == ["5", "7"]


def test_where_the_caller_went_another_way_it_judged_what_it_had_last(
    cases: dict[str, Case],
) -> None:
    told = [failure.message.partition("(")[0] for failure in cases["elsewhere"].failures]
    assert told == ["is_known", "version"]


def test_sizes_and_addresses_of_what_is_handed_out_are_no_results(cases: dict[str, Case]) -> None:
    assert not cases["alike"].failures
