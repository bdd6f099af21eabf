"""What is known of the build products in a slot, kept beside it for the next session."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self


@dataclass(frozen=True, slots=True)
class BuildRecord:
    """Which build the products are of (empty: none) and of which tree, which files were shipped,
    and whether the last build ran to its end.
    """

    key: str = ""
    tree: str = ""
    shipped: frozenset[str] | None = None
    whole: bool = True

    @classmethod
    def load(cls, path: Path) -> Self:
        """The record at ``path``; an empty one where there is none that can be read."""
        try:
            stored = json.loads(path.read_text())
            shipped = frozenset(map(str, stored["shipped"]))
            return cls(str(stored["key"]), str(stored["tree"]), shipped, stored["whole"] is True)
        except (OSError, ValueError, KeyError, TypeError):
            return cls()

    def save(self, path: Path) -> None:
        """Replace the record at ``path``, in one step."""
        content = asdict(self) | {"shipped": sorted(self.shipped or ())}
        temporary = path.with_name(f"{path.name}.new")
        temporary.write_text(json.dumps(content))
        temporary.replace(path)
