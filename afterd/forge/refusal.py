"""What a forge's answer means when it is not the one that was asked for; no I/O, any forge.

Sources: GitHub, "Rate limits for the REST API" and "Best practices for using the REST API";
GitLab, "Rate limits"; RFC 9110, sections 10.2.3 (Retry-After) and 6.6.1 (Date).

Trying again, and for how long. The clients' own retries are off: they repeat a POST that may
have been carried out, and a comment would stand there twice.

A refusal as the one sentence a person reads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import TypeVar

from afterd.errors import ForgeError
from afterd.forge.project import ForgeKind, Project

SECONDARY = 60.0  # seconds to wait where GitHub's secondary limit names no time
_LONGEST_SAID = 200


class RefusalKind(StrEnum):
    """Why the forge did not do it."""

    TOKEN = "the token is not accepted"  # noqa: S105 - a reason
    RIGHTS = "the token may not do it"
    MISSING = "it is not there"
    TOO_LONG = "the text is too long"
    INVALID = "the request is not understood"
    LIMITED = "too many requests"
    UNAVAILABLE = "the forge is out of reach"
    MOVED = "it has another address"


PASSING = frozenset({RefusalKind.LIMITED, RefusalKind.UNAVAILABLE})


class Refusal(Exception):  # noqa: N818 - an answer; the error is the sentence made of it
    """``said`` is the forge's own word; ``wait`` the seconds it asks for, None where it does not.

    Of an UNAVAILABLE it is not known whether the request was carried out.
    """

    def __init__(self, kind: RefusalKind, said: str = "", wait: float | None = None) -> None:
        super().__init__(kind.value)
        self.kind = kind
        self.said = said if len(said) <= _LONGEST_SAID else said[:_LONGEST_SAID] + "…"
        self.wait = wait


def refusal(status: int, headers: Mapping[str, str], said: str, now: float) -> Refusal:
    """The meaning of an HTTP status that is not the one asked for; ``now`` in seconds since 1970."""
    lower = {name.lower(): value for name, value in headers.items()}
    words = said.lower()
    if status == 401:
        return Refusal(RefusalKind.TOKEN, said)
    if status in {403, 429} and (wait := _asked_wait(lower, now)) is not None:
        return Refusal(RefusalKind.LIMITED, said, wait)
    if status == 429 or (status == 403 and ("rate limit" in words or "abuse" in words)):
        return Refusal(RefusalKind.LIMITED, said, SECONDARY)
    if status in {400, 413, 422} and ("too long" in words or status == 413):
        return Refusal(RefusalKind.TOO_LONG, said)
    if status in {403, 423}:  # 423: archived, or its conversation is locked
        return Refusal(RefusalKind.RIGHTS, said)
    if status in {404, 410}:
        return Refusal(RefusalKind.MISSING, said)
    if status < 300:
        return Refusal(RefusalKind.UNAVAILABLE, f"{status}, which is not the answer of a forge")
    if status < 400:
        return Refusal(RefusalKind.MOVED, f"{status} {lower.get('location', '')}".strip())
    if status >= 500 or status == 408:
        return Refusal(RefusalKind.UNAVAILABLE, f"{status} {said}".strip(), _asked_wait(lower, now))
    return Refusal(RefusalKind.INVALID, f"{status} {said}".strip())


def _asked_wait(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds, by the server's own clock: ours may be wrong."""
    server_now = _date(headers.get("date", ""))
    server_now = now if server_now is None else server_now
    after = headers.get("retry-after", "").strip()
    if after.isdecimal():
        return float(after[:9])
    if (moment := _date(after)) is not None:
        return max(0.0, moment - server_now)
    remaining = headers.get("x-ratelimit-remaining", headers.get("ratelimit-remaining", ""))
    reset = headers.get("x-ratelimit-reset", headers.get("ratelimit-reset", "")).strip()
    if remaining.strip() == "0" and reset.isdecimal():
        return max(0.0, float(reset[:15]) - server_now) + 1.0  # it counts whole seconds
    return None


def _date(text: str) -> float | None:
    """An HTTP date in seconds since 1970; None for anything else."""
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


@contextmanager
def as_a_forge_answers() -> Iterator[None]:
    """What is no answer of a forge (a proxy's page, a log-in) makes clients stumble: a refusal."""
    try:
        yield
    except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        raise Refusal(RefusalKind.UNAVAILABLE, "its answer is not that of a forge") from error


def clock(seconds: float, now: float) -> str:
    """A moment in seconds since 1970 as people read it, in UTC; with its date on another day than now."""
    moment, today = (datetime.fromtimestamp(each, UTC) for each in (seconds, now))
    return moment.strftime("%H:%M UTC" if moment.date() == today.date() else "%Y-%m-%d %H:%M UTC")


Result = TypeVar("Result")

_FIRST_WAIT = 1.0


@dataclass(frozen=True, slots=True)
class Patience:
    """``seconds`` is how long it may take in all; what the forge asks for beyond is not waited.

    ``say`` hears a sentence before each wait: two minutes are long where nothing is said.
    """

    seconds: float = 120.0
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    say: Callable[[str], object] | None = None

    def __call__(self, action: Callable[[], Result]) -> Result:
        """``action`` until it succeeds, from its beginning each time, so it has to look for what a
        lost answer may have left. Raises Refusal: the last one, or one that will not pass.
        """
        deadline = self.clock() + self.seconds
        pause = _FIRST_WAIT
        while True:
            try:
                return action()
            except Refusal as refused:
                wait = pause if refused.wait is None else refused.wait
                if refused.kind not in PASSING or self.clock() + wait > deadline:
                    raise
                if self.say is not None:
                    kind = refused.kind.value
                    why = f" ({refused.said})" if refused.said else ""
                    self.say(
                        f"{kind[:1].upper()}{kind[1:]}{why}; it is asked again in {wait:.0f} s."
                    )
                self.sleep(wait)
                pause *= 2


_RIGHTS = {
    ForgeKind.GITHUB: "pull-requests: write (of a classic token: repo)",
    ForgeKind.GITLAB: "the scope api and the role Reporter or above",
    ForgeKind.GITEA: "write:issue and read:repository and read:user",
}


def forge_error(refused: Refusal, project: Project, number: int) -> ForgeError:
    """What happened, where, and what to do."""
    where = f"{project.host} for {project.path}"
    said = f" ({' '.join(refused.said.split())})" if refused.said else ""
    match refused.kind:
        case RefusalKind.TOKEN:
            text = f"{where} does not accept the token{said}; make a new one and set it"
        case RefusalKind.RIGHTS:
            text = (
                f"{where} does not let this token comment{said}; it needs {_RIGHTS[project.kind]}"
            )
        case RefusalKind.MISSING:
            text = f"{where} knows no pull request {number}, or this token may not see it{said}"
        case RefusalKind.LIMITED:
            now = time.time()
            again = clock(now + (refused.wait or 0.0), now)
            text = f"{where} takes no more requests for now{said}; try again after {again}"
        case RefusalKind.UNAVAILABLE:
            text = f"{where} cannot be reached or does not answer as it should{said}; try again"
        case RefusalKind.MOVED:
            text = (
                f"{where} sends elsewhere{said}, and the token is not sent after it; name the address"
                " with --project, or sign in where a proxy asks for it"
            )
        case RefusalKind.TOO_LONG:
            text = f"{where} finds even the shortest form of the comment too long{said}"
        case RefusalKind.INVALID:
            text = f"{where} does not understand the request{said}; please report it"
    return ForgeError(f"Nothing was posted: {text}.")
