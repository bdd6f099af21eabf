"""The changes of one file: what happened to it as a whole, and the hunks of its text."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from afterd.model.change import Change, ChangeForm, FileKind
from afterd.model.location import LineSpan
from afterd.vcs.enclosing import Symbol, enclosing, symbols
from afterd.vcs.file_pairs import FilePair
from afterd.vcs.hunks import Hunk, SourceText, difference, smallest
from afterd.vcs.kinds import FileRules, kind_of
from afterd.vcs.languages import language_of
from afterd.vcs.patch import file_patch, hunk_patch, mode_patch, rename_patch
from afterd.vcs.paths import path_text, refusal
from afterd.vcs.trees import Entry, TreeReader

KEPT_TEST = "test file: kept as in the bad version"
_NO_LINES = LineSpan(0, 0)
_BINARY_WINDOW = 8000  # git looks for a NUL in so many bytes


class FileChanges:
    """A changed file on its way to changes; ``by_line`` can be switched off by a limit."""

    def __init__(self, pair: FilePair, reader: TreeReader, rules: FileRules, largest: int) -> None:
        self.pair = pair
        self.by_line = True
        self.path = path_text(pair.new_path)
        self.kind = kind_of(self.path, rules)
        self.pruned = self._reason(rules)
        self._reader = reader
        self._largest = largest

    @cached_property
    def too_large(self) -> bool:
        """Whether a side is larger than is looked at line by line."""
        return any(
            entry is not None
            and not entry.is_submodule
            and self._reader.size(entry.id) > self._largest
            for entry in (self.pair.old, self.pair.new)
        )

    @cached_property
    def is_binary(self) -> bool:
        """Whether a side holds a NUL near its beginning (git's rule)."""
        return any(b"\0" in text.content[:_BINARY_WINDOW] for text in (self._good, self._bad))

    @cached_property
    def coarse_hunks(self) -> list[Hunk]:
        """The hunks of the text as they come; none where there are no two texts to compare."""
        if not self._both_files or self.too_large or self.is_binary:
            return []
        return difference(self._good.content, self._bad.content)

    @cached_property
    def hunks(self) -> list[Hunk]:
        """The hunks split as small as can be reverted alone."""
        good, bad = self._good, self._bad
        return [part for hunk in self.coarse_hunks for part in smallest(hunk, good, bad)]

    @cached_property
    def lines(self) -> int:
        """Lines removed and added."""
        return sum(hunk.old.count + hunk.new.count for hunk in self.coarse_hunks)

    def changes(self) -> Iterator[Change]:
        """Its changes without ids, top to bottom; as a whole first."""
        pair = self.pair
        if pair.old is None or pair.new is None:
            yield self._appearance()
        elif pair.old.is_submodule or pair.new.is_submodule:
            yield self._change(ChangeForm.SUBMODULE, file_patch(pair))
        else:
            if pair.old_path != pair.new_path:
                yield self._change(ChangeForm.RENAMED, rename_patch(pair))
            if pair.old.is_link or pair.new.is_link:
                yield from self._link(pair.old, pair.new)
            else:
                if pair.old.mode != pair.new.mode:
                    yield self._change(ChangeForm.MODE, mode_patch(pair))
                if pair.old.id != pair.new.id:
                    yield from self._content()

    def _appearance(self) -> Change:
        """A file that only one version has is one change, with all its lines."""
        pair = self.pair
        entry = pair.new or pair.old
        assert entry is not None
        form = ChangeForm.ADDED if pair.old is None else ChangeForm.DELETED
        if entry.is_submodule:
            return self._change(ChangeForm.SUBMODULE, file_patch(pair))
        if self.too_large or self.is_binary:
            return self._change(form, file_patch(pair))
        hunk = Hunk(_all_lines(self._good), _all_lines(self._bad))
        text = hunk_patch(hunk, self._good.lines, self._bad.lines)
        return self._change(form, file_patch(pair) + text, hunk)

    def _link(self, old: Entry, new: Entry) -> Iterator[Change]:
        if old != new:
            targets = (f"{sign}{path_text(self._reader.read(entry.id))}\n"
                       for sign, entry in (("-", old), ("+", new)) if entry.is_link)  # fmt: skip
            modes = mode_patch(self.pair) if old.mode != new.mode else ""
            yield self._change(ChangeForm.SYMLINK, modes + "".join(targets))

    def _content(self) -> Iterator[Change]:
        if self.too_large:
            yield self._change(ChangeForm.WHOLE, file_patch(self.pair))
        elif self.is_binary:
            yield self._change(ChangeForm.BINARY, file_patch(self.pair))
        elif not self.by_line:
            hunk = Hunk(_all_lines(self._good), _all_lines(self._bad))
            yield self._change(ChangeForm.WHOLE, file_patch(self.pair), hunk)
        else:
            for hunk in self.hunks:
                symbol = self._symbol(hunk)
                text = hunk_patch(hunk, self._good.lines, self._bad.lines, symbol)
                yield self._change(ChangeForm.HUNK, text, hunk, symbol)

    def _change(
        self, form: ChangeForm, patch: str, hunk: Hunk | None = None, symbol: str = ""
    ) -> Change:
        return Change(
            id="",
            file=self.path,
            old_file=path_text(self.pair.old_path),
            old=hunk.old if hunk else _NO_LINES,
            new=hunk.new if hunk else _NO_LINES,
            form=form,
            kind=self.kind,
            symbol=symbol,
            patch=patch,
            pruned=self.pruned,
        )

    def _reason(self, rules: FileRules) -> str:
        for path in (self.pair.new_path, self.pair.old_path):
            if why := refusal(path):
                return f"refused: {why}"
        return KEPT_TEST if rules.keep_tests and self.kind is FileKind.TEST else ""

    @property
    def _both_files(self) -> bool:
        old, new = self.pair.old, self.pair.new
        return old is not None and new is not None and old.is_file and new.is_file

    @cached_property
    def _good(self) -> SourceText:
        return self._text(self.pair.old, self.pair.old_path)

    @cached_property
    def _bad(self) -> SourceText:
        return self._text(self.pair.new, self.pair.new_path)

    def _text(self, entry: Entry | None, path: bytes) -> SourceText:
        readable = entry is not None and not entry.is_submodule
        content = self._reader.read(entry.id) if entry and readable else b""
        return SourceText(content, language_of(path_text(path)))

    def _symbol(self, hunk: Hunk) -> str:
        """The function or class around the new lines, or around the old where none are left."""
        if hunk.new.count:
            return enclosing(self._bad_symbols, hunk.new.start)
        return enclosing(self._good_symbols, hunk.old.start)

    @cached_property
    def _good_symbols(self) -> tuple[Symbol, ...]:
        return symbols(self._good.content, self._good.language)

    @cached_property
    def _bad_symbols(self) -> tuple[Symbol, ...]:
        return symbols(self._bad.content, self._bad.language)


def _all_lines(text: SourceText) -> LineSpan:
    return LineSpan(1, text.count) if text.content else _NO_LINES
