"""The verbs over a real repository, as a user types them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pygit2
import pytest
from cli_repository import BAD, GOOD, TEST, Run, afterd_process, commit, refused

pytest_plugins = ["cli_fixtures"]


def test_explain_names_the_change_and_leaves_the_work_tree_alone(repository: Path) -> None:
    (repository / "text.txt").write_text("my own edit\n")
    (repository / "mine.txt").write_text("untracked\n")
    done = afterd_process("explain", "HEAD~1..HEAD", "--", *TEST, cwd=repository)
    assert done.returncode == 0, done.stderr
    assert "fails because of c3" in done.stdout
    assert "text.txt:3 by " in done.stdout
    assert "Tidy up" in done.stdout
    assert "exit status 1" in done.stdout
    assert "with c3 undone it passes" in done.stderr
    assert (repository / "text.txt").read_text() == "my own edit\n"
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=repository, capture_output=True, text=True, check=True
    )
    assert status.stdout == " M text.txt\n?? mine.txt\n"


@pytest.mark.parametrize("form", ["json", "md", "html", "sarif", "text"])
def test_report_writes_every_format_to_a_file(afterd: Run, explained: Path, form: str) -> None:
    done = afterd("report", "1", "--format", form, "-o", "out", cwd=explained)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    text = (explained / "out").read_text()
    assert "c3" in text
    assert "\x1b" not in text
    assert oct((explained / "out").stat().st_mode & 0o777) == "0o644"
    again = afterd("report", "1", "--format", form, "--repository", str(explained))
    assert again.stdout == text or form == "text"


def test_json_of_explain_and_of_report_agree(afterd: Run, repository: Path) -> None:
    first = afterd("explain", "--format", "json", "--test", TEST[2], cwd=repository)
    assert first.returncode == 0, first.stderr
    explained = json.loads(first.stdout)
    [explanation] = explained["explanations"]
    assert explanation["status"] == "explained"
    assert [change["id"] for change in explanation["root"]] == ["c3"]
    assert explanation["runs"]["tests"] >= 1
    assert explained == json.loads(afterd("report", "1", "--format", "json", cwd=repository).stdout)


def test_show_the_newest_with_its_marks(afterd: Run, explained: Path) -> None:
    done = afterd("mark", "1", "cause=c1,c2", "--note", "not text.txt", cwd=explained)
    assert (done.returncode, done.stdout) == (0, "Explanation 1 is marked cause.\n")
    shown = afterd("show", cwd=explained)
    assert shown.returncode == 0
    assert "cause = c1, c2 on " in shown.stdout
    assert ": not text.txt" in shown.stdout
    assert shown.stdout == afterd("show", "1", "--all", cwd=explained).stdout
    assert afterd("report", cwd=explained).stdout == afterd("report", "1", cwd=explained).stdout


def test_list(afterd: Run, explained: Path) -> None:
    table = afterd("list", cwd=explained).stdout.splitlines()
    assert table[0].split() == ["ID", "when", "status", "test", "root"]
    assert table[1].startswith("1 ")
    assert table[1].split()[-1] == "c3"
    [entry] = json.loads(afterd("list", "--format", "json", cwd=explained).stdout)
    assert (entry["id"], entry["root"], entry["status"]) == (1, ["c3"], "explained")


def test_patch_is_applied_by_git(afterd: Run, explained: Path) -> None:
    done = afterd("patch", "1", cwd=explained)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Explanation 1: ")
    subprocess.run(["git", "apply"], cwd=explained, input=done.stdout, text=True, check=True)
    assert (explained / "text.txt").read_text() == GOOD["text.txt"]
    assert (explained / "other.txt").read_text() == BAD["other.txt"]


def test_replay_shows_what_anyone_can_see(afterd: Run, explained: Path) -> None:
    passes = afterd("replay", "1", cwd=explained)
    assert passes.returncode == 0, passes.stderr
    assert passes.stdout.startswith("The test passes (build ")
    fails = afterd("replay", "1", "--revert", "c1", cwd=explained)
    assert fails.returncode == 0, fails.stderr
    assert fails.stdout.startswith("The test fails as it did (")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["show", "7"], ["no explanation 7", "afterd list", "docs/errors.md#usage"]),
        (["report", "7"], ["no explanation 7"]),
        (["patch", "7"], ["no explanation 7"]),
        (["replay", "7"], ["no explanation 7"]),
        (["mark", "7", "wrong"], ["no explanation 7"]),
        (["mark", "1", "cause=x"], ["wrong, flaky or cause=c7,c9"]),
        (["mark", "1", "cause="], ["wrong, flaky or cause=c7,c9"]),
        (["mark", "1", "right"], ["wrong, flaky or cause=c7,c9"]),
        (["replay", "1", "--revert", "c1;c2"], ["--revert wants changes such as c2,c3"]),
        (["replay", "1", "--revert", "c99"], ["no change c99"]),
        (["report", "1", "-o", "no/such/folder/x"], ["cannot be written"]),
        (["report", "1", "--format", "pdf"], ["Invalid value for '--format'"]),
        (["show", "one"], ["'one' is not a valid integer"]),
        (["frobnicate"], ["No such command 'frobnicate'"]),
    ],
)
def test_a_users_mistake_is_a_sentence(
    afterd: Run, explained: Path, arguments: list[str], words: list[str]
) -> None:
    refused(afterd(*arguments, cwd=explained), 2, words)


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["explain", "nope..HEAD", "--", *TEST], 2, ["'nope'", "#repository"]),
        (["explain", "HEAD..HEAD", "--", *TEST], 2, ["empty"]),
        (["explain", "--good", "zzz", "--", *TEST], 2, ["'zzz'"]),
        (["explain", "--", *TEST, "-C", "/nowhere"], 0, []),
        (["explain", "-C", "/", "--", *TEST], 2, ["not in a git repository"]),
        (["explain", "--diff", "none.patch", "--", *TEST], 2, ["none.patch"]),
        (["explain", "--test", "true", "--", "true"], 2, ["one test command"]),
        (["explain", "--"], 2, ["one test command"]),
        (["explain", "--budget", "soon", "--", *TEST], 2, ["'budget'", "5m,40runs"]),
        (["explain", "--jobs", "0", "--", *TEST], 2, ["'jobs'", "at least 1"]),
        (["explain", "--executor", "ssh://x", "--", *TEST], 2, ["dask://HOST:PORT"]),
        (["explain"], 13, ["No tests were found"]),
    ],
)
def test_what_explain_refuses(
    afterd: Run, repository: Path, arguments: list[str], status: int, words: list[str]
) -> None:
    done = afterd(*arguments, cwd=repository)
    refused(done, status, words)
    if status:
        assert done.stdout == ""


def test_nothing_fails(afterd: Run, repository: Path) -> None:
    done = afterd("explain", "--", "true", cwd=repository)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("✓ true passes at ")
    as_json = afterd("explain", "--format", "json", "--", "true", cwd=repository)
    assert json.loads(as_json.stdout)["explanations"] == []


def test_already_red(afterd: Run, repository: Path) -> None:
    done = afterd("explain", "--", "false", cwd=repository)
    assert done.returncode == 12, done.stderr
    assert "was already red at" in done.stdout


def test_what_the_test_printed_last_is_told_where_it_left_by_a_status_alone(
    afterd: Run, repository: Path
) -> None:
    """A suite that wanted a variable was "already red" with "exit status 1", and what it wanted was not told."""
    many = "for n in 1 2 3 4 5 6 7 8 9; do echo a long line of no interest to anybody at all, $n times over; done"
    wants = f"{many}; echo KIND is not set >&2; echo; exit 1"
    done = afterd("explain", "--", "sh", "-c", wants, cwd=repository)
    assert done.returncode == 12, done.stderr
    said = " ".join(done.stdout.split())
    assert "exit status 1" in said
    assert "KIND is not set" in said
    assert "1 times over" not in said


def test_settings_reach_explain(afterd: Run, repository: Path) -> None:
    (repository / "afterd.toml").write_text("jobz = 3\n")
    refused(afterd("explain", cwd=repository), 2, ["afterd.toml", "'jobs'", "#configuration"])
    (repository / "afterd.toml").write_text('test = "grep -q three text.txt"\nformat = "md"\n')
    done = afterd("explain", cwd=repository)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("### `grep -q three text.txt` fails because of `c3`")
    other = afterd("explain", cwd=repository, AFTERD_TEST="true")
    assert "passes" in other.stdout


def test_nothing_was_explained_yet(afterd: Run, repository: Path) -> None:
    for verb in ("show", "list", "report"):
        refused(afterd(verb, cwd=repository), 13, ["Nothing was explained", "#store"])


def test_changes_that_are_left_out_are_mentioned(afterd: Run, repository: Path) -> None:
    """A path that cannot be written safely: the answer says that it knows nothing of that change."""
    commit(pygit2.Repository(repository), {"x\r": "x\n"}, "A strange name\n")
    done = afterd("explain", "HEAD~2..HEAD", "--", *TEST, cwd=repository)
    assert done.returncode == 0, done.stderr
    assert "1 changed files are left out, because their paths" in " ".join(done.stdout.split())


@pytest.mark.parametrize("end", ["bad", "good"])
def test_a_version_that_cannot_be_tested_is_inconclusive(
    afterd: Run, repository: Path, end: str
) -> None:
    """Exit status 125 is the test's own word, and no fault of the machine (that is 13)."""
    says = "grep -q three text.txt" if end == "good" else "! grep -q three text.txt"
    done = afterd("explain", "--", "sh", "-c", f"{says} && exit 125; exit 1", cwd=repository)
    refused(done, 10, [f"at the {end} version", "125"])


def test_hostile_names_reach_no_terminal(afterd: Run, repository: Path) -> None:
    (repository / "\x1b[31m\u202e.txt").write_text("x\n")
    done = afterd(
        "explain",
        "--",
        "sh",
        "-c",
        "printf '\\033]0;owned\\007'; grep -q three text.txt",
        cwd=repository,
    )
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert "\x07" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "environment",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
        {"TERM": "dumb"},
        {"NO_COLOR": "1"},
        {"FORCE_COLOR": "1", "TERM": "xterm-256color"},
        {"COLUMNS": "20"},
        {"COLUMNS": "nonsense", "TERM": ""},
    ],
    ids=str,
)
def test_readable_in_any_surroundings(explained: Path, environment: dict[str, str]) -> None:
    done = afterd_process("show", "1", cwd=explained, **({"PYTHONIOENCODING": ""} | environment))
    assert done.returncode == 0, done.stderr
    assert "because of" in " ".join(done.stdout.split())
    assert ("\x1b" in done.stdout) == ("FORCE_COLOR" in environment)


def test_what_is_no_plain_file_is_written_to_and_not_replaced(
    afterd: Run, explained: Path, tmp_path: Path
) -> None:
    """`-o /dev/null` of root's put a file in the place of the device, for everybody on the machine."""
    pipe, link, behind = tmp_path / "pipe", tmp_path / "link", tmp_path / "behind"
    os.mkfifo(pipe)
    behind.touch()
    link.symlink_to(behind)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        for output in (pipe, link):
            done = afterd("report", "1", "-o", str(output), "-C", str(explained))
            assert done.returncode == 0, done.stderr
        assert b"fails because of" in os.read(reading, 1 << 16)
    finally:
        os.close(reading)
    assert pipe.is_fifo()
    assert link.is_symlink()
    assert "fails because of" in behind.read_text()
