"""A little room kept back, so that a full disk still lets the last words be written.

In WAL mode even a DELETE fails on a full disk (measured, reliability section 6): without a reserve
a job could not be put back into the queue nor the user's mark be kept.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

SIZE = 4 << 20
PLENTY = 64 << 20


def keep(path: Path) -> None:
    """Put the reserve at ``path`` aside when the disk has plenty; never an error."""
    try:
        if path.exists() or shutil.disk_usage(path.parent).free < PLENTY:
            return
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.posix_fallocate(descriptor, 0, SIZE)
        finally:
            os.close(descriptor)
    except OSError:
        release(path)


def release(path: Path) -> bool:
    """Give the reserve's room back; whether there was any."""
    try:
        path.unlink()
    except OSError:
        return False
    return True
