"""Which project at which forge: read from an address, shown as addresses."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from afterd.errors import ConfigurationError


class ForgeKind(StrEnum):
    """The forges that are spoken to. Forgejo speaks as Gitea does."""

    GITHUB = "github"
    GITLAB = "gitlab"
    GITEA = "gitea"


_SCP = re.compile(r"(?:[^@/\s]+@)?(?P<host>[A-Za-z0-9.-]+):(?P<path>[^/\s].*)")
_SEGMENT = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.+-]*|-[A-Za-z0-9_.+-]+")
_KNOWN = {
    "github.com": ForgeKind.GITHUB,
    "gitlab.com": ForgeKind.GITLAB,
    "codeberg.org": ForgeKind.GITEA,
    "gitea.com": ForgeKind.GITEA,
}
_TELLING = {
    "github": ForgeKind.GITHUB,
    "gitlab": ForgeKind.GITLAB,
    "gitea": ForgeKind.GITEA,
    "forgejo": ForgeKind.GITEA,
}
_LINE = {
    ForgeKind.GITHUB: "{web}/blob/{commit}/{file}#L{line}",
    ForgeKind.GITLAB: "{web}/-/blob/{commit}/{file}#L{line}",
    ForgeKind.GITEA: "{web}/src/commit/{commit}/{file}#L{line}",
}


@dataclass(frozen=True, slots=True)
class Project:
    """``server`` is an address without a slash at its end, ``path`` names the project there."""

    kind: ForgeKind
    server: str
    path: str

    @property
    def web(self) -> str:
        """The address people open."""
        return f"{self.server}/{self.path}"

    @property
    def host(self) -> str:
        """The host, and its port where it has one."""
        return urllib.parse.urlsplit(self.server).netloc

    @property
    def api(self) -> str:
        """Where requests go (python-gitlab adds its own ending to the server's address)."""
        match self.kind:
            case ForgeKind.GITLAB:
                return self.server
            case ForgeKind.GITEA:
                return f"{self.server}/api/v1"
            case ForgeKind.GITHUB if self.host == "github.com":
                return "https://api.github.com"
            case ForgeKind.GITHUB if self.host.endswith(".ghe.com"):
                return f"https://api.{self.host}"
            case ForgeKind.GITHUB:
                return f"{self.server}/api/v3"

    def permalink(self, commit: str) -> Callable[[str, int], str]:
        """The address of a line of a file as it is in ``commit``."""

        def link(file: str, line: int) -> str:
            data = file.encode("utf-8", "surrogateescape" if _is_bytes(file) else "replace")
            quoted = urllib.parse.quote(data)
            url = _LINE[self.kind].format(web=self.web, commit=commit, file=quoted, line=line)
            return (url if line else url.removesuffix("#L0")) if file else ""

        return link


def project_of(address: str, kind: str = "") -> Project:
    """The project behind a web address or a git remote, credentials in it dropped.

    ``kind`` says which forge it is where the host does not. Raises ConfigurationError.
    """
    scp = _SCP.fullmatch(address) if "://" not in address else None
    split = urllib.parse.urlsplit(f"ssh://{scp['host']}/{scp['path']}" if scp else address)
    path = split.path.strip("/").removesuffix(".git")
    segments = path.split("/")
    if split.scheme not in {"https", "http", "ssh", "git"} or not split.hostname:
        raise ConfigurationError(_unknown_project("is no address of a project"))
    if len(segments) < 2 or not all(map(_SEGMENT.fullmatch, segments)) or ".." in segments:
        raise ConfigurationError(_unknown_project("does not name a project"))
    is_web = split.scheme in {"https", "http"}
    host = split.netloc.rpartition("@")[2] if is_web else split.hostname
    server = f"{split.scheme if is_web else 'https'}://{host.lower()}"
    found = ForgeKind(kind) if kind else _kind_of(split.hostname)
    if found is not ForgeKind.GITLAB and len(segments) > 2:  # a forge below a path of its host
        server = "/".join((server, *segments[:-2]))
        path = "/".join(segments[-2:])
    return Project(found, server, path)


def address_in(environment: Mapping[str, str]) -> tuple[str, str]:
    """The address and kind that a CI service gives its jobs; empty texts where there is none."""
    server, path = environment.get("GITHUB_SERVER_URL"), environment.get("GITHUB_REPOSITORY")
    if server and path:
        is_gitea = environment.get("GITEA_ACTIONS") or environment.get("FORGEJO_ACTIONS")
        return f"{server}/{path}", ForgeKind.GITEA if is_gitea else ForgeKind.GITHUB
    if address := environment.get("CI_PROJECT_URL", ""):
        return address, ForgeKind.GITLAB
    return "", ""


def _kind_of(host: str) -> ForgeKind:
    named = [kind for word, kind in _TELLING.items() if word in host]
    if host in _KNOWN or host.endswith(".ghe.com"):
        return _KNOWN.get(host, ForgeKind.GITHUB)
    if len(named) != 1:
        raise ConfigurationError(
            f"Which forge {host} is cannot be told from its name;"
            " say it with --forge github, gitlab or gitea."
        )
    return named[0]


def _unknown_project(why: str) -> str:
    # the address itself may hold a password, so it is not repeated
    return f"The project's address {why}; give one such as https://github.com/owner/name."


def _is_bytes(text: str) -> bool:
    """Whether its surrogates, if any, are escaped bytes."""
    return not any(
        "\ud800" <= char <= "\udfff" and not "\udc80" <= char <= "\udcff" for char in text
    )
