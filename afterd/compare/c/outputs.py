"""Where the outputs of two runs of one process depart: the observable event that was wrong."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from afterd.compare.c.binary import differing_places, event_pairs, is_binary
from afterd.compare.c.line_pairs import line_pairs
from afterd.limits import C_PAIR
from afterd.trace.c.window.recording import Recording, Written
from afterd.trace.trees import in_one_tree

_WORD = re.compile(rb"\w+")


@dataclass(frozen=True, slots=True)
class Departure:
    """``bad`` is the event at which the failing run departed (None: it wrote nothing more there),
    ``green`` the green run's event for the same place; ``offset`` and ``green_offset`` the byte within
    each event's data; the lines are for people. ``number``: of a line that departs in several words that were written
    at once, which of those behind the first.
    """

    fd: int
    bad: Written | None
    offset: int
    green: Written | None
    green_offset: int
    observed: bytes
    expected: bytes
    number: int = 0

    def swapped(self) -> Departure:
        """The departure as the green run sees it."""
        return Departure(
            self.fd,
            self.green,
            self.green_offset,
            self.bad,
            self.offset,
            self.expected,
            self.observed,
            self.number,
        )


def departures(bad: Recording, green: Recording) -> list[Departure]:
    """Every departure of the two runs' outputs, stream by stream, in the order of the failing run.

    What differs between two runs of the failing version, as a process id does, is none.
    """
    here, there = _streams(bad.output()), _streams(green.output())
    if not any(_bytes(here.get(fd, [])) != _bytes(there.get(fd, [])) for fd in {*here, *there}):
        return []
    again = _streams(bad.repeated())
    unsteady = _unsteady_words(here, again)
    found: list[Departure] = []
    for fd in sorted({*here, *there}):
        mine, other = here.get(fd, []), there.get(fd, [])
        if is_binary(mine, other):
            found.extend(_in_bytes(fd, mine, other, again.get(fd, [])))
        else:
            found.extend(_in_stream(fd, mine, other, unsteady))
    return sorted(found, key=lambda d: d.bad.position if d.bad else bad.end)


def _streams(output: Sequence[Written]) -> dict[int, list[Written]]:
    streams: dict[int, list[Written]] = defaultdict(list)
    for written in output:
        streams[written.fd].append(written)
    return streams


def _bytes(events: Sequence[Written]) -> bytes:
    """All that was written, with the one version's folder for that of the other."""
    return in_one_tree(b"".join(event.data for event in events).decode("latin-1")).encode("latin-1")


def _unsteady_words(
    here: dict[int, list[Written]], again: dict[int, list[Written]]
) -> frozenset[bytes]:
    """The words that another run of the same version has others for, line by line."""
    found = set[bytes]()
    for fd in set(here) & set(again):
        lines = (_bytes(run[fd]).splitlines() for run in (here, again))
        for one, other in zip(*lines, strict=False):
            if one != other:
                words = zip(_WORD.findall(one), _WORD.findall(other), strict=False)
                found.update(word for word, instead in words if word != instead)
    return frozenset(found)


def _in_bytes(
    fd: int, here: Sequence[Written], there: Sequence[Written], again: Sequence[Written]
) -> Iterator[Departure]:
    """What is no text, place by place."""
    repeated = [event.data for event in again]
    same = [len(data) for data in repeated] == [len(event.data) for event in here]
    for number, (bad, green) in enumerate(event_pairs(here, there)):
        if green is None or len(green.data) != len(bad.data):
            other = green.data if green else b""
            at, _ = _first_difference(bad.data, other, 0, 0)
            yield Departure(fd, bad, at, green, at, bad.data[at:], other[at:])
            continue
        for place in differing_places(bad.data, green.data, repeated[number] if same else b""):
            shown = bad.data[place], green.data[place]
            yield Departure(fd, bad, place.start, green, place.start, *shown)


def _in_stream(
    fd: int, here: Sequence[Written], there: Sequence[Written], unsteady: frozenset[bytes]
) -> Iterator[Departure]:
    mine, other = _bytes(here), _bytes(there)
    if mine == other:
        return

    def departing(m: int, o: int) -> Departure:
        return _departure_at(fd, here, there, m, o, mine, other)

    my_lines, other_lines = mine.splitlines(keepends=True), other.splitlines(keepends=True)
    if max(len(my_lines), len(other_lines)) > C_PAIR.diffed:
        yield departing(*_first_difference(mine, other, 0, 0))
        return
    my_start, other_start = _starts(my_lines), _starts(other_lines)
    matcher = SequenceMatcher(None, my_lines, other_lines, autojunk=False)
    is_first = True
    for tag, m1, m2, o1, o2 in matcher.get_opcodes():
        if tag == "equal":
            continue
        m, o = m1, o1
        for mine_at, other_at in line_pairs(my_lines[m1:m2], other_lines[o1:o2]):
            m = m if mine_at is None else m1 + mine_at
            o = o if other_at is None else o1 + other_at
            paired = mine_at is not None and other_at is not None
            within: tuple[int, int] | None = (0, 0)
            if paired or _begin_alike(departing(my_start[m], other_start[o])):
                steady = unsteady if paired else frozenset[bytes]()
                within = _first_steady_difference(my_lines[m], other_lines[o], steady)
            if within is not None:
                at = my_start[m] + within[0], other_start[o] + within[1]
                departed = departing(*at)
                yield departed
                if is_first and paired:
                    words = _later_words(my_lines[m], other_lines[o], within, unsteady)
                    later = (departing(at[0] + one, at[1] + instead) for one, instead in words)
                    yield from _written_at_once(departed, later)
                is_first = False
            m, o = m + (mine_at is not None), o + (other_at is not None)


def _begin_alike(line: Departure) -> bool:
    """Whether a line that one run has alone begins as what the other wrote there: the byte by which it begins is
    none that departed.
    """
    bad, green = line.bad, line.green
    if bad is None or green is None:
        return False
    return bad.data[line.offset :][:1] == green.data[line.green_offset :][:1] != b""


def _starts(lines: Sequence[bytes]) -> list[int]:
    starts, at = [0], 0
    for line in lines:
        at += len(line)
        starts.append(at)
    return starts


def _first_difference(mine: bytes, other: bytes, m: int, o: int) -> tuple[int, int]:
    while m < len(mine) and o < len(other) and mine[m] == other[o]:
        m, o = m + 1, o + 1
    return m, o


def _first_steady_difference(
    mine: bytes, other: bytes, unsteady: frozenset[bytes]
) -> tuple[int, int] | None:
    """Where two lines differ first in more than words that differ from run to run."""
    m, o = _first_difference(mine, other, 0, 0)
    while unsteady and (m < len(mine) or o < len(other)):
        word = next((w for w in _WORD.finditer(mine) if w.start() <= m < w.end()), None)
        instead = next((w for w in _WORD.finditer(other) if w.start() <= o < w.end()), None)
        if not word or not instead or word[0] not in unsteady:
            return m, o
        m, o = _first_difference(mine, other, word.end(), instead.end())
    return None if unsteady and m == len(mine) and o == len(other) else (m, o)


def _later_words(
    mine: bytes, other: bytes, first: tuple[int, int], unsteady: frozenset[bytes]
) -> list[tuple[int, int]]:
    """How far behind the place where two lines of as many words differ first other words differ: each was made of
    something else.
    """
    words = [list(_WORD.finditer(line)) for line in (mine, other)]
    if len(words[0]) != len(words[1]):
        return []
    found = [
        _first_difference(mine, other, one.start(), instead.start())
        for one, instead in zip(*words, strict=True)
        if one.start() > first[0] and one[0] != instead[0] and one[0] not in unsteady
    ]
    return [(m - first[0], o - first[1]) for m, o in found[: C_PAIR.words]]


def _written_at_once(first: Departure, later: Iterable[Departure]) -> Iterator[Departure]:
    """Those that were written with the first, numbered: what was written apart has a call of its own."""
    for number, departure in enumerate(later, start=1):
        if departure.bad is first.bad and departure.green is first.green:
            yield replace(departure, number=number)


def _departure_at(
    fd: int,
    here: Sequence[Written],
    there: Sequence[Written],
    m: int,
    o: int,
    mine: bytes,
    other: bytes,
) -> Departure:
    bad, offset = _event(here, m)
    green, green_offset = _event(there, o)
    if green is not None and not offset:
        bad, offset = _shortened_event(here, m, green.data[:green_offset]) or (bad, offset)
    elif bad is not None and not green_offset:
        green, green_offset = _shortened_event(there, o, bad.data[:offset]) or (green, green_offset)
    return Departure(fd, bad, offset, green, green_offset, _line(mine, m), _line(other, o))


def _event(events: Sequence[Written], at: int) -> tuple[Written | None, int]:
    for event in events:
        if at < len(event.data):
            return event, at
        at -= len(event.data)
    return None, 0


def _shortened_event(
    events: Sequence[Written], at: int, begun: bytes
) -> tuple[Written, int] | None:
    """The event that ends at a byte, where the other run's went on: it may be the first part of what
    that one wrote, hold that part, or be nothing at all.
    """
    end, found = 0, None
    for event in events:
        end += len(event.data)
        if end == at and _is_begun(event.data, begun):
            found = event
        if end > at:
            break
    return (found, len(found.data)) if found is not None else None


def _is_begun(data: bytes, begun: bytes) -> bool:
    if not data or not begun:
        return data == begun
    return data.endswith(begun) or begun.endswith(data)


def _line(data: bytes, at: int) -> bytes:
    start = data.rfind(b"\n", 0, at) + 1
    end = data.find(b"\n", at)
    return data[start : end if end >= 0 else len(data)]
