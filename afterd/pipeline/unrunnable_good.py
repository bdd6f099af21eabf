"""A good version that fails in a way of its own: the Python, compiler or library is newer than it knew.

What mended that since is among the changes. The commits that changed what stands nearest to the places that the
good version's own error names are tried: what such a commit changed is left in every variant as the bad
version has it, so the good end is the good version with that alone. The first with which the test passes is
taken; its changes can then not be found guilty, which the answer says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from afterd.execution.oracle import Oracle
from afterd.model.change import Change, ChangeForm
from afterd.model.explanation import RevisionRange
from afterd.workspace import Range

_PLACE = re.compile(r"""(?:File ")?(?P<file>[\w./+-]*\w\.\w+)(?:", line |:)(?P<line>\d+)""")
_ERROR = re.compile(r"^(?:E +)?(?P<said>\w*(?:Error|Exception|error)\b.*)$", re.MULTILINE)
MENDS = "left as in the bad version: the good one fails otherwise without it"


def range_with_runnable_good(
    wanted: Range, said: str, asking: Callable[[Range], Oracle], most: int
) -> tuple[Range, str] | None:
    """The range whose good end can be run and is green, and the sentence for it; None where none of at most
    ``most`` commits mends it. ``said`` is what the good version's run or build wrote.
    """
    for commit in list(_nearest_commits(wanted, said))[:most]:
        kept = [change for change in wanted.changes.live if commit in change.commits]
        tried = _kept_in_all(wanted, kept)
        if tried.everything and _is_green(tried, commit, asking):
            return tried, _note(wanted.revisions, said, commit, kept)
    return None


def _is_green(tried: Range, commit: str, asking: Callable[[Range], Oracle]) -> bool:
    oracle = asking(tried)
    oracle.progress.stage(
        "the good version fails otherwise", f"trying it with commit {commit[:10]}"
    )
    return oracle.attempt(tried.variants.tree(tried.everything)).outcome.passed


def _nearest_commits(wanted: Range, said: str) -> Iterator[str]:
    """The commits of the changes in the files that are named, the nearest to a named line first."""
    places = [(match["file"], int(match["line"])) for match in _PLACE.finditer(said)]
    near: dict[str, int] = {}
    for change in wanted.changes.live:
        if change.form is not ChangeForm.HUNK:
            continue
        for file, line in places:
            if file == change.old_file or file.endswith(f"/{change.old_file}"):
                for commit in change.commits:
                    near[commit] = min(
                        near.get(commit, _distance(change, line)), _distance(change, line)
                    )
    yield from sorted(near, key=lambda commit: near[commit])


def _distance(change: Change, line: int) -> int:
    """Lines of the good version between a change and a line; 0 where the change has it."""
    last = change.old.start + max(change.old.count, 1) - 1
    return max(change.old.start - line, line - last, 0)


def _kept_in_all(wanted: Range, kept: list[Change]) -> Range:
    """The range whose every variant has these changes as the bad version has them."""
    names = frozenset(change.id for change in kept)
    changes = tuple(
        replace(change, pruned=MENDS) if change.id in names else change
        for change in wanted.changes.changes
    )
    listed = replace(wanted.changes, changes=changes)
    return replace(wanted, changes=listed, everything=wanted.everything - names)


def _note(revisions: RevisionRange, said: str, commit: str, kept: list[Change]) -> str:
    errors = _ERROR.findall(said)
    why = f" ({errors[-1].strip()})" if errors else ""
    files = ", ".join(dict.fromkeys(change.file for change in kept))
    return (
        f"The good version {revisions.good[:10]} fails here in another way{why}. What commit {commit[:10]} changed in"
        f" {files} mends that, so it is left in every version that is tried, and is no suspect."
    )
