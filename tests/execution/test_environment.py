"""What reaches a program under test, and what does not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterd.execution.environment import (
    GIT_LOCAL,
    REPEATABLE,
    digest,
    removal_reason,
    scrubbed_environment,
)
from afterd.execution.process import Command
from afterd.execution.sandbox import run
from afterd.limits import ProcessLimits

KEPT = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "CC", "CFLAGS", "VIRTUAL_ENV", "GIT_AUTHOR_NAME"]
KEPT += ["KEYBOARD", "MONKEY", "TOKENIZERS_PARALLELISM", "PATTERN", "GOPATH", "CARGO_HOME"]

SECRET = ["GITHUB_TOKEN", "GH_TOKEN", "GITLAB_TOKEN", "GITEA_TOKEN", "CI_JOB_TOKEN", "NPM_TOKEN"]
SECRET += ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "OPENAI_API_KEY", "DB_PASSWORD", "API_KEY"]
SECRET += ["SSH_AUTH_SOCK", "GIT_ASKPASS", "ACTIONS_RUNTIME_URL", "ACTIONS_ID_TOKEN_REQUEST_URL"]
SECRET += ["AFTERD_GITHUB_TOKEN", "github_token", "SIGNING_KEY", "APP_CREDENTIALS", "GITHUB_PAT"]


@pytest.mark.parametrize("name", KEPT)
def test_what_programs_need_is_kept(name: str) -> None:
    assert removal_reason(name) == ""
    assert scrubbed_environment({name: "x"})[name] == "x"


@pytest.mark.parametrize("name", [*SECRET, *sorted(GIT_LOCAL), "GIT_CONFIG_KEY_0", "PWD", "TMPDIR"])
def test_secrets_and_foreign_repositories_are_removed(name: str) -> None:
    assert removal_reason(name)
    assert name not in scrubbed_environment({name: "x"})


def test_what_the_user_configured_is_set_as_it_is() -> None:
    environment = scrubbed_environment({}, extra={"MY_TOKEN": "configured", "PYTHONHASHSEED": "7"})
    assert environment["MY_TOKEN"] == "configured"
    assert environment["PYTHONHASHSEED"] == "7"


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_git_itself_names_no_other_local_variable(tmp_path: Path) -> None:
    """The list is git's own; a newer git that knows more is told apart here, not in the field."""
    command = Command(("git", "rev-parse", "--local-env-vars"), tmp_path, scrubbed_environment())
    result = run(command, ProcessLimits(timeout=20.0), scratch=tmp_path)
    named = result.stdout.text().split()
    assert len(named) > 10
    assert [name for name in named if not removal_reason(name)] == []


NAMES = st.text(st.characters(codec="ascii", exclude_characters="=\0"), min_size=1)
ENVIRONMENTS = st.dictionaries(NAMES, st.text(st.characters(exclude_characters="\0")))


@given(ENVIRONMENTS)
def test_scrubbing_twice_is_scrubbing_once(environment: dict[str, str]) -> None:
    once = scrubbed_environment(environment)
    assert scrubbed_environment(once) == once
    assert once.items() >= REPEATABLE.items()


@given(
    st.dictionaries(NAMES, st.text("ab=\n")),
    st.dictionaries(NAMES, st.text("ab=\n")),
)
def test_the_digest_is_of_content_not_of_order(a: dict[str, str], b: dict[str, str]) -> None:
    assert digest(a) == digest(dict(reversed(a.items())))
    assert (digest(a) == digest(b)) == (a == b)
