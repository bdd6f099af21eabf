"""Addresses are read strictly, and a token goes only where it is for."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterd.errors import AfterdError, ConfigurationError, ForgeError
from afterd.forge import ForgeKind, Project, connect, project_of, token_for
from afterd.forge.project import address_in

COMMIT = "c" * 40


@pytest.mark.parametrize(
    ("address", "project"),
    [
        ("https://github.com/o/n", Project(ForgeKind.GITHUB, "https://github.com", "o/n")),
        ("https://user:secret@github.com/o/n.git", Project(ForgeKind.GITHUB, "https://github.com", "o/n")),
        ("git@github.com:o/n.git", Project(ForgeKind.GITHUB, "https://github.com", "o/n")),
        ("ssh://git@github.com:22/o/n.git", Project(ForgeKind.GITHUB, "https://github.com", "o/n")),
        ("git@gitlab.com:group/sub/n.git", Project(ForgeKind.GITLAB, "https://gitlab.com", "group/sub/n")),
        ("https://gitlab.example:8443/g/n/", Project(ForgeKind.GITLAB, "https://gitlab.example:8443", "g/n")),
        ("https://codeberg.org/o/n", Project(ForgeKind.GITEA, "https://codeberg.org", "o/n")),
        ("https://git.example/forgejo/o/n", None),
        ("https://forgejo.example/sub/o/n", Project(ForgeKind.GITEA, "https://forgejo.example/sub", "o/n")),
        ("https://corp.ghe.com/o/n", Project(ForgeKind.GITHUB, "https://corp.ghe.com", "o/n")),
        ("https://github.gitlab.example/o/n", None),
        ("/srv/git/n.git", None),
        ("file:///srv/git/n.git", None),
        ("https://github.com/o", None),
        ("https://github.com/o/..", None),
        ("https://github.com/o/n?x=1#y", Project(ForgeKind.GITHUB, "https://github.com", "o/n")),
        ("https://github.com/o/n%2f", None),
        ("javascript:alert(1)//o/n", None),
        ("", None),
    ],
)  # fmt: skip
def test_addresses(address: str, project: Project | None) -> None:
    if project is not None:
        assert project_of(address) == project
        return
    with pytest.raises(ConfigurationError) as caught:
        project_of(address)
    assert "secret" not in str(caught.value)


@given(st.text(max_size=40))
def test_any_text_is_a_project_or_a_sentence(text: str) -> None:
    try:
        project = project_of(text, "gitea")
    except ConfigurationError:
        return
    assert "@" not in project.server
    assert ".." not in project.path.split("/")


@pytest.mark.parametrize(
    ("kind", "server", "api", "link"),
    [
        ("github", "https://github.com", "https://api.github.com", "/blob/"),
        ("github", "https://git.corp", "https://git.corp/api/v3", "/blob/"),
        ("github", "https://corp.ghe.com", "https://api.corp.ghe.com", "/blob/"),
        ("gitlab", "https://gitlab.com", "https://gitlab.com", "/-/blob/"),
        ("gitea", "https://x.org/sub", "https://x.org/sub/api/v1", "/src/commit/"),
    ],
)
def test_where_requests_and_links_go(kind: str, server: str, api: str, link: str) -> None:
    project = Project(ForgeKind(kind), server, "o/n")
    assert project.api == api
    shown = project.permalink(COMMIT)
    assert shown("a b/ü#?.c", 7) == f"{server}/o/n{link}{COMMIT}/a%20b/%C3%BC%23%3F.c#L7"
    assert shown("f.c", 0) == f"{server}/o/n{link}{COMMIT}/f.c"
    assert shown("\udcff.c", 1).endswith("/%FF.c#L1")
    assert shown("", 3) == ""


def nobody(_host: str) -> None:
    return None


HUB = project_of("https://github.com/o/n")
ENTERPRISE = Project(ForgeKind.GITHUB, "https://git.corp", "o/n")
LAB = project_of("https://gitlab.com/o/n")
OWN_LAB = Project(ForgeKind.GITLAB, "https://gitlab.corp", "o/n")
BERG = project_of("https://codeberg.org/o/n")
TEA = Project(ForgeKind.GITEA, "https://gitea.corp", "o/n")


@pytest.mark.parametrize(
    ("project", "environment", "token"),
    [
        (HUB, {"GITHUB_TOKEN": "a"}, "a"),
        (HUB, {"GITHUB_TOKEN": "a", "GH_TOKEN": "b", "AFTERD_FORGE_TOKEN": "c"}, "c"),
        (HUB, {"GITHUB_TOKEN": "a", "GITHUB_SERVER_URL": "https://git.corp"}, None),
        (HUB, {"GITLAB_TOKEN": "a", "GITEA_TOKEN": "b"}, None),
        (ENTERPRISE, {"GITHUB_TOKEN": "a"}, None),
        (ENTERPRISE, {"GITHUB_TOKEN": "a", "GITHUB_SERVER_URL": "https://git.corp"}, "a"),
        (ENTERPRISE, {"GH_ENTERPRISE_TOKEN": "e", "GH_HOST": "git.corp"}, "e"),
        (ENTERPRISE, {"GH_ENTERPRISE_TOKEN": "e", "GH_HOST": "elsewhere"}, None),
        (LAB, {"GITLAB_TOKEN": "l"}, "l"),
        (OWN_LAB, {"GITLAB_TOKEN": "l"}, None),
        (OWN_LAB, {"GITLAB_TOKEN": "l", "CI_SERVER_URL": "https://gitlab.corp"}, "l"),
        (BERG, {"FORGEJO_TOKEN": "f"}, "f"),
        (TEA, {"GITEA_TOKEN": "t"}, None),
        (TEA, {"GITEA_TOKEN": "t", "GITHUB_SERVER_URL": "https://gitea.corp"}, "t"),
        (TEA, {"GITHUB_TOKEN": "r", "GITHUB_SERVER_URL": "https://gitea.corp"}, "r"),
        (TEA, {"AFTERD_FORGE_TOKEN": " any\n"}, "any"),
        (HUB, {}, None),
    ],
)
def test_a_token_goes_only_to_its_server(
    project: Project, environment: dict[str, str], token: str | None
) -> None:
    if token is not None:
        assert token_for(project, environment, nobody) == token
        return
    with pytest.raises(ForgeError, match="There is no token for") as caught:
        token_for(project, environment, nobody)
    assert "keyring set afterd" in str(caught.value)


def test_the_keyring_is_asked_by_host_after_the_environment() -> None:
    asked: list[str] = []

    def keyring(host: str) -> str:
        asked.append(host)
        return "kept"

    assert token_for(OWN_LAB, {}, keyring) == "kept"
    assert token_for(HUB, {"GH_TOKEN": "a"}, keyring) == "a"
    assert asked == ["gitlab.corp"]


def test_the_systems_keyring_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    with pytest.raises(ForgeError, match="There is no token"):
        token_for(OWN_LAB, {})


@pytest.mark.parametrize("token", ["a b", "a\nb", "ä", "a\x1bb"])
def test_what_no_token_is_is_not_sent(token: str) -> None:
    with pytest.raises(ForgeError, match="characters that no token has") as caught:
        token_for(HUB, {"GH_TOKEN": token}, nobody)
    assert token not in str(caught.value)


@pytest.mark.parametrize("server", ["http://git.corp", "http://127.0.0.1.evil.example"])
def test_no_token_in_clear(server: str) -> None:
    with pytest.raises(ForgeError, match="without TLS"):
        connect(Project(ForgeKind.GITEA, server, "o/n"), "token")


def test_what_a_ci_service_says() -> None:
    actions = {"GITHUB_SERVER_URL": "https://h", "GITHUB_REPOSITORY": "o/n"}
    assert address_in(actions) == ("https://h/o/n", "github")
    assert address_in(actions | {"GITEA_ACTIONS": "true"}) == ("https://h/o/n", "gitea")
    assert address_in({"CI_PROJECT_URL": "https://l/g/n"}) == ("https://l/g/n", "gitlab")
    assert address_in({}) == ("", "")


def test_without_the_extra_a_sentence_says_what_to_install() -> None:
    script = (
        "import sys; sys.modules['github'] = None\n"
        "from afterd.forge import connect, project_of\n"
        "from afterd.errors import ForgeError\n"
        "try: connect(project_of('https://github.com/o/n'), 't')\n"
        "except ForgeError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "pip install 'afterd[forge]'" in done.stdout


def test_every_refusal_is_an_error_of_ours() -> None:
    assert issubclass(ForgeError, AfterdError)
