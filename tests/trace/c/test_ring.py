"""The ring that a traced program fills: laps, windows, watches, and what is left after every ending."""

from __future__ import annotations

import ctypes
import os
import random
import resource
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from self_check import check
from traced_programs import Built, Laboratory

from afterd.compare.c.outer_calls import call_pairs
from afterd.trace.c.build.traced_build import recording_into
from afterd.trace.c.read.process import Process
from afterd.trace.c.window import records
from afterd.trace.c.window.recording import Recording

SMALL = 8192  # records: the smallest ring there is
LARGE = 1 << 19
_FIXED_ADDRESSES = 0x0040000


@pytest.fixture
def stretch(corpus: dict[str, Built]) -> Built:
    return corpus["stretch"]


def fixed_addresses() -> None:
    ctypes.CDLL(None).personality(_FIXED_ADDRESSES)


def record(
    built: Built,
    directory: Path,
    *arguments: str,
    before: Callable[[], None] = fixed_addresses,
    **settings: str,
) -> Path:
    """Run a program with recording on and addresses fixed; the directory of its first process."""
    directory.mkdir()
    blocks = str(built.laboratory.store.blocks())
    traced = recording_into(directory, {"AFTERD_BLOCKS": blocks, **settings})
    line = [str(built.traced), *arguments]
    environment = {"PATH": os.environ["PATH"], **traced}
    subprocess.run(line, env=environment, preexec_fn=before, check=False, capture_output=True)
    return directory / "000000"


@pytest.mark.parametrize(
    "line", ["env -i {0} 5; true", "(env -i sh -c '{0} 5; true'); true", "env AFTERD_TRACE= {0} 5"]
)
def test_a_program_is_recorded_whose_environment_is_empty(
    stretch: Built, tmp_path: Path, line: str
) -> None:
    """The_silver_searcher is tested without a TERM: nothing was recorded."""
    settings = {"AFTERD_BLOCKS": str(stretch.laboratory.store.blocks()), "AFTERD_RING": str(SMALL)}
    traced = recording_into(tmp_path, settings)
    environment = {"PATH": os.environ["PATH"], **traced}
    subprocess.run(["sh", "-c", line.format(stretch.traced)], env=environment, check=True)
    assert (tmp_path / "000000").exists() is ("AFTERD_TRACE=" not in line)


@pytest.mark.parametrize("rounds", [1, 5, 9, 14, 23, 40])
def test_a_window_is_the_end_of_the_whole(stretch: Built, tmp_path: Path, rounds: int) -> None:
    whole = Recording(record(stretch, tmp_path / "whole", str(rounds), AFTERD_RING=str(LARGE)))
    window = Recording(record(stretch, tmp_path / "small", str(rounds), AFTERD_RING=str(SMALL)))
    assert whole.first == 0
    assert window.end == whole.end
    assert min(SMALL, whole.end) - window.end + window.first <= 1500, "more was lost than is zero"
    kept = slice(window.first, None)
    assert np.array_equal(window.window.a, whole.window.a[kept])
    assert np.array_equal(window.window.b, whole.window.b[kept])
    assert np.array_equal(window.counts(), whole.counts())


def test_blocks_in_a_row_write_no_more_than_there_is_room_for(
    corpus: dict[str, Built], tmp_path: Path
) -> None:
    built = corpus["long_way"]
    whole = Recording(record(built, tmp_path / "whole", "60", AFTERD_RING=str(LARGE)))
    window = Recording(record(built, tmp_path / "small", "60", AFTERD_RING=str(SMALL)))
    assert whole.first == 0
    assert window.end == whole.end > 4 * SMALL
    assert np.array_equal(window.window.a, whole.window.a[window.first :])
    assert np.array_equal(window.window.b, whole.window.b[window.first :])


def test_every_record_of_a_wrapped_ring_is_read_right(stretch: Built, tmp_path: Path) -> None:
    directory = record(stretch, tmp_path / "run", "30", AFTERD_RING=str(SMALL))
    process = Process(Recording(directory), stretch.processes[0].program)
    assert process.recording.first > 0
    assert not check(process).wrong


def test_watches_find_what_a_search_of_the_whole_finds(stretch: Built, tmp_path: Path) -> None:
    """Random questions, eight a run: the last record of a pattern, the last write of some bytes."""
    whole = Recording(record(stretch, tmp_path / "run-w", "25", AFTERD_RING=str(LARGE)))
    a = whole.window.a
    chance = random.Random(7)
    for number in range(6):
        before = chance.randrange(len(a) // 2, len(a))
        questions = [_question(whole, chance, before) for _ in range(8)]
        directory = record(
            stretch,
            tmp_path / f"run-{number}",
            "25",
            AFTERD_RING=str(SMALL),
            AFTERD_WATCH=",".join(text for text, _ in questions),
            AFTERD_STOP_RECORD=str(before),
        )
        for at, (text, expected) in enumerate(questions):
            words = np.fromfile(directory / f"watch-{at}", np.uint64)
            assert int(words[0]) - 1 == expected, text
            if expected >= 0:
                first, length = int(words[1]), int(words[2])
                assert first <= expected < first + length
                assert np.array_equal(words[4 : 4 + 2 * length : 2], a[first : first + length])
                if text.startswith(f"w:{(1 << 64) - 1}:"):
                    assert int(words[3]) == _since_entry(a[:before], int(a[expected]))


def _since_entry(a: npt.NDArray[np.uint64], word: int) -> int:
    """How often a first word was written since a function was last entered at its depth."""
    depth = word & records.DEPTH_MASK
    entered = records.ENTER << records.TAG_SHIFT | depth
    named = np.uint64(records.TAG | records.DEPTH_MASK)
    entries = np.flatnonzero((a & named) == np.uint64(entered))
    start = int(entries[-1]) if len(entries) else 0
    return int(np.count_nonzero(a[start:] == np.uint64(word)))


def _question(whole: Recording, chance: random.Random, before: int) -> tuple[str, int]:
    """A watch, and the position that it must find."""
    a = whole.window.a
    sample = chance.randrange(before)
    tag = int(a[sample]) >> records.TAG_SHIFT
    if tag in {records.STORE, records.COPY, records.FILL}:
        address = (int(a[sample]) & records.ADDRESS_MASK) + chance.randrange(4)
        return f"s:{address}:2:{before}", whole.last_write(before, address, 2)
    mask = chance.choice([(1 << 64) - 1, records.TAG | records.DEPTH_MASK])
    wanted = int(a[sample]) & mask
    return f"w:{mask}:{wanted}:{before}", whole.last(before, 0, mask, wanted)


def test_a_watch_that_matches_nothing_says_so(stretch: Built, tmp_path: Path) -> None:
    directory = record(
        stretch, tmp_path / "run", "5", AFTERD_RING=str(SMALL), AFTERD_WATCH=f"s:16:4:{1 << 40}"
    )
    assert int(np.fromfile(directory / "watch-0", np.uint64, 1)[0]) == 0


def test_recording_stops_where_it_was_asked_to(stretch: Built, tmp_path: Path) -> None:
    whole = Recording(record(stretch, tmp_path / "one", "9", AFTERD_RING=str(LARGE)))
    stop = whole.end // 2
    directory = record(
        stretch, tmp_path / "two", "9", AFTERD_RING=str(LARGE), AFTERD_STOP_RECORD=str(stop)
    )
    stopped = Recording(directory)
    assert stop <= stopped.end <= stop + 256
    assert np.array_equal(stopped.window.a, whole.window.a[: stopped.end])


@pytest.mark.parametrize(
    ("how", "number"),
    [("crash", signal.SIGSEGV), ("kill", signal.SIGABRT), ("overflow", signal.SIGSEGV)],
)
def test_a_signal_leaves_every_record_before_it(
    stretch: Built, tmp_path: Path, how: str, number: int
) -> None:
    recording = Recording(record(stretch, tmp_path / "run", "12", how, AFTERD_RING=str(SMALL)))
    assert (recording.ending.how, recording.ending.status) == ("signal", number)
    if how == "crash":
        last = recording.end - 1
        assert recording.tag(last) == records.STORE
        assert recording.value(last) == 4711, "the store before the one that crashed"
        assert recording.ending.fault == 0
    if how == "overflow":
        assert recording.depth_at(recording.end - 1) > 10_000


def test_a_ring_that_is_too_large_for_the_process_is_done_without(
    stretch: Built, tmp_path: Path
) -> None:
    """A file-size limit would end the program with SIGXFSZ at the first record."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))

    directory = record(stretch, tmp_path / "run", "3", before=limited)
    assert Recording(directory).end == 0
    shown = subprocess.run(
        [str(stretch.traced), "3"], preexec_fn=limited, capture_output=True, check=False
    )
    assert shown.returncode == 0
    assert shown.stdout


def test_without_a_place_for_traces_the_program_runs(stretch: Built, tmp_path: Path) -> None:
    for place in (str(tmp_path / "missing"), "/proc/nowhere", ""):
        environment = {"PATH": os.environ["PATH"], "AFTERD_TRACE": place}
        shown = subprocess.run(
            [str(stretch.traced)], env=environment, capture_output=True, check=False
        )
        assert (shown.returncode, bool(shown.stdout)) == (0, True)


def test_a_child_counts_for_itself(corpus: dict[str, Built]) -> None:
    """After fork the child's counters were once the parent's."""
    parent, child, *_ = corpus["processes"].processes
    program = parent.program
    view = next(view for view in program.views() if view.name == "child")
    block = view.numbered.first.blocks
    assert int(parent.recording.counts()[block]) == 0
    assert int(child.recording.counts()[block]) == 1
    assert child.recording.forked_from == parent.recording.number


def test_no_code_from_outside_called_into_a_forked_child(corpus: dict[str, Built]) -> None:
    """Dash: a part of its trace "could not be read", and what is behind it was not looked at."""
    _, child, *_ = corpus["processes"].processes
    assert call_pairs(child, child).pairs == []


def test_handlers_of_asynchronous_signals_do_not_disturb_what_they_interrupt(
    laboratory: Laboratory, corpus: dict[str, Built]
) -> None:
    for _ in range(5):
        _, traces = laboratory.run_traced([corpus["signals"].traced])
        process = laboratory.processes(traces)[0]
        assert process.recording.ending.how == "exit"
        # One handler leaves by siglongjmp: what it cut between a record and its store is noticed.
        wrong = check(process).wrong
        torn = [text for text in wrong if text.endswith(": recorded otherwise than computed")]
        assert list(wrong) == torn
        assert len(torn) <= 4
