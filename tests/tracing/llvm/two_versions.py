"""A commit that breaks many small things at once, traced: each case is a process of its own.

``versions/*.[ch]`` (and ``versions_in_cxx/*.cc``) hold both versions of each file: a line that begins
with ``-`` is only in the good one, with ``+`` only in the bad one.
"""

from __future__ import annotations

import heapq
import os
import re
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from afterd.execution.recipe import Recipe
from afterd.execution.toolchain import Toolchain
from afterd.limits import Limits
from afterd.model.change import Change, ChangeList
from afterd.model.term import StepId, reads
from afterd.model.trace import Predicate, Step
from afterd.tracing.llvm.execution import LlvmExecution
from afterd.tracing.llvm.session import TraceRequest, trace
from afterd.tracing.llvm.steps import StepIds
from afterd.vcs.diff import changes_between
from afterd.vcs.kinds import FileRules
from afterd.vcs.repository import open_repository, resolve
from afterd.vcs.variants import Variants
from afterd.vcs.worktree import Slot

VERSIONS = Path(__file__).with_name("versions")
_CASE = re.compile(r"^int case_(\w+)\(void\)", re.MULTILINE)
_PIPED = ("producer", "consumer")
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
    """Make a repository of two commits; the names of the cases."""
    texts = {path.name: path.read_text() for path in sorted(versions.iterdir())}
    names = [name for text in texts.values() for name in _CASE.findall(text)]
    sources = [name for name in texts if name.endswith((".c", ".cc"))]
    driver = "$(CXX)" if any(name.endswith(".cc") for name in sources) else "$(CC)"
    rule = f"\t$(CC) -c main.c\n\t{driver} main.o {' '.join(sources)} -o cases\n"
    made = {
        "main.c": _main(names),
        "Makefile": f"cases: main.c {' '.join(texts)}\n{rule}",
        "run.sh": _script(names),
    }
    _git(directory, "init", "-q", "-b", "main")
    for number in (0, 1):
        for name, text in {**made, **texts}.items():
            (directory / name).write_text(sides(text)[number] if name in texts else text)
        _git(directory, "add", ".")
        _git(directory, "commit", "-q", "-m", ("good", "bad")[number])
    return names


def _main(names: list[str]) -> str:
    declared = "".join(f"int case_{name}(void);\n" for name in names)
    tried = "".join(
        f'    if (!strcmp(argv[1], "{name}")) return case_{name}();\n' for name in names
    )
    return f"#include <string.h>\n{declared}int main(int argc, char **argv) {{\n{tried}    return 99;\n}}\n"


def _script(names: list[str]) -> str:
    single = " ".join(name for name in names if name not in _PIPED)
    piped = f"./cases {_PIPED[0]} | ./cases {_PIPED[1]}" if {*_PIPED} <= {*names} else ""
    return f'for name in {single}; do ./cases "$name"; echo "$name: $?"; done\n{piped}\n'


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
        found: dict[StepId, Step] = {}
        heap = [-failure.step for failure in self.failures]
        heap += [-read.step for failure in self.failures for read in reads(failure.condition)]
        while heap and len(found) < 400:
            step = -heapq.heappop(heap)
            if step in found:
                continue
            found[step] = self.execution.step(step)
            heap += [-other for other in self._behind(found[step])]
        return found

    def _behind(self, step: Step) -> list[StepId]:
        reading = [read.step for read in reads(step.term)]
        indirect = [
            branch
            for read in reading
            for branch in self.execution.indirect_influences(step.id, read)
        ]
        return [*reading, *indirect, *([step.control] if step.control is not None else [])]

    @cached_property
    def tied(self) -> set[str]:
        """The texts of the changes that the closure met, directly or as something omitted."""
        met = {change for step in self.closure.values() for change in step.changes}
        met |= {change for step in self.closure for change in self.execution.omitted(step)}
        by_id = self.changes.by_id()
        return {_summary(by_id[change]) for change in met}

    def at(self, text: str) -> list[Step]:
        """The steps of the closure whose line contains a text, in execution order."""
        return [
            self.closure[step] for step in sorted(self.closure) if text in self.closure[step].text
        ]


def _summary(change: Change) -> str:
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
) -> dict[str, Case]:
    """Trace both versions once; every case by its name."""
    repository_path = directory / "repository"
    repository_path.mkdir(parents=True)
    write_versions(repository_path, versions)
    repository = open_repository(repository_path)
    good, bad = resolve(repository, "HEAD~1"), resolve(repository, "HEAD")
    changes = changes_between(repository, good, bad, FileRules())
    variants = Variants(repository, good, bad, changes)
    slots = (Slot(directory / "good", variants.store), Slot(directory / "bad", variants.store))
    recipe = Recipe(test=("sh", "run.sh"), build=("make",), limits=limits or Limits())
    request = TraceRequest(
        variants.good, variants.bad, slots, recipe, changes.changes, toolchain, directory / "trace"
    )
    execution = trace(request).execution
    return {
        pair.bad.recording.arguments[1]: Case(
            pair.bad.recording.arguments[1], execution, changes, number
        )
        for number, pair in execution._pairs.items()
    }
