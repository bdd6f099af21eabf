"""The row format that the recorder writes and the analysis reads.

A row is a pair (site, value). A *site* is ``module << 24 | node << 4 | kind``: the module's
fingerprint (30 bits of a hash of its path and text), the number of the syntax node in the module's
exported tree (20 bits) and what happened there (4 bits). Sites are therefore constants of the
compiled code, equal in every run of the same text.

An exception that came through a frame is said by its EXIT, and by the SYNC of the handler that caught
it: in the place of the frame's address stands a description ``("t", address, exception, line)``.
"""

from __future__ import annotations

import hashlib
from enum import IntEnum

FORMAT = 10  # of trace files and of cached trees; part of every cache key
NODE_BITS = 20
KIND_BITS = 4
MAX_NODES = 1 << NODE_BITS


class Kind(IntEnum):
    """What a row says about its node."""

    VALUE = 0  # the expression had this value; at an arg, alias or target: the name was bound to it
    ENTER = 1  # a frame of this function, class body or module began; value: the frame's address
    EXIT = 2  # the frame ended, normally or not; value: its address
    SYNC = 3  # the frame at this address goes on (after a handler, a yield, an await)
    TRUE = 4  # the branch's condition held
    FALSE = 5
    MARK = 6  # the statement was executed
    YIELD = 7  # the generator handed out this value
    RETURN = 8
    RAISE = 9
    OUTPUT = 10  # bytes written to standard output; value: the text
    THREAD = 11  # the rows that follow belong to this thread
    PEEK = 12  # what an augmented assignment left in an attribute or item


OUTCOMES = frozenset({Kind.TRUE, Kind.FALSE})
"""The two ways of a branch."""
ADDRESSED = frozenset({Kind.ENTER, Kind.EXIT, Kind.SYNC, Kind.THREAD})
"""Kinds whose value names a frame, or a thread, by its address."""
KIND_MASK = (1 << KIND_BITS) - 1
"""The bits of a site that are its kind."""


def fingerprint(path: str, source: bytes) -> int:
    """30 bits that name one text of one module; ``path`` is relative to the tree."""
    digest = hashlib.sha256(b"%d\0%s\0" % (FORMAT, path.encode("utf-8", "surrogateescape")))
    digest.update(source)
    return int.from_bytes(digest.digest()[:4], "big") >> 2


def site(module: int, node: int, kind: Kind) -> int:
    """The code of a row."""
    return ((module << NODE_BITS | node) << KIND_BITS) | kind
