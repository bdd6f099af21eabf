"""What afterd asks of a forge, whichever it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull request (a merge request, at GitLab).

    ``commits`` is what an answer on it may be about: its head, and where the forge has made one,
    the merge of the head into the base.
    """

    number: int
    commits: frozenset[str]
    is_open: bool


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on a pull request; ``author`` is a login, ``id`` the forge's."""

    id: str
    author: str
    body: str
    url: str


@dataclass(frozen=True, slots=True)
class Annotation:
    """A note on lines ``first`` to ``last`` of a file, plain text."""

    file: str
    first: int
    last: int
    title: str
    message: str


@dataclass(frozen=True, slots=True)
class Check:
    """A check run on a commit; ``summary`` is Markdown."""

    commit: str
    title: str
    summary: str
    is_failure: bool
    annotations: tuple[Annotation, ...] = ()


class Forge(Protocol):
    """One project at a forge, with one token. Everything raises Refusal."""

    @property
    def limit(self) -> int:
        """The most characters of a comment."""
        ...

    def own_name(self) -> str:
        """The login that the token's comments are made under."""
        ...

    def pull(self, number: int) -> Pull:
        """The pull request with this number."""
        ...

    def open_pulls(self) -> Iterator[Pull]:
        """The open pull requests, the one that was touched last first."""
        ...

    def comments(self, number: int) -> Iterator[Comment]:
        """The comments of a pull request, oldest first."""
        ...

    def create(self, number: int, body: str) -> Comment:
        """Write a comment."""
        ...

    def edit(self, number: int, comment: Comment, body: str) -> Comment:
        """Replace a comment's body."""
        ...

    def check(self, check: Check) -> bool:
        """Leave a check run, in place of an older one; False where the forge has no such thing."""
        ...

    def close(self) -> None:
        """Close connections."""
        ...
