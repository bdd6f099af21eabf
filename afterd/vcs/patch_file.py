"""A patch that a user hands over (``--diff FILE``), applied to a tree in memory.

unidiff reads the text: libgit2 takes only patches with ``diff --git`` headers and no offset. What
unidiff is known to let through (reliability.md, section 13: a hunk longer than its header, CRLF
line ends in headers, quoted names) is checked or undone here, and every line that a hunk claims to
find is compared with the file.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

import pygit2
from pygit2.enums import FileMode, ObjectType
from unidiff.errors import UnidiffParseError
from unidiff.patch import Hunk, PatchedFile, PatchSet

from afterd.errors import RepositoryError
from afterd.limits import GIT
from afterd.vcs.hunks import split_lines
from afterd.vcs.paths import path_bytes, path_text, refusal
from afterd.vcs.trees import Entry, TreeEditor, TreeReader, store_object

_QUOTED = re.compile(rb'\\([0-7]{3}|[abtnvfr"\\])')
_ESCAPES = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))
_NEW_MODE = re.compile(r"^new (?:file )?mode (\d{6})$", re.MULTILINE)
_CONVERTED = re.compile(r"^\+\+\+ .*\r$", re.MULTILINE)
_BINARY = re.compile(rb"^(GIT binary patch|Binary files .* differ)\r?$", re.MULTILINE)


def apply_patch(store: pygit2.Repository, tree: str, patch: bytes) -> str:
    """The tree that ``patch`` makes of ``tree``, written to ``store``.

    Takes git, ``diff -u`` and ``git format-patch`` text. Raises RepositoryError when it cannot be
    read, holds binary content, names a path that must not be written or does not apply.
    """
    if _BINARY.search(patch):
        raise RepositoryError(
            "The patch changes a binary file, whose content it does not hold in a form that afterd "
            "reads. Commit the change and name the two revisions."
        )
    reader = TreeReader(store)
    editor = TreeEditor(reader, tree)
    for file in _parsed_patch(patch):
        _apply_file(file, reader, tree, editor)
    return editor.write()


def _parsed_patch(patch: bytes) -> PatchSet:
    text = patch.decode("utf-8", "surrogateescape")
    if _CONVERTED.search(text):  # unidiff would keep the carriage return as part of the name
        text = text.replace("\r\n", "\n")
    try:
        files = PatchSet(io.StringIO(text, newline="\n"))
    except UnidiffParseError as error:
        raise RepositoryError(f"The patch cannot be read: {error}.") from error
    if not files:
        raise RepositoryError("The patch names no file: it is not a unified diff.")
    _refuse_overlong_hunks(files, text.split("\n"))
    return files


def _refuse_overlong_hunks(files: PatchSet, lines: Sequence[str]) -> None:
    """Unidiff drops the lines of a hunk that its header does not announce, and says nothing."""
    for file in files:
        for hunk in file:
            last = max((line.diff_line_no or 0 for line in hunk), default=0)
            follower = lines[last] if 0 < last < len(lines) else ""
            if follower[:1] in {"+", "-", " "} and not follower.startswith(("---", "-- ")):
                raise RepositoryError(
                    f"The patch cannot be read: line {last + 1} belongs to a hunk that is longer "
                    "than its header says."
                )


def _apply_file(file: PatchedFile, reader: TreeReader, tree: str, editor: TreeEditor) -> None:
    old_path = _place(file.source_file, reader, tree)
    new_path = _path(file.target_file) if file.target_file != "/dev/null" else None
    new_path = _moved_path(file, old_path, new_path)
    for path in filter(None, (old_path, new_path)):
        if why := refusal(path):
            raise RepositoryError(f"The patch names {path_text(path)!r}: {why}.")
    entry = reader.lookup(tree, old_path) if old_path else None
    lines = split_lines(reader.read(entry.id)) if entry else []
    content = b"".join(_patched_lines(lines, file))
    if old_path is not None and old_path != new_path:
        editor.remove(old_path)
    if new_path is not None:
        mode = _mode(file, entry)
        identifier = store_object(reader.repository, ObjectType.BLOB, content)
        editor.put(new_path, Entry(mode, identifier))


def _place(name: str, reader: TreeReader, tree: str) -> bytes | None:
    """The path of a patched file in the tree: as written, or without its first directory."""
    if name == "/dev/null":
        return None
    written = _unquoted_name(name)
    stripped = written.partition(b"/")[2]
    for path in (stripped, written):
        if path and reader.lookup(tree, path) is not None:
            return path
    raise RepositoryError(
        f"The patch changes {path_text(stripped or written)!r}, which the good version lacks."
    )


def _moved_path(file: PatchedFile, old_path: bytes | None, new_path: bytes | None) -> bytes | None:
    """The new path: the old one unless git says it is a rename or there was no old file.

    ``diff -u f.c.orig f.c`` names two files and means one.
    """
    if old_path is None or new_path is None or "rename to" in str(file.patch_info or ""):
        return new_path
    return old_path


def _path(name: str) -> bytes:
    written = _unquoted_name(name)
    return written.partition(b"/")[2] if written.startswith((b"a/", b"b/")) else written


def _unquoted_name(name: str) -> bytes:
    """The bytes of a name that git may have quoted, with C escapes for what is not ASCII."""
    raw = path_bytes(name)
    if not (raw.startswith(b'"') and raw.endswith(b'"')):
        return raw
    return _QUOTED.sub(
        lambda match: bytes([int(match[1], 8) if len(match[1]) == 3 else _ESCAPES[match[1][0]]]),
        raw[1:-1],
    )


def _mode(file: PatchedFile, entry: Entry | None) -> int:
    stated = _NEW_MODE.search(str(file.patch_info or ""))
    if stated:
        return int(stated[1], 8)
    return entry.mode if entry else FileMode.BLOB


def _patched_lines(lines: list[bytes], file: PatchedFile) -> list[bytes]:
    """The file's lines with every hunk applied, top to bottom."""
    done: list[bytes] = []
    position = shift = 0
    for hunk in file:
        old, new = _side(hunk, "-"), _side(hunk, "+")
        begin = hunk.source_start - (1 if hunk.source_length else 0) + shift
        found = _find(lines, old, begin, position)
        if found is None:
            raise RepositoryError(
                f"The patch does not apply: its hunk at line {hunk.source_start} of {file.path!r} "
                "does not match the good version."
            )
        shift += found - begin
        done += lines[position:found] + new
        position = found + len(old)
    return done + lines[position:]


def _side(hunk: Hunk, sign: str) -> list[bytes]:
    """The lines that a hunk takes away or brings, context included."""
    side: list[bytes] = []
    last = ""
    for line in hunk:
        if line.line_type == "\\" and last in {sign, " "}:
            side[-1] = side[-1].removesuffix(b"\n")
        elif line.line_type in {sign, " "}:
            side.append(line.value.encode("utf-8", "surrogateescape"))
        last = line.line_type
    return side


def _find(lines: Sequence[bytes], wanted: Sequence[bytes], begin: int, least: int) -> int | None:
    """Where ``wanted`` stands, nearest to ``begin`` first and not before ``least``."""
    for distance in range(GIT.furthest + 1):
        for place in dict.fromkeys((begin - distance, begin + distance)):
            if place >= least and list(lines[place : place + len(wanted)]) == wanted:
                return place
    return None
