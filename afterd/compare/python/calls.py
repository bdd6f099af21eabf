"""Which call was it that went wrong? Algorithmic debugging with the green run as the oracle.

Shapiro's question (Algorithmic Program Debugging, 1983, section 3) is put to every activation of a
function that a change has a part in: given the same, did it do the same as its counterpart in the
green run? One that did other things on the same arguments is an origin of the failure, or of some
other difference; one that did the same clears what was changed in it, however it was rewritten.

What an activation does: what it returns, yields and raises, and what it writes into objects that
are not its own, by stores and by calls into code that is not followed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate

from afterd.compare.python.absence import Ties, is_special, targets
from afterd.compare.python.alignment import Alignment
from afterd.compare.python.conversation import Parting, first_parting
from afterd.compare.python.deeds import (
    Deed,
    Deeds,
    called_for_effect,
    in_container,
    in_new,
    kept_unseen,
    name_of_called,
)
from afterd.compare.python.likeness import Likeness
from afterd.compare.python.unread import bound_by, not_looked_up, strings
from afterd.limits import PYTHON_PAIR
from afterd.model.change import ChangeId
from afterd.model.trace import Conduct
from afterd.trace.python.read import (
    FUNCTIONS,
    Frame,
    Node,
    Steps,
    Unknown,
    is_generator,
    takes_the_rest,
)
from afterd.trace.python.record.rows import OUTCOMES, Kind

_WORSE = (Conduct.SAME, Conduct.ABSORBED, Conduct.CARRIED, Conduct.PASSED, Conduct.PARTED)
_PARTED = frozenset({Conduct.PARTED, Conduct.PASSED})


class Calls:
    """Compares activations of the failing run with their counterparts."""

    def __init__(
        self,
        steps: Steps,
        green: Steps,
        alignment: Alignment,
        inverse: Alignment,
        likeness: Likeness,
        ties: Ties,
        failing: Iterable[Frame],
    ) -> None:
        self.steps = steps
        self.green = green
        self.alignment = alignment
        self.likeness = likeness
        self.ties = ties
        self.inverse = inverse
        self.deeds = Deeds(steps)
        self.green_deeds = Deeds(green)
        self._failing = frozenset(failing)
        self._conducts: dict[int, Conduct | None] = {}
        self._unseen: set[int] = set()  # activations that did as green's as far as was recorded

    def conduct(self) -> dict[ChangeId, Conduct]:
        """The worst conduct of each executed change, nearest to the failure first."""
        found: dict[ChangeId, tuple[int, int]] = {}
        for changes, conduct, row in self._seen():
            if conduct is not None:
                worse = (_WORSE.index(conduct), row)
                for change in changes:
                    found[change] = max(found.get(change, worse), worse)
        order = sorted(found, key=lambda change: (-found[change][1], change))
        return {change: _WORSE[found[change][0]] for change in order}

    def _seen(self) -> Iterator[tuple[Iterable[ChangeId], Conduct | None, int]]:
        for function, changes in self._changed_functions().items():
            for frame in _some_frames(self.alignment.activations(function)):
                conduct = self._reaching(frame)
                yield changes, conduct, frame.entered
                if conduct is Conduct.PASSED:
                    yield from self._turned(frame)
        for function, changes in self._removed_functions().items():
            for frame in _some_frames(self.inverse.activations(function)):
                caller = self._caller_here(frame)
                if caller is not None:
                    yield changes, self._as_part_of(caller), caller.entered
        yield from self._outside_functions()

    # -- activations -------------------------------------------------------------------------

    def _reaching(self, frame: Frame) -> Conduct | None:
        """The conduct of an activation; absorbed where a caller did as in green all the same."""
        own = self.of(frame)
        if own not in _PARTED:
            return own
        caller = None if is_generator(frame.node) else frame.parent
        while caller is not None and caller.node.type in FUNCTIONS:
            if is_generator(caller.node):
                break  # what it hands out goes to whoever iterates
            if caller not in self._failing and self._did_the_same(caller):
                return Conduct.ABSORBED
            caller = caller.parent
        return own

    def _turned(self, frame: Frame) -> Iterator[tuple[Iterable[ChangeId], Conduct, int]]:
        """The changes whose own conditions, in an activation below which calls parted already, went the other way than
        green's: they may have whatever these calls did. (A form's class was new as well as what was asked of its data.)
        """
        trace = self.steps.trace
        for row in frame.rows[: PYTHON_PAIR.rows]:
            node, kind = trace.node(row), trace.kind(row)
            if node is None or kind not in OUTCOMES or not (changes := self.ties.of_node(node)):
                continue
            twin = self.alignment.row(row)
            if twin is not None and self.green.trace.kind(twin) in OUTCOMES - {kind}:
                yield changes, Conduct.PARTED, row

    def _did_the_same(self, caller: Frame) -> bool:
        """Whether all that a caller did is as green's: what it gave may differ where nobody looked."""
        return self.of(caller) is Conduct.SAME and caller.number not in self._unseen

    def of(self, frame: Frame) -> Conduct | None:
        """What an activation did; one that green has not is a part of its caller."""
        if frame.number not in self._conducts:
            self._conducts[frame.number] = None
            self._conducts[frame.number] = self._compared(frame)
        return self._conducts[frame.number]

    def _compared(self, frame: Frame) -> Conduct | None:
        twin = self.alignment.frame(frame)
        if twin is None or frame.node.type not in FUNCTIONS:
            return self._callers_conduct(frame)
        if is_generator(frame.node) or is_generator(twin.node):
            return self._conversed(frame, twin)
        if frame not in self._failing:  # of what failed, the deeds are not asked: it parted
            mine, other = list(self.deeds.done(frame)), list(self.green_deeds.done(twin))
            before = self.likeness.unseen
            alike = self._did_alike(mine, other)
            if self.likeness.unseen > before:
                self._unseen.add(frame.number)
            if alike is not False:
                return Conduct.SAME if alike else self._by_default(frame)
        return self._given_other(frame, twin) or self._origin(frame.children)

    def _given_other(self, frame: Frame, twin: Frame) -> Conduct | None:
        """The conduct of an activation that had other arguments than green's; else None."""
        mine, other = list(self.deeds.given(frame)), list(self.green_deeds.given(twin))
        lacking = _lacks_options(self.green, other, mine) or _lacks_options(self.steps, mine, other)
        if not lacking and self._alike(mine, other, shared=True):
            return None
        return self._by_default(frame) or Conduct.CARRIED

    def _origin(self, below: Sequence[Frame]) -> Conduct:
        """Of what did other things on the same: whether a call below it did already."""
        calls = _first_frames(self._comparable_calls(below))
        return Conduct.PASSED if any(self.of(each) in _PARTED for each in calls) else Conduct.PARTED

    def _comparable_calls(self, below: Sequence[Frame]) -> Iterator[Frame]:
        """Calls of functions that both versions have: of one that is new, what it calls."""
        waiting = list(below)[::-1]
        while waiting:
            frame = waiting.pop()
            if frame.node in self.alignment.matching.good:
                yield frame
            else:
                waiting.extend(reversed(frame.children))

    def _conversed(self, frame: Frame, twin: Frame) -> Conduct | None:
        """The conduct of a generator, or of a coroutine, up to where it first differs."""
        if not (is_generator(frame.node) and is_generator(twin.node)):
            return self._by_default(frame)  # one made what it handed out, the other ran it
        matching, likeness = self.alignment.matching, self.likeness
        where, row = Parting.UNKNOWN, frame.entered

        def same() -> bool:
            nonlocal where, row
            where, row = first_parting(self.steps, frame, self.green, twin, likeness, matching)
            return where in {Parting.NOWHERE, Parting.UNASKED}

        alike = likeness.sure(same)
        if where is Parting.NOWHERE:
            mine, other = self.deeds.left(frame), self.green_deeds.left(twin)
            left = self._did_alike(list(mine), list(other))
            alike = left if left is False else alike and left
        if alike is None or where is Parting.UNKNOWN:
            return self._by_default(frame)
        if alike:
            return Conduct.SAME
        given = self._given_other(frame, twin)
        if given is not None or where is Parting.GIVEN:
            return given or Conduct.CARRIED
        before = frame.children
        if where is Parting.DONE:
            before = [child for child in before if child.entered < row]
        return self._origin(before)

    def _did_alike(self, mine: Sequence[Deed], other: Sequence[Deed]) -> bool | None:
        """Whether the same was done; None where that rests on types, or was written otherwise."""
        effects = self._effected_alike(*(filter(called_for_effect, each) for each in (mine, other)))
        plain, others = ([d for d in each if _is_plain(d)] for each in (mine, other))
        alike = self.likeness.sure(lambda: self._alike(plain, others))
        if effects is False or alike is False:
            return False
        alike = alike and effects
        inside, beside = ([d for d in each if in_container(d)] for each in (mine, other))
        if bool(inside) != bool(beside):
            return False
        if _by_place(inside).keys() != _by_place(beside).keys():
            return None
        held = self.likeness.sure(lambda: self._alike(inside, beside))
        if not alike or not held:
            return held if held is False else None
        kept, there = ([d for d in each if kept_unseen(d)] for each in (mine, other))
        return self.likeness.sure(lambda: self._alike(kept, there)) or None

    def _effected_alike(self, mine: Iterable[Deed], other: Iterable[Deed]) -> bool | None:
        """Whether the same functions were called for what they do, with the same; None where one is known to one
        version alone: the other may do it otherwise.
        """
        here, there = _by_place(mine), _by_place(other)
        alone = {name_of_called(place) for place in here.keys() ^ there.keys()}
        both = self.likeness.mentioned_in_both
        if not alone <= both:
            return None
        done, beside = ([d for each in found.values() for d in each] for found in (here, there))
        return False if alone else self.likeness.sure(lambda: self._alike(done, beside))

    def _by_default(self, frame: Frame) -> Conduct | None:
        """What is known of an activation whose deeds cannot be told apart: a default of its own."""
        given = (deed.row for deed in self.deeds.given(frame))
        altered = (row for row in given if self.ties.of_row(self.steps.trace, row))
        defaults = (row for row in altered if self.steps.parameters.is_default(row))
        differs = any(self._bound(row) is Conduct.PARTED for row in defaults)
        return Conduct.PARTED if differs else None

    def _callers_conduct(self, frame: Frame) -> Conduct | None:
        """Of code that only this version has; that it came to another function is its caller's."""
        if frame.node in self.alignment.matching.good:
            return None
        caller = frame.parent
        while caller is not None and self.alignment.frame(caller) is None:
            caller = caller.parent
        conduct = None if caller is None else self._as_part_of(caller)
        return self._origin(frame.children) if conduct is Conduct.PARTED else conduct

    def _as_part_of(self, caller: Frame) -> Conduct | None:
        """The conduct of code that only one version has, in an activation that both have."""
        if caller.node.type not in FUNCTIONS:
            return None
        conduct = self._reaching(caller)
        return Conduct.PARTED if conduct is Conduct.PASSED else conduct

    def _caller_here(self, frame: Frame) -> Frame | None:
        """The counterpart of the nearest caller of a green activation that has one."""
        caller = frame.parent
        while caller is not None and (mine := self.inverse.frame(caller)) is None:
            caller = caller.parent
        return None if caller is None else mine

    def _alike(self, mine: Iterable[Deed], other: Iterable[Deed], *, shared: bool = False) -> bool:
        """The same in the same order, place by place; ``shared``: in places that both have.

        An attribute of a new object that only one version has was renamed, or is new.
        """
        here, there = _by_place(mine), _by_place(other)
        alone = here.keys() ^ there.keys()
        if not shared and not all(map(in_new, alone)):
            return False
        return all(
            len(here[place]) == len(there[place])
            and all(map(self._same_deed, here[place], there[place]))
            for place in here.keys() & there.keys()
        )

    def _same_deed(self, mine: Deed, other: Deed) -> bool:
        """Whether the same was done, and to what may be the same object."""
        into, beside = mine.owner, other.owner
        known = not isinstance(into, Unknown) and not isinstance(beside, Unknown)
        if known and self.likeness.is_unlike(into, mine.row, beside, other.row):
            return False
        return self._same_keys(mine, other) and self.likeness.alike(
            mine.value, mine.row, other.value, other.row
        )

    def _same_keys(self, mine: Deed, other: Deed) -> bool:
        """Whether both may be the same item, or the same slice."""
        return len(mine.keys) == len(other.keys) and all(
            isinstance(here, Unknown)
            or isinstance(there, Unknown)
            or self.likeness.alike(here, mine.row, there, other.row)
            for here, there in zip(mine.keys, other.keys, strict=True)
        )

    # -- changes -----------------------------------------------------------------------------

    def _changed_functions(self) -> dict[Node, set[ChangeId]]:
        """Functions of the failing version with what was altered in, or removed from, them."""
        found: dict[Node, set[ChangeId]] = {}
        for node in (*self._nodes(self.steps), *self._interrupted_calls()):
            if node.frame.type in FUNCTIONS and (changes := self.ties.of_node(node)):
                found.setdefault(node.frame, set()).update(changes)
        for node in self._nodes(self.green):
            function = self._counterpart(node.frame)
            if function is not None and (changes := self.ties.removed(node)):
                found.setdefault(function, set()).update(changes)
        return found

    def _interrupted_calls(self) -> Iterator[Node]:
        """Calls that the failure ended: they gave nothing, so no row is theirs."""
        for frame in self._failing:
            site = None if frame.parent is None else self.steps.parameters.call_site(frame)
            if site is not None and site[2] in self._failing:
                yield site[1]

    def _counterpart(self, function: Node) -> Node | None:
        """The failing version's function."""
        return self.alignment.matching.bad.get(function) if function.type in FUNCTIONS else None

    def _removed_functions(self) -> dict[Node, set[ChangeId]]:
        """Functions that only the green version has."""
        found: dict[Node, set[ChangeId]] = {}
        for node in self._nodes(self.green):
            if node.frame.type in FUNCTIONS and self._counterpart(node.frame) is None:
                found.setdefault(node.frame, set()).update(self.ties.removed(node))
        return {function: changes for function, changes in found.items() if changes}

    @staticmethod
    def _nodes(run: Steps) -> Iterator[Node]:
        for site in dict.fromkeys(run.trace.sites):
            node, kind = run.trace.decode(site)
            if node is not None and kind is not Kind.ENTER and node is not node.frame:
                yield node

    def _outside_functions(self) -> Iterator[tuple[Iterable[ChangeId], Conduct | None, int]]:
        """What modules and class bodies bound, and what definitions evaluated."""
        for row, site in enumerate(self.steps.trace.sites):
            node, kind = self.steps.trace.decode(site)
            if node is None or kind is not Kind.VALUE or node.frame.type in FUNCTIONS:
                continue
            changes = self.ties.of_node(node)
            if changes and not _is_definition(node) and not self._is_unread(node):
                yield set(changes) - self._not_looked_up(node), self._bound(row), row

    def _not_looked_up(self, table: Node) -> set[ChangeId]:
        """The changes of a table's entries that neither run can have looked up."""
        if table.type != "Dict":
            return set()
        twin = self.alignment.matching.good.get(table)
        tables = [(table, self.ties.of_node)]
        return not_looked_up(
            tables if twin is None else [*tables, (twin, self.ties.removed)], self._held
        )

    @cached_property
    def _held(self) -> frozenset[str]:
        return strings(self.steps.trace) | strings(self.green.trace)

    def _is_unread(self, node: Node) -> bool:
        """Whether a module's variable is bound to it which nothing reads that ran in either version."""
        names = bound_by(node)
        return names is not None and not names & self._mentioned

    @property
    def _mentioned(self) -> frozenset[str]:
        return self.likeness.mentioned

    def _bound(self, row: int) -> Conduct | None:
        twin = self.alignment.row(row)
        if twin is None:
            return None
        value, other = self.steps.trace.value(row), self.green.trace.value(twin)
        alike = self.likeness.sure(lambda: self.likeness.alike(value, row, other, twin))
        if alike is None:
            return None
        return Conduct.SAME if alike and not self._renames(row, twin) else Conduct.PARTED

    def _renames(self, row: int, twin: int) -> bool:
        """Whether a value is bound to names that green's counterpart is not, or the reverse, and which
        code says, or Python itself (``__contains__``).
        """
        mine, other = self.steps.trace.node(row), self.green.trace.node(twin)
        if mine is None or other is None:
            return False
        differing = targets(mine) ^ targets(other)
        return any(name in self._mentioned or is_special(name) for name in differing)


def _lacks_options(run: Steps, given: Iterable[Deed], beside: Iterable[Deed]) -> bool:
    """Whether one activation was ``given`` an option that the other was not, under whatever parameter."""
    known = {deed.place for deed in beside}
    rows = (deed.row for deed in given if deed.place not in known)
    return any((node := run.trace.node(row)) is not None and takes_the_rest(node) for row in rows)


def _is_plain(deed: Deed) -> bool:
    return not (in_container(deed) or called_for_effect(deed) or kept_unseen(deed))


def _some_frames(frames: Sequence[Frame]) -> Sequence[Frame]:
    """The first and the last activations of so many, as many as there is time to read."""
    read = list(accumulate(len(frame.rows) for frame in frames))
    if not read or read[-1] <= PYTHON_PAIR.asked_rows:
        return frames
    half = PYTHON_PAIR.asked_rows // 2
    first = max(bisect_right(read, half), 1)
    last = max(bisect_right(read, read[-1] - half), first)
    return [*frames[:first], *frames[last:]]


def _first_frames(frames: Iterable[Frame]) -> Iterator[Frame]:
    """The first of so many, as many as there is time to read; the others are not looked for."""
    left = PYTHON_PAIR.asked_rows
    for frame in frames:
        if left <= 0:
            return
        yield frame
        left -= len(frame.rows)


def _by_place(deeds: Iterable[Deed]) -> dict[str, list[Deed]]:
    found: dict[str, list[Deed]] = {}
    for deed in deeds:
        found.setdefault(deed.place, []).append(deed)
    return found


def _is_definition(node: Node) -> bool:
    return node.type in {"FunctionDef", "AsyncFunctionDef", "ClassDef", "alias"}
