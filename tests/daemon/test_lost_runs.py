"""A run that was lost is no outcome: it is repeated, and the log says what was lost."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from daemon_repositories import TEXT, commit, jobs, made, once, opened, verdicts

from afterd.store.explanations import load

LIB = "def one():\n    return 1\n"
CHECK = """\
import os
import signal
import sys
from pathlib import Path

counter = Path(sys.argv[1])
count = int(counter.read_text()) + 1
counter.write_text(str(count))
if count > 0 and count % 2:
    os.kill(os.getppid() if sys.argv[2] == "supervisor" else os.getpid(), signal.SIGKILL)
from lib import one

assert one() == 1
"""
KILLING = """\
n=$(($(cat {counter}) + 1)); echo $n >{counter}
[ $n -lt {first} ] || [ $n -ge {last} ] || kill -9 {whom}
grep -q three text || {{ echo three is missing; exit 1; }}
"""


def log(where: Path) -> str:
    return (where / ".git/afterd/daemon.log").read_text()


@pytest.mark.parametrize("victim", ["$PPID", "$$"], ids=["supervisor", "program"])
@pytest.mark.parametrize("first", [1, 2, 4])
def test_a_killed_run_is_made_again(tmp_path: Path, first: int, victim: str) -> None:
    """The run of the suite, that of a confirmation, that of a variant; once or three times over."""
    where = made(tmp_path / "r", {"text": TEXT, "other": "a\n"})
    counter = tmp_path / "counter"
    script = KILLING.format(
        counter=counter, first=first, last=first + (3 if first == 2 else 1), whom=victim
    )
    counter.write_text("-99")
    once(where, test=("sh", "-c", script))
    counter.write_text("0")
    red = commit(where, {"text": "one\ntwo\n3\n", "other": "b\n"})
    once(where, test=("sh", "-c", script))
    [verdict] = verdicts(where, red)
    assert verdict.kind == "caused", verdict.reason
    assert log(where).count("was lost") == (3 if first == 2 else 1)
    assert "again" in log(where)


def test_a_test_that_always_kills_its_supervisor_ends(tmp_path: Path) -> None:
    """Three repetitions, then it is said: no job goes on for ever."""
    where = made(tmp_path / "r")
    once(where)
    of = commit(where, {"other": "b\n"})
    counter = tmp_path / "counter"
    counter.write_text("0")
    script = KILLING.format(counter=counter, first=1, last=99, whom="$PPID")
    once(where, test=("sh", "-c", script))
    [verdict] = verdicts(where, of)
    assert verdict.kind == "broken"
    assert "killed" in verdict.reason
    assert counter.read_text().strip() == "4"
    assert jobs(where)[-1] == (of, "done")


@pytest.mark.parametrize("victim", ["supervisor", "program"])
def test_no_kill_costs_a_python_answer_its_tree(tmp_path: Path, victim: str) -> None:
    """Every run is lost once: of the suite, both ends, the warm process, both traces, the variants."""
    where = made(tmp_path / "r", {"lib.py": LIB, "check.py": CHECK})
    counter = tmp_path / "counter"
    counter.write_text("-99")
    test = (sys.executable, "check.py", str(counter), victim)
    once(where, test=test)
    counter.write_text("0")
    red = commit(where, {"lib.py": LIB.replace("return 1", "return 2")})
    once(where, test=test)
    [verdict] = verdicts(where, red)
    assert verdict.kind == "caused", verdict.reason
    assert int(counter.read_text()) >= 16
    with opened(where) as reader:
        explanation = load(reader, verdict.explanation_id or 0)
    assert [change.file for change in explanation.root] == ["lib.py"]
    assert explanation.tree is not None, explanation.notes
    assert not [note for note in explanation.notes if "ended" in note], explanation.notes


def test_a_compiler_that_is_killed_makes_no_broken_build(tmp_path: Path) -> None:
    """As gcc says it, and make; what it had half written is made again."""
    makefile = "all: x.o\nx.o: x.c\n\tsh cc.sh x.c x.o\n"
    compiler = """\
echo half >$2
[ -e {flag} ] && {{ rm {flag}; echo 'gcc: fatal error: Killed signal terminated program cc1' >&2; exit 1; }}
cp $1 $2
"""
    flag = tmp_path / "flag"
    files = {"makefile": makefile, "cc.sh": compiler.format(flag=flag), "x.c": "int good;\n"}
    where = made(tmp_path / "r", files)
    commands = {"build": ("make",), "test": ("sh", "-c", "grep -q good x.o")}
    once(where, **commands)
    flag.touch()
    of = commit(where, {"x.c": "int good = 1;\n"})
    once(where, **commands)
    assert not flag.exists()
    assert verdicts(where, of) == []
    assert "was lost" in log(where)
