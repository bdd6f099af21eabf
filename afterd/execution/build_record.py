"""What is known of the build products in a slot, kept beside it for the next session."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from afterd.execution.freshness import files_below, is_product

_MAGIC = (b"\x7fELF", b"!<ar", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ", b"\0\0\0\0")
"""What programs and libraries begin with (Linux, macOS, Windows), and where their heads come last."""


@dataclass(frozen=True, slots=True)
class BuildRecord:
    """Which build the products are of (empty: none) and of which tree, which files were shipped,
    whether the last build ran to its end, and whether a test was begun that was not seen to end.
    """

    key: str = ""
    tree: str = ""
    shipped: frozenset[str] | None = None
    whole: bool = True
    testing: bool = False

    @classmethod
    def load(cls, slot: Path) -> Self:
        """The record of a slot; an empty one where there is none that can be read.

        Where a test was under way that had something built, it is taken for a build that was cut short.
        """
        try:
            stored = json.loads(_path(slot).read_text())
            shipped = frozenset(map(str, stored["shipped"]))
            whole = stored["whole"] is True
            if stored.get("testing") is True:
                whole = whole and not is_half_built(slot)
            return cls(str(stored["key"]), str(stored["tree"]), shipped, whole)
        except (OSError, ValueError, KeyError, TypeError):
            return cls()

    def save(self, slot: Path) -> None:
        """Replace the record of a slot, in one step."""
        content = asdict(self) | {"shipped": sorted(self.shipped or ())}
        path = _path(slot)
        temporary = path.with_name(f"{path.name}.new")
        temporary.write_text(json.dumps(content))
        temporary.replace(path)


def is_half_built(slot: Path) -> bool:
    """Whether a compiler or a linker wrote in a slot since its record was saved.

    One that is killed leaves an object that is newer than its source, and make takes it for whole.
    """
    since = _path(slot).stat().st_mtime_ns
    return any(
        _is_newer(path, since) and (is_product(path) or _is_linked(path))
        for path in files_below(slot)
    )


def _path(slot: Path) -> Path:
    return slot.with_name(f"{slot.name}.build")


def _is_newer(path: Path, since: int) -> bool:
    try:
        return path.lstat().st_mtime_ns >= since
    except OSError:  # gone meanwhile
        return False


def _is_linked(path: Path) -> bool:
    """Whether it may be what a linker makes, whole or not."""
    if path.is_symlink() or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            head = file.read(4)
    except OSError:
        return False
    return head.startswith(_MAGIC) or (not head and not path.suffix)
