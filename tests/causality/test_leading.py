"""Which of several changes that are undone together leads an answer, where a text says what goes along."""

from __future__ import annotations

import pytest
from made_changes import change

from afterd.causality.leading import lead_by_text
from afterd.causality.suspicion import Suspect, Tier

DEFINES = "@@ -1,0 +2,2 @@\n+def helper(x):\n+    return x\n"
ACTS = '@@ -1 +1 @@\n-    if hasattr(obj, "text"):\n+    if isinstance(obj, Curve):\n'


@pytest.mark.parametrize(
    ("suspected", "along", "lead"),
    [
        ({}, ACTS, "c1"),
        ({"c1": Tier.ENTRY, "c2": Tier.CAUSE}, ACTS, "c1"),
        ({"c1": Tier.CAUSE, "c2": Tier.ENTRY}, ACTS, "c2"),
        ({"c2": Tier.CARRIER}, ACTS, "c2"),
        ({"c1": Tier.CAUSE, "c2": Tier.ENTRY}, DEFINES, "c1"),
        ({"c1": Tier.CAUSE, "c9": Tier.ENTRY}, ACTS, "c1"),
    ],
)
def test_what_goes_along_leads_where_more_speaks_for_it(
    suspected: dict[str, Tier], along: str, lead: str
) -> None:
    """Pdfplumber: a line could not be undone without the condition above it, which was guilty and the likeliest."""
    changes = {"c1": change(1, "a.py", patch=ACTS), "c2": change(2, "a.py", patch=along)}
    suspects = [Suspect(each, tier, step=1) for each, tier in suspected.items()]
    assert lead_by_text("c1", frozenset(changes), suspects, changes) == lead


@pytest.mark.parametrize("asked", ["c1", "c2"])
def test_who_called_what_was_taken_away_leads(asked: str) -> None:
    """Pika: the line that had called `dictkeys` is guilty, not that the function is gone."""
    gone = "@@ -2,2 +1,0 @@\n-def helper(x):\n-    return x\n"
    changes = {"c1": change(1, "compat.py", patch=gone), "c2": change(2, "a.py", patch=ACTS)}
    suspects = [Suspect("c1", Tier.ENTRY, step=1), Suspect("c2", Tier.CAUSE, step=1)]
    assert lead_by_text(asked, frozenset(changes), suspects, changes) == "c2"
    only = {"c1": changes["c1"]}
    assert lead_by_text("c1", frozenset(only), suspects, only) == "c1"
