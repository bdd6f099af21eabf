"""Changes that cannot matter are set aside before any run, each with the reason.

Safe means: a program built from the bad version behaves the same with the change undone. What is
compared is what the compiler compares: tokens as the C preprocessor sees them, or Python's syntax
tree. In doubt a change stays.

Hunks of C, C++ and Java that leave the token stream of their file as it is.

Outside parentheses white space only separates tokens. Inside them a macro may turn its argument
into a string, in which any white space is one space: there, its presence counts. A preprocessor
line counts with its end. Text is compared hunk by hunk: the lexer must be in the same state at both
ends of the hunk in both versions, so neutral hunks are neutral in any company.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from afterd.model.change import Change, ChangeForm, ChangeId, ChangeList, FileKind
from afterd.model.inside import outer_hunks
from afterd.model.location import LineSpan
from afterd.vcs.hunks import split_lines
from afterd.vcs.kinds import FileRules, is_of_service
from afterd.vcs.outline import Piece, outline
from afterd.vcs.same_tree import neutral_in_python
from afterd.vcs.tokens import Language, Token, TokenKind, language_of, tokens
from afterd.vcs.trees import ReadFile

WHITE_SPACE = "only white space differs"
COMMENTS = "only comments differ"
_SUFFIXES = frozenset(
    {
        *(".c", ".cc", ".cpp", ".cxx", ".c++", ".h", ".hh", ".hpp", ".hxx", ".h++", ".java"),
        *(".inl", ".ipp", ".tcc", ".tpp", ".m", ".mm", ".cu", ".cuh"),
    }
)
# Raw strings, trigraphs, Java's text blocks and Unicode escapes: the tokens are not what they seem.
_BEYOND_US = re.compile(rb'R"|\?\?/|"""|\\u')
# A line number that the program can show. One hidden in a header's macro is not seen here.
_C_LINE_NUMBERS = re.compile(rb"\b(__LINE__|_?assert\w*|ASSERT\w*|CHECK\w*)\b")


def can_compare_tokens(file: str) -> bool:
    """Whether a file, by its name, is in a language whose tokens are known well enough."""
    return PurePosixPath(file).suffix.lower() in _SUFFIXES


def neutral_tokens(
    good: bytes, bad: bytes, hunks: Sequence[Change], language: Language
) -> Iterator[tuple[ChangeId, str]]:
    """The hunks whose two sides are the same tokens, each with the reason."""
    if _BEYOND_US.search(good) or _BEYOND_US.search(bad):
        return
    before, after = _File(good, language), _File(bad, language)
    if not (before.sound and after.sound):
        return
    visible = bool(_C_LINE_NUMBERS.search(bad) or _C_LINE_NUMBERS.search(good))
    for hunk in hunks:
        if visible and hunk.old.count != hunk.new.count:
            continue
        one, other = before.region(hunk.old), after.region(hunk.new)
        if one is not None and other is not None and one.code == other.code:
            yield hunk.id, COMMENTS if one.differs_in_comments(other) else WHITE_SPACE


@dataclass(frozen=True, slots=True)
class _Region:
    """The lines of a hunk: ``code`` with the lexer's state before and after, and the comments."""

    code: tuple[object, ...]
    comments: tuple[str, ...]

    def differs_in_comments(self, other: _Region) -> bool:
        """Whether the comments are others, or the lines lie inside one."""
        return self.comments != other.comments or TokenKind.COMMENT in self.code[:2]


class _File:
    """The tokens of a file; in C, those of the pieces that are asked for."""

    def __init__(self, content: bytes, language: Language) -> None:
        self._language = language
        self._lines = split_lines(content)
        self._outline = outline(content) if language is Language.C else None
        self._known: dict[Piece, _Tokens] = {}
        self.sound = self._outline.sound if self._outline else self._tokens(self._whole).sound

    @property
    def _whole(self) -> Piece:
        return Piece(1, len(self._lines))

    def _tokens(self, piece: Piece) -> _Tokens:
        if piece not in self._known:
            lines = self._lines[piece.first - 1 : piece.last]
            self._known[piece] = _Tokens(lines, self._language)
        return self._known[piece]

    def region(self, span: LineSpan) -> _Region | None:
        """What the lines of ``span`` hold; None where a token or a line is cut by its ends."""
        last = span.start + max(span.count - 1, 0)
        around = self._outline.around(span.start, last) if self._outline else self._whole
        shift = around.first - 1
        return self._tokens(around).region(LineSpan(span.start - shift, span.count))


class _Tokens:
    """The tokens of some lines by the line they start on, and the lexer's state after each line."""

    def __init__(self, lines: Sequence[bytes], language: Language) -> None:
        self._lines = lines
        self._code: dict[int, list[object]] = defaultdict(list)
        self._comments: dict[int, list[str]] = defaultdict(list)
        self._inside: dict[int, TokenKind] = {}  # lines that end inside a token
        self._parentheses: dict[int, int] = {}  # by the line of the last token that changed it
        self.sound = True
        depth = 0
        for token in tokens(b"".join(lines).decode("latin-1"), language):
            self._inside.update(dict.fromkeys(range(token.line, token.end_line), token.kind))
            comments = self._comments[token.line]
            if token.kind is TokenKind.COMMENT:
                comments.append(_plain_comment(token))
                continue
            if token.kind is TokenKind.DIRECTIVE:
                inner = list(tokens(token.text.replace("#", " ", 1), language))
                comments += map(_plain_comment, filter(_is_comment, inner))
                words = tuple((word.text, word.spaced) for word in inner if not _is_comment(word))
                self._code[token.line].append(("#", words))
            else:
                self._code[token.line].append((token.text, depth > 0 and token.spaced))
            self.sound = self.sound and _is_closed(token)
            depth = max(0, depth + (token.text == "(") - (token.text == ")"))
            self._parentheses[token.line] = depth
        self._depths = self._filled()

    def _filled(self) -> list[int]:
        depths = [0]
        for line in range(1, len(self._lines) + 1):
            depths.append(self._parentheses.get(line, depths[-1]))
        return depths

    def region(self, span: LineSpan) -> _Region | None:
        """What the lines of ``span`` hold; None where a token or a line is cut by its ends."""
        first = span.before
        last = first + span.count
        states = [self._inside.get(gap) for gap in (first, last)]
        whole = {None, TokenKind.COMMENT}
        spliced = any(
            line.rstrip().endswith(b"\\") for line in self._lines[max(0, first - 1) : last]
        )
        if spliced or not whole.issuperset(states):
            return None
        numbers = range(first + 1, last + 1)
        code = [item for line in numbers for item in self._code.get(line, ())]
        comments = [text for line in numbers for text in self._comments.get(line, ())]
        return _Region((*states, self._depths[first], *code), tuple(comments))


def _is_comment(token: Token) -> bool:
    return token.kind is TokenKind.COMMENT


def _plain_comment(token: Token) -> str:
    """A comment without the way it is laid out."""
    return " ".join(token.text.split())


def _is_closed(token: Token) -> bool:
    """Whether a string or character ends before its line does."""
    if token.kind is not TokenKind.STRING:
        return True
    body = token.text.lstrip("uUL8")
    return len(body) > 1 and body[-1] == body[0]


DOCUMENTATION = "documentation"
OF_SERVICE = "settings of a service elsewhere"
DEFAULT_RULES = FileRules()


def prune(
    changes: ChangeList, good_text: ReadFile, bad_text: ReadFile, rules: FileRules = DEFAULT_RULES
) -> ChangeList:
    """The changes with ``pruned`` set where a change cannot matter.

    Documentation (its content: a file that comes, goes or moves may be named by the build), settings of services, and
    hunks of C, C++, Java or Python files that only concern comments, white space or layout. A hunk
    that shifts lines stays where line numbers can be seen (``__LINE__``, ``assert``).
    """
    reasons: dict[ChangeId, str] = {}
    by_file: dict[tuple[str, str], list[Change]] = defaultdict(list)
    added = {change.file for change in changes.changes if change.form is ChangeForm.ADDED}
    for change in changes.live:
        if change.kind is FileKind.DOCS:
            if is_of_service(change.file):
                reasons[change.id] = OF_SERVICE
            elif change.form in {ChangeForm.HUNK, ChangeForm.BINARY, ChangeForm.WHOLE}:
                reasons[change.id] = DOCUMENTATION
        elif change.form is ChangeForm.HUNK:
            by_file[change.old_file, change.file].append(change)
    for (old_file, file), hunks in by_file.items():
        good, bad = good_text(old_file), bad_text(file)
        new = file in added
        if bad is not None and (new or good is not None):
            outer = outer_hunks(hunks)
            for inside in (False, True):  # those of either kind lie apart
                apart = [hunk for hunk in hunks if (hunk.id in outer) is inside]
                reasons.update(_neutral_changes(file, good or b"", bad, apart, rules, added=new))
    return with_pruned(changes, reasons)


def with_pruned(changes: ChangeList, reasons: Mapping[ChangeId, str]) -> ChangeList:
    """The changes with these reasons added; a change that has one keeps it."""
    return replace(
        changes,
        changes=tuple(
            replace(change, pruned=change.pruned or reasons.get(change.id, ""))
            for change in changes.changes
        ),
    )


def _neutral_changes(
    file: str,
    good: bytes,
    bad: bytes,
    hunks: Sequence[Change],
    rules: FileRules,
    *,
    added: bool = False,
) -> Iterator[tuple[ChangeId, str]]:
    language = language_of(file)
    if language is Language.PYTHON:
        docstrings = not rules.docstrings_are_comments
        return neutral_in_python(good, bad, hunks, docstrings=docstrings, added=added)
    if can_compare_tokens(file):
        return neutral_tokens(good, bad, hunks, language)
    return iter(())
