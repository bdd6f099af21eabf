"""What a stage does not need is not imported with it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from pipeline_runs import repository

from afterd.config import Settings
from afterd.pipeline import explain
from afterd.pipeline.beside import reading_ahead
from afterd.workspace import Range, Workspace, wanted_range

_SHOWN = "import sys, {}; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"


def imported_by(module: str) -> set[str]:
    """The packages that a fresh interpreter has imported after this module."""
    program = _SHOWN.format(module)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    return set(done.stdout.decode().split())


def test_what_confirms_both_ends_needs_no_solver_tracer_or_algebra() -> None:
    """The imports of ``afterd explain`` took longer than most tests."""
    heavy = {"scipy", "numpy", "llvmlite", "z3", "pysat"}
    assert not imported_by("afterd.pipeline") & heavy


def test_python_alone_needs_no_tracer_of_c() -> None:
    assert "llvmlite" not in imported_by("afterd.pipeline.tracers.python")
    assert "llvmlite" not in imported_by("afterd.pipeline.searched")


def test_a_single_test_is_explained_without_what_ranks_lines(tmp_path: Path) -> None:
    """What counts a suite took a fifth of all the seconds of afterd's own, to say that there is nothing to rank."""
    test = "from fees import fee\ndef test_fee():\n    assert fee(4) == 12\n"
    good, bad = ({"fees.py": f"def fee(a):\n    return a {sign} 8\n"} for sign in "+-")
    place = repository(tmp_path / "one", {**good, "test_fees.py": test}, bad)
    command = ["explain", "--", sys.executable, "-m", "pytest", "-q", "test_fees.py"]
    program = (
        "import sys\nfrom afterd.cli.boundary import run\nfrom afterd.cli.main import afterd\n"
        f"run(afterd, {command!r})\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=place, capture_output=True, check=True, text=True
    )
    assert "fees.py:2" in done.stdout
    assert not {"scipy", "llvmlite"} & set(done.stderr.split())


def test_what_is_read_ahead_is_there_afterwards() -> None:
    program = (
        "import sys\nfrom afterd.pipeline.beside import reading_ahead\n"
        "with reading_ahead('wave'): pass\nassert 'wave' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_what_cannot_be_read_ahead_says_so_where_it_is_used() -> None:
    with reading_ahead("afterd.no_such_module"):
        pass
    with pytest.raises(ValueError, match="the stage"), reading_ahead("afterd.errors"):
        raise ValueError("the stage")


def test_the_bad_version_is_run_while_the_range_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first run is under way when the range is asked for, and is the one that confirms that end."""
    count = tmp_path / "count"
    test = f"echo run >> {count}; grep -q good fees"
    place = repository(tmp_path / "one", {"fees": "good\n"}, {"fees": "bad\n"})
    running: list[bool] = []

    def slowly(workspace: Workspace, settings: Settings) -> Range:
        for _ in range(1000):
            if count.exists():
                break
            time.sleep(0.01)
        running.append(count.exists())
        return wanted_range(workspace, settings)

    monkeypatch.setattr(sys.modules["afterd.pipeline.explain"], "wanted_range", slowly)
    [found] = explain(Settings(repository=place, test=("sh", "-c", test), confirmations=1))
    assert running == [True]
    assert [change.file for change in found.root] == ["fees"]
    assert count.read_text().count("run") == found.runs.tests + found.runs.confirmation
