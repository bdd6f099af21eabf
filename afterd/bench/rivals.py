"""The same range and test put to afterd, to ``git bisect run`` and to picire's delta debugging.

The last two run the plain test command in a plain clone, with the bad version's test files laid over, as afterd
does. picire reduces the same changes as afterd: to a smallest set of which the test passes without.
"""

from __future__ import annotations

import importlib
import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from afterd.bench.case import UnavailableError
from afterd.execution.process import Command
from afterd.execution.runners.interpreters import BESIDE
from afterd.execution.sandbox import run
from afterd.limits import ProcessLimits
from afterd.model.change import ChangeId, ChangeList
from afterd.vcs.file_changes import tree_patch
from afterd.vcs.variants import Variants

ENVIRONMENTS = (*BESIDE, "node_modules")
"""What git ignores and a test needs all the same: the clone has links to them."""

CLEANED = "git reset --quiet --hard; git clean --quiet -fdx " + " ".join(
    f"-e /{name}" for name in ENVIRONMENTS
)
"""What leaves nothing of one version to the next, files that git ignores included."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A range of a repository, with the commands that build it and test it; ``seconds`` bounds each answer."""

    repository: Path
    good: str
    bad: str
    build: tuple[str, ...]
    test: tuple[str, ...]
    changes: ChangeList
    seconds: float

    @property
    def tests(self) -> list[str]:
        """The test files of the bad version that differ from the good one's."""
        return sorted({change.file for change in self.changes.changes if change.pruned})

    @property
    def script(self) -> str:
        """Build and test, as a line of shell; what does not build tells nothing (125)."""
        built = f"{shlex.join(self.build)} || exit 125; " if self.build else ""
        return f"{built}{shlex.join(self.test)}"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a rival names in the end, in ``runs`` of the test; ``problem``: why it names nothing."""

    named: str = ""
    runs: int = 0
    cpu: float = 0.0
    seconds: float = 0.0
    problem: str = ""


class Rival(Protocol):
    """Another way to ask what broke the test."""

    def __call__(self, asked: Asked, place: Path) -> Answer:
        """Ask in ``place``, an empty folder. Raises UnavailableError where it is not to be had here."""
        ...


@dataclass(slots=True)
class _Clone:
    """A plain clone at the bad version; what its commands cost together."""

    asked: Asked
    place: Path
    environment: dict[str, str]
    cpu: float = 0.0
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.place.mkdir()
        source, here = str(self.asked.repository), str(self.place)
        self.git("clone", "--quiet", "--shared", "--no-checkout", source, here, cwd=self.place)
        self.git("checkout", "--quiet", "--force", "--detach", self.asked.bad)
        for name in ENVIRONMENTS:
            own = self.asked.repository / name
            if own.exists():
                (self.place / name).symlink_to(own.resolve())
        with (self.place / ".git/info/exclude").open("a", encoding="utf-8") as file:
            file.writelines(f"/{name}\n" for name in ENVIRONMENTS)
        self.cpu = self.seconds = 0.0

    @property
    def left(self) -> float:
        """Seconds of the answer's time that no command has used."""
        return self.asked.seconds - self.seconds

    def answer(self, named: str, runs: int, problem: str = "") -> Answer:
        """What was named, with what it cost."""
        return Answer(named, runs, self.cpu, self.seconds, problem)

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        """What git says; UnavailableError where it fails."""
        text, status = self.told(("git", *arguments), cwd)
        if status:
            raise UnavailableError(f"git {' '.join(arguments[:2])} failed: {text.strip()[-200:]}")
        return text

    def told(self, argv: tuple[str, ...], cwd: Path | None = None) -> tuple[str, int | None]:
        """The output of a command and its exit status, within the time that is left."""
        command = Command(argv, cwd or self.place, self.environment, merge=True)
        result = run(command, ProcessLimits(timeout=max(self.left, 1.0)))
        try:
            self.cpu += result.cpu_seconds
            self.seconds += result.seconds
            return result.stdout.text(), result.status
        finally:
            result.remove()


def explained_range(environment: dict[str, str], strategy: str) -> Rival:
    """``afterd explain`` with one of its strategies, in a clone that has no state of earlier answers."""

    def rival(asked: Asked, place: Path) -> Answer:
        clone = _Clone(asked, place / "clone", environment)
        build = ("--build", shlex.join(asked.build)) if asked.build else ()
        output = place / "answer.json"
        said, _ = clone.told(
            (sys.executable, "-m", "afterd", "explain", f"{asked.good}..{asked.bad}",
             "--strategy", strategy, "--budget", f"{asked.seconds:.0f}s", *build,
             "--format", "json", "-q", "--output", str(output), "--", *asked.test)
        )  # fmt: skip
        if not output.exists():
            return clone.answer("", 0, said.strip()[-120:] or "no answer")
        (found, *_) = json.loads(output.read_text(encoding="utf-8"))["explanations"]
        runs = found["runs"]["tests"] + found["runs"]["confirmation"]
        root = [f"{each['id']} {each['file']}:{each['new'][0]}" for each in found["root"]]
        problem = "" if found["verified"] else found["reason"] or found["status"]
        return clone.answer(", ".join(root), runs, problem)

    return rival


def bisected(environment: dict[str, str]) -> Rival:
    """``git bisect run``: the first bad commit of the range."""

    def rival(asked: Asked, place: Path) -> Answer:
        clone = _Clone(asked, place / "clone", environment)
        count, script = place / "count", place / "script"
        count.touch()
        script.write_text(_bisecting(asked, count), encoding="utf-8")
        base = clone.git("merge-base", asked.good, asked.bad).strip()
        clone.git("bisect", "start", asked.bad, base)
        said, _ = clone.told(("git", "bisect", "run", "sh", str(script)))
        runs = len(count.read_text(encoding="utf-8").splitlines())
        lines = said.strip().splitlines()
        first = next((line.split()[0] for line in lines if "first bad commit" in line), "")
        if not first:
            return clone.answer("", runs, lines[-1][:120] if lines else "no answer")
        live = asked.changes.live
        held = sum(any(each.startswith(first) for each in change.commits) for change in live)
        return clone.answer(f"commit {first[:10]}, {held} of {len(live)} changes", runs)

    return rival


def _bisecting(asked: Asked, count: Path) -> str:
    """The script of a step: the bad version's tests over what is checked out, and away again."""
    over = shlex.join(["git", "checkout", "--quiet", asked.bad, "--", *asked.tests])
    lines = [
        f"echo run >> {shlex.quote(str(count))}",
        f"{over} 2>/dev/null" if asked.tests else ":",
        f"({asked.script})",
        'code=$?; [ "$code" -eq 0 ] || [ "$code" -eq 125 ] || code=1',
        f"{CLEANED}; exit $code",
    ]
    return "\n".join(lines) + "\n"


def reduced_by_picire(environment: dict[str, str], variants: Variants) -> Rival:
    """Picire's ddmin over afterd's changes: a smallest set whose reversion makes the test pass."""

    def rival(asked: Asked, place: Path) -> Answer:
        try:
            picire: Any = importlib.import_module("picire")
        except ImportError:
            raise UnavailableError("picire is not installed (pip install picire)") from None
        clone = _Clone(asked, place / "clone", environment)
        runs = 0

        def passes(reverted: Sequence[ChangeId], _name: object) -> Any:  # noqa: ANN401 - picire has no types
            nonlocal runs
            if clone.left <= 0:
                raise TimeoutError
            runs += 1
            ok = _passes(clone, variants, reverted)
            return picire.Outcome.FAIL if ok else picire.Outcome.PASS

        try:
            found = picire.DD(passes)([change.id for change in asked.changes.live])
        except TimeoutError:
            return clone.answer("", runs, f"no answer in {asked.seconds:.0f} s")
        except AssertionError:
            return clone.answer("", runs, "all of them undone do not pass")
        return clone.answer(", ".join(found[:6]), runs)

    return rival


def _passes(clone: _Clone, variants: Variants, reverted: Sequence[ChangeId]) -> bool:
    patch = tree_patch(variants.store, variants.bad, variants.tree(frozenset(reverted)))
    clone.told(("sh", "-c", CLEANED))
    if patch:
        file = clone.place / ".git" / "variant"
        file.write_bytes(patch)
        clone.git("apply", "--unidiff-zero", str(file))
    return clone.told(("sh", "-c", clone.asked.script))[1] == 0
