"""How each translation unit of a traced build was compiled, to compile its variants by."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

_FILE = "compilations.jsonl"


@dataclass(frozen=True, slots=True)
class Compilation:
    """A source file, absolute, and the command line that reads it in ``directory``."""

    source: Path
    directory: Path
    argv: tuple[str, ...]


def note(store: Path, source: str, argv: Sequence[str]) -> None:
    """Remember a compilation in the working directory; ``argv`` asks for no output."""
    row = {"source": source, "directory": str(Path.cwd()), "argv": list(argv)}
    with (store / _FILE).open("a") as index:
        fcntl.flock(index, fcntl.LOCK_EX)
        index.write(json.dumps(row) + "\n")


def compilations(store: Path) -> list[Compilation]:
    """Every source of a traced build; the last compilation of those compiled twice."""
    index = store / _FILE
    found: dict[tuple[Path, str], Compilation] = {}
    for line in index.read_text().splitlines() if index.exists() else ():
        row = json.loads(line)
        directory = Path(row["directory"])
        source = (directory / row["source"]).resolve()
        found[source, line] = Compilation(source, directory, tuple(row["argv"]))
    return list(found.values())


def moved(compilation: Compilation, root: Path, to: Path) -> Compilation:
    """The same compilation in another folder than the one that was built in."""
    argv = tuple(word.replace(str(root), str(to)) for word in compilation.argv)
    source, directory = (
        to / path.relative_to(root) if path.is_relative_to(root) else path
        for path in (compilation.source, compilation.directory)
    )
    return replace(compilation, source=source, directory=directory, argv=argv)
