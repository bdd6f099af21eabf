"""A run that was lost is no outcome: it is repeated, and the log says what was lost."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from daemon_repositories import (
    TEXT,
    commit,
    jobs,
    made,
    once,
    opened,
    plain,
    verdict_where_tests,
    verdicts,
)

from afterd.cli.daemon import command as daemon
from afterd.limits import JOB
from afterd.store.database import DATABASE_NAME
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
C_LIB = "int one(void) {\n    int value = 1;\n    return value;\n}\n"
C_CHECK = """\
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int one(void);

int main(int argc, char **argv) {
    int count = 0;
    FILE *counter = fopen(argv[1], "r+");
    fscanf(counter, "%d", &count);
    rewind(counter);
    fprintf(counter, "%d      ", ++count);
    fclose(counter);
    if (count > 0 && count % 2)
        kill(strcmp(argv[2], "supervisor") ? getpid() : getppid(), SIGKILL);
    assert(one() == 1);
    return 0;
}
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


def killed_from(tmp_path: Path, first: int) -> tuple[Path, str, Path, tuple[str, ...]]:
    """A red commit whose runs are killed from the ``first`` on; a counter of runs, and the test command."""
    where = made(tmp_path / "r", {"text": TEXT, "other": "a\n"})
    counter = tmp_path / "counter"
    test = ("sh", "-c", KILLING.format(counter=counter, first=first, last=99, whom="$PPID"))
    counter.write_text("-99")
    once(where, test=test)
    counter.write_text("0")
    red = commit(where, {"text": "one\ntwo\n3\n", "other": "b\n"})
    once(where, test=test)
    return where, red, counter, test


def make_due(where: Path) -> None:
    """As if the time to wait were over."""
    with sqlite3.connect(where / ".git/afterd" / DATABASE_NAME) as database:
        database.execute("UPDATE job SET not_before = 0")


@pytest.mark.parametrize("first", [1, 3], ids=["suite", "confirmation"])
def test_what_is_killed_each_time_waits_and_is_taken_up_again(tmp_path: Path, first: int) -> None:
    """Nothing is said of the commit before a run of it ended; what was done is not done again."""
    where, red, counter, test = killed_from(tmp_path, first)
    assert verdicts(where, red) == []
    assert jobs(where)[-1] == (red, "queued")
    assert int(counter.read_text()) == first + 3
    once(where, test=test)
    assert int(counter.read_text()) == first + 3, "it is not tried again before its time"
    said = CliRunner().invoke(daemon, ["status", "-C", str(where)]).output
    assert "killed from outside 4 times in a row" in " ".join(said.split())
    assert "It is tried again after" in " ".join(said.split())
    counter.write_text("100")
    make_due(where)
    once(where, test=test)
    [verdict] = verdicts(where, red)
    assert verdict.kind == "caused", verdict.reason
    assert jobs(where)[-1] == (red, "done")


@pytest.mark.parametrize("first", [1, 3], ids=["suite", "confirmation"])
def test_what_is_killed_at_every_attempt_is_undetermined_in_the_end(
    tmp_path: Path, first: int
) -> None:
    """No job goes on for ever, and what was never seen has no culprit and no broken environment."""
    where, red, counter, test = killed_from(tmp_path, first)
    for _ in range(JOB.attempts + 1):
        make_due(where)
        counter.write_text("50")
        once(where, test=test)
    assert jobs(where)[-1] == (red, "done")
    [verdict] = verdicts(where, red)
    assert verdict.kind == "undetermined"
    assert f"at each of {JOB.attempts} attempts" in verdict.reason


def test_the_end_of_a_range_that_is_killed_each_time_is_no_end_of_explain(tmp_path: Path) -> None:
    """One sentence and exit 13: neither "flaky" nor a verdict on the version."""
    where, red, counter, test = killed_from(tmp_path, 2)
    counter.write_text("0")
    asked = [sys.executable, "-m", "afterd", "explain", f"{red}~..{red}", "--", *test]
    done = subprocess.run(
        asked, cwd=where, env=plain(tmp_path), capture_output=True, text=True, check=False
    )
    assert done.returncode == 13, done.stderr
    assert "The test at the bad version was killed from outside 4 times in a row" in done.stderr


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
    assert int(counter.read_text()) >= 12
    with opened(where) as reader:
        explanation = load(reader, verdict.explanation_id or 0)
    assert [change.file for change in explanation.root] == ["lib.py"]
    assert explanation.tree is not None, explanation.notes
    assert not [note for note in explanation.notes if "ended" in note], explanation.notes


@pytest.mark.parametrize("victim", ["supervisor", "program"])
def test_no_kill_costs_a_c_answer_its_tree(tmp_path: Path, victim: str) -> None:
    """Every run is lost once, the traced ones of both versions among them."""
    makefile = "p: check.c lib.c\n\t$(CC) -g -o p check.c lib.c\n"
    files = {"makefile": makefile, "check.c": C_CHECK, "lib.c": C_LIB, ".gitignore": "p\n"}
    where = made(tmp_path / "r", files)
    counter = tmp_path / "counter"
    commands = {"build": ("make",), "test": ("./p", str(counter), victim)}
    counter.write_text("-99\n")
    once(where, **commands)
    counter.write_text("0\n")
    red = commit(where, {"lib.c": C_LIB.replace("value = 1", "value = 2")})
    once(where, **commands)
    [verdict] = verdicts(where, red)
    assert verdict.kind == "caused", verdict.reason
    with opened(where) as reader:
        explanation = load(reader, verdict.explanation_id or 0)
    assert [change.file for change in explanation.root] == ["lib.c"]
    assert explanation.tree is not None, explanation.notes
    assert log(where).count("was lost") >= int(counter.read_text()) // 2


def test_a_test_that_is_killed_beside_others_is_not_red(tmp_path: Path) -> None:
    """The script of a suite goes on and calls it failed; the shell says what became of it."""
    flag = tmp_path / "flag"
    script = """\
for name in one two; do
    if sh $name.sh; then echo "ok - $name"; else echo "not ok - $name"; red=1; fi
done
exit ${red:-0}
"""
    two = f"[ -e {flag} ] && {{ rm {flag}; kill -9 $$; }}; grep -q good text\n"
    where = made(
        tmp_path / "r", {"check.sh": script, "one.sh": "exit 0\n", "two.sh": two, "text": "good\n"}
    )
    once(where, test=("sh", "check.sh"))
    flag.touch()
    of = commit(where, {"text": "good as well\n"})
    once(where, test=("sh", "check.sh"))
    assert not flag.exists()
    assert verdicts(where, of) == []
    assert "was lost" in log(where)


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


def test_a_build_that_is_killed_each_time_says_nothing_of_the_commit(tmp_path: Path) -> None:
    """No culprit and no broken build: the compiler never came to its end."""
    makefile = "all: x.o\nx.o: x.c\n\tsh cc.sh x.c x.o\n"
    compiler = "[ -e %s ] && kill -9 $$; cp $1 $2\n" % (tmp_path / "flag")
    where = made(tmp_path / "r", {"makefile": makefile, "cc.sh": compiler, "x.c": "int good;\n"})
    commands = {"build": ("make",), "test": ("sh", "-c", "grep -q good x.o")}
    once(where, **commands)
    (tmp_path / "flag").touch()
    of = commit(where, {"x.c": "int bad;\n"})
    once(where, **commands)
    assert verdicts(where, of) == []
    assert jobs(where)[-1] == (of, "queued")
    (tmp_path / "flag").unlink()
    make_due(where)
    once(where, **commands)
    [verdict] = verdicts(where, of)
    assert verdict.kind == "caused", verdict.reason


def test_what_ended_a_run_is_said_in_words(tmp_path: Path) -> None:
    verdict = verdict_where_tests(tmp_path / "r", "kill -TERM $$")
    assert verdict.reason == "The tests give no verdict: the test died of SIGTERM."
