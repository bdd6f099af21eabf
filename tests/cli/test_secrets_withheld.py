"""A test under ``afterd explain`` finds no secret, and nobody else finds what it printed."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import pygit2
import pytest
from cli_repository import GOOD, afterd_process, commit, make_repository

CANARY = "canary-0123456789"
SECRETS = {
    "PGPASSWORD": CANARY,
    "NPM_CONFIG__AUTH": CANARY,
    "DATABASE_URL": f"postgres://me:{CANARY}@db.example/x",
}
LOOK = """\
import glob, os, sys
for path in ["/proc/self/environ", *glob.glob("/proc/[0-9]*/environ")]:
    try:
        with open(path, "rb") as file:
            found = file.read()
    except OSError:
        continue
    if b"%s" in found:
        print("leaked through", path)
        with open(sys.argv[1], "w") as seen:
            seen.write(path)
sys.exit("three" not in open("text.txt").read())
"""


def hostile(path: Path) -> Path:
    repository = pygit2.init_repository(path, initial_head="main")
    commit(repository, {**GOOD, "look.py": LOOK % CANARY}, "All is well\n")
    commit(repository, {"text.txt": "one\n"}, "Break it\n")
    return path


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_no_process_of_afterd_shows_a_secret(tmp_path: Path) -> None:
    path, seen = hostile(tmp_path / "r"), tmp_path / "seen"
    argv = ("explain", "--", sys.executable, "look.py", str(seen))
    done = afterd_process(*argv, cwd=path, **SECRETS)
    assert done.returncode == 0, done.stderr
    assert not seen.exists(), seen.read_text()
    assert CANARY not in done.stdout


def test_what_the_user_names_is_passed(tmp_path: Path) -> None:
    path = make_repository(tmp_path / "r")
    script = f'test "$PGPASSWORD" = {CANARY} && test -z "$DATABASE_URL" && grep -q three text.txt'
    given = {**SECRETS, "AFTERD_PASS_ENVIRONMENT": "PGPASSWORD"}
    done = afterd_process(
        "explain", "--format", "json", "--", "sh", "-c", script, cwd=path, **given
    )
    assert done.returncode == 0, done.stdout
    assert '"explained"' in done.stdout
    assert CANARY not in done.stdout, "what is passed is masked all the same"


def test_only_the_owner_reads_what_is_kept(tmp_path: Path) -> None:
    path = make_repository(tmp_path / "r")
    state = path / ".git/afterd"
    state.mkdir(mode=0o755)  # as older versions made it
    assert (
        afterd_process("explain", "--", "grep", "-q", "three", "text.txt", cwd=path).returncode == 0
    )
    assert afterd_process("daemon", "run", "--once", cwd=path).returncode == 0
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    for name in ("afterd.db", "daemon.log"):
        assert stat.S_IMODE((state / name).stat().st_mode) == 0o600, name
