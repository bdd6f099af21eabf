"""The summary page of a CI job: GitHub, Gitea and Forgejo show what a job appends to a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from afterd.report.comment import MARKER

VARIABLE = "GITHUB_STEP_SUMMARY"
_LARGEST = 1_000_000  # bytes; a summary over 1 MiB is thrown away whole


def summarise(text: str, environment: Mapping[str, str]) -> bool:
    """Append a comment's Markdown to the page of the job we run in; False where there is none."""
    path = environment.get(VARIABLE)
    if not path:
        return False
    data = text.removeprefix(MARKER).encode("utf-8")
    try:
        with Path(path).open("ab") as file:
            if file.tell() + len(data) > _LARGEST:
                return False
            file.write(data)
    except OSError:
        return False  # the page is a courtesy
    return True
