"""What a change declares: macros, enumerators, fields, types, variables. Such a line is never executed;
it acts through the statements that mention the name and whose IR it altered.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from afterd.model.change import Change, ChangeForm, ChangeId
from afterd.trace.c.build.source import Sources, identifiers, macro_definition
from afterd.trace.linemap import LineMap
from afterd.vcs.enclosing import Enclosing
from afterd.vcs.tokens import Language, language_of

_KEYWORDS = frozenset(
    [
        "if",
        "else",
        "for",
        "while",
        "do",
        "switch",
        "case",
        "default",
        "return",
        "break",
        "continue",
        "goto",
        "sizeof",
        "int",
        "char",
        "short",
        "long",
        "float",
        "double",
        "void",
        "unsigned",
        "signed",
        "const",
        "static",
        "extern",
        "inline",
        "volatile",
        "struct",
        "union",
        "enum",
        "typedef",
        "register",
        "auto",
        "restrict",
        "bool",
        "true",
        "false",
        "NULL",
        "define",
        "include",
        "ifdef",
        "ifndef",
        "endif",
        "elif",
        "undef",
    ]
)
_DECLARATION = re.compile(
    r"^\s*(?:(?:static|extern|const|constexpr|constinit|inline|thread_local|_Thread_local|unsigned|signed|volatile"
    r"|struct|union|enum|register)\s+)*"
    r"(?!(?:return|goto|else|case|delete|throw|new|using)\b)[A-Za-z_]\w*"
    r"[\s*]+(\w+)\s*(?:\[[^\]]*\]|:\s*\d+)*\s*(?:=[^=].*)?[;,]"
)
_CONSTANT = re.compile(r"^\s*(?:[\w:]+\s+)*const(?:expr)?\s(?:[\w:<>]+\s+)+(\w+)\s*=([^=;]+);")
_INCLUDED = re.compile(r'^\s*#\s*include\s*["<](?:[^">]*/)?([^/">]+)[">]')
_MAKES_C = frozenset([".y", ".yy", ".ypp", ".y++", ".l", ".ll", ".lpp", ".l++", ".re"])
_TYPEDEF = re.compile(r"^\s*(?:typedef\b.*\b(\w+)\s*(?:\[[^\]]*\])*|using\s+(\w+)\s*=[^;]*);")
_LITERAL = re.compile(r'"(?:\\.|[^"\\])*"')
_ENUMERATION = re.compile(r"\benum\b[^{;]*\{([^}]*)")
_ENUMERATOR = re.compile(r"^\s*([A-Za-z_]\w*)\s*(?:=[^=;]*)?,?\s*(?:/[/*].*)?$")


@dataclass(frozen=True, slots=True)
class Declared:
    """Names that a change declares; ``function`` restricts them to one function when it is not empty.
    ``fields`` are those of them that only a struct or a union has, ``records`` the names of these. ``is_table``: it is
    the table in whose rows the change is, which a compiler may read.
    """

    change: ChangeId
    names: frozenset[str]
    function: str
    fields: frozenset[str] = frozenset()
    records: frozenset[str] = frozenset()
    is_table: bool = False


def declarations(
    changes: Iterable[Change],
    good: Sources,
    bad: Sources,
    is_function: Callable[[str], bool],
    is_read: Callable[[str], bool] = lambda _file: True,
) -> tuple[Declared, ...]:
    """The names declared by each changed line of either version in the files that a compiler reads: a
    word alone on its line of a manual is no enumerator.

    What is declared inside a function is restricted to it, also in one that was not built; a change's
    symbol may also be a struct, an enumeration or a long macro, whose names are known everywhere.
    """
    found: list[Declared] = []
    changes = tuple(changes)
    lines = LineMap(changes)
    sides = ((_Side(good), lines.was_kept), (_Side(bad), lines.is_kept))
    for change in changes:
        if change.form is not ChangeForm.HUNK:
            continue
        names: dict[str, set[str]] = defaultdict(set)
        fields, others, records = set[str](), set[str](), set[str]()
        tables = set[str]()
        own = change.symbol if is_function(change.symbol) else ""
        places = ((change.old_file, change.old), (change.file, change.new))
        for (side, moved), (file, span) in zip(sides, places, strict=True):
            if not is_read(file):
                continue
            for line in range(span.start, span.start + span.count):
                if moved(file, line):
                    continue  # as it stands
                declared = dict(_declared_at(side.sources, file, line))
                tables |= {side.table_at(file, line)} - {"", own}
                inside = own or (side.function_at(file, line, is_function) if declared else "")
                names[inside].update(declared)
                for name, is_variable in declared.items():
                    record = side.record_at(file, line) if is_variable and not inside else ""
                    (fields if record else others).add(name)
                    records.add(record)
        found += [
            Declared(
                change.id,
                frozenset(known),
                function,
                frozenset(known & fields - others),
                frozenset(records - {""}),
            )
            for function, known in names.items()
            if known
        ]
        found += [Declared(change.id, frozenset({table}), "", is_table=True) for table in tables]
    return tuple(found)


def read_by_compilers(sources: Iterable[Sources], files: Iterable[str]) -> Callable[[str], bool]:
    """Which files are C's: by their suffix, as what C is made from, or as one of ``files`` includes them."""
    texts = [file for file in files if language_of(file) is Language.C]
    lines = (line for side in sources for file in texts for line in side.lines(file))
    included = {
        found[1] for line in lines if "include" in line and (found := _INCLUDED.match(line))
    }

    def is_read(file: str) -> bool:
        path = PurePosixPath(file)
        made = path.suffix.lower() in _MAKES_C
        return language_of(file) is Language.C or made or path.name in included

    return is_read


class _Side:
    """One version's sources: which function a line is in, of a change that is of no one function: a
    moved function's variables were taken for everybody's.
    """

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._enclosing: dict[str, Enclosing] = {}

    def function_at(self, file: str, line: int, is_known: Callable[[str], bool]) -> str:
        """The function around a line, or '': one that is known, or is one by its text."""
        around = self._around(file)
        name = around.name(line)
        return name if is_known(name) or around.is_function(line) else ""

    def record_at(self, file: str, line: int) -> str:
        """The struct or union around a line, by its own name; '' where there is none that has one."""
        around = self._around(file)
        return around.name(line).rpartition("::")[2] if around.is_record(line) else ""

    def table_at(self, file: str, line: int) -> str:
        """The variable in whose initialiser a line is, by its own name; '' where it is in none."""
        around = self._around(file)
        return around.name(line).rpartition("::")[2] if around.is_table(line) else ""

    def _around(self, file: str) -> Enclosing:
        if file not in self._enclosing:
            text = "\n".join(self.sources.lines(file))
            self._enclosing[file] = Enclosing(text.encode(errors="surrogateescape"), Language.C)
        return self._enclosing[file]


def _declared_at(sources: Sources, file: str, line: int) -> Iterator[tuple[str, bool]]:
    """Names that one line declares, and whether as variables or fields; a line inside a long macro declares
    that macro.
    """
    lines = sources.lines(file)
    if not 0 < line <= len(lines):
        return
    at = line
    while at > 1 and lines[at - 2].rstrip().endswith("\\"):
        at -= 1
    macro = macro_definition(lines[at - 1])
    if macro:
        yield macro[0], False
        return
    text = _LITERAL.sub('""', lines[line - 1])  # a generator's texts may read as declarations
    for body in _ENUMERATION.findall(text):
        for part in body.split(","):
            yield from ((name, False) for name in identifiers(part.partition("=")[0]))
    named = _TYPEDEF.match(text)
    if named:
        yield named[1] or named[2], False
    yield from ((name, False) for name in _counted_on(lines, line))
    for pattern in (_DECLARATION, _ENUMERATOR):
        found = pattern.match(text)
        if found and found.group(1) not in _KEYWORDS:
            yield found.group(1), pattern is _DECLARATION


def _counted_on(lines: Sequence[str], line: int) -> Iterator[str]:
    """The enumerators behind one that stands on a line of its own, up to one that is given a number itself: theirs are
    counted on from it.
    """
    if not _ENUMERATOR.match(lines[line - 1]) or not _is_enumerated(lines, line):
        return
    for text in lines[line:]:
        for part in text.partition("}")[0].split(","):
            following = _ENUMERATOR.match(part)
            if following and "=" in part:
                return
            if following and following[1] not in _KEYWORDS:
                yield following[1]
        if "}" in text:
            return


def _is_enumerated(lines: Sequence[str], line: int) -> bool:
    """Whether a line stands between the brackets of an enumeration."""
    for at in range(line - 2, -1, -1):
        if "}" in lines[at] or ";" in lines[at]:
            return False
        if "{" in lines[at]:
            head = lines[at - 1] + lines[at] if at else lines[at]
            return bool(re.search(r"\benum\b", head))
    return False


def through_macros(names: frozenset[str], macros: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """The names and every macro whose body mentions one of them, directly or through other macros."""
    reached = set(names)
    grown = True
    while grown:
        more = {macro for macro, body in macros.items() if macro not in reached and body & reached}
        grown = bool(more)
        reached |= more
    return frozenset(reached)


def macros_of(sources: Sources, files: Iterable[str]) -> dict[str, frozenset[str]]:
    """Every macro defined in these files with the identifiers of its body, and every constant on a line of its own,
    whose value a compiler puts where it is named.
    """
    found: dict[str, frozenset[str]] = {}
    for file in files:
        lines = sources.lines(file)
        for at, text in enumerate(lines):
            constant = _CONSTANT.match(text)
            macro = (constant[1], constant[2]) if constant else macro_definition(text)
            if macro is None:
                continue
            body, following = macro[1], at
            while lines[following].rstrip().endswith("\\") and following + 1 < len(lines):
                following += 1
                body += " " + lines[following]
            found[macro[0]] = found.get(macro[0], frozenset()) | identifiers(body)
    return found
