"""Which changes a statement of the failing run was altered by.

The IR of one source line, free of names: what a macro, a type or a header did to a statement.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from afterd.compare.c.alignment import Alignment
from afterd.compare.c.declared import (
    Declared,
    declarations,
    macros_of,
    read_by_compilers,
    through_macros,
)
from afterd.compare.c.function_pairs import plain_name
from afterd.compare.c.labels import Labels
from afterd.compare.c.visibility import Visibility
from afterd.limits import C_PAIR
from afterd.model.change import Change, ChangeId
from afterd.model.location import Location
from afterd.model.trace import StepKind
from afterd.trace.c.build.preprocessed import Preprocessed
from afterd.trace.c.build.source import Sources
from afterd.trace.c.build.tables import Rows, Tables
from afterd.trace.c.read import FunctionView, Instance, Passed, Placed, Statement, Unit
from afterd.trace.linemap import LineMap
from afterd.vcs.tokens import Language, TokenKind, tokens


class Ties:
    """Direct ties by line; ties through a declared name only where the IR of the statement changed."""

    def __init__(
        self,
        changes: Sequence[Change],
        lines: LineMap,
        good: Sources,
        bad: Sources,
        alignment: Alignment,
        preprocessed: Preprocessed,
    ) -> None:
        self._lines, self._good, self._bad = lines, good, bad
        self._alignment = alignment
        self._fingerprints = Fingerprints()
        self._tables = Tables(bad, preprocessed)
        files = {change.file for change in changes} | {
            unit.module.source for unit in alignment.bad.program.units
        }
        macros = macros_of(bad, files)
        self._declared = [
            (declared, through_macros(declared.names, macros))
            for declared in declarations(
                changes, good, bad, _functions(alignment), read_by_compilers((good, bad), files)
            )
        ]
        self._declaring: dict[str, list[int]] = defaultdict(list)  # by name, which of them
        for number, (_, names) in enumerate(self._declared):
            for name in names:
                self._declaring[name].append(number)
        self._labels = Labels(changes, lines, alignment)
        self._visibility = Visibility(changes, (good, bad), alignment)
        self.of_line = cache(self._of_line)
        self._in_rows = cache(self._in_rows_uncached)
        self.entry = cache(self._entry_uncached)

    def of(self, statement: Statement) -> tuple[ChangeId, ...]:
        """The changes that altered a statement, in diff order of discovery."""
        if statement.instance is None:
            return ()
        own = self._of_statement(statement.instance, statement.location)
        if statement.kind is StepKind.BRANCH and not statement.called:
            own = tuple(dict.fromkeys((*own, *self._labels.of(statement.instance))))
        given = self._of_call(statement.passed) if statement.passed is not None else ()
        return tuple(dict.fromkeys((*own, *given)))

    def place(self, statement: Statement) -> Location:
        """Where a statement is shown: a parameter of a call that was changed, at the call."""
        passed = statement.passed
        if passed is None or statement.instance is None or not self._of_call(passed):
            return statement.location
        if self._of_statement(statement.instance, statement.location):
            return statement.location
        return _call_place(passed)

    def _of_statement(self, instance: Instance, place: Location) -> tuple[ChangeId, ...]:
        own = self.of_line(instance.view, place.file, place.line)
        return own or self._of_instantiation(instance, place)

    def _of_call(self, passed: Passed) -> tuple[ChangeId, ...]:
        place = _call_place(passed)
        return self.of_line(passed.caller.view, place.file, place.line)

    def _of_instantiation(self, instance: Instance, place: Location) -> tuple[ChangeId, ...]:
        """The changes of the statement that named the arguments of a new instantiation of a template.

        The template's own text is as it was; the nearest caller that the good version has too says
        with what it was instantiated. Libsass' parsers are such templates, sixty lines a statement.
        """
        functions, frames = self._alignment.functions, self._alignment.bad
        if not _is_instance(instance.view) or not functions.is_new(instance.view):
            return ()
        if not self._altered(instance.view, place.file, place.line):
            return ()
        caller = frames.caller(instance.position)
        for _ in range(C_PAIR.nested):
            if caller is None or not functions.is_new(caller[0].view):
                break
            caller = frames.caller(caller[0].position)
        if caller is None:
            return ()
        named = caller[0].view.place(caller[0].block, caller[1])
        return self.of_line(caller[0].view, named.file, named.line)

    def _of_line(self, view: FunctionView, file: str, line: int) -> tuple[ChangeId, ...]:
        first, last = self._bad.extent(file, line)
        direct = self._lines.changes_in_bad(file, first, last)
        named = self._by_name(view, file, line) if not direct else ()
        return tuple(dict.fromkeys((*direct, *named)))

    def _by_name(
        self, view: FunctionView, file: str, line: int, *, tables: bool = True
    ) -> tuple[ChangeId, ...]:
        named = self._bad.identifiers(file, line)
        found = self._declaring_one(view, file, line, named, tables=tables)
        if not found:  # it may be of what it names no more than the type that was changed
            types = (view.unit.debug.types.get(name, frozenset[str]()) for name in named)
            found = self._declaring_one(view, file, line, frozenset[str]().union(*types))
        return found or self._declaring_one(view, file, line, self._bad.conditions(file, line))

    def _declaring_one(
        self,
        view: FunctionView,
        file: str,
        line: int,
        named: frozenset[str],
        *,
        tables: bool = False,
    ) -> tuple[ChangeId, ...]:
        """The changes that declare one of some names, where the IR of a statement is not what it was."""
        mentioned = self._declaring.keys() & named
        numbers = sorted({number for name in mentioned for number in self._declaring[name]})
        candidates = [
            declared.change
            for declared, names in (self._declared[number] for number in numbers)
            if declared.function in {"", view.name}
            and self._visibility.reaches(declared.change, view.unit)
            and (mentioned & names - declared.fields or self._reads(declared, view, file, line))
            and not (declared.is_table and (not tables or self._loads(declared, view, file, line)))
        ]
        return tuple(candidates) if candidates and self._altered(view, file, line) else ()

    def _loads(self, declared: Declared, view: FunctionView, file: str, line: int) -> bool:
        """Whether a statement names a table when it runs: what it reads there is a step of its own."""
        texts = self._fingerprints.by_line(view).get((file, line), ())
        return any(name in text for text in texts for name in declared.names)

    def _reads(self, declared: Declared, view: FunctionView, file: str, line: int) -> bool:
        """Whether a statement may read a field of a struct: it names a member, where a name alone is none, and its
        IR, where that names any struct, names this one.
        """
        if not view.unit.file.endswith(_C):
            return True
        if declared.fields.isdisjoint(self._bad.members(file, line)):
            return False
        named = self._records(view, file, line)
        return not named or not named.isdisjoint(declared.records)

    def _records(self, view: FunctionView, file: str, line: int) -> frozenset[str]:
        """The structs and unions that the IR of a line names, in either version."""
        views = filter(None, (view, self._alignment.counterpart(view)))
        places = ((file, line), self._lines.to_good(file, line))
        texts = (
            text
            for each in views
            for place in places
            for text in self._fingerprints.by_line(each).get(place, ())
        )
        return frozenset(name for text in texts for name in _RECORD.findall(text))

    def _altered(self, view: FunctionView, file: str, line: int) -> bool:
        """Whether the line's IR differs from that of its counterpart in the good version."""
        other = self._alignment.counterpart(view)
        if other is None:
            return True
        here = self._fingerprints.by_line(view).get((file, line), ())
        there = self._fingerprints.by_line(other).get(self._lines.to_good(file, line), ())
        return here != there

    def of_global(self, placed: Placed, address: int, *, alike: bool) -> tuple[ChangeId, ...]:
        """The changes in the initialiser of a global: where it can be told, only in the part that an address is in,
        unless nothing changed there and another value stands in it than in green (``alike``: the same does).
        """
        variable = placed.variable
        if variable is None or not variable.location.line:
            return ()
        part = self.entry(placed, address)
        found = self._in_rows(part, placed.unit) if part else ()
        if found or (part and alike):
            return found
        where = variable.location
        whole = self._tables.whole(variable.name, Rows(where.file, where.line, where.line))
        if not variable.name:  # a literal is no farther than its statement
            _, last = self._bad.extent(whole.file, whole.first)
            whole = replace(whole, last=min(whole.last, last))
        everywhere = self._in_rows(whole, placed.unit), self._removed_from(whole)
        return tuple(dict.fromkeys(change for changes in everywhere for change in changes))

    def _entry_uncached(self, placed: Placed, address: int) -> Rows | None:
        """The lines of a global's initialiser that gave the byte at an address; None where nothing tells."""
        variable = placed.variable
        if variable is None or not variable.name or not variable.location.line:
            return None
        path = placed.unit.path(variable, address - placed.address)
        where = variable.location
        start = Rows(where.file, where.line, where.line)
        numbers = placed.unit.debug.enumerators.get
        return self._tables.part(variable.name, start, path, numbers, placed.unit.file)

    def changes_table(self, placed: Placed) -> bool:
        """Whether a line of a variable's declaration changed, where that has several."""
        variable = placed.variable
        if variable is None or not variable.name or not variable.location.line:
            return False
        where = variable.location
        if not self._lines.changes_in_bad(where.file, where.line, where.line + C_PAIR.table):
            return False
        whole = self._tables.whole(variable.name, Rows(where.file, where.line, where.line))
        return whole.last > whole.first and bool(self.of_rows(whole))

    def of_rows(self, rows: Rows) -> tuple[ChangeId, ...]:
        """The changes that altered some lines of a table."""
        return self._lines.changes_in_bad(rows.file, rows.first, rows.last)

    def _removed_from(self, rows: Rows) -> tuple[ChangeId, ...]:
        """The changes that removed lines which stood between some in the good version."""
        file, first = self._lines.to_good(rows.file, rows.first)
        _, last = self._lines.to_good(rows.file, rows.last)
        return self._lines.changes_in_good(file, first, last)

    def _in_rows_uncached(self, rows: Rows, unit: Unit) -> tuple[ChangeId, ...]:
        """The changes of some lines of a table, and of what is declared for those that they name."""
        found = self.of_rows(rows)
        lines = self._bad.lines(rows.file)[rows.first - 1 : rows.last]
        mentioned = {
            token.text
            for token in tokens("\n".join(lines), Language.C)
            if token.kind is TokenKind.WORD
        }
        named = (
            declared.change
            for declared, names in self._declared
            if not (declared.function or declared.is_table)
            and names & mentioned
            and self._visibility.reaches(declared.change, unit)
        )
        return tuple(dict.fromkeys((*found, *named)))

    def removed_at(self, view: FunctionView, place: Location) -> tuple[ChangeId, ...]:
        """The changes that removed or altered a statement of the good version."""
        first, last = self._good.extent(place.file, place.line)
        found = self._lines.changes_in_good(place.file, first, last)
        return found or self._removed_by_name(view, place)

    def _removed_by_name(self, view: FunctionView, place: Location) -> tuple[ChangeId, ...]:
        file, line = self._lines.to_bad(place.file, place.line)
        found = self._bad.text(file, line)
        return self._by_name(view, file, line, tables=False) if found else ()


def _call_place(passed: Passed) -> Location:
    """Where the call stands that gave a parameter its value."""
    return passed.caller.view.place(passed.caller.block, passed.call)


def _is_instance(view: FunctionView) -> bool:
    """Whether a function is an instantiation of a template."""
    return view.source_name != plain_name(view)


def _functions(alignment: Alignment) -> Callable[[str], bool]:
    """Whether either version has a traced function of a name."""
    units = (*alignment.bad.program.units, *alignment.green.program.units)
    names = frozenset(numbered.name for unit in units for numbered in unit.module.functions)
    return names.__contains__


_C = ".c"
"""Of what is no C++, where a field's name may stand alone."""
_RECORD = re.compile(r"%(?:struct|union)\.([A-Za-z_]\w*)")
_REGISTER = re.compile(r"%(?!struct\.|union\.|class\.)(?:[-a-zA-Z$._0-9]+|\"[^\"]*\")")
_PRIVATE = re.compile(r"@(\.str[.\d]*|__const\.[\w.]+|switch\.table[\w.]*)")
_ATTRIBUTES = re.compile(r" #\d+|, ![a-z.]+ !\d+|, !dbg !\d+")


class Fingerprints:
    """Normalised IR by function and line, computed once per function."""

    def __init__(self) -> None:
        self.by_line = cache(self._by_line)
        self.whole = cache(self._whole)

    def _by_line(self, view: FunctionView) -> dict[tuple[str, int], tuple[str, ...]]:
        """(file, line) → the instructions of that line in order, without register names."""
        found: dict[tuple[str, int], list[str]] = defaultdict(list)
        for b, block in enumerate(view.function.blocks):
            for i, instruction in enumerate(block.instructions):
                if instruction.opcode != "alloca":
                    place = view.place(b, i)
                    found[place.file, place.line].append(normal(view, instruction.text))
        return {key: tuple(texts) for key, texts in found.items()}

    def _whole(self, view: FunctionView) -> tuple[str, ...]:
        """The whole function, without names, lines and metadata."""
        header = _ATTRIBUTES.sub(
            "", _REGISTER.sub("%", view.function.header.split(" #")[0].split(" !dbg")[0])
        )
        labels = {block.label: str(at) for at, block in enumerate(view.function.blocks)}
        body = [
            re.sub(
                r"label %",
                lambda _: "label ",
                normal(view, _labelled_text(instruction.text, labels)),
            )
            for block in view.function.blocks
            for instruction in block.instructions
        ]
        return (header, *body)


def _labelled_text(text: str, labels: dict[str, str]) -> str:
    return re.sub(
        r"label %((?:[-a-zA-Z$._0-9]+)|\"[^\"]*\")",
        lambda found: f"label ${labels.get(found.group(1).strip(chr(34)), '?')}",
        text,
    )


def normal(view: FunctionView, text: str) -> str:
    """An instruction without register names, attributes and metadata; string literals by content."""
    plain = _ATTRIBUTES.sub("", text)
    plain = _PRIVATE.sub(lambda found: _content(view, found.group(1)), plain)
    return _REGISTER.sub("%", plain)


def _content(view: FunctionView, symbol: str) -> str:
    found = view.unit.globals.get(symbol)
    return re.sub(r", align \d+|, !dbg !\d+", "", found.definition) if found else symbol
