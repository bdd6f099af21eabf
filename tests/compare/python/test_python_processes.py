"""What a test's child processes did is part of the run: each way to start one, and each way to see what it did."""

from __future__ import annotations

from pathlib import Path

import pytest
from python_pairs import Files, reachable, suspects, traced_pair

from afterd.model.trace import Alignment

TOOL = """\
    import sys

    def parse(text):
        return float(text)

    def limit(amount):
        return amount >= 0

    def money(amount):
        return f"{amount:,.2f}"

    def main(argv):
        amount = parse(argv[1] if len(argv) > 1 else sys.stdin.read())
        if not limit(amount):
            print("too little", file=sys.stderr)
            return 1
        text = money(amount)
        if len(argv) > 2:
            with open(argv[2], "w") as stream:
                stream.write(text)
        else:
            print(text)
        return 0

    if __name__ == "__main__":
        sys.exit(main(sys.argv))
    """
START = "import os, subprocess, sys\n\n"
COMMA = ('f"{amount:,.2f}"', 'f"{amount:.2f}"')
LIMIT = ("amount >= 0", "amount > 0")
PARSED = ("float(text)", "float(text or None)")
NUMBER = "import multiprocessing\nfrom tool import money\n\n"

CASES = {
    "printed": (
        COMMA,
        """\
    def test_tool():
        done = subprocess.run([sys.executable, "tool.py", "1200"], capture_output=True, text=True)
        assert "1,200" in done.stdout
    """,
    ),
    "status": (
        LIMIT,
        """\
    def test_tool():
        done = subprocess.run([sys.executable, "-m", "tool", "0"])
        assert done.returncode == 0
    """,
    ),
    "call": (
        LIMIT,
        """\
    def test_tool():
        assert subprocess.call([sys.executable, "-m", "tool", "0"]) == 0
    """,
    ),
    "checked": (
        LIMIT,
        """\
    def test_tool():
        assert b"0" in subprocess.check_output([sys.executable, "-m", "tool", "0"])
    """,
    ),
    "spoken to": (
        COMMA,
        """\
    def test_tool():
        process = subprocess.Popen([sys.executable, "-m", "tool"], stdin=-1, stdout=-1)
        out, _ = process.communicate(b"1200")
        assert out.decode().strip() == "1,200.00"
    """,
    ),
    "waited for": (
        LIMIT,
        """\
    def test_tool():
        process = subprocess.Popen([sys.executable, "-m", "tool", "0"])
        assert process.wait() == 0
    """,
    ),
    "shell": (
        COMMA,
        """\
    def test_tool():
        assert subprocess.getoutput(f"{sys.executable} -m tool 1200 | sort") == "1,200.00"
    """,
    ),
    "file": (
        COMMA,
        """\
    def test_tool(tmp_path):
        out = tmp_path / "out"
        subprocess.run([sys.executable, "-m", "tool", "1200", str(out)], check=True)
        assert "1,200" in out.read_text()
    """,
    ),
    "raised": (
        PARSED,
        """\
    def test_tool():
        done = subprocess.run([sys.executable, "-m", "tool", ""], stderr=-1, text=True)
        assert "could not convert" in done.stderr
    """,
    ),
    "spawned": (
        LIMIT,
        """\
    def test_tool():
        assert os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-m", "tool", "0"]) == 0
    """,
    ),
    "among much else": (
        COMMA,
        """\
    def test_tool():
        command = f"seq 500; {sys.executable} -m tool 1200; seq 500"
        assert "1,200" in subprocess.run(command, shell=True, stdout=-1, text=True).stdout
    """,
    ),
    "with an import path of its own": (
        COMMA,
        """\
    def test_tool():
        env = dict(os.environ, PYTHONPATH=os.getcwd())
        command = [sys.executable, "-m", "tool", "1200"]
        assert "1,200" in subprocess.check_output(command, text=True, env=env)
    """,
    ),
    "with no import path": (
        COMMA,
        """\
    def test_tool():
        env = {name: os.environ[name] for name in os.environ if name != "PYTHONPATH"}
        command = [sys.executable, "-m", "tool", "1200"]
        process = os.posix_spawn(command[0], [*command, "out"], env)
        os.waitpid(process, 0)
        assert "1,200" in open("out").read()
    """,
    ),
    "below another": (
        COMMA,
        """\
    OUTER = "import subprocess, sys; subprocess.run([sys.executable, '-m', 'tool', '1200'])"

    def test_tool():
        assert "1,200" in subprocess.check_output([sys.executable, "-c", OUTER], text=True)
    """,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_child_s_change_is_reached(tmp_path: Path, case: str) -> None:
    """What the test saw of its child leads to what the child executed."""
    (old, new), test = CASES[case]
    tests = {"test_tool.py": START + _plain(test)}
    good: Files = {"tool.py": TOOL, **tests}
    bad = {"tool.py": TOOL.replace(old, new), **tests}
    execution = traced_pair(tmp_path, good, bad)
    assert "c1" in suspects(execution)
    assert not any("processes" in note for note in execution.notes())


def test_a_child_that_does_more_than_the_test_is_below_it_too(tmp_path: Path) -> None:
    """The process with most rows comes first where none saw a failure: its activations stood below nothing (csvkit)."""
    test = """\
    def test_tool():
        done = subprocess.run([sys.executable, "-m", "tool", "1200"], stdout=-1, text=True)
        assert "1,200" in done.stdout
    """
    tests = {"test_tool.py": START + _plain(test)}
    ended = "        sys.exit(main(sys.argv))"
    busy = TOOL.replace(ended, f"        [money(number) for number in range(100)]\n{ended}")
    execution = traced_pair(
        tmp_path,
        {"tool.py": busy, **tests},
        {"tool.py": busy.replace(*COMMA), **tests},
    )
    assert execution.green is not None
    for trace in (execution.trace, execution.green.trace):
        (module,) = [frame for frame in trace.frames if frame.node.module.path == "tool.py"][:1]
        assert module.parent is not None
    modules = [step for step in reachable(execution) if step.location.file == "tool.py"]
    assert all(step.green.alignment is not Alignment.ABSENT for step in modules)


def test_a_pool_s_workers_are_not_followed(tmp_path: Path) -> None:
    """They are ended by a signal, some before they would have written what they did, which is chance."""
    test = """\
    def test_tool():
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(money, [1200, 5]) == ["1,200.00", "5.00"]
    """
    tests = {"test_tool.py": POOL_START + _plain(test)}
    good: Files = {"tool.py": TOOL, **tests}
    execution = traced_pair(tmp_path, good, {"tool.py": TOOL.replace(*COMMA), **tests})
    assert execution.failures()
    assert any("processes" in note for note in execution.notes())


def test_what_is_not_python_is_said_not_to_be_followed(tmp_path: Path) -> None:
    """A program that is started, and none of Python's below it."""
    test = "import subprocess\n\ndef test_tool():\n    assert subprocess.call(['false']) == 0\n"
    execution = traced_pair(tmp_path, {"test_tool.py": test}, {"test_tool.py": test})
    assert any("processes" in note for note in execution.notes())


def _plain(text: str) -> str:
    return "".join(line.removeprefix("    ") for line in text.splitlines(keepends=True))


POOLS = {
    "joined": """\
    def test_tool():
        process = multiprocessing.Process(target=print_money, args=("out",))
        process.start()
        process.join()
        assert open("out").read() == "1,200.00"
    """,
    "executor": """\
    def test_tool():
        with ProcessPoolExecutor(2) as pool:
            assert list(pool.map(money, [1200, 5])) == ["1,200.00", "5.00"]
    """,
    "forked by hand": """\
    def test_tool():
        reading, writing = os.pipe()
        if not (child := os.fork()):
            os.write(writing, money(1200).encode())
            os._exit(0)
        os.waitpid(child, 0)
        assert os.read(reading, 100) == b"1,200.00"
    """,
}
POOL_START = """\
import multiprocessing, os
from concurrent.futures import ProcessPoolExecutor
from tool import money

def print_money(path):
    with open(path, "w") as stream:
        stream.write(money(1200))

"""


@pytest.mark.parametrize("case", POOLS)
def test_a_fork_s_change_is_reached(tmp_path: Path, case: str) -> None:
    """What a fork did is as well, also where it ends by ``os._exit``."""
    tests = {"test_tool.py": POOL_START + _plain(POOLS[case])}
    good: Files = {"tool.py": TOOL, **tests}
    execution = traced_pair(tmp_path, good, {"tool.py": TOOL.replace(*COMMA), **tests})
    assert "c1" in suspects(execution)
    assert not any("processes" in note for note in execution.notes())


def test_each_process_has_its_own_counterpart(tmp_path: Path) -> None:
    """The same tool three times: what the third one did is held against green's third one, modules and all."""
    test = """\
    def run(amount):
        command = [sys.executable, "-m", "tool", amount]
        return subprocess.run(command, stdout=-1, text=True).stdout.strip()

    def test_tool():
        assert [run("1"), run("20"), run("1200")] == ["1.00", "20.00", "1,200.00"]
    """
    tests = {"test_tool.py": START + _plain(test)}
    good: Files = {"tool.py": TOOL, **tests}
    execution = traced_pair(tmp_path, good, {"tool.py": TOOL.replace(*COMMA), **tests})
    printed = [step for step in reachable(execution) if step.text.startswith("print(text)")]
    told = {(step.rendered, step.green.rendered) for step in printed}
    assert told == {("('1200.00',)", "('1,200.00',)")} | {(f"('{n}.00',)",) * 2 for n in (1, 20)}
    main = [step for step in reachable(execution) if step.text.startswith("if __name__")]
    assert main
    assert all(step.green.alignment is Alignment.SAME for step in main)
