"""Test files that take part in a search, because neither version passes with the other's: they are no causes."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_changes import change
from pipeline_runs import afterd, authored_git, checks_of_a_new_name, repository

from afterd.model.change import ChangeSet, FileKind
from afterd.model.outcome import Outcome, Unresolved, Verdict
from afterd.pipeline.undone_tests import UndoneTests

MAKEFILE = """\
.PHONY: test
test: test/tests.c {}
\t$(CC) $(CFLAGS) $< -o test/run
\t./test/run
"""
HARNESS = """\
#include "../{}"
static int failed;
static void test(int (*is_right)(void), const char *name) {{
  if (!is_right()) {{
    printf("FAILED: %s\\n", name);
    failed++;
  }}
}}
"""
WORDS_C = """\
#include "words.h"

int count(const char *text) {
  int found = 0, inside = 0;
  for (; *text; text++) {
    int space = *text == ' ';
    if (!space && !inside)
      found++;
    inside = !space;
  }
  return found;
}
"""
WORDS_H = """\
int count(const char *text);

#ifndef WORDS_HEADER
int count(const char *text) {
  int words = 0, within = 0;
  for (; *text != 0; text++) {
    const int apart = *text == ' ' || *text == ',';
    if (!apart && within <= 0)
      words++;
    within = apart ? 0 : 1;
  }
  return words > 1 ? words + 1 : words;
}
#endif
"""
OLD = (("one", "a", 1), ("two", "a b", 2), ("ends", "a ", 1))
NEW = (OLD[0], ("none", "", 0), *OLD[1:], ("comma", "x,y", 2), ("three", "a b c", 3))


def _tests(cases: tuple[tuple[str, str, int], ...]) -> str:
    functions = "\n".join(
        f'static int {name}(void) {{ return count("{text}") == {words}; }}'
        for name, text, words in cases
    )
    calls = "\n".join(f'  test({name}, "counts {name}");' for name, *_ in cases)
    main = (
        f'int main(void) {{\n{calls}\n  printf("%d failed\\n", failed);\n  return failed > 0;\n}}\n'
    )
    return f'#include <stdio.h>\n#include "test.h"\n\n{functions}\n\n{main}'


def _moved(path: Path) -> Path:
    """A library of a source file that became one of a header alone, with a fault: its tests include the one or the
    other, and have cases that the old one fails.
    """
    old = {
        "Makefile": MAKEFILE.format("words.c words.h"),
        "words.h": "int count(const char *text);\n",
        "words.c": WORDS_C,
        "test/test.h": HARNESS.format("words.c"),
        "test/tests.c": _tests(OLD),
    }
    repository(path, old)
    (path / "words.c").unlink()
    new = {
        "Makefile": MAKEFILE.format("words.h"),
        "words.h": WORDS_H,
        "test/test.h": HARNESS.format("words.h"),
        "test/tests.c": _tests(NEW),
    }
    return _next_version(path, new)


def _next_version(path: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (path / name).write_text(text)
    authored_git(path, "add", "-A")
    authored_git(path, "commit", "-qm", "Later")
    return path


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_a_library_that_moved_with_its_tests(tmp_path: Path) -> None:
    """The include of the tests was the root, and the header's whole text went along (jsmn)."""
    done = afterd("explain", "--format", "json", cwd=_moved(tmp_path))
    [found] = json.loads(done.out)["explanations"]
    assert done.status == 0, found
    assert "words.h" in {change["file"] for change in found["root"]}
    assert not any(change["file"].startswith("test/") for change in found["root"])
    assert ("words.h", 12, "c8") in _steps(found["tree"])


def _steps(node: Mapping[str, Any]) -> list[tuple[str, int, str | None]]:
    own = [(step["file"], step["line"], step["change"]) for step in node["steps"]]
    return own + [step for cause in node["causes"] for step in _steps(cause)]


def test_a_check_that_is_not_called_is_not_repaired(tmp_path: Path) -> None:
    """Of a suite whose tests have no names nobody knows which text is the failing one's."""
    make = f".PHONY: test\ntest:\n\tPYTHONPATH=. {sys.executable} test/check.py\n"
    old, new = checks_of_a_new_name("test/check.py")
    repository(tmp_path, {**old, "Makefile": make}, new)
    done = afterd("explain", "--format", "json", "--", "make", "test", cwd=tmp_path)
    [found] = json.loads(done.out)["explanations"]
    assert found["root"] == [], found


KNOWN = {
    each.id: replace(each, kind=kind)
    for each, kind in (
        (change(1, "ops.c"), FileKind.SOURCE),
        (change(2, "ops.h"), FileKind.SOURCE),
        (change(3, "test/list.c"), FileKind.TEST),
        (change(4, "test/ops.h"), FileKind.TEST),
    )
}
FAILS, PASSES = Outcome(Verdict.FAIL), Outcome(Verdict.PASS)
UNBUILT = Outcome(Verdict.UNRESOLVED, Unresolved.BUILD)
OTHERWISE = Outcome(Verdict.UNRESOLVED, Unresolved.DIFFERENT_FAILURE)


def changes_of(*numbers: int) -> ChangeSet:
    return frozenset(f"c{number}" for number in numbers)


def judge(seen: Mapping[ChangeSet, Outcome], own: ChangeSet | None = None) -> UndoneTests:
    return UndoneTests(KNOWN, own, lambda reverted: seen.get(reverted, UNBUILT))


def test_a_program_alone_is_an_answer_as_it_is() -> None:
    found = judge({}).repair(changes_of(1), changes_of(2))
    assert (found.root, found.auxiliary, found.reason) == (changes_of(1), changes_of(2), "")


def test_what_goes_along_of_the_program_is_told_by_what_is_not_built() -> None:
    seen = {changes_of(3): FAILS, changes_of(2, 3): FAILS}
    found = judge(seen).repair(changes_of(3), changes_of(1, 2))
    assert (found.root, found.auxiliary) == (changes_of(1), changes_of(2, 3))
    assert not found.reason


def test_tests_that_the_program_needs_go_along() -> None:
    """Alone they are not built; the others leave the failure as it was."""
    found = judge({changes_of(3): FAILS}).repair(changes_of(1), changes_of(3, 4))
    assert (found.root, found.auxiliary, found.reason) == (changes_of(1), changes_of(3, 4), "")


@pytest.mark.parametrize(
    ("alone", "says"), [(PASSES, "passes too"), (OTHERWISE, "fails otherwise")]
)
def test_a_failure_that_goes_with_the_tests_is_not_repaired(alone: Outcome, says: str) -> None:
    found = judge({changes_of(3): alone}).repair(changes_of(1), changes_of(3, 4))
    assert says in found.reason
    assert "c3 in test/list.c" in found.reason


def test_other_tests_than_the_failing_one_may_go_along() -> None:
    found = judge({changes_of(3): OTHERWISE}, own=changes_of(4)).repair(
        changes_of(3), changes_of(1)
    )
    assert (found.root, found.auxiliary, found.reason) == (changes_of(1), changes_of(3), "")


def test_tests_alone_are_no_culprit_but_what_the_failing_one_uses() -> None:
    whole = changes_of(3), changes_of(4)
    assert "it is the test that changed" in judge({}).repair(*whole).reason
    assert "it is the test that changed" in judge({}, own=changes_of(4)).repair(*whole).reason
    assert not judge({}, own=changes_of(1)).repair(*whole).reason
