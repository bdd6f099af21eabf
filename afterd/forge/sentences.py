"""A refusal as the one sentence a person reads."""

from __future__ import annotations

import time

from afterd.errors import ForgeError
from afterd.forge.project import ForgeKind, Project
from afterd.forge.refusal import Refusal, RefusalKind, clock

_RIGHTS = {
    ForgeKind.GITHUB: "pull-requests: write (of a classic token: repo)",
    ForgeKind.GITLAB: "the scope api and the role Reporter or above",
    ForgeKind.GITEA: "write:issue and read:repository and read:user",
}


def forge_error(refused: Refusal, project: Project, number: int) -> ForgeError:
    """What happened, where, and what to do."""
    where = f"{project.host} for {project.path}"
    said = f" ({' '.join(refused.said.split())})" if refused.said else ""
    match refused.kind:
        case RefusalKind.TOKEN:
            text = f"{where} does not accept the token{said}; make a new one and set it"
        case RefusalKind.RIGHTS:
            text = (
                f"{where} does not let this token comment{said}; it needs {_RIGHTS[project.kind]}"
            )
        case RefusalKind.MISSING:
            text = f"{where} knows no pull request {number}, or this token may not see it{said}"
        case RefusalKind.LIMITED:
            again = clock(time.time() + (refused.wait or 0.0))
            text = f"{where} takes no more requests for now{said}; try again after {again}"
        case RefusalKind.UNAVAILABLE:
            text = f"{where} cannot be reached or does not answer as it should{said}; try again"
        case RefusalKind.TOO_LONG:
            text = f"{where} finds even the shortest form of the comment too long{said}"
        case RefusalKind.INVALID:
            text = f"{where} does not understand the request{said}; please report it"
    return ForgeError(f"Nothing was posted: {text}.")
