"""What in an environment is secret: told by a variable's name, by what its value looks like, or both.

Names alone let ``PGPASSWORD``, ``NPM_CONFIG__AUTH`` and every password within an address through
(``DATABASE_URL``, ``PIP_INDEX_URL``), and a token has a well-known beginning whatever it is called.
Shapes are those that the forges' and clouds' secret scanners publish; an entropy is not asked for,
because a commit's id has as much of it as a token.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from urllib.parse import unquote

_WORDS = (
    r"(TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|PASS|PASSCODE|CREDENTIALS?|CREDS|PAT|COOKIES?|JWT|JWE"
    r"|WEBHOOK|DSN|APIKEYS?|HTPASSWD|KEYSTORE|CONNECTION_?STRING|CONN_?STR)"
)
_NAMES = re.compile(
    rf"(^|_){_WORDS}(_|\d*$)"
    r"|(TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|APIKEY|PASSFILE)(_FILE)?\d*$"  # PGPASSWORD, authToken
    r"|(^|_)(AUTH|PWD|SAS)$"  # NPM_CONFIG__AUTH, MYSQL_PWD
    r"|(API|ACCESS|PRIVATE|SIGNING|DEPLOY|ENCRYPTION|SECRET|MASTER|ACCOUNT|STORAGE|SSH|GPG|HMAC|AES|RSA)"
    r"_?KEYS?(_|\d*$)"
    r"|^ACTIONS_(RUNTIME|ID_TOKEN|CACHE|RESULTS)_"
    r"|^(SSH_AUTH_SOCK|SSH_AGENT_PID|SSH_ASKPASS|GIT_ASKPASS|GPG_AGENT_INFO|NETRC|DOCKER_AUTH_CONFIG"
    r"|DBUS_SESSION_BUS_ADDRESS|KUBECONFIG|VAULT_ADDR|GOOGLE_APPLICATION_CREDENTIALS)$",
    re.IGNORECASE,
)
_NO_SECRET = frozenset({"PWD", "OLDPWD"})  # where the shell stands

_SHAPES = re.compile(
    r"\b(gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{30,}|gl(pat|ptt|dt|rt|cbt|agent|imt|soat)-[\w.-]{18,}"
    r"|xox[a-z]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}|(AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{35}|ya29\.[\w-]{20,}"
    r"|(sk|rk|pk)_(live|test)_[A-Za-z0-9]{16,}|sk-[\w-]{20,}|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{40,}"
    r"|hf_[A-Za-z0-9]{30,}|dckr_pat_[\w-]{20,}|dop_v1_[0-9a-f]{40,}|hvs\.[\w-]{20,}|SG\.[\w-]{16,}\.[\w-]{16,}"
    r"|glsa_\w{30,}|lin_api_\w{30,}|shp(at|ss|ca|pa)_[0-9a-f]{30,}|sq0(atp|csp)-[\w-]{20,}"
    r"|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*)"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*"
    r"|\bhooks\.slack\.com/(services|workflows)/\S+|\bdiscord(app)?\.com/api/webhooks/\S+"
    r"|\b[\w.-]+\.webhook\.office\.com/\S+",
    re.DOTALL,
)
_USER = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://([^/?#\s]*)@")
_NAMED = re.compile(  # Server=…;Password=…  host=… password=…  ?access_token=…
    r"(?:^|[\s;&?,])(?:[\w.]*(?:password|passwd|pwd|token|secret|accountkey|accesskey|apikey|api_key"
    r"|signature))\s*=\s*(?:'([^']+)'|\"([^\"]+)\"|([^\s;&'\"]+))",
    re.IGNORECASE,
)
_BEARER = re.compile(r"\b(?:Bearer|Basic|Token)\s+([\w.~+/=-]{8,})", re.IGNORECASE)
_USER_IS_TOKEN = 16  # characters: https://TOKEN@host, https://KEY@sentry.example/1


@lru_cache(maxsize=1024)
def is_secret(name: str, value: str) -> bool:
    """Whether a variable is one that a program under test must not see; asked of the same ones for each run."""
    return _named_secret(name) or any(secret_parts(name, value))


def secret_parts(name: str, value: str) -> Iterator[str]:
    """What is secret in a variable: all of its value by its name, and the parts that look so."""
    if _named_secret(name):
        yield value
    for user in _USER.findall(value):
        person, _, password = user.partition(":")
        yield from {password, unquote(password)} if password else ()
        if not password and len(person) >= _USER_IS_TOKEN:
            yield person
    for pattern in (_NAMED, _BEARER):
        for match in pattern.finditer(value):
            yield next(part for part in match.groups() if part)
    for match in _SHAPES.finditer(value):
        yield match[0]


def secrets_of(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Everything secret in an environment, to be blotted out of what a test may have printed."""
    parts = (part for name, value in environment.items() for part in secret_parts(name, value))
    return tuple(dict.fromkeys(part for part in parts if part))


def _named_secret(name: str) -> bool:
    return name not in _NO_SECRET and _NAMES.search(name) is not None
