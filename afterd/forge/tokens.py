"""Where a token is looked for: the environment, then the system's keyring. It is never logged.

A token of the environment goes only to the server that it is for: one that was made for another
would be given away.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping

from afterd.errors import ForgeError
from afterd.forge.project import ForgeKind, Project

SERVICE = "afterd"  # the keyring's name for our tokens; the user is the forge's host
Keyring = Callable[[str], str | None]


def token_for(
    project: Project, environment: Mapping[str, str], keyring: Keyring | None = None
) -> str:
    """The token for a project; raises ForgeError when there is none, or no token can look so."""
    for name in _variables(project, environment):
        if token := environment.get(name, "").strip():
            return _checked_token(token, name)
    kept = (keyring or _keyring)(project.host)
    if kept:
        return _checked_token(kept.strip(), "the keyring")
    names = ", ".join(dict.fromkeys(_variables(project, environment)))
    raise ForgeError(
        f"There is no token for {project.host}: set {names}, or keep one in the keyring with"
        f" `keyring set {SERVICE} {project.host}`."
    )


def _variables(project: Project, environment: Mapping[str, str]) -> Iterator[str]:
    """The variables whose token is for this project's server, best first."""
    yield "AFTERD_FORGE_TOKEN"
    actions = environment.get("GITHUB_SERVER_URL", "").rstrip("/")
    match project.kind:
        case ForgeKind.GITHUB:
            if project.server == (actions or "https://github.com"):
                yield from ("GH_TOKEN", "GITHUB_TOKEN")
            if project.host == environment.get("GH_HOST"):
                yield from ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
        case ForgeKind.GITLAB:
            if project.server == environment.get("CI_SERVER_URL", "https://gitlab.com").rstrip("/"):
                yield "GITLAB_TOKEN"
        case ForgeKind.GITEA:
            if project.server == (actions or "https://codeberg.org"):
                yield from ("GITEA_TOKEN", "FORGEJO_TOKEN")
            if project.server == actions:
                yield "GITHUB_TOKEN"  # the runners of Gitea and Forgejo name it so


def _checked_token(token: str, where: str) -> str:
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise ForgeError(
            f"The token in {where} has characters that no token has; set it once more."
        )
    return token


def _keyring(host: str) -> str | None:
    """The system's keyring, where it is installed and can be asked."""
    try:
        keyring = importlib.import_module("keyring")
    except ImportError:
        return None
    try:
        found = keyring.get_password(SERVICE, host)
    except Exception:  # noqa: BLE001 - backends raise whatever the desktop's services do
        return None
    return found if isinstance(found, str) else None
