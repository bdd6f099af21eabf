"""Names that C and C++ files give otherwise now: a range that calls ``parse`` ``json_parse`` has a hunk for each use.

No part of a renaming can be undone alone, and what else was altered on a line of it could only be undone with all of
it. So a name is taken back where all is undone that has it, and in any other variant the good version's lines stand
with the new name. Told by the words alone: a word that no changed file has any more, which stood, wherever a line is
as it was otherwise, where one stands now that none had before.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from afterd.model.change import Change, ChangeForm, ChangeId, ChangeSet
from afterd.model.location import LineSpan
from afterd.vcs.hunks import split_lines
from afterd.vcs.tokens import Language, language_of
from afterd.vcs.trees import ReadFile

_TOKEN = re.compile(rb"[A-Za-z_]\w*|\S")
_WORD = re.compile(rb"[A-Za-z_]\w*")
_Tokens = tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Renamed:
    """The new name of each, and the changes that have the one or the other."""

    names: Mapping[bytes, bytes]
    holders: Mapping[bytes, ChangeSet]

    def standing(self, undone: ChangeSet) -> frozenset[bytes]:
        """The old names that are not taken back where these changes are undone."""
        return frozenset(name for name, held in self.holders.items() if not held <= undone)

    def in_new_names(self, text: bytes, standing: frozenset[bytes] | None = None) -> bytes:
        """A text of the good version with the new names, of all or of these."""
        names = self.names
        if not names or standing == frozenset():
            return text

        def name(found: re.Match[bytes]) -> bytes:
            word = found[0]
            return names.get(word, word) if standing is None or word in standing else word

        return _WORD.sub(name, text)

    def as_undone(self, change: Change, standing: frozenset[bytes]) -> Change:
        """A change as it reads where it is undone and these names stand: what comes back has the new ones."""
        if (
            not standing
            or change.form is not ChangeForm.HUNK
            or language_of(change.file) is not Language.C
        ):
            return change
        lines = change.patch.encode("utf-8", "surrogateescape").split(b"\n")
        undone = b"\n".join(
            self.in_new_names(line, standing) if line.startswith(b"-") else line for line in lines
        )
        return replace(change, patch=undone.decode("utf-8", "surrogateescape"))


NONE_RENAMED = Renamed({}, {})


def renamed_names(changes: Iterable[Change], good: ReadFile, bad: ReadFile) -> Renamed:
    """The names of C and C++ files that the hunks of a range give otherwise throughout."""
    own = [each for each in changes if language_of(each.file) is Language.C]
    hunks = [each for each in own if each.form is ChangeForm.HUNK]
    if not any(each.old.count and each.new.count for each in hunks):
        return NONE_RENAMED
    before = {path: _text(good, path) for path in {each.old_file for each in own}}
    after = {path: _text(bad, path) for path in {each.file for each in own}}
    old, new = _words(before.values()), _words(after.values())
    lines = [{path: split_lines(text) for path, text in side.items()} for side in (before, after)]
    votes = Counter[tuple[bytes, bytes]]()
    for each in hunks:
        sides = _lines(lines[0], each.old_file, each.old), _lines(lines[1], each.file, each.new)
        votes.update(_pairs(*sides, old - new, new - old))
    names = dict(_of_one_mind(votes))
    if not names:
        return NONE_RENAMED
    by_whole = [each for each in own if each.form in _WHOLE]
    fixed = _words(before[each.old_file] for each in by_whole)
    names = {name: now for name, now in names.items() if name not in fixed}
    return Renamed(names, _holders(names, own, lines, after))


_WHOLE = frozenset({ChangeForm.DELETED, ChangeForm.WHOLE, ChangeForm.BINARY})


def _text(read: ReadFile, path: str) -> bytes:
    return read(path) or b""


def _words(texts: Iterable[bytes]) -> frozenset[bytes]:
    return frozenset(word for text in texts for word in _WORD.findall(text))


def _lines(texts: Mapping[str, Sequence[bytes]], path: str, span: LineSpan) -> Sequence[bytes]:
    return texts[path][span.before : span.before + span.count]


def _pairs(
    old: Sequence[bytes], new: Sequence[bytes], gone: frozenset[bytes], come: frozenset[bytes]
) -> Iterator[tuple[bytes, bytes]]:
    """The words that stood, and stand now, in the same place of a line that is as it was otherwise."""
    here = _by_shape(old, gone)
    there = _by_shape(new, come) if here else {}
    for shape, words in here.items():
        others = there.get(shape, ())
        if len(words) == len(others) == 1:
            yield from zip(words[0], others[0], strict=True)


def _by_shape(lines: Sequence[bytes], names: frozenset[bytes]) -> Mapping[_Tokens, list[_Tokens]]:
    """The words of ``names`` on each line that has some, by what the line is without them."""
    found: dict[_Tokens, list[_Tokens]] = defaultdict(list)
    for line in lines:
        tokens = _TOKEN.findall(line)
        own = tuple(token for token in tokens if token in names)
        if own:
            found[tuple(b"" if token in names else token for token in tokens)].append(own)
    return found


def _of_one_mind(votes: Counter[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
    """The pairs of which neither word was ever seen with another one, and that were seen more than once."""
    times = Counter(name for pair in votes for name in pair)
    for (old, new), seen in votes.items():
        if seen > 1 and times[old] == times[new] == 1:
            yield old, new


def _holders(
    names: Mapping[bytes, bytes],
    changes: Sequence[Change],
    lines: Sequence[Mapping[str, Sequence[bytes]]],
    after: Mapping[str, bytes],
) -> Mapping[bytes, ChangeSet]:
    """The changes that have a name, before or after."""
    former = {now: name for name, now in names.items()}
    found: dict[bytes, set[ChangeId]] = defaultdict(set)
    for each in changes:
        if each.form is ChangeForm.HUNK:
            texts = [
                b"".join(_lines(lines[0], each.old_file, each.old)),
                b"".join(_lines(lines[1], each.file, each.new)),
            ]
        elif each.form is ChangeForm.ADDED:
            texts = [after[each.file]]
        else:
            continue
        for word in _words(texts):
            name = word if word in names else former.get(word)
            if name is not None:
                found[name].add(each.id)
    return {name: frozenset(own) for name, own in found.items()}
