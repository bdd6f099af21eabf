"""A commit that breaks many small things at once, traced: each case is a process of its own.

``versions/*.[ch]`` (and ``versions_in_cxx/*.cc``) hold both versions of each file: a line that begins
with ``-`` is only in the good one, with ``+`` only in the bad one.
"""

from __future__ import annotations

import heapq
import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from afterd.compare.c.execution import CTracer, LlvmExecution
from afterd.compare.pair import Runs
from afterd.execution.recipe import Recipe
from afterd.execution.toolchain import Toolchain
from afterd.limits import Limits
from afterd.model.change import NOTHING, Change, ChangeList, ChangeSet
from afterd.model.term import StepId, reads
from afterd.model.trace import Execution, Predicate, Step
from afterd.trace.c.read.steps import StepIds
from afterd.trace.c.recorder import TraceRequest
from afterd.vcs.diff import changes_between
from afterd.vcs.kinds import FileRules
from afterd.vcs.repository import open_repository, resolve
from afterd.vcs.variants import Variants
from afterd.vcs.worktree import Slot

VERSIONS = Path(__file__).parent / "compare/c/versions"
_INCLUDED = re.compile(r'^#include "(.*)"', re.MULTILINE)
_CASE = re.compile(r"^int case_(\w+)\(void\)", re.MULTILINE)
_PIPED = {"producer": "consumer", "two_processes": "two_processes_reading"}
_IDENTITY = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
}


def sides(text: str) -> tuple[str, str]:
    """The good and the bad version of a file with both."""
    lines = text.splitlines(keepends=True)
    good = "".join(line.removeprefix("-") for line in lines if not line.startswith("+"))
    return good, "".join(line.removeprefix("+") for line in lines if not line.startswith("-"))


def write_versions(directory: Path, versions: Path = VERSIONS) -> list[str]:
    """Make a repository of two commits; the names of the cases. ``NAME.python`` becomes NAME.py."""
    paths = sorted(versions.iterdir())
    texts = {path.name.replace(".python", ".py"): path.read_text() for path in paths}
    names = [name for text in texts.values() for name in _CASE.findall(text)]
    made = {"main.c": _main(names), "Makefile": _makefile(texts), "run.sh": _script(names)}
    versions_of = {name: sides(text) for name, text in texts.items()}
    committed(
        directory,
        [{**made, **{name: both[i] for name, both in versions_of.items()}} for i in (0, 1)],
    )
    return names


def committed(directory: Path, versions: Iterable[Mapping[str, str]]) -> None:
    """Make a repository of a commit a version."""
    directory.mkdir(exist_ok=True)
    _git(directory, "init", "-q", "-b", "main")
    for files in versions:
        for name, text in files.items():
            (directory / name).write_text(text)
        _git(directory, "add", ".")
        _git(directory, "commit", "-q", "-m", "a version")


def _makefile(texts: Mapping[str, str]) -> str:
    """An object a source, made again where that or what may be included changed."""
    included = {name for text in texts.values() for name in _INCLUDED.findall(text)}
    sources = [name for name in texts if name.endswith((".c", ".cc")) and name not in included]
    driver = "$(CXX)" if any(name.endswith(".cc") for name in sources) else "$(CC)"
    objects = " ".join(f"{name.rpartition('.')[0]}.o" for name in ("main.c", *sources))
    own = {f"{name.rpartition('.')[0]}.o": _INCLUDED.findall(texts[name]) for name in sources}
    needed = "".join(
        f"{name}: {' '.join([*found, *included])}\n" for name, found in own.items() if found
    )
    return f"cases: {objects}\n\t{driver} {objects} -o cases\n{needed}"


def _main(names: list[str]) -> str:
    declared = "".join(f"int case_{name}(void);\n" for name in names)
    tried = "".join(
        f'    if (!strcmp(argv[1], "{name}")) return case_{name}();\n' for name in names
    )
    return f"#include <string.h>\n{declared}int main(int argc, char **argv) {{\n{tried}    return 99;\n}}\n"


def _script(names: list[str]) -> str:
    single = " ".join(name for name in names if name not in {*_PIPED, *_PIPED.values()})
    piped = [f"./cases {name} | ./cases {_PIPED[name]}\n" for name in names if name in _PIPED]
    return f'for name in {single}; do ./cases "$name"; echo "$name: $?"; done\n{"".join(piped)}'


def _git(directory: Path, *arguments: str) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(directory), **_IDENTITY}
    subprocess.run(["git", *arguments], cwd=directory, env=environment, check=True)


@dataclass(frozen=True)
class Case:
    """One case: what the failing run's process of that name shows."""

    name: str
    execution: LlvmExecution
    changes: ChangeList
    process: int

    @cached_property
    def failures(self) -> list[Predicate]:
        """Its failed assertions."""
        return [p for p in self.execution.failures() if StepIds.process(p.step) == self.process]

    @cached_property
    def closure(self) -> dict[StepId, Step]:
        """Every step behind its failures, by data, control and indirect influence (bounded)."""
        return steps_behind(self.execution, self.failures)

    @cached_property
    def tied(self) -> set[str]:
        """The texts of the changes that the closure met, directly or as something omitted."""
        met = {change for step in self.closure.values() for change in step.changes}
        met |= {change for step in self.closure for change in self.execution.omitted(step)}
        by_id = self.changes.by_id()
        return {changed_lines(by_id[change]) for change in met}

    def at(self, text: str) -> list[Step]:
        """The steps of the closure whose line contains a text, in execution order."""
        return [
            self.closure[step] for step in sorted(self.closure) if text in self.closure[step].text
        ]


def steps_behind(execution: Execution, failures: Iterable[Predicate]) -> dict[StepId, Step]:
    """Every step behind failures, by data, control and indirect influence; at most 400."""
    found: dict[StepId, Step] = {}
    heap = [
        -step
        for failure in failures
        for step in (failure.step, *(read.step for read in reads(failure.condition)))
    ]
    heapq.heapify(heap)
    while heap and len(found) < 400:
        number = -heapq.heappop(heap)
        if number in found:
            continue
        step = found[number] = execution.step(number)
        reading = [read.step for read in reads(step.term)]
        indirect = (b for read in reading for b in execution.indirect_influences(number, read))
        decided = () if step.control is None else (step.control,)
        for other in (*reading, *indirect, *decided):
            heapq.heappush(heap, -other)
    return found


def changed_lines(change: Change) -> str:
    """The changed lines of a change in one line."""
    lines = [
        line
        for line in change.patch.splitlines()
        if line[:1] in "+-" and line[:3] not in {"+++", "---"}
    ]
    return " ".join(f"{line[0]}{line[1:].strip()}" for line in lines)


def traced_cases(
    directory: Path,
    toolchain: Toolchain,
    versions: Path = VERSIONS,
    limits: Limits | None = None,
    undone: Iterable[ChangeSet] = (),
) -> dict[str, Case]:
    """Trace both versions once; every case by its name. The bad version without the last set of
    ``undone`` is what is explained; the runs without the other sets are only recorded.
    """
    (directory / "repository").mkdir(parents=True)
    write_versions(directory / "repository", versions)
    return traced_processes(directory, toolchain, limits, undone)


def traced_processes(
    directory: Path,
    toolchain: Toolchain,
    limits: Limits | None = None,
    undone: Iterable[ChangeSet] = (),
) -> dict[str, Case]:
    """The same for the last two commits of ``repository`` in the directory, which have a Makefile and a
    ``run.sh``: every process by the last word of its command.
    """
    repository = open_repository(directory / "repository")
    good, bad = resolve(repository, "HEAD~1"), resolve(repository, "HEAD")
    changes = changes_between(repository, good, bad, FileRules())
    variants = Variants(repository, good, bad, changes)
    slots = (Slot(directory / "good", variants.store), Slot(directory / "bad", variants.store))
    recipe = Recipe(test=("sh", "run.sh"), build=("make",), limits=limits or Limits())
    request = TraceRequest(
        variants.tree, changes.ids, slots, recipe, toolchain, directory / "trace"
    )
    runs = Runs(CTracer(request), changes.changes)
    pair = runs.pair(NOTHING, changes.ids)
    for each in undone:
        pair = runs.pair(each, changes.ids)
    execution = LlvmExecution(pair)
    return {
        pair.bad.recording.arguments[-1]: Case(
            pair.bad.recording.arguments[-1], execution, changes, number
        )
        for number, pair in execution._pairs.items()
    }
