"""GitHub and GitHub Enterprise, through PyGithub."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import github
import requests
from github.CheckRun import CheckRun
from github.GithubException import GithubException
from github.IssueComment import IssueComment
from github.NamedUser import NamedUser
from github.Organization import Organization
from github.PullRequest import PullRequest

from afterd import __version__
from afterd.forge.project import Project
from afterd.forge.protocol import Annotation, Check, Comment, Pull
from afterd.forge.refusal import Refusal, RefusalKind, as_a_forge_answers, refusal

LIMIT = 65_536  # characters, as the API's own refusal says
ACTIONS_BOT = "github-actions[bot]"  # whom the token of a GitHub Actions job comments as
_CHECK_NAME = "afterd"
_MOST_ANNOTATIONS = 50  # in one request
_TIMEOUT = 20  # seconds
_VIEWER = "query { viewer { login } }"


def connected_project(project: Project, token: str) -> GitHub:
    """The project, reached with a token."""
    return GitHub(project, token)


class GitHub:
    """A Forge. PyGithub's own retries are off: see ``patience``."""

    limit = LIMIT

    def __init__(self, project: Project, token: str) -> None:
        self._client = github.Github(
            base_url=project.api,
            auth=github.Auth.Token(token),
            timeout=_TIMEOUT,
            user_agent=f"afterd/{__version__}",
            per_page=100,
            retry=None,
            seconds_between_requests=None,
            seconds_between_writes=None,
            lazy=True,  # nothing is asked for before it is read
        )
        self._project = self._client.get_repo(project.path)
        self._name = ""

    def own_name(self) -> str:
        """The token's login; an app's token, such as that of a job, may not ask for its user."""
        if not self._name:
            try:
                with _understood_errors():
                    self._name = self._client.get_user().login
            except Refusal as refused:
                if refused.kind is not RefusalKind.RIGHTS:
                    raise
                self._name = self._viewer()
        return self._name

    def pull(self, number: int) -> Pull:
        """The pull request with this number."""
        with _understood_errors():
            return _pull(self._project.get_pull(number))

    def open_pulls(self) -> Iterator[Pull]:
        """The open pull requests, the one that was touched last first."""
        with _understood_errors():
            yield from map(_pull, self._project.get_pulls("open", "updated", "desc"))

    def comments(self, number: int) -> Iterator[Comment]:
        """The comments of a pull request, oldest first."""
        with _understood_errors():
            yield from map(_comment, self._project.get_issue(number).get_comments())

    def create(self, number: int, body: str) -> Comment:
        """Write a comment."""
        with _understood_errors():
            return _comment(self._project.get_issue(number).create_comment(body))

    def edit(self, number: int, comment: Comment, body: str) -> Comment:
        """Replace a comment's body."""
        with _understood_errors():
            edited = self._project.get_issue(number).get_comment(int(comment.id))
            edited.edit(body)
            return _comment(edited)

    def check(self, check: Check) -> bool:
        """Leave a check run on the commit, in place of ours that is there."""
        given: dict[str, Any] = {
            "name": _CHECK_NAME,
            "status": "completed",
            "conclusion": "failure" if check.is_failure else "neutral",
            "output": {
                "title": check.title[:255],
                "summary": check.summary,
                "annotations": [
                    _annotation(each) for each in check.annotations[:_MOST_ANNOTATIONS]
                ],
            },
        }
        with _understood_errors():
            older = self._check_run(check.commit)
            if older is not None:
                older.edit(**given)
            else:
                self._project.create_check_run(head_sha=check.commit, **given)
        return True

    def close(self) -> None:
        """Close connections."""
        self._client.close()

    def _check_run(self, commit: str) -> CheckRun | None:
        runs = self._project.get_commit(commit).get_check_runs(check_name=_CHECK_NAME)
        return next(iter(runs), None)

    def _viewer(self) -> str:
        """The login by the other API, which knows the user of an app's token."""
        try:
            with _understood_errors():
                _, answer = self._client.requester.graphql_query(_VIEWER, {})
                return str(answer["data"]["viewer"]["login"])
        except (Refusal, KeyError, TypeError) as error:
            if os.environ.get("GITHUB_ACTIONS") == "true":
                return ACTIONS_BOT
            # under a wrong name our comment would not be found, and written again and again
            raise Refusal(RefusalKind.RIGHTS, "it does not say whose token it is") from error


def _pull(pull: PullRequest) -> Pull:
    commits = {pull.head.sha, pull.merge_commit_sha} if pull.state == "open" else {pull.head.sha}
    return Pull(pull.number, frozenset(filter(None, commits)), pull.state == "open")


def _comment(comment: IssueComment) -> Comment:
    user: NamedUser | Organization | None = comment.user  # None: an account that was deleted
    author = "" if user is None else user.login
    if not isinstance(comment.id, int):  # PyGithub takes a redirect of a POST for its answer
        raise TypeError(comment)
    return Comment(str(comment.id), author, comment.body or "", comment.html_url)


def _annotation(annotation: Annotation) -> dict[str, str | int]:
    return {
        "path": annotation.file,
        "start_line": annotation.first,
        "end_line": annotation.last,
        "annotation_level": "warning",
        "title": annotation.title,
        "message": annotation.message,
    }


@contextmanager
def _understood_errors() -> Iterator[None]:
    """PyGithub's errors as refusals."""
    try:
        with as_a_forge_answers():
            yield
    except GithubException as error:
        raise refusal(
            error.status, error.headers or {}, _error_words(error), time.time()
        ) from error
    except requests.RequestException as error:
        raise Refusal(RefusalKind.UNAVAILABLE, type(error).__name__) from error
    except (
        AssertionError,
        RuntimeError,
    ) as error:  # PyGithub goes to no other host, whatever an answer says
        raise Refusal(RefusalKind.MOVED, "an answer led to another server") from error


def _error_words(error: GithubException) -> str:
    """What GitHub says, with the reasons it lists."""
    data = error.data if isinstance(error.data, dict) else {}
    reasons = [
        str(each.get("message", "")) if isinstance(each, dict) else str(each)
        for each in data.get("errors") or ()
    ]
    return " ".join(filter(None, [str(data.get("message") or ""), *reasons]))
