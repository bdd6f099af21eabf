"""The warm process: same results as a fresh one, and it says when it cannot be used."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from python_pairs import PYTEST, written

from afterd.execution import sandbox
from afterd.execution.environment import scrubbed
from afterd.execution.process import Command, Ending, ProcessResult
from afterd.limits import ProcessLimits
from afterd.tracing.python.command import PythonCommand, python_command
from afterd.tracing.python.reexecution import WarmPython

LIMITS = ProcessLimits(timeout=30.0)
TREE = {
    "pkg/__init__.py": "from pkg.core import value\n",
    "pkg/core.py": "from pkg.rest import base\ndef value():\n    return base() + 1\n",
    "pkg/rest.py": "def base():\n    return 1\n",
    "test_pkg.py": """\
        import os, tempfile
        import pkg
        def test_value():
            print(tempfile.gettempdir() == os.environ["TMPDIR"], os.getcwd())
            assert pkg.value() == 3
        """,
}


def plainly(result: ProcessResult) -> list[str]:
    """The output without addresses, directories and durations."""
    text = result.stdout.text().replace(str(result.directory), "")
    return re.sub(r"0x[0-9a-f]+|in [0-9.]+s", "", text).splitlines()


def test_variants_in_one_warm_process(tmp_path: Path) -> None:
    """Changed, added and deleted modules; each run is as if it were the first."""
    tree = written(tmp_path / "tree", TREE)
    command = Command(PYTEST, tree, scrubbed())
    fresh = sandbox.run(command, LIMITS)
    with WarmPython(command, tree, tmp_path / "staged", LIMITS) as warm:
        assert warm.cold == ""
        red = warm.run({})
        assert (red.ending, red.status) == (Ending.EXITED, 1)
        assert "assert 2 == 3" in red.stdout.text()
        assert plainly(red) == plainly(fresh)
        assert warm.run({"pkg/rest.py": b"def base():\n    return 2\n"}).status == 0
        broken = warm.run({"pkg/rest.py": None})
        assert "No module named 'pkg.rest'" in broken.stdout.text()
        added = {
            "pkg/core.py": b"from pkg.more import value\n",
            "pkg/more.py": b"def value():\n    return 3\n",
        }
        assert warm.run(added).status == 0
        assert warm.run({}).status == 1
        assert warm.added < 2.0
    with pytest.raises(OSError, match="was closed"):
        warm.run({})


def test_scripts_time_limits_and_deaths(tmp_path: Path) -> None:
    """Exit statuses, signals and endless loops are told apart."""
    text = "import mode\nmode.act()\n"
    tree = written(tmp_path / "tree", {"main.py": text, "mode.py": "def act(): pass\n"})
    command = Command((sys.executable, "main.py"), tree, scrubbed())
    with WarmPython(command, tree, tmp_path / "staged", LIMITS) as warm:
        assert warm.run({}).status == 0
        assert warm.run({"mode.py": b"def act(): raise SystemExit(7)\n"}).status == 7
        failed = warm.run({"mode.py": b"def act():\n    x = {}['k']\n"})
        assert failed.status == 1
        assert "x = {}['k']" in failed.stderr.text()
        killed = warm.run({"mode.py": b"import os\ndef act(): os.abort()\n"})
        assert (killed.ending, killed.signal) == (Ending.SIGNALLED, 6)
        endless = warm.run({"mode.py": b"def act():\n    while True: pass\n"}, timeout=0.3)
        assert endless.ending is Ending.TIMEOUT


def test_threads_make_it_cold(tmp_path: Path) -> None:
    """A module that starts a thread when imported forbids forking, and that is said."""
    outside = written(
        tmp_path / "outside",
        {
            "threaded.py": """\
                import threading, time
                threading.Thread(target=time.sleep, args=(5,), daemon=True, name="poller").start()
                """
        },
    )
    tree = written(tmp_path / "tree", {"main.py": "import threaded\n"})
    environment = scrubbed(extra={"PYTHONPATH": str(outside)})
    command = Command((sys.executable, "main.py"), tree, environment)
    with WarmPython(command, tree, tmp_path / "staged", LIMITS) as warm:
        assert "poller" in warm.cold
        with pytest.raises(OSError, match="fork is not safe"):
            warm.run({})


def test_not_python_is_cold(tmp_path: Path) -> None:
    """A shell script starts Python at best indirectly."""
    with WarmPython(
        Command(("sh", "-c", "true"), tmp_path, scrubbed()), tmp_path, tmp_path, LIMITS
    ) as warm:
        assert "does not start Python directly" in warm.cold


COMMANDS = [
    (("-m", "pytest", "-q"), PythonCommand(sys.executable, (), "module", "pytest", ("-q",))),
    (
        ("-W", "error", "-X", "dev", "a.py", "x"),
        PythonCommand(sys.executable, ("-W", "error", "-X", "dev"), "script", "a.py", ("x",)),
    ),
    (("-c", "pass"), None),
    ((), None),
]


@pytest.mark.parametrize(("arguments", "expected"), COMMANDS)
def test_commands(
    arguments: tuple[str, ...], expected: PythonCommand | None, tmp_path: Path
) -> None:
    """Options before the script or module belong to the interpreter."""
    assert python_command((sys.executable, *arguments), {}, tmp_path) == expected


def test_console_script_names_its_interpreter(tmp_path: Path) -> None:
    """``pytest`` is a script; ``env`` in its first line is looked through."""
    script = tmp_path / "tool"
    script.write_text(f"#!{sys.executable}\n")
    script.chmod(0o755)
    found = python_command(("tool", "-x"), {"PATH": str(tmp_path)}, tmp_path)
    assert found == PythonCommand(sys.executable, (), "script", str(script), ("-x",))


@given(st.lists(st.sampled_from(["-q", "-W", "-m", "x.py", "-c", "-", "pkg"]), max_size=6))
def test_any_command_line_is_read(arguments: list[str]) -> None:
    """Never an exception, and nothing is lost."""
    found = python_command((sys.executable, *arguments), {}, Path())
    if found is not None:
        middle = ["-m", found.name] if found.target == "module" else [found.name]
        assert [*found.options, *middle, *found.argv] == arguments
