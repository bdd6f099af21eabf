"""What an Execution says of a failing run beside the green one: failures, values, ties, omissions."""

from __future__ import annotations

import pytest
from two_versions import VERSIONS, Case, changed_lines, sides

from afterd.causality.infection import is_infected
from afterd.compare.c.alignment import Alignment as Pairing
from afterd.model.outcome import FailureKind
from afterd.model.term import reads
from afterd.model.trace import Alignment, Effect, StepKind
from afterd.trace.c.ir.recorded import pointer_of
from afterd.trace.c.read.program import FunctionView
from afterd.trace.linemap import LineMap

FAILURES = [
    ("assertion", FailureKind.ASSERTION, "assert(doubled == 14);", "", ""),
    ("aborting", FailureKind.ASSERTION, "abort();", "", ""),
    ("null", FailureKind.CRASH, "*at = 5;", "NULL", ""),
    ("field_of_null", FailureKind.CRASH, "return token->at;", "NULL + 12", ""),
    ("bounds", FailureKind.CRASH, "cells[index] = 1;", "", ""),
    ("division", FailureKind.CRASH, "int each = 100 / shares;", "0", ""),
    ("overflowing", FailureKind.CRASH, "return depth(n - 2) + pad[n & 63];", "", ""),
    ("library_crash", FailureKind.CRASH, "strlen(nothing())", "NULL", ""),
    ("copy_crash", FailureKind.CRASH, "memcpy(to, from, 5);", "NULL", ""),
    ("number", FailureKind.OUTPUT, 'printf("%d x %d', "6 x 7 = 13!", "6 x 7 = 42!"),
    (
        "text",
        FailureKind.OUTPUT,
        'printf("the word',
        "the word is <graen> now",
        "the word is <green> now",
    ),
    ("constant_text", FailureKind.OUTPUT, 'printf("name', "name: many", "name: two"),
    ("named_text", FailureKind.OUTPUT, "fputs(truth_of(", "false", "true"),
    ("bytes", FailureKind.OUTPUT, "fwrite(block", "adc", "acc"),
    ("line", FailureKind.OUTPUT, "puts(line);", "a linF", "a linE"),
    ("character", FailureKind.OUTPUT, "putchar(c);", "z", "y"),
    ("descriptor", FailureKind.OUTPUT, "return write(1, text, 7)", "Cirect", "Direct"),
    (
        "wrapped",
        FailureKind.OUTPUT,
        "vprintf(format, given);",
        "10 then 50 (done)",
        "10 then 40 (done)",
    ),
    ("missing", FailureKind.OUTPUT, "", "end", "more"),
    ("extra", FailureKind.OUTPUT, 'puts("round")', "round", ""),
    ("added", FailureKind.OUTPUT, 'puts("noise")', "noise", ""),
    ("complaint", FailureKind.OUTPUT, 'printf("too %s', "too much", ""),
    ("literal", FailureKind.OUTPUT, 'printf("slot', "slot 3 of 1", "slot 2 of 1"),
    ("truncated", FailureKind.OUTPUT, "", "", "second"),
    ("shortened", FailureKind.OUTPUT, 'printf("%.*s", shown', "head:", "head:body text"),
    ("merged", FailureKind.OUTPUT, 'printf("text %s"', "text abcd", "text abcdz"),
    ("floating", FailureKind.OUTPUT, "printf(", "total 20.00", "total 5.00"),
    ("shown", FailureKind.OUTPUT, 'printf("%d apples', "2 apples left", "3 apples left"),
    ("leaving", FailureKind.EXIT, "exit(code);", "2", "0"),
    ("handlers", FailureKind.EXIT, "exit(code);", "6", "4"),
    ("returning", FailureKind.EXIT, "", "9", "0"),
    ("producer", FailureKind.OUTPUT, "printf(", "11", "10"),
    ("consumer", FailureKind.OUTPUT, "printf(", "sum 66", "sum 60"),
    (
        "error",
        FailureKind.OUTPUT,
        "error(0, 0",
        "./cases: the number is 6",
        "./cases: the number is 5",
    ),
    (
        "error_ends",
        FailureKind.OUTPUT,
        "error(7",
        "./cases: 4 is over the limit: No such file or directory",
        "",
    ),
    (
        "error_at",
        FailureKind.OUTPUT,
        "error_at_line(",
        "./cases:input:13: cannot read",
        "./cases:input:12: cannot read",
    ),
    ("warned", FailureKind.OUTPUT, "warnx(", "cases: 3 is not 4", ""),
    (
        "erred",
        FailureKind.OUTPUT,
        "err(3",
        "cases: cannot open right: No such file or directory",
        "cases: cannot open left: No such file or directory",
    ),
    ("complained", FailureKind.OUTPUT, "vwarnx(", "cases: size 10 of 9", "cases: size 20 of 9"),
    ("logged", FailureKind.OUTPUT, "syslog(", "listening on 82", "listening on 81"),
    ("gathered", FailureKind.OUTPUT, "writev(", "abcdFf", "abcdEf"),
    ("to_descriptor", FailureKind.OUTPUT, "dprintf(", "now 12", "now 8"),
    ("own_handler", FailureKind.CRASH, "*at = 8;", "NULL", ""),
    ("status_far", FailureKind.EXIT, "", "1", "0"),
    ("left_loop", FailureKind.OUTPUT, "if (*at == stop)", "a!", "a,b;c!"),
    ("not_written", FailureKind.OUTPUT, "if (*at == 't'", "one two three", "one <two <three"),
    ("line_not_written", FailureKind.OUTPUT, "if (n == 1", "third", "second"),
    ("opened", FailureKind.OUTPUT, "puts(file", "cannot open", "open"),
    ("examined", FailureKind.OUTPUT, "puts(stat", "none", "there"),
    ("converted", FailureKind.OUTPUT, "printf(", "0", "18"),
    ("environment", FailureKind.OUTPUT, "puts(getenv", "not set", "set"),
    ("closes_all", FailureKind.OUTPUT, "return write(own, text, 7)", "Qrompt", "Prompt"),
    ("read_less", FailureKind.OUTPUT, "printf(", "2 ab", "4 abcd"),
    ("table_of_functions", FailureKind.OUTPUT, "printf(", "64", "4"),
    ("image", FailureKind.OUTPUT, "pwrite64(", "\x07", "\x03"),
    ("reading", FailureKind.OUTPUT, "puts(", "can do it", "plain"),
    ("reading_text", FailureKind.OUTPUT, "printf(", "at level 6", "at level 5"),
    ("image_in_parts", FailureKind.OUTPUT, "pwritev64(", "\x02", "\x01"),
]


@pytest.mark.parametrize(("name", "kind", "text", "observed", "expected"), FAILURES)
def test_the_failed_assertion_is_recognised(
    cases: dict[str, Case], name: str, kind: FailureKind, text: str, observed: str, expected: str
) -> None:
    failures = cases[name].failures
    assert failures, "no failure was recognised"
    assert failures[0].kind is kind
    assert any(text in failure.text for failure in failures)
    if observed or expected:
        assert (observed, expected) in {(f.observed, f.expected) for f in failures}


def test_a_failure_is_told_with_the_text_of_the_place_that_is_told(cases: dict[str, Case]) -> None:
    """Bc's error message stood at the line of another file, where the branch was that led to it."""
    lines = {path.name: sides(path.read_text())[1].splitlines() for path in VERSIONS.iterdir()}
    for name, case in cases.items():
        for failure in case.failures:
            place = failure.failed_at or case.execution.step(failure.step).location
            if failure.text and place.file in lines and failure.kind is not FailureKind.EXIT:
                assert lines[place.file][place.line - 1].strip() in failure.text, name


def test_the_wrong_output_that_the_test_prints_is_explained_first(cases: dict[str, Case]) -> None:
    observed = dict.fromkeys(failure.observed for failure in cases["shown"].failures)
    assert list(observed) == ["2 apples left", "written by version 2"]


GUILTY = {
    "clocked": "return n + 2;",
    "shared_inline": "-int given = 4; +int given = 5;",
    "assertion": "-int sum = a + b; +int sum = a - b;",
    "aborting": "-int limit = 10; +int limit = 5;",
    "null": "-for (int i = 0; i < 3; i++) +for (int i = 0; i < 2; i++)",
    "field_of_null": "-int at = place_of(&token); +int at = place_of(NULL);",
    "bounds": "-long index = 3; +long index = 3L << 40;",
    "division": "-shares -= 3; +shares -= 4;",
    "overflowing": "-if (n <= 0) return 0; +if (n == -1) return 0;",
    "library_crash": '-return "text"; +return NULL;',
    "copy_crash": '-return "text"; +return NULL;',
    "number": "-int area = width * height; +int area = width + height;",
    "both_numbers": "-int rows = 3; +int rows = 4;",
    "shown": "-int eaten = 2; +int eaten = 3;",
    "text": "-word[2] = 'e'; +word[2] = 'a';",
    "constant_text": '-const char *name = kind == 2 ? "two" : "many"; +const char *name = kind == 3 ? "two" : "many";',
    "named_text": "-int number = 3; +int number = 5;",
    "bytes": "-block[1]++; +block[1] += 2;",
    "copied_further": "-size_t end = 6; +size_t end = 7;",
    "line": "-line[5] = 'E'; +line[5] = 'F';",
    "character": "-c += 1; +c += 2;",
    "descriptor": "-text[0] = 'D'; +text[0] = 'C';",
    "wrapped": "-long second = first * 4; +long second = first * 5;",
    "missing": "-int limit = 2; +int limit = 3;",
    "extra": "-int rounds = 2; +int rounds = 3;",
    "added": '+puts("noise");',
    "complaint": "-int limit = 5; +int limit = 3;",
    "literal": "-int first_slot = 1; +int first_slot = 2;",
    "truncated": "-int stop = 0; +int stop = 1;",
    "shortened": "-int shown = 9; +int shown = 0;",
    "merged": "-line[length++] = 'z';",
    "floating": "-double total = 10 * rate; +double total = 10 / rate;",
    "leaving": "-code -= 3; +code -= 1;",
    "handlers": "-int code = 4; +int code = 6;",
    "returning": "-if (errors > 0) errors = 9; +if (errors >= 0) errors = 9;",
    "error": "-given += 1; +given += 2;",
    "error_ends": "-int limit = 5; +int limit = 3;",
    "error_at": "-unsigned line = 12; +unsigned line = 13;",
    "warned": "-int wanted = 3; +int wanted = 4;",
    "erred": '-const char *name = "left"; +const char *name = "right";',
    "complained": "-size /= 2; +size /= 4;",
    "logged": "-port += 1; +port += 2;",
    "gathered": "-second[1] = 'E'; +second[1] = 'F';",
    "to_descriptor": "-given *= 2; +given *= 3;",
    "own_handler": "-int size = 4; +int size = 0;",
    "status_far": "-int most = 9; +int most = 5;",
    "left_loop": "-char stop = 0; +char stop = ',';",
    "not_written": "-int mark = 1; +int mark = 0;",
    "line_not_written": "-int least = 1; +int least = 7;",
    "unsteady": "-value += 1; +value += 2;",
    "opened": "-int flags = O_RDONLY; +int flags = O_RDWR | O_CREAT | O_EXCL;",
    "examined": "-path[5] = 'n'; +path[6] = 'x';",
    "converted": "-int base = 16; +int base = 10;",
    "environment": "-name[3] = 'H'; +name[3] = 'h';",
    "image": "-features &= ~4u;",
    "image_in_parts": "-head[5] = 1; +head[5] = 2;",
    "making": "-header.flags &= ~4u;",
    "reading": "-header.flags &= ~4u;",
    "making_text": "-level += 1; +level += 2;",
    "reading_text": "-level += 1; +level += 2;",
    "closes_all": "-text[0] = 'P'; +text[0] = 'Q';",
    "read_less": "-size_t most = 4; +size_t most = 2;",
    "table_of_functions": '-{"half", halved}, +{"half", squared},',
    "producer": '-printf("%d\\n", i * 10); +printf("%d\\n", i * 11);',
    "several_lines": "-+ 3; ++ 4;",
    "macro": "-#define SCALED(x) ((x) * 3) +#define SCALED(x) ((x) * 2)",
    "macro_in_macro": "-#define SCALED(x) ((x) * 3) +#define SCALED(x) ((x) * 2)",
    "enumerator": "-enum level { LOW = 1, MIDDLE = 5, HIGH = 9 }; +enum level { LOW = 1, MIDDLE = 4, HIGH = 9 };",
    "field": "-long balance; +signed char balance;",
    "inline_function": "-return x > 10 ? 10 : x; +return x > 10 ? 11 : x;",
    "table": '-{"cake", 5}, +{"cake", 4},',
    "table_of_macros": '-X(BLUE, "blue", 7) \\ +X(BLUE, "blue", 8) \\',
    "table_by_enumerator": "-[INCH] = 25, +[INCH] = 26,",
    "table_of_tables": "-{2, 4}, +{2, 5},",
    "table_of_texts": '-"two", +"tvo",',
    "table_of_letters": '-static const char letters[] = "abcdefgh"; +static const char letters[] = "abcdffgh";',
    "table_of_pointers": "-static const int noon = 12; +static const int noon = 13;",
    "table_that_is_filled": "-weekday_hours[4] = 6; +weekday_hours[4] = 5;",
    "table_of_another_type": '+{"auml", 0xe5},',
    "table_of_marks": '-{"};", 6}, +{"};", 7},',
    "table_by_designators": "-[LEFT ... RIGHT] = 11, +[LEFT ... RIGHT] = 12,",
    "table_of_a_list": "-X(EARTH, 150)    \\ +X(EARTH, 149)    \\",
    "table_that_is_included": '-STATUS(3, "three") +STATUS(4, "three")',
    "table_of_handlers": "-.port = 80, +.port = 81,",
    "table_of_names": '-"pull", +"bull",',
    "table_that_moved": '-"null",',
    "table_of_conditions": "-28, +29,",
    "table_without_braces": "-1, 2, +1, 3,",
    "table_of_a_function": "-60, +61,",
    "table_by_macros": "-TONE(D, 294), +TONE(D, 295),",
    "table_that_is_searched": '-{"rhine", 1233}, +{"rhone", 1233},',
    "taken_in": "-if (verbose)",
    "taken_out": "-if (verbose)",
    "type": "-int counter = 250; +unsigned char counter = 250;",
    "removed_statement": "-total += tax;",
    "removed_call": "-prepare();",
    "removed_guard": "-if (n < 0) return 0;",
    "iterations": "-int step = i * i; +int step = i == 3 ? 100 : i * i;",
    "not_in_green": "-if (mode == 2) +if (mode == 1)",
    "moved": "seed = 4;",
    "dispatch": "-int code = 0; +int code = 1;",
    "peeled": "+show(text, given[0] * 3);",
    "missed": "-int most = 9; +int most = 3;",
    "bounded": '-strcpy(page.body, "old"); +strcpy(page.body, "new");',
    "returned": "-static int least(int x) { return x > 7 ? 7 : x; } "
    "+static int least(int x) { return x > 7 ? 8 : x; }",
    "rewritten": "-entry.fixed = fixed;",
    "unwritten": "+written += put;",
    "unbraced": "+if (released == 0) +released = 1;",
    "ended_early": "-return price;",
    "handed_buffer": "-return 0xe4; +return 0xe5;",
    "option_argument": '"nv"',
    "option_index": '"nv"',
    "widened": "-return 2; +return 3;",
    "error_number": "/etc/passwd/name",
    "given_for_the_end": "-atexit(say_last);",
    "given_and_guarded": "-atexit(say_last);",
    "handed_text": "-int size = 12; +int size = 13;",
    "handed_line": "-int level = 3; +int level = 4;",
    "handed_end": "-int base = 10; +int base = 2;",
    "kept_pattern": '-regcomp(&kept_pattern, "^[a-z]+$", flags); '
    '+regcomp(&kept_pattern, "^[a-z0-9]+$", flags);',
    "fell_through": "-break;",
    "cut_short": "+break;",
    "searched_on": "-break;",
    "another_label": "-case 'x': +case 'X':",
    "label_taken_out": "-case 'b': -return 2;",
    "line_taken_out": '-puts("two");',
    "once_elsewhere": '-if (strcmp(name, "plug") == 0 && first) return 1; '
    '+if (strcmp(name, "plug") == 0 && first && !second) return 1;',
    "called_once_less": "-lower_it();",
    "line_put_in": '+puts("more");',
    "called_as_well": "+raise_it();",
    "called_whatever": "-if (dirty) -put_out(); +put_out();",
    "literal_beside": "-int shown = 7; +int shown = 8;",
    "counted_on_at_the_end": "+LARGE,",
    "joined": "-word[2] = n ? 'e' : '-'; +word[2] = n ? 'i' : '-';",
    "counted_on": "+ORANGE,",
    "another_width": "-typedef unsigned short many_t; +typedef unsigned char many_t;",
    "another_local_width": "-typedef short short_t; +typedef signed char short_t;",
    "compiled_or_not": "+#define FAST 1",
    "single": "-return n + 1; +return n + 2;",
    "extended": "-return n + 3; +return n + 4;",
    "double_word": "-return n + 5; +return n + 6;",
    "by_library": "-return n + 7; +return n + 8;",
    "inlined": '-return put_end(flags); +if ((flags & 3) == 3) +return put_text("ended"); +return failed;',
    "chosen": "-struct item *chosen = one; +struct item *chosen = two;",
    "asked_apart": "-cost += 1; +cost += 2;",
    "reordered": "-reader.next += 1; +reader.next += 2;",
    "printed_again": "-int lines = 17; +int lines = 14;",
    "printed_less": "-int lines = 10; +int lines = 1;",
    "listed": "-int unit = 3; +int unit = 4;",
    "struct_through_pointer": "-struct row *chosen = &low; +struct row *chosen = &high;",
    "rounds": "flag = level > 5; }",
    "parts": "-if (wanted || other) +if ((wanted & other) == 1)",
    "ternary": "-int wide = 1; +int wide = 0;",
    "stand_in": "-int known = 1; +int known = 2;",
    "enclosed": '-if (entering) { -put(page, "<<");',
    "conduct": "-int third = whole / 3; +int third = whole / 4;",
}


@pytest.mark.parametrize("name", GUILTY)
def test_the_steps_behind_a_failure_lead_to_the_guilty_change_and_to_few_others(
    cases: dict[str, Case], name: str
) -> None:
    tied = cases[name].tied
    guilty = {text for text in tied if GUILTY[name] in text}
    assert guilty, f"only met {tied}"
    assert len(tied - guilty) <= 1, "changes of other cases"


def test_where_a_copy_wrote_further_it_is_asked_how_far_and_not_what(
    cases: dict[str, Case],
) -> None:
    """md4c: a link took in the bracket behind it, and where green had the next text's quote the input's bracket stood:
    the input's reader was said to have read something else.
    """
    case = cases["copied_further"]
    copied = [step for step in case.closure.values() if step.extent]
    assert {step.text for step in copied} == {"memcpy(page->data + page->size, text, size);"}
    assert any(is_infected(case.execution.step(each)) for step in copied for each in step.extent)
    assert not any(is_infected(step) for step in case.at("char link[]"))


ENTRIES = [
    ("table_of_conditions", "29,"),
    ("table_without_braces", "1, 3,"),
    ("table_of_a_function", "61,"),
    ("table_by_macros", "TONE(D, 295),"),
    ("table_of_handlers", ".port = 81,"),
]


@pytest.mark.parametrize(("name", "entry"), ENTRIES)
def test_what_an_initialiser_gave_is_shown_at_its_entry(
    cases: dict[str, Case], name: str, entry: str
) -> None:
    initial = [step for step in cases[name].closure.values() if step.kind is StepKind.INITIAL]
    assert entry in {step.text for step in initial}


def test_of_a_line_that_was_written_at_once_each_wrong_word_is_explained(
    cases: dict[str, Case],
) -> None:
    """ncmpc: of two numbers the second one's table entry was met by no step."""
    assert cases["both_numbers"].tied == {
        "-int rows = 3; +int rows = 4;",
        "-int columns = 5; +int columns = 6;",
    }


READ, UNREAD = (
    {"-28, +29,", "-1, 2, +1, 3,", "-TONE(D, 294), +TONE(D, 295),", "-{2, 4}, +{2, 5},"},
    {"-31, +32,", "-31, +33,", "-0, 1, +9, 1,", "-2, 0, +2, 9,", "-TONE(E, 330), +TONE(E, 331),"},
)


def test_an_entry_of_a_table_was_executed_where_it_was_read_and_no_other_was(
    cases: dict[str, Case],
) -> None:
    one = next(iter(cases.values()))
    by_id = one.changes.by_id()
    executed = {changed_lines(by_id[change]) for change in one.execution.executed_changes()}
    assert executed & (READ | UNREAD) == READ


def test_a_statement_that_stores_in_another_order_is_compared_store_by_store(
    cases: dict[str, Case],
) -> None:
    steps = cases["reordered"].at("made[(int)*from->next++]")
    assert len(steps) == 2, "one stores the place in the text, the other the function"
    assert len({step.green.rendered for step in steps}) == 2, "both compared with the same store"
    assert {step.effect for step in steps} == {Effect.NEUTRAL}, "evaluated after the step forward"


def test_a_condition_that_asks_for_a_part_of_the_old_one_in_other_words_is_not_said_to_matter(
    cases: dict[str, Case],
) -> None:
    """parson: ``!value || …`` goes to what it asks next where ``value == NULL`` goes on."""
    steps = [step for step in cases["asked_apart"].at("if (name == NULL)") if step.changes]
    assert {step.effect for step in steps} == {Effect.NEUTRAL}
    assert {step.green.alignment for step in steps} == {Alignment.SAME}


def test_a_rewritten_statement_that_fills_a_temporary_is_not_said_to_matter(
    cases: dict[str, Case],
) -> None:
    steps = [step for step in cases["literal"].at("(struct activation){") if step.changes]
    assert steps
    assert Effect.MATTERS not in {step.effect for step in steps}


def test_what_differs_between_two_runs_of_one_version_is_no_wrong_output(
    cases: dict[str, Case],
) -> None:
    failures = cases["unsteady"].failures
    assert failures
    assert not [failure for failure in failures if "begins" in failure.text]


def test_a_branch_that_was_put_into_a_new_one_is_the_same_branch(cases: dict[str, Case]) -> None:
    """Cmark-gfm 0.29.0.gfm.13: the new one, which stands at its line, was taken for it."""
    case = cases["enclosed"]
    pair = case.execution._pairs[case.process]
    assert pair.counterparts is not None
    alignment = pair.counterparts._alignment
    (mark,) = [view for view in pair.bad.program.views() if view.name == "mark"]
    other, blocks = alignment.counterpart(mark), alignment.blocks(mark)
    assert other is not None
    assert blocks is not None
    partners = {
        (_decided_by(mark, here), _decided_by(other, there))
        for here, there in blocks.to_good.items()
        if "entering" in _decided_by(other, there)
    }
    assert partners == {("%entering", "%entering")}


def _decided_by(view: FunctionView, block: int) -> str:
    """The variable that a block which ends in a conditional branch loads first."""
    instructions = view.function.blocks[block].instructions
    if not instructions[-1].text.startswith("  br i1"):
        return ""
    loads = [each for each in instructions if each.opcode == "load"]
    slot = pointer_of(loads[0]) if loads else ""
    return f"%{view.slot_names.get(slot, '')}"


def test_an_output_of_as_many_bytes_as_in_green_is_not_as_in_green(cases: dict[str, Case]) -> None:
    """What printf returned is no measure of it: nothing that a removed statement left out there was suspected."""
    for name in ("number", "line_taken_out"):
        case = cases[name]
        failed = case.execution.step(case.failures[0].step)
        assert failed.green.alignment is Alignment.DIFFERENT, name
        assert failed.rendered != failed.green.shown, name


def test_a_call_that_green_has_not_is_not_compared_with_what_was_returned(
    cases: dict[str, Case],
) -> None:
    for name in ("added", "line_put_in"):
        case = cases[name]
        assert case.execution.step(case.failures[0].step).green.alignment is Alignment.ABSENT, name


def test_what_a_message_is_made_of_is_not_why_it_was_printed(cases: dict[str, Case]) -> None:
    assert not [change for change in cases["complaint"].tied if "much" in change]


def test_what_a_conditional_expression_chose_is_decided_by_its_branch(
    cases: dict[str, Case],
) -> None:
    case = cases["ternary"]
    chosen = [step for step in case.at("wide ? 10 : base") if step.choices]
    assert chosen
    branches = [case.execution.step(step.choices[0]) for step in chosen]
    assert {branch.kind for branch in branches} == {StepKind.BRANCH}
    assert {branch.green.alignment for branch in branches} == {Alignment.DIFFERENT}


def test_of_two_literals_the_one_that_was_meant_is_another_value(cases: dict[str, Case]) -> None:
    """Mujs 1.0.6 prints "false": those bytes are as they ever were, and no cause was found."""
    found = {step.kind: step for step in cases["named_text"].at("return truth ?")}
    assert found[StepKind.ASSIGN].green.alignment is Alignment.DIFFERENT
    byte = found[StepKind.INITIAL]
    assert (byte.rendered, byte.green.elsewhere) == ("'f' (102)", True)


def test_what_a_library_keeps_is_another_object_where_it_was_made_of_another_literal(
    cases: dict[str, Case],
) -> None:
    made = cases["kept_pattern"].at("regcomp(")
    assert [step.green.alignment for step in made] == [Alignment.DIFFERENT]


def test_a_variable_that_stands_in_for_an_allocated_object_is_another_object(
    cases: dict[str, Case],
) -> None:
    (used,) = cases["stand_in"].at("struct check *used")
    assert used.green.alignment is Alignment.DIFFERENT


def test_a_branch_is_followed_to_where_it_first_went_another_way(cases: dict[str, Case]) -> None:
    """Later rounds of an interpreter's loop are other rounds, and their partners say nothing."""
    case = cases["rounds"]
    failure = case.failures[0]
    kept = {
        branch
        for read in reads(failure.condition)
        for branch in case.execution.indirect_influences(failure.step, read.step)
    }
    gone = [(step.rendered, step.green.rendered) for step in map(case.execution.step, kept)]
    assert ("op_idle", "op_twice") in gone, "the fourth round differs, green raised in the fifth"
    assert ("op_idle", "op_raise") not in gone


def test_what_each_run_executed_once_in_another_call_is_not_held_against_it(
    cases: dict[str, Case],
) -> None:
    """Each run asks once whether an option is the second one: the failing one of the first, green of the second."""
    asked = cases["once_elsewhere"].at('(name, "verb")')
    assert {step.green.alignment for step in asked} == {Alignment.ABSENT}


def test_a_struct_is_copied_from_where_a_pointer_led(cases: dict[str, Case]) -> None:
    case = cases["struct_through_pointer"]
    sources = {
        case.execution.step(read.step).text.strip()
        for step in case.at("chosen->items[1]")
        for read in reads(step.term)
    }
    assert "struct row *chosen = &high;" in sources


def test_a_printed_byte_is_not_what_stood_in_its_memory_before(cases: dict[str, Case]) -> None:
    copied = {(s.rendered, s.green.rendered) for s in cases["printed_again"].at("memcpy(copy")}
    assert ("'4' (52)", "'7' (55)") in copied


def test_every_case_is_checked(cases: dict[str, Case]) -> None:
    assert set(cases) == set(GUILTY) | {"consumer", "interpreted"}  # interpreted: test_rounds


def test_of_a_function_in_several_modules_the_copy_that_ran_is_meant(
    cases: dict[str, Case],
) -> None:
    """A static function of a header; of C++, every inline one, of which the linker keeps one."""
    case = cases["shared_inline"]
    pair = case.execution._pairs[case.process]
    assert pair.green is not None
    [step] = case.at("int triple = 3 * x;")[-1:]
    mine = pair.bad.statements.statement(step.id).instance
    assert (step.value, step.green.value) == (15, 12)
    assert mine is not None
    found = Pairing(pair.bad.frames, pair.green.frames, LineMap([])).counterpart(mine.view)
    assert found is not None
    assert (mine.view.unit.module.source, found.unit.module.source) == ("ties.c", "ties.c")


def _missed(case: Case, text: str) -> tuple[str, str]:
    """The text and the value of the last step that only green took because of a change."""
    [change] = [each.id for each in case.changes.changes if text in each.patch]
    missed = case.execution.missed(change)
    return ("", "") if missed is None else (missed.text.strip(), missed.rendered)


@pytest.mark.parametrize(
    ("name", "change", "text", "value"),
    [
        ("removed_call", "-    prepare();", "prepare();", ""),
        ("removed_guard", "-    if (n < 0) return 0;", "if (n < 0) return 0;", "0"),
        ("removed_statement", "-    total += tax;", "total += tax;", "120"),
        ("added", 'puts("noise");', "", ""),
    ],
)
def test_what_a_change_kept_from_running_is_read_off_the_other_run(
    cases: dict[str, Case], name: str, change: str, text: str, value: str
) -> None:
    assert _missed(cases[name], change) == (text, value)


def test_the_call_that_a_step_was_in_is_the_next_step_on_its_way(cases: dict[str, Case]) -> None:
    case = cases["returned"]
    [left] = [step for step in case.at("x > 7 ?") if step.target == "least()"]
    assert (left.rendered, left.green.rendered) == ("8", "7")
    assert left.choices, "a branch within the function"
    assert {case.execution.calling(choice) for choice in left.choices} == {left.id}
    above = case.execution.calling(left.id)
    assert above is not None
    assert above > left.id
    assert case.execution.step(above).target == "case_returned()"


def test_what_a_changed_call_gives_stands_at_the_call(cases: dict[str, Case]) -> None:
    """Where the parameter is bound nothing was changed."""
    case = cases["field_of_null"]
    (given,) = [step for step in case.closure.values() if step.target == "token" and step.changes]
    assert "place_of(NULL)" in given.text
    assert given.rendered == "NULL"


def test_a_condition_that_had_parts_is_compared_by_where_they_led(cases: dict[str, Case]) -> None:
    """Pkgconf's "cflags || libs" became one test of both bits: false, as the first part of the old one was."""
    (branch,) = [s for s in cases["parts"].at("(wanted & other)") if s.kind is StepKind.BRANCH]
    assert branch.green.alignment is Alignment.DIFFERENT
    assert branch.green.value is True


def test_a_number_of_another_width_is_the_same_number(cases: dict[str, Case]) -> None:
    """A wider variable was infected by its type alone where its number was negative."""
    steps = [step for step in cases["widened"].closure.values() if step.target == "below"]
    assert [step.green.alignment for step in steps] == [Alignment.SAME]


def test_what_clocks_said_is_as_in_green_whenever_it_was(cases: dict[str, Case]) -> None:
    """Two runs are made at two times, but what a changed statement made of them is another value."""
    found = {step.target: step.green.alignment for step in cases["clocked"].closure.values()}
    same = ("began", "ended", "spent")
    assert {found[name] for name in same} == {Alignment.SAME}
    assert found["scaled"] is Alignment.DIFFERENT
    assert found["halved"] is Alignment.DIFFERENT
    assert found["count"] is Alignment.DIFFERENT
