"""Which lines of a faulty version are wrong: those that the preprocessor makes different.

A line that nothing executes (a table's entry, a declaration, an enumerator) is stood for by the
statements that read what it declares; a deletion by the statements around it. A brace or a jump decides
nothing: what stands before ``break;`` is the condition under which it is taken.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from afterd.localization.examination import Line

_MARKER = re.compile(r'# (?P<line>\d+) "(?P<file>[^"]*)".*')
_LITERAL = re.compile(r"\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*'")
_SILENT = re.compile(r"[\s{}]*(?:(?:break|continue|return|goto\s+\w+)\s*;)?[\s{}]*")
_WORD = re.compile(r"[A-Za-z_]\w*")
_KEYWORDS = """
char const double enum extern float int long register short signed static struct typedef union unsigned
void volatile
"""
_TYPES = frozenset(_KEYWORDS.split())

Expanded = Mapping[Line, str]
"""The text of each line that the preprocessor left something of."""


def expanded_lines(preprocessed: str) -> Expanded:
    """The lines of files with relative names, from what a preprocessor wrote."""
    found: dict[Line, str] = {}
    file, number = "", 0
    for text in preprocessed.splitlines():
        if (marker := _MARKER.fullmatch(text)) is not None:
            file, number = marker["file"].removeprefix("./"), int(marker["line"])
            continue
        if text.strip() and not file.startswith(("/", "<")):
            found[file, number] = found.get((file, number), "") + text.strip()
        number += 1
    return found


def differing_lines(golden: Expanded, faulty: Expanded) -> frozenset[Line]:
    """The faulty version's lines with another text than golden's; around a gap, both neighbours, and beyond those
    that decide nothing the next ones.
    """
    before, after = _by_file(golden), _by_file(faulty)
    found: set[Line] = set()
    for file, lines in after.items():
        old = [golden[file, number] for number in before.get(file, ())]
        new = [faulty[file, number] for number in lines]
        for start, end in _changed_spans(old, new):
            span = lines[start:end] if end > start else lines[_around(start, new)]
            found.update((file, number) for number in span)
    return frozenset(found)


def _around(gap: int, texts: Sequence[str]) -> slice:
    """The lines from the last one before a gap that decides something to the first one behind it."""
    deciding = [at for at, text in enumerate(texts) if not _SILENT.fullmatch(text)]
    before = [at for at in deciding if at < gap][-1:] or [0]
    behind = [at for at in deciding if at >= gap][:1] or [len(texts) - 1]
    return slice(before[0], behind[0] + 1)


def _by_file(lines: Expanded) -> Mapping[str, list[int]]:
    found = defaultdict[str, list[int]](list)
    for file, number in sorted(lines):
        found[file].append(number)
    return found


def _changed_spans(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Spans of the new lines that are not as they were; empty ones where lines are gone."""
    same = range(min(len(old), len(new)))
    first = next((at for at in same if old[at] != new[at]), len(same))
    rest = range(len(same) - first)
    last = next((at for at in rest if old[-1 - at] != new[-1 - at]), len(rest))
    left, right = old[first : len(old) - last], new[first : len(new) - last]
    for tag, _, _, start, end in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag != "equal":
            yield first + start, first + end


def places(wrong: frozenset[Line], text: Expanded, executable: Collection[Line]) -> frozenset[Line]:
    """The wrong lines, and what stands for them where none of them is executable."""
    if not wrong or any(line in executable for line in wrong):
        return wrong
    names, declared = set[str](), set[Line]()
    for line in wrong:
        chunk = next((c for c in _chunks(text, line[0]) if line in c), [line])
        names |= _declared_names(chunk, line, text)
        declared.update(chunk if "(" not in _head(chunk, text) else ())
    reading = {
        line for line in executable if not names.isdisjoint(_WORD.findall(text.get(line, "")))
    }
    return wrong | declared | (reading or set(_lines_around(wrong, executable)))


def _chunks(text: Expanded, file: str) -> Iterator[list[Line]]:
    """The lines of each declaration and function of a file."""
    chunk: list[Line] = []
    depth = 0
    for line in sorted(line for line in text if line[0] == file):
        bare = _LITERAL.sub("", text[line])
        chunk.append(line)
        depth = max(0, depth + bare.count("{") - bare.count("}"))
        if not depth and bare.endswith((";", "}")):
            yield chunk
            chunk = []
    yield chunk


def _head(chunk: Sequence[Line], text: Expanded) -> str:
    """A declaration up to its value or body, and which of the two follows."""
    whole = " ".join(text.get(line, "") for line in chunk)
    return whole[: next((at + 1 for at, c in enumerate(whole) if c in "={"), len(whole))]


def _declared_names(chunk: Sequence[Line], line: Line, text: Expanded) -> set[str]:
    """What a declaration with a value names; of a function or a type, all that the line itself names."""
    head = _head(chunk, text)
    valued = head.endswith("=") and "(" not in head
    head = re.sub(r"\[[^\]]*\]", "", head)
    found = _WORD.findall(head)[-1:] if valued else _WORD.findall(text.get(line, ""))
    return set(found) - _TYPES


def _lines_around(wrong: Collection[Line], executable: Collection[Line]) -> Iterator[Line]:
    """The nearest executable lines before and behind."""
    for file, number in wrong:
        others = sorted(at for name, at in executable if name == file)
        yield from ((file, at) for at in [o for o in others if o < number][-1:])
        yield from ((file, at) for at in [o for o in others if o > number][:1])
