"""The same failure in two variants has one signature; two failures have two."""

from __future__ import annotations

import dataclasses
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterd.execution.failures.pytest_reports import Report
from afterd.execution.failures.suites import ran_one_test
from afterd.execution.signature import (
    Evidence,
    refused_build,
    runs_are_alike,
    same_failure,
    signature,
)
from afterd.model.outcome import FailureKind, FailureSignature, Outcome, Unresolved, Verdict

ROOT = "/home/u/repo/.git/afterd/slots/1"


def read(stderr: str, status: int = 1, signal: int = 0, stdout: str = "") -> FailureSignature:
    return signature(Evidence(status, signal, stdout, stderr, (ROOT,)), "t")


TRACEBACK = f"""Traceback (most recent call last):
  File "{ROOT}/tests/test_a.py", line 7, in test_x
    self.assertEqual(total([1, 2]), 5)
    ~~~~~~~~~~~~~~~~^^^^^^^^^^^^^^^^^
  File "/usr/lib/python3.11/unittest/case.py", line 873, in assertEqual
    assertion_func(first, second, msg=msg)
AssertionError: 3 != 5
"""

CHAINED = f"""Traceback (most recent call last):
  File "{ROOT}/pkg/load.py", line 3, in load
    return table[key]
KeyError: 'a'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "{ROOT}/main.py", line 9, in <module>
    main()
  File "{ROOT}/pkg/cli.py", line 44, in main
    raise ValueError("no key 12 at 0x7f12aa")
ValueError: no key 12 at 0x7f12aa
"""

PYTEST = f"""F                                                                        [100%]
=================================== FAILURES ===================================
____________________________________ test_y ____________________________________

    def test_y():
>       assert total([1, 2]) == 5
E       assert 3 == 5
E        +  where 3 = total([1, 2])

{ROOT}/tests/test_a.py:12: AssertionError
=========================== short test summary info ============================
FAILED tests/test_a.py::test_y - assert 3 == 5
1 failed in 0.02s
"""

PYTEST_DEEP = """
    def test_z():
>       load("x")

tests/test_a.py:20:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

    def load(name):
>       return table[name]
E       KeyError: 'x'

pkg/load.py:3: KeyError
=========================== short test summary info ============================
FAILED tests/test_a.py::test_z - KeyError: 'x'
"""

ASAN = f"""=================================================================
==4711==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000014 at pc 0x5581
READ of size 4 at 0x602000000014 thread T0
    #0 0x558 in memcpy /build/compiler-rt/lib/asan/asan_interceptors.cpp:22
    #1 0x4f6d5b in lookup {ROOT}/src/table.c:31:12
    #2 0x4f6e1b in main {ROOT}/src/main.c:7:3
SUMMARY: AddressSanitizer: heap-buffer-overflow {ROOT}/src/table.c:31:12 in lookup
"""

CASES = [
    (
        "glibc",
        read(f"prog: {ROOT}/src/f.c:13: main: Assertion `sum == 4' failed.\nAborted\n", 134),
        FailureSignature(FailureKind.ASSERTION, "sum == 4", "src/f.c", "main", "prog", "t"),
    ),
    (
        "glibc, C++, run by libtool",
        read("lt-jq: ../src/jv.cc:1327: int ns::jv_get(jv, const char*): Assertion `x' failed.\n"),
        FailureSignature(FailureKind.ASSERTION, "x", "src/jv.cc", "ns::jv_get", "jq", "t"),
    ),
    (
        "macOS",
        read("Assertion failed: (n > 0), function pop, file stack.c, line 40.\n"),
        FailureSignature(FailureKind.ASSERTION, "n > 0", "stack.c", "pop", "", "t"),
    ),
    (
        "musl",
        read("Assertion failed: n < 9 (stack.c: push: 40)\n"),
        FailureSignature(FailureKind.ASSERTION, "n < 9", "stack.c", "push", "", "t"),
    ),
    (
        "GLib",
        read("**\nERROR:../t/test.c:12:test_add: assertion failed (add (2, 2) == 5): (4 == 5)\n"),
        FailureSignature(FailureKind.ASSERTION, "add (2, 2) == 5", "t/test.c", "test_add", "", "t"),
    ),
    (
        "Check",
        read("check_money.c:27:F:Core:test_create:0: Assertion 'x == 5' failed: x == 3, 5 == 5\n"),
        FailureSignature(
            FailureKind.ASSERTION, "Assertion 'x == 5", "check_money.c", "test_create", "", "t"
        ),
    ),
    (
        "Unity",
        read("test/t.c:14:test_add:FAIL: Expected 5 Was 3\n"),
        FailureSignature(
            FailureKind.ASSERTION, "Expected N Was N", "test/t.c", "test_add", "", "t"
        ),
    ),
    (
        "AddressSanitizer",
        read(ASAN),
        FailureSignature(
            FailureKind.CRASH, "AddressSanitizer: heap-buffer-overflow", "src/table.c", "lookup",
            "", "t",
        ),
    ),
    (
        "UBSan",
        read(f"{ROOT}/a.c:3:9: runtime error: signed integer overflow: 2147483647 + 1\n"),
        FailureSignature(
            FailureKind.CRASH, "signed integer overflow: N + N", "a.c", "", "", "t"
        ),
    ),
    (
        "C++ exception",
        read(
            "terminate called after throwing an instance of 'std::out_of_range'\n"
            "  what():  vector::_M_range_check: __n (which is 7) >= this->size() (which is 3)\n",
            134, 6,
        ),
        FailureSignature(
            FailureKind.EXCEPTION,
            "std::out_of_range: vector::_M_range_check: __n (which is N) >= this->size() (which"
            " is N)", "", "", "", "t",
        ),
    ),
    (
        "Rust",
        read("thread 'tests::adds' panicked at src/lib.rs:12:9:\nassertion `left == right` failed"),
        FailureSignature(
            FailureKind.ASSERTION, "assertion `left == right` failed", "src/lib.rs", "tests::adds",
            "", "t",
        ),
    ),
    (
        "unittest, by the statement and not by its values",
        read(TRACEBACK),
        FailureSignature(
            FailureKind.ASSERTION, "self.assertEqual(total([1, 2]), 5)", "tests/test_a.py",
            "test_x", "", "t",
        ),
    ),
    (
        "the last exception of a chain, deepest frame in the tree",
        read(CHAINED),
        FailureSignature(
            FailureKind.EXCEPTION, "ValueError: no key N at ADDRESS", "pkg/cli.py", "main", "", "t"
        ),
    ),
    (
        "pytest",
        read("", stdout=PYTEST),
        FailureSignature(
            FailureKind.ASSERTION, "assert total([1, 2]) == 5", "tests/test_a.py", "test_y", "",
            "tests/test_a.py::test_y",
        ),
    ),
    (
        "pytest, exception below the test",
        read("", stdout=PYTEST_DEEP),
        FailureSignature(
            FailureKind.EXCEPTION, "KeyError: 'x'", "pkg/load.py", "load", "",
            "tests/test_a.py::test_z",
        ),
    ),
    (
        "signal",
        read("", 0, 11),
        FailureSignature(FailureKind.CRASH, "SIGSEGV", "", "", "", "t"),
    ),
    (
        "a crash that bash reports of a program in a script",
        read("./run.sh: line 4:  4242 Segmentation fault      (core dumped) ./build/prog < in\n"),
        FailureSignature(FailureKind.CRASH, "SIGSEGV", "", "", "prog", "t"),
    ),
    (
        "diff",
        read("", stdout="--- expected\n+++ actual\n@@ -1 +1 @@\n-5\n+3\n"),
        FailureSignature(FailureKind.OUTPUT, "", "", "", "", "t"),
    ),
    (
        "old diff",
        read("", stdout="3c3\n< five\n---\n> three\n"),
        FailureSignature(FailureKind.OUTPUT, "", "", "", "", "t"),
    ),
    (
        "cmp",
        read("out.txt expected.txt differ: byte 17, line 3\n"),
        FailureSignature(FailureKind.OUTPUT, "", "", "", "", "t"),
    ),
    (
        "expected and got",
        read("", stdout="FAILED sum\n  expected: 5\n  got: 3\n"),
        FailureSignature(FailureKind.OUTPUT, "", "", "", "", "t"),
    ),
    (
        "words that are no test's name",
        read("ERROR: cannot open the file\nFAIL: sum is 3 instead of 5\n", 4),
        FailureSignature(FailureKind.EXIT, "exit status 4", "", "", "", "t"),
    ),
    (
        "a test that was not compiled",
        read("t.c:9:3: error: 'NEWER' undeclared\nmake: *** [Makefile:4: check] Error 1\n", 2),
        FailureSignature(FailureKind.EXIT, "exit status 2, with a compiler's error", "", "", "", "t"),
    ),
    (
        "an error as compilers tell it",
        read("<input>:1:3: error: expected one of 'ab' at 'y'\n", 2),
        FailureSignature(FailureKind.EXIT, "exit status 2", "", "", "", "t"),
    ),
    (
        "nothing but a status",
        read("", 3),
        FailureSignature(FailureKind.EXIT, "exit status 3", "", "", "", "t"),
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("seen", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_failures_are_read_as_tools_write_them(
    seen: FailureSignature, expected: FailureSignature
) -> None:
    assert dataclasses.replace(seen, differing="") == expected


def test_all_of_these_failures_differ() -> None:
    crashes_and_outputs = {"old diff", "cmp", "expected and got"}  # one failure: output differs
    seen = [signature for name, signature, _ in CASES if name not in crashes_and_outputs]
    for place, one in enumerate(seen):
        for other in seen[place + 1 :]:
            # A crash whose program nobody named may be that of a named one.
            if {one.message, other.message} != {"SIGSEGV"}:
                assert not same_failure(one, other)


SUITES = [
    ("automake", "PASS: a.sh\nFAIL: b.sh\nFAIL: c.sh\n# FAIL:  2\n", "b.sh; c.sh"),
    ("automake, TAP", "FAIL: t.sh 3 - adds x\nERROR: u.sh\n", "t.sh N - adds x; u.sh"),
    ("unittest", "FAIL: test_a (m.T.test_a)\nERROR: b (m.T)\n", "b (m.T); test_a (m.T.test_a)"),
    ("TAP", "ok 1 - a\nnot ok 2 - b\nnot ok 3 - c # TODO later\nnot ok 4 d\n", "b; d"),
    ("CTest", "The following tests FAILED:\n\t 1 - a (Failed)\n\t12 - b c (SEGFAULT)\n", "a; b c"),
    ("Cargo", "test t::a ... ok\ntest t::b ... FAILED\ntest t::c ... FAILED\n", "t::b; t::c"),
    ("Go", "--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/x (0.00s)\n", "TestA; TestA/x"),
    ("GoogleTest", "[  FAILED  ] S.A (0 ms)\n[  FAILED  ] S.A\n[  FAILED  ] S.B\n", "S.A; S.B"),
    ("Meson", "1/3 a OK 0.01s\n2/3 b   FAIL 0.01s exit status 1\n3/3 c ERROR 0.1s\n", "b; c"),
    ("pytest", "FAILED t/a.py::x[1-b] - E\nERROR t/b.py - IOError: y\n", "t/a.py::x[N-b]; t/b.py"),
]  # fmt: skip


@pytest.mark.parametrize(("output", "tests"), [suite[1:] for suite in SUITES], ids=lambda _: "")
def test_of_a_suite_the_failed_tests_are_kept(output: str, tests: str) -> None:
    assert read("", stdout=output) == FailureSignature(FailureKind.ASSERTION, test=tests)


def test_part_of_a_failed_suite_is_the_same_failure_and_more_is_not() -> None:
    """Putting back one of two guilty changes brings back one of two failed tests."""
    both = read("", stdout="FAIL: a\nFAIL: b\n")
    first = read("", stdout="FAIL: a\n")
    other = read("", stdout="FAIL: a\nFAIL: c\n")
    assert same_failure(both, first)
    assert not same_failure(both, other)
    assert not same_failure(first, both)
    failed = [Outcome(Verdict.FAIL, signature=each) for each in (both, first)]
    assert not runs_are_alike(*failed), "a run again in which one of two tests failed"
    assert not runs_are_alike(*reversed(failed))
    assert runs_are_alike(failed[0], dataclasses.replace(failed[0], test_seconds=3.0))


def test_runs_that_tell_nothing_are_alike_where_they_do_so_for_one_reason() -> None:
    untold = [
        Outcome(Verdict.UNRESOLVED, reason) for reason in (Unresolved.KILLED, Unresolved.OUTPUT)
    ]
    assert not runs_are_alike(*untold)
    assert runs_are_alike(untold[0], untold[0])


GLIBC = "p: f.c:13: f: Assertion `sum == 4' failed."
KEY_ERROR = "Traceback (most recent call last):\nKeyError: 'a'"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (GLIBC, GLIBC.replace("== 4", "== 5")),
        (GLIBC, GLIBC.replace(": f:", ": g:")),
        (GLIBC, GLIBC.replace("f.c", "g.c")),
        (GLIBC, GLIBC.replace("p:", "q:")),
        (KEY_ERROR, KEY_ERROR.replace("'a'", "'b'")),
        (TRACEBACK, TRACEBACK.replace("total([1, 2]), 5", "total([1, 3]), 5")),
    ],
)
def test_other_statements_places_and_keys_are_other_failures(one: str, other: str) -> None:
    assert not same_failure(read(one), read(other))


@given(line=st.integers(1, 99999), address=st.integers(0, 2**64 - 1), slot=st.integers(1, 99))
def test_lines_addresses_and_slots_do_not_matter(line: int, address: int, slot: int) -> None:
    """What other reverted changes and another run alter."""
    root = ROOT[:-1] + str(slot)

    def again(text: str) -> FailureSignature:
        text = re.sub(r"(?<=line )\d+|(?<=\.c:)\d+", str(line), text)
        text = text.replace("0x602000000014", hex(address)).replace(ROOT, root)
        return signature(Evidence(1, 0, "", text, (root,)), "t")

    glibc = f"prog: {ROOT}/src/f.c:13: main: Assertion `sum == 4' failed.\n"
    for text in (glibc, ASAN, TRACEBACK, CHAINED):
        assert again(text) == read(text)


@given(observed=st.integers(), text=st.text("ab'\"\\", max_size=10))
def test_the_values_an_assertion_prints_do_not_matter(observed: int, text: str) -> None:
    assert read(TRACEBACK.replace("3 != 5", f"{observed} != {text!r}")) == read(TRACEBACK)
    shown = PYTEST.replace("assert 3 == 5", f"assert {observed} == {text!r}")
    assert read("", stdout=shown) == read("", stdout=PYTEST)


def reported(message: str, *frames: tuple[str, int, str]) -> FailureSignature:
    report = Report("tests/test_bar.py::test_bar", "call", "failed", message, frames)
    return signature(Evidence(1, 0, "", "", (ROOT,), (report,)), "t")


@given(text=st.text(max_size=30))
@pytest.mark.parametrize("path", ["/home/u/tests/test_bar.py", f"{ROOT}/tests/test_bar.py"])
def test_an_assertion_is_known_by_its_statement_also_outside_of_the_tree(
    path: str, text: str
) -> None:
    """Its message held a rate, and a bar that was as long as the rate left room: two runs did not say the same."""
    statement = (path, 9, "assert '#' in bar()")
    seen = reported(f"AssertionError: assert '#' in '| {text}", statement)
    assert seen == reported("AssertionError: assert '#' in '| 3/4'", statement)
    assert seen != reported("AssertionError: assert '#' in '|'", (path, 8, "assert '3/4' in bar()"))


@pytest.mark.parametrize(
    "path", ["/usr/lib/python3.11/unittest/mock.py", "/v/lib/python3/site-packages/p/check.py"]
)
def test_an_installed_packages_statement_tells_no_two_assertions_apart(path: str) -> None:
    statement = (path, 9, "raise AssertionError(message)")
    called, awaited = (reported(f"AssertionError: Not {it}", statement) for it in ("one", "two"))
    assert called != awaited


FRAGMENTS = st.sampled_from(
    [
        *("Traceback (most recent call last):\n", '  File "a.py", line 1\n', "a.py:1: E", "E   "),
        *("Assertion `", "' failed.", "==1==ERROR: AddressSanitizer: ", "#0 0x1 in f a.c:1"),
        *("thread 'x' panicked at ", "not ok ", "FAIL: ", "1/2 ", "expected\n", "@@ ", "\x1b[31m"),
        *("> ", ": ", "\n", "\r", "("),
    ]
)


@given(st.lists(FRAGMENTS | st.text(max_size=20), max_size=20).map("".join), st.integers(0, 64))
def test_any_output_has_a_signature_that_is_its_own(text: str, signal: int) -> None:
    seen = read(text, 1, signal, stdout=text)
    assert same_failure(seen, seen)
    assert "\n" not in seen.message
    assert "\x1b" not in seen.message


@pytest.mark.parametrize(
    "filling", ["a", ":", " ", "1:", "E ", "'", "(", "\x1b[", "in 0x1 ", "\n", " \n", " / "]
)
@pytest.mark.parametrize(
    "beginning", ["x", "Assertion failed: ", "1/2 Test #1: a", "1 - a (Exit code ("]
)
def test_what_is_repeated_without_end_takes_no_time(beginning: str, filling: str) -> None:
    """Backtracking patterns on hostile output would hang the daemon, not the test."""
    began = time.process_time()
    read(beginning + filling * (200_000 // len(filling)))
    assert time.process_time() - began < 3.0


def diffed(expected: str, printed: str, *, unified: bool) -> FailureSignature:
    """The signature of a test that compares two texts with diff, both with lines around."""
    if unified:
        text = (
            f"--- expected\n+++ printed\n@@ -1,3 +1,3 @@\n first\n-{expected}\n+{printed}\n last\n"
        )
    else:
        text = f"2c2\n< {expected}\n---\n> {printed}\n"
    return read("", stdout=text)


@pytest.mark.parametrize("unified", [False, True])
def test_an_output_that_differs_in_other_lines_is_another_failure(unified: bool) -> None:
    """Cmark-gfm: without a change that was not guilty, another line of the page came out wrong."""
    wrong = diffed("read <b>foo</b>", "read foo", unified=unified)
    assert same_failure(wrong, diffed("read <b>foo</b>", "read <i>foo</i>", unified=unified))
    assert not same_failure(wrong, diffed("some <em>text</em>", "some *text*", unified=unified))
    swapped = diffed("read foo", "read <b>foo</b>", unified=unified)
    assert same_failure(swapped, diffed("read <i>foo</i>", "read <b>foo</b>", unified=unified))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Some\\Name Object &{:032x} (", "Some\\Other Object &{:032x} ("),
        ("<[some.Name@{:x}]>", "<[some.Other@{:x}]>"),
    ],
)
def test_which_objects_were_made_before_tells_no_outputs_apart(one: str, other: str) -> None:
    """PHPUnit and Java show an object by its number or its hash, which is another one in each run: of a test of
    nikic/PHP-Parser's whose text had changed two equal failures were told apart so, and it was "already red".
    """
    shown = "--- Expected\n+++ Actual\n@@ @@\n-{}\n+{}\n"
    first, second, third = (
        signature(Evidence(1, 0, shown.format(one.format(a), other.format(b)), ""), "t")
        for a, b in ((0x2364, 0x2360), (0x24DC, 0x24DB), (0xFACE, 0xFACED))
    )
    assert same_failure(first, second)
    assert same_failure(second, third)
    swapped = signature(Evidence(1, 0, shown.format(other.format(1), "nothing"), ""), "t")
    assert not same_failure(first, swapped)


def test_part_of_the_wrong_lines_is_the_same_failure_and_more_are_not() -> None:
    one, other = "3c3\n< three\n---\n> tree\n", "9c9\n< nine\n---\n> nein\n"
    both, first = read("", stdout=one + other), read("", stdout=one)
    assert same_failure(both, first)
    assert not same_failure(first, both)


def test_lines_that_are_too_many_say_as_much_as_those_that_are() -> None:
    more, most = (read("", stdout=f"2a3\n> {text}\n") for text in ("a line", "another line"))
    assert same_failure(more, most)


@pytest.mark.parametrize("unified", [False, True])
def test_where_no_line_is_known_outputs_are_not_told_apart(unified: bool) -> None:
    wrong = diffed("read <b>foo</b>", "read foo", unified=unified)
    compared = read("expected printed differ: byte 12, line 3")
    assert same_failure(wrong, compared)
    assert same_failure(compared, wrong)
    many = "".join(f"-line {n:b}\n".translate({48: "a", 49: "b"}) for n in range(600))
    assert not read("", stdout=f"--- a\n+++ b\n@@ -1,600 +0,0 @@\n{many}").differing


def test_a_command_line_with_semicolons_is_one_test() -> None:
    """It looked like several, and then every failure was the same as every other."""
    one, other = (
        signature(Evidence(status, 0, "", ""), "make lint; make check") for status in (1, 2)
    )
    assert same_failure(one, one)
    assert not same_failure(one, other)


@pytest.mark.parametrize(
    ("said", "alone"),
    [
        ("1 failed in 0.12s", True),
        ("=== 1 failed, 3 deselected, 1 warning in 0.12s ===", True),
        ("1 failed, 3 passed in 0.12s", False),
        ("11 failed in 0.12s", False),
        ("Ran 1 test in 0.001s", True),
        ("Ran 12 tests in 0.001s", False),
    ],
)
def test_a_run_of_one_test_is_known_by_what_its_runner_says(said: str, *, alone: bool) -> None:
    assert ran_one_test(f"x\n{said}\n") is alone


def test_a_runner_that_gave_up_is_no_abort() -> None:
    """Grunt's last line was told as SIGABRT (jsdiff)."""
    said = read(
        "1 failing\nWarning: Task failed. Use --force to continue.\n\nAborted due to warnings.\n", 6
    )
    assert said.message != "SIGABRT"
    assert (
        read("a.sh: line 1:  7311 Aborted                 (core dumped) ./a\n", 134).message
        == "SIGABRT"
    )


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "-- Detecting C compile features\nCMake Error at tests/CMakeLists.txt:4 (add_executable):\n"
            "  Cannot find source file:\n\n    test-emitter.c\n\n  Tried extensions .c .C .c++\n",
            "tests/CMakeLists.txt:N: Cannot find source file: test-emitter.c",
        ),
        (
            "CMake Error at CMakeLists.txt:9 (message):\n  Too old.\nCall Stack (most recent call first):\n",
            "CMakeLists.txt:N: Too old.",
        ),
        (
            "CMake Error: The source directory is gone.\n",
            "CMake Error: The source directory is gone.",
        ),
        ("a.c:3:1: error: no\nCMake Error: x\n", "a.c:N:N: error: no"),
    ],
)
def test_what_cmake_refuses_is_told(said: str, told: str) -> None:
    """All that was known was "exit status 1" (libyaml)."""
    assert refused_build(said, "the build").message == told
