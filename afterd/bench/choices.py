"""What was known of the changes whenever the next runs were chosen, in cases whose fault is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from afterd.model.change import ChangeId
from afterd.model.progress import Signs


@dataclass(frozen=True, slots=True)
class Row:
    """Suspects of which the same is known: how many of them are innocent, and how many guilty."""

    signs: Signs
    innocent: int
    guilty: int


@dataclass(frozen=True, slots=True)
class Choice:
    """The suspects of one moment at which the next runs were chosen."""

    rows: tuple[Row, ...]

    @property
    def tells(self) -> bool:
        """Whether there was something to choose, and a guilty change among it."""
        guilty = sum(row.guilty for row in self.rows)
        return guilty > 0 and sum(row.innocent for row in self.rows) > 0


@dataclass(frozen=True, slots=True)
class KnownCase:
    """A case whose fault is known, and its choices; ``project``: the program it is of."""

    case: str
    project: str
    choices: tuple[Choice, ...]


def choices(
    suspicions: Iterable[Mapping[ChangeId, Signs]], guilty: Iterable[ChangeId]
) -> Iterator[Choice]:
    """What was known at each moment, with suspects of equal signs counted together."""
    wanted = frozenset(guilty)
    for suspicion in suspicions:
        counted: Counter[tuple[tuple[tuple[str, float], ...], bool]] = Counter(
            (tuple(sorted(signs.items())), change in wanted) for change, signs in suspicion.items()
        )
        kinds = dict.fromkeys(signs for signs, _ in counted)
        yield Choice(
            tuple(Row(dict(each), counted[each, False], counted[each, True]) for each in kinds)
        )
