"""C sources as LLVM IR text, and IR text as a program that can be executed.

What the linker keeps apart: names that are a module's own, and that another module has too.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from afterd.errors import ToolchainError
from afterd.execution.environment import scrubbed_environment
from afterd.execution.process import Command
from afterd.execution.sandbox import run
from afterd.execution.toolchain import Toolchain
from afterd.limits import Limits
from afterd.logic import Statement
from afterd.model.location import Location
from afterd.symbolic.code import Body, Context, decode
from afterd.symbolic.memory import Memory
from afterd.trace.c.ir.initialisers import image_of
from afterd.trace.c.ir.ir import NAME, Function, functions
from afterd.trace.c.ir.metadata import DebugInformation
from afterd.trace.c.read import DEFINITION
from afterd.trace.c.weave import structs

_FLAGS = (
    "-O0",
    "-g",
    "-S",
    "-emit-llvm",
    "-fno-discard-value-names",
    "-fno-sanitize=all",
    "-fno-stack-protector",
    "-U_FORTIFY_SOURCE",
    "-Wno-everything",
)
_SYMBOL = re.compile(rf"@({NAME})")
_CONSTANT = re.compile(r"(?:[a-z_]+(?:\([^)]*\))? )*constant ")
OUTSIDE = ("stdin", "stdout", "stderr")


def listing(source: Path, toolchain: Toolchain, flags: Sequence[str] = ()) -> str:
    """The IR of one source file; raises ToolchainError where it does not compile."""
    with tempfile.TemporaryDirectory(prefix="afterd-ir-") as scratch:
        target = Path(scratch) / "module.ll"
        line = (*toolchain.argv, *flags, *_FLAGS, "-o", str(target), str(source.absolute()))
        result = run(
            Command(line, source.absolute().parent, scrubbed_environment(), merge=True),
            Limits().build,
        )
        try:
            if not result.succeeded:
                said = (result.stdout.text().strip().splitlines() or [result.describe()])[0]
                raise ToolchainError(f"{source} cannot be compiled ({said}); see afterd doctor.")
            return target.read_text(errors="surrogateescape")
        finally:
            result.remove()


@dataclass(slots=True)
class Module:
    """One translation unit: what its functions need to be decoded."""

    text: str
    context: Context
    functions: dict[str, Function] = field(default_factory=dict)


class Image:
    """All modules of a program, its globals in memory. Functions are decoded when first called."""

    def __init__(self, texts: Sequence[str], root: Path) -> None:
        self.memory = Memory()
        self.addresses: dict[str, int] = {}
        self.names: dict[int, str] = {}
        self.declared: dict[str, Statement] = {}
        self._root = str(root.absolute())
        self._bodies: dict[str, Body] = {}
        self._owner: dict[str, Module] = {}
        modules = [self._module(text) for text in told_apart(texts)]
        for module in modules:
            self._place(module)
        for module in modules:
            self._fill(module)
        for stream in OUTSIDE:
            self._point_to_itself(stream)
        self.memory.journal.clear()

    def body(self, name: str) -> Body | None:
        """The decoded function; None for one that the program does not define."""
        if name not in self._bodies and name in self._owner:
            module = self._owner[name]
            self._bodies[name] = decode(module.functions[name], module.context)
        return self._bodies.get(name)

    def address_of(self, symbol: str) -> int:
        """The address of a global or function (without @); outside ones get one when asked for."""
        name = symbol.removeprefix("@").strip('"')
        if name not in self.addresses:
            self.addresses[name] = self.memory.allocate(8, f"@{name}")
            self.names[self.addresses[name]] = name
        return self.addresses[name]

    def lines(self) -> Mapping[tuple[str, int], str]:
        """Every line that has a statement, with the function it is in."""
        found: dict[tuple[str, int], str] = {}
        for name in self._owner:
            body = self.body(name)
            for block in body.blocks if body else ():
                for code in block.codes:
                    if code.statement is not None:
                        found.setdefault(code.statement.line, name)
        return found

    def _module(self, text: str) -> Module:
        debug = DebugInformation(text[text.find("\n!llvm.") + 1 :])
        module = Module(text, Context(structs(text), debug, self.address_of, self._relative))
        for _, _, function in functions(text):
            module.functions[function.name] = function
            self._owner.setdefault(function.name, module)
        return module

    def _place(self, module: Module) -> None:
        for name in module.functions:
            self.address_of(name)
        for symbol, definition in DEFINITION.findall(module.text):
            name, image = (
                symbol.strip('"'),
                image_of(definition, module.context.layout, _no_address),
            )
            if image is not None and name not in self.addresses:
                self.addresses[name] = self.memory.allocate(len(image.data), f"@{name}")
                self.names[self.addresses[name]] = name
                self._declare(module, name, definition)
        for symbol in _SYMBOL.findall(module.text):  # the rest of them: what others define
            if not symbol.startswith("llvm."):
                self.address_of(symbol)

    def _declare(self, module: Module, name: str, definition: str) -> None:
        """Where a variable is declared, by the kind of its object. Of constants (tables, string literals)
        those are suspects that read them.
        """
        if _CONSTANT.match(definition):
            return
        debug = module.context.debug
        known = debug.variable(debug.declared_by(definition))
        if known is not None and known[0] and known[1].line:
            place = Location(self._relative(known[1].file), known[1].line)
            self.declared[f"@{name}"] = Statement(place)

    def _point_to_itself(self, stream: str) -> None:
        """A stream's variable holds its own address: that is how a call knows which one it was given."""
        address = self.address_of(stream)
        self.memory.write(address, address.to_bytes(8, "little"))

    def _fill(self, module: Module) -> None:
        for symbol, definition in DEFINITION.findall(module.text):
            image = image_of(definition, module.context.layout, self.address_of)
            if image is not None:
                self.memory.write(self.addresses[symbol.strip('"')], image.data)

    def _relative(self, file: str) -> str:
        place = Location(file).file
        return place.removeprefix(self._root + "/")


def _no_address(_symbol: str) -> int:
    return 0


_OWN = re.compile(
    rf"^(?:@({NAME}) = (?:internal|private) |define (?:internal|private) .*?@({NAME})\()",
    re.MULTILINE,
)
_STRING_OR_SYMBOL = re.compile(rf'c?"[^"\n]*"|@({NAME})')


def told_apart(texts: Sequence[str]) -> list[str]:
    """The modules' IR with static names numbered by module where several modules have the name."""
    if len(texts) < 2:
        return list(texts)
    named = Counter(name for text in texts for name in _names(text))
    return [_numbered_names(text, at, named) for at, text in enumerate(texts)]


def _names(text: str) -> set[str]:
    return {match.group(1) for match in _STRING_OR_SYMBOL.finditer(text) if match.group(1)}


def _numbered_names(text: str, number: int, named: Counter[str]) -> str:
    found = {one or other for one, other in _OWN.findall(text)}
    own = {name for name in found if named[name] > 1}

    def renamed(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in own:
            return match.group()
        suffix = f".module{number}"  # clang's own suffixes are numbers
        return f'@{name[:-1]}{suffix}"' if name.endswith('"') else f"@{name}{suffix}"

    return _STRING_OR_SYMBOL.sub(renamed, text) if own else text
