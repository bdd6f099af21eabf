"""What a Python file defines and what it needs, without running it.

Scopes are not followed for attributes and keywords, but of a class's own objects: a name that is defined
anywhere may be meant.
"""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from afterd.limits import PYTHON_TRACE
from afterd.trace.python.source.constructors import (
    FieldArgument,
    constructor_fields,
    named_tuple_fields,
)
from afterd.trace.python.source.families import (
    ClassPart,
    class_parts,
    foreign_attributes,
    merged_class_parts,
)
from afterd.trace.python.source.halves import Stand, stands_of
from afterd.trace.python.source.scoping import NOTHING_NAMED, Names, Use, names_of
from afterd.trace.python.source.statements import Place, Places
from afterd.trace.python.source.syntax import nodes_below
from afterd.trace.python.source.tuples import Values, returned_tuples, unpacked_calls
from afterd.vcs.statements import PYTHON_TEXT

_CLASS = re.compile(r"(?:@.*\n)*class\b.*:[ \t]*(?:#.*)?\n")
_OF_FIELDS = re.compile(r"\b(?:NamedTuple|dataclass)\b")  # all members say what it is called with
_INDENTATION = re.compile(r"^[ \t]+(?=[^\s#])", re.MULTILINE)
_WORD = re.compile(r"[^\W\d]\w*")
_OF_MODULES = frozenset(
    {"__annotations__", "__builtins__", "__class__", "__doc__", "__file__", "__loader__"}
    | {"__name__", "__package__", "__path__", "__qualname__", "__spec__", "__module__"}
)
_DEFINING: frozenset[type[ast.AST]] = frozenset(
    {ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.arg, ast.Name, ast.Attribute}
    | {ast.alias, ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.Constant}
)
_BUILTIN = frozenset(dir(builtins)) | _OF_MODULES


@dataclass(frozen=True, slots=True)
class Arity:
    """What a function takes: ``required`` by position or name, in order, ``most`` by position,
    ``named`` by keyword (None stands for any), and ``placed`` by either, in order.
    """

    required: tuple[str, ...] = ()
    most: int | None = None
    named: frozenset[str] | None = None
    placed: tuple[str, ...] = ()

    def against(self, call: Call) -> str:
        """What keeps a call from being meant for it; empty where nothing does."""
        if self.most is not None and call.arguments > self.most:
            return f"does not take {call.arguments} arguments"
        if call.named is None:
            return ""
        missing = [name for name in self.required[call.arguments :] if name not in call.named]
        if missing:
            return f"needs an argument '{missing[0]}'"
        unknown = sorted(call.named - self.named) if self.named is not None else []
        if unknown:
            return f"takes no argument '{unknown[0]}'"
        twice = [name for name in self.placed[: call.arguments] if name in call.named]
        return f"is given '{twice[0]}' twice" if twice else ""


@dataclass(frozen=True, slots=True)
class Call:
    """A call by a function's name: arguments by position, and the names of those by keyword, None
    where they are not told. Of a method nobody knows whose it is: its place is not certain.
    """

    name: str
    arguments: int
    named: frozenset[str] | None
    place: Place


@dataclass(frozen=True, slots=True)
class Import:
    """``from MODULE import NAME`` with ``level`` dots, or ``import MODULE`` (no name)."""

    level: int
    module: str
    name: str
    place: Place


@dataclass(frozen=True, slots=True)
class Mentions:
    """The names in one file.

    ``defined``: given a meaning anywhere (functions, parameters, attributes, strings that are
    names). ``needed``: attributes read, keywords passed. ``imports``: what is imported, by name or
    whole. ``unbound``: names read that no scope around them binds, but for what a star may have
    brought (``stars``). ``functions`` and ``calls``: parameters by a function's name, and what calls by
    that name pass; ``methods``: parameters by class and name, ``supers``: calls of what is above a class in one of its
    methods. ``classes``: what they give and read of their own. ``foreign``: attributes that are
    given to other objects. ``exported``: what ``__all__`` says a star takes. ``stands``: in which function a
    statement is. ``returned``: tuples, by their function, ``unpacked``: what calls give. ``error`` is what keeps it
    from compiling; then nothing else is known.
    """

    defined: frozenset[str] = frozenset()
    needed: frozenset[str] = frozenset()
    imports: frozenset[Import] = frozenset()
    unbound: frozenset[Use] = frozenset()
    stars: frozenset[Import] = frozenset()
    names: frozenset[str] = frozenset()
    functions: frozenset[tuple[str, Arity]] = frozenset()
    calls: frozenset[Call] = frozenset()
    methods: frozenset[tuple[str, str, Arity]] = frozenset()
    supers: frozenset[tuple[str, Call]] = frozenset()
    classes: frozenset[ClassPart] = frozenset()
    foreign: frozenset[str] = frozenset()
    exported: frozenset[str] = frozenset()
    stands: frozenset[Stand] = frozenset()
    returned: frozenset[Values] = frozenset()
    unpacked: frozenset[Values] = frozenset()
    error: str = ""

    @property
    def spoken(self) -> frozenset[str]:
        """All names that are given a meaning here or asked for, but for those that a scope around them binds."""
        imported = (each.name for each in self.imports)
        return self.defined.union(self.needed, imported, (use.name for use in self.unbound))


_TEXT = re.compile(PYTHON_TEXT, re.DOTALL)
_LONG = ('"""', "'''")  # how a string begins that may have several lines


@lru_cache(maxsize=400)
def mentions(text: bytes) -> Mentions:
    """Read a file; never raises for what is in it. A part of a range has most files of the whole, which were read.

    Statement by statement: a variant shares most of them with versions that were read before. What only a
    compiler refuses (a ``return`` at the margin) is not seen: ``compiler_error`` asks one.
    """
    try:
        parts = list(_parts(text.decode("utf-8", "replace")))
    except (SyntaxError, ValueError, RecursionError):
        parts = []
    try:
        return _joined_mentions(parts or [_part(text.decode("utf-8", "replace"))])
    except (SyntaxError, ValueError, RecursionError) as error:
        return Mentions(error=f"{type(error).__name__}: {error}")


def compiler_error(text: bytes) -> str:
    """What keeps a file from being compiled; empty where nothing does.

    Asked part by part, as most are those of versions that were asked for before: connection.py of asyncssh, 9,000
    lines, was compiled for each of 160 variants.
    """
    parts = (part for _, pieces in _pieces(text.decode("utf-8", "replace")) for part in pieces)
    return _compiled_error(text) if any(map(_part_error, parts)) else ""


def _compiled_error(text: bytes | str) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


@lru_cache(maxsize=20_000)
def _part_error(text: str) -> str:
    """The same for a part of a file."""
    return _compiled_error(text)


@dataclass(frozen=True, slots=True)
class _Part:
    """The names in some statements of a file; what they read and bind in its own scope.

    Of a class's member also what it reads and binds in the scope of the class.
    """

    found: Mentions
    own: Names
    of_class: Names = NOTHING_NAMED


def _joined_mentions(parts: Sequence[_Part]) -> Mentions:
    found = [part.found for part in parts]
    return Mentions(
        defined=frozenset[str]().union(*(each.defined for each in found)),
        needed=frozenset[str]().union(*(each.needed for each in found)),
        imports=frozenset[Import]().union(*(each.imports for each in found)),
        unbound=frozenset(_unbound_uses([part.own for part in parts])),
        stars=frozenset[Import]().union(*(each.stars for each in found)),
        names=frozenset[str]().union(*(part.own.binds | part.own.declared for part in parts)),
        functions=frozenset[tuple[str, Arity]]().union(*(each.functions for each in found)),
        calls=frozenset[Call]().union(*(each.calls for each in found)),
        methods=frozenset[tuple[str, str, Arity]]().union(*(each.methods for each in found)),
        supers=frozenset[tuple[str, Call]]().union(*(each.supers for each in found)),
        classes=frozenset(merged_class_parts(part for each in found for part in each.classes)),
        foreign=frozenset[str]().union(*(each.foreign for each in found)),
        exported=frozenset[str]().union(*(each.exported for each in found)),
        stands=frozenset[Stand]().union(*(each.stands for each in found)),
        returned=frozenset[Values]().union(*(each.returned for each in found)),
        unpacked=frozenset[Values]().union(*(each.unpacked for each in found)),
    )


def _unbound_uses(parts: Sequence[Names]) -> Iterator[Use]:
    """What is read before a part binds it, or in a function and bound by none."""
    so_far = set(_BUILTIN.union(*(part.declared for part in parts)))
    for part in parts:
        yield from (use for use in part.now if use.name not in so_far)
        so_far |= part.binds
    for part in parts:
        yield from (use for use in part.later if use.local or use.name not in so_far)


def _pieces(text: str) -> Iterator[tuple[str, list[str]]]:
    """The statements of a file, each with what it is read by: a class by its members, each below the class's head, as
    most variants alter one method; a class whose constructor is made of its members, and all else, as a whole.
    """
    for statement in statement_texts(text):
        header = _CLASS.match(statement)
        indentation = _INDENTATION.search(statement, header.end()) if header else None
        if header is None or indentation is None or _OF_FIELDS.search(header[0]):
            yield statement, [statement]
            continue
        members = statement_texts(statement[header.end() :], indentation[0])
        yield statement, [header[0] + member for member in members]


def _parts(text: str) -> Iterator[_Part]:
    """What is read of the statements of a file."""
    for statement, pieces in _pieces(text):
        if pieces == [statement]:
            yield _part(statement)
            continue
        try:
            members = [_part(piece, of_class=True) for piece in pieces]
        except SyntaxError:  # cut where it must not be
            yield _part(statement)
            continue
        bound: frozenset[str] = frozenset()
        for member in members:
            further = frozenset(use for use in member.of_class.now if use.name not in bound)
            bound |= member.of_class.binds
            yield replace(member, own=replace(member.own, now=member.own.now | further))


def statement_texts(text: str, indentation: str = "") -> Iterator[str]:
    """A file cut where a line begins at the margin, outside strings and below no decorator; or a
    class's body, with its indentation.

    A part that does not parse belies the cut.
    """
    starts = [match.end() for match in _margin(indentation).finditer(text)]
    strings = [match.span() for match in _TEXT.finditer(text) if match[0].startswith(_LONG)]
    begins = [begin for begin, _ in strings]
    begun = ""
    for start, end in pairwise([*starts, len(text) + len(indentation)]):
        cut = end - len(indentation)
        begun += text[start - len(indentation) : cut]
        before = bisect_left(begins, cut) - 1
        in_string = before >= 0 and strings[before][1] > cut
        if text[start] != "@" and not in_string:
            yield begun
            begun = ""
    if begun:
        yield begun


@lru_cache(maxsize=16)
def _margin(indentation: str) -> re.Pattern[str]:
    """Where a line begins at this indentation that does not go on with what is above it."""
    begins = r"(?=[^\s)\]}#])(?!(?:else|elif|except|finally)\b)"
    return re.compile(f"^{re.escape(indentation)}{begins}", re.MULTILINE)


@lru_cache(maxsize=20_000)
def _part(text: str, *, of_class: bool = False) -> _Part:
    """``of_class``: the text is a class with one member.

    Raises SyntaxError, ValueError or RecursionError where it is no Python.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    nodes = nodes_below(tree)
    places = Places(tree, text)
    own, inner = names_of(tree, places)
    imports = [
        each
        for node in nodes
        if isinstance(node, ast.Import | ast.ImportFrom)
        for each in _imports(node, places)
    ]
    found = Mentions(
        defined=frozenset(
            name for node in nodes if node.__class__ in _DEFINING for name in _defined_names(node)
        ),
        needed=frozenset(
            name
            for node in nodes
            if isinstance(node, ast.Attribute | ast.keyword)
            for name in _needed_names(node)
        ),
        imports=frozenset(each for each in imports if each.name != "*"),
        stars=frozenset(each for each in imports if each.name == "*"),
        functions=frozenset(_functions(nodes)),
        calls=frozenset(
            call
            for node in nodes
            if isinstance(node, ast.Call) and (call := _call(node, places)) is not None
        ),
        methods=frozenset(_methods(nodes)),
        supers=frozenset(_supers(nodes, places)),
        classes=frozenset(class_parts(nodes, places)),
        foreign=frozenset(foreign_attributes(nodes)),
        exported=frozenset(name for node in tree.body for name in _exported_names(node)),
        stands=frozenset(stands_of(tree, text)),
        returned=frozenset(returned_tuples(nodes, places, text)),
        unpacked=frozenset(unpacked_calls(nodes, text)),
    )
    if not of_class:
        return _Part(found, _with_class(own, inner))
    return _Part(found, own, inner)


def _with_class(own: Names, inner: Names) -> Names:
    """What the body of a class reads from around it belongs to what is around it."""
    return replace(own, now=own.now | inner.now) if inner.now else own


def _defined_names(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
            yield name
        case ast.Attribute(attr=name, ctx=ast.Store()):
            yield name
        case ast.alias(asname=str(name)) | ast.ExceptHandler(name=str(name)):
            yield name
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.Constant(value=str(text)) if len(text) <= PYTHON_TRACE.names_in_string:
            yield from _WORD.findall(text)


def _needed_names(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Attribute(attr=name, ctx=ast.Load()) | ast.keyword(arg=str(name)):
            yield name


def _exported_names(node: ast.stmt) -> Iterator[str]:
    match node:
        case (
            ast.Assign(
                targets=[ast.Name(id="__all__")], value=ast.List(elts=names) | ast.Tuple(elts=names)
            )
            | ast.AugAssign(
                target=ast.Name(id="__all__"), value=ast.List(elts=names) | ast.Tuple(elts=names)
            )
        ):
            yield from (
                name.value
                for name in names
                if isinstance(name, ast.Constant) and isinstance(name.value, str)
            )


def _imports(node: ast.AST, places: Places) -> Iterator[Import]:
    match node:
        case ast.ImportFrom(module=module, names=names, level=level):
            for alias in names:
                yield Import(level, module or "", alias.name, places.of(node))
        case ast.Import(names=names):
            yield from (Import(0, alias.name, "", places.of(node)) for alias in names)


def _functions(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, Arity]]:
    """Functions, methods without what the call does not pass, and classes by their initialiser, written or made."""
    methods: dict[ast.AST, ast.ClassDef] = {
        item: node for node in nodes if isinstance(node, ast.ClassDef) for item in node.body
    }
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            home = methods.get(node)
            arity = _arity(node, 0 if home is None else 1)
            yield node.name, arity
            if home is not None and node.name == "__init__":
                yield home.name, arity
        elif isinstance(node, ast.ClassDef) and (fields := constructor_fields(node)) is not None:
            yield node.name, _arity_of_fields(fields)
        elif isinstance(node, ast.Assign) and (named := named_tuple_fields(node)) is not None:
            yield named[0], _arity_of_fields(named[1])


def _methods(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, str, Arity]]:
    """What the methods of each class take, but for their object."""
    for owner, method in _methods_of_classes(nodes):
        yield owner, method.name, _arity(method, 1)


def _supers(nodes: Sequence[ast.AST], places: Places) -> Iterator[tuple[str, Call]]:
    """Calls of ``super().name(…)``, with the class in which they stand."""
    for owner, method in _methods_of_classes(nodes):
        for each in nodes_below(method):
            match each:
                case ast.Call(
                    func=ast.Attribute(value=ast.Call(func=ast.Name(id="super"), args=[]))
                ):
                    if (call := _call(each, places)) is not None:
                        yield owner, call


def _methods_of_classes(
    nodes: Sequence[ast.AST],
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """The functions that stand in the body of each class, with its name."""
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            for item in node.body:
                if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield node.name, item


def _arity_of_fields(fields: Sequence[FieldArgument]) -> Arity:
    names = tuple(each.name for each in fields)
    required = tuple(each.name for each in fields if not each.has_default)
    return Arity(required, len(names), frozenset(names), names)


def _arity(function: ast.FunctionDef | ast.AsyncFunctionDef, own: int) -> Arity:
    given = function.args
    if function.decorator_list:
        return Arity()  # what it makes of the function is not known
    by_place = [arg.arg for arg in (*given.posonlyargs, *given.args)][own:]
    needed = by_place[: max(len(by_place) - len(given.defaults), 0)]
    named = [*by_place, *(arg.arg for arg in given.kwonlyargs)]
    return Arity(
        tuple(needed),
        None if given.vararg else len(by_place),
        None if given.kwarg else frozenset(named),
        tuple(by_place),
    )


def _call(node: ast.AST, places: Places) -> Call | None:
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args, keywords=given):
            if not any(isinstance(argument, ast.Starred) for argument in args):
                named = frozenset(word.arg for word in given if word.arg is not None)
                place = places.of(node)
                if isinstance(node.func, ast.Attribute):
                    place = place.doubted()
                return Call(name, len(args), named if len(named) == len(given) else None, place)
    return None
