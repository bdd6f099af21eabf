"""How steps of the failing run stand to the green one where calls, pointers and places were changed."""

from __future__ import annotations

from two_versions import Case

from afterd.model.trace import Alignment, Conduct, StepKind


def test_a_call_through_a_pointer_is_a_branch_with_a_side_for_each_function(
    cases: dict[str, Case],
) -> None:
    (call,) = cases["dispatch"].at("operations[code](4);")
    assert call.kind is StepKind.BRANCH
    assert call.green.alignment is Alignment.DIFFERENT
    assert (call.rendered, call.green.rendered) == ("take", "add")
    assert "-int code = 0; +int code = 1;" in cases["dispatch"].tied


def test_a_call_taken_out_of_a_loop_is_still_the_same_call(cases: dict[str, Case]) -> None:
    (value,) = [step for step in cases["peeled"].at("show(text, given[0] * 3);") if step.value == 3]
    assert value.green.alignment is Alignment.DIFFERENT
    assert value.green.value == 2


def test_what_kept_a_definition_from_happening_is_asked_for_behind_pointers_too(
    cases: dict[str, Case],
) -> None:
    (guard,) = cases["missed"].at("if (room < most)")
    assert guard.green.alignment is Alignment.DIFFERENT
    assert "-int most = 9; +int most = 3;" in cases["missed"].tied


def test_pointers_to_other_objects_are_other_values(cases: dict[str, Case]) -> None:
    (chosen,) = cases["chosen"].at("struct item *chosen = ")
    assert chosen.green.alignment is Alignment.DIFFERENT


def test_a_changed_statement_that_did_the_same_is_told_from_one_that_did_not(
    cases: dict[str, Case],
) -> None:
    case = cases["conduct"]
    conduct = {
        line: case.execution.conduct().get(change.id)
        for change in case.changes.changes
        for line in change.patch.splitlines()
    }
    assert conduct["+    int half = whole >> 1;"] is Conduct.NEUTRAL
    assert conduct["+    int third = whole / 4;"] is Conduct.PASSED


def test_a_call_writes_no_farther_than_the_size_it_is_given(cases: dict[str, Case]) -> None:
    assert '-strcpy(page.body, "old"); +strcpy(page.body, "new");' in cases["bounded"].tied


def test_what_a_call_returned_is_of_its_own_activation(cases: dict[str, Case]) -> None:
    returned = [step for step in cases["returned"].at("static int least") if step.value == 8]
    assert returned
    assert not any(step.green.elsewhere for step in returned)


def test_what_a_rewritten_statement_does_not_read_any_more_may_have_been_removed_too(
    cases: dict[str, Case],
) -> None:
    """Output is missing: the branch above it in green is the same one, its condition is made otherwise."""
    rewritten = cases["rewritten"]
    assert "if (wrong)" in [failure.text for failure in rewritten.failures]
    assert {
        "-entry.fixed = fixed;",
        "-int wrong = entry.size > 3 ? entry.fixed : 0; +int wrong = entry.size > 9 && entry.used;",
    } <= rewritten.tied


def test_what_a_loop_did_not_write_that_took_the_place_of_one_write_is_asked_of_the_loop(
    cases: dict[str, Case],
) -> None:
    """Output is missing, and green's branch above the write is no branch of the bad version's."""
    unwritten = cases["unwritten"]
    assert "while (next > written) {" in [failure.text for failure in unwritten.failures]
    assert any("+written += put;" in change for change in unwritten.tied)


def test_what_a_function_wrote_is_looked_for_in_its_caller_where_that_function_is_gone(
    cases: dict[str, Case],
) -> None:
    """Pkgconf: the newline at the end of a function became one at the end of main, whose last return was explained."""
    failures = [failure.text for failure in cases["inlined"].failures]
    assert "if ((flags & 3) == 3)" in failures
