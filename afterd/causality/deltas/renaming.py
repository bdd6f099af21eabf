"""Changes that only call something by another name: what they do is what their old text did."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from afterd.model.change import Change, ChangeForm, ChangeId, ChangeSet
from afterd.model.names import Name

_TOKEN = re.compile(r"\w+|[^\w\s]")
_NAME = re.compile(r"[A-Za-z_]\w*")


def mere_renames(changes: Iterable[Change], is_of_one_version: Callable[[Name], bool]) -> ChangeSet:
    """Those whose new text is the old one but for names that one version alone has, each in the place of one
    other throughout.
    """
    read = {each.id: _renamed(each, is_of_one_version) for each in changes}
    renamed: Mapping[ChangeId, set[tuple[Name, Name]]] = {
        change: pairs for change, pairs in read.items() if pairs
    }
    after, before = defaultdict[Name, set[Name]](set), defaultdict[Name, set[Name]](set)
    for old, new in set[tuple[Name, Name]]().union(*renamed.values()):
        after[old].add(new)
        before[new].add(old)
    return frozenset(
        change
        for change, pairs in renamed.items()
        if all(len(after[old]) == len(before[new]) == 1 for old, new in pairs)
    )


def _renamed(change: Change, is_of_one_version: Callable[[Name], bool]) -> set[tuple[Name, Name]]:
    """The old and the new names of a change that alters nothing else; empty where it does."""
    old, new = (_TOKEN.findall("\n".join(change.lines(sign))) for sign in "-+")
    if change.form is not ChangeForm.HUNK or len(old) != len(new):
        return set()
    pairs = {(one, other) for one, other in zip(old, new, strict=True) if one != other}
    known = all(
        _NAME.fullmatch(name) and (is_of_one_version(name) or is_of_one_version(f".{name}"))
        for pair in pairs
        for name in pair
    )
    return pairs if known else set()
