"""A commit that makes a test hang: explained like any failure, with the loop that should have ended, or where
it waits.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from pipeline_runs import afterd, repository

C = """\
#include <stdio.h>

static int twice(int n) {
    return HARMLESS;
}

int main(void) {
    int seen = 0, at = 0, end = twice(5);
    while (at != end) {
        at += STEP;
        seen++;
    }
    printf("%d\\n", seen);
    return 0;
}
"""
PYTHON = """\
def twice(n):
    return HARMLESS


def steps():
    seen, at, end = 0, 0, twice(5)
    while at != end:
        at += STEP
        seen += 1
    return seen


assert steps() == 5
"""


@dataclass(frozen=True)
class Program:
    """A file with a loop, and how it is built and tested."""

    file: str
    text: str
    options: tuple[str, ...]
    condition: str

    def version(self, *, bad: bool) -> dict[str, str]:
        # Not 3: when an int wraps around, that meets 10, after a second on a fast machine.
        step, harmless = ("4", "n + n") if bad else ("2", "2 * n")
        return {self.file: self.text.replace("STEP", step).replace("HARMLESS", harmless)}


PROGRAMS = {
    "C": Program("p.c", C, ("--build", "cc -g -o p p.c", "--", "./p"), "while (at != end) {"),
    "Python": Program("p.py", PYTHON, ("--", sys.executable, "p.py"), "while at != end:"),
}


def explained(path: Path, program: Program, limit: str) -> dict[str, Any]:
    options = ("--format", "json", *program.options)
    done = afterd("explain", *options, cwd=path, AFTERD_TEST_TIMEOUT=limit)
    assert done.status == 0, done.err + done.out
    [found] = json.loads(done.out)["explanations"]
    return dict(found)


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=list(PROGRAMS))
def test_the_loop_that_does_not_end(tmp_path: Path, program: Program) -> None:
    repository(tmp_path / "r", program.version(bad=False), program.version(bad=True))
    found = explained(tmp_path / "r", program, "1s")
    assert found["failure"]["kind"] == "hang"
    assert [change["patch"].count("at +=") for change in found["root"]] == [2]
    assert (found["minimal"], found["verified"]) == (True, True)
    assert found["tree"] is not None, found["notes"]
    assert found["failure"]["file"] == program.file
    assert program.condition in found["tree"]["predicate"]
    assert any(step["change"] == found["root"][0]["id"] for step in found["tree"]["steps"])


def test_a_suite_that_is_found_is_not_waited_for_all_day(tmp_path: Path) -> None:
    """Nothing is typed: what says nothing for as long as a test may take hangs."""
    program = replace(PROGRAMS["C"], options=())
    makefile = {
        "Makefile": "all: p\np: p.c\n\tcc -g -o p p.c\ncheck: p\n\t./p\n",
        ".gitignore": "p\n",
    }
    good, bad = (program.version(bad=bad) for bad in (False, True))
    repository(tmp_path / "r", good | makefile, bad)
    found = explained(tmp_path / "r", program, "1s")
    assert found["failure"]["kind"] == "hang"
    assert [change["patch"].count("at +=") for change in found["root"]] == [2]


SLEEPS = """\
#include <stdio.h>
#include <unistd.h>

static unsigned pause_of(unsigned n) {
    return FACTOR * n;
}

static unsigned twice(unsigned n) {
    return HARMLESS;
}

int main(void) {
    unsigned n = twice(500);
    for (int round = 0; round < 2; round++)
        sleep(pause_of(n));
    printf("%u\\n", n);
    return 0;
}
"""
LOCKS = """\
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static int twice(int n) {
    return HARMLESS;
}

static void add(int n) {
    pthread_mutex_lock(&lock);
    sum += n;
    LEAVE
}

int main(void) {
    add(twice(2));
    add(twice(3));
    printf("%d\\n", sum);
    return 0;
}
"""
DRAINS = """\
import queue


def twice(n):
    return HARMLESS


def fill(items, count):
    for n in range(COUNT):
        items.put(n)


def drained(items, count):
    return [items.get() for _ in range(count)]


def total(count):
    items = queue.Queue()
    fill(items, count)
    found = 0
    for _ in range(count):
        found += items.get()
    return found


assert total(twice(2)) == 6
"""
WAITS = """\
import threading


def twice(n):
    return HARMLESS


def ready(n):
    return n > LEAST


def started(n):
    event = threading.Event()
    if ready(n):
        event.set()
    return event


assert started(twice(2)).wait()
"""
GENERATES = """\
from itertools import count, takewhile


def twice(n):
    return HARMLESS


def small(n):
    return OUTCOME


assert sum(takewhile(small, count(twice(0)))) == 10
"""
AWAITS = """\
import asyncio


def twice(n):
    return HARMLESS


def ready(n):
    return n > LEAST


async def settled(event):
    await event.wait()
    return 1


async def main():
    event = asyncio.Event()
    if ready(twice(2)):
        event.set()
    return await asyncio.create_task(settled(event))


assert asyncio.run(main()) == 1
"""


@dataclass(frozen=True)
class Waiting:
    """A program that waits without going round: ``good`` and ``bad`` stand for ``word``; ``text`` is what it is at."""

    program: Program
    word: str
    good: str
    bad: str
    text: str

    def version(self, *, bad: bool) -> dict[str, str]:
        own = {"HARMLESS": "n + n" if bad else "2 * n", self.word: self.bad if bad else self.good}
        text = self.program.text
        for word, standing in own.items():
            text = text.replace(word, standing)
        return {self.program.file: text}


_BUILD = ("--build", "cc -g -pthread -o p p.c", "--", "./p")
_RUN = ("--", sys.executable, "p.py")
WAITING = {
    "C, sleeping": Waiting(
        Program("p.c", SLEEPS, _BUILD, ""), "FACTOR", "0", "3", "sleep(pause_of(n));"
    ),
    "C, locked": Waiting(
        Program("p.c", LOCKS, _BUILD, ""),
        "LEAVE",
        "pthread_mutex_unlock(&lock);",
        "(void)n;",
        "pthread_mutex_lock(&lock);",
    ),
    "Python, in a loop": Waiting(
        Program("p.py", DRAINS, _RUN, ""), "COUNT", "count", "count - 1", "found += items.get()"
    ),
    "Python, outside": Waiting(
        Program("p.py", WAITS, _RUN, ""),
        "LEAST",
        "3",
        "5",
        "assert started(twice(2)).wait()",
    ),
    "Python, in a task": Waiting(
        Program("p.py", AWAITS, _RUN, ""), "LEAST", "3", "5", "await event.wait()"
    ),
    "Python, in what is not followed": Waiting(
        Program("p.py", GENERATES, _RUN, ""),
        "OUTCOME",
        "n < 5",
        "n != 5.5",
        "return n != 5.5",
    ),
}


@pytest.mark.parametrize("waiting", WAITING.values(), ids=list(WAITING))
def test_where_it_waits_is_the_failure(tmp_path: Path, waiting: Waiting) -> None:
    repository(tmp_path / "r", waiting.version(bad=False), waiting.version(bad=True))
    found = explained(tmp_path / "r", waiting.program, "0.5s")
    assert found["failure"]["kind"] == "hang"
    assert [change["patch"].count(waiting.bad) for change in found["root"]] == [1]
    assert found["failure"]["file"] == waiting.program.file
    line = waiting.version(bad=True)[waiting.program.file].splitlines()
    assert line[found["failure"]["line"] - 1].strip() == waiting.text
    assert found["tree"] is not None, found["notes"]
    assert found["tree"]["predicate"] == waiting.text
