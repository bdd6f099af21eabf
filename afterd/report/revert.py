"""The revert as a patch for ``git apply --unidiff-zero``, made of the changes alone.

The exact one, from tree to tree, is ``afterd patch``; this one needs no repository, and so is what a
job can post that has only the answer. Changes of whole files (renames, modes, binary content) are
named and not in it.

The smallest revert that builds and passes, as a git patch with words before it.

``git apply`` skips what stands before the first ``diff --git`` line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from afterd.model.change import Change, ChangeForm
from afterd.model.explanation import Explanation
from afterd.report.sanitize import one_line
from afterd.report.snippet import undone_patch
from afterd.report.summary import Phrase, as_plain, assurance, headline, listed

_HEADER = re.compile(r"@@ [^\n]* @@[^\n]*(\n|\Z)")
_PLAIN = re.compile(r"[ !#-\[\]-~]*")  # printable ASCII without quote and backslash


def revert_patch(changes: Sequence[Change]) -> str:
    """The patch from the bad version to the one with ``changes`` undone."""
    hunks = [change for change in changes if _is_whole_hunk(change)]
    hunks.sort(key=lambda change: (change.file, change.new.start, change.new.count))
    lines = [
        f"# not in this patch: {change.id} {one_line(change.file)} ({change.form})\n"
        for change in changes
        if not _is_whole_hunk(change)
    ]
    for file, group in groupby(hunks, key=lambda change: change.file):
        lines += _file(file, list(group))
    return "".join(lines)


def _is_whole_hunk(change: Change) -> bool:
    """Whether its patch holds every line (a very long one was shortened)."""
    signs = [line[:1] for line in change.patch.split("\n")]
    counts = (signs.count("-"), signs.count("+"))
    return change.form is ChangeForm.HUNK and counts == (change.old.count, change.new.count)


def _file(file: str, hunks: Sequence[Change]) -> Iterator[str]:
    old, new = _quoted_path(f"a/{file}"), _quoted_path(f"b/{file}")
    yield f"diff --git {old} {new}\n"
    for sign, name in (("---", old), ("+++", new)):
        yield f"{sign} {name}{_TAB if ' ' in name else ''}\n"
    moved = 0  # lines that the hunks above have put in or taken out
    for change in hunks:
        removed, added = change.new.count, change.old.count
        # git looks for removed lines from the new start on: without an end of line, they are found in
        # the like line before them, if that is where it begins
        before = not added and "\n\\" not in change.patch
        start = change.new.start + moved + (not removed) - before
        yield f"@@ -{change.new.start},{removed} +{start},{added} @@\n"
        yield _HEADER.sub("", undone_patch(change.patch), count=1).rstrip("\n") + "\n"
        moved += added - removed


_TAB = "\t"  # ends a name that has spaces


def _quoted_path(name: str) -> str:
    """A path as git writes it in a patch."""
    if _PLAIN.fullmatch(name):
        return name
    return '"' + "".join(_quoted_byte(byte) for char in name for byte in _bytes(char)) + '"'


def _bytes(char: str) -> bytes:
    """Escaped bytes as they were; what is no character at all has bytes that no file name has."""
    is_byte = "\udc80" <= char <= "\udcff"
    return char.encode("utf-8", "surrogateescape" if is_byte else "surrogatepass")


def _quoted_byte(byte: int) -> str:
    if byte in b'"\\':
        return "\\" + chr(byte)
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"


def render(explanation: Explanation, diff: str) -> str:
    """``diff`` (from the pipeline: bad version to the variant that passes) under its reason."""
    undone = [change.id for change in (*explanation.root, *explanation.auxiliary)]
    reverts: Phrase = ("Reverts ", *listed(undone), ".")
    lines = [f"Explanation {explanation.id}: {as_plain(headline(explanation))}.", as_plain(reverts)]
    if explanation.root:
        lines.append(as_plain(assurance(explanation)))
    return "\n".join([*lines, "", diff])


def encoded_patch(patch: str) -> bytes:
    """The bytes that git wrote: escaped surrogates are bytes that are not UTF-8."""
    return patch.encode("utf-8", "surrogateescape")
