"""Which changes gave a name another meaning: quart's own ``safe_join``, which gave way to werkzeug's of that name."""

from __future__ import annotations

import pytest

from afterd.model.change import Change
from afterd.model.location import LineSpan
from afterd.trace.python.source.meanings import altered_meanings

GOOD = b"""\
import os
from werkzeug import BuildError


def safe_join(folder, *names):
    return folder.joinpath(*names)


def send(folder, name):
    path = safe_join(folder, name)
    local = path
    os.stat(local)
    return path.name


LIMIT = 3
"""
BAD = b"""\
import os
from werkzeug import redirect, safe_join


def send(folder, name):
    path = str(safe_join(str(folder), name))
    local = str(path)
    os.stat(local)
    return path.name


LIMIT, local = 4, 5
"""


def changed(name: str, old: tuple[int, int], new: tuple[int, int], file: str = "m.py") -> Change:
    return Change(name, file, file, LineSpan(*old), LineSpan(*new))


IMPORTED = changed("c1", (2, 1), (2, 1))
REMOVED = changed("c2", (5, 4), (5, 0))
CALLED = changed("c3", (10, 2), (6, 2))
LIMITED = changed("c4", (16, 1), (12, 1))
ELSEWHERE = changed("c5", (5, 4), (5, 4), "other.py")
LEFT = [IMPORTED, REMOVED, LIMITED, ELSEWHERE]


@pytest.mark.parametrize(
    ("line", "changes"),
    [
        (10, ["c1", "c2"]),  # the import of another one, and the definition that went
        (11, []),  # a name of the function's own, though the module has one of that name now
        (12, []),  # nobody changed what `os` is, and `local` was given no other function's value
        (13, ["c1", "c2"]),  # below, which reads what the line gave a value
        (99, []),
    ],
)
def test_who_bound_what_a_line_of_the_old_text_reads(line: int, changes: list[str]) -> None:
    assert altered_meanings(CALLED, line, LEFT, lambda _: (GOOD, BAD)) == changes


def test_a_text_that_is_no_python_tells_nothing() -> None:
    assert not altered_meanings(CALLED, 10, LEFT, lambda _: (b"def (", b""))
