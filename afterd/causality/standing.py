"""What can be told of a variant without building it: whether it stands alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from afterd.model.change import Change, ChangeSet

Unbuildable = Callable[[ChangeSet], str]
"""What speaks against a variant, a line each; empty where nothing does."""
IsRead = Callable[[Change], bool]
"""Whether undoing a change can alter what is told."""


def nothing_against(reverted: ChangeSet) -> str:  # noqa: ARG001 - it answers an Unbuildable's question
    """The answer where nothing can be told."""
    return ""


def all_are_read(change: Change) -> bool:  # noqa: ARG001 - it answers an IsRead's question
    """The answer where everything is read."""
    return True


def all_is_spoken_of(names: frozenset[str]) -> bool:  # noqa: ARG001 - it answers whether a version speaks of names
    """The answer where no text was read for it."""
    return True


def nothing_spent() -> int:
    """The work of what costs nothing."""
    return 0


@dataclass(frozen=True, slots=True)
class Standing:
    """What speaks ``against`` variants, as far as changes that are read (``is_read``) go.

    ``proves``: as a compiler does, which takes seconds. Else it is a suspicion that a text gives in
    milliseconds: the variant may work all the same, a run may belie it, and no build says more than a
    run does; but what is ``certain`` needs no run, and that a file which both runs read cannot be parsed is as good as
    what a compiler says (``unparsed``). ``speaks``: whether the bad version's text has one of some names.
    ``work``: what all answers have cost so far, in the units of ``limits.WORK``.
    """

    against: Unbuildable = nothing_against
    is_read: IsRead = all_are_read
    proves: bool = True
    certain: Unbuildable = nothing_against
    unparsed: Unbuildable = nothing_against
    speaks: Callable[[frozenset[str]], bool] = all_is_spoken_of
    work: Callable[[], int] = nothing_spent

    @property
    def tells(self) -> bool:
        """Whether anything can be told."""
        return self.against is not nothing_against

    @property
    def compiled(self) -> Unbuildable:
        """What is proved against variants, as a build that failed would."""
        return self.against if self.proves else self.unparsed

    def asked_by(self, ask: Callable[[Unbuildable], Unbuildable]) -> Standing:
        """The same, each question put through ``ask`` (a watch, a clock, a counter)."""
        if not self.tells:
            return self
        against, certain, unparsed = map(ask, (self.against, self.certain, self.unparsed))
        return replace(self, against=against, certain=certain, unparsed=unparsed)


NOTHING_TOLD = Standing()
