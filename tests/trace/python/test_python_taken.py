"""What an exception says is missing, and the changes that took it away."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_changes import change

from afterd.model.change import Change, ChangeForm
from afterd.trace.python.source.taken import took_away


def changed(number: int, symbol: str, *lines: str) -> Change:
    """A hunk of one file with these lines, signs before them."""
    patch = "\n".join(["--- a/lib.py", "+++ b/lib.py", "@@ -1,1 +1,1 @@", *lines, ""])
    return replace(change(number, file="lib.py"), symbol=symbol, patch=patch)


HEAD = changed(
    1,
    "first_true",
    "-def first_true(rows, pred=None):",
    "+def first_true(rows, predicate=None):",
)
BODY = changed(
    2,
    "first_true",
    "-    return next(filter(pred, rows))",
    "+    return next(filter(predicate, rows))",
)
OTHER = changed(3, "all_true", "-    return all(map(pred, rows))", "+    return all(rows)")
LISTED = changed(4, "", "-    'pairwise',")
USED = changed(5, "windows", "-    return pairwise(rows)", "+    return list(rows)")
DEFINED = changed(6, "", "-def pairwise(rows):", "-    return zip(rows, rows[1:])")
ANY = changed(
    7, "Client.opened", "-        **kwargs,", "+        quiet=False,", "+        username=None,"
)
HANDS = changed(
    10, "Client.opened", "-        send(**kwargs)", "+        send(quiet=quiet, username=username)"
)
ASKS = changed(
    8, "Client.__init__", "-    def __init__(self):", "+    def __init__(self, pool, *, size):"
)
NEW_HEAD = changed(
    11, "Pool", "-    size = 1", "+    def take(", "+        self, *, many=1", "+    ):"
)
OLD_HEAD = changed(12, "Pool.take", "-    def take(self, many=1):", "-        return many")
PLAIN = changed(13, "", "+def sized(rows, *, most):")
LONG_HEAD = changed(14, "Host.rebuild", "-            limits):", "+            limits, uuids):")
TOLD = changed(15, "Host.rebuild", "+        :param uuids: what goes along with it.")
HANDED_ON = changed(16, "Host.rebuild", "-            limits)", "+            limits, uuids)")
GONE = replace(change(9, file="lib/old.py"), form=ChangeForm.DELETED, old_file="lib/old.py")
ALL = [HEAD, BODY, OTHER, LISTED, USED, DEFINED, HANDS, ANY, ASKS, GONE, NEW_HEAD, OLD_HEAD, PLAIN]
ALL += [TOLD, HANDED_ON, LONG_HEAD]


@pytest.mark.parametrize(
    ("message", "took"),
    [
        ("TypeError: first_true() got an unexpected keyword argument 'pred'", ["c1", "c2"]),
        ("AttributeError: module 'lib' has no attribute 'pairwise'", ["c4", "c6"]),
        ("AttributeError: 'NoneType' object has no attribute 'pairwise'", []),
        ("NameError: name 'pairwise' is not defined", ["c4", "c6"]),
        ("ImportError: cannot import name 'pairwise' from 'lib' (/a/lib.py)", ["c4", "c6"]),
        ("TypeError: Client.opened() got an unexpected keyword argument 'manager'", ["c7"]),
        ("TypeError: Client.__init__() missing 1 required positional argument: 'pool'", ["c8"]),
        ("TypeError: Client.__init__() takes 1 positional argument but 2 were given", ["c8"]),
        ("TypeError: Other.__init__() takes 1 positional argument but 2 were given", []),
        ("TypeError: Pool.take() takes 1 positional argument but 2 were given", ["c11", "c12"]),
        ("TypeError: take() takes 1 positional argument but 2 were given", ["c12"]),
        ("TypeError: sized() missing 1 required keyword-only argument: 'most'", ["c13"]),
        ("TypeError: rebuild() missing 1 required positional argument: 'uuids'", ["c14"]),
        ("ModuleNotFoundError: No module named 'lib.old'", ["c9"]),
        ("AssertionError: first_true is not pairwise", []),
        ("", []),
    ],
)
def test_what_is_missing_was_taken_away_by_who_defined_it(message: str, took: list[str]) -> None:
    assert took_away(message, ALL) == took
