"""The changes of one file: what happened to it as a whole, and the hunks of its text.

Which file of the good version became which file of the bad one. Changes as patch text: for people, reports and
``git apply``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pygit2
from pygit2.enums import DeltaStatus, DiffFind, DiffOption, FileMode

from afterd.limits import GIT
from afterd.model.change import Change, ChangeForm, FileKind
from afterd.model.location import LineSpan
from afterd.vcs.balanced import balanced
from afterd.vcs.commit_parts import Part, cut_at_commits, statements_in
from afterd.vcs.declarations import Declarations, apart
from afterd.vcs.enclosing import Enclosing
from afterd.vcs.hunks import Hunk, SourceText, difference, smallest_hunks, split_lines
from afterd.vcs.inline_tests import spans_of_tests
from afterd.vcs.kinds import FileRules, is_generated, kind_of
from afterd.vcs.moved_functions import altered_in_moved
from afterd.vcs.moved_text import MovedText, Origin, Source
from afterd.vcs.other_functions import without_accidents
from afterd.vcs.paths import path_text, refusal
from afterd.vcs.renumbered import Renumbered
from afterd.vcs.tokens import Language, language_of
from afterd.vcs.trees import Entry, TreeReader

REFUSED = "refused: "


@dataclass(frozen=True, slots=True)
class FilePair:
    """A changed file: path and entry in both versions; an entry is None where there is no file."""

    old_path: bytes
    new_path: bytes
    old: Entry | None
    new: Entry | None


def file_pairs(reader: TreeReader, good: str, bad: str) -> list[FilePair]:
    """The files that differ between two trees, by the path in ``bad``, renames paired.

    The differences come from the trees themselves (raw modes, any bytes in names); libgit2 is only
    asked which deleted file became which added one, without the user's ``diff.renames``.
    """
    found = {path: (old, new) for path, old, new in reader.differences(good, bad)}
    deleted = {path for path, (_, new) in found.items() if new is None}
    added = {path for path, (old, _) in found.items() if old is None}
    moved = renames(reader.repository, good, bad) if deleted and added else {}
    pairs = []
    for new_path, old_path in moved.items():
        if new_path in added and old_path in deleted:
            old, new = found.pop(old_path)[0], found.pop(new_path)[1]
            pairs.append(FilePair(old_path, new_path, old, new))
    pairs += [FilePair(path, path, old, new) for path, (old, new) in found.items()]
    return sorted(pairs, key=lambda pair: pair.new_path)


def renames(repository: pygit2.Repository, good: str, bad: str) -> Mapping[bytes, bytes]:
    """Which file of ``bad`` was which in ``good``: new path to old path.

    Submodules are left out: they are never looked into.
    """
    try:
        old, new = repository[good].peel(pygit2.Tree), repository[bad].peel(pygit2.Tree)
        diff = old.diff_to_tree(new, flags=DiffOption.SKIP_BINARY_CHECK)
        diff.find_similar(
            flags=DiffFind.FIND_RENAMES,
            rename_limit=GIT.renames,
            rename_threshold=GIT.similar,
        )
    except (pygit2.GitError, KeyError):
        return {}  # a rename is then a deletion and an addition: as true, only less readable
    return dict(_renamed_paths(diff))


def _renamed_paths(diff: pygit2.Diff) -> Iterator[tuple[bytes, bytes]]:
    for delta in diff.deltas:
        new, old = delta.new_file, delta.old_file
        if delta.status == DeltaStatus.RENAMED and new.mode != FileMode.COMMIT:
            yield new.raw_path, old.raw_path


LONGEST = GIT.patch
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
    return _shortened_line("".join(lines))


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


def _shortened_line(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    kept = text[:LONGEST].rpartition("\n")[0] or text[:LONGEST]
    left = text.count("\n", len(kept) + 1)
    return f"{kept}\n\\ {left} more lines\n"


KEPT_TEST = "test file: kept as in the bad version"
_NO_LINES = LineSpan(0, 0)


class FileChanges:
    """A changed file on its way to changes; ``by_line`` can be switched off by a limit."""

    def __init__(self, pair: FilePair, reader: TreeReader, rules: FileRules, largest: int) -> None:
        self.pair = pair
        self.by_line = True
        self.path = path_text(pair.new_path)
        self.kind = kind_of(self.path, rules)
        self.language = language_of(self.path)
        self.pruned = self._reason(rules)
        self.origin: Origin | None = None
        self._rules = rules
        self._reader = reader
        self._largest = largest

    @cached_property
    def too_large(self) -> bool:
        """Whether a side is larger than is looked at line by line."""
        return any(
            entry is not None
            and not entry.is_submodule
            and self._reader.size(entry.id, path) > self._largest
            for entry, path in (
                (self.pair.old, self.pair.old_path),
                (self.pair.new, self.pair.new_path),
            )
        )

    @cached_property
    def is_binary(self) -> bool:
        """Whether a side holds a NUL near its beginning (git's rule)."""
        return _is_binary(self._good) or _is_binary(self._bad)

    @cached_property
    def is_generated(self) -> bool:
        """Whether both sides were made by a tool: such a file is one change, and a late one.

        What its hunks mean stands elsewhere, and parts of two generations do not go together.
        """
        return (
            self._both_files
            and not self.too_large
            and all(is_generated(self.path, text.content) for text in (self._good, self._bad))
        )

    @cached_property
    def coarse_hunks(self) -> list[Hunk]:
        """The hunks of the text as they come; none where there are no two texts to compare."""
        if self.too_large or self.is_binary or self.is_generated:
            return []
        if self.origin is not None:
            return list(self.origin.hunks)
        if self._both_files:
            found = difference(self._good.content, self._bad.content)
            if self.language is Language.C:
                texts, symbols = (self._good, self._bad), (self._good_symbols, self._bad_symbols)
                found = without_accidents(found, *texts, *symbols)
            braced = self.language.braced
            return [*balanced(found, self._good, self._bad)] if braced else found
        return [Hunk(_NO_LINES, _all_lines(self._bad))] if self.is_divisible else []

    @cached_property
    def is_divisible(self) -> bool:
        """Whether it is an added file of the program, of which parts can be undone and leave the rest."""
        new = self.pair.new
        added = self.pair.old is None and new is not None and new.is_file
        of_program = self.kind is FileKind.SOURCE and not self.pruned and not self.too_large
        return (
            added
            and of_program
            and self.language is not Language.OTHER
            and not _is_binary(self._bad)
            and not is_generated(self.path, self._bad.content)
        )

    def removed(self) -> Source | None:
        """Its lines that the bad version does not have there any more, where what moved from it may be looked
        for: of a renamed file, which may be what was left when another was made of it, all.
        """
        old = self.pair.old
        if old is None or not old.is_file or self.too_large or self.is_binary:
            return None
        gone = self.pair.new is None or self.pair.new_path != self.pair.old_path
        spans = [_all_lines(self._good)] if gone else [hunk.old for hunk in self.coarse_hunks]
        held = tuple(span for span in spans if span.count)
        return Source(self.pair.old_path, self._good.content, held)

    def come_from(self, moved: MovedText) -> None:
        """Take what was moved into an added file for no change."""
        self.origin = moved.origin(self._bad.content)

    @cached_property
    def hunks(self) -> list[Hunk]:
        """The hunks split as small as can be reverted alone."""
        parts = ([hunk] if whole else self._split(hunk) for hunk, whole in self._joined_hunks)
        return [part for several in parts for part in several]

    @cached_property
    def _altered_in_moved(self) -> Mapping[Hunk, list[Hunk]]:
        """What was altered in functions that moved within the file, by the hunk that put each where it stands now."""
        if self.language is Language.OTHER:
            return {}
        texts, symbols = (self._good, self._bad), (self._good_symbols, self._bad_symbols)
        found = altered_in_moved(self.hunks, *texts, *symbols)
        return {
            hunk: [part for joined in balanced(inside, *texts) for part in self._split(joined)]
            for hunk, inside in found.items()
        }

    @cached_property
    def _joined_hunks(self) -> list[tuple[Hunk, bool]]:
        """The hunks as they come, those of a table that can only be undone whole as one; with whether each is that."""
        if self.language is not Language.C:
            return [(hunk, False) for hunk in self.coarse_hunks]
        return [*Renumbered(self._good.lines, self._bad.lines).joined(self.coarse_hunks)]

    def _split(self, hunk: Hunk) -> list[Hunk]:
        good, bad = self._good, self._bad
        return [
            part
            for small in smallest_hunks(hunk, good, bad)
            for half in self._declared_apart(small)
            for part in ([half] if half == small else smallest_hunks(half, good, bad))
        ]

    def _declared_apart(self, hunk: Hunk) -> list[Hunk]:
        """Declarations (C and C++) that took the place of others of other names, told from those: both can stand.
        Of one line for one line the name alone is another one, and who uses the one uses the other.
        """
        least, most = sorted([hunk.old.count, hunk.new.count])
        if self.language is not Language.C or least < 1 or most < 2:
            return [hunk]
        return apart(hunk, self._good_declarations, self._bad_declarations)

    @cached_property
    def lines(self) -> int:
        """Lines removed and added."""
        return sum(hunk.old.count + hunk.new.count for hunk in self.coarse_hunks)

    def changes(self) -> Iterator[Change]:
        """Its changes without ids, top to bottom; as a whole first."""
        pair = self.pair
        if pair.old is None or pair.new is None:
            yield self._appearance()
            if self.by_line and self.is_divisible:
                yield from map(self._lines_changed, self.hunks)
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
        """That only one version has the file, with all its lines. Undoing it undoes the hunks of an added file
        as well, which are what can be undone while the file stays.
        """
        pair = self.pair
        entry = pair.new or pair.old
        assert entry is not None
        form = ChangeForm.ADDED if pair.old is None else ChangeForm.DELETED
        if entry.is_submodule:
            return self._change(ChangeForm.SUBMODULE, file_patch(pair))
        if self.too_large or self.is_binary:
            return self._change(form, file_patch(pair))
        good = self._good if pair.old else SourceText(b"", self.language)
        hunk = Hunk(_all_lines(good), _all_lines(self._bad))
        text = hunk_patch(hunk, good.lines, self._bad.lines)
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
        elif not self.by_line or self.is_generated:
            hunk = Hunk(_all_lines(self._good), _all_lines(self._bad))
            yield self._change(ChangeForm.WHOLE, file_patch(self.pair), hunk)
        else:
            inside = self._altered_in_moved
            for hunk in self.hunks:
                yield from map(self._lines_changed, (hunk, *inside.get(hunk, ())))

    def statements(self, change: Change) -> list[Part]:
        """The new lines of a change, by statement; none of a table that can only be undone whole."""
        if (Hunk(change.old, change.new), True) in self._joined_hunks:
            return []
        return statements_in(change.new, self._bad)

    def divided(self, change: Change, parts: Sequence[Part]) -> list[Change]:
        """A change cut between the commits that made its ``parts``, without ids; itself where it is one
        commit's, or cannot be cut. What is added is of those who made its own lines, not of those who did something
        right beside them.
        """
        if not parts:
            return [change]
        makers = {part.commits for part in parts}
        if len(makers) == 1 and change.old.count == 0:
            return [replace(change, commits=min(makers) or change.commits)]
        whole = Hunk(change.old, change.new)
        cut = cut_at_commits(whole, parts, self._bad)
        made = [(self._lines_changed(hunk), part.commits) for hunk, part in cut]
        return [replace(each, commits=commits) for each, commits in made] or [change]

    def _lines_changed(self, hunk: Hunk) -> Change:
        symbol = self._symbol(hunk)
        text = hunk_patch(hunk, self._good.lines, self._bad.lines, symbol)
        change = self._change(ChangeForm.HUNK, text, hunk, symbol)
        return self._as_test(change) if self._is_test(hunk) else change

    def _is_test(self, hunk: Hunk) -> bool:
        """Whether all its lines are of tests that stand in this source file."""
        if self.kind is not FileKind.SOURCE:
            return False
        old = _lines_within(hunk.old, self._good_tests, self._good.lines)
        new = _lines_within(hunk.new, self._bad_tests, self._bad.lines)
        return bool(old or new) and all((*old, *new))

    def _as_test(self, change: Change) -> Change:
        kept = KEPT_TEST if self._rules.keep_tests else ""
        return replace(change, kind=FileKind.TEST, pruned=change.pruned or kept)

    def _change(
        self, form: ChangeForm, patch: str, hunk: Hunk | None = None, symbol: str = ""
    ) -> Change:
        origin = self.origin if form is ChangeForm.HUNK else None
        return Change(
            id="",
            file=self.path,
            old_file=path_text(origin.path if origin else self.pair.old_path),
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
                return f"{REFUSED}{why}"
        return KEPT_TEST if rules.keep_tests and self.kind is FileKind.TEST else ""

    @property
    def _both_files(self) -> bool:
        old, new = self.pair.old, self.pair.new
        return old is not None and new is not None and old.is_file and new.is_file

    @cached_property
    def _good(self) -> SourceText:
        if self.origin is not None:
            return SourceText(self.origin.content, self.language)
        return self._text(self.pair.old, self.pair.old_path)

    @cached_property
    def _bad(self) -> SourceText:
        return self._text(self.pair.new, self.pair.new_path)

    def _text(self, entry: Entry | None, path: bytes) -> SourceText:
        readable = entry is not None and not entry.is_submodule
        content = self._reader.read(entry.id, path) if entry and readable else b""
        return SourceText(content, language_of(path_text(path)))

    def _symbol(self, hunk: Hunk) -> str:
        """The function or class around the new lines, or around the old where none are left."""
        if hunk.new.count:
            return self._bad_symbols.name(hunk.new.start)
        return self._good_symbols.name(hunk.old.start)

    @cached_property
    def _good_tests(self) -> tuple[LineSpan, ...]:
        return spans_of_tests(self._good.content, self._good.language)

    @cached_property
    def _bad_tests(self) -> tuple[LineSpan, ...]:
        return spans_of_tests(self._bad.content, self._bad.language)

    @cached_property
    def _good_declarations(self) -> Declarations:
        return Declarations(path_text(self.pair.old_path), self._good.content)

    @cached_property
    def _bad_declarations(self) -> Declarations:
        return Declarations(self.path, self._bad.content)

    @cached_property
    def _good_symbols(self) -> Enclosing:
        return Enclosing(self._good.content, self._good.language)

    @cached_property
    def _bad_symbols(self) -> Enclosing:
        return Enclosing(self._bad.content, self._bad.language)


def moved_text(files: Iterable[FileChanges], language: Language) -> MovedText:
    """What files in a language no longer have in the bad version, to look for it in added ones."""
    alike = (file.removed() for file in files if file.language is language)
    return MovedText([source for source in alike if source is not None], language)


def _is_binary(text: SourceText) -> bool:
    return b"\0" in text.content[: GIT.binary]


def _lines_within(part: LineSpan, spans: Sequence[LineSpan], lines: Sequence[bytes]) -> list[bool]:
    """Of each line of a part of a text that is not blank, whether it is in one of the spans."""
    filled = (number for number in range(part.start, part.end) if lines[number - 1].strip())
    return [any(span.covers(number) for span in spans) for number in filled]


def _all_lines(text: SourceText) -> LineSpan:
    return LineSpan(1, text.count) if text.content else _NO_LINES
