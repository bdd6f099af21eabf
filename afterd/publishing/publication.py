"""An answer as what is posted of it: the comment, and a check run with annotations."""

from __future__ import annotations

import functools

from afterd.forge import Annotation, Check, Post, Project
from afterd.model.change import Change
from afterd.report.comment import MARKER, comment
from afterd.report.markdown import LIMIT
from afterd.report.masking import Masker
from afterd.report.phrases import as_plain
from afterd.report.received import Received
from afterd.report.sanitize import clipped, visible
from afterd.report.summary import assurance, headline
from afterd.report.verdicts import VerdictKind, actionable, summed_up

_MESSAGE = 2_000
_NAME = 200


def publication(
    given: Received, project: Project, number: int, masker: Masker, *, before: bool = False
) -> Post:
    """The post for pull request ``number``; ``masker`` blots out this process's own secrets."""
    given = masker.value(given)  # before it is escaped: an escaped secret is not recognised
    return Post(
        number=number,
        commit=given.commit,
        marker=MARKER,
        body=functools.partial(written, given, project),
        wanted=actionable(given.verdicts),
        before=before,
        check=_check(given, project) if given.verdicts else None,
    )


def written(given: Received, project: Project | None, limit: int = LIMIT) -> str:
    """The comment's Markdown; without a project it has no links."""
    if project is None:
        return comment(given, limit=min(limit, LIMIT))
    return comment(given, project.permalink(given.commit), min(limit, LIMIT))


def _check(given: Received, project: Project) -> Check:
    return Check(
        commit=given.commit,
        title=summed_up(given.verdicts),
        summary=written(given, project),
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
        file=visible(change.file),
        first=first,
        last=max(first, change.new.end - 1),
        title=clipped(f"afterd: {change.id}", _NAME),
        message=clipped(said.strip(), _MESSAGE),
    )
