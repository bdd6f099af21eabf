"""Static control structure: which branches decide that a statement is executed.

Python's control flow is structured, so AFTER's "closest enclosing branch not post-dominated"
(Algorithm 3) needs no graph: it is the syntactic branch around the statement, or a branch earlier
in its block that may leave the block (``return``, ``raise``, ``break``, ``continue``); where what is tried leaves
it, the handler that kept it from doing so. That a loop goes on is decided by each branch of the round before that may
leave it (Ferrante, Ottenstein and Warren, The program dependence graph, 1987): in a loop over handlers the second is
asked as the first one declined.
"""

from __future__ import annotations

from collections.abc import Iterator

from afterd.trace.python.read.program import BLOCKS, FRAMES, Node

BRANCHES = frozenset({"If", "While", "For", "AsyncFor", "match_case", "ExceptHandler", "Assert"})
_EXITS = frozenset({"Return", "Raise", "Break", "Continue"})
_TRIED = frozenset({"Try", "TryStar"})
_LOOPS = frozenset({"While", "For", "AsyncFor"})


class Flow:
    """Deciders of statements, computed once each."""

    def __init__(self) -> None:
        self._deciders: dict[Node, frozenset[Node]] = {}
        self._leaving: dict[Node, frozenset[Node]] = {}
        self._going_on: dict[Node, frozenset[Node]] = {}

    def deciders(self, statement: Node) -> frozenset[Node]:
        """The branches of the same frame, any instance of which may have decided it."""
        found = self._deciders.get(statement)
        if found is None:
            found = self._deciders[statement] = frozenset(self._compute(statement))
        return found

    def _compute(self, statement: Node) -> Iterator[Node]:
        node = statement
        while node.parent is not None and node.type != "Module":
            parent = node.parent
            block = _block_of(parent, node)
            if block is not None:
                for earlier in block[: block.index(node)]:
                    yield from self.leaving(earlier)
            if parent.type in FRAMES:
                return
            if parent.type in BRANCHES and not _evaluated_before(parent, node):
                yield parent
                return
            node = parent

    def leaving(self, statement: Node) -> frozenset[Node]:
        """The branches in ``statement`` that may keep what follows it from being executed."""
        found = self._leaving.get(statement)
        if found is None:
            found = frozenset(branch for branch, _ in _guarded_exits(statement, in_loop=False))
            self._leaving[statement] = found
        return found

    def ending(self, function: Node) -> frozenset[Node]:
        """The branches by any of which a function may have been left before its end."""
        body = function["body"]
        statements = body if isinstance(body, list) else []
        return frozenset().union(*map(self.leaving, statements))

    def going_on(self, node: Node) -> frozenset[Node]:
        """The branches of a loop's body that may leave it, where ``node`` is what each of its rounds begins with."""
        loop = node.statement
        if node is not loop and not (loop.type == "While" and loop["test"] is node):
            return frozenset()
        found = self._going_on.get(loop)
        if found is None:
            exits = (
                each for inside in _body(loop) for each in _guarded_exits(inside, in_loop=False)
            )
            found = frozenset(branch for branch, leave in exits if leave.type != "Continue")
            self._going_on[loop] = found
        return found


def _body(node: Node) -> list[Node]:
    return list(node["body"]) if node.type in _LOOPS else []


def _block_of(parent: Node, node: Node) -> list[Node] | None:
    for name in BLOCKS:
        block = parent[name]
        if isinstance(block, list) and node in block:
            return block if name not in {"handlers", "cases"} else None
    return None


def _evaluated_before(branch: Node, child: Node) -> bool:
    """Conditions, iterables and types are evaluated whichever way the branch then goes."""
    return child in (branch["test"], branch["iter"], branch["target"], branch["pattern"]) or (
        child in (branch["type"], branch["msg"])
    )


def _guarded_exits(statement: Node, *, in_loop: bool) -> Iterator[tuple[Node, Node]]:
    """(branch, exit) pairs within a statement; break and continue of inner loops do not count."""
    if statement.type in FRAMES:
        return
    if statement.type == "Assert":
        yield statement, statement
    inner_loop = in_loop or statement.type in _LOOPS
    for child in _statements_below(statement):
        if statement.type in BRANCHES:
            yield from ((statement, leave) for leave in _exits(child, in_loop=inner_loop))
        yield from _guarded_exits(child, in_loop=inner_loop)
    if statement.type in _TRIED:
        yield from _kept_by_handlers(statement, in_loop=inner_loop)


def _kept_by_handlers(tried: Node, *, in_loop: bool) -> Iterator[tuple[Node, Node]]:
    """(handler, exit) pairs: that an exception was caught kept what is tried from leaving the block."""
    for child in (*tried["body"], *(tried["orelse"] or ())):
        for leave in _exits(child, in_loop=in_loop):
            for handler in tried["handlers"]:
                yield handler, leave


def _exits(statement: Node, *, in_loop: bool) -> Iterator[Node]:
    """What may leave the block of a statement, it or what is in it."""
    if statement.type == "Assert" or (
        statement.type in _EXITS and not (in_loop and in_loop_exit(statement))
    ):
        yield statement
    if statement.type not in FRAMES:
        inner_loop = in_loop or statement.type in _LOOPS
        for child in _statements_below(statement):
            yield from _exits(child, in_loop=inner_loop)


def in_loop_exit(node: Node) -> bool:
    """Whether it only leaves a loop."""
    return node.type in {"Break", "Continue"}


def _statements_below(statement: Node) -> Iterator[Node]:
    for name in BLOCKS:
        block = statement[name]
        if isinstance(block, list):
            yield from block


def region(branch: Node, *, taken: bool) -> Iterator[Node]:
    """What is executed only when ``branch`` goes the given way: statements and what is in them.

    Where the branch's other side leaves its block, the rest of the block is part of it too. What an
    exception kept from being executed may be any part of what was tried.
    """
    whole, body, otherwise = branch, branch["body"], branch["orelse"]
    if branch.type == "ExceptHandler":
        whole = branch.parent or branch
        otherwise = [*whole["body"], *(whole["orelse"] or [])]
    own, other = (body, otherwise) if taken else (otherwise, body)
    roots = [] if branch.type == "Assert" else list(own or [])
    if whole.parent is not None and any(map(_leaves, other or [])):
        block = _block_of(whole.parent, whole)
        if block is not None:
            roots.extend(block[block.index(whole) + 1 :])
    for root in roots:
        yield from _within_frame(root)


def _leaves(statement: Node) -> bool:
    return statement.type in _EXITS


def _within_frame(node: Node) -> Iterator[Node]:
    yield node
    if node.type in FRAMES:
        return
    for child in node.children():
        yield from _within_frame(child)
