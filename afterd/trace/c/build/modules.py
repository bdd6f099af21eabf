"""The modules of a traced build: where their IR is kept and which ids they were given.

One directory a build: ``modules.jsonl`` (a line a module, written under a lock because ``make -j``
runs many compilers at once), ``numbers`` (the next free ids), ``ir/`` (IR before instrumentation).
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from afterd.trace.c.weave.instrument import Counted, Instrumented, NumberedFunction
from afterd.trace.c.weave.weaver import Numbers


@dataclass(frozen=True, slots=True)
class Module:
    """One instrumented translation unit: its IR file, its source as given, the build's directory."""

    ir: Path
    source: str
    directory: str
    first_block: int  # what the module's constructor registers it by
    functions: tuple[NumberedFunction, ...]
    total: Numbers


class ModuleStore:
    """Reads and writes the modules of one traced build."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        (directory / "ir").mkdir(parents=True, exist_ok=True)

    def add(self, text: str, source: str, directory: str, counted: Counted) -> Instrumented:
        """Give a module its ids, keep its IR, and return it instrumented: beside others that are."""
        with self.numbers.open("a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            first = Numbers(*json.loads(file.read() or "[1, 1, 1]"))
            after = first + counted.total
            file.truncate(0)
            file.write(json.dumps([after.blocks, after.sites, after.slots]))
        made = counted.woven(first)
        kept = self.directory / "ir" / f"{first.blocks}.ll"
        kept.write_text(text, errors="surrogateescape")
        row = {
            "ir": kept.name,
            "source": source,
            "directory": directory,
            "total": asdict(made.total),
            "functions": [
                [f.name, f.start, f.end, f.first.blocks, f.first.sites, f.first.slots]
                for f in made.functions
            ],
        }
        with (self.directory / "modules.jsonl").open("a") as index:
            fcntl.flock(index, fcntl.LOCK_EX)
            index.write(json.dumps(row) + "\n")
        return made

    def keep(self, modules: Iterable[Module]) -> None:
        """Forget all others."""
        index, kept = self.directory / "modules.jsonl", {module.ir.name for module in modules}
        if index.exists():
            rows = index.read_text(errors="surrogateescape").splitlines(keepends=True)
            own = [row for row in rows if json.loads(row)["ir"] in kept]
            index.write_text("".join(own), errors="surrogateescape")

    def note_opaque(self, source: str, reason: str) -> None:
        """Remember a translation unit that was compiled without instrumentation, and why."""
        with (self.directory / "opaque.jsonl").open("a") as index:
            index.write(json.dumps({"source": source, "reason": reason}) + "\n")

    def opaque(self) -> tuple[str, ...]:
        """The sources that run without being followed, each with the reason."""
        return tuple(f"{row['source']}: {row['reason']}" for row in self._opaque())

    def opaque_sources(self) -> frozenset[str]:
        """The same, by their paths alone."""
        return frozenset(row["source"] for row in self._opaque())

    def _opaque(self) -> list[dict[str, str]]:
        index = self.directory / "opaque.jsonl"
        lines = index.read_text().splitlines() if index.exists() else ()
        return [json.loads(line) for line in lines]

    @property
    def numbers(self) -> Path:
        """The file that holds the next free ids; a traced program reads how many blocks there are."""
        return self.directory / "numbers"

    def blocks(self) -> int:
        """One more than the highest block id that was given out."""
        if not self.numbers.exists():
            return 0
        with self.numbers.open() as file:  # a test may still be building: make check does
            fcntl.flock(file, fcntl.LOCK_SH)
            return int(json.loads(file.read() or "[0]")[0])

    def modules(self) -> Iterator[Module]:
        """Every module, in the order of compilation."""
        index = self.directory / "modules.jsonl"
        if not index.exists():
            return
        for line in index.read_text(errors="surrogateescape").splitlines():
            row = json.loads(line)
            yield Module(
                ir=self.directory / "ir" / row["ir"],
                source=row["source"],
                directory=row["directory"],
                first_block=int(Path(row["ir"]).stem),
                functions=tuple(
                    NumberedFunction(name, start, end, Numbers(blocks, sites, slots))
                    for name, start, end, blocks, sites, slots in row["functions"]
                ),
                total=Numbers(**row["total"]),
            )


def modules_made(directory: Path) -> int:
    """How many modules the builds below a directory have so far."""
    indexes = directory.glob("*/build/modules.jsonl")
    return sum(index.read_bytes().count(b"\n") for index in indexes)


def built_modules(
    store: ModuleStore, base: range, own: range, inherited: range, tested: range
) -> list[Module]:
    """The modules of a build that went on from another one's products, in the order of compilation.

    The ranges are of block ids: those of the build that it went on from, its own, what the test of the
    other one had compiled (``make check``), and what its own test did. What it compiled itself stands for what
    the build before it had compiled of the same source in the same folder; what a test compiled is also
    replaced by what its own test did. Other variants' modules are in the store as well.
    """
    known = list(store.modules())
    again = {_source(module) for module in known if module.first_block in own}
    retested = again | {_source(module) for module in known if module.first_block in tested}
    return [
        module
        for module in known
        if (module.first_block in base and _source(module) not in again)
        or (module.first_block in inherited and _source(module) not in retested)
        or module.first_block in own
        or module.first_block in tested
    ]


def _source(module: Module) -> tuple[str, str]:
    return module.source, module.directory
