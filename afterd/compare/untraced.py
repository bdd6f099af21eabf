"""An execution of which nothing is known: what a test that is not traced has, and what others say more than."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from afterd.model.change import ChangeId
from afterd.model.term import StepId
from afterd.model.trace import Conduct, Predicate, Step


class UntracedExecution:
    """The execution of a test that could not be traced: it has nothing to say."""

    def failures(self) -> Sequence[Predicate]:
        """None was recognised."""
        return ()

    def step(self, identifier: StepId) -> Step:
        """No step was ever handed out."""
        raise KeyError(identifier)

    def indirect_influences(self, use: StepId, definition: StepId) -> Sequence[StepId]:  # noqa: ARG002 - the protocol's signature
        """None."""
        return ()

    def omitted(self, step: StepId) -> Sequence[ChangeId]:  # noqa: ARG002 - the protocol's signature
        """None."""
        return ()

    def counterpart(self, step: StepId) -> None:
        """Nothing."""

    def altered(self, change: ChangeId) -> Sequence[StepId]:  # noqa: ARG002 - the protocol's signature
        """Nothing."""
        return ()

    def missed(self, change: ChangeId) -> None:
        """Nothing."""

    def calling(self, step: StepId) -> None:
        """Nothing."""

    def conduct(self) -> Mapping[ChangeId, Conduct]:
        """Not known."""
        return {}

    def executed_changes(self) -> Sequence[ChangeId]:
        """Not known."""
        return ()

    def work(self) -> int:
        """None was done."""
        return 0

    def notes(self) -> Sequence[str]:
        """None."""
        return ()
