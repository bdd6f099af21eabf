"""A child that dies, hangs, floods or lies is a value, and the next question is answered."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from afterd.execution.environment import scrubbed_environment
from afterd.execution.worker import Death, Died, Reply, Worker
from afterd.limits import GIB, MIB, WorkerLimits

CHILDREN = Path(__file__).parent / "children"
ENVIRONMENT = scrubbed_environment(extra={"PYTHONPATH": str(CHILDREN)})
LIMITS = WorkerLimits(request=20.0, address_space=GIB)


@pytest.fixture(scope="module")
def shared() -> Iterator[Worker]:
    with Worker("odd_answers", LIMITS, ENVIRONMENT) as worker:
        yield worker


def echoed(reply: Reply | Died) -> dict[str, Any]:
    assert isinstance(reply, Reply), reply
    value: dict[str, Any] = reply.value["echo"]
    return value


def open_descriptors() -> int:
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0


@pytest.mark.parametrize(
    ("question", "reason", "detail"),
    [
        ({"do": "signal", "number": signal.SIGSEGV}, Death.SIGNAL, "died of SIGSEGV"),
        ({"do": "signal", "number": signal.SIGABRT}, Death.SIGNAL, "died of SIGABRT"),
        ({"do": "exit", "status": 0}, Death.EXIT, "exited with status 0"),
        ({"do": "exit", "status": 3}, Death.EXIT, "exited with status 3"),
        ({"do": "raise", "text": "no such sort"}, Death.EXIT, "ValueError: no such sort"),
        ({"do": "allocate", "size": 8 * GIB}, Death.EXIT, "MemoryError"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_a_death_is_an_answer_and_the_next_question_gets_its_own(
    shared: Worker, question: dict[str, Any], reason: Death, detail: str
) -> None:
    deaths = shared.deaths
    died = shared.ask(question)
    assert isinstance(died, Died)
    assert died.reason is reason
    assert detail in died.detail
    assert shared.deaths == deaths + 1
    assert echoed(shared.ask({"do": "echo"})) == {"do": "echo"}


def test_a_child_that_somebody_kills_is_asked_again(
    shared: Worker, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Three times at most: a question that kills each child ends as well."""
    counter = tmp_path / "counter"
    question = {"do": "killed", "counter": str(counter), "times": 3}
    assert echoed(shared.ask(question)) == question
    assert caplog.text.count("was lost (died of SIGKILL); it is made again") == 3
    counter.unlink()
    died = shared.ask({**question, "times": 99})
    assert isinstance(died, Died)
    assert died.signal == signal.SIGKILL
    assert counter.read_text() == "...."


def test_a_child_that_hangs_is_killed_at_its_limit(shared: Worker) -> None:
    first = shared.ask({"do": "echo"})
    assert isinstance(first, Reply)
    began = time.monotonic()
    died = shared.ask({"do": "sleep", "seconds": 60}, seconds=0.2)
    assert time.monotonic() - began < 1.5
    assert isinstance(died, Died)
    assert died.reason is Death.TIMEOUT
    with pytest.raises(ProcessLookupError):
        os.kill(first.value["pid"], 0)


def test_what_it_prints_is_no_message_and_does_not_fill_the_disk(shared: Worker) -> None:
    flood = {"do": "print", "text": '{"ready": true}\n', "times": MIB}
    for _ in range(2):
        assert echoed(shared.ask(flood)) == flood
    assert echoed(shared.ask({"do": "echo"})) == {"do": "echo"}
    assert shared._log.stat().st_size < 4 * MIB


def test_a_hundred_megabytes_either_way(shared: Worker) -> None:
    large = "a" * (100 * MIB)
    assert echoed(shared.ask({"do": "echo", "text": large}))["text"] == large


def test_a_message_above_the_limit_is_refused() -> None:
    with Worker("odd_answers", WorkerLimits(message=MIB), ENVIRONMENT) as worker:
        died = worker.ask({"do": "repeat", "text": "a", "times": 2 * MIB})
        assert isinstance(died, Died)
        assert died.reason is Death.MESSAGE


def test_a_module_that_cannot_be_imported_says_so() -> None:
    with Worker("no_such_module", LIMITS, ENVIRONMENT) as worker:
        died = worker.ask({})
        assert isinstance(died, Died)
        assert died.reason is Death.START
        assert "no_such_module" in died.detail


def test_questions_of_several_threads_do_not_mix(shared: Worker) -> None:
    answers: dict[int, Any] = {}

    def ask(number: int) -> None:
        answers[number] = echoed(shared.ask({"do": "echo", "number": number}))["number"]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {number: number for number in range(8)}


def test_no_descriptor_and_no_child_is_left() -> None:
    before = open_descriptors()
    pids = []
    for _ in range(5):
        with Worker("odd_answers", LIMITS, ENVIRONMENT) as worker:
            reply = worker.ask({"do": "echo"})
            assert isinstance(reply, Reply)
            pids.append(reply.value["pid"])
            worker.ask({"do": "exit", "status": 1})
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert open_descriptors() == before


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=60)
@given(value=JSON)
def test_every_json_value_arrives_as_it_was_sent(shared: Worker, value: object) -> None:
    assert echoed(shared.ask({"do": "echo", "value": value}))["value"] == value
