"""Which changes altered how a function is called that an exception says is not called as it must be."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_changes import change

from afterd.model.change import Change
from afterd.model.location import LineSpan
from afterd.trace.python.source.arities import altered_arities

GOOD = b"""\
class Field:
    def resolve(cls, manager, limit):
        return manager[:limit]

    def resolver(self):
        return partial(
            self.resolve,
            self.manager,
        )


def many(size):
    return size


ONE = many(1)
"""
BAD = b"""\
class Field:
    def __init__(self, manager, *, most):
        self.manager = manager

    def resolve(
        cls,
        manager,
        filtered,
        limit,
    ):
        return filtered(manager)[:limit]

    def resolver(self):
        return partial(
            self.resolve,
            self.manager,
            self.filtered(),
        )


def many(size):
    return size + 1


ONE = many(2)
TWO = Field(1, most=3)
"""


def hunk(number: int, old: tuple[int, int], new: tuple[int, int]) -> Change:
    """A change of these lines."""
    return replace(change(number, file="lib.py"), old=LineSpan(*old), new=LineSpan(*new))


BUILT = hunk(1, (1, 0), (2, 3))
HEAD = hunk(2, (2, 1), (5, 6))
BODY = hunk(3, (3, 1), (11, 1))
HANDED = hunk(4, (8, 0), (17, 1))
SIZE = hunk(5, (13, 1), (22, 1))
CALLED = hunk(6, (16, 1), (25, 2))
ALL = [BUILT, HEAD, BODY, HANDED, SIZE, CALLED]


@pytest.mark.parametrize(
    ("said", "altered"),
    [
        ("TypeError: resolve() missing 1 required positional argument: 'limit'", ["c2", "c4"]),
        ("ERROR: x\nTypeError: Field.resolve() takes 3 positional arguments but 4", ["c2", "c4"]),
        ("len() takes exactly one argument\nmany() got an unexpected keyword argument", ["c6"]),
        ("TypeError: Field.__init__() got an unexpected keyword argument 'most'", ["c1", "c6"]),
        ("TypeError: __init__() got an unexpected keyword argument 'most'", []),
        ("AssertionError: assert 1 == 2", []),
    ],
)
def test_who_alters_what_a_function_takes_or_is_given(said: str, altered: list[str]) -> None:
    """Graphene-django: a resolver took one more argument, which ``partial`` handed over, and a library called it."""
    assert altered_arities(said, ALL, lambda _: (GOOD, BAD)) == altered


def test_of_a_file_that_cannot_be_read_nothing_is_known() -> None:
    said = "TypeError: resolve() missing 1 required positional argument: 'limit'"
    assert not altered_arities(said, ALL, lambda _: (b"", b"def ("))
