"""Live progress on standard error: what is being tried, how many runs, who is suspected.

A terminal gets two or three lines that are redrawn; anything else gets a plain line an event, so
that a log of a CI run reads as a story. A listener never raises: a closed terminal must not end an
explanation.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.text import Text

from afterd.limits import REPORT
from afterd.model.change import ChangeId, ChangeSet, in_order
from afterd.model.outcome import Outcome, Verdict
from afterd.model.progress import Progress, Signs
from afterd.model.wording import first_names
from afterd.report.sanitize import clipped_text, one_line

_SAYS = {
    Verdict.PASS: "passes",
    Verdict.FAIL: "fails the same way",
    Verdict.UNRESOLVED: "cannot tell",
}


@contextmanager
def listening(console: Console) -> Iterator[Progress]:
    """A listener for as long as the block runs: redrawn on a terminal, line by line elsewhere."""
    if not console.is_terminal or console.is_dumb_terminal:
        yield PlainProgress(console)
        return
    progress = LiveProgress()
    with Live(progress, console=console, transient=True, refresh_per_second=8):
        yield progress


class PlainProgress:
    """A line for every event, with the seconds since the beginning."""

    def __init__(
        self,
        console: Console,
        clock: Callable[[], float] = time.monotonic,
        log: Callable[[str], None] | None = None,
    ) -> None:
        self._console = console
        self._clock = clock
        self._log = log
        self._begin = clock()
        self._share = (0, False)
        self._advanced: dict[str, int] = {}
        self._told: set[str] = set()

    def stage(self, name: str, detail: str = "") -> None:
        """A stage began."""
        self._share = (0, False)
        self._advanced.clear()
        self._say(f"{name}: {detail}" if detail else name)

    def tried(self, reverted: ChangeSet, outcome: Outcome, runs: int) -> None:
        """A variant was tried; one that is asked for again is not told again."""
        sentence = tried_sentence(reverted, replace(outcome, cached=False, warm=False))
        if outcome.cached and sentence in self._told:
            return
        self._told.add(sentence)
        made = "" if outcome.cached else f"run {runs}: "
        self._say(f"{made}{tried_sentence(reverted, outcome)}")

    def built(self, reverted: ChangeSet, *, ok: bool) -> None:
        """A variant was built."""
        self._say(f"build: {built_sentence(reverted, ok=ok)}")

    def counted(self, done: int, found: int, red: int) -> None:
        """A suite goes on: a line where a tenth more is done (ten times as many, where nobody
        says how many there are), and the first red one.
        """
        share = 10 * done // found if found else len(str(done))
        if (share, bool(red)) != self._share:
            self._share = share, bool(red)
            self._say(counted_sentence(done, found, red))

    def advanced(self, done: int, what: str) -> None:
        """A stage goes on: a line where twice as much is done."""
        if done >= 2 * self._advanced.get(what, 0):
            self._advanced[what] = done
            self._say(f"{done:,} {what}")

    def suspects(self, signs: Mapping[ChangeId, Signs]) -> None:
        """Suspicion moved."""
        self._say(f"suspected: {_names(list(signs))}")

    def _say(self, text: str) -> None:
        seconds = self._clock() - self._begin
        line = Text(f"[{seconds:7.1f} s] {one_line(clipped_text(text, 4 * REPORT.progress_width))}")
        if self._log is not None:
            self._log(text)
        with suppress(OSError, ValueError):  # a stream that was closed
            self._console.print(line, soft_wrap=True)


class LiveProgress:
    """The present state, drawn whenever rich asks for it; calls come from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begin = clock()
        self._lock = threading.Lock()
        self._spinner = Spinner("dots")
        self._stage = "starting"
        self._last = ""
        self._runs = 0
        self._suspects: tuple[ChangeId, ...] = ()
        self._counted: tuple[int, int, int] | None = None
        self._advanced = ""
        self._since = (0, 0.0)  # tests that were done when the count began, and when that was

    def stage(self, name: str, detail: str = "") -> None:
        """A stage began."""
        with self._lock:
            self._counted = None
            self._advanced = ""
            self._stage = f"{name}: {detail}" if detail else name

    def tried(self, reverted: ChangeSet, outcome: Outcome, runs: int) -> None:
        """A variant was tried."""
        with self._lock:
            self._runs = runs
            self._last = tried_sentence(reverted, outcome)

    def built(self, reverted: ChangeSet, *, ok: bool) -> None:
        """A variant was built."""
        with self._lock:
            self._last = built_sentence(reverted, ok=ok)

    def counted(self, done: int, found: int, red: int) -> None:
        """A suite goes on."""
        with self._lock:
            if self._counted is None:
                self._since = done, self._clock()
            self._counted = done, found, red

    def advanced(self, done: int, what: str) -> None:
        """A stage goes on."""
        with self._lock:
            self._advanced = f"{done:,} {what}"

    def suspects(self, signs: Mapping[ChangeId, Signs]) -> None:
        """Suspicion moved."""
        with self._lock:
            self._suspects = tuple(signs)

    def __rich__(self) -> RenderableType:
        """What is on the screen now."""
        with self._lock:
            seconds = self._clock() - self._begin
            doing = Text(
                f"{one_line(clipped_text(self._stage, REPORT.progress_width))}  {seconds:.0f} s",
                "bold",
            )
            self._spinner.update(text=doing)
            lines: list[RenderableType] = [self._spinner]
            if self._counted is not None:
                done, found, red = self._counted
                left = _time_left(
                    done - self._since[0], max(found - done, 0), self._clock() - self._since[1]
                )
                bar = ProgressBar(total=found or None, completed=done, width=REPORT.bar)
                said = Text(f"{counted_sentence(done, found, red)}{left}")
                lines.append(Columns([Text(" "), bar, said]))
            if self._advanced:
                lines.append(Text(f"  {one_line(self._advanced)}"))
            if self._last:
                runs = f"{self._runs} test run{'' if self._runs == 1 else 's'}"
                lines.append(
                    Text(f"  {runs}; {one_line(clipped_text(self._last, REPORT.progress_width))}")
                )
            if self._suspects:
                lines.append(Text(f"  suspected: {_names(self._suspects)}", "yellow"))
        return Group(*lines)


def counted_sentence(done: int, found: int, red: int) -> str:
    """``412 of 1,203 tests, 3 red``."""
    of = f" of {found:,}" if found else ""
    return f"{done:,}{of} test{'' if (found or done) == 1 else 's'}" + (
        f", {red:,} red" if red else ""
    )


def _time_left(done: int, left: int, seconds: float) -> str:
    """About how long the rest takes if it goes on as it did; nothing where too little was seen."""
    if done < REPORT.estimate or seconds < 1.0 or not left:
        return ""
    rest = seconds * left / done
    return f", about {rest:.0f} s left" if rest < 100 else f", about {rest / 60:.0f} min left"


def tried_sentence(reverted: ChangeSet, outcome: Outcome) -> str:
    """``with c2, c3 undone it passes``, with the reason where it cannot tell."""
    undone = _undone_words(reverted)
    reason = f" ({outcome.reason.value})" if outcome.reason else ""
    known = ", known from before" if outcome.cached else ""
    way = ", in a warm process" if outcome.warm and not outcome.cached else ""
    return f"{undone} {_SAYS[outcome.verdict]}{reason}{known}{way}"


def built_sentence(reverted: ChangeSet, *, ok: bool) -> str:
    """``with c2, c3 undone it does not build``."""
    return f"{_undone_words(reverted)} {'builds' if ok else 'does not build'}"


def _undone_words(reverted: ChangeSet) -> str:
    return f"with {_names(in_order(reverted))} undone it" if reverted else "as it is it"


def _names(changes: Sequence[ChangeId]) -> str:
    return one_line(first_names(changes, REPORT.suspects))
