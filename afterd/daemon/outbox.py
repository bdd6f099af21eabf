"""What the daemon has to say at a forge: an artefact and a row; posting is another process's work."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pygit2

from afterd.config import Settings
from afterd.daemon.examination import Examined
from afterd.errors import ConfigurationError
from afterd.forge.project import Project, project_of
from afterd.report.json import document
from afterd.report.verdicts import TestVerdict, VerdictKind, actionable
from afterd.store import Store
from afterd.store.outgoing import Outgoing, OutgoingState, add_outgoing, outgoing_of
from afterd.store.verdicts import StoredVerdict, verdicts_at
from afterd.vcs.repository import common_directory, open_repository, state_directory

FOLDER = "outgoing"


def put_out(settings: Settings, store: Store, examined: Examined) -> bool:
    """Put a commit's verdicts into the outbox, once; whether there was anything to say.

    To be called inside the transaction that ends the commit's job. There is something to say when
    its author can act on it, and when what was said of its branch before no longer holds.
    """
    repository = open_repository(settings.repository)
    project = _project(repository)
    if project is None:
        return False
    wanted, branch = examined.wanted, _branch(examined.wanted.ref)
    earlier = outgoing_of(store, project.server, project.path, branch)
    said = any(row.state in (OutgoingState.SENT, OutgoingState.QUEUED) for row in earlier)
    if not said and not actionable([verdict_of(verdict) for verdict in examined.verdicts]):
        return False
    if _is_known(store, str(common_directory(repository)), earlier, examined):
        return False
    name = f"{branch.replace('/', '-')[:60]}-{wanted.commit}.json"
    body = state_directory(repository) / FOLDER / name
    _write(body, artefact(settings, examined))
    ids = [each.explanation_id for each in examined.verdicts if each.explanation_id is not None]
    key = f"{project.server} {project.path} {branch} {wanted.commit}"
    row = Outgoing(
        key,
        project.server,
        project.path,
        branch,
        wanted.commit,
        0,
        str(body),
        next(iter(ids), None),
    )
    add_outgoing(store, row)
    return True


def _is_known(store: Store, name: str, earlier: Sequence[Outgoing], examined: Examined) -> bool:
    """Whether the comment that is there says it already, and why: the same tests are red since then."""
    there = [row for row in earlier if row.state is not OutgoingState.DROPPED]
    if not examined.verdicts or not there or there[-1].state is not OutgoingState.SENT:
        return False
    told = {each.test for each in verdicts_at(store, name, there[-1].commit_id)}
    return told == {each.test for each in examined.verdicts} and all(
        each.kind == VerdictKind.ALREADY_RED for each in examined.verdicts
    )


def artefact(settings: Settings, examined: Examined) -> str:
    """The document that ``afterd comment --from`` reads."""
    whole = {
        **document(examined.explanations, str(settings.repository)),
        "commit": examined.wanted.commit,
        "verdicts": [asdict(verdict_of(verdict)) for verdict in examined.verdicts],
    }
    return json.dumps(whole, indent=2, allow_nan=False) + "\n"


def verdict_of(stored: StoredVerdict) -> TestVerdict:
    """A stored verdict as reports know it."""
    return TestVerdict(stored.test, VerdictKind(stored.kind), stored.rate, stored.reason)


def _project(repository: pygit2.Repository) -> Project | None:
    """The project behind the remote ``origin``, or the only one; None: there is none at a forge."""
    remotes = {remote.name: remote.url for remote in repository.remotes if remote.name}
    address = remotes.get("origin") or next(iter(remotes.values()), None)
    for kind in ("", "gitlab"):  # a host that says nothing: the poster knows which forge it is
        try:
            return project_of(address or "", kind)
        except ConfigurationError:
            continue
    return None


def _branch(ref: str) -> str:
    """The branch as the forge knows it: without ``refs/heads/`` or ``refs/remotes/NAME/``."""
    if ref.startswith("refs/remotes/"):
        return ref.split("/", 3)[-1]
    return ref.removeprefix("refs/heads/")


def _write(path: Path, text: str) -> None:
    """There whole or not at all, before the row that names it is."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    fresh = path.with_suffix(f".{os.getpid()}")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)
