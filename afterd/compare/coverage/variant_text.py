"""What speaks against a variant of a JavaScript, TypeScript, Go, Rust or Java program, by its text alone.

Only files that changed in the range are read: what others define and use is the same in every variant.
What is wrong with one of the two versions as well is no fault.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath

from afterd.compare.coverage.scopes import Scopes, is_known, scopes
from afterd.limits import VARIANT_TEXT
from afterd.model.change import NOTHING, Change, ChangeId, ChangeSet
from afterd.model.outcome import Outcome, Unresolved

FilesOf = Callable[[ChangeSet], Mapping[str, str]]
"""The files of a variant: their content's id by path."""
_WORD = re.compile(rb"[^\W\d]\w*")
_SHARED = frozenset({".go", ".rs", ".java"})
"""Languages in which a name at the top of one file is seen in others, or may be."""
_MISSED = (
    re.compile(r"ReferenceError: (?P<name>[\w$]+) is not defined"),
    re.compile(r"TypeError: (?:[^\n]*?[.\s])?(?P<name>[\w$]+)(?:\(\.\.\.\))? is not"
               r" (?:a function|a constructor|iterable)"),
    re.compile(r"does not provide an export named '(?P<name>[\w$]+)'"),
    re.compile(r"Cannot find (?:module|package) '(?:[^'\n]*/)?(?P<name>[\w$-]+)(?:\.\w+)?'"),
    re.compile(r"SyntaxError: Identifier '(?P<name>[\w$]+)' has already been declared"),
)  # fmt: skip


class VariantText:
    """Answers for the variants of one range; ``read`` gives a content by its id."""

    def __init__(
        self,
        files_of: FilesOf,
        read: Callable[[str], bytes],
        everything: ChangeSet,
        changes: Sequence[Change],
    ) -> None:
        self._files_of = files_of
        self._read = read
        self._everything = everything
        paths = {path for change in changes for path in (change.file, change.old_file)}
        self._changed = sorted(path for path in paths if is_known(path))
        self._known: dict[tuple[str, str], Scopes] = {}

    def against(self, reverted: ChangeSet) -> str:
        """What is wrong with the variant and with neither version, a line each; or empty."""
        mine = self._texts(reverted)
        faults = dict.fromkeys(f for f in self._faults(mine) if f not in self._accepted)
        return "\n".join(list(faults)[: VARIANT_TEXT.faults])

    def _faults(self, texts: Mapping[str, Scopes]) -> Iterator[str]:
        gone = self._defined_once - _defined_names(texts)
        tops = frozenset[str]().union(*(text.top for text in texts.values()))
        for path, text in texts.items():
            if not text.parses:
                yield f"{path}: SyntaxError: it does not parse"
                continue
            for name in sorted(text.free):
                # Of a package the files that did not change may define it: then it is free in both.
                if name in gone or not (PurePosixPath(path).suffix in _SHARED and name in tops):
                    yield f"{path}: name '{name}' is not defined"
            for name in sorted(text.asks & gone):
                yield f"{path}: nothing defines '{name}'"
            for name in sorted(text.idle):
                yield f"{path}: '{name}' imported and not used"

    @cached_property
    def _accepted(self) -> frozenset[str]:
        """What seems wrong with one of the two versions, which both build: names of the language itself, and
        those that the grammar's reading took for free ones (bound by a pattern, or of a macro).
        """
        ends = (self._texts(NOTHING), self._texts(self._everything))
        return frozenset(
            fault for texts in ends for fault in self._faults(texts) if "defines '" not in fault
        )

    @cached_property
    def _defined_once(self) -> frozenset[str]:
        """Names that the changed files of one version define, and no other file mentions as its own; not those that a
        version asks for without them: it builds, so another may define them (a generated accessor).
        """
        ends = (self._texts(NOTHING), self._texts(self._everything))
        asked = (_asked_names(texts) - _defined_names(texts) for texts in ends)
        met = self._elsewhere.union(*asked)
        return frozenset[str]().union(*map(_defined_names, ends)) - met

    @cached_property
    def _elsewhere(self) -> frozenset[str]:
        """The words of files that did not change: one of them may define a name, too."""
        suffixes = {PurePosixPath(path).suffix for path in self._changed}
        others = [
            identifier
            for path, identifier in self._files_of(NOTHING).items()
            if PurePosixPath(path).suffix in suffixes and path not in self._changed
        ]
        words: set[bytes] = set()
        for identifier in others[: VARIANT_TEXT.files]:
            words.update(_WORD.findall(self._read(identifier)))
        return frozenset(word.decode("utf-8", "replace") for word in words)

    def _texts(self, reverted: ChangeSet) -> Mapping[str, Scopes]:
        files = self._files_of(reverted)
        return {path: self._scopes(path, files[path]) for path in self._changed if path in files}

    def _scopes(self, path: str, identifier: str) -> Scopes:
        if (path, identifier) not in self._known:
            self._known[path, identifier] = scopes(path, self._read(identifier))
        return self._known[path, identifier]


def _defined_names(texts: Mapping[str, Scopes]) -> frozenset[str]:
    return frozenset[str]().union(*(text.top | text.members for text in texts.values()))


def _asked_names(texts: Mapping[str, Scopes]) -> frozenset[str]:
    return frozenset[str]().union(*(text.asks for text in texts.values()))


class MissedNames:
    """What a run of a half-undone JavaScript program failed for want of; empty: it did run."""

    def __init__(self, changes: Mapping[ChangeId, Change]) -> None:
        self._words = {
            change.id: frozenset(_WORD.findall(change.patch.encode(errors="replace")))
            for change in changes.values()
        }

    def __call__(self, reverted: ChangeSet, outcome: Outcome) -> str:
        """The line of the failure that names what a change of the reverted ones touches."""
        if outcome.reason is not Unresolved.DIFFERENT_FAILURE:
            return ""
        words = frozenset[bytes]().union(*(self._words[c] for c in reverted if c in self._words))
        for pattern in _MISSED:
            for match in pattern.finditer(outcome.detail):
                if match["name"].encode() in words:
                    return f"{match[0]} ('{match['name']}')"
        return ""
