"""The smallest revert that builds and passes, as a git patch with words before it.

``git apply`` skips what stands before the first ``diff --git`` line.
"""

from __future__ import annotations

from afterd.model.explanation import Explanation
from afterd.report.phrases import Phrase, as_plain, listed
from afterd.report.summary import assurance, headline


def render(explanation: Explanation, diff: str) -> str:
    """``diff`` (from the pipeline: bad version to the variant that passes) under its reason."""
    undone = [change.id for change in (*explanation.root, *explanation.auxiliary)]
    reverts: Phrase = ("Reverts ", *listed(undone), ".")
    lines = [f"Explanation {explanation.id}: {as_plain(headline(explanation))}.", as_plain(reverts)]
    if explanation.root:
        lines.append(as_plain(assurance(explanation)))
    return "\n".join([*lines, "", diff])


def encoded(patch: str) -> bytes:
    """The bytes that git wrote: escaped surrogates are bytes that are not UTF-8."""
    return patch.encode("utf-8", "surrogateescape")
