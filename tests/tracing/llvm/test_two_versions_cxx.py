"""What is told of C++, where a function's name holds the types of its parameters and of its template."""

from __future__ import annotations

import pytest
from conftest import INSTALLED
from two_versions import VERSIONS, Case, traced_cases

from afterd.model.outcome import FailureKind
from afterd.model.trace import Alignment


@pytest.fixture(scope="module")
def cxx(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Case]:
    """The cases of a program in C++."""
    directory = tmp_path_factory.mktemp("versions_in_cxx")
    toolchain = next(iter(INSTALLED.values()))
    return traced_cases(directory, toolchain, VERSIONS.with_name("versions_in_cxx"))


def test_an_instantiation_is_tied_to_what_named_its_arguments(cxx: dict[str, Case]) -> None:
    """Of libsass: the template's own lines are as they were, the statement that names it is not."""
    *_, failure = cxx["template"].failures
    assert failure.kind is FailureKind.OUTPUT
    assert cxx["template"].tied == {
        "-optional<exactly<'b'> > +sequence<optional<exactly<'b'> >, unless<exactly<'u'> > >"
    }
    assert {step.text for step in cxx["template"].at("one(text)")}


@pytest.mark.parametrize(
    ("case", "text", "alignment"),
    [
        ("template", "if (!after) return 0;", Alignment.SAME),
        ("parameter", "int base = value + 1;", Alignment.SAME),
        ("parameter", "return base * times;", Alignment.DIFFERENT),
        ("overload", "return value ? 2 : 0;", Alignment.DIFFERENT),
    ],
)
def test_a_function_with_another_name_is_found(
    cxx: dict[str, Case], case: str, text: str, alignment: Alignment
) -> None:
    """By the call that began it, or because no other of its plain name can be meant."""
    assert alignment in {step.green.alignment for step in cxx[case].at(text)}


def test_a_new_overload_is_the_change_that_is_met(cxx: dict[str, Case]) -> None:
    assert any("static int kind(int value)" in tied for tied in cxx["overload"].tied)


def test_a_function_is_called_what_the_source_calls_it(cxx: dict[str, Case]) -> None:
    """Not by its symbol, which is for linkers."""
    shown = {step.target for case in cxx.values() for step in case.closure.values()}
    assert {"word()", "kind()", "scaled()"} <= shown
    assert not [target for target in shown if target.startswith("_Z")]
