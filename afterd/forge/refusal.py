"""What a forge's answer means when it is not the one that was asked for; no I/O, any forge.

Sources: GitHub, "Rate limits for the REST API" and "Best practices for using the REST API";
GitLab, "Rate limits"; RFC 9110, sections 10.2.3 (Retry-After) and 6.6.1 (Date).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum

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
    """The meaning of an HTTP status of 300 or more; ``now`` in seconds since 1970."""
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


def clock(seconds: float) -> str:
    """A moment in seconds since 1970 as people read it, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%H:%M UTC")
