"""Posting one answer on one pull request.

An answer as what is posted of it: the comment, and a check run with annotations.

The summary page of a CI job: GitHub, Gitea and Forgejo show what a job appends to a file.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from pathlib import Path

from afterd.config.secrets import secrets_of
from afterd.errors import ForgeError, UsageError
from afterd.forge import (
    Annotation,
    Check,
    Forge,
    Patience,
    Post,
    Posted,
    Project,
    connect,
    forge_error,
    post,
    token_for,
)
from afterd.forge.refusal import Refusal
from afterd.model.change import Change
from afterd.report.comment import MARKER, comment, gist, visible_part
from afterd.report.markdown import LIMIT
from afterd.report.masking import Masker
from afterd.report.received import LARGEST, Received, received_document
from afterd.report.sanitize import clipped_text, visible_text
from afterd.report.summary import as_plain, assurance, headline
from afterd.report.verdicts import VerdictKind, actionable, summed_up

_MESSAGE = 2_000
_NAME = 200


def publication(
    given: Received, project: Project, number: int, masker: Masker, *, before: bool = False
) -> Post:
    """The post for pull request ``number``; ``masker`` blots out this process's own secrets."""
    given = masker.value(given)  # before it is escaped: an escaped secret is not recognised
    told = gist(given)
    return Post(
        number=number,
        commit=given.commit,
        marker=MARKER,
        body=functools.partial(comment_markdown, given, project, told=told),
        gist=told,
        wanted=actionable(given.verdicts),
        before=before,
        check=_check(given, project, told) if given.verdicts else None,
    )


def comment_markdown(
    given: Received, project: Project | None, limit: int = LIMIT, *, told: str = ""
) -> str:
    """The comment's Markdown; without a project it has no links. ``told``: its gist where that is known."""
    if project is None:
        return comment(given, limit=min(limit, LIMIT), told=told)
    return comment(given, project.permalink(given.commit), min(limit, LIMIT), told)


def _check(given: Received, project: Project, told: str) -> Check:
    return Check(
        commit=given.commit,
        title=summed_up(given.verdicts),
        summary=comment_markdown(given, project, told=told),
        is_failure=any(verdict.kind is VerdictKind.CAUSED for verdict in given.verdicts),
        annotations=_annotations(given),
    )


def _annotations(given: Received) -> tuple[Annotation, ...]:
    """A note at each root change, once."""
    found: dict[tuple[str, int], Annotation] = {}
    for explanation in given.explanations:
        said = f"{as_plain(headline(explanation))}. {as_plain(assurance(explanation))}"
        for change in explanation.root:
            found.setdefault((change.file, change.new.start), _annotation(change, said))
    return tuple(found.values())


def _annotation(change: Change, said: str) -> Annotation:
    first = max(1, change.new.start)  # of a removal: the line before it
    return Annotation(
        file=visible_text(change.file),
        first=first,
        last=max(first, change.new.end - 1),
        title=clipped_text(f"afterd: {change.id}", _NAME),
        message=clipped_text(said.strip(), _MESSAGE),
    )


VARIABLE = "GITHUB_STEP_SUMMARY"
_LARGEST = 1_000_000  # bytes; a summary over 1 MiB is thrown away whole


def summarise(text: str, environment: Mapping[str, str]) -> bool:
    """Append a comment's Markdown to the page of the job we run in; False where there is none."""
    path = environment.get(VARIABLE)
    if not path:
        return False
    data = f"\n{visible_part(text)}".encode()
    try:
        with Path(path).open("ab") as file:
            if file.tell() + len(data) > _LARGEST:
                return False
            file.write(data)
    except OSError:
        return False  # the page is a courtesy
    return True


def read_answer(path: Path) -> Received:
    """An answer out of a file that may be a stranger's. Raises UsageError."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        message = f"{path} cannot be read ({error.strerror}); give what `afterd explain` wrote."
        raise UsageError(message) from error
    return received_document(data, str(path))


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


def publish_or_say(
    given: Received, project: Project, number: int = 0, say: Callable[[str], object] | None = None
) -> Posted:
    """``publish``, with every refusal as a sentence; ``say`` hears of waits. Raises ForgeError."""
    try:
        return publish(given, project, number, patience=Patience(say=say))
    except Refusal as refused:
        raise forge_error(refused, project, number) from refused


def _number(forge: Forge, commit: str) -> int:
    """The number of the open pull request with this head; 0 where there is none."""
    return next((pull.number for pull in forge.open_pulls() if commit in pull.commits), 0)
