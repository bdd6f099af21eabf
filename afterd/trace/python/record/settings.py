"""What the tracer's start-up code is told, through one environment variable."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from .replacing import Replacement

VARIABLE = "AFTERD_TRACE"


@dataclass(frozen=True)
class Settings:
    """``mode`` is trace, count or overlay.

    ``tree`` is the source tree that is run, ``original`` the user's own checkout (an editable
    install points there: its entries on ``sys.path`` are moved to ``tree``). ``out`` is where
    results are written, ``cache`` where instrumented code is kept, ``head`` and ``tail`` the window
    in chunks. ``excluded``
    are folders below ``tree`` that are not the program (a virtual environment), ``beside`` those outside
    of which the files (not what lies deeper) are the program's too: the test lies there. The process runs
    share ``share`` of ``shares`` of its tests. It is ended after about ``stop`` rows (0: never).
    ``replaced``: the one value of the run that is set to another.
    """

    mode: str
    tree: str
    out: str
    cache: str
    original: str = ""
    head: int = 16
    tail: int = 32
    excluded: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    share: int = 0
    shares: int = 1
    stop: int = 0
    replaced: Replacement | None = None

    @classmethod
    def read(cls, path: Path) -> Settings:
        """The settings file at ``path``."""
        fields = json.loads(path.read_text(encoding="utf-8"))
        fields.update({name: tuple(fields[name]) for name in ("excluded", "beside")})
        if fields["replaced"] is not None:
            fields["replaced"] = Replacement(**fields["replaced"])
        return cls(**fields)

    def write(self, path: Path) -> None:
        """Write the file that ``read`` reads."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")


def from_environment() -> Settings | None:
    """The settings the environment names; None in a process that is not to be traced."""
    path = os.environ.get(VARIABLE)
    return Settings.read(Path(path)) if path else None
