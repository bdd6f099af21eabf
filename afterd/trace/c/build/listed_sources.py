"""What undoing a change of a build file lists and no longer lists, where lists of files are all that it alters.

Which sources are compiled is another question than how each is: where a Makefile only says ``lex.o`` for ``scan.o``,
the other sources are compiled as they were, so a compiler may be asked about them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePath

from afterd.execution.includes import COMPILED, INCLUDED
from afterd.model.change import Change

_FILES = COMPILED | INCLUDED | {".o", ".lo", ".obj", ".os"}
_WORD = re.compile(r"[^\s\\,;:()\[\]{}'\"]+")
_NINJAS = re.compile(r"build\s+(?P<made>[^:=$]+):\s*\w+(?P<of>[^=$]*)")
"""A build statement of ninja's: its words are its own, not of how others are made."""


@dataclass(frozen=True, slots=True)
class Listed:
    """Stems of files that build files list in a variant and not in the bad version (``back``), and the other way
    round (``gone``).
    """

    back: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()


def listed(changes: Iterable[Change]) -> Listed | None:
    """What lists differ where these changes of build files are undone; None where that alters more than lists."""
    by_file: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        by_file[change.file].append(change)
    back, gone = set[str](), set[str]()
    for mine in by_file.values():
        old, new = Counter[str](), Counter[str]()
        for change in mine:
            if not change.patch or _others(change, "-") != _others(change, "+"):
                return None
            old.update(stems(change, "-"))
            new.update(stems(change, "+"))
        back.update(old - new)
        gone.update(new - old)
    return Listed(frozenset(back), frozenset(gone))


def stems(change: Change, sign: str) -> Iterator[str]:
    """The files that the lines of one side name, without their folders and suffixes."""
    return (PurePath(word).stem for word in _words(change, sign) if _is_file(word))


def _others(change: Change, sign: str) -> list[str]:
    return [word for word in _words(change, sign) if not _is_file(word)]


def _words(change: Change, sign: str) -> Iterator[str]:
    for line in change.lines(sign):
        ninjas = _NINJAS.fullmatch(line.strip()) if change.file.endswith(".ninja") else None
        yield from _WORD.findall(f"{ninjas['made']} {ninjas['of']}" if ninjas else line)


def _is_file(word: str) -> bool:
    return PurePath(word).suffix.lower() in _FILES and "=" not in word and not word.startswith("-")
