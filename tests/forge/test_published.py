"""Requests and answers against the forges' own published descriptions, checked by a proxy (Prism).

GitHub's come from npm. No registry has Gitea's, Forgejo's or GitLab's, so those are looked at where
AFTERD_TEST_GITEA_OPENAPI and AFTERD_TEST_GITLAB_OPENAPI name copies (see docs/reliability.md).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped] # its types are another package, for one test
from fake_forge import BOT, HEAD, TOKEN, Fault, State, serving
from npm_packages import NoNpmError
from published import (
    JSON,
    example,
    free_port,
    github_descriptions,
    prism,
    proxied,
    trimmed,
)

from afterd.forge import (
    Annotation,
    Check,
    ForgeKind,
    Patience,
    Placement,
    Post,
    Posted,
    connect,
    post,
)
from afterd.forge.refusal import Refusal, RefusalKind

pytestmark = pytest.mark.network

MARKER = "<!-- marker -->"
LONG = f"{MARKER}\n" + "x" * (65_536 - len(MARKER) - 1)
CHECK = Check(
    HEAD,
    "1 caused",
    "# why",
    is_failure=True,
    annotations=(Annotation("f.c", 3, 4, "c2", "did it"),),
)
POST = Post(7, HEAD, MARKER, lambda _: f"{MARKER}\nhello")

_REPO = "/repos/{owner}/{repo}"
_GITHUB = {
    f"/api/v3{path}": path
    for path in (
        "/user",
        f"{_REPO}/pulls",
        f"{_REPO}/pulls/{{pull_number}}",
        f"{_REPO}/issues/{{issue_number}}/comments",
        f"{_REPO}/issues/comments/{{comment_id}}",
        f"{_REPO}/check-runs",
        f"{_REPO}/check-runs/{{check_run_id}}",
        f"{_REPO}/commits/{{ref}}/check-runs",
    )
}
_GITEA = {
    f"/api/v1{path}": path
    for path in (
        "/user",
        f"{_REPO}/pulls",
        f"{_REPO}/pulls/{{index}}",
        f"{_REPO}/issues/{{index}}/comments",
        f"{_REPO}/issues/comments/{{id}}",
    )
}
_MERGE_REQUESTS = "/projects/{id}/merge_requests"
_GITLAB = {
    f"/api/v4{path}": f"/api/v4{path}"
    for path in (
        "/user",
        _MERGE_REQUESTS,
        f"{_MERGE_REQUESTS}/{{merge_request_iid}}",
        f"{_MERGE_REQUESTS}/{{noteable_id}}/notes",
        f"{_MERGE_REQUESTS}/{{noteable_id}}/notes/{{note_id}}",
    )
}
_ENTITIES = {"user": "UserPublic", "pull": "MergeRequest", "comment": "Note"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where npm installs; AFTERD_TEST_NPM keeps it from run to run."""
    kept = os.environ.get("AFTERD_TEST_NPM")
    path = Path(kept) if kept else tmp_path_factory.mktemp("npm")
    path.mkdir(exist_ok=True)
    try:
        prism(path)
        github_descriptions(path, [])
    except NoNpmError as error:
        pytest.skip(f"the published descriptions need npm: {error}")
    return path


def github(folder: Path, name: str) -> State:
    [description] = github_descriptions(folder, [name])
    return described(folder, ForgeKind.GITHUB, trimmed(description, _GITHUB))


def described(folder: Path, kind: ForgeKind, description: JSON) -> State:
    """A forge that answers with the description's own examples."""
    (folder / f"{kind}.json").write_text(json.dumps(description))
    examples: Mapping[str, JSON] = description.get("components", {}).get("examples", {})
    names = {
        "user": "private-user-response-with-public-and-private-profile-information",
        "pull": "pull-request",
        "comment": "issue-comment",
        "check": "check-run-example-of-completed-conclusion",
    }
    found = {kind: examples[name]["value"] for kind, name in names.items() if name in examples}
    if "pull" in found:
        found["pull"]["requested_teams"] = []  # the example's team is older than the schema's
    if kind is ForgeKind.GITLAB:
        found = {name: _example(description, entity) for name, entity in _ENTITIES.items()}
    return State(kind, found, address=f"http://127.0.0.1:{free_port()}")


def _example(description: JSON, entity: str) -> JSON:
    shown = example(description, {"$ref": f"#/components/schemas/APIEntities{entity}"})
    assert isinstance(shown, dict)
    return shown


def elsewhere(folder: Path, kind: ForgeKind, paths: Mapping[str, str], variable: str) -> State:
    copy = os.environ.get(variable)
    if not copy:
        pytest.skip(f"no registry has the description of {kind}; {variable} can name a copy")
    read = yaml.load(Path(copy).read_bytes(), yaml.CSafeLoader)  # JSON is YAML too
    description = json.loads(json.dumps(read, default=datetime.isoformat))
    return described(folder, kind, trimmed(description, paths))


@pytest.fixture(scope="module", params=["github.com", "enterprise", "forgejo", "gitlab"])
def running(request: pytest.FixtureRequest, folder: Path) -> Iterator[State]:
    match request.param:
        case "github.com":
            state = github(folder, "api.github.com.json")
        case "enterprise":
            newest = max((folder / "github").glob("ghes-*.json"), key=version)
            state = github(folder, newest.name)
        case "gitlab":
            state = elsewhere(folder, ForgeKind.GITLAB, _GITLAB, "AFTERD_TEST_GITLAB_OPENAPI")
        case _:
            state = elsewhere(folder, ForgeKind.GITEA, _GITEA, "AFTERD_TEST_GITEA_OPENAPI")
    port = int(state.address.rpartition(":")[2])
    description = folder / f"{state.kind}.json"
    with serving(state), proxied(prism(folder), description, state.upstream, port):
        yield state


def version(path: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in path.stem.removeprefix("ghes-").split("."))


@pytest.fixture
def forge(running: State) -> State:
    for kept in (running.comments, running.checks, running.left, running.faults, running.requests):
        kept.clear()
    running.pulls = {7: {"head": HEAD, "open": True}}
    return running


def posted(state: State, given: Post = POST, token: str = TOKEN) -> Posted:
    waits: list[float] = []
    patience = Patience(120, waits.append, lambda: sum(waits))
    with closing(connect(state.project, token)) as connection:
        return post(connection, given, patience)


def test_written_found_and_edited(forge: State) -> None:
    forge.add("mallory", f"{MARKER}\nforged")
    assert posted(forge).placement is Placement.CREATED
    assert posted(forge).placement is Placement.UNCHANGED
    assert posted(forge, replace(POST, body=lambda _: LONG)).placement is Placement.EDITED
    assert forge.bodies() == [f"{MARKER}\nforged", LONG]


def test_a_check_run_with_annotations(forge: State) -> None:
    for title in ("1 caused", "no test fails"):
        done = posted(forge, replace(POST, check=replace(CHECK, title=title)))
        assert done.is_checked is (forge.kind is ForgeKind.GITHUB)
    assert len(forge.checks) == (forge.kind is ForgeKind.GITHUB)


def test_the_open_pull_requests(forge: State) -> None:
    forge.pulls |= {n: {"head": f"{n:040x}", "open": True} for n in range(8, 45)}
    with closing(connect(forge.project, TOKEN)) as connection:
        assert {pull.number for pull in connection.open_pulls()} == set(range(7, 45))


def test_faults_that_pass_leave_one_comment(forge: State) -> None:
    limited = Fault("POST", 403, {"Retry-After": "3"}, '{"message": "secondary rate limit"}')
    forge.faults += [Fault("GET", 502, body="<html>"), limited, Fault("POST", 0)]
    assert posted(forge).placement in {Placement.CREATED, Placement.UNCHANGED}
    assert len(forge.comments) == 1


def test_a_comment_that_was_deleted_meanwhile(forge: State) -> None:
    forge.add(BOT, f"{MARKER}\nold")
    forge.faults.append(Fault("PATCH", 404, body='{"message": "Not Found"}', part="comments/"))
    forge.faults.append(Fault("PUT", 404, body='{"message": "404 Not Found"}', part="notes/"))
    done = posted(forge)
    assert done.placement in {Placement.REMOVED, Placement.EDITED}
    assert forge.count("POST") == 0


def test_a_revoked_token_and_a_pull_request_that_is_not_there(forge: State) -> None:
    with pytest.raises(Refusal) as revoked:
        posted(forge, token="revoked")
    with pytest.raises(Refusal) as missing:
        posted(forge, replace(POST, number=99))
    assert (revoked.value.kind, missing.value.kind) == (RefusalKind.TOKEN, RefusalKind.MISSING)


def test_a_body_over_the_limit_is_made_shorter(forge: State) -> None:
    if forge.kind is not ForgeKind.GITHUB:
        return
    forge.limit = 40_000
    try:
        written = posted(forge, replace(POST, body=lambda limit: MARKER + "x" * (limit - 20)))
    finally:
        forge.limit = 65_536
    assert written.placement is Placement.CREATED
    assert len(forge.bodies()[0]) <= 40_000
