"""What an answer means: a table, and any headers at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterd.forge.refusal import SECONDARY, RefusalKind, refusal

NOW = 1_700_000_000.0
HTTP_DATE = "Tue, 14 Nov 2023 22:13:50 GMT"  # 30 s after NOW
ASKS = {"retry-after": "5"}


@pytest.mark.parametrize(
    ("status", "headers", "said", "kind", "wait"),
    [
        (301, {}, "", RefusalKind.MOVED, None),
        (400, {}, "", RefusalKind.INVALID, None),
        (400, {}, "note is too long", RefusalKind.TOO_LONG, None),
        (401, {}, "Bad credentials", RefusalKind.TOKEN, None),
        (403, {}, "Resource not accessible", RefusalKind.RIGHTS, None),
        (403, ASKS, "", RefusalKind.LIMITED, 5.0),
        (403, {}, "secondary rate limit", RefusalKind.LIMITED, SECONDARY),
        (403, {"X-RateLimit-Remaining": "7", "X-RateLimit-Reset": "9"}, "", RefusalKind.RIGHTS, None),
        (403, {"X-RateLimit-Remaining": "0"}, "", RefusalKind.RIGHTS, None),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000010"}, "", RefusalKind.LIMITED, 11.0),
        (404, {}, "", RefusalKind.MISSING, None),
        (408, {}, "", RefusalKind.UNAVAILABLE, None),
        (410, {}, "", RefusalKind.MISSING, None),
        (413, {}, "", RefusalKind.TOO_LONG, None),
        (422, {}, "Body is too long", RefusalKind.TOO_LONG, None),
        (422, {}, "Validation Failed", RefusalKind.INVALID, None),
        (423, {}, "locked", RefusalKind.RIGHTS, None),
        (429, {}, "", RefusalKind.LIMITED, SECONDARY),
        (429, {"Retry-After": HTTP_DATE}, "", RefusalKind.LIMITED, 30.0),
        (429, {"Retry-After": HTTP_DATE, "Date": HTTP_DATE}, "", RefusalKind.LIMITED, 0.0),
        (429, {"Retry-After": "soon"}, "", RefusalKind.LIMITED, SECONDARY),
        (500, {}, "", RefusalKind.UNAVAILABLE, None),
        (503, ASKS, "", RefusalKind.UNAVAILABLE, 5.0),
    ],
)  # fmt: skip
def test_the_meaning_of_a_status(
    status: int, headers: dict[str, str], said: str, kind: RefusalKind, wait: float | None
) -> None:
    refused = refusal(status, headers, said, NOW)
    assert (refused.kind, refused.wait) == (kind, wait)


NAMES = st.sampled_from(["Retry-After", "Date", "X-RateLimit-Remaining", "RateLimit-Reset"])


@given(
    st.integers(300, 600), st.dictionaries(NAMES, st.text(max_size=20) | st.just("0")), st.text()
)
def test_any_answer_means_something(status: int, headers: dict[str, str], said: str) -> None:
    refused = refusal(status, headers, said, NOW)
    assert len(refused.said) <= 201
    assert refused.wait is None or refused.wait >= 0
