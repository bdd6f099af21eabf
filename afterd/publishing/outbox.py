"""What the daemon left to be posted, posted: each row until it is done or never will be.

Only one process posts from a database at a time; dying between the forge's answer and the row's
update is harmless, because the comment is found again.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from afterd.errors import AfterdError, ForgeError, StoreError
from afterd.forge import Placement, Posted, Project, forge_error, project_of
from afterd.forge.refusal import PASSING, Refusal
from afterd.publishing.publisher import publish, read_answer
from afterd.store import Store, open_store
from afterd.store.outgoing import (
    Outgoing,
    OutgoingState,
    due_postings,
    mark_failed,
    mark_sent,
    outgoing_of,
    retry,
)

_FIRST_WAIT = 60.0  # seconds
_LONGEST_WAIT = 3_600.0
_MOST_ATTEMPTS = 50  # about two days
_DONE = frozenset({Placement.CREATED, Placement.EDITED, Placement.UNCHANGED, Placement.NOTHING_NEW})
_NUMBER = re.compile(r"/(\d+)#")  # of the pull request, in a comment's address at any forge

Say = Callable[[str], None]


def post_due(database: Path, say: Say, kind: str = "") -> None:
    """Post every row of a database that is due; ``say`` gets a sentence for each.

    ``kind`` is the forge of hosts whose name does not tell. Raises StoreError.
    """
    if not database.is_file():
        raise StoreError(f"There is no database {database}, so nothing of it is posted.")
    with (
        open_store(database) as store,
        _is_only_poster(database.with_name("posting.lock")) as alone,
    ):
        for row in due_postings(store) if alone else ():
            _post(store, row, say, kind)


def _post(store: Store, row: Outgoing, say: Say, kind: str) -> None:
    try:
        project = project_of(f"{row.forge}/{row.project}", kind)
        _settle(store, row, say, _publish_row(store, row, project))
    except Refusal as refused:
        _note_refusal(store, row, say, forge_error(refused, project, row.number), refused)
    except AfterdError as error:
        _note_refusal(store, row, say, error, None)


def _publish_row(store: Store, row: Outgoing, project: Project) -> Posted:
    """What became of the row's answer. Raises Refusal and AfterdError."""
    given = read_answer(Path(row.body))
    if given.commit != row.commit_id:
        raise ForgeError(f"{row.body} is not about commit {row.commit_id[:10]}; it is not posted.")
    return publish(given, project, row.number, posted_on=_posted_on(store, row))


def _posted_on(store: Store, row: Outgoing) -> set[int]:
    """The pull requests of this branch that have had our comment; a name may be used again."""
    earlier = outgoing_of(store, row.forge, row.project, row.branch)
    urls = [each.url for each in earlier if each.state is OutgoingState.SENT]
    return {int(found[1]) for url in urls if (found := _NUMBER.search(url))}


def _settle(store: Store, row: Outgoing, say: Say, posted: Posted) -> None:
    if posted.placement in _DONE:
        mark_sent(store, row.id, posted.url)
    else:
        mark_failed(store, row.id, posted.placement.value)
    say(f"{row.project} {row.commit_id[:10]}: {posted.placement.value} {posted.url}".rstrip())


def _note_refusal(
    store: Store, row: Outgoing, say: Say, error: AfterdError, refused: Refusal | None
) -> None:
    """Try again later where that may help: a limit, a bad gateway, a pull request to come."""
    passes = isinstance(error, ForgeError) if refused is None else refused.kind in PASSING
    if passes and row.attempts < _MOST_ATTEMPTS:
        wait = refused.wait if refused and refused.wait else 0.0
        pause = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** min(row.attempts, 10))
        retry(store, row.id, max(wait, pause), str(error))
    else:
        mark_failed(store, row.id, str(error))
    say(str(error))


@contextmanager
def _is_only_poster(path: Path) -> Iterator[bool]:
    """Whether this process is the only one that posts; the lock ends with the process."""
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
