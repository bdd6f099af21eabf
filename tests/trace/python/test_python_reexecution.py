"""The warm process: same results as a fresh one, and it says when it cannot be used."""

from __future__ import annotations

import os
import re
import shlex
import signal
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from python_pairs import PYTEST, written

from afterd.execution import sandbox
from afterd.execution.environment import scrubbed_environment
from afterd.execution.process import Command, Ending, ProcessResult
from afterd.execution.process_tree import walk
from afterd.execution.rerunning import ColdError
from afterd.limits import ProcessLimits
from afterd.trace.python.stage.command import PythonCommand, python_command
from afterd.trace.python.stage.reexecution import WarmPython, WarmTests

LIMITS = ProcessLimits(timeout=30.0)
QUIET = (*PYTEST, "-p", "no:hypothesispytest", "-p", "no:xdist")  # they take a second to import
TREE = {
    "pkg/__init__.py": "from pkg.core import value\n",
    "pkg/core.py": "from pkg.rest import base\ndef value():\n    return base() + 1\n",
    "pkg/rest.py": "def base():\n    return 1\n",
    "conftest.py": "import pytest\n@pytest.fixture\ndef wanted():\n    return 3\n",
    "test_pkg.py": """\
        import os, tempfile
        import pkg
        def test_value(wanted, tmp_path):
            print(tempfile.gettempdir() == os.environ["TMPDIR"], os.getcwd())
            assert pkg.value() == wanted
        """,
}


def plainly(result: ProcessResult) -> list[str]:
    """The output without addresses, directories and durations."""
    text = result.stdout.text().replace(str(result.directory), "")
    return re.sub(r"0x[0-9a-f]+|in [0-9.]+s", "", text).splitlines()


def warm_python(tree: Path, *arguments: str, **extra: str) -> WarmPython:
    """A warm process for this interpreter."""
    command = Command((sys.executable, *arguments), tree, scrubbed_environment(extra=extra))
    return WarmPython(command, tree, tree.parent / "staged", LIMITS)


def test_variants_in_one_warm_process(tmp_path: Path) -> None:
    """Changed, added and deleted modules, fixtures and data; each run is as if it were the first."""
    tree = written(tmp_path / "tree", TREE)
    command = Command(QUIET, tree, scrubbed_environment())
    fresh = sandbox.run(command, LIMITS)
    with WarmPython(command, tree, tmp_path / "staged", LIMITS) as warm:
        assert (warm.cold, warm.probes) == ("", 1)
        red = warm.run()
        assert (red.ending, red.status) == (Ending.EXITED, 1)
        assert "assert 2 == 3" in red.stdout.text()
        assert plainly(red) == plainly(fresh)
        written(tree, {"pkg/rest.py": "def base():\n    return 2\n"})
        assert warm.run().status == 0
        (tree / "pkg/rest.py").unlink()
        assert "No module named 'pkg.rest'" in warm.run().stdout.text()
        more = {
            "pkg/core.py": "from pkg.more import value\n",
            "pkg/more.py": "def value():\n    return 3\n",
        }
        written(tree, more)
        assert warm.run().status == 0
        written(tree, {"conftest.py": TREE["conftest.py"].replace("3", "4")})
        assert warm.run().status == 1
        assert warm.added < 2.0
    with pytest.raises(ColdError, match="was closed"):
        warm.run()


# What a program prints of itself, and the arguments that start it. From Python 3.14 on, whoever imports ctypes, as
# the warm process does, may hold libffi's file open.
MIRRORS = {
    "script": ("main.py", "one"),
    "module": ("-m", "main", "one"),
    "unittest": ("-m", "unittest", "-q", "test_main"),
}
MIRROR = """\
    import atexit, os, sys, tempfile, threading
    tree = os.path.dirname(os.path.abspath(__file__))
    print(__name__, sys.argv, sys.path[0], os.getcwd() == tree)
    print(sorted(sys.modules["__main__"].__dict__.keys() - {"__annotations__"}))
    print(getattr(sys.modules["__main__"], "__file__", None))
    links = [f"/proc/self/fd/{number}" for number in sorted(os.listdir("/proc/self/fd"))]
    print([link for link in links if os.path.lexists(link) and "libffi" not in os.readlink(link)])
    print(sorted(name for name in os.environ if name != "LINES"), os.environ.get("PYTHONPATH"))
    print(os.path.dirname(tempfile.gettempdir()) == os.environ["AFTERD_RUN"], os.umask(0o22))
    print(threading.current_thread().name, threading.active_count(), sys.stdin.read())
    print(os.getpid() == os.getsid(0), sys.stdout.encoding, sys.stdout.line_buffering)
    atexit.register(print, "the end")
    threading.Timer(0.01, print, ["later"]).start()
    """


@pytest.mark.parametrize("shell", [False, True], ids=["directly", "by a shell"])
@pytest.mark.parametrize("arguments", MIRRORS.values(), ids=MIRRORS)
def test_a_program_cannot_tell(arguments: tuple[str, ...], shell: bool, tmp_path: Path) -> None:
    """Arguments, paths, descriptors, environment, threads and the end are those of a fresh process."""
    main = MIRROR + "if __name__ == '__main__':\n        raise SystemExit('it is done')\n"
    tests = "import main, unittest\nclass Test(unittest.TestCase):\n    def test(self): main.f()\n"
    tree = written(tmp_path / "tree", {"main.py": main, "test_main.py": tests})
    argv = (sys.executable, *arguments)
    command = Command(
        ("sh", "-c", shlex.join(argv)) if shell else argv, tree, scrubbed_environment()
    )
    fresh = sandbox.run(command, LIMITS)
    with WarmPython(command, tree, tree.parent / "staged", LIMITS) as warm:
        assert not warm.cold
        forked = warm.run()
    assert plainly(forked) == plainly(fresh)
    assert forked.status == fresh.status == 1
    durations = re.compile(r"in [0-9.]+s")
    assert durations.sub("", forked.stderr.text()) == durations.sub("", fresh.stderr.text())


def test_temporary_files_may_lie_deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel takes no more than 107 bytes of a socket's path; TMPDIR may be longer than that."""
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    (tmp_path / "a.py").write_text("print('seen')\n")
    with warm_python(tmp_path, "a.py") as warm:
        assert warm.cold == ""
        assert warm.run().stdout.text() == "seen\n"


def test_scripts_time_limits_and_deaths(tmp_path: Path) -> None:
    """Exit statuses are told; a run that was ended, or died, is for a fresh process to judge."""
    text = "import mode\nmode.act()\n"
    tree = written(tmp_path / "tree", {"main.py": text, "mode.py": "def act(): pass\n"})

    def acting(body: str) -> None:
        written(tree, {"mode.py": f"def act():\n    {body}\n"})

    with warm_python(tree, "main.py") as warm:
        assert warm.run().status == 0
        acting("raise SystemExit(7)")
        assert warm.run().status == 7
        acting("x = {}['k']")
        failed = warm.run()
        assert failed.status == 1
        assert f'{tree}/main.py", line 2, in <module>' in failed.stderr.text()
        assert "x = {}['k']" in failed.stderr.text()
        assert "afterd" not in failed.stderr.text().replace(str(tmp_path), "")
        acting("import os; os.abort()")
        with pytest.raises(ColdError, match="died of signal 6"):
            warm.run()
        acting("while True: pass")  # it would anywhere
        assert warm.run(timeout=1.5).ending is Ending.TIMEOUT
        acting("import time; time.sleep(60)")
        with pytest.raises(ColdError, match="was ended: timeout"):
            warm.run(timeout=0.3)
        acting("print('x' * 70_000_000)")
        with pytest.raises(ColdError, match="was ended: output"):
            warm.run()
        acting("pass")
        assert warm.run().status == 0


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    """A test's own children end with it, also those that left its session."""
    main = """\
        import os, sys, time
        if not os.fork():
            os.setsid()
            if not os.fork():
                time.sleep(60)
            os._exit(0)
        open(f"/proc/{os.getpid()}/comm").read()
        """
    tree = written(tmp_path / "tree", {"main.py": main})
    with warm_python(tree, "main.py") as warm:
        assert not warm.cold
        assert warm.run().status == 0
        left = [
            entry.name
            for entry in Path("/proc").iterdir()
            if entry.name.isdigit() and f"AFTERD_RUN={warm._directory}" in _environment(entry)
        ]
        assert not left


def _environment(entry: Path) -> str:
    try:
        return (entry / "environ").read_bytes().decode(errors="replace")
    except OSError:
        return ""


# A module outside the tree, and why it is not imported ahead.
HARMFUL = {
    "a thread": (
        "import threading, time\n"
        "threading.Thread(target=time.sleep, args=(60,), daemon=True, name='poller').start()\n",
        "starts the thread poller",
    ),
    "a socket": ("import socket\nkept = socket.socket()\n", "keeps a socket open"),
    "a file": ("kept = open(__file__)\n", "keeps a file or pipe open"),
    "a warning": ("import warnings\nwarnings.warn('x', UserWarning)\n", "warns (UserWarning)"),
    "the tree's data": ("import os\nopen(os.environ['DATA']).close()\n", "data.txt of the tree"),
    "the tree's module": ("import own\n", "imports own from the tree"),
    "a file of its own": ("import tempfile\ntempfile.mkdtemp()\n", "writes "),
    "a process": (
        "import os\nos.fork() or os.execlp('sleep', 'sleep', '60')\n",
        "starts a process",
    ),
    "an end": ("import os\nos.environ.get('AFTERD_RUN') or os._exit(1)\n", ""),
}


@pytest.mark.parametrize("case", HARMFUL.values(), ids=HARMFUL)
def test_what_must_not_be_imported_ahead(case: tuple[str, str], tmp_path: Path) -> None:
    """It is left out, with the reason; each run imports it by itself, the rest stays warm."""
    text, why = case
    outside = written(tmp_path / "outside", {"harmful.py": text, "user.py": "import harmful\n"})
    main = "import harmful, user, own, json, sys\nprint(sorted(sys.modules) != [])\n"
    tree = written(tmp_path / "tree", {"main.py": main, "own.py": "", "data.txt": ""})
    extra = {"PYTHONPATH": f"{outside}:{tree}", "DATA": str(tree / "data.txt")}
    with warm_python(tree, "main.py", **extra) as warm:
        assert not warm.cold
        assert why in warm.left_out.get("harmful", "")
        assert warm.run().status == warm.run().status == 0


def test_environment_that_an_import_sets(tmp_path: Path) -> None:
    """What an import outside the tree puts into the environment stays there."""
    outside = written(tmp_path / "o", {"setting.py": "import os\nos.environ['SET'] = 'yes'\n"})
    main = "import os, setting\nraise SystemExit(os.environ['SET'] != 'yes')\n"
    tree = written(tmp_path / "tree", {"main.py": main})
    with warm_python(tree, "main.py", PYTHONPATH=str(outside)) as warm:
        assert warm.run().status == 0


def test_what_another_loader_loads_is_left_to_it(tmp_path: Path) -> None:
    """The asserts of pytest's plugins are rewritten; it would warn of those it finds imported."""
    plugin = "def check(x):\n    assert x == 1\n"
    outside = written(tmp_path / "o", {"checking.py": plugin})
    tests = "import checking\ndef test_it():\n    checking.check(2)\n"
    tree = written(tmp_path / "tree", {"test_it.py": tests})
    environment = scrubbed_environment(
        extra={"PYTHONPATH": str(outside), "PYTEST_PLUGINS": "checking"}
    )
    command = Command((*QUIET, "-W", "error"), tree, environment)
    with WarmPython(command, tree, tmp_path / "staged", LIMITS) as warm:
        assert not warm.cold
        assert warm.seen is not None
        assert "checking" in warm.seen.foreign
        assert "assert 2 == 1" in warm.run().stdout.text()


# A plugin that sees, by the locals of pytest's loader, whether it was rewritten for this run.
REWRITTEN = """\
import sys
AGAIN = not {"source_hash", "source_stat"}.isdisjoint(sys._getframe(1).f_locals)
def check(x):
    assert x == 1, f"again: {AGAIN}"
"""


@pytest.mark.parametrize(
    ("ini", "again"), [("", False), ("enable_assertion_pass_hook = true", True)]
)
def test_what_pytest_rewrites_is_rewritten_once(ini: str, again: bool, tmp_path: Path) -> None:
    """By its text: a plugin that is another one in the meantime, or is to be told, is rewritten."""
    outside = written(tmp_path / "o", {"checking.py": REWRITTEN})
    tests = "import checking\ndef test_it():\n    checking.check(2)\n"
    tree = written(tmp_path / "tree", {"test_it.py": tests, "pytest.ini": f"[pytest]\n{ini}\n"})
    environment = scrubbed_environment(
        extra={"PYTHONPATH": str(outside), "PYTEST_PLUGINS": "checking"}
    )
    command = Command(QUIET, tree, environment)
    with WarmPython(command, tree, tmp_path / "staged", LIMITS) as warm:
        assert f"again: {again}\nassert 2 == 1" in _unmarked(warm.run().stdout.text())
        (outside / "checking.py").write_text(REWRITTEN.replace("x == 1", "x == 3"))
        assert "again: True\nassert 2 == 3" in _unmarked(warm.run().stdout.text())


def _unmarked(report: str) -> str:
    """Without what pytest puts before the lines of a failure."""
    return re.sub(r"^E +(AssertionError: )?", "", report, flags=re.MULTILINE)


COLD = {
    "a shell": (("sh", "-c", "true"), "does not start Python directly"),
    "no such file": ((sys.executable, "-I", "-m", "pytest"), "did not start listening"),
}


@pytest.mark.parametrize("case", COLD.values(), ids=COLD)
def test_where_it_is_cold(case: tuple[tuple[str, ...], str], tmp_path: Path) -> None:
    argv, why = case
    command = Command(argv, tmp_path, scrubbed_environment())
    with WarmPython(command, tmp_path, tmp_path / "staged", LIMITS) as warm:
        assert why in warm.cold
        with pytest.raises(ColdError):
            warm.run()


def test_the_second_slot_needs_no_probe(tmp_path: Path) -> None:
    """What a run in one slot imported is known for the others; a shell command is not for it."""
    warm_tests = WarmTests(tmp_path / "staged")
    probes = []
    for name in ("0", "1"):
        tree = written(tmp_path / name, {"main.py": "import own\n", "own.py": "import json\n"})
        command = Command((sys.executable, "main.py"), tree, scrubbed_environment())
        made = warm_tests(command, tree, LIMITS, None)
        assert made is not None
        with made:
            assert made.run().status == 0
            probes.append(made.probes)
    assert probes == [1, 0]
    assert warm_tests(Command(("sh", "-c", "true"), tmp_path, {}), tmp_path, LIMITS, None) is None


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


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("{} -m pytest -q tests", ("-q", "tests")),
        ("{} -m pytest -q 'tests/a.py::test[x-$y]'", ("-q", "tests/a.py::test[x-$y]")),
        ('{} -m pytest -k "one or two"', ("-k", "one or two")),
        ("{} -m pytest tests/*.py", None),
        ("{} -m pytest && true", None),
        ("{} -m pytest $ARGUMENTS", None),
        ("{} -m pytest > log", None),
        ("{} -m pytest test[1]", None),
        ("{} -m pytest ~/tests", None),
        ("A=1 {} -m pytest", None),
        ("{} -m pytest 'x", None),
    ],
)
def test_a_shell_with_one_command_is_looked_through(
    text: str, arguments: tuple[str, ...] | None, tmp_path: Path
) -> None:
    """Where nothing in the text means more to a shell than its words do."""
    found = python_command(("sh", "-c", text.format(sys.executable)), {}, tmp_path)
    assert (found and found.argv) == arguments


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


def test_a_server_that_was_killed_is_lost_and_can_be_closed(tmp_path: Path) -> None:
    tree = written(tmp_path / "tree", {"check.py": "assert True\n"})
    with warm_python(tree, "check.py") as warm:
        assert warm.run().status == 0
        for pid in walk(os.getpid()):
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.5)  # what is written now meets a closed socket
        with pytest.raises(ColdError):
            warm.run()
        assert warm.lost
