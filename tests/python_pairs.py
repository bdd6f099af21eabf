"""Two versions of a small program, traced: what the tests of the Python tracer start from."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from pathlib import Path
from textwrap import dedent

from afterd.compare.pair import Pair
from afterd.compare.python.execution import PythonExecution
from afterd.execution.environment import scrubbed_environment
from afterd.limits import ProcessLimits
from afterd.model.change import Change, ChangeForm
from afterd.model.location import LineSpan
from afterd.model.term import reads
from afterd.model.trace import Step
from afterd.trace.python.recorder import recorded_run
from afterd.trace.python.stage.runner import PythonTraceRequest

PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
Files = Mapping[str, str]


def changes_of(good: Files, bad: Files) -> tuple[Change, ...]:
    """Zero-context hunks, c1, c2, … in path and line order."""
    found: list[Change] = []
    for path in sorted({*good, *bad}):
        if path not in good or path not in bad:
            form = ChangeForm.ADDED if path in bad else ChangeForm.DELETED
            nowhere = LineSpan(0, 0)
            found.append(Change(f"c{len(found) + 1}", path, path, nowhere, nowhere, form))
            continue
        old, new = dedent(good[path]).splitlines(), dedent(bad[path]).splitlines()
        for tag, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if tag != "equal":
                lines = [f"-{line}" for line in old[i:j]] + [f"+{line}" for line in new[k:m]]
                spans = _span(i, j), _span(k, m)
                patch = "\n".join(lines)
                found.append(Change(f"c{len(found) + 1}", path, path, *spans, patch=patch))
    return tuple(found)


def _span(first: int, end: int) -> LineSpan:
    return LineSpan(first + 1 if end > first else first, end - first)


def written(tree: Path, files: Files) -> Path:
    """The files in a directory."""
    for path, text in files.items():
        target = tree / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(dedent(text), encoding="utf-8")
    return tree


def request_for(
    tmp_path: Path, good: Files, bad: Files, command: tuple[str, ...] = PYTEST
) -> PythonTraceRequest:
    """How two versions, which are written to ``good`` and ``bad``, are run."""
    written(tmp_path / "good", good)
    written(tmp_path / "bad", bad)
    return PythonTraceRequest(
        command,
        scrubbed_environment(extra={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}),
        tmp_path / "work",
        limits=ProcessLimits(timeout=60.0),
    )


def traced_pair(
    tmp_path: Path, good: Files, bad: Files, command: tuple[str, ...] = PYTEST
) -> PythonExecution:
    """The execution of the failing version beside the green one."""
    request = request_for(tmp_path, good, bad, command)
    return compared(request, tmp_path, changes_of(good, bad))


def compared(
    request: PythonTraceRequest, trees: Path, changes: tuple[Change, ...]
) -> PythonExecution:
    """The run in ``bad`` beside the one in ``good``."""
    bad, good = (recorded_run(request, trees / name, name) for name in ("bad", "good"))
    return PythonExecution(Pair(bad, good, changes))


def one_file(
    tmp_path: Path, good: str, bad: str, test: str, command: tuple[str, ...] = PYTEST
) -> PythonExecution:
    """Two versions of ``lib.py`` with one test module."""
    shared = {"test_lib.py": test}
    return traced_pair(tmp_path, {"lib.py": good, **shared}, {"lib.py": bad, **shared}, command)


def reachable(execution: PythonExecution, limit: int = 500) -> Iterator[Step]:
    """The steps behind the first failure: what it reads, and what decided it."""
    failure = execution.failures()[0]
    pending = [failure.step, *(read.step for read in reads(failure.condition))]
    seen: set[int] = set()
    while pending and len(seen) < limit:
        identifier = pending.pop(0)
        if identifier in seen:
            continue
        seen.add(identifier)
        step = execution.step(identifier)
        yield step
        pending.extend(read.step for read in reads(step.term))
        if step.control is not None:
            pending.append(step.control)


def suspects(execution: PythonExecution) -> set[str]:
    """Changes of reachable steps, and those that act by absence at them."""
    found: set[str] = set()
    for step in reachable(execution):
        found.update(step.changes)
        found.update(execution.omitted(step.id))
        for read in reads(step.term):
            for branch in execution.indirect_influences(step.id, read.step):
                found.update(execution.step(branch).changes)
    return found
