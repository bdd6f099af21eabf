"""A forge of our own on the loopback: it keeps state, speaks three dialects, and fails as it is told.

Its answers are small; where a test has the forge's published description, they are that
description's own examples with our values in them, so that a validating proxy can look at both sides.
"""

from __future__ import annotations

import itertools
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from afterd.forge.project import ForgeKind, Project

TOKEN = "token-0123456789"
BOT = "afterd-bot"
HEAD = "b" * 40
JSON = dict[str, Any]


@dataclass
class Fault:
    """What the next request with this method, on a path with ``part``, gets instead of an answer.

    Status 0: the request is carried out and its answer lost.
    """

    method: str
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = "{}"
    part: str = ""


@dataclass
class State:
    """What the forge holds; tests change it."""

    kind: ForgeKind
    examples: Mapping[str, JSON] = field(default_factory=dict)
    pulls: dict[int, JSON] = field(default_factory=lambda: {7: {"head": HEAD, "open": True}})
    comments: list[JSON] = field(default_factory=list)
    checks: list[JSON] = field(default_factory=list)
    left: list[JSON] = field(default_factory=list)  # what check runs were given
    faults: list[Fault] = field(default_factory=list)
    requests: list[tuple[str, str]] = field(default_factory=list)
    may_ask_user: bool = True
    may_check: bool = True
    limit: int = 65_536
    page: int = 30
    address: str = ""  # where clients come in: here, or at a proxy before it
    upstream: str = ""
    ids: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def __post_init__(self) -> None:
        if self.kind is ForgeKind.GITLAB:
            self.limit = 1_000_000

    @property
    def server(self) -> str:
        return self.address

    @property
    def project(self) -> Project:
        return Project(self.kind, self.server, "owner/name")

    def add(self, author: str, body: str) -> JSON:
        comment = {"id": next(self.ids), "author": author, "body": body}
        self.comments.append(comment)
        return comment

    def bodies(self) -> list[str]:
        return [comment["body"] for comment in self.comments]

    def count(self, method: str) -> int:
        return sum(seen == method for seen, _ in self.requests)


Answer = tuple[int, object]


def answer(state: State, method: str, path: str, given: JSON) -> Answer:
    """Route a request."""
    for pattern, routed in _ROUTES[state.kind].items():
        wanted, _, form = pattern.partition(" ")
        match = re.fullmatch(form, path)
        if match and wanted == method:
            return routed(state, given, *(int(group) for group in match.groups()))
    return 404, {"message": "404 Not Found"}


def _user(state: State, _: JSON) -> Answer:
    if not state.may_ask_user:
        return 403, {"message": "Resource not accessible by integration"}
    return 200, _with(state, "user", {"login": BOT, "username": BOT})


def _viewer(_state: State, _: JSON) -> Answer:
    return 200, {"data": {"viewer": {"login": "github-actions[bot]"}}}


def _pull(state: State, _: JSON, number: int) -> Answer:
    if number not in state.pulls:
        return 404, {"message": "Not Found"}
    return 200, _shown_pull(state, number)


def _pulls(state: State, given: JSON) -> Answer:
    shown = [number for number, pull in state.pulls.items() if pull["open"]]
    return 200, [_shown_pull(state, number) for number in _page(state, shown, given)]


def _shown_pull(state: State, number: int) -> JSON:
    pull = state.pulls[number]
    status = "opened" if state.kind is ForgeKind.GITLAB else "open"
    base = state.examples.get("pull", {})
    head = {**base.get("head", {}), "sha": pull["head"]}
    values = {
        "number": number, "iid": number, "state": status if pull["open"] else "closed",
        "head": head, "sha": pull["head"],
    }  # fmt: skip
    if "merge" in pull or state.kind is ForgeKind.GITHUB:
        values["merge_commit_sha"] = pull.get("merge")
    return _with(state, "pull", values)


def _comments(state: State, given: JSON, _number: int) -> Answer:
    return 200, [_shown(state, comment) for comment in _page(state, state.comments, given)]


def _create(state: State, given: JSON, _number: int) -> Answer:
    return _too_long(state, given) or (201, _shown(state, state.add(BOT, given["body"])))


def _edit(state: State, given: JSON, *numbers: int) -> Answer:
    found = [comment for comment in state.comments if comment["id"] == numbers[-1]]
    if not found:
        return 404, {"message": "Not Found"}
    if refused := _too_long(state, given):
        return refused
    found[0]["body"] = given["body"]
    return 200, _shown(state, found[0])


def _too_long(state: State, given: JSON) -> Answer | None:
    if len(given["body"]) <= state.limit:
        return None
    if state.kind is ForgeKind.GITLAB:
        return 400, {"message": {"note": [f"is too long (maximum is {state.limit} characters)"]}}
    said = f"Body is too long (maximum is {state.limit} characters)"
    if state.kind is ForgeKind.GITEA:
        return 422, {"message": said}
    return 422, {
        "message": "Validation Failed",
        "documentation_url": "https://docs.github.com/rest",
        "errors": [{"resource": "IssueComment", "code": "unprocessable", "field": "data", "message": said}],
    }  # fmt: skip


def _shown(state: State, comment: JSON) -> JSON:
    base = state.examples.get("comment", {})
    key = "author" if state.kind is ForgeKind.GITLAB else "user"
    author = {**(base.get(key) or {}), "login": comment["author"], "username": comment["author"]}
    url = f"{state.server}/owner/name/pull/7#issuecomment-{comment['id']}"
    values = {
        "id": comment["id"], "body": comment["body"], key: author, "html_url": url, "system": False,
    }  # fmt: skip
    return _with(state, "comment", values)


def _commit(_state: State, _: JSON) -> Answer:
    return 200, {"sha": HEAD, "url": ""}


def _checks(state: State, _: JSON) -> Answer:
    return 200, {"total_count": len(state.checks), "check_runs": state.checks}


def _leave(state: State, given: JSON, *number: int) -> Answer:
    if not state.may_check:
        return 403, {"message": "Resource not accessible by integration"}
    identifier = number[0] if number else next(state.ids)
    output = state.examples.get("check", {}).get("output", {})
    values = {
        **{key: value for key, value in given.items() if key in {"name", "status", "conclusion"}},
        "id": identifier,
        "head_sha": HEAD,
        "url": f"{state.server}/api/v3/repos/owner/name/check-runs/{identifier}",
        "output": {
            **output,
            "title": given["output"]["title"],
            "summary": given["output"]["summary"],
        },
    }
    run = _with(state, "check", values)
    state.left.append(given)
    state.checks = [each for each in state.checks if each["id"] != identifier] + [run]
    return 200 if number else 201, run


def _with(state: State, kind: str, values: JSON) -> JSON:
    """Our values in the description's example, without keys that this forge does not have."""
    base = state.examples.get(kind)
    if base is None:
        return values
    return {**base, **{key: value for key, value in values.items() if key in base}}


def _page(state: State, found: list[Any], given: JSON) -> list[Any]:
    page = int(given.get("page", ["1"])[0])
    size = state.page if state.kind is ForgeKind.GITHUB else len(found) + 1
    return found[(page - 1) * size : page * size]


_PROJECT = r"/api/v3/repos/owner/name"
_GITEA = r"/api/v1/repos/owner/name"
_GITLAB = r"/api/v4/projects/owner%2Fname/merge_requests"
Route = Callable[..., Answer]
_ROUTES: Mapping[ForgeKind, Mapping[str, Route]] = {
    ForgeKind.GITHUB: {
        "GET /api/v3/user": _user,
        "POST /api/graphql": _viewer,
        f"GET {_PROJECT}/pulls": _pulls,
        rf"GET {_PROJECT}/pulls/(\d+)": _pull,
        rf"GET {_PROJECT}/issues/(\d+)/comments": _comments,
        rf"POST {_PROJECT}/issues/(\d+)/comments": _create,
        rf"PATCH {_PROJECT}/issues/comments/(\d+)": _edit,
        rf"GET {_PROJECT}/commits/[0-9a-f]+": _commit,
        rf"GET {_PROJECT}/commits/[0-9a-f]+/check-runs": _checks,
        f"POST {_PROJECT}/check-runs": _leave,
        rf"PATCH {_PROJECT}/check-runs/(\d+)": _leave,
    },
    ForgeKind.GITEA: {
        "GET /api/v1/user": _user,
        f"GET {_GITEA}/pulls": _pulls,
        rf"GET {_GITEA}/pulls/(\d+)": _pull,
        rf"GET {_GITEA}/issues/(\d+)/comments": _comments,
        rf"POST {_GITEA}/issues/(\d+)/comments": _create,
        rf"PATCH {_GITEA}/issues/comments/(\d+)": _edit,
    },
    ForgeKind.GITLAB: {
        "GET /api/v4/user": _user,
        f"GET {_GITLAB}": _pulls,
        rf"GET {_GITLAB}/(\d+)": _pull,
        rf"GET {_GITLAB}/(\d+)/notes": _comments,
        rf"POST {_GITLAB}/(\d+)/notes": _create,
        rf"PUT {_GITLAB}/(\d+)/notes/(\d+)": _edit,
    },
}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = (
        True  # else an answer's body waits 40 ms for its headers to be acknowledged
    )
    state: State

    def _serve(self) -> None:
        state, split = self.state, urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        given: JSON = json.loads(self.rfile.read(length) or b"{}") if length else {}
        given |= parse_qs(split.query)
        state.requests.append((self.command, split.path))
        fault = self._fault(split.path)
        if fault is not None and fault.status:
            self._send(fault.status, fault.body.encode(), fault.headers)
            return
        if TOKEN not in " ".join(map(str, self.headers.values())):
            self._send(401, b'{"message": "Bad credentials"}', {})
            return
        status, body = answer(state, self.command, split.path, given)
        if fault is not None:
            self.close_connection = True  # the answer is lost
            self.connection.close()
            return
        self._send(status, json.dumps(body).encode(), self._links(split.path, given, body))

    def _fault(self, path: str) -> Fault | None:
        for fault in self.state.faults:
            if fault.method == self.command and fault.part in path:
                self.state.faults.remove(fault)
                return fault
        return None

    def _links(self, path: str, given: JSON, body: object) -> dict[str, str]:
        state, page = self.state, int(given.get("page", ["1"])[0])
        if (
            state.kind is not ForgeKind.GITHUB
            or not isinstance(body, list)
            or len(body) < state.page
        ):
            return {}
        return {"Link": f'<{state.server}{path}?page={page + 1}&per_page=100>; rel="next"'}

    def _send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response_only(status)  # without a date of its own
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PATCH = do_PUT = _serve  # noqa: N815 - http.server's names

    def log_message(self, *_: object) -> None:  # silent
        pass


@contextmanager
def serving(state: State) -> Iterator[State]:
    """The forge on a free port of the loopback."""
    handler = type("Handler", (_Handler,), {"state": state})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    state.upstream = f"http://127.0.0.1:{server.server_address[1]}"
    state.address = state.address or state.upstream
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
