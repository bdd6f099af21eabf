"""A test of several assertions, each with a guilty change of its own: the bad version fails at the first of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pipeline_runs import authored_git

from afterd.config import Settings
from afterd.model.explanation import Status
from afterd.model.progress import Silent
from afterd.pipeline.explain import explain

PARTS = 24
GUILTY = (5, 17, 20)
TEST = """\
from ops import total, {names}


def test_total():
    assert total() == {whole}
{assertions}
"""


def _program(*, changed: bool, guilty: tuple[int, ...]) -> str:
    """Functions, of which the changed ones are other words for what they were, and the guilty ones add one."""

    def part(each: int) -> str:
        if changed and each in guilty:
            return f"def part{each}(x):\n    return x + {each} + 1\n"
        return f"def part{each}(x):\n    return {f'{each} + x' if changed else f'x + {each}'}\n"

    calls = "\n".join(
        f"    found = part{each}(found)" for each in range(PARTS) if each not in guilty
    )
    total = f"def total():\n    found = 0\n{calls}\n    return found\n"
    return "\n\n".join([*map(part, range(PARTS)), total])


@pytest.mark.parametrize("count", [2, 3])
def test_each_is_found_by_the_run_that_comes_to_its_assertion(tmp_path: Path, count: int) -> None:
    """Skyfield: eleven changes of one commit, each assertion of the test mended by another: 26 runs, for two."""
    path, guilty = tmp_path / "repository", GUILTY[:count]
    authored_git(tmp_path, "init", "-q", "-b", "main", str(path))
    whole = sum(each for each in range(PARTS) if each not in guilty)
    (path / "test_ops.py").write_text(
        TEST.format(
            names=", ".join(f"part{each}" for each in guilty),
            whole=whole,
            assertions="\n".join(f"    assert part{each}(1) == {each + 1}" for each in guilty),
        )
    )
    for changed in (False, True):
        (path / "ops.py").write_text(_program(changed=changed, guilty=guilty))
        authored_git(path, "add", "-A")
        authored_git(path, "commit", "-q", "-m", f"changed: {changed}")
    command = (sys.executable, "-m", "pytest", "-q", "test_ops.py::test_total")
    [found] = explain(Settings(path, range="HEAD~1..HEAD", test=command), Silent())
    assert found.status is Status.EXPLAINED
    assert sorted(change.symbol for change in found.root) == sorted(f"part{n}" for n in guilty)
    assert found.minimal
    assert found.runs.tests <= 2 * count + 1
