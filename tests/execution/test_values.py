"""What a test's output says of its failure: message, values and place, whatever framework wrote it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from afterd.execution.failures.pytest_says import compared_values
from afterd.execution.failures.suites import no_test_ran, passed_tests
from afterd.execution.failures.values import telling_text, told_failure

JEST = """\
  ● sum › adds

    expect(received).toBe(expected) // Object.is equality

    Expected: 300
    Received: 184

    at Object.<anonymous> (test/sum.test.js:3:22)
    at node_modules/jest-circus/build/run.js:4:4
"""
VITEST = """\
AssertionError: expected 184 to be 300 // Object.is equality

- Expected
+ Received

- 300
+ 184

 ❯ test/a.test.ts:5:18
"""
MOCHA = """\
      AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

184 !== 300

      + expected - actual

      -184
      +300

      at Context.<anonymous> (test/a.js:5:12)
"""
NODE = """\
not ok 1 - adds
  ---
  location: 'test/a.test.js:4:1'
  error: |-
    Expected values to be strictly equal:

    184 !== 300

  code: 'ERR_ASSERTION'
  expected: 300
  actual: 184
  stack: |-
    TestContext.<anonymous> (test/a.test.js:5:10)
    Test.runInAsyncScope (node:async_hooks:203:9)
"""
MINITEST = """\
  1) Failure:
TestA#test_lines [test/test_a.rb:39]:
--- expected
+++ actual
@@ -54,4 +54,4 @@
   <li>&#8220;<em>test</em>&#8221;</li>

-  <li>(<em>test</em>)</li>
-  <li>more</li>
+  <li>(_test_)</li>
+  <li>less</li>
 </ul>
"""
TEST_UNIT = """Failure: test_adds(TestA)
test/test_a.rb:4:in `test_adds'
<300> expected but was
<184>.
"""
TEST_UNIT_LINES = """Failure: test_table(TestA)
test/test_a.rb:4:in `test_table'
<"<tr>\\n" +
"<td>5</td><td>6</td></tr>\\n"> expected but was
<"<tr>\\n" +
"<td>5</td></tr>\\n">

diff:
  <tr>
"""
TAPE = """\
not ok 3 should be deeply equivalent
  ---
    operator: deepEqual
    expected:
      { a: 1 }
    actual:
      { a: 2 }
    at: Test.<anonymous> (test/parse.js:34:11)
"""
RUST = """\
thread 't::x' (26138) panicked at src/lib.rs:3:38:
assertion `left == right` failed: sum
  left: 3
 right: 4
"""
TESTIFY = """\
        Error Trace:\tx/x_test.go:9
        Error:      \tNot equal:
                    \texpected: 3
                    \tactual  : 4
"""
GOOGLE = """\
x.cc:12: Failure
Expected equality of these values:
  add(1, 2)
    Which is: 3
  4
"""
TITLED = """\
--- FAIL: TestLinkify (0.00s)
    testutil.go:133: ============= case 17 ================
        Markdown:
        -----------
        http://a.org/he<lp

        Expected:
        ----------
        <p><a href="http://a.org/he">

        Actual
        ---------
        <p><a href="http://a.org/he%3Clp">
"""
CATCH = "tests/a.cpp:5: FAILED:\n  REQUIRE( add(1) == 4 )\nwith expansion:\n  3 == 4\n"

AVA = """\
not ok 47 - parse › multiple brackets
  ---
    name: AssertionError
    assertion: t.deepEqual()
    details:
      'Difference (- actual, + expected):': |2-
          {
            foo: [
        -     'biz',
        -     'boz',
        +     'bar',
            ],
          }
    message: ''
    at: 'ExecutionContext.deepEqual (file:///x/node_modules/ava/lib/assert.js:339:15)'
  ...
"""
EXAMPLE = """\
--- FAIL: ExampleFirstLine (0.00s)
got:
First
line. < may break
want:
First
line. < must break
FAIL
"""
CASES = [
    (AVA, "'biz'", "'bar'", "", 0),
    (EXAMPLE, "line. < may break", "line. < must break", "", 0),
    (JEST, "184", "300", "test/sum.test.js", 3),
    (VITEST, "184", "300", "test/a.test.ts", 5),
    (MOCHA, "184", "300", "test/a.js", 5),
    (MINITEST, "<li>(_test_)</li>", "<li>(<em>test</em>)</li>", "test/test_a.rb", 39),
    (TEST_UNIT, "184", "300", "test/test_a.rb", 4),
    (
        TEST_UNIT_LINES,
        '"<td>5</td></tr>\\n"',
        '"<td>5</td><td>6</td></tr>\\n"',
        "test/test_a.rb",
        4,
    ),
    (
        "AssertionError: expected 184 to equal 300\n at f (test/a.js:9:1)\n",
        "184",
        "300",
        "test/a.js",
        9,
    ),
    (NODE, "184", "300", "test/a.test.js", 5),
    (TAPE, "{ a: 2 }", "{ a: 1 }", "test/parse.js", 34),
    (RUST, "3", "4", "src/lib.rs", 3),
    ("    x_test.go:12: Add(1, 2) = 4, want 3\n", "4", "3", "x_test.go", 12),
    ("    x_test.go:12: expected '3', got '4'\n", "'4'", "'3'", "x_test.go", 12),
    ("    x_test.go:12: expected args [], got [a b]\n", "[a b]", "[]", "x_test.go", 12),
    ("    x_test.go:12: expected f.Args() of [x], got []\n", "[]", "[x]", "x_test.go", 12),
    ("    x_test.go:12: got length -3, want 4.5\n", "-3", "4.5", "x_test.go", 12),
    ('    x_test.go:12: expected name "a b", got "b"\n', '"b"', '"a b"', "x_test.go", 12),
    ("    x_test.go:12: expected true, got is set to false\n", "false", "true", "x_test.go", 12),
    (
        "    x_test.go:12: expected chapter 3, got chapter 4\n",
        "chapter 4",
        "chapter 3",
        "x_test.go",
        12,
    ),
    ("    x_test.go:12: expected two words, got 4\n", "4", "two words", "x_test.go", 12),
    (TESTIFY, "4", "3", "x/x_test.go", 9),
    ("tests/m.c:60:f_adds:FAIL: Expected 5 Was 3\n", "3", "5", "tests/m.c", 60),
    (GOOGLE, "3", "4", "x.cc", 12),
    (
        TITLED,
        '<p><a href="http://a.org/he%3Clp">',
        '<p><a href="http://a.org/he">',
        "testutil.go",
        133,
    ),
    (CATCH, "3", "4", "tests/a.cpp", 5),
    ("a.c:12:F:Core:t:0: Assertion 'x == 5' failed: x == 3, 5 == 5\n", "3", "5", "a.c", 12),
    ("AssertionError: 184 != 300\n", "184", "300", "", 0),
    ("AssertionFailedError: expected: <5> but was: <3>\n", "3", "5", "", 0),
]


@pytest.mark.parametrize(("text", "observed", "expected", "file", "line"), CASES)
def test_values(text: str, observed: str, expected: str, file: str, line: int) -> None:
    said = told_failure(f"1..3\nok 1 - before\n{text}\n# tests 3\n")
    assert said is not None
    assert (said.observed, said.expected) == (observed, expected)
    assert (said.file, said.line) == (file, line)


@pytest.mark.parametrize(
    ("difference", "expected", "observed"),
    [
        ("-A Object &{a} (\n+B Object &{b} (\n", "A Object (", "B Object ("),
        (
            "-A Object &{a} (\n+A Object &{b} (\n-    'n' => 1\n+    'n' => 2\n",
            "'n' => 1",
            "'n' => 2",
        ),
        (
            "-A Object &{a} (\n-    'n' => 1\n+A Object &{b} (\n+    'n' => 2\n",
            "'n' => 1",
            "'n' => 2",
        ),
    ],
)
def test_which_object_it_was_is_no_value(difference: str, expected: str, observed: str) -> None:
    """PHPUnit numbers each object that it shows, in each run otherwise."""
    numbers = {"a": f"{0x24DB:032x}", "b": f"{0x2364:032x}"}
    text = f"--- Expected\n+++ Actual\n@@ @@\n{difference} )\n\nt/T.php:9\n".format(**numbers)
    said = told_failure(text)
    assert said is not None
    assert (said.expected, said.observed) == (expected, observed)
    assert (said.file, said.line) == ("t/T.php", 9)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "ReferenceError: foo is not defined\n    at x (lib/a.js:3:1)\n",
            "ReferenceError: foo is not defined",
        ),
        ("    x_test.go:9: ==== case 17 ====\n", "case 17"),
        ("panic: runtime error: index out of range [3]\n", "runtime error: index out of range [3]"),
        ("thread 'a' panicked at src/a.rs:1:2:\nno such thing\n", "no such thing"),
    ],
)
def test_a_message_without_values(text: str, message: str) -> None:
    said = told_failure(text)
    assert said is not None
    assert said.message == message
    assert told_failure("all is well\n") is None


GO_WITHOUT_TESTS = (
    r'{"Action":"output","Package":"a.b/c","Output":"testing: warning: no tests to run\n"}'
)


@pytest.mark.parametrize(
    ("text", "none"),
    [
        ("No tests were found!!!\n", True),
        ("running 0 tests\n\nrunning 0 tests\n", True),
        ("TAP version 13\nCould not find 'test/b.test.mjs'\n", True),
        ("running 0 tests\n\nrunning 3 tests\ntest a ... ok\n", False),
        ("testing: warning: no tests to run\nPASS\n", True),
        ("testing: warning: no tests to run\nPASS\nok  \ta.b/c\t0.01s [no tests to run]\n", True),
        ("ok  \ta.b/c\t0.01s [no tests to run]\nok  \ta.b/d\t0.02s\n", False),
        (f"{GO_WITHOUT_TESTS}\n", True),
        (f'{{"Action":"run","Package":"a.b/d","Test":"TestX"}}\n{GO_WITHOUT_TESTS}\n', False),
        ("TAP version 13\n# tests 0\n# pass 0\n", True),
        ("ok 1 - a\n# tests 1\n# pass 1\n", False),
        (" Test Files  1 skipped (1)\n      Tests  343 skipped (343)\n", True),
        ("      Tests  3 skipped | 1 todo (4)\n", True),
        ("      Tests  1 passed | 342 skipped (343)\n", False),
        ("Test Suites: 1 skipped, 0 of 1 total\nTests:       3 skipped, 3 total\n", True),
        ("Tests:       2 skipped, 1 passed, 3 total\n", False),
        ("  0 passing (2ms)\n", True),
        ("  10 passing (2ms)\n", False),
        ("  0 passing (38ms)\n  1 failing\n\n  1) adds\n", False),
        ("ok\n", False),
        (
            "ERROR: T (unittest.loader._FailedTest.T)\n------\n"
            "AttributeError: module 't' has no attribute 'T'\n\n------\nRan 1 test in 0.0s\n",
            True,
        ),
        (
            "ERROR: t (unittest.loader._FailedTest.t)\n------\n"
            "ImportError: Failed to import test module: t\n",
            False,
        ),
        ("no tests ran in 0.01s\nERROR: not found: /r/test_a.py::test_b\n(no name …)\n", True),
        ("ERROR test_a.py\n1 error in 0.26s\nERROR: not found: /r/test_a.py::test_b\n", False),
        ("=== 2 warnings, 1 error in 0.26s ===\nERROR: not found: /r/test_a.py::test_b\n", False),
    ],
)
def test_a_pass_of_no_test(text: str, *, none: bool) -> None:
    assert no_test_ran(text) is none


RAISED_AGAIN = """\
--- FAIL: TestEncode (0.01s)
panic: runtime error: comparing uncomparable type a.b [recovered]
\tpanic: runtime error: comparing uncomparable type a.b

goroutine 20 [running]:
testing.tRunner.func1.2({0x5f2a20, 0xc000090bd0})
\t/usr/lib/go/src/testing/testing.go:1396 +0x24e
panic({0x5f2a20, 0xc000090bd0})
\t/usr/lib/go/src/runtime/panic.go:884 +0x212
example.org/a.(*Encoder).safe.func1()
\tencode.go:152 +0x78
panic({0x5f2a20, 0xc000090bd0})
\t/usr/lib/go/src/runtime/panic.go:884 +0x212
example.org/a.isEmpty({0x5fdbc0?, 0xc0000de150?})
\tencode.go:656 +0x119
example.org/a.(*Encoder).safe(0x61cb00?)
\tencode.go:155 +0x77
"""


def test_a_panic_of_go_began_where_it_was_first_raised() -> None:
    found = told_failure(RAISED_AGAIN)
    assert found is not None
    assert (found.file, found.line) == ("encode.go", 656)
    assert telling_text("goroutine 1 [running]:\nmain.f()\n\ta.go:3 +0x1\n").count("a.go:3") == 1


PASSED = """\
1/4 unit / adds        OK              0.01s
 2/10 inih:single+x / single file           OK              1.31s
3/4 known   EXPECTEDFAIL    0.01s   exit status 1
4/4 unit / subtracts a FAIL            0.01s   exit status 1
2/3 Test  #2: two words ........   Passed    0.00 sec
3/3 Test  #3: three ............***Failed    0.00 sec
PASS: suite_list
"""


def test_names_of_tests_that_passed() -> None:
    """As Meson, CTest and automake say them."""
    named = {"adds", "single file", "known", "two words", "suite_list"}
    assert passed_tests(PASSED) == named


PYTEST = """\
    def test_first():
        box = Box([1, 2, 3])
>       assert box.first() == 1, "box 'a == b' begins otherwise"
E       AssertionError: box 'a == b' begins otherwise
E       assert 2 == 1
E        +  where 2 = first()
E        +    where first = <lib.Box object at 0x7f>.first

../../out/test_out.py:6: AssertionError
=========================== short test summary info ============================
FAILED ../../out/test_out.py::test_first - AssertionError: box 'a == b' begins otherwise
1 failed in 0.03s
"""


def test_pytest_s_long_form_outside_of_the_repository() -> None:
    """The message was the signature, in which numbers and quoted texts are masked, and it had no line."""
    said = told_failure(PYTEST)
    assert said is not None
    assert (said.file, said.line) == ("out/test_out.py", 6)
    assert said.message == "AssertionError: box 'a == b' begins otherwise"
    assert (said.observed, said.expected) == ("2", "1")


CONFTEST = """\
ImportError while loading conftest '/r/tests/conftest.py'.
/r/tests/conftest.py:5: in <module>
    from shop.prices import Gone
src/shop/__init__.py:3: in <module>
    from shop.late import *
E   ModuleNotFoundError: No module named 'shop.late'
"""
COLLECTING = """\
_________________________ ERROR collecting tests/test_a.py _________________________
ImportError while importing test module '/r/tests/test_a.py'.
Hint: make sure your test modules/packages have valid Python names.
Traceback:
/usr/lib/python3.11/importlib/__init__.py:126: in import_module
    return _bootstrap._gcd_import(name[level:], package, level)
tests/test_a.py:1: in <module>
    from ops import gone
E   ImportError: cannot import name 'gone' from 'ops' (/r/ops.py)
=========================== short test summary info ============================
ERROR tests/test_a.py
"""
SHORT = """\
_____________________________________ test_a _______________________________________
tests/test_a.py:4: in test_a
    assert shown() == 2
E   assert 3 == 2
E    +  where 3 = shown()
"""


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        (CONFTEST, "ModuleNotFoundError: No module named 'shop.late'", ("src/shop/__init__.py", 3)),
        (
            COLLECTING,
            "ImportError: cannot import name 'gone' from 'ops' (/r/ops.py)",
            ("tests/test_a.py", 1),
        ),
        (SHORT, "AssertionError: assert 3 == 2", ("tests/test_a.py", 4)),
    ],
    ids=["conftest", "collecting", "short"],
)
def test_what_pytest_says_below_the_place(text: str, message: str, place: tuple[str, int]) -> None:
    """'exit status 4' was all that was told of a conftest.py that cannot be imported."""
    said = told_failure(text)
    assert said is not None
    assert said.message == message
    assert (said.file, said.line) == place
    assert told_failure(text[said.begins :]) == replace(said, begins=0), (
        "what is kept of it tells the same"
    )


@pytest.mark.parametrize(
    ("marked", "message", "values"),
    [
        ("assert 'a == b' == 'c'", "AssertionError: assert 'a == b' == 'c'", ("'a == b'", "'c'")),
        ("assert not True", "AssertionError: assert not True", ("", "")),
        ("assert <Box 1> == <Box 2>", "AssertionError: assert <Box 1> == <Box 2>", ("", "")),
        ("ValueError: no 7", "ValueError: no 7", ("", "")),
    ],
)
def test_what_pytest_compared(marked: str, message: str, values: tuple[str, str]) -> None:
    """An equality has two values where both can be read; all else is told by its message."""
    said = told_failure(
        f">       it()\nE       {marked}\n\ntests/test_a.py:6: {message.split(':', maxsplit=1)[0]}\n"
    )
    assert said is not None
    assert (said.message, said.observed, said.expected) == (message, *values)
    assert (said.file, said.line) == ("tests/test_a.py", 6)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            "dtc: a.dts\tPASS\ndtc: b.dts\tFAIL\terror 1\n*  PASS:\t1\n*  FAIL:\t1\n",
            "dtc: b.dts FAIL error 1",
        ),
        (
            "/x/a-test.cc:4: Failure\nValue of: f()\n  Actual: false\nExpected: true\n",
            "Value of: f()",
        ),
        ("[fail] nothing that is shouted\n", None),
        ("FAIL: one.sh\n# FAIL:  1\n# XFAIL: 0\n", None),  # the name alone: Automake
        ("1/2 demo FAIL 0.1 s\n", None),  # Meson
    ],
)
def test_a_line_of_a_script_that_says_fail(said: str, message: str | None) -> None:
    told = told_failure(said)
    assert (told.message if told else None) == message


def test_values_of_an_older_googletest() -> None:
    said = (
        'x/a-test.cc:4: Failure\n      Expected: "1,2"\nTo be equal to: f()\n      Which is: "12"\n'
    )
    told = told_failure(said)
    assert told is not None
    assert (told.observed, told.expected, told.line) == ('"12"', '"1,2"', 4)


@pytest.mark.parametrize(
    ("below", "values"),
    [
        (
            "At index 2 diff: '├── b0' != '│   b0'\n  Use -v to get more diff",
            ("'├── b0'", "'│   b0'"),
        ),
        (
            "Omitting 1 identical items\n  Differing items:\n  {'b': 2} != {'b': 3}",
            ("{'b': 2}", "{'b': 3}"),
        ),
        ("Right contains one more item: 7", ("['root', ...]", "['root', ...]")),
    ],
)
def test_of_what_is_too_long_the_part_that_differs(below: str, values: tuple[str, str]) -> None:
    """Both sides look the same where they are cut."""
    message = f"assert ['root', ...] == ['root', ...]\n  \n  {below}"
    assert compared_values(message) == values


def test_what_a_long_message_ends_with_is_said() -> None:
    """Its options filled the line, and "failed but should have passed" was cut off (validator.js)."""
    said = f"Error: isURL('a:1', {'x' * 500}) failed but should have passed"
    told = told_failure(
        f"  1 failing\n\n  1) isURL\n     {said}\n      at test (test/a.js:41:15)\n"
    )
    assert told is not None
    assert told.message.startswith("Error: isURL('a:1', xx")
    assert told.message.endswith("x) failed but should have passed")
    assert len(told.message) == 300
