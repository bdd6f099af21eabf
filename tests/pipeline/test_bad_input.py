"""What stands in the way of an explanation is one sentence and the exit status of its kind."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pipeline_runs import Done, afterd, git, repository, snapshot

GOOD = {"text.txt": "one\ntwo\nthree\n", "other.txt": "a\n"}
BAD = {"text.txt": "one\ntwo\nbroken\n", "other.txt": "b\n"}
TEST = "grep -q three text.txt"
PROGRAM = '#include <stdio.h>\nint main(void) { puts("three"); return 0; }\n'
BROKEN = '#include <stdio.h>\nint main(void) { puts("three") return 0; }\n'
MAKEFILE = "program: program.c\n\t$(CC) -o $@ program.c\n"
CHECK = "./program | grep -q three"


def _explain(path: Path, *arguments: str, **environment: str) -> Done:
    return afterd("explain", *arguments, cwd=path, **environment)


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """Two commits; the second broke the test, in one of its two changes."""
    return repository(tmp_path / "broken", GOOD, BAD)


def test_not_a_repository(tmp_path: Path) -> None:
    _explain(tmp_path, "--test", TEST).refused(2, "not in a git repository", "git init")


@pytest.mark.parametrize(
    ("revisions", "words"),
    [
        ("HEAD..HEAD", ["is empty", "--good"]),
        ("v9.9..HEAD", ["'v9.9'", "not a commit"]),
        ("HEAD~7..HEAD", ["'HEAD~7'", "may not go back so far"]),
        ("HEAD~1", ["no parent", "it is the first"]),
    ],
)
def test_a_range_that_is_none(broken: Path, revisions: str, words: list[str]) -> None:
    before = snapshot(broken)
    _explain(broken, revisions, "--test", TEST).refused(2, "#repository", *words)
    assert snapshot(broken) == before


@pytest.mark.parametrize("revisions", ["HEAD~1..HEAD", "HEAD", "{good}..HEAD"])
def test_a_shallow_clone_without_the_good_commit(
    broken: Path, tmp_path: Path, revisions: str
) -> None:
    good = git("rev-parse", "HEAD~1", cwd=broken).strip()
    git("clone", "-q", "--depth", "1", broken.as_uri(), "clone", cwd=tmp_path)
    done = _explain(tmp_path / "clone", revisions.format(good=good), "--test", TEST)
    done.refused(2, "shallow")


def test_no_test_is_found(broken: Path) -> None:
    _explain(broken).refused(13, "No tests were found", "#test")


def test_the_good_version_does_not_build(tmp_path: Path) -> None:
    files = {"program.c": BROKEN, "Makefile": MAKEFILE}
    path = repository(tmp_path / "c", files, {"program.c": PROGRAM})
    done = _explain(path, "--build", "make", "--test", "false")  # red, to come so far
    done.refused(13, "The good version does not build", "program.c:2", "#build")


@pytest.mark.parametrize("test", ["./no-such-test", "no-such-program-anywhere --all"])
def test_the_test_command_is_not_found(broken: Path, test: str) -> None:
    name = test.split(maxsplit=1)[0].removeprefix("./")
    _explain(broken, "--test", test).refused(13, "At the bad version", name, "#test")
    _explain(broken, "--", *test.split()).refused(13, "At the bad version", name)


def test_nothing_fails(broken: Path) -> None:
    done = _explain(broken, "--test", "grep -q one text.txt")
    assert done.status == 0, done.err
    assert "passes at" in done.out


def test_red_as_far_back_as_history_goes(broken: Path) -> None:
    done = _explain(broken, "--test", "grep -q four text.txt")
    assert done.status == 12, done.err
    assert "already red" in done.out
    assert "as far back as the history goes" in " ".join(done.out.split())


def test_red_before_in_another_way(tmp_path: Path) -> None:
    """What fails at the good version tells a reader whether the test was chosen too widely."""
    check = "if not {}: raise {}"
    good, bad = (
        {"check.py": check.format(*each)} for each in (("0", "KeyError(3)"), ("0", "OSError(4)"))
    )
    path = repository(tmp_path / "r", {**good, "tests.txt": ""}, bad)
    done = _explain(path, "--test", f"{sys.executable} check.py")
    assert done.status == 12, done.err
    assert (
        "fails at the good version as well, with that version's own check.py, though otherwise"
        " (check.py: KeyError: 3)" in " ".join(done.out.split())
    )


def test_green_further_back(tmp_path: Path) -> None:
    """Both ends of the range are red: it is the commit before that is explained."""
    unrelated = [{"other.txt": f"{number}\n"} for number in range(3)]
    path = repository(tmp_path / "r", GOOD, *unrelated[:1], BAD, *unrelated[1:])
    done = _explain(path, "HEAD~1..HEAD", "--test", TEST, "--format", "json")
    assert done.status == 0, done.err
    document = json.loads(done.out)
    [found] = document["explanations"]
    red, green, culprit = (git("rev-parse", f"HEAD~{back}", cwd=path).strip() for back in (1, 3, 2))
    assert [change["file"] for change in found["root"]] == ["text.txt"]
    assert document["range"] == {"good": green, "bad": culprit}
    assert f"already failed at {red[:12]}; the last green commit is {green[:12]}" in str(found)


def test_a_flaky_test(broken: Path, tmp_path: Path) -> None:
    """It fails and passes by turns, whatever the version."""
    count = tmp_path / "count"
    turns = f'echo run >> "{count}"; test $(($(wc -l < "{count}") % 2)) = 0'
    done = _explain(broken, "--test", turns)
    assert done.status == 11, done.err
    assert "flaky" in done.out
    assert count.read_text().count("run") == 2


@pytest.fixture
def without_compilers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A PATH with what a build needs, but no compiler; and no ziglang to be imported."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("sh", "make", "grep", "git", "env", "touch"):
        found = shutil.which(name)
        if found is None:
            pytest.skip(f"{name} is not installed")
        (folder / name).symlink_to(found)
    monkeypatch.setitem(sys.modules, "ziglang", None)
    monkeypatch.delenv("AFTERD_CLANG", raising=False)
    return str(folder)


def test_no_compiler_where_the_build_needs_one(tmp_path: Path, without_compilers: str) -> None:
    path = repository(
        tmp_path / "c",
        {"program.c": PROGRAM, "Makefile": MAKEFILE},
        {"program.c": PROGRAM.replace("three", "two")},
    )
    done = _explain(path, "--build", "make", "--test", CHECK, PATH=without_compilers)
    done.refused(13, "cc", "missing", "#build")


def test_no_compiler_where_only_tracing_needs_one(tmp_path: Path, without_compilers: str) -> None:
    """Reversion alone finds the change, and the answer says what was not done."""
    path = repository(
        tmp_path / "c",
        {"program.c": PROGRAM, "other.c": "int a;\n"},
        {"program.c": PROGRAM.replace("three", "two"), "other.c": "int b;\n"},
    )
    done = _explain(
        path, "--test", "grep -q three program.c", "--format", "json", PATH=without_compilers
    )
    assert done.status == 0, done.err
    [found] = json.loads(done.out)["explanations"]
    assert [change["file"] for change in found["root"]] == ["program.c"]
    assert "No clang" in str(found)
    assert found["tree"] is None


def test_a_dirty_work_tree_is_left_alone(broken: Path) -> None:
    """Staged, unstaged, untracked, removed: none of it is seen by a run, none of it changes."""
    (broken / "text.txt").write_text("my own edit\n")
    (broken / "staged.txt").write_text("staged\n")
    git("add", "staged.txt", cwd=broken)
    (broken / "other.txt").unlink()
    (broken / "untracked.txt").write_text("untracked\n")
    before = snapshot(broken)
    done = _explain(broken, "--test", f"{TEST} && test -e other.txt && test ! -e untracked.txt")
    assert done.status == 0, done.err
    assert "text.txt:3" in done.out
    assert snapshot(broken) == before


@pytest.fixture
def tiny_device(broken: Path) -> Iterator[Path]:
    """The state directory on a device of its own, of 256 KiB."""
    state = broken / ".git" / "afterd"
    state.mkdir()
    mount = shutil.which("mount")
    if os.geteuid() != 0 or mount is None:
        pytest.skip("only root can mount a small device")
    command = [mount, "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(state)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    yield state
    subprocess.run(["umount", "-l", str(state)], check=True)


@pytest.mark.usefixtures("tiny_device")
def test_no_space_left(broken: Path) -> None:
    (broken / "large.bin").write_bytes(os.urandom(1 << 19))
    git("add", "large.bin", cwd=broken)
    git(*("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "Large"), cwd=broken)
    before = snapshot(broken)
    done = _explain(broken, "HEAD~2..HEAD", "--test", TEST)
    done.refused(13, "Make room", "#space")
    assert snapshot(broken) == before


def test_no_space_left_at_all(broken: Path, tiny_device: Path) -> None:
    with pytest.raises(OSError, match="No space"):
        (tiny_device / "filler").write_bytes(bytes(1 << 20))
    _explain(broken, "--test", TEST).refused(13, str(tiny_device), "No space left")


@pytest.mark.parametrize("strategy", ["after", "dd", "add"])
def test_the_budget_is_spent(tmp_path: Path, strategy: str) -> None:
    """Two of the changes have to be undone; one run undoes one of them, and nothing is claimed."""
    lines = [f"line {number}\nfixed\n" for number in range(12)]
    bad = [line.replace("line", "new") for line in lines]
    path = repository(tmp_path / "r", {"text.txt": "".join(lines)}, {"text.txt": "".join(bad)})
    test = "! grep -q 'new 0' text.txt && ! grep -q 'new 11' text.txt"
    arguments = ("--test", test, "--strategy", strategy, "--format", "json")
    done = _explain(path, *arguments, "--budget", "1runs")
    assert done.status == 10, done.err
    [found] = json.loads(done.out)["explanations"]
    assert found["status"] == "inconclusive"
    assert found["verified"] is False
    assert found["runs"]["tests"] <= 1
    assert found["out_of_budget"] is True
    assert "budget" in afterd("show", cwd=path).out


def test_the_budget_is_spent_while_the_ends_are_confirmed(broken: Path) -> None:
    done = _explain(broken, "--test", "sleep 9; false", "--budget", "1s", "--format", "json")
    assert done.status == 10, done.err
    [found] = json.loads(done.out)["explanations"]
    assert found["status"] == "inconclusive"
    assert found["reason"].startswith("The budget was spent before both ends were confirmed")
    assert found["out_of_budget"] is True


def test_two_at_once(broken: Path, tmp_path: Path) -> None:
    """The second waits, and says for whom; the first, ended, gives the lock back."""
    started, lock = tmp_path / "started", broken / ".git" / "afterd" / "slots.lock"
    test = f"echo $$ > {started}.new; mv {started}.new {started}; exec sleep 60"
    command = [sys.executable, "-m", "afterd", "explain", "--test", test]
    with subprocess.Popen(
        command, cwd=broken, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as first:
        try:
            _wait_for(started)
            command[-1] = TEST
            second = subprocess.Popen(
                command, cwd=broken, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
            assert second.stderr is not None
            told = second.stderr.readline()
        finally:
            first.send_signal(signal.SIGTERM)
            first.wait(30)
    second.communicate()
    assert f"waiting: for process {first.pid}, which explains HEAD~1..HEAD" in told
    assert second.returncode == 0
    assert first.returncode == 128 + signal.SIGTERM
    with pytest.raises(ProcessLookupError):  # nor is its test left running
        os.kill(int(started.read_text()), 0)
    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert _explain(broken, "--test", TEST).status == 0


def _wait_for(path: Path) -> None:
    until = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < until
        time.sleep(0.05)
