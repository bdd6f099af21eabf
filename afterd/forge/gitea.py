"""Gitea and Forgejo, through requests: five calls of an API that both keep.

pyforgejo has them all, generated for one release of one of the two, with pydantic and httpx; the
clients for Gitea are not kept. requests is there with the clients of the other forges.
"""

from __future__ import annotations

import time
import urllib.parse
from collections.abc import Iterator, Mapping
from typing import Any

import requests
from requests.auth import AuthBase

from afterd import __version__
from afterd.forge.project import Project
from afterd.forge.protocol import Check, Comment, Pull
from afterd.forge.refusal import Refusal, RefusalKind, as_a_forge_answers, refusal

LIMIT = 65_536  # characters; Gitea has no limit of its own, its readers have
_TIMEOUT = 20.0  # seconds
_PAGE = 50  # the most that an instance gives at once, as it is set up
_MOST_PAGES = 200


def connected_project(project: Project, token: str) -> Gitea:
    """The project, reached with a token."""
    return Gitea(project, token)


class _Token(AuthBase):
    """Sends the token; requests then leaves ``~/.netrc`` alone, which it prefers to a header."""

    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"token {self._token}"
        return request


class Gitea:
    """A Forge. There are no check runs."""

    limit = LIMIT

    def __init__(self, project: Project, token: str) -> None:
        self._session = requests.Session()
        self._session.auth = _Token(token)
        self._session.headers["User-Agent"] = f"afterd/{__version__}"
        self._api = project.api
        self._project = f"/repos/{urllib.parse.quote(project.path)}"
        self._name = ""

    def own_name(self) -> str:
        """The token's login."""
        if not self._name:
            with as_a_forge_answers():
                self._name = str(self._asked("GET", "/user")["login"])
        return self._name

    def pull(self, number: int) -> Pull:
        """The pull request with this number."""
        with as_a_forge_answers():
            return _pull(self._asked("GET", f"{self._project}/pulls/{number}"))

    def open_pulls(self) -> Iterator[Pull]:
        """The open pull requests, the one that was touched last first."""
        given = {"state": "open", "sort": "recentupdate"}
        with as_a_forge_answers():
            yield from map(_pull, self._pages(f"{self._project}/pulls", given))

    def comments(self, number: int) -> Iterator[Comment]:
        """The comments of a pull request, oldest first; they come in one page."""
        with as_a_forge_answers():
            yield from map(
                _comment, self._asked("GET", f"{self._project}/issues/{number}/comments")
            )

    def create(self, number: int, body: str) -> Comment:
        """Write a comment."""
        path = f"{self._project}/issues/{number}/comments"
        with as_a_forge_answers():
            return _comment(self._asked("POST", path, json={"body": body}))

    def edit(self, number: int, comment: Comment, body: str) -> Comment:
        """Replace a comment's body."""
        del number
        path = f"{self._project}/issues/comments/{comment.id}"
        with as_a_forge_answers():
            return _comment(self._asked("PATCH", path, json={"body": body}))

    def check(self, check: Check) -> bool:
        """Nothing: there are no check runs."""
        del check
        return False

    def close(self) -> None:
        """Close connections."""
        self._session.close()

    def _pages(self, path: str, given: Mapping[str, str]) -> Iterator[Any]:
        for page in range(1, _MOST_PAGES):
            found = self._asked("GET", path, params={**given, "page": page, "limit": _PAGE})
            yield from found
            if not found:
                break

    def _asked(self, method: str, path: str, **given: Any) -> Any:  # noqa: ANN401 - JSON
        """The JSON of an answer. A redirect is not followed: it would take a POST for a GET."""
        try:
            answer = self._session.request(
                method, self._api + path, timeout=_TIMEOUT, allow_redirects=False, **given
            )
        except requests.RequestException as error:
            raise Refusal(RefusalKind.UNAVAILABLE, type(error).__name__) from error
        if answer.status_code not in {200, 201}:
            raise refusal(answer.status_code, answer.headers, _answer_words(answer), time.time())
        try:
            return answer.json()
        except ValueError as error:
            raise Refusal(RefusalKind.UNAVAILABLE, "its answer is no JSON") from error


def _answer_words(answer: requests.Response) -> str:
    try:
        data = answer.json()
    except ValueError:
        return str(answer.reason)
    return str(data.get("message", "")) if isinstance(data, dict) else ""


def _pull(data: Any) -> Pull:  # noqa: ANN401 - JSON
    commits = filter(None, (data["head"]["sha"], data.get("merge_commit_sha")))
    return Pull(data["number"], frozenset(commits), data["state"] == "open")


def _comment(data: Any) -> Comment:  # noqa: ANN401 - JSON
    author = (data.get("user") or {}).get("login", "")
    return Comment(str(data["id"]), author, data["body"], data["html_url"])
