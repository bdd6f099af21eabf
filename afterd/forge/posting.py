"""One comment on a pull request, found again by its marker and edited in place.

Only a comment of the token's own user that begins with the marker is ours: anybody can write the
marker. Everything starts from looking at what is there, so that doing it once more, after a lost
answer or by a second process, leaves one comment.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from afterd.forge.protocol import Check, Comment, Forge
from afterd.forge.refusal import Patience, Refusal, RefusalKind

SHORTEST = 4_000  # characters below which a comment says nothing


class Placement(StrEnum):
    """What became of the comment."""

    CREATED = "written"
    EDITED = "edited in place"
    UNCHANGED = "there already"
    NOTHING_NEW = "not written: there is nothing to act on"
    CLOSED = "not written: the pull request is closed"
    STALE = "not written: the pull request has other commits now"
    REMOVED = "not written: somebody deleted it"


@dataclass(frozen=True, slots=True)
class Post:
    """What is to be posted on pull request ``number``.

    ``commit`` is what it is about: where the pull request has moved on, it is not posted. ``body``
    writes it in at most so many characters. ``gist`` is its second line, the same in every comment that
    tells the same (empty: there is no such line): a comment that has it is not edited. ``wanted``: whether
    it is worth a comment that is not there yet. ``before``: whether one was there, as far as is known here.
    """

    number: int
    commit: str
    marker: str
    body: Callable[[int], str]
    gist: str = ""
    wanted: bool = True
    before: bool = False
    check: Check | None = None


@dataclass(frozen=True, slots=True)
class Posted:
    """How it went; ``url`` is the comment's, ``is_checked`` whether a check run was left too."""

    placement: Placement
    url: str = ""
    is_checked: bool = False


def post(forge: Forge, given: Post, patience: Patience) -> Posted:
    """Post, and go on until it is done or will not be. Raises Refusal."""
    placed = _fitted_comment(forge, given, patience)
    if given.check is None or placed.placement in {Placement.CLOSED, Placement.STALE}:
        return placed
    return Posted(placed.placement, placed.url, _check_is_left(forge, given.check, patience))


def _fitted_comment(forge: Forge, given: Post, patience: Patience) -> Posted:
    """The comment in the longest form that the forge takes."""
    limit = forge.limit
    while True:
        body = given.body(limit)
        try:
            return patience(functools.partial(_placed_comment, forge, given, body))
        except Refusal as refused:
            limit //= 2
            if refused.kind is not RefusalKind.TOO_LONG or limit < SHORTEST:
                raise


def _placed_comment(forge: Forge, given: Post, body: str) -> Posted:
    pull = forge.pull(given.number)
    if not pull.is_open:
        return Posted(Placement.CLOSED)
    if given.commit not in pull.commits:
        return Posted(Placement.STALE)
    found = _own_comment(forge, given)
    if found is None:
        if given.before:
            return Posted(Placement.REMOVED)
        if not given.wanted:
            return Posted(Placement.NOTHING_NEW)
        return Posted(Placement.CREATED, forge.create(given.number, body).url)
    if found.body.strip() == body.strip() or _tells_the_same(found, given):
        return Posted(Placement.UNCHANGED, found.url)
    try:
        return Posted(Placement.EDITED, forge.edit(given.number, found, body).url)
    except Refusal as refused:
        if refused.kind is not RefusalKind.MISSING:
            raise
        return Posted(Placement.REMOVED)  # between looking and editing


def _tells_the_same(found: Comment, given: Post) -> bool:
    return bool(given.gist) and found.body.splitlines()[1:2] == [given.gist]


def _own_comment(forge: Forge, given: Post) -> Comment | None:
    """Our oldest comment."""
    name = forge.own_name().lower()
    for comment in forge.comments(given.number):
        if comment.author.lower() == name and comment.body.startswith(given.marker):
            return comment
    return None


def _check_is_left(forge: Forge, check: Check, patience: Patience) -> bool:
    """Whether a check run was left; the comment is there, and few tokens may leave one."""
    try:
        return patience(functools.partial(forge.check, check))
    except Refusal:
        return False
