"""Live progress: lines where nobody redraws, a picture where somebody does, never an error."""

from __future__ import annotations

import io
import re
import threading
from dataclasses import replace

import pytest
from hostile_texts import ATTACKS
from rich.console import Console

from afterd.model.change import NOTHING
from afterd.model.outcome import Outcome, Unresolved, Verdict
from afterd.model.progress import Progress
from afterd.report.live import LiveProgress, listening, tried_sentence

PASS = Outcome(Verdict.PASS)


def story(progress: Progress) -> None:
    progress.stage("building", "the bad version")
    progress.tried(NOTHING, Outcome(Verdict.FAIL), 1)
    progress.suspects({"c3": {}, "c2": {}})
    progress.tried(frozenset({"c10", "c2"}), PASS, 2)


def test_without_a_terminal_it_is_a_line_an_event() -> None:
    stream = io.StringIO()
    with listening(Console(file=stream, width=40)) as progress:
        story(progress)
    lines = [re.sub(r"^\[ *[\d.]+ s\] ", "", line) for line in stream.getvalue().splitlines()]
    assert lines == [
        "building: the bad version",
        "run 1: as it is it fails the same way",
        "suspected: c3, c2",
        "run 2: with c2, c10 undone it passes",
    ]


def test_what_is_asked_for_again_is_not_told_again() -> None:
    stream = io.StringIO()
    with listening(Console(file=stream, width=40)) as progress:
        for outcome in (replace(PASS, warm=True), replace(PASS, cached=True), PASS):
            progress.tried(frozenset({"c1"}), outcome, 1)
        progress.tried(frozenset({"c2"}), replace(PASS, cached=True), 1)
    lines = [re.sub(r"^\[ *[\d.]+ s\] ", "", line) for line in stream.getvalue().splitlines()]
    assert lines == [
        "run 1: with c1 undone it passes, in a warm process",
        "run 1: with c1 undone it passes",
        "with c2 undone it passes, known from before",
    ]


def test_what_goes_on_without_a_known_end_is_told_as_it_doubles() -> None:
    stream = io.StringIO()
    with listening(Console(file=stream, width=40)) as progress:
        for done in (16_000, 31_000, 32_000, 40_000):
            progress.advanced(done, "events")
        progress.advanced(5, "others")
        progress.stage("reading")
        progress.advanced(41_000, "events")
    lines = [re.sub(r"^\[ *[\d.]+ s\] ", "", line) for line in stream.getvalue().splitlines()]
    assert lines == ["16,000 events", "32,000 events", "5 others", "reading", "41,000 events"]


def test_a_terminal_sees_how_far_a_stage_is_until_the_next_one() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=80)
    progress = LiveProgress()
    for told, seen in ((32_000, True), (0, False)):
        if told:
            progress.advanced(told, "events")
        else:
            progress.stage("reading")
        drawn = console.render_lines(progress)
        text = "".join(segment.text for line in drawn for segment in line)
        assert ("32,000 events" in text) is seen


def test_a_terminal_sees_the_present_and_nothing_stays() -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=80)
    with listening(console) as progress:
        assert isinstance(progress, LiveProgress)
        story(progress)
        drawn = console.render_lines(progress)
        console.print()
    text = "\n".join("".join(segment.text for segment in line) for line in drawn)
    assert "building: the bad version" in text
    assert "2 test runs; with c2, c10 undone it passes" in text
    assert "suspected: c3, c2" in text


@pytest.mark.parametrize(
    ("outcome", "sentence"),
    [
        (Outcome(Verdict.FAIL), "with c1 undone it fails the same way"),
        (
            Outcome(Verdict.UNRESOLVED, Unresolved.BUILD),
            "with c1 undone it cannot tell (does not build)",
        ),
        (Outcome(Verdict.PASS, cached=True), "with c1 undone it passes, known from before"),
    ],
)
def test_sentences(outcome: Outcome, sentence: str) -> None:
    assert tried_sentence(frozenset({"c1"}), outcome) == sentence


def test_many_suspects_are_counted() -> None:
    stream = io.StringIO()
    with listening(Console(file=stream, width=200)) as progress:
        progress.suspects({f"c{number}": {} for number in range(1, 31)})
    assert "c7, c8 and 22 more" in stream.getvalue()


@pytest.mark.parametrize("terminal", [True, False])
def test_hostile_names_are_shown(terminal: bool) -> None:
    for attack in ATTACKS:
        stream = io.StringIO()
        console = Console(file=stream, force_terminal=terminal, width=100)
        with listening(console) as progress:
            progress.stage(attack, attack)
            progress.suspects({attack: {}})
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue())
        assert not re.search("[\0-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e]", text)


def test_a_closed_stream_ends_nothing() -> None:
    stream = io.StringIO()
    with listening(Console(file=stream, width=100)) as progress:
        stream.close()
        story(progress)


def test_calls_come_from_any_thread() -> None:
    progress = LiveProgress()
    threads = [threading.Thread(target=story, args=(progress,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Console(file=io.StringIO()).render_lines(progress)
