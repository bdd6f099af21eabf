"""Debug information: which file, line and name an instruction or a global has in the source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import prod

from afterd.limits import C_TRACE
from afterd.model.location import Location

_NODE = re.compile(r"^!(\d+) = (?:distinct )?(.*)$", re.MULTILINE)
_ATTACHED = re.compile(r"!dbg !(\d+)")
_FIRST = re.compile(r"!\{!(\d+)")
_CHARACTER = re.compile(r"DW_ATE_(?:un)?signed_char\b")
_LISTED = re.compile(r"!(\d+)")
_ATTACHED = re.compile(r"!dbg !(\d+)")
_PLAIN = re.compile(r"DW_TAG_(?:structure|class)_type")
_VALUE = re.compile(r"\bvalue: (-?\d+)")
_TYPED = re.compile(r"!DI(?:LocalVariable|GlobalVariable)\(|!DIDerivedType\(tag: DW_TAG_member\b")
_DECLARED = re.compile(r"#dbg_declare\(ptr (%[-a-zA-Z$._0-9]+), !(\d+),")


@cache
def _after(key: str, value: str) -> re.Pattern[str]:
    return re.compile(rf"\b{key}: {value}")


def _number(node: str, key: str) -> int:
    found = _after(key, r"(\d+)").search(node)
    return int(found.group(1)) if found else 0


def _reference(node: str, key: str) -> int:
    found = _after(key, r"!(\d+)").search(node)
    return int(found.group(1)) if found else -1


def _text(node: str, key: str) -> str:
    found = _after(key, r'"((?:[^"\\]|\\.)*)"').search(node)
    return found.group(1) if found else ""


@dataclass(frozen=True, slots=True)
class Part:
    """One step into a table: which element or member of ``of`` (-1: nobody says of how many); a member has a name."""

    number: int
    name: str = ""
    of: int = -1


class DebugInformation:
    """The metadata of one module, read on demand. ``tail`` is the module's text after its functions."""

    def __init__(self, tail: str) -> None:
        self._nodes = {int(number): text for number, text in _NODE.findall(tail)}
        self.location = cache(self._location)
        self.file = cache(self._file)
        self._scope = cache(self._scope_uncached)

    def location_of(self, instruction: str) -> Location | None:
        """The place of an instruction, outermost call site first where it was inlined."""
        found = _ATTACHED.search(instruction)
        return self.location(int(found.group(1))) if found else None

    def subprogram(self, header: str) -> Location:
        """The file, line and source name of a function, from its define line."""
        node = self._attached(header)
        name = _text(node, "name")
        return Location(self.file(_reference(node, "file")), _number(node, "line"), function=name)

    def returns_text(self, header: str) -> bool:
        """Whether a function is declared to return a pointer to characters, from its define line."""
        kind = self._nodes.get(_reference(self._attached(header), "type"), "")
        listed = _FIRST.match(self._nodes.get(_reference(kind, "types"), ""))
        pointer = self._underlying(int(listed.group(1))) if listed else ""
        pointed = self._underlying(_reference(pointer, "baseType"))
        return "DW_TAG_pointer_type" in pointer and bool(_CHARACTER.search(pointed))

    def _attached(self, header: str) -> str:
        """The node of a function by its define line; '' where it has none."""
        found = _ATTACHED.search(header)
        return self._nodes.get(int(found.group(1)), "") if found else ""

    @cached_property
    def linked(self) -> dict[str, str]:
        """Source names of functions by their symbols, where the two differ (C++)."""
        return {
            _text(node, "linkageName"): _text(node, "name")
            for node in self._nodes.values()
            if "linkageName: " in node and "!DISubprogram" in node
        }

    def locals(self, function: str) -> dict[str, str]:
        """The source names of stack slots, from the text of a function."""
        return {
            slot: _text(self._nodes.get(int(node), ""), "name")
            for slot, node in _DECLARED.findall(function)
        }

    def unsigned_locals(self, function: str) -> frozenset[str]:
        """The slots whose type is an unsigned integer."""
        return frozenset(
            slot
            for slot, node in _DECLARED.findall(function)
            if self._unsigned(_reference(self._nodes.get(int(node), ""), "type"))
        )

    def declared_by(self, definition: str) -> int:
        """The node of the variable that a global's definition is attached to; -1 where it is to none."""
        attached = _ATTACHED.search(definition)
        return _reference(self._nodes.get(int(attached[1]), ""), "var") if attached else -1

    def declared_in(self, function: str, name: str) -> int:
        """The node of a local variable of a function, by that one's symbol; -1 where none or several are called so."""
        found = self._locals_by_name.get((function, name), [])
        return found[0] if len(found) == 1 else -1

    @cached_property
    def _locals_by_name(self) -> dict[tuple[str, str], list[int]]:
        """The nodes of local variables by the symbol of their function and their name."""
        found: dict[tuple[str, str], list[int]] = {}
        for number, node in self._nodes.items():
            if node.startswith("!DILocalVariable("):
                function = self._function_of(_reference(node, "scope"))
                found.setdefault((function, _text(node, "name")), []).append(number)
        return found

    def _function_of(self, scope: int) -> str:
        """The symbol of the function that a scope is in."""
        for _ in range(C_TRACE.scopes):
            node = self._nodes.get(scope, "")
            if "!DISubprogram" in node:
                return _text(node, "linkageName") or _text(node, "name")
            scope = _reference(node, "scope")
        return ""

    def variable(self, declared: int) -> tuple[str, Location] | None:
        """The name and place of a variable by its node."""
        node = self._nodes.get(declared, "")
        if not node:
            return None
        return _text(node, "name"), Location(
            self.file(_reference(node, "file")), _number(node, "line")
        )

    def path(self, declared: int, offset: int) -> Iterator[Part]:
        """The elements and members of a variable that some byte of it is in, outermost first."""
        variable = self._nodes.get(declared, "")
        yield from self._path(self._underlying(_reference(variable, "type")), 8 * offset)

    def _path(self, kind: str, bits: int) -> Iterator[Part]:
        """The same within a type, of which that bit is."""
        inner = self._nodes.get(_reference(kind, "elements"), "")
        listed = [self._nodes.get(int(each), "") for each in _LISTED.findall(inner)]
        if "DW_TAG_array_type" in kind:
            element = self._underlying(_reference(kind, "baseType"))
            counts = [_number(each, "count") or -1 for each in listed]
            for at, count in enumerate(counts):
                size = _number(element, "size") * prod(counts[at + 1 :])
                if size <= 0:
                    return
                yield Part(bits // size, of=count)
                bits %= size
            yield from self._path(element, bits)
        elif _PLAIN.search(kind) and _is_aggregate(kind, listed):
            members = [each for each in listed if _is_member(each)]
            for at, each in enumerate(members):
                within = bits - _number(each, "offset")
                if 0 <= within < _number(each, "size"):
                    yield Part(at, _text(each, "name"), len(members))
                    yield from self._path(self._underlying(_reference(each, "baseType")), within)
                    return

    @cached_property
    def enumerators(self) -> dict[str, int]:
        """The values of enumerators by name."""
        return {
            _text(node, "name"): int(found.group(1))
            for node in self._nodes.values()
            if node.startswith("!DIEnumerator") and (found := _VALUE.search(node))
        }

    @cached_property
    def types(self) -> dict[str, frozenset[str]]:
        """By the name of a variable, a parameter or a member the names of the types that it is made of: what a
        ``typedef`` calls it, and what that calls it.
        """
        found: dict[str, set[str]] = {}
        for node in self._nodes.values():
            if _TYPED.match(node) and (name := _text(node, "name")):
                kind = "baseType" if "DW_TAG_member" in node else "type"
                found.setdefault(name, set()).update(self._called(_reference(node, kind)))
        return {name: frozenset(types) for name, types in found.items() if types}

    def _called(self, number: int) -> Iterator[str]:
        """The names of a type, of what it is an array of or points to, and of what those were made from."""
        for _ in range(C_TRACE.nested):
            node = self._nodes.get(number, "")
            if not node:
                return
            if name := _text(node, "name"):
                yield name
            number = _reference(node, "baseType")

    def _unsigned(self, number: int) -> bool:
        node = self._underlying(number)
        return node.startswith("!DIBasicType") and "DW_ATE_unsigned" in node

    def _underlying(self, number: int) -> str:
        """A type without the names and qualifiers that it was given; pointers are not followed."""
        node = ""
        for _ in range(C_TRACE.nested):
            node = self._nodes.get(number, "")
            if not node.startswith("!DIDerivedType") or "pointer_type" in node:
                break
            number = _reference(node, "baseType")
        return node

    def _location(self, number: int) -> Location | None:
        node = self._nodes.get(number, "")
        if not node.startswith("!DILocation"):
            return None
        file, function = self._scope(_reference(node, "scope"))
        return Location(file, _number(node, "line"), _number(node, "column"), function)

    def _scope_uncached(self, number: int) -> tuple[str, str]:
        """The file and the function of a scope; lexical blocks of another file belong to an include."""
        file = ""
        for _ in range(C_TRACE.scopes):
            node = self._nodes.get(number, "")
            file = file or self.file(_reference(node, "file"))
            if "!DISubprogram" in node:
                return file, _text(node, "name")
            if not node:
                break
            number = _reference(node, "scope")
        return file, ""

    def _file(self, number: int) -> str:
        """The path of a DIFile, absolute where its directory is."""
        node = self._nodes.get(number, "")
        name, directory = _text(node, "filename"), _text(node, "directory")
        return name if name.startswith("/") or not directory else f"{directory}/{name}"


def _is_member(node: str) -> bool:
    """Whether something that a struct lists is a member of each object."""
    return "DW_TAG_member" in node and "DIFlagStaticMember" not in node


def _is_aggregate(kind: str, listed: Sequence[str]) -> bool:
    """Whether what stands in braces for a struct is a value for each of its members: in C++ it has neither a base, nor
    virtual functions, nor a constructor that somebody wrote.
    """
    constructor = _text(kind, "name").partition("<")[0]
    for each in listed:
        artificial = "DIFlagArtificial" in each
        if "DW_TAG_inheritance" in each or (_is_member(each) and artificial):
            return False
        named = _text(each, "name").partition("<")[0]
        if "!DISubprogram" in each and named == constructor and not artificial:
            return False
    return True
