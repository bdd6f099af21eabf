"""From a project and a token to its forge; the client is imported only when it is used."""

from __future__ import annotations

import importlib
import urllib.parse

from afterd.errors import ForgeError
from afterd.forge.project import Project
from afterd.forge.protocol import Forge

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def connect(project: Project, token: str) -> Forge:
    """A connection that is made with the first request.

    Raises ForgeError where the client is not installed, or where the token would travel in clear.
    """
    split = urllib.parse.urlsplit(project.api)
    if split.scheme != "https" and split.hostname not in _LOOPBACK:
        raise ForgeError(f"The token is not sent to {project.server} without TLS; use https.")
    try:
        module = importlib.import_module(f"afterd.forge.{project.kind.value}")
    except ImportError as error:
        raise ForgeError(
            f"The client for {project.kind.value} is not installed ({error.name});"
            " run `pip install 'afterd[forge]'`."
        ) from error
    forge: Forge = module.connected_project(project, token)
    return forge
