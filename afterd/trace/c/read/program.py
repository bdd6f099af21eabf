"""The static side of a trace: from ids in records back to functions, instructions and lines."""

from __future__ import annotations

import bisect
import ctypes
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from afterd.limits import C_TRACE
from afterd.model.location import Location
from afterd.trace.c.build.modules import Module, ModuleStore
from afterd.trace.c.ir.cfg import ControlFlow, analyse
from afterd.trace.c.ir.ir import (
    NAME,
    Function,
    Instruction,
    parameters,
    parse_function,
    plain_locals,
    stack_slots,
)
from afterd.trace.c.ir.irtypes import Layout
from afterd.trace.c.ir.metadata import DebugInformation, Part
from afterd.trace.c.ir.recorded import tags
from afterd.trace.c.weave.instrument import NumberedFunction, global_names, structs
from afterd.trace.c.window import records

_TARGETS = re.compile(r'label %((?:[-a-zA-Z$._0-9]+)|"[^"]*")')
DEFINITION = re.compile(r'^@((?:[-a-zA-Z$._0-9]+|"[^"]*")) = (.*)$', re.MULTILINE)
_COPIED = re.compile(r"__const\.(?P<function>.+)\.(?P<name>[A-Za-z_]\w*)(?:\.\d+)?")
_ALIAS = re.compile(rf"^@({NAME}) = (?:[\w() ]*?)(?:alias|ifunc) .*, ptr @({NAME})", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class GlobalVariable:
    """A global of the program: its source name and declaration, its type and initialiser text; ``declared`` is the
    declaration in the debug information, -1 where that has none. What a local array is copied from is one as well.
    """

    symbol: str
    name: str
    location: Location
    definition: str
    declared: int = -1


class Unit:
    """One module's text with everything derived from it on demand."""

    def __init__(self, module: Module, root: Path) -> None:
        self.module = module
        self._root = str(root)

    @cached_property
    def file(self) -> str:
        """The file that it was compiled of, relative to the source tree's root."""
        return self.relative(Location(f"{self.module.directory}/{self.module.source}")).file

    @cached_property
    def text(self) -> str:
        """The IR before instrumentation."""
        return self.module.ir.read_text(errors="surrogateescape")

    @cached_property
    def debug(self) -> DebugInformation:
        """The module's debug information."""
        at = self.text.find("\n!llvm.") + 1
        return DebugInformation(self.text[at:])

    @cached_property
    def layout(self) -> Layout:
        """The layout of its types."""
        return structs(self.text)

    @cached_property
    def symbols(self) -> list[str]:
        """The order in which the module's constructor reported addresses."""
        return global_names(self.text)

    @cached_property
    def globals(self) -> Mapping[str, GlobalVariable]:
        """Global variables by symbol (without @)."""
        found: dict[str, GlobalVariable] = {}
        for quoted, definition in DEFINITION.findall(self.text):
            symbol = quoted.strip('"')
            declared = self._declared(symbol, definition)
            name, place = self.debug.variable(declared) or (quoted, Location(""))
            place = self.relative(place)
            found[symbol] = GlobalVariable(symbol, name, place, definition, declared)
        return found

    def _declared(self, symbol: str, definition: str) -> int:
        """The declaration of a global in the debug information; of the constant that a local variable is made of, that
        variable's.
        """
        declared = self.debug.declared_by(definition)
        copied = _COPIED.fullmatch(symbol) if declared < 0 else None
        return self.debug.declared_in(copied["function"], copied["name"]) if copied else declared

    def path(self, variable: GlobalVariable, offset: int) -> tuple[Part, ...]:
        """The elements and members of a global that one of its bytes is in, outermost first."""
        return tuple(self.debug.path(variable.declared, offset))

    def relative(self, place: Location) -> Location:
        """The location with its file relative to the source tree's root, ``..`` resolved."""
        file = _normal(place.file)
        if file.startswith(self._root + "/"):
            file = file[len(self._root) + 1 :]
        return Location(file, place.line, place.column, place.function)


@cache
def _normal(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts and parts[-1] not in {"", ".."}:
            parts.pop()
        elif part not in {".", ""} or not parts:
            parts.append(part)
    return "/".join(parts)


class FunctionView:
    """One function with its numbering: the only thing the dynamic side asks for static facts."""

    def __init__(self, unit: Unit, numbered: NumberedFunction) -> None:
        self.unit = unit
        self.numbered = numbered
        self.name = numbered.name
        self.text = unit.text[numbered.start : numbered.end]
        self._places: dict[int, list[Location]] = {}

    @cached_property
    def function(self) -> Function:
        """The parsed function."""
        return parse_function(self.text)

    @cached_property
    def locals(self) -> dict[str, str]:
        """Its plain stack slots and their types."""
        return plain_locals(self.function)

    @cached_property
    def slot_ids(self) -> dict[str, int]:
        """The id of each stack slot, plain or not."""
        slots = stack_slots(self.function)
        return {name: self.numbered.first.slots + at for at, name in enumerate(slots)}

    @cached_property
    def slot_names(self) -> dict[str, str]:
        """Source names of stack slots (plain or not)."""
        return self.unit.debug.locals(self.text)

    @cached_property
    def unsigned(self) -> frozenset[str]:
        """Slots of an unsigned type."""
        return self.unit.debug.unsigned_locals(self.text)

    @cached_property
    def location(self) -> Location:
        """Where the function is declared."""
        place = self.unit.relative(self.unit.debug.subprogram(self.function.header))
        return Location(place.file, place.line, 0, self.name)

    @cached_property
    def source_name(self) -> str:
        """What the source calls the function: in C++, with the arguments of the template."""
        return self.unit.debug.subprogram(self.function.header).function

    @cached_property
    def returns_text(self) -> bool:
        """Whether it returns a pointer to characters."""
        return self.unit.debug.returns_text(self.function.header)

    @cached_property
    def definitions(self) -> dict[str, tuple[int, int]]:
        """Register → (block, instruction) that defines it."""
        return {
            instruction.result: (b, i)
            for b, block in enumerate(self.function.blocks)
            for i, instruction in enumerate(block.instructions)
            if instruction.result
        }

    @cached_property
    def block_numbers(self) -> dict[str, int]:
        """Label → index of the block."""
        return {block.label: at for at, block in enumerate(self.function.blocks)}

    @cached_property
    def flow(self) -> ControlFlow:
        """Control dependence and loops. That a call may throw is no branch: see landing_pads."""
        return analyse(
            [
                self.targets(block.terminator)[: 1 if block.terminator.opcode == "invoke" else None]
                for block in self.function.blocks
            ]
        )

    @cached_property
    def landing_pads(self) -> tuple[int, ...]:
        """The blocks to which exceptions lead."""
        invokes = (
            block.terminator
            for block in self.function.blocks
            if block.terminator.opcode == "invoke"
        )
        return tuple(
            dict.fromkeys(target for invoke in invokes for target in self.targets(invoke)[1:])
        )

    def targets(self, terminator: Instruction) -> list[int]:
        """The blocks a terminator may go to, in the order written (a branch: true first)."""
        text = terminator.text.split(", !dbg")[0] if terminator.opcode == "br" else terminator.text
        names = (name.strip('"') for name in _TARGETS.findall(text))
        return [self.block_numbers[name] for name in names if name in self.block_numbers]

    @cached_property
    def leaving_records(self) -> list[list[tuple[int, int]]]:
        """Per block: (instruction, tag) of each record it leaves after its own, in order."""
        return [
            [
                (i, tag)
                for i, instruction in enumerate(block.instructions)
                for tag in tags(instruction, self.locals)
            ]
            for block in self.function.blocks
        ]

    @cached_property
    def sites(self) -> dict[int, tuple[int, int]]:
        """Call site id → (block, instruction)."""
        found: dict[int, tuple[int, int]] = {}
        number = self.numbered.first.sites
        for b, leaving in enumerate(self.leaving_records):
            for i, tag in leaving:
                if tag == records.CALL:
                    found[number] = (b, i)
                    number += 1
        return found

    def executions(self, block: int) -> int:
        """The first word of a record of the block's execution, but for the depth, which is or-ed in."""
        tag = records.BLOCK if block else records.ENTER
        return records.identified_tag_word(tag, self.numbered.first.blocks + block)

    @cached_property
    def parameters(self) -> list[str]:
        """The registers of the formal parameters, in order."""
        given = parameters(self.function.header)
        return [found[0] for text in given if (found := re.findall(rf"%{NAME}$", text))]

    def place(self, block: int, instruction: int) -> Location:
        """The source place of an instruction; the nearest one before it in its block, or the function."""
        if block not in self._places:
            self._places[block] = list(self._places_in(block))
        return self._places[block][instruction] if instruction >= 0 else self.location

    def _places_in(self, block: int) -> Iterator[Location]:
        place = self.location
        for instruction in self.function.blocks[block].instructions:
            found = self.unit.debug.location_of(instruction.text)
            if found and found.line:
                there = Location(found.file, found.line, found.column, self.name)
                place = self.unit.relative(there)
            yield place


@cache
def _demangler() -> Callable[..., bytes | None] | None:
    """The C++ library's own; None on a machine without one."""
    try:
        found = ctypes.CDLL("libstdc++.so.6")["__cxa_demangle"]
    except (OSError, AttributeError):
        return None
    found.restype = ctypes.c_char_p  # what it allocated stays so: one name, once
    return found


@cache
def demangled_name(symbol: str) -> str:
    """The name in a symbol of C++, without parameters and arguments of templates; else the symbol."""
    demangle = _demangler() if symbol.startswith("_Z") else None
    said = demangle(symbol.encode(), None, None, None) if demangle else None
    if not said:
        return symbol
    name, operator, rest = said.decode(errors="replace").partition("operator")
    sign = re.match(r"[^\w\s(]+|\(\)", rest) if operator else None
    depth, kept = 0, ""
    for letter in name.replace("(anonymous namespace)::", ""):
        depth += letter == "<"
        kept += "" if depth else letter
        depth -= letter == ">"
    kept = kept.partition("(")[0].rpartition(" ")[2]
    return f"{kept}operator{sign[0] if sign else ''}" if operator else kept or symbol


class Program:
    """The modules of a traced build (None: all of its store); ids are looked up by bisection."""

    def __init__(
        self, store: ModuleStore, root: Path, modules: Iterable[Module] | None = None
    ) -> None:
        self.store = store
        known = store.modules() if modules is None else modules
        self.units = [Unit(module, root) for module in known]
        entries = [
            (f.first.blocks, f.first.slots, f.first.sites, unit, f)
            for unit in self.units
            for f in unit.module.functions
        ]
        entries.sort(key=lambda entry: entry[0])
        self._entries = entries
        self._first_blocks = [entry[0] for entry in entries]
        self._views: dict[int, FunctionView] = {}
        self._first_sites = [entry[2] for entry in entries]
        self._named: dict[str, list[int]] = {}
        for at, entry in enumerate(entries):
            self._named.setdefault(entry[4].name, []).append(at)

    def function_of_block(self, block: int) -> FunctionView:
        """The function a block id belongs to; KeyError for an id no module has."""
        at = bisect.bisect_right(self._first_blocks, block) - 1
        if at < 0:
            raise KeyError(block)
        view = self._views.get(at)
        if view is None:
            _, _, _, unit, numbered = self._entries[at]
            view = self._views[at] = FunctionView(unit, numbered)
        if block >= view.numbered.first.blocks + len(view.function.blocks):
            raise KeyError(block)
        return view

    def resolved(self, name: str) -> str:
        """The function that a symbol means: its own name, or that of the function it is an alias of."""
        for _ in range(8):
            if name in self._named:
                return name
            following = self._aliases.get(name)
            if following is None:
                return ""
            name = following
        return ""

    def is_outside(self, called: str) -> bool:
        """Whether what a call names (``callee``) is a function that is not traced; not of a call by pointer."""
        return called.startswith("@") and not self.resolved(called[1:])

    def function_named(self, name: str, unit: Unit) -> FunctionView | None:
        """The function that a module means by a name: its own, or the first of the program."""
        candidates = self._named.get(self.resolved(name), [])
        own = [at for at in candidates if self._entries[at][3] is unit]
        found = own or candidates
        return self.function_of_block(self._first_blocks[found[0]]) if found else None

    def readable(self, symbol: str, unit: Unit) -> str:
        """What the source calls a function, long arguments of a template left out; else its symbol."""
        own = self.function_named(symbol, unit)
        name = own.source_name if own else unit.debug.linked.get(symbol, "")
        head, bracket, _ = name.partition("<")
        return (
            f"{head}<…>" if bracket and len(name) > C_TRACE.name else name or demangled_name(symbol)
        )

    def has(self, name: str) -> bool:
        """Whether any module has a function of this very name."""
        return name in self._named

    def names(self) -> Iterable[str]:
        """The name of every function."""
        return self._named.keys()

    def functions_named(self, name: str) -> Sequence[FunctionView]:
        """The functions of a name, in the order of their modules: several where they are static."""
        return [self.function_of_block(self._first_blocks[at]) for at in self._named.get(name, ())]

    @cached_property
    def _aliases(self) -> Mapping[str, str]:
        return {
            alias.strip('"'): target.strip('"')
            for unit in self.units
            for alias, target in _ALIAS.findall(unit.text)
        }

    def view_of_site(self, site: int) -> FunctionView:
        """The function a call site's id belongs to; KeyError for an id no module has."""
        at = bisect.bisect_right(self._first_sites, site) - 1
        if at < 0:
            raise KeyError(site)
        return self.function_of_block(self._first_blocks[at])

    def call_of_site(self, site: int) -> Instruction:
        """The call instruction with a call site's id; KeyError for an id no module has."""
        view = self.view_of_site(site)
        block, index = view.sites[site]
        return view.function.blocks[block].instructions[index]

    def unit_of_first_block(self, block: int) -> Unit | None:
        """The module whose constructor registered itself with this first block id."""
        for unit in self.units:
            if unit.module.first_block == block:
                return unit
        return None

    def views(self) -> list[FunctionView]:
        """Every function (parsed on demand)."""
        return [self.function_of_block(first) for first in self._first_blocks]
