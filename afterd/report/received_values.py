"""Values of a JSON document that nobody vouches for, each asked for by the type it must have."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from afterd.limits import RECEIVED

EnumT = TypeVar("EnumT", bound=StrEnum)


class Malformed(ValueError):  # noqa: N818 - what is wrong, as the end of a sentence
    """``where`` in the document something is not as it must be."""

    def __init__(self, where: str, must: str) -> None:
        super().__init__(f"{where or 'the document'} must be {must}")


@dataclass(frozen=True, slots=True)
class Item:
    """A value and where it stands, such as ``explanations[0].root``. Raises Malformed."""

    value: object
    where: str

    def __getitem__(self, key: str) -> Item:
        """The value under ``key``, which stands for null where there is no such key."""
        if not isinstance(self.value, Mapping):
            raise Malformed(self.where, "an object")
        return Item(self.value.get(key), f"{self.where}.{key}" if self.where else key)

    def __bool__(self) -> bool:
        return self.value is not None

    def items(self, most: int = RECEIVED.items) -> list[Item]:
        """The items of a list; null has none."""
        if self.value is None:
            return []
        if not isinstance(self.value, Sequence) or isinstance(self.value, str):
            raise Malformed(self.where, "a list")
        if len(self.value) > most:
            raise Malformed(self.where, f"a list of at most {most}")
        return [Item(value, f"{self.where}[{n}]") for n, value in enumerate(self.value)]

    def entries(self, most: int = RECEIVED.votes) -> dict[str, Item]:
        """The values of an object by key; null has none."""
        if self.value is None:
            return {}
        if not isinstance(self.value, Mapping) or len(self.value) > most:
            raise Malformed(self.where, f"an object of at most {most} keys")
        return {str(key): self[str(key)] for key in self.value}

    def text(self, longest: int = RECEIVED.text) -> str:
        """A text; null is the empty one."""
        if self.value is None:
            return ""
        if not isinstance(self.value, str) or len(self.value) > longest:
            raise Malformed(self.where, f"a text of at most {longest} characters")
        return self.value

    def texts(self, most: int = RECEIVED.words) -> tuple[str, ...]:
        """A list of texts."""
        return tuple(item.text() for item in self.items(most))

    def matching(self, pattern: re.Pattern[str], must: str) -> str:
        """A text of one form."""
        text = self.text()
        if not pattern.fullmatch(text):
            raise Malformed(self.where, must)
        return text

    def integer(self) -> int:
        """A whole number from zero; null is zero."""
        value = 0 if self.value is None else self.value
        if (
            isinstance(value, bool)
            or not isinstance(value, int)
            or not 0 <= value < RECEIVED.integer
        ):
            raise Malformed(self.where, "a whole number")
        return value

    def real(self) -> float:
        """A finite number; null is zero."""
        value = 0.0 if self.value is None else self.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Malformed(self.where, "a number")
        if (isinstance(value, int) and abs(value) > RECEIVED.integer) or not math.isfinite(value):
            raise Malformed(self.where, "a finite number")
        return float(value)

    def flag(self) -> bool | None:
        """True, false or null."""
        if self.value is not None and not isinstance(self.value, bool):
            raise Malformed(self.where, "true, false or null")
        return self.value

    def one_of(self, choices: type[EnumT], default: EnumT | None = None) -> EnumT:
        """A member of an enum."""
        if self.value is None and default is not None:
            return default
        if not isinstance(self.value, str) or self.value not in set(choices):
            raise Malformed(self.where, f"one of {', '.join(choices)}")
        return choices(self.value)
