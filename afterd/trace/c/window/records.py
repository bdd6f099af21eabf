"""The records of the ring that runtime.c keeps: two 64-bit words each.

======== ===================================================== =======================
tag      first word                                            second word
======== ===================================================== =======================
BLOCK    tag:4 id:28 depth:32, a block was entered             0
ENTER    the same for the entry block of a function            0
LSTORE   tag:4 slot:28 depth:32, a local that does not escape  value stored
CALL     tag:4 site:28 depth:32, before a call                 address of the callee
RETURN   the same after the call came back                     value returned
PLACE    tag:4 slot:28 depth:32, a stack object was made        its address
LOAD     tag:4 size:12 address:48                              value loaded
STORE    the same                                              value stored
COPY     the same with size 0: destination of memcpy, memmove  source; 0: the caller's
FILL     the same: destination of memset                       byte
LENGTH   tag:4 length:60, follows COPY and FILL                site
======== ===================================================== =======================

Values are zero-extended to 64 bits; a long double is rounded to double, wider ones are not kept (0).
After the last record the ring is zero for a while: a record's first word never is.
"""

from __future__ import annotations

LSTORE, CALL, RETURN, PLACE, LOAD, STORE, COPY, FILL, LENGTH = range(1, 10)
BLOCK, ENTER = 14, 15  # alike but for the lowest bit: one masked comparison finds either

TAG_SHIFT = 60
ID_SHIFT = 32
ID_MASK = (1 << 28) - 1
DEPTH_MASK = (1 << 32) - 1
SIZE_SHIFT = 48
SIZE_MASK = (1 << 12) - 1
TAG = ((1 << 64) - 1) << TAG_SHIFT & ((1 << 64) - 1)
ANY_BLOCK = TAG ^ 1 << TAG_SHIFT
ANY_DEPTH = ((1 << 64) - 1) ^ DEPTH_MASK
ADDRESS_MASK = (1 << 48) - 1
LENGTH_MASK = (1 << 60) - 1


def identified_tag_word(tag: int, identifier: int) -> int:
    """The constant part of a record's first word that carries an id; the depth is or-ed in."""
    return tag << TAG_SHIFT | identifier << ID_SHIFT


def addressed_tag_word(tag: int, size: int) -> int:
    """The constant part of a record's first word that carries an address of ``size`` bytes."""
    return tag << TAG_SHIFT | size << SIZE_SHIFT
