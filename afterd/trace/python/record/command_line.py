"""The command line that started this interpreter."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def original_arguments() -> list[str]:
    """With the interpreter and its options; before Python 3.10 the system alone knows them."""
    known = getattr(sys, "orig_argv", None)
    if known is not None:
        return list(known)
    return [os.fsdecode(each) for each in Path("/proc/self/cmdline").read_bytes().split(b"\0")[:-1]]
