"""What is said where the search came down to many changes and no further."""

from __future__ import annotations

from afterd.causality.analysis import Analysis
from afterd.causality.suspicion import Suspect, Tier
from afterd.pipeline.search import narrowed_reason


def _analysis(*suspects: str) -> Analysis:
    return Analysis(
        root=frozenset({"c1", "c2", "c3"}),
        auxiliary=frozenset({"c4"}),
        minimal=None,
        verified=True,
        executed=0,
        notes=(),
        failure=None,
        suspects=[Suspect(each, Tier.CAUSE) for each in suspects],
        runs=0,
    )


def test_whom_evidence_speaks_for_comes_first() -> None:
    """Libxkbcommon: 61 changes in the order of their files, the third suspect among them."""
    reason = narrowed_reason(_analysis("c9", "c3", "c4", "c1", "c2"), 106, spent=False)
    assert reason.startswith("The search came down to 4 of 106 changes; ")
    assert reason.endswith(" Evidence speaks most for c3, c4, c1.")


def test_where_none_is_suspected_none_is_named() -> None:
    reason = narrowed_reason(_analysis("c9"), 106, spent=True)
    assert "the budget was spent" in reason
    assert "Evidence" not in reason
