"""Control dependence and loops of one function, from its successor lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Successors = Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class ControlFlow:
    """``depends[b]`` are the blocks whose branch decides whether b is executed (Ferrante et al. 1987);
    ``postdominator[b]`` the immediate post-dominator (-1: the exit); ``headers[b]`` the loop headers
    around b, outermost first, b itself included when it is one; ``reached[b]`` whether a path leads
    from the entry to b.
    """

    successors: tuple[tuple[int, ...], ...]
    depends: tuple[frozenset[int], ...]
    postdominator: tuple[int, ...]
    headers: tuple[tuple[int, ...], ...]
    reached: tuple[bool, ...]


def analyse(successors: Successors) -> ControlFlow:
    """Analyse a function whose block 0 is the entry; blocks without successors leave it."""
    count = len(successors)
    exits = [b for b in range(count) if not successors[b]]
    reverse: list[list[int]] = [[] for _ in range(count + 1)]
    for block, following in enumerate(successors):
        for successor in following:
            reverse[successor].append(block)
    reverse[count] = exits + _endless_regions(successors, exits)
    postdominator = _dominators(reverse, count)
    depends: list[set[int]] = [set() for _ in range(count)]
    for block, following in enumerate(successors):
        if len(set(following)) > 1:
            for successor in following:
                runner = successor
                while runner not in {postdominator[block], count, -1}:
                    depends[runner].add(block)
                    runner = postdominator[runner]
    return ControlFlow(
        tuple(tuple(following) for following in successors),
        tuple(frozenset(found) for found in depends),
        tuple(-1 if p in {count, -1} else p for p in postdominator[:count]),
        _loops(successors),
        tuple(dominator >= 0 for dominator in _dominators(successors, 0)),
    )


def _endless_regions(successors: Successors, exits: list[int]) -> list[int]:
    """One block of every region that never leaves the function, so that each block reaches an exit."""
    reaching = set(exits)
    predecessors: list[list[int]] = [[] for _ in successors]
    for block, following in enumerate(successors):
        for successor in following:
            predecessors[successor].append(block)
    stack, extra = list(exits), list[int]()
    for candidate in [-1, *range(len(successors) - 1, -1, -1)]:
        if candidate >= 0 and candidate not in reaching:
            extra.append(candidate)
            reaching.add(candidate)
            stack.append(candidate)
        while stack:
            for before in predecessors[stack.pop()]:
                if before not in reaching:
                    reaching.add(before)
                    stack.append(before)
    return extra


def _dominators(edges: Successors, root: int) -> list[int]:
    """Immediate dominators by Cooper, Harvey and Kennedy's iteration; -1 where unreachable."""
    order = _postorder(edges, root)
    number = {block: at for at, block in enumerate(order)}
    into: dict[int, list[int]] = {block: [] for block in order}
    for block in order:
        for successor in edges[block]:
            into[successor].append(block)
    dominator = [-1] * len(edges)
    dominator[root] = root
    changed = True
    while changed:
        changed = False
        for block in reversed(order[:-1]):
            known = [p for p in into[block] if dominator[p] >= 0]
            best = known[0]
            for other in known[1:]:
                best = _meet(dominator, number, best, other)
            if dominator[block] != best:
                dominator[block], changed = best, True
    return dominator


def _meet(dominator: list[int], number: dict[int, int], left: int, right: int) -> int:
    while left != right:
        while number[left] < number[right]:
            left = dominator[left]
        while number[right] < number[left]:
            right = dominator[right]
    return left


def _postorder(edges: Successors, root: int) -> list[int]:
    order: list[int] = []
    seen = {root}
    stack = [(root, iter(edges[root]))]
    while stack:
        block, following = stack[-1]
        for successor in following:
            if successor not in seen:
                seen.add(successor)
                stack.append((successor, iter(edges[successor])))
                break
        else:
            order.append(block)
            stack.pop()
    return order


def _loops(successors: Successors) -> tuple[tuple[int, ...], ...]:
    """Natural loops by back edges to a dominator."""
    dominator = _dominators(successors, 0)
    bodies: dict[int, set[int]] = {}
    predecessors: list[list[int]] = [[] for _ in successors]
    for block, following in enumerate(successors):
        for successor in following:
            predecessors[successor].append(block)
    for block, following in enumerate(successors):
        for header in following:
            if dominator[block] >= 0 and _dominates(dominator, header, block):
                body = bodies.setdefault(header, {header})
                stack = [block]
                while stack:
                    top = stack.pop()
                    if top not in body and dominator[top] >= 0:
                        body.add(top)
                        stack.extend(predecessors[top])
    outer_first = sorted(bodies, key=lambda header: -len(bodies[header]))
    return tuple(
        tuple(header for header in outer_first if block in bodies[header])
        for block in range(len(successors))
    )


def _dominates(dominator: list[int], above: int, block: int) -> bool:
    while block != above and block > 0 and dominator[block] != block:
        block = dominator[block]
    return block == above
