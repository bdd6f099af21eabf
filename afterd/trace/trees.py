"""The folders in which the two versions of a program are built to be traced."""

from __future__ import annotations

FOLDER = "traced/trees"
"""Where they lie in afterd's state."""

TREES = ("green", "wrong")
"""Their paths go into what programs print (``__FILE__``), so they are as long as each other, and one for
the other is no difference.
"""

_GREEN, _WRONG = (f"/{FOLDER}/{name}" for name in TREES)


def in_one_tree(text: str) -> str:
    """A text with the one version's folder in the place of the other's."""
    return text.replace(_GREEN, _WRONG)
