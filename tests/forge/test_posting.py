"""One comment, found again and edited in place, at each forge and under every fault we know of."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from email.utils import formatdate

import pytest
from fake_forge import BOT, HEAD, TOKEN, Fault, State, serving
from hypothesis import given, settings
from hypothesis import strategies as st

from afterd.errors import ForgeError
from afterd.forge import (
    Annotation,
    Check,
    ForgeKind,
    Patience,
    Placement,
    Post,
    Posted,
    connect,
    forge_error,
    post,
)
from afterd.forge.refusal import Refusal, RefusalKind

MARKER = "<!-- marker -->"


def body(limit: int) -> str:
    return f"{MARKER}\n" + "x" * (limit - len(MARKER) - 1)


def short(_limit: int) -> str:
    return f"{MARKER}\nhello"


POST = Post(7, HEAD, MARKER, short)
CHECK = Check(
    HEAD,
    "1 caused",
    "# why",
    is_failure=True,
    annotations=(Annotation("f.c", 3, 4, "c2", "did it"),),
)


@pytest.fixture(params=ForgeKind)
def forge(request: pytest.FixtureRequest) -> Iterator[State]:
    with serving(State(request.param)) as state:
        yield state


@pytest.fixture
def github() -> Iterator[State]:
    with serving(State(ForgeKind.GITHUB)) as state:
        yield state


class Waits(list[float]):
    """Takes no time to wait, and remembers."""

    def patience(self, seconds: float = 120.0) -> Patience:
        return Patience(seconds, self.append, lambda: sum(self))


def posted(
    state: State, given: Post = POST, waits: Waits | None = None, token: str = TOKEN
) -> Posted:
    with closing(connect(state.project, token)) as connection:
        return post(connection, given, (Waits() if waits is None else waits).patience())


def test_written_once_then_edited_in_place(forge: State) -> None:
    first = posted(forge)
    assert first.placement is Placement.CREATED
    assert first.url.startswith(f"{forge.server}/owner/name/")
    assert posted(forge).placement is Placement.UNCHANGED
    edited = posted(forge, replace(POST, body=body))
    assert (edited.placement, edited.url) == (Placement.EDITED, first.url)
    assert len(forge.comments) == 1
    assert forge.bodies()[0].startswith(f"{MARKER}\nxxx")


def test_a_marker_in_somebody_elses_comment_is_not_ours(forge: State) -> None:
    forge.add("mallory", f"{MARKER}\nforged")
    forge.add(BOT, f"> {MARKER}\nquoted")
    assert posted(forge).placement is Placement.CREATED
    assert forge.bodies() == [f"{MARKER}\nforged", f"> {MARKER}\nquoted", f"{MARKER}\nhello"]


def test_found_behind_many_pages(forge: State) -> None:
    for number in range(75):
        forge.add("someone", f"comment {number}")
    ours = forge.add(BOT.upper(), f"{MARKER}\nold")
    assert posted(forge).placement is Placement.EDITED
    assert ours["body"] == f"{MARKER}\nhello"


def test_nothing_to_act_on_is_no_comment_but_mends_one_that_is_there(forge: State) -> None:
    quiet = replace(POST, wanted=False)
    assert posted(forge, quiet).placement is Placement.NOTHING_NEW
    forge.add(BOT, f"{MARKER}\nred")
    assert posted(forge, quiet).placement is Placement.EDITED


def test_a_deleted_comment_stays_deleted(forge: State) -> None:
    assert posted(forge, replace(POST, before=True)).placement is Placement.REMOVED
    assert forge.comments == []


def test_deleted_while_it_was_edited(forge: State) -> None:
    forge.add(BOT, f"{MARKER}\nold")
    edit = "PUT" if forge.kind is ForgeKind.GITLAB else "PATCH"
    forge.faults = [Fault(edit, 404, body='{"message": "Not Found"}')]
    assert posted(forge).placement is Placement.REMOVED
    assert forge.count("POST") == 0


@pytest.mark.parametrize(
    ("pull", "placement"),
    [
        ({"head": HEAD, "open": False}, Placement.CLOSED),
        ({"head": "c" * 40, "open": True}, Placement.STALE),
        ({"head": "c" * 40, "open": True, "merge": HEAD}, Placement.CREATED),
    ],
)
def test_only_on_an_open_pull_request_with_this_commit(
    forge: State, pull: dict[str, object], placement: Placement
) -> None:
    forge.pulls[7] = pull
    assert posted(forge).placement is placement
    assert len(forge.comments) == (placement is Placement.CREATED)


def test_the_pull_request_of_a_commit(forge: State) -> None:
    for number in range(8, 60):
        forge.pulls[number] = {"head": f"{number:040x}", "open": number != 20}
    with closing(connect(forge.project, TOKEN)) as connection:
        found = {pull.number for pull in connection.open_pulls() if f"{50:040x}" in pull.commits}
        assert found == {50}
        assert 20 not in {pull.number for pull in connection.open_pulls()}


@pytest.mark.parametrize("size", [65_536, 65_537, 10_000])
def test_a_body_at_the_limit(forge: State, size: int) -> None:
    forge.limit = size
    written = posted(forge, replace(POST, body=body))
    assert written.placement is Placement.CREATED
    assert len(forge.bodies()[0]) <= size
    assert len(forge.bodies()[0]) > size // 8


def test_a_forge_that_takes_almost_nothing(forge: State) -> None:
    forge.limit = 100
    assert refused(forge, replace(POST, body=body)).kind is RefusalKind.TOO_LONG


def refused(
    state: State, given: Post = POST, waits: Waits | None = None, token: str = TOKEN
) -> Refusal:
    with pytest.raises(Refusal) as caught:
        posted(state, given, waits, token)
    return caught.value


def sentence(state: State, refused: Refusal) -> str:
    error = forge_error(refused, state.project, 7)
    assert isinstance(error, ForgeError)
    said = str(error)
    assert "\n" not in said
    assert TOKEN not in said
    assert said.startswith(f"Nothing was posted: {state.project.host} for owner/name ")
    return said


def test_a_revoked_token(forge: State) -> None:
    refusal = refused(forge, token="token-that-was-revoked")
    assert refusal.kind is RefusalKind.TOKEN
    assert "does not accept the token" in sentence(forge, refusal)
    assert "token-that-was-revoked" not in sentence(forge, refusal)
    assert len(forge.requests) == 1


def test_a_pull_request_that_is_not_there(forge: State) -> None:
    refusal = refused(forge, replace(POST, number=8))
    assert refusal.kind is RefusalKind.MISSING
    assert "knows no pull request" in sentence(forge, refusal)


def test_a_token_without_the_right(forge: State) -> None:
    forge.faults = [Fault("POST", 403, body='{"message": "Resource not accessible"}')]
    refusal = refused(forge)
    assert refusal.kind is RefusalKind.RIGHTS
    assert "does not let this token comment (Resource not accessible)" in sentence(forge, refusal)


@pytest.mark.parametrize("status", [502, 503])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_bad_gateway_passes(forge: State, method: str, status: int) -> None:
    page = "<html>Bad Gateway</html>"
    forge.faults = [Fault(method, status, {"Content-Type": "text/html"}, page)] * 2
    waits = Waits()
    assert posted(forge, waits=waits).placement is Placement.CREATED
    assert waits == [1.0, 2.0]
    assert len(forge.comments) == 1


def test_a_bad_gateway_that_stays(forge: State) -> None:
    forge.faults = [Fault("GET", 502, body="<html>")] * 99
    waits = Waits()
    refusal = refused(forge, waits=waits)
    assert refusal.kind is RefusalKind.UNAVAILABLE
    assert sum(waits) <= 120
    assert "cannot be reached or does not answer as it should (502" in sentence(forge, refusal)


PAGE = "<html><title>Sign in</title></html>"
NOT_OF_A_FORGE = {
    "a page of HTML": (200, {"Content-Type": "text/html"}, PAGE),
    "a page called JSON": (200, {"Content-Type": "application/json"}, PAGE),
    "an empty list": (200, {}, "[]"),
    "an empty object": (200, {}, "{}"),
    "a list of numbers": (200, {}, "[1, 2]"),
    "a text": (200, {}, '"hello"'),
    "nothing": (200, {}, "null"),
    "no content": (204, {}, ""),
    "a redirect to a log-in": (302, {"Location": "/login", "Content-Type": "text/html"}, PAGE),
    "a redirect elsewhere": (302, {"Location": "https://sso.example.org/"}, PAGE),
    "a redirect to nowhere": (301, {}, ""),
    "a redirect to itself": (307, {"Location": "/api/v3/user"}, ""),
}


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("fault", NOT_OF_A_FORGE.values(), ids=list(NOT_OF_A_FORGE))
def test_what_is_no_answer_of_a_forge_is_a_sentence(
    forge: State, method: str, fault: tuple[int, dict[str, str], str]
) -> None:
    """A proxy, a maintenance page, a single sign-on, an address that moved: no bug of ours."""
    status, headers, content = fault
    forge.faults = [Fault(method, status, headers, content)] * 99
    said: list[str] = []
    waits = Waits()
    ended: Refusal | Posted
    with closing(connect(forge.project, TOKEN)) as connection:
        try:
            ended = post(connection, POST, replace(waits.patience(), say=said.append))
        except Refusal as refusal:
            ended = refusal
    if isinstance(ended, Refusal):  # an empty list is an answer, of a pull request without comments
        assert sentence(forge, ended).startswith("Nothing was posted: ")
        assert "report it" not in sentence(forge, ended)
    assert len(said) == len(waits)
    assert all("it is asked again in" in each for each in said)


@pytest.mark.parametrize("given", [POST, replace(POST, body=body)])
def test_an_answer_that_was_lost_leaves_one_comment(forge: State, given: Post) -> None:
    forge.faults = [Fault("POST", 0)]
    assert posted(forge, given).placement is Placement.UNCHANGED
    assert len(forge.comments) == 1


FAULTS = st.builds(
    Fault,
    st.sampled_from(["GET", "POST", "PATCH"]),
    st.sampled_from([0, 403, 404, 429, 500, 502, 503]),
    st.sampled_from([{}, {"Retry-After": "1"}]),
    st.sampled_from(["{}", "<html>", '{"message": "secondary rate limit"}']),
    st.sampled_from(["", "comments", "pulls", "user"]),
)


@given(faults=st.lists(FAULTS, max_size=6), more=st.lists(FAULTS, max_size=4))
@settings(max_examples=20)
def test_whatever_goes_wrong_there_is_one_comment(faults: list[Fault], more: list[Fault]) -> None:
    with serving(State(ForgeKind.GITEA)) as state:
        for coming, wanted in ((faults, POST), (more, replace(POST, body=body))):
            state.faults = list(coming)
            with suppress(Refusal):
                posted(state, wanted)
            assert len(state.comments) <= 1
        state.faults.clear()
        posted(state)
        assert state.bodies() == [f"{MARKER}\nhello"]


def test_no_server_at_all(forge: State) -> None:
    gone = replace(forge.project, server="http://127.0.0.1:9")
    with closing(connect(gone, TOKEN)) as connection, pytest.raises(Refusal) as caught:
        post(connection, POST, Waits().patience(10))
    assert caught.value.kind is RefusalKind.UNAVAILABLE


def test_a_forge_that_hangs_is_waited_for_aloud(
    forge: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes connections and answers none: each time it is waited for, a line says so."""
    for kind in ("github", "gitlab", "gitea"):
        monkeypatch.setattr(f"afterd.forge.{kind}._TIMEOUT", 1)
    said: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with closing(connect(replace(forge.project, server=server), TOKEN)) as connection:
            waits = Waits()
            with pytest.raises(Refusal) as caught:
                post(connection, POST, replace(waits.patience(2), say=said.append))
    assert caught.value.kind is RefusalKind.UNAVAILABLE
    assert len(waits) == 1
    assert len(said) == 1
    assert all("it is asked again in" in each for each in said)


def now(seconds: float = 0) -> str:
    return str(int(time.time() + seconds))


PRIMARY = {"X-RateLimit-Remaining": "0", "X-RateLimit-Limit": "5000"}
SECONDARY = '{"message": "You have exceeded a secondary rate limit. Please wait."}'


@pytest.mark.parametrize(
    ("status", "headers", "said", "least", "most"),
    [
        (429, {"Retry-After": "7"}, "{}", 7, 7),
        (403, {"Retry-After": "7"}, SECONDARY, 7, 7),
        (403, {}, SECONDARY, 60, 60),
        (429, {}, "{}", 60, 60),
        (403, PRIMARY | {"X-RateLimit-Reset": now(30)}, "{}", 0, 31),
        (429, {"RateLimit-Remaining": "0", "RateLimit-Reset": now(30)}, "{}", 0, 31),
        (503, {"Retry-After": "9"}, "{}", 9, 9),
        # the forge's clock goes an hour before ours, or ours an hour after
        (403, PRIMARY | {"X-RateLimit-Reset": now(3630), "Date": formatdate(time.time() + 3600)}, "{}", 29, 32),
        (429, {"Retry-After": formatdate(time.time() - 3595), "Date": formatdate(time.time() - 3600)}, "{}", 4, 6),
    ],
)  # fmt: skip
def test_what_the_forge_asks_to_wait_is_waited(
    forge: State,
    status: int,
    headers: dict[str, str],
    said: str,
    least: int,
    most: int,
) -> None:
    forge.faults = [Fault("POST", status, headers, said)]
    waits = Waits()
    assert posted(forge, waits=waits).placement is Placement.CREATED
    assert len(forge.comments) == 1
    [wait] = waits
    assert least <= wait <= most


def test_a_limit_that_lasts_an_hour_is_said_and_not_waited(forge: State) -> None:
    forge.faults = [Fault("GET", 429, {"Retry-After": "3600"})]
    waits = Waits()
    refusal = refused(forge, waits=waits)
    assert waits == []
    assert refusal.wait == 3600
    assert "takes no more requests for now; try again after" in sentence(forge, refusal)
    day = Refusal(RefusalKind.LIMITED, "", 26 * 3600.0)
    date = time.strftime("%Y-%m-%d", time.gmtime(time.time() + 26 * 3600))
    assert f"try again after {date}" in sentence(forge, day)


def test_a_job_of_actions_may_not_ask_who_it_is(
    github: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    github.may_ask_user = False
    github.add("github-actions[bot]", f"{MARKER}\nold")
    assert posted(github).placement is Placement.EDITED
    nameless = Fault("POST", 403, body="{}", part="graphql")
    github.faults = [nameless]
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert posted(github).placement is Placement.UNCHANGED
    github.faults = [nameless]
    monkeypatch.delenv("GITHUB_ACTIONS")
    assert "whose token" in refused(github).said


def test_a_check_run_with_annotations_is_left_and_replaced(github: State) -> None:
    assert posted(github, replace(POST, check=CHECK)).is_checked
    assert posted(github, replace(POST, check=replace(CHECK, title="none"))).is_checked
    assert [run["output"]["title"] for run in github.checks] == ["none"]
    assert github.left[1]["output"]["annotations"] == [
        {"path": "f.c", "start_line": 3, "end_line": 4, "annotation_level": "warning",
         "title": "c2", "message": "did it"}
    ]  # fmt: skip


def test_a_token_that_may_not_leave_check_runs_still_comments(forge: State) -> None:
    forge.may_check = False
    done = posted(forge, replace(POST, check=CHECK))
    assert (done.placement, done.is_checked) == (Placement.CREATED, False)


def test_pages_that_lead_to_another_server_are_not_followed(github: State) -> None:
    links = {"Link": '<http://127.0.0.2:9/evil?page=2>; rel="next"'}
    page = '[{"id": 1, "user": {"login": "x"}, "body": "x", "html_url": "http://x/"}]'
    github.faults = [Fault("GET", 200, links, page, part="comments")]
    assert refused(github).kind is RefusalKind.MOVED


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_token_follows_no_redirect_to_another_server(
    forge: State, method: str, status: int
) -> None:
    """GitLab's is in a header of its own, which requests would take along."""
    with serving(State(forge.kind)) as other:
        elsewhere = {"Location": f"{other.server}/sign-in"}
        forge.faults = [Fault(method, status, elsewhere)] * 99
        refusal = refused(forge)
        assert other.requests == []
    assert sentence(forge, refusal).startswith("Nothing was posted: ")
    if forge.kind is not ForgeKind.GITHUB:
        assert refusal.kind is RefusalKind.MOVED
