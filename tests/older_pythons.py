"""The older interpreters that a machine has beside the one that runs afterd."""

from __future__ import annotations

import shutil
from pathlib import Path

OLDEST = (3, 6)
"""Nothing that runs in a tested project's own Python is newer."""


GENERIC = frozenset({"dict", "list", "tuple", "set", "frozenset", "type"})
"""Types of which there are no parts before 3.9."""


def older_pythons(before: int = 10, since: int = OLDEST[1]) -> list[str]:
    """The interpreters before 3.10, or an older one, that this machine has, from 3.``since`` on."""
    minors = range(since, before)
    named = [shutil.which(f"python3.{minor}") for minor in minors]
    versions = Path.home() / ".pyenv" / "versions"
    kept = [each for minor in minors for each in versions.glob(f"3.{minor}.*/bin/python")]
    found = [each for each in named if each and "shims" not in each]  # those of pyenv start none
    return [*found, *map(str, kept)]
