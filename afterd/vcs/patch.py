"""Changes as patch text: for people, reports and ``git apply``."""

from __future__ import annotations

from collections.abc import Sequence

import pygit2
from pygit2.enums import DeltaStatus, DiffFind, DiffOption

from afterd.model.location import LineSpan
from afterd.vcs.file_pairs import FilePair
from afterd.vcs.hunks import Hunk, split_lines
from afterd.vcs.paths import path_text

LONGEST = 1 << 16  # characters of a patch that are kept; variants are never made from this text
_HEADERS = (b"diff --git ", b"old mode", b"new mode", b"similarity", b"rename ")
_NO_NEWLINE = "\\ No newline at end of file\n"


def hunk_patch(hunk: Hunk, good: Sequence[bytes], bad: Sequence[bytes], symbol: str = "") -> str:
    """A zero-context unified hunk; bytes that are not UTF-8 become surrogate escapes."""
    header = f"@@ -{_span(hunk.old)} +{_span(hunk.new)} @@" + (f" {symbol}" if symbol else "")
    lines = [header + "\n"]
    for sign, span, text in (("-", hunk.old, good), ("+", hunk.new, bad)):
        for line in text[span.start - 1 : span.end - 1] if span.count else ():
            lines.append(sign + line.decode("utf-8", "surrogateescape"))
            if not line.endswith(b"\n"):
                lines.append("\n" + _NO_NEWLINE)
    return _shortened("".join(lines))


def file_patch(pair: FilePair) -> str:
    """The lines of a git patch header that tell what happened to a file as a whole."""
    if pair.old is None and pair.new is not None:
        return f"new file mode {pair.new.mode:06o}\n"
    if pair.new is None and pair.old is not None:
        return f"deleted file mode {pair.old.mode:06o}\n"
    assert pair.old is not None
    assert pair.new is not None
    if pair.old.is_submodule or pair.new.is_submodule:
        return f"-Subproject commit {pair.old.id}\n+Subproject commit {pair.new.id}\n"
    return f"index {pair.old.id}..{pair.new.id}\n"


def rename_patch(pair: FilePair) -> str:
    """A rename as git writes it."""
    return f"rename from {path_text(pair.old_path)}\nrename to {path_text(pair.new_path)}\n"


def mode_patch(pair: FilePair) -> str:
    """A change of mode as git writes it."""
    assert pair.old is not None
    assert pair.new is not None
    return f"old mode {pair.old.mode:06o}\nnew mode {pair.new.mode:06o}\n"


def tree_patch(repository: pygit2.Repository, before: str, after: str) -> bytes:
    """The git patch from one tree (or commit) to another, binary files included.

    From the bad version to a variant this is the patch that undoes the variant's changes, fit for
    ``git apply``. ``repository`` must be able to read both trees (the object store can).
    """
    old, new = (repository[revision].peel(pygit2.Tree) for revision in (before, after))
    diff = old.diff_to_tree(new, flags=DiffOption.SHOW_BINARY, interhunk_lines=0)
    diff.find_similar(flags=DiffFind.FIND_RENAMES)
    patches = [patch for patch in diff if patch is not None]
    # git apply wants a file gone before a link of its name comes; libgit2 writes them as they fall.
    patches.sort(key=lambda patch: patch.delta.status != DeltaStatus.DELETED)
    return b"".join(map(_applicable, patches))


def _applicable(patch: pygit2.Patch) -> bytes:
    """The patch as git takes it: libgit2 says of a binary file that only moved or changed its mode
    that its content differs.
    """
    delta = patch.delta
    if delta.old_file.id != delta.new_file.id:
        return patch.data
    return b"".join(line for line in split_lines(patch.data) if line.startswith(_HEADERS))


def _span(span: LineSpan) -> str:
    return str(span.start) if span.count == 1 else f"{span.start},{span.count}"


def _shortened(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    kept = text[:LONGEST].rpartition("\n")[0] or text[:LONGEST]
    left = text.count("\n", len(kept) + 1)
    return f"{kept}\n\\ {left} more lines\n"
