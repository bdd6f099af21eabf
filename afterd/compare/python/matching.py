"""Which node of the good version corresponds to a node of the bad one.

Definitions are paired by name, statements by text and then by kind, expressions by role. Working on
the two trees rather than on the diff's lines, a function that moved to another file or place is
still found, and a statement that moved to another function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from afterd.limits import PYTHON_PAIR
from afterd.trace.linemap import LineMap
from afterd.trace.python.read import (
    BLOCKS,
    FRAMES,
    IMPORTS,
    Module,
    Node,
    qualified_name,
)
from afterd.weights import SIMILARITY

_Key = Callable[[Node], str]
_DEFINITIONS = frozenset({"FunctionDef", "AsyncFunctionDef", "ClassDef"})
_GIVING = frozenset({"Assign", "AnnAssign", "AugAssign", "Expr"})
_NAMED = frozenset({"alias", "arg", "keyword"})
_ROLES = ("value", "test", "iter", "target", "exc", "subject", "context_expr", "func", "type")


class Partners:
    """Each node's partner in the other version. A node of a module that both runs loaded is its own."""

    def __init__(self, common: frozenset[Module]) -> None:
        self._common = common
        self._found: dict[Node, Node] = {}

    def __contains__(self, node: Node) -> bool:
        return node in self._found or node.module in self._common

    def __setitem__(self, node: Node, partner: Node) -> None:
        self._found[node] = partner

    def get(self, node: Node) -> Node | None:
        """The partner; None where there is none."""
        return node if node.module in self._common else self._found.get(node)


@dataclass(frozen=True, slots=True)
class Matching:
    """Pairs of nodes: of the bad version's ones the ``good`` partners, and the other way round. Those of both versions
    that are ``displaced`` stand in statements that moved to another function.
    """

    good: Partners
    bad: Partners
    displaced: frozenset[Node] = frozenset()

    def inverted(self) -> Matching:
        """The same pairs with the versions' parts exchanged."""
        return Matching(self.bad, self.good, self.displaced)


def match(bad: Sequence[Module], good: Sequence[Module], lines: LineMap) -> Matching:
    """Pair the nodes of two versions of a program."""
    matcher = _Matcher(bad, good, lines)
    return Matching(matcher.good, matcher.bad, frozenset(matcher.displaced))


class _Matcher:
    def __init__(self, bad: Sequence[Module], good: Sequence[Module], lines: LineMap) -> None:
        common = frozenset(bad) & frozenset(good)
        self.good, self.bad = Partners(common), Partners(common)
        bad, good = ([each for each in modules if each not in common] for modules in (bad, good))
        by_path = {module.path: module for module in good}
        for module in bad:
            twin = by_path.get(lines.file_in_good(module.path))
            if twin is not None:
                self._modules(module, twin)
        self._moved(bad, good)
        self.displaced: set[Node] = set()
        self._pair_displaced(bad, good)

    def pair(self, bad: Node, good: Node) -> None:
        """Enter a pair; the first one of each node stays."""
        if bad not in self.good and good not in self.bad:
            self.good[bad] = good
            self.bad[good] = bad

    def _modules(self, bad: Module, good: Module) -> None:
        if bad.key == good.key or bad.text == good.text:
            for number, node in bad.nodes.items():
                twin = good.nodes.get(number)
                if twin is not None and twin.type == node.type:
                    self.pair(node, twin)
            return
        self.pair(bad.root, good.root)
        self._block(bad.root["body"], good.root["body"])
        self._leftovers(bad.root, good.root)

    def _moved(self, bad: Sequence[Module], good: Sequence[Module]) -> None:
        """Definitions without a partner, by qualified name, wherever they went; then functions that
        are now in a class of another name, by their own where it tells, and half of their lines.
        """
        for name in (qualified_name, _function_name):
            mine, others = self._lone(bad, name), self._lone(good, name)
            for key in sorted(mine.keys() & others.keys() - {""}):
                pairs = list(zip(mine[key], others[key], strict=False))
                if name is _function_name:
                    lone = len(mine[key]) == len(others[key]) == 1
                    pairs = [pair for pair in pairs if lone and _half_alike(*pair)]
                for node, twin in pairs:
                    if node.type == twin.type and node not in self.good and twin not in self.bad:
                        self._definition(node, twin)

    def _pair_displaced(self, bad: Sequence[Module], good: Sequence[Module]) -> None:
        """Statements that went to another function, or to a new one: those that give a value or call something, where
        one alone of each version has no partner and that text.
        """
        mine, others = self._lone_statements(bad), self._lone_statements(good)
        for text in mine.keys() & others.keys():
            if len(mine[text]) == len(others[text]) == 1:
                (node,), (twin,) = mine[text], others[text]
                self._identical(node, twin)
                self.displaced.update(*map(_of_its_frame, (node, twin)))

    def _lone_statements(self, modules: Iterable[Module]) -> dict[str, list[Node]]:
        """Statements without a partner by their text."""
        found: dict[str, list[Node]] = {}
        for module in modules:
            for node in module.of_type(*_GIVING):
                if node not in self.good and node not in self.bad:
                    found.setdefault(" ".join(node.source.split()), []).append(node)
        return found

    def _lone(self, modules: Iterable[Module], name: _Key) -> dict[str, list[Node]]:
        """Definitions without a partner by their name."""
        found: dict[str, list[Node]] = {}
        for module in modules:
            for node in module.of_type(*_DEFINITIONS):
                if node not in self.good and node not in self.bad:
                    found.setdefault(name(node), []).append(node)
        return found

    # -- blocks ------------------------------------------------------------------------------

    def _block(self, bad: Sequence[Node], good: Sequence[Node]) -> None:
        """Statements in order: equal text first, then definitions by name, then alike ones."""
        for mine, other in _alike_nodes(bad, good, lambda node: node.source or node.type):
            self._identical(mine, other)
        self._definitions(bad, good)
        guards = (_guards(each) for each in self._unpaired(bad, good))
        for mine, other in _likest_in_order(*guards):
            if self._keeps_order(mine, other, bad, good):
                self._altered(mine, other)
        for key in (_shape, _kind):
            rest, other_rest = self._unpaired(bad, good)
            for mine, other in _alike_nodes(rest, other_rest, key):
                if not _is_guard(mine) or self._keeps_order(mine, other, bad, good):
                    self._altered(mine, other)

    def _keeps_order(
        self, mine: Node, other: Node, bad: Sequence[Node], good: Sequence[Node]
    ) -> bool:
        """Whether no statement before the one is paired with one behind the other, nor the other way round."""
        at = {node: place for place, node in enumerate(good)}
        here, there = bad.index(mine), at[other]
        return all(
            (place < here) == (at[twin] < there)
            for place, node in enumerate(bad)
            if (twin := self.good.get(node)) in at
        )

    def _altered(self, bad: Node, good: Node) -> None:
        """Statements of one kind in one place; definitions of two names only if one could be the other."""
        if bad.type not in _DEFINITIONS or _half_alike(bad, good):
            self._statement(bad, good)

    def _unpaired(self, bad: Iterable[Node], good: Iterable[Node]) -> tuple[list[Node], list[Node]]:
        return (
            [node for node in bad if node not in self.good],
            [node for node in good if node not in self.bad],
        )

    def _definitions(self, bad: Sequence[Node], good: Sequence[Node]) -> None:
        named: dict[tuple[str, str], list[Node]] = {}
        for node in good:
            if node.type in _DEFINITIONS and node not in self.bad:
                named.setdefault((node.type, node["name"]), []).append(node)
        for node in bad:
            if node.type in _DEFINITIONS and node not in self.good:
                same = named.get((node.type, node["name"]))
                if same:
                    self._definition(node, same.pop(0))

    def _definition(self, bad: Node, good: Node) -> None:
        if bad.source == good.source and bad.source:
            self._identical(bad, good)
            return
        self.pair(bad, good)
        self._headers(bad, good)
        self._block(bad["body"], good["body"])
        self._leftovers(bad, good)

    def _identical(self, bad: Node, good: Node) -> None:
        """The same text parses to the same tree."""
        pairs = list(zip(bad.walk(), good.walk(), strict=False))
        if all(mine.type == other.type for mine, other in pairs):
            for mine, other in pairs:
                self.pair(mine, other)

    def _statement(self, bad: Node, good: Node) -> None:
        self.pair(bad, good)
        self._headers(bad, good)
        for name in BLOCKS:
            mine, other = bad[name], good[name]
            if isinstance(mine, list) and isinstance(other, list):
                self._block(mine, other)

    def _headers(self, bad: Node, good: Node) -> None:
        for name in bad.fields:
            if name not in BLOCKS and name in good.fields:
                self._fields(name, bad[name], good[name])
        if bad.type != good.type and _kind(bad) == _kind(good):
            self._fields("targets", _targets(bad), _targets(good))

    def _fields(self, name: str, bad: object, good: object) -> None:
        if isinstance(bad, Node) and isinstance(good, Node):
            self._expression(bad, good, role=name in _ROLES)
        elif isinstance(bad, list) and isinstance(good, list):
            mine = [item for item in bad if isinstance(item, Node)]
            other = [item for item in good if isinstance(item, Node)]
            if all(item.type in _NAMED for item in (*mine, *other)):
                self._named(mine, other)
            elif len(mine) == len(other):
                for item, twin in zip(mine, other, strict=True):
                    self._expression(item, twin, role=len(mine) == 1)
            else:
                for item, twin in _alike_nodes(mine, other, lambda node: node.source or node.type):
                    self._identical(item, twin)

    def _named(self, bad: Sequence[Node], good: Sequence[Node]) -> None:
        """Imported names, parameters and keywords: by their name, wherever they stand; what is imported by no other."""
        others = {_item_name(node): node for node in good}
        for node in bad:
            twin = others.get(_item_name(node))
            if twin is not None:
                self._expression(node, twin, role=False)
        if len(bad) == len(good) and all(node.type != "alias" for node in bad):
            for node, twin in zip(*self._unpaired(bad, good), strict=False):
                self._expression(node, twin, role=False)

    def _expression(self, bad: Node, good: Node, *, role: bool) -> None:
        """The same role is enough for a pair; only the same kind is looked into."""
        if bad.type == good.type:
            self.pair(bad, good)
            self._headers(bad, good)
        elif role:
            self.pair(bad, good)

    def _leftovers(self, bad: Node, good: Node) -> None:
        """Statements that were only moved in or out of another one (a new ``if`` around them), and names that are
        imported from elsewhere, or beside others.
        """
        mine = [node for node in _statements(bad) if node not in self.good]
        other = [node for node in _statements(good) if node not in self.bad]
        for statement, twin in _alike_nodes(
            mine, other, lambda node: " ".join(node.source.split())
        ):
            self._identical(statement, twin)
        self._named(*self._unpaired(_imported_names(bad), _imported_names(good)))


def _of_its_frame(statement: Node) -> Iterable[Node]:
    """The nodes of a statement that its own function evaluates, and no lambda in it."""
    return (node for node in statement.walk() if node.frame is statement.frame)


def _imported_names(frame: Node) -> list[Node]:
    """The names that the imports of a module, class or function bind."""
    return [name for node in _statements(frame) if node.type in IMPORTS for name in node["names"]]


def _item_name(node: Node) -> str:
    """By what a name is imported, a parameter or a keyword known."""
    return str(node["asname"] or node["name"] if node.type == "alias" else node["arg"])


def _statements(frame: Node) -> Iterable[Node]:
    """The statements that the frame executes itself, in order: not those of functions and classes within."""
    stack = list(reversed(frame.children()))
    while stack:
        node = stack.pop()
        if node.is_statement and node.frame is frame:
            yield node
        if node.type not in FRAMES:
            stack.extend(reversed(node.children()))


def _alike_nodes(bad: Sequence[Node], good: Sequence[Node], key: _Key) -> list[tuple[Node, Node]]:
    """The longest common subsequence by ``key``."""
    mine, other = [key(node) for node in bad], [key(node) for node in good]
    if mine == other:
        return list(zip(bad, good, strict=True))
    found: list[tuple[Node, Node]] = []
    for block in SequenceMatcher(None, mine, other, autojunk=False).get_matching_blocks():
        found.extend(zip(bad[block.a :][: block.size], good[block.b :][: block.size], strict=True))
    return found


def _is_guard(node: Node) -> bool:
    return node.type in {"If", "While"}


def _guards(nodes: Iterable[Node]) -> list[Node]:
    return list(filter(_is_guard, nodes))


def _likest_in_order(bad: Sequence[Node], good: Sequence[Node]) -> list[tuple[Node, Node]]:
    """Pairs of conditions of which half is the same, in order; of all ways to pair them the likest."""
    best: list[tuple[float, list[tuple[Node, Node]]]] = [(0.0, [])] * (len(good) + 1)
    if len(bad) * len(good) > PYTHON_PAIR.sequenced:
        return []
    for mine in bad:
        row = [best[0]]
        for number, other in enumerate(good):
            likeness = SequenceMatcher(None, mine.text, other.text, autojunk=False).ratio()
            chosen = max(best[number + 1], row[number], key=lambda found: found[0])
            score, pairs = best[number]
            if likeness >= SIMILARITY.body and score + likeness > chosen[0]:
                chosen = score + likeness, [*pairs, (mine, other)]
            row.append(chosen)
        best = row
    return best[-1][1]


def _kind(node: Node) -> str:
    """What kind of statement it is; one that gives a value is the same with an annotation."""
    annotated = node.type == "AnnAssign" and isinstance(node["value"], Node)
    return "Assign" if annotated else node.type


def _targets(node: Node) -> list[object]:
    """What a statement gives a value."""
    return node["targets"] or [node["target"]]


def _shape(node: Node) -> str:
    """Kind and target: what stays when a statement is altered."""
    targets = _targets(node)
    spelled = ",".join(target.source for target in targets if isinstance(target, Node))
    value = node["value"] if node.type == "Expr" else None
    callee = value["func"] if isinstance(value, Node) and value.type == "Call" else None
    return f"{_kind(node)} {spelled} {callee.source if isinstance(callee, Node) else ''}"


def _function_name(node: Node) -> str:
    return "" if node.type == "ClassDef" else str(node["name"])


def _half_alike(one: Node, other: Node) -> bool:
    """Whether half of the lines of two definitions are the same, whatever their names and indentation."""
    mine, others = ([line.strip() for line in node.source.splitlines()] for node in (one, other))
    bodies = (mine[1:] or mine, others[1:] or others)
    return SequenceMatcher(None, *bodies, autojunk=False).ratio() >= SIMILARITY.body
