"""What to trace: two trees and a test command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from afterd.limits import ProcessLimits
from afterd.model.change import Change


@dataclass(frozen=True, slots=True)
class PythonTraceRequest:
    """Two versions of a source tree and the command that fails in ``bad``.

    ``command`` is run in ``bad/folder`` (and ``good/folder``): ``pytest …``,
    ``python -m unittest …``, ``python script.py`` or anything that starts Python. ``environment``
    is complete (see ``execution.environment.scrubbed``); ``pythonpath`` are folders of the tree
    to be put first on the import path. ``test`` is the failing test's id, empty for a whole
    command. ``original`` is the user's own checkout: an editable install points there, and its
    entries on the import path are moved to the tree that is traced. ``directory`` takes traces
    and the code cache. ``head`` and ``tail`` bound the trace, in chunks of 32,768 rows; a run
    that outgrew them is repeated with room for all it needs, up to ``most`` rows. ``excluded``
    folders of the tree are not the program's. Of the tests, those of share ``share`` of ``shares``
    are run (in mode ``count``). ``work`` names the piece of work, with its two trees,
    that takes up what it recorded before it was killed; empty: everything is recorded anew.
    """

    good: Path
    bad: Path
    command: tuple[str, ...]
    environment: Mapping[str, str]
    changes: tuple[Change, ...]
    directory: Path
    test: str = ""
    folder: str = "."
    pythonpath: tuple[str, ...] = ()
    original: Path | None = None
    limits: ProcessLimits = field(default_factory=ProcessLimits)
    head: int = 8
    tail: int = 24
    most: int = 5_000_000
    excluded: tuple[str, ...] = ()
    share: int = 0
    shares: int = 1
    work: str = ""
