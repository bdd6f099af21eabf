"""The function or class around a line: the Python parser for Python, a brace scanner otherwise."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from afterd.vcs.outline import Outline, outline
from afterd.vcs.tokens import Language, Token, TokenKind, tokens

_TYPES = frozenset(
    {"struct", "class", "union", "enum", "namespace", "interface", "trait", "impl", "record"}
)
_CONTROL = frozenset({"if", "for", "while", "switch", "catch", "do", "else", "try", "return"})
_ATTRIBUTES = frozenset({"__attribute__", "__declspec", "alignas", "decltype", "noexcept"})
_FUNCTION_WORDS = {
    Language.SCRIPT: frozenset({"func", "fun", "function", "def"}),
    Language.JAVA: frozenset({"function"}),
    Language.RUST: frozenset({"fn"}),
}
"""Not in C, where a parameter called ``function`` gave its function the name of the next word."""
_GOES_ON = frozenset(
    {"as", "extends", "implements", "in", "instanceof", "is", "of", "throws", "where", "with"}
)
"""Words that no statement begins with, in languages in which a statement may end with its line."""
_MODIFIERS = frozenset(
    {"abstract", "async", "data", "declare", "default", "export", "final", "internal", "open"}
    | {"override", "private", "protected", "public", "sealed", "static", "suspend", "type"}
)
_MACRO = re.compile(r"#\s*define\s+(\w+)")
_CONDITIONAL_ELSE = re.compile(r"#\s*(else|elif|elifdef|elifndef)\b")
_CONDITIONAL_IF = re.compile(r"#\s*if")
_CONDITIONAL_END = re.compile(r"#\s*endif\b")


_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Where a Python statement holds others; expressions, most of the tree, hold none."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A named block: its qualified name, its first and its last line."""

    name: str
    start: int
    end: int


def symbols(content: bytes, language: Language) -> tuple[Symbol, ...]:
    """The functions, classes, types and initialised tables of a file; () where it has no parser."""
    if language is Language.PYTHON:
        return tuple(_python_symbols(content))
    if language.braced:
        return tuple(_BraceScanner(language).of(content.decode("latin-1")))
    return ()


class Enclosing:
    """The innermost symbol around a line of a file, of which, in C, only the piece around it is read."""

    def __init__(self, content: bytes, language: Language) -> None:
        self._content = content
        self._language = language
        self._found: dict[int, tuple[Symbol, ...]] = {}

    @cached_property
    def _outline(self) -> Outline | None:
        found = outline(self._content) if self._language is Language.C else None
        return found if found and found.sound else None  # a text that stays open: read as a whole

    @cached_property
    def _lines(self) -> list[bytes]:
        return self._content.split(b"\n")

    def name(self, line: int) -> str:
        """The name, or ''."""
        symbol = self.symbol(line)
        return symbol.name if symbol else ""

    def symbol(self, line: int) -> Symbol | None:
        """The symbol with its lines; None where there is none."""
        first, found = self._around(line)
        symbol = innermost(found, line - first + 1)
        if symbol is None:
            return None
        return Symbol(symbol.name, symbol.start + first - 1, symbol.end + first - 1)

    def is_function(self, line: int) -> bool:
        """Whether the symbol is a function: its head has parentheses, and it is no macro."""
        head = self._head(line)
        return b"(" in head and b"=" not in head and not head.lstrip().startswith(b"#")

    def is_record(self, line: int) -> bool:
        """Whether the symbol is a struct or a union."""
        head = self._head(line)
        words = head.split()
        return not {b"struct", b"union"}.isdisjoint(words) and b"(" not in head and b"=" not in head

    def is_table(self, line: int) -> bool:
        """Whether the symbol is a variable with an initialiser in braces."""
        head = self._head(line).rstrip()
        return head.endswith(b"=") and not head.lstrip().startswith(b"#")

    def _head(self, line: int) -> bytes:
        """What stands before the brace of the symbol; nothing where there is none."""
        symbol = self.symbol(line)
        if symbol is None:
            return b""
        return b"\n".join(self._lines[symbol.start - 1 : symbol.end]).partition(b"{")[0]

    def _around(self, line: int) -> tuple[int, tuple[Symbol, ...]]:
        """The first line of the piece around a line, and the symbols in it."""
        piece = self._outline.around(line, line) if self._outline else None
        first = piece.first if piece else 1
        if first not in self._found:
            text = b"\n".join(self._lines[first - 1 : piece.last]) if piece else self._content
            scanner = _BraceScanner(self._language, len(piece.conditionals) if piece else 0)
            self._found[first] = (
                tuple(scanner.of(text.decode("latin-1")))
                if piece
                else symbols(text, self._language)
            )
        return first, self._found[first]


def innermost(found: Iterable[Symbol], line: int) -> Symbol | None:
    """The innermost symbol around ``line``."""
    around = (symbol for symbol in found if symbol.start <= line <= symbol.end)
    return min(around, key=lambda symbol: symbol.end - symbol.start, default=None)


def enclosing_symbol(found: Iterable[Symbol], line: int) -> str:
    """The name of the innermost symbol around ``line``, or ''."""
    symbol = innermost(found, line)
    return symbol.name if symbol else ""


def parse_python(content: bytes) -> ast.Module | None:
    """The syntax tree of a Python file; None where it does not parse (or nests too deep)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes are the program's business
        try:
            return ast.parse(content)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def first_line(statement: ast.stmt) -> int:
    """Where a statement begins, its decorators included."""
    decorators: Sequence[ast.expr] = getattr(statement, "decorator_list", ())
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def _python_symbols(content: bytes) -> Iterator[Symbol]:
    module = parse_python(content)
    todo: list[tuple[ast.AST, str]] = [(module, "")] if module else []
    while todo:
        node, prefix = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = prefix + node.name
            yield Symbol(name, first_line(node), node.end_lineno or node.lineno)
            prefix = f"{name}."
        blocks = (getattr(node, block, ()) for block in _BLOCKS)
        todo += [(child, prefix) for block in blocks for child in block]


@dataclass(frozen=True, slots=True)
class _Block:
    """An open brace: its own name ('' for a statement's), the innermost name it stands in or has,
    its first line, and whether it is inside code.
    """

    name: str
    scope: str
    start: int
    code: bool


class _BraceScanner:
    """Names each block by the tokens between the last statement and its opening brace."""

    def __init__(self, language: Language, conditionals: int = 0) -> None:
        self._language = language
        self._separator = "::" if language in {Language.C, Language.RUST} else "."
        self._blocks: list[_Block] = []
        self._conditionals: list[list[_Block]] = [[] for _ in range(conditionals)]
        self._header: list[Token] = []
        self._parentheses = 0

    def of(self, text: str) -> Iterator[Symbol]:
        for token in tokens(text, self._language):
            if token.kind is TokenKind.DIRECTIVE:
                yield from self._directive(token)
            elif token.kind is not TokenKind.COMMENT:
                yield from self._token(token)

    def _token(self, token: Token) -> Iterator[Symbol]:
        if self._begins_statement(token):
            self._header = []
        self._parentheses += (token.text in "([") - (token.text in ")]")
        if token.text == "{":
            self._blocks.append(self._opened(token.line))
        elif token.text == "}" and self._blocks:
            block = self._blocks.pop()
            if block.name:
                yield Symbol(block.name, block.start, token.end_line)
        if token.text in {"{", "}"} or (token.text == ";" and self._parentheses <= 0):
            self._header, self._parentheses = [], 0
        else:
            self._header.append(token)

    def _begins_statement(self, token: Token) -> bool:
        """Whether the line before ended a statement that has no semicolon: only in SCRIPT."""
        if self._language is not Language.SCRIPT or not self._header or self._parentheses > 0:
            return False
        last = self._header[-1]
        if (
            last.end_line == token.line or self._header[0].text == "@"
        ):  # a decorator goes with what follows
            return False
        ends = last.kind is not TokenKind.PUNCTUATION or last.text in {")", "]"}
        starts = token.kind is TokenKind.WORD and token.text not in _GOES_ON
        return ends and starts and last.text not in _MODIFIERS | _FUNCTION_WORDS[Language.SCRIPT]

    def _directive(self, token: Token) -> Iterator[Symbol]:
        """As ctags does: each side of an ``#else`` starts from the blocks open at its ``#if``."""
        macro = _MACRO.match(token.text)
        if macro:
            yield Symbol(macro[1], token.line, token.end_line)
        if _CONDITIONAL_IF.match(token.text):
            self._conditionals.append(list(self._blocks))
        elif self._conditionals and _CONDITIONAL_ELSE.match(token.text):
            self._blocks = list(self._conditionals[-1])
            self._header = []
        elif self._conditionals and _CONDITIONAL_END.match(token.text):
            self._conditionals.pop()

    def _opened(self, line: int) -> _Block:
        """The block that a brace opens; only in SCRIPT do named blocks stand inside code, elsewhere
        they are macros (``LIST_FOREACH (…) {``) and initialisers of local variables.
        """
        name = header_name(self._header, self._language)
        start = self._header[0].line if self._header else line
        outer = self._blocks[-1] if self._blocks else _Block("", "", 0, code=False)
        if not name or (outer.code and self._language is not Language.SCRIPT):
            return _Block("", outer.scope, start, outer.code)
        qualified = f"{outer.scope}{self._separator}{name}" if outer.scope else name
        code = outer.code or any(token.text == "(" for token in self._header)
        return _Block(qualified, qualified, start, code)


def header_name(header: Sequence[Token], language: Language) -> str:
    """What the tokens before an opening brace name: a function, a type, a table; '' for a
    statement such as ``if``.
    """
    texts = [token.text for token in header]
    if not texts or texts[0] in _CONTROL:
        return ""
    outer = _outside_parentheses(header)
    function_words = _FUNCTION_WORDS.get(language, frozenset[str]())
    for position, text in enumerate(texts):
        if text in function_words:
            return _function_word_name(header, position)
    if "=" in outer:
        return _word_before(header, "=")
    if "(" in outer:
        name = _word_before(header, "(")
        return name + _named_by_macro(header, name) if language is Language.C else name
    return _type_name(header)


def _named_by_macro(header: Sequence[Token], macro: str) -> str:
    """What a macro makes a function's name of: ``(name)`` in ``TY_(name)(int a)``; else ''."""
    before = next((place for place, token in enumerate(header) if token.text == "("), 0)
    within = header[before : before + 4]
    if [token.text for token in within[::2]] != ["(", ")"] or within[-1].text != "(":
        return ""
    called = before and header[before - 1].text == macro and within[1].kind is TokenKind.WORD
    return f"({within[1].text})" if called else ""


def _type_name(header: Sequence[Token]) -> str:
    """The first word after ``struct``, ``class``, … outside angle brackets; in ``impl A for B``,
    B.
    """
    name, depth, seen, before = "", 0, False, ""
    for token in header:
        depth += token.text.count("<") - token.text.count(">")
        if depth == 0 and token.text in _TYPES:
            seen = True
        elif depth == 0 and seen and token.kind is TokenKind.WORD and before != "'":
            name = "" if token.text == "for" else name or token.text
        before = token.text
    return name


def _outside_parentheses(header: Sequence[Token]) -> set[str]:
    found: set[str] = set()
    depth = 0
    for token in header:
        depth -= token.text in {")", "]"}
        if depth == 0:
            found.add(token.text)
        depth += token.text in {"(", "["}
    return found


def _function_word_name(header: Sequence[Token], position: int) -> str:
    """After ``func``: the name, past a receiver in parentheses; or what it is assigned to."""
    depth = 0
    for token in header[position + 1 :]:
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0 and token.kind is TokenKind.WORD:
            return token.text
        if depth == 0 and token.text == "{":
            break
    return _word_before(header[:position], "=")


def _word_before(header: Sequence[Token], mark: str) -> str:
    """The (qualified) name before the first ``mark`` outside parentheses, past any ``[…]`` and
    past attributes.
    """
    depth = 0
    for position, token in enumerate(header):
        depth -= token.text in {")", "]"}
        if depth == 0 and token.text == mark:
            name = _name_ending(header[:position])
            if name not in _ATTRIBUTES:
                return name
        depth += token.text in {"(", "["}
    return ""


def _name_ending(header: Sequence[Token]) -> str:
    depth, name = 0, ""
    for token in reversed(header):
        depth += (token.text == "]") - (token.text == "[")
        if depth > 0 or token.text in {"[", "]"}:
            continue
        joined = not name or name.startswith(("::", "~"))
        if token.text not in {"::", "~"} and not (joined and token.kind is TokenKind.WORD):
            break
        name = token.text + name
    return name.lstrip(":")
