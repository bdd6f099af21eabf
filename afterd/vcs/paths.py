"""Paths as git stores them: bytes, possibly not UTF-8, possibly hostile."""

from __future__ import annotations

import re

from afterd.limits import GIT

# Code points that HFS+ ignores in names: ".g\u200cit" is ".git" there (CVE-2014-9390).
_IGNORED_BY_HFS = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")


def path_text(path: bytes) -> str:
    """The path as the model writes it: UTF-8, other bytes as surrogate escapes."""
    return path.decode("utf-8", "surrogateescape")


def path_bytes(path: str) -> bytes:
    """The inverse of ``path_text``."""
    return path.encode("utf-8", "surrogateescape")


def refusal(path: bytes) -> str:
    """Why this path must not be written below a work tree, or '' when it may.

    The rules are git's own (``verify_path`` with ``core.protectHFS`` and ``core.protectNTFS`` on),
    plus lengths that no file system takes and a trailing carriage return (CVE-2025-48384).
    """
    if path.startswith(b"/"):
        return "the path is absolute"
    if len(path) > GIT.path:
        return f"the path is {len(path)} bytes long"
    return next(filter(None, map(refusal_of_name, path.split(b"/"))), "")


def refusal_of_name(name: bytes) -> str:
    """Why one component of a path must not be written, or '' when it may."""
    if name in {b"", b".", b".."}:
        return "the path leaves its directory"
    if re.search(rb"[/\0\\]", name):
        return "a name holds a slash, a backslash or a NUL"
    if name.endswith(b"\r"):
        return "a name ends in a carriage return"
    if len(name) > GIT.name:
        return f"a name is {len(name)} bytes long"
    if _is_git_directory(name):
        return "the path is inside git's own directory"
    return ""


def _is_git_directory(name: bytes) -> bool:
    plain = _IGNORED_BY_HFS.sub("", path_text(name)).lower()
    return plain.partition(":")[0].rstrip(" .") in {".git", "git~1"}
