"""The comment on a pull request: whatever it is made of, its markup is ours and it fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from explanation_samples import C2, C3, C7, RUNNING_EXAMPLE, TREE, explanations
from hostile_texts import ATTACKS, random_texts
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from afterd.model.explanation import (
    CauseNode,
    Explanation,
    Failure,
    RevisionRange,
    RunCounts,
    Seconds,
    Status,
    TreeStep,
)
from afterd.model.outcome import FailureKind
from afterd.report.comment import MARKER, MOST_NODES, SMALLEST, comment, gist, graph
from afterd.report.markdown import LIMIT
from afterd.report.received import Received
from afterd.report.sanitize import one_line
from afterd.report.verdicts import TestVerdict, VerdictKind, actionable, verdicts_of

COMMIT = "b" * 40
MARKDOWN = MarkdownIt("commonmark", {"html": True})


class Tags(HTMLParser):
    """Counts our tags and fails on any other; keeps the text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in {"details", "summary", "code", "sub"}
        assert attrs in ([], [("open", None)])
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def flat(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from flat(token.children or [])


def quoted(text: str) -> str:
    """All code and HTML text, after checking that fences and details are balanced and ours."""
    assert text.startswith(f"{MARKER}\n")
    assert text.encode()  # no surrogate is left
    tags, code, headings = Tags(), "", 0
    for token in flat(MARKDOWN.parse(text.removeprefix(MARKER))):
        headings += token.type == "heading_open"
        if token.type in {"html_block", "html_inline"}:
            tags.feed(token.content)
        elif token.type in {"fence", "code_inline"}:
            code += token.content + "\n"
            assert token.type != "fence" or token.info in {"", "sh", "diff", "mermaid"}
        elif token.type == "text":
            assert not set("@#") & set(token.content)
        assert token.type not in {"image", "code_block", "blockquote_open", "hr", "table_open"}
    tags.close()
    assert tags.open == []
    assert headings <= 1 + text.count("\n### ")
    return code + tags.text


def of(*given: Explanation) -> Received:
    return Received(given, verdicts_of(given), COMMIT)


def link(file: str, line: int) -> str:
    return f"https://forge.example/o/r/blob/{COMMIT}/{file}#L{line}"


def test_the_running_example() -> None:
    text = comment(of(RUNNING_EXAMPLE), link)
    lines = text.split("\n")
    assert lines[2] == "## afterd: 1 caused by this change"
    assert lines[4].startswith("- `make check`: caused by this change – `c2` and `c3` at `sum.c:5`")
    assert f"[`sum.c:13`](https://forge.example/o/r/blob/{COMMIT}/sum.c#L13)" in text
    assert "```mermaid\nflowchart TD" in text
    assert "afterd explain aaaaaaaaaa..bbbbbbbbbb" in text
    assert text.index("## afterd") < text.index("**Why**") < text.index("<summary>The revert")
    assert "afterd patch" not in text  # a reader has no database
    quoted(text)


def test_verdicts_that_matter_come_first_and_titles_count_them() -> None:
    verdicts = tuple(
        TestVerdict(f"t{number}", kind, 0.25 if kind is VerdictKind.FLAKY else None, "why")
        for number, kind in enumerate(reversed(VerdictKind))
    )
    text = comment(Received((), verdicts, COMMIT))
    assert [line.split("`")[1] for line in text.split("\n") if line.startswith("- ")] == [
        "t4", "t3", "t2", "t1", "t0",
    ]  # fmt: skip
    assert "(its other outcome in 25% of runs) (why)" in text
    assert "## afterd: 1 caused by this change, 1 flaky, 1 already red before it" in text


@pytest.mark.parametrize(
    ("kinds", "acted_on"),
    [
        ([], False),
        ([VerdictKind.ALREADY_RED, VerdictKind.BROKEN], False),
        ([VerdictKind.ALREADY_RED, VerdictKind.FLAKY], True),
        ([VerdictKind.CAUSED], True),
        ([VerdictKind.UNDETERMINED], True),
    ],
)
def test_only_news_is_acted_on(kinds: list[VerdictKind], acted_on: bool) -> None:
    assert actionable([TestVerdict("t", kind) for kind in kinds]) is acted_on


def hostile(attack: str) -> Explanation:
    step = TreeStep(attack, 1, attack, attack, attack, attack, "c2")
    return replace(
        RUNNING_EXAMPLE,
        test=attack,
        reason=attack,
        failure=Failure(FailureKind.CRASH, attack, attack, 1, attack, attack),
        root=(replace(C2, file=attack, symbol=attack, patch="@@ -5 +5 @@\n-" + attack + "\n+x\n"),),
        tree=CauseNode(attack, attack, 1, (step,), (CauseNode(attack, attack, 2, (step,)),)),
        notes=(attack,),
        build_command=("sh", "-c", attack),
        test_command=(attack, attack),
    )


def test_attacks_are_quoted_and_do_nothing() -> None:
    for attack in [*ATTACKS, *random_texts(100)]:
        shown = quoted(comment(of(hostile(attack)), link))
        if len(attack) < 100:
            assert one_line(attack) in shown
        verdict = TestVerdict(attack, VerdictKind.FLAKY, reason=attack)
        quoted(comment(Received((), (verdict,), COMMIT)))


@given(given=st.lists(explanations, max_size=3), limit=st.sampled_from([0, 4_000, 9_000, LIMIT]))
@settings(max_examples=80)
def test_any_comment_is_balanced_and_fits(given: list[Explanation], limit: int) -> None:
    text = comment(of(*given), link, limit)
    assert len(text) <= max(limit, SMALLEST)
    quoted(text)


@pytest.mark.parametrize("count", [1, 40, 1000])
@pytest.mark.parametrize("limit", [SMALLEST, 10_000, LIMIT, 65_536])
def test_too_much_is_cut_between_blocks(count: int, limit: int) -> None:
    long = replace(
        hostile("`" * 900 + "\u202e"),
        root=(replace(C2, patch="@@ -5 +5 @@\n-" + "x" * 50_000 + "\n+y\n"), C3) * 30,
    )
    text = comment(of(*(replace(long, test=f"t{n}" * 100) for n in range(count))), link, limit)
    assert len(text) <= limit
    assert limit < LIMIT or len(text) > limit // 4 or count == 1
    assert "left out" in text or "Cut to fit" in text or "more" in text
    quoted(text)


def test_the_command_to_repeat_names_no_place_of_this_machine() -> None:
    test = ("/home/me/.venv/bin/python", "-m", "pytest", "/data/x")
    shown = comment(of(replace(RUNNING_EXAMPLE, test_command=test)))
    assert "--test 'python -m pytest /data/x'" in shown


OTHER_RUN = replace(
    RUNNING_EXAMPLE,
    id=9,
    range=RevisionRange("a" * 40, "d" * 40),
    runs=RunCounts(tests=40, builds=7, seconds=Seconds(total=99.0)),
)


@pytest.mark.parametrize(
    ("given", "same"),
    [
        (Received((OTHER_RUN,), verdicts_of([OTHER_RUN]), "d" * 40), True),
        (of(replace(RUNNING_EXAMPLE, root=RUNNING_EXAMPLE.root[:1])), False),
        (of(replace(RUNNING_EXAMPLE, verified=not RUNNING_EXAMPLE.verified)), False),
        (of(RUNNING_EXAMPLE, replace(RUNNING_EXAMPLE, test="other")), False),
        (of(replace(RUNNING_EXAMPLE, status=Status.GREEN)), False),
    ],
)
def test_another_commit_that_changes_nothing_has_the_same_gist(
    given: Received, *, same: bool
) -> None:
    assert (gist(given) == gist(of(RUNNING_EXAMPLE))) is same
    assert comment(given, link).split("\n")[1] == gist(given)


def test_a_green_comment_says_so() -> None:
    text = comment(of(replace(RUNNING_EXAMPLE, status=Status.GREEN)))
    assert "## afterd: no test fails" in text


def test_the_graph_is_small_and_its_labels_are_inert() -> None:
    assert graph(replace(RUNNING_EXAMPLE, tree=None)) == ""
    wide = replace(TREE, causes=(CauseNode("p", "f", 1, ()),) * 20)
    text = graph(replace(RUNNING_EXAMPLE, tree=wide))
    assert text.count("]") == MOST_NODES + 2  # a node each, "13 more", and the change
    assert 'more["13 more"]' in text
    label = '"]; click n0 "javascript:alert(1)" <b>`x` end\n%%{init: {}}%%'
    for line in graph(replace(RUNNING_EXAMPLE, tree=CauseNode(label, label, 1, ()))).split("\n")[
        1:
    ]:
        inner = line.removeprefix('  n0["').removesuffix('"]')
        assert not set(inner) & set('"<>`[](){}|%\\')


def test_the_graph_marks_where_changes_enter() -> None:
    lines = graph(RUNNING_EXAMPLE).split("\n")
    assert (
        '  n0["sum #61;#61; 4 at sum.c#58;13"]' in lines
        or '  n0["sum == 4 at sum.c#58;13"]' in lines
    )
    assert "  n0 --> c3" in lines
    assert "  n1 --> c2" in lines
    assert "  n0 -->|observed| n1" in lines
    assert C7.id not in "".join(lines)
