"""What is told of C++, where a function's name holds the types of its parameters and of its template."""

from __future__ import annotations

import shutil

import pytest
from conftest import INSTALLED
from two_versions import VERSIONS, Case, changed_lines, traced_cases

from afterd.causality.origins import origins
from afterd.model.outcome import FailureKind
from afterd.model.term import reads
from afterd.model.trace import Alignment
from afterd.trace.c.read.program import demangled_name

NO_LIBRARY_BUT_ZIGS = next(iter(INSTALLED.values())).is_zig and not shutil.which("c++")


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


@pytest.mark.parametrize(
    ("case", "observed", "guilty"),
    [
        ("stream_number", "the area is 13", "-int area = width * 7; +int area = width + 7;"),
        ("stream_text", "this is left-foot", '-name += "-hand"; +name += "-foot";'),
        (
            "stream_long_text",
            "somebody who has a very long name, or",
            '-name += ", and"; +name += ", or";',
        ),
        ("stream_complaint", "over the limit", "-int limit = 5; +int limit = 3;"),
    ],
)
def test_what_a_stream_wrote_is_output(
    cxx: dict[str, Case], case: str, observed: str, guilty: str
) -> None:
    assert observed in {failure.observed for failure in cxx[case].failures}
    if NO_LIBRARY_BUT_ZIGS and case in {"stream_number", "stream_text"}:
        pytest.skip("libc++ (zig) copies what is short in code that is not followed")
    assert cxx[case].tied == {guilty}


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_ZNSolsEi", "std::ostream::operator<<"),
        ("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc", "std::operator<<"),
        (
            "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKc",
            "std::__cxx11::basic_string::append",
        ),
        ("_ZNSaIcEC1Ev", "std::allocator::allocator"),
        ("_ZN3foo12_GLOBAL__N_13barEv", "foo::bar"),
        ("plain", "plain"),
        ("_Zno symbol", "_Zno symbol"),
    ],
)
def test_a_function_that_is_not_traced_is_called_by_its_name_too(symbol: str, name: str) -> None:
    assert demangled_name(symbol) == name


def test_what_a_stream_was_given_is_behind_the_text_that_it_gave(cxx: dict[str, Case]) -> None:
    """jsonnet: an error's place went into a std::stringstream, and its text was copied. Each call of the library
    left the stream as nobody saw it, and nothing led to the one that was given another number.
    """
    case = cxx["stream_collected"]
    if NO_LIBRARY_BUT_ZIGS:
        pytest.skip("libc++ (zig) is traced where it is made of templates")
    byte = next(step for step in case.at("strcpy") if step.rendered == "'0' (48)")
    assert byte.green.alignment is Alignment.DIFFERENT
    by_id = case.changes.by_id()
    met = [by_id[each] for step in origins(case.execution, [byte]) for each in step.changes]
    assert "place(2, 20)" in met[0].patch


@pytest.mark.parametrize(
    ("case", "guilty"),
    [
        ("not_refused", "-if (n > 4) throw refusal{n};"),
        ("not_refused_within", "-if (n < 0) throw refusal{n};"),
    ],
)
def test_an_exception_that_is_not_thrown_any_more_is_behind_what_runs_instead(
    cxx: dict[str, Case], case: str, guilty: str
) -> None:
    """Nothing that ran was changed, and no value is another one."""
    omitted = cxx[case].execution.omitted(cxx[case].failures[0].step)
    by_id = cxx[case].changes.by_id()
    assert [changed_lines(by_id[change]) for change in omitted] == [guilty]


@pytest.mark.parametrize(
    ("case", "guilty"),
    [
        ("map", '-{"three", 3}, +{"three", 4},'),
        ("constant", '-{"low", 5}, +{"low", 6},'),
        ("member", "-{',', 4.5}, +{',', 5.5},"),
        ("constructed", "-{3}, +{13},"),
    ],
)
def test_an_entry_of_a_table_is_met_and_no_other_entry(
    cxx: dict[str, Case], case: str, guilty: str
) -> None:
    """What fills it when the program begins, what a compiler worked out of it, and a class's own."""
    assert _infected_ties(cxx[case]) == {guilty}


def _infected_ties(case: Case) -> set[str]:
    """The changes that the steps behind a failure met which are not as in green; a std::map has hundreds."""
    waiting = [read.step for each in case.failures for read in reads(each.condition)]
    texts = {each.id: changed_lines(each) for each in case.changes.changes}
    seen, met = set[int](), set[str]()
    while waiting:
        step = case.execution.step(waiting.pop())
        if step.id not in seen and step.green.alignment is not Alignment.SAME:
            met |= {texts[change] for change in step.changes}
            waiting += [read.step for read in reads(step.term)]
        seen.add(step.id)
    return met
