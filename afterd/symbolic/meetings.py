"""Where the sides of a branch first meet, in an execution that unrolls loops.

The immediate post-dominator is where *every* way meets. In a loop that may be left in its middle
(``return``, ``break``) that is behind the loop, so that what follows a branch would be executed once
for each combination of sides before it. What first meets is mostly the next statement; a way that goes
past it meets the others further out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Successors = Sequence[Sequence[int]]


def meetings(
    successors: Successors, headers: Sequence[Sequence[int]], postdominator: Sequence[int]
) -> tuple[int, ...]:
    """Per block of a function where the sides of its branch first meet (-1: only at the return)."""
    once = _Once.of(successors, headers)
    order = {node: at for at, node in enumerate(_topological(once.edges))}
    return tuple(
        once.meeting(block, order, postdominator[block])
        if len(set(following)) > 1
        else postdominator[block]
        for block, following in enumerate(successors)
    )


@dataclass(frozen=True, slots=True)
class _Once:
    """A function whose loops are gone through once: node ``count + h`` is the header h's next round,
    from which it goes on behind the loop.
    """

    count: int
    edges: Sequence[Sequence[int]]
    headers: Sequence[Sequence[int]]

    @classmethod
    def of(cls, successors: Successors, headers: Sequence[Sequence[int]]) -> _Once:
        count = len(successors)

        def around(block: int, following: Sequence[int]) -> list[int]:
            back = {t for t in following if t in headers[block]}
            return [count + t if t in back else t for t in following]

        edges = [around(block, following) for block, following in enumerate(successors)]
        edges += [
            around(header, _exits(header, successors, headers)) if header in headers[header] else []
            for header in range(count)
        ]
        return cls(count, edges, headers)

    def meeting(self, block: int, order: dict[int, int], last: int) -> int:
        """The first node that several sides lead to and that no side passes on its way to another
        round of a loop around both; ``last`` where there is none.
        """
        sides = [_reached_nodes(self.edges, side, -1) for side in dict.fromkeys(self.edges[block])]
        met: set[int] = set()
        for at, side in enumerate(sides):
            for other in sides[:at]:
                met |= side & other
        for node in sorted(met, key=lambda node: order.get(node, len(order))):
            found = node - self.count if node >= self.count else node
            if found == last:
                return last
            rounds = {self.count + h for h in self.headers[found] if h in self.headers[block]}
            past = rounds - {node}
            if not any(
                past & _reached_nodes(self.edges, side, node)
                for side in dict.fromkeys(self.edges[block])
            ):
                return found
        return last


def _exits(header: int, successors: Successors, headers: Sequence[Sequence[int]]) -> list[int]:
    """Where a loop is left to: by its header, where that is a way out of it."""
    own = [t for t in successors[header] if header not in headers[t]]
    if own:
        return own
    inside = [b for b, around in enumerate(headers) if header in around]
    return list(dict.fromkeys(t for b in inside for t in successors[b] if header not in headers[t]))


def _reached_nodes(edges: Successors, start: int, without: int) -> set[int]:
    """The nodes that a node leads to, itself included, on ways without one."""
    if start == without:
        return set()
    found, waiting = {start}, [start]
    while waiting:
        for following in edges[waiting.pop()]:
            if following not in found and following != without:
                found.add(following)
                waiting.append(following)
    return found


def _topological(edges: Successors) -> list[int]:
    """The nodes that the entry leads to, each before what it leads to."""
    order: list[int] = []
    seen = {0}
    stack = [(0, iter(edges[0]))]
    while stack:
        node, following = stack[-1]
        fresh = next((t for t in following if t not in seen), None)
        if fresh is None:
            order.append(node)
            stack.pop()
        else:
            seen.add(fresh)
            stack.append((fresh, iter(edges[fresh])))
    return order[::-1]
