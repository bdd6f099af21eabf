"""Posting one answer on one pull request."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from contextlib import closing
from pathlib import Path

from afterd.errors import ForgeError, UsageError
from afterd.forge import Forge, Patience, Posted, Project, connect, forge_error, post, token_for
from afterd.forge.refusal import Refusal
from afterd.publishing.publication import publication
from afterd.report.masking import Masker, secrets_of
from afterd.report.received import LARGEST, Received, received


def read_answer(path: Path) -> Received:
    """An answer out of a file that may be a stranger's. Raises UsageError."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        message = f"{path} cannot be read ({error.strerror}); give what `afterd explain` wrote."
        raise UsageError(message) from error
    return received(data, str(path))


def publish(
    given: Received,
    project: Project,
    number: int = 0,
    *,
    posted_on: Collection[int] = (),
    environment: Mapping[str, str] | None = None,
    patience: Patience | None = None,
) -> Posted:
    """Post on pull request ``number``; 0: on the open one that has the answer's commit.

    ``posted_on``: the pull requests that had our comment before, as far as is known. Raises
    ForgeError, and every Refusal as it is, so that an outbox can wait for what passes.
    """
    environment = os.environ if environment is None else environment
    if not given.commit:
        raise UsageError("The answer names no commit, so there is no pull request it is about.")
    token = token_for(project, environment)
    masker = Masker((*secrets_of(environment), token))
    patience = patience or Patience()
    with closing(connect(project, token)) as forge:
        found = number or patience(lambda: _number(forge, given.commit))
        if not found:
            raise ForgeError(
                f"{project.host} has no open pull request of {project.path} whose head is"
                f" {given.commit[:10]}; nothing was posted."
            )
        before = found in posted_on
        return post(forge, publication(given, project, found, masker, before=before), patience)


def publish_or_say(given: Received, project: Project, number: int = 0) -> Posted:
    """``publish``, with every refusal as a sentence. Raises ForgeError."""
    try:
        return publish(given, project, number)
    except Refusal as refused:
        raise forge_error(refused, project, number) from refused


def _number(forge: Forge, commit: str) -> int:
    """The number of the open pull request with this head; 0 where there is none."""
    return next((pull.number for pull in forge.open_pulls() if commit in pull.commits), 0)
