"""The terminal report: what stands where, at every width, in every encoding (row 47)."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from explanation_samples import C2, C7, RUNNING_EXAMPLE, TREE, explanations
from hostile_texts import ATTACKS
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from afterd.model.explanation import (
    CauseNode,
    Evidence,
    Explanation,
    Failure,
    RankedLine,
    Status,
    TreeStep,
)
from afterd.model.location import LineSpan
from afterd.model.outcome import FailureKind
from afterd.report.summary import next_steps
from afterd.report.terminal import TerminalReport

GOLDEN = Path(__file__).parent / "golden"
SEQUENCES = re.compile(r"\x1b\[[0-9;]*m")


def shown(
    explanation: Explanation,
    width: int = 100,
    *,
    colour: bool = False,
    encoding: str = "utf-8",
    whole: bool = False,
) -> str:
    """What a terminal of this width and encoding gets, without trailing spaces."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, errors="backslashreplace")
    console = Console(file=stream, width=width, force_terminal=colour)
    console.print(TerminalReport(explanation, whole=whole), crop=False)
    stream.flush()
    return trimmed(raw.getvalue().decode(encoding))


def trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n"))


OTHERS = {
    "inconclusive": replace(
        RUNNING_EXAMPLE,
        status=Status.INCONCLUSIVE,
        reason="The budget of 5m is spent with 3 changes still suspected.",
        out_of_budget=True,
        root=(),
        auxiliary=(),
        verified=False,
        minimal=None,
    ),
    "flaky": replace(
        RUNNING_EXAMPLE,
        status=Status.FLAKY,
        reason="The bad version passed in 3 of 10 runs.",
        root=(),
        auxiliary=(),
        failure=None,
        tree=None,
        ranking=(),
    ),
    "already-red": replace(
        RUNNING_EXAMPLE,
        status=Status.ALREADY_RED,
        reason="No revision was found at which the test passes, back to the first commit.",
        root=(),
        auxiliary=(),
        tree=None,
        ranking=(),
    ),
    "broken": replace(
        RUNNING_EXAMPLE,
        status=Status.BROKEN,
        reason="The build of the bad version fails: sum.c:3: error: expected ';'.",
        root=(),
        auxiliary=(),
        failure=None,
        tree=None,
        ranking=(),
    ),
    "green": replace(
        RUNNING_EXAMPLE,
        status=Status.GREEN,
        root=(),
        auxiliary=(),
        failure=None,
        tree=None,
        ranking=(),
        notes=(),
    ),
}

UNROOTED = replace(RUNNING_EXAMPLE, root=(), auxiliary=())
"""Without a root there is no story: the tree is shown as it is."""


@pytest.mark.parametrize("name", ["explained", *OTHERS])
def test_golden(name: str) -> None:
    explanation = OTHERS.get(name, RUNNING_EXAMPLE)
    assert shown(explanation) == (GOLDEN / f"{name}.txt").read_text()


def test_the_verdict_is_the_first_line_and_says_it_all() -> None:
    first = shown(RUNNING_EXAMPLE).split("\n")[0]
    assert first == "✗ make check fails because of c2 and c3"


def test_a_reader_finds_place_values_evidence_and_commands() -> None:
    text = shown(RUNNING_EXAMPLE)
    for needle in (
        "sum.c:5 in sum_of by bbbbbbbbbb",
        "→ 13  sum == 4",
        "1 where 4 was expected",
        "sum = sum - z;  c3",
        "sum = 1; without them 4",
        "+        if (x > y)",
        "3 test runs to search (no fewer than 3 for 2 causes)",
        "afterd patch 42 | git apply -3",
        "afterd replay 42 --revert c2,c3,c7",
    ):
        assert needle in text


def test_fewer_runs_than_the_floor_are_not_held_against_it() -> None:
    """'0 test runs (no fewer than 1)' stood where the ends' own runs showed the answer."""
    runs = replace(RUNNING_EXAMPLE.runs, tests=0)
    text = shown(replace(RUNNING_EXAMPLE, runs=runs))
    assert "0 test runs to search, " in text
    assert "no fewer than" not in text


def test_runs_that_confirm_are_no_part_of_what_the_floor_is_held_against() -> None:
    """An answer that only warm processes saw is run once more, and that run was not in the count beside the floor."""
    runs = replace(RUNNING_EXAMPLE.runs, tests=3, confirmation=7, warm=6)
    text = shown(replace(RUNNING_EXAMPLE, runs=runs), 300)
    assert "3 test runs to search (no fewer than 3 for 2 causes), " in text
    assert "7 to confirm outcomes (6 of these 10 in a warm process)" in text


def test_the_headline_names_the_line_at_which_the_change_acts() -> None:
    """A hunk may begin with a comment: the first step of the story was another line than the headline's."""
    longer = replace(C2, new=LineSpan(3, 4))
    one = replace(RUNNING_EXAMPLE, root=(longer,))
    assert "fails because of c2 at sum.c:5" in shown(one)
    assert "c2  sum.c:5 in sum_of" in shown(one)
    assert "fails because of c2 at sum.c:3" in shown(replace(one, tree=None))


@pytest.mark.parametrize("width", [20, 24, 40, 60, 79, 80, 120, 200])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
@pytest.mark.parametrize("explanation", [RUNNING_EXAMPLE, *OTHERS.values()], ids=lambda e: e.status)
def test_no_line_is_wider_than_the_terminal(
    explanation: Explanation, encoding: str, width: int
) -> None:
    text = shown(explanation, width, encoding=encoding)
    commands = [f"  {command}  # {purpose}" for command, purpose in next_steps(explanation)]
    lines = text.split("\n")
    assert commands == lines[len(lines) - 1 - len(commands) : -1]  # whole, to be copied
    assert max(map(cell_len, lines[: len(lines) - 1 - len(commands)])) <= width
    assert "make" in text
    if encoding == "ascii":
        assert text.isascii()
        assert "\\u" not in text


def test_a_file_whose_line_is_not_known_has_none() -> None:
    failure = Failure(FailureKind.EXCEPTION, "KeyError: 'x'", "shop.py")
    text = shown(replace(RUNNING_EXAMPLE, failure=failure))
    assert re.search(r"→ shop\.py  KeyError: 'x'\n", text)
    assert "shop.py:" not in text


def test_colours_only_where_they_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert SEQUENCES.search(shown(RUNNING_EXAMPLE, colour=True))
    assert not SEQUENCES.search(shown(RUNNING_EXAMPLE))
    monkeypatch.setenv("NO_COLOR", "1")
    plain = trimmed(SEQUENCES.sub("", shown(RUNNING_EXAMPLE, colour=True)))
    assert plain == shown(RUNNING_EXAMPLE)
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", shown(RUNNING_EXAMPLE, colour=True))


def test_a_dumb_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    assert not SEQUENCES.search(shown(RUNNING_EXAMPLE))


@given(explanation=explanations, width=st.integers(20, 200))
@settings(max_examples=80)
def test_any_explanation_is_shown_without_a_control_byte(
    explanation: Explanation, width: int
) -> None:
    output = SEQUENCES.sub("", shown(explanation, width, colour=True))
    assert not re.search("[\0-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", output)
    assert output.strip()


@pytest.mark.parametrize("attack", ATTACKS, ids=range(len(ATTACKS)))
def test_hostile_names_obey_nobody(attack: str) -> None:
    step = TreeStep(attack, 1, attack, attack, attack, attack, "c2", Evidence.PROVED)
    hostile = replace(
        RUNNING_EXAMPLE,
        test=attack,
        reason=attack,
        failure=Failure(FailureKind.CRASH, attack, attack, 1, attack, attack),
        root=(replace(C2, file=attack, symbol=attack, patch="@@ -1 +1 @@\n-" + attack),),
        tree=replace(TREE, predicate=attack, file=attack, steps=(step,)),
        notes=(attack,),
    )
    output = SEQUENCES.sub("", shown(hostile, colour=True))
    assert not re.search("[\0-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", output)
    assert "→ " in output
    whole = SEQUENCES.sub("", shown(hostile, colour=True, whole=True))
    assert not re.search("[\0-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", whole)
    assert "Why: from the failure back" in whole


def test_a_long_cause_keeps_its_ends_and_its_changes() -> None:
    steps = [replace(TREE.steps[2], line=number, observed=str(number)) for number in range(100)]
    steps[50] = replace(steps[50], change="c9")
    long = replace(UNROOTED, tree=replace(TREE, steps=tuple(steps), causes=()))
    text = shown(long)
    assert "◀ c9" in text
    assert "… 46 more steps" in text
    assert "… 45 more steps" in text
    assert shown(long, whole=True).count("else sum = y;") == 100
    loop = [replace(step, change="c9", line=7) for step in steps]
    text = shown(replace(UNROOTED, tree=replace(TREE, steps=tuple(loop), causes=())))
    assert text.count("◀ c9") == 10


def test_what_only_hands_on_a_value_is_counted_not_shown() -> None:
    """Parameters and copies between where a value was made and where it came out."""
    carried = [replace(TREE.steps[2], line=number, text=f"step {number}") for number in range(6)]
    made = replace(carried[-1], text="made()", change="c9")
    causes = replace(TREE, steps=(*carried, made), causes=())
    text = shown(replace(UNROOTED, tree=causes))
    assert "step 0" in text
    assert "made()" in text
    assert "step 3" not in text
    assert "… 5 more steps" in text
    assert "step 3" in shown(replace(UNROOTED, tree=causes), whole=True)


def test_a_deep_chain_stays_on_the_screen() -> None:
    """A chain of single causes does not indent; forks stop indenting where the screen ends."""
    chain = CauseNode("p", "f.c", 1, TREE.steps)
    for _ in range(60):
        chain = replace(chain, causes=(chain,))
    forks = CauseNode("p", "f.c", 1, TREE.steps)
    for _ in range(6):
        forks = replace(forks, causes=(forks, forks))
    for tree in (chain, forks):
        text = shown(replace(UNROOTED, tree=tree), 40, whole=True)
        assert max(map(cell_len, text.partition("\nNext\n")[0].split("\n"))) <= 40
        assert text.count("because") > 50
        assert "--all" in shown(replace(UNROOTED, tree=tree), 40)


def test_a_cause_never_looks_like_its_siblings_child_or_its_childs_sibling() -> None:
    def node(name: str, *causes: CauseNode) -> CauseNode:
        return CauseNode(name, "f.c", 1, (), causes)

    tree = node("top", node("one", node("one.one", node("one.one.one"))), node("two"))
    text = shown(replace(UNROOTED, tree=tree))
    indent = {
        name: next(
            line for line in text.split("\n") if line.endswith(f"because {name}  f.c:1")
        ).index("○")
        for name in ("one", "one.one", "one.one.one", "two")
    }
    assert indent["one"] == indent["two"] < indent["one.one"] == indent["one.one.one"]


def test_a_message_of_many_lines_keeps_them_and_is_cut() -> None:
    assert RUNNING_EXAMPLE.failure is not None
    failure = replace(RUNNING_EXAMPLE.failure, message="one\ntwo\n" + "x" * 5000)
    text = shown(replace(UNROOTED, failure=failure))
    assert re.search(r"one\n\s+two\n", text)
    assert "…" in text
    assert len(text) < 5000


def test_all_shows_the_failure_the_tree_and_the_notes() -> None:
    text, short = shown(RUNNING_EXAMPLE, whole=True), shown(RUNNING_EXAMPLE)
    for needle in (
        "observed  1",
        "sum = sum - z;  ◀ c3",
        "sum = 1  (green: 4)",
        "● because x < y is false",
        "Note: ",
    ):
        assert needle in text
        assert needle not in short


def test_what_a_reader_has_to_know_is_shown_with_the_story_too() -> None:
    """That 360 tests were red before stood under --all alone."""
    text = shown(replace(RUNNING_EXAMPLE, remarks=("360 tests were red before: a, b.",)))
    assert "Note: 360 tests were red before: a, b." in text
    assert "came from outside" not in text


def test_what_goes_along_is_listed_below_one_sentence() -> None:
    """Each of twelve had it, and the subject of the commit of all."""
    along = tuple(replace(C7, id=f"c{number}", commits=C2.commits) for number in (7, 8, 9))
    [commit] = C2.commits
    several = replace(RUNNING_EXAMPLE, auxiliary=along)
    written = io.StringIO()
    console = Console(file=written, width=120)
    console.print(TerminalReport(several, subjects={commit: "Compare"}))
    text = written.getvalue()
    assert text.count("put back, it does not build") == 1
    assert text.count("Compare") == 1


def test_of_many_commits_that_wrote_a_change_few_are_named() -> None:
    """Seven lines of subjects stood before the first line of ufo's answer; all commits are in JSON."""
    written_by = tuple(f"{number}" * 40 for number in range(6))
    [first, *others] = RUNNING_EXAMPLE.root
    text = shown(replace(RUNNING_EXAMPLE, root=(replace(first, commits=written_by), *others)))
    assert "by 0000000000, 1111111111 and 4 more" in " ".join(text.split())


def test_without_a_root_the_ranking_says_where_to_look() -> None:
    text = shown(OTHERS["inconclusive"])
    assert "Where to look first" in text
    assert re.search(r"0\.97\s+sum\.c:10\s+sum = sum - z;", text)


def test_more_time_is_offered_where_time_ended_it() -> None:
    spent = OTHERS["inconclusive"]
    assert "--budget 2h" in shown(spent)
    dear = replace(spent, out_of_budget=False, reason="None of the budget's changes makes it pass.")
    assert "--budget" not in shown(dear)
    assert "--strategy dd" in shown(dear)


def test_an_unchecked_minimality_is_said() -> None:
    assert "not checked" in shown(replace(RUNNING_EXAMPLE, minimal=None))
    assert "Not seen" in shown(replace(RUNNING_EXAMPLE, verified=False))
    assert "smaller set" in shown(replace(RUNNING_EXAMPLE, minimal=False))


def test_a_patch_of_lines_with_tabs_is_read_as_it_is_written() -> None:
    """A line of C began with the escapes of its tabs."""
    patch = "@@ -1,2 +1,2 @@\n \tp = f();\n-\tif (p)\t/* x */\n+\tif (!p)\n"
    text = shown(replace(RUNNING_EXAMPLE, root=(replace(C2, patch=patch),)))
    assert "  -    if (!p)\n  +    if (p)  /* x */\n" in text
    ends = "@@ -1 +1 @@\n-if (p)\r\n+if (!p)\r\n"
    text = shown(replace(RUNNING_EXAMPLE, root=(replace(C2, patch=ends),)))
    assert "  -if (!p)\n  +if (p)\n" in text, "a file with line ends of Windows"
    blank = "@@ -1 +1 @@\n-\techo\n+    echo\n"
    text = shown(replace(RUNNING_EXAMPLE, root=(replace(C2, patch=blank),)))
    assert "  -    echo\n  +\\techo\n" in text
    mixed = "@@ -1,3 +1 @@\n-    }\n+    {\n+\tif (p) {\n+\t}\n+    }\n"
    text = shown(replace(RUNNING_EXAMPLE, root=(replace(C2, patch=mixed),)))
    assert "\\t" not in text, "sudo: two lines of one side may differ in nothing else"


def test_long_ranking_is_cut() -> None:
    lines = tuple(RankedLine("f.c", number, 0.5, {}, "x") for number in range(1, 50))
    text = shown(replace(OTHERS["inconclusive"], ranking=lines))
    assert "f.c:10 " in text
    assert "f.c:11 " not in text


def test_one_execution_of_a_statement_is_one_line() -> None:
    """In jq, a tree had the same statement in three lines: its variable, a value, a macro's variable."""
    line = TreeStep("a.c", 81, "int end = MIN(loc.end, n);", "end", "1", "not executed", "c7")
    between = replace(line, target="", observed="1")
    other = replace(line, target="_b", observed="2")
    loop = [replace(line, line=9, target="i", observed=str(n), green=str(n)) for n in (3, 2, 1)]
    far = replace(line, line=2, target="p", observed="0x55550000aa", green="0x55550000bb")
    steps = (line, between, other, *loop, far)
    text = shown(replace(UNROOTED, tree=replace(TREE, steps=steps, causes=())))
    assert text.count("int end = MIN") == 1 + 3 + 1
    assert "end = 1, _b = 2  (green: not executed)" in text
    assert "p = 0x55550000aa  (green: another address)" in text
