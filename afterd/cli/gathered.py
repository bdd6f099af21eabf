"""The answers of a repository as one document, for the process that posts them.

Run as a process of its own (``python -m afterd.cli.gathered``), without secrets in its environment:
it opens the repository, and whoever holds a token does not.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from afterd.cli.state import reader
from afterd.errors import AfterdError
from afterd.model.explanation import Explanation
from afterd.report.json import document
from afterd.store.database import Reader
from afterd.store.explanations import latest_explanation, listing, load
from afterd.vcs.repository import open_repository

_LOOKED_AT = 1_000


def main(arguments: Sequence[str]) -> int:
    """Write the document for DIRECTORY and IDs into FILE; an error is a sentence on stderr."""
    directory, output, *identifiers = arguments
    try:
        text = gathered_answers(Path(directory), [int(each) for each in identifiers])
    except AfterdError as error:
        sys.stderr.write(f"{error}\n")
        return int(error.exit_status)
    Path(output).write_text(text, encoding="utf-8")
    return 0


def gathered_answers(repository: Path, identifiers: Sequence[int]) -> str:
    """The named explanations, or all of the newest range, and the address of the remote."""
    with reader(repository) as opened:
        chosen = identifiers or _newest_answers(opened)
        explanations: list[Explanation] = [load(opened, each) for each in chosen]
    whole = {**document(explanations, str(repository)), "project": _remote(repository)}
    return json.dumps(whole, allow_nan=False) + "\n"


def _newest_answers(opened: Reader) -> list[int]:
    """The newest explanation of each test in the range that was explained last."""
    latest_explanation(opened)  # says so where there is none
    summaries = listing(opened, _LOOKED_AT)
    newest: dict[str, int] = {}
    for summary in summaries:
        if summary.range == summaries[0].range:
            newest.setdefault(summary.test, summary.id)
    return sorted(newest.values())


def _remote(repository: Path) -> str:
    """The address of ``origin``, or of the only remote; empty where there is none."""
    remotes = {remote.name: remote.url or "" for remote in open_repository(repository).remotes}
    return remotes.get("origin") or next(iter(remotes.values()), "")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
