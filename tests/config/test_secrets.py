"""What of an environment is secret, by name and by the shape of its value, and what is not."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from afterd.config.secrets import is_secret, secrets_of
from afterd.execution.environment import removal_reason, scrubbed_environment

BY_NAME = [
    "PGPASSWORD",
    "JWT",
    "NPM_CONFIG__AUTH",
    "npm_config_//registry/:_authToken",
    "MYSQL_PWD",
]
BY_NAME += [
    "SLACK_WEBHOOK_URL",
    "PGPASSFILE",
    "DB_PASS",
    "RAILS_MASTER_KEY",
    "SENTRY_DSN",
    "JWT_SECRET",
]
BY_NAME += [
    "AZURE_STORAGE_KEY",
    "REDISCLI_AUTH",
    "SESSION_COOKIE",
    "AWS_ACCESS_KEY_ID",
    "PASSWORD2",
]

# Put together here, so that nobody's secret scanner takes this file for a leak.
TOKEN = "a1B2c3D4e5" * 4
BY_VALUE = {
    "DATABASE_URL": ("postgres://me:hunter%402@db.example/x", ["hunter%402", "hunter@2"]),
    "PIP_INDEX_URL": ("https://me:s3cret@pypi.example/simple https://x/y", ["s3cret"]),
    "REDIS_URL": ("redis://:s3cret@cache:6379/0", ["s3cret"]),
    "UPSTREAM": (f"https://{TOKEN}@git.example/r.git", [TOKEN]),
    "HTTPS_PROXY": ("http://me:s3cret@proxy:3128", ["s3cret"]),
    "CONNECTION": ("Server=db;User=me;Password=s3cret;Port=1", ["s3cret"]),
    "LIBPQ": ("host=db password='s3 cret' user=me", ["s3 cret"]),
    "CALLBACK": (f"https://api.example/x?access_token={TOKEN}", [TOKEN]),
    "HEADERS": (f"Authorization: Bearer {TOKEN}", [TOKEN]),
    "A": ("gh" + f"p_{TOKEN}", ["gh" + f"p_{TOKEN}"]),
    "B": ("gl" + f"pat-{TOKEN}", ["gl" + f"pat-{TOKEN}"]),
    "C": ("xox" + f"b-{TOKEN}", ["xox" + f"b-{TOKEN}"]),
    "D": ("AKI" + "A" + "Z7" * 8, ["AKI" + "A" + "Z7" * 8]),
    "E": (f"eyJ{TOKEN}.eyJ{TOKEN}.{TOKEN}", [f"eyJ{TOKEN}.eyJ{TOKEN}.{TOKEN}"]),
    "F": (f"-----BEGIN RSA PRIVATE KEY-----\n{TOKEN}", [f"-----BEGIN RSA PRIVATE KEY-----\n{TOKEN}"]),
    "G": (f"https://hooks.slack.com/services/T0/B0/{TOKEN}", [f"hooks.slack.com/services/T0/B0/{TOKEN}"]),
}  # fmt: skip
HARMLESS = {
    "GITHUB_SHA": "0123456789abcdef0123456789abcdef01234567",
    "GITHUB_REPOSITORY": "owner/name",
    "REMOTE": "ssh://git@host.example:22/r.git",
    "URL": "https://user@host.example:8080/a:b@c",
    "PROXY": "http://proxy:3128",
    "PATH": "/usr/bin:/home/me/.password-store/bin",
    "CFLAGS": "-DTOKEN=1 -O2",
    "PWD": "/x",
    "GIT_AUTHOR_NAME": "A. U. Thor",
    "AUTHORITY": "x",
    "BYPASS": "1",
    "KEYS_DIR": "/x",
}


@pytest.mark.parametrize("name", BY_NAME)
def test_a_name_says_so(name: str) -> None:
    assert is_secret(name, "")
    assert secrets_of({name: "value"}) == ("value",)


@pytest.mark.parametrize("name", BY_VALUE)
def test_a_value_says_so(name: str) -> None:
    value, parts = BY_VALUE[name]
    assert is_secret(name, value)
    assert set(parts) <= set(secrets_of({name: value}))
    assert removal_reason(name) == ""
    assert removal_reason(name, value)
    assert name not in scrubbed_environment({name: value})


@pytest.mark.parametrize("name", HARMLESS)
def test_what_only_looks_a_little_so_is_kept(name: str) -> None:
    assert not is_secret(name, HARMLESS[name])


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_what_proc_shows_of_this_process_is_blotted_out() -> None:
    """Also for root, whom nothing hinders from reading it; the variables themselves stay."""
    code = (
        "import json, os; from afterd.execution.unreadable import make_unreadable;"
        " hidden = make_unreadable(); shown = open('/proc/self/environ', 'rb').read();"
        " print(json.dumps([hidden, shown.decode(), dict(os.environ)]))"
    )
    secret = {"PGPASSWORD": "hunter2x", "DATABASE_URL": "postgres://me:hunter2x@db/x", "LAST": "z"}
    kept = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=kept | secret, capture_output=True, check=True
    )
    hidden, shown, environment = json.loads(done.stdout)
    assert hidden
    assert "hunter2x" not in shown
    assert f"PATH={kept['PATH']}" in shown
    assert "LAST=z" in shown
    assert environment.items() >= secret.items()
