"""Seeded faults: one line of a program changed by one mutation operator of the literature.

The operators are those of Offutt et al. (1996) that need no types, and of Agrawal et al. (1989):
AOR and ROR put another arithmetic or relational operator, LCR another logical one, CRCR another
whole number, COI negates a condition, SSDL deletes a statement. A mutant that no test tells from the
original is what a busy commit changes besides.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from afterd.vcs.tokens import Language, TokenKind, language_of, tokens


class Operator(StrEnum):
    """What was done to the line."""

    AOR = "arithmetic operator replaced"
    ROR = "relational operator replaced"
    LCR = "logical connector replaced"
    CRCR = "constant replaced"
    COI = "condition negated"
    SSDL = "statement deleted"


@dataclass(frozen=True, slots=True)
class Mutant:
    """``line`` (1-based) of ``file`` reads ``text`` (without its end)."""

    file: str
    line: int
    text: str
    operator: Operator


@dataclass(frozen=True, slots=True)
class _Lexeme:
    """A token of the program's code: no comment, no preprocessor line. ``line`` from 1, ``column`` from 0."""

    text: str
    line: int
    column: int


_FAMILIES = (
    (Operator.AOR, ("+", "-", "*", "/", "%", "//")),
    (Operator.ROR, ("<", "<=", ">", ">=", "==", "!=")),
    (Operator.LCR, ("&&", "||")),
    (Operator.LCR, ("and", "or")),
)
_OPERAND_ENDS = re.compile(r"[\w)\]\"']\Z")  # before a binary operator; before a sign there is none
_BEFORE_A_SIGN = frozenset({"return", "and", "or", "not", "in", "if", "else", "case", "yield"})
_WHOLE = re.compile(r"(0|[1-9][0-9]*)([uUlL]*)")
_CONDITIONS = {
    Language.C: re.compile(r"(\s*(?:\} else )?(?:if|while) \()(.*)(\)\s*\{?\s*)"),
    Language.PYTHON: re.compile(r"(\s*(?:if|elif|while) )(.*)(:\s*)"),
}
_STATEMENTS = {
    Language.C: re.compile(r"(\s+)(?!return\b|break\b|case\b|default\b)[\w*(][^{}]*;\s*"),
    Language.PYTHON: re.compile(
        r"(\s+)(?!return\b|def\b|class\b)[a-z_][\w.\[\]]*( [-+*/|&]?= |\()[^#]*(#.*)?"
    ),
}
_NOTHING = {Language.C: ";", Language.PYTHON: "pass"}


def mutants(file: str, text: str) -> list[Mutant]:
    """Every mutant of a C or Python file, in the order of its lines; other files have none."""
    language = language_of(file)
    if language not in _STATEMENTS:
        return []
    lines = text.splitlines()
    code = list(_lexemes(text, language))
    found = [
        *_replacing_mutants(file, lines, code),
        *_rewriting_mutants(file, lines, code, language),
    ]
    return sorted(found, key=lambda each: each.line)


def mutated_text(text: str, chosen: Iterable[Mutant]) -> str:
    """The file with these of its mutants; they stand on different lines."""
    lines = text.splitlines(keepends=True)
    for mutant in chosen:
        end = lines[mutant.line - 1][len(lines[mutant.line - 1].rstrip("\r\n")) :]
        lines[mutant.line - 1] = mutant.text + end
    return "".join(lines)


def _replacing_mutants(file: str, lines: list[str], code: list[_Lexeme]) -> Iterator[Mutant]:
    """One operator or one number put in place of another."""
    before = ""
    for lexeme in code:
        for operator, other in _alternatives(lexeme.text, before):
            line = lines[lexeme.line - 1]
            rest = line[lexeme.column + len(lexeme.text) :]
            yield Mutant(file, lexeme.line, line[: lexeme.column] + other + rest, operator)
        before = lexeme.text


def _alternatives(text: str, before: str) -> Iterator[tuple[Operator, str]]:
    binary = _OPERAND_ENDS.search(before) and before not in _BEFORE_A_SIGN
    for operator, family in _FAMILIES:
        if text in family and binary:
            yield from ((operator, other) for other in family if other not in (text, "//"))
    if whole := _WHOLE.fullmatch(text):
        number = int(whole[1])
        for other in {number + 1, max(number - 1, 0), 0} - {number}:
            yield Operator.CRCR, f"{other}{whole[2]}"


def _rewriting_mutants(
    file: str, lines: list[str], code: list[_Lexeme], language: Language
) -> Iterator[Mutant]:
    """A condition negated, a statement deleted: both where they stand on one line."""
    negation = ("!(", ")") if language is Language.C else ("not (", ")")
    for number in sorted({lexeme.line for lexeme in code}):
        line = lines[number - 1]
        here = "".join(lexeme.text for lexeme in code if lexeme.line == number)
        if any(here.count(a) != here.count(b) for a, b in ("()", "[]")):
            continue  # it goes on in another line
        if found := _CONDITIONS[language].fullmatch(line):
            text = found[1] + negation[0] + found[2] + negation[1] + found[3]
            yield Mutant(file, number, text, Operator.COI)
        if found := _STATEMENTS[language].fullmatch(line):
            yield Mutant(file, number, found[1] + _NOTHING[language], Operator.SSDL)


def _lexemes(text: str, language: Language) -> Iterator[_Lexeme]:
    return _of_python(text) if language is Language.PYTHON else _of_braces(text, language)


def _of_python(text: str) -> Iterator[_Lexeme]:
    """Raises SyntaxError for what is no Python."""
    kinds = (tokenize.NAME, tokenize.NUMBER, tokenize.OP, tokenize.STRING)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in kinds and token.start[0] == token.end[0]:
            yield _Lexeme(token.string, *token.start)


def _of_braces(text: str, language: Language) -> Iterator[_Lexeme]:
    position = 0
    for token in tokens(text, language):
        position = text.index(token.text, position)
        column = position - (text.rfind("\n", 0, position) + 1)
        position += len(token.text)
        if token.kind not in {TokenKind.COMMENT, TokenKind.DIRECTIVE} and "\n" not in token.text:
            yield _Lexeme(token.text, token.line, column)
