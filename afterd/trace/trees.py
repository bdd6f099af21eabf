"""The folders in which the two versions of a program are built to be traced."""

from __future__ import annotations

TREES = (b"green", b"wrong")
"""Their paths go into what programs print (``__FILE__``), so they are as long as each other, and one for
the other is no difference.
"""
