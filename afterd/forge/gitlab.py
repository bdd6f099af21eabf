"""GitLab, through python-gitlab."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import gitlab
import requests
from gitlab.exceptions import GitlabError, GitlabParsingError, RedirectError
from gitlab.v4.objects import ProjectMergeRequest

from afterd import __version__
from afterd.forge.project import Project
from afterd.forge.protocol import Check, Comment, Pull
from afterd.forge.refusal import Refusal, RefusalKind, as_a_forge_answers, refusal

LIMIT = 250_000  # characters; GitLab takes a million, and nobody reads them
_TIMEOUT = 20.0  # seconds
_OURS: Mapping[str, Any] = {"obey_rate_limit": False, "max_retries": 0}  # see patience


def connected_project(project: Project, token: str) -> GitLab:
    """The project, reached with a token."""
    return GitLab(project, token)


class _OwnServer(requests.Session):
    """Goes to no other server than the one it was sent to: requests takes off the header ``Authorization`` there,
    and leaves GitLab's own, in which the token is.
    """

    def rebuild_auth(
        self, prepared_request: requests.PreparedRequest, response: requests.Response
    ) -> None:
        """Called for each redirect. Raises Refusal."""
        there = prepared_request.url or ""
        if self.should_strip_auth(response.url, there):
            raise Refusal(RefusalKind.MOVED, f"{response.status_code} {there}")
        super().rebuild_auth(prepared_request, response)


class GitLab:
    """A Forge. There are no check runs; its notes on commits are for pipelines."""

    limit = LIMIT

    def __init__(self, project: Project, token: str) -> None:
        self._answered: Mapping[str, str] = {}
        session = _OwnServer()
        session.hooks["response"].append(self._remember)  # its errors have no headers
        self._client = gitlab.Gitlab(
            project.api,
            private_token=token,
            timeout=_TIMEOUT,
            user_agent=f"afterd/{__version__}",
            per_page=100,
            session=session,
            retry_transient_errors=False,
        )
        self._project = self._client.projects.get(project.path, lazy=True)
        self._web = project.web
        self._name = ""

    def own_name(self) -> str:
        """The token's login."""
        if not self._name:
            with self._understood():
                user = self._client.http_get("/user", **_OURS)
                if not isinstance(user, dict):
                    raise TypeError(user)
                self._name = str(user["username"])
        return self._name

    def pull(self, number: int) -> Pull:
        """The merge request with this number (its ``iid``)."""
        with self._understood():
            return _pull(self._project.mergerequests.get(number, **_OURS))

    def open_pulls(self) -> Iterator[Pull]:
        """The open merge requests, the one that was touched last first."""
        with self._understood():
            found = self._project.mergerequests.list(
                iterator=True, state="opened", order_by="updated_at", sort="desc", **_OURS
            )
            yield from map(_pull, found)

    def comments(self, number: int) -> Iterator[Comment]:
        """The notes of a merge request, oldest first, without GitLab's own."""
        with self._understood():
            notes = self._request(number).notes.list(
                iterator=True, order_by="created_at", sort="asc", **_OURS
            )
            for note in notes:
                if not note.system:
                    yield self._comment(note, number)

    def create(self, number: int, body: str) -> Comment:
        """Write a note."""
        with self._understood():
            note = self._request(number).notes.create({"body": body}, **_OURS)
            return self._comment(note, number)

    def edit(self, number: int, comment: Comment, body: str) -> Comment:
        """Replace a note's body."""
        with self._understood():
            note = self._request(number).notes.get(int(comment.id), lazy=True)
            note.body = body
            note.save(**_OURS)
            return self._comment(note, number)

    def check(self, check: Check) -> bool:
        """Nothing: GitLab has no check runs."""
        del check
        return False

    def close(self) -> None:
        """Close connections."""
        self._client.session.close()

    def _request(self, number: int) -> ProjectMergeRequest:
        """A merge request that is not asked for: its notes are."""
        return self._project.mergerequests.get(number, lazy=True)

    def _comment(self, note: Any, number: int) -> Comment:  # noqa: ANN401 - notes.list is untyped
        author = note.author["username"] if note.author else ""
        url = f"{self._web}/-/merge_requests/{number}#note_{note.id}"
        return Comment(str(note.id), author, note.body, url)

    def _remember(self, response: requests.Response, *_: object, **__: object) -> None:
        self._answered = response.headers

    @contextmanager
    def _understood(self) -> Iterator[None]:
        """python-gitlab's errors as refusals."""
        try:
            with as_a_forge_answers():
                yield
        except (GitlabParsingError, requests.RequestException) as error:
            raise Refusal(RefusalKind.UNAVAILABLE, type(error).__name__) from error
        except RedirectError as error:
            raise Refusal(RefusalKind.MOVED, "the project has another address now") from error
        except GitlabError as error:
            said = str(error.error_message).strip()
            if said.startswith(("<", "{}")):
                said = ""  # the page of a proxy
            status = error.response_code or 0
            raise refusal(status, self._answered, said, time.time()) from error


def _pull(request: Any) -> Pull:  # noqa: ANN401 - mergerequests.list is untyped
    commits = filter(None, (request.sha, getattr(request, "merge_commit_sha", None)))
    return Pull(request.iid, frozenset(commits), request.state == "opened")
