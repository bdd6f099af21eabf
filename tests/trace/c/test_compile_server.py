"""A traced build's compile server: it answers as a process of its own would, and does not outlive the build."""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import time
from pathlib import Path

import pytest
from conftest import INSTALLED

from afterd.execution.process import Command, Ending, ProcessResult
from afterd.execution.sandbox import run
from afterd.limits import ProcessLimits
from afterd.trace.c.build.modules import ModuleStore
from afterd.trace.c.build.traced_build import begin_build, environment, prepare

LIMITS = ProcessLimits(timeout=120)
FILES = ("a", "b", "c", "d", "e", "f")
MAKEFILE = (
    f"all: {' '.join(f'{name}.o' for name in FILES)}\n"
    "first.o: first.c\n%.o: %.c first.o\n\t$(CC) -c $< -o $@\n"
)
AWAITED = "until test -S store/server; do sleep 0.01; done"
pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="no servers here")


@pytest.fixture
def store(tmp_path: Path) -> ModuleStore:
    """A store, and sources beside it that are older."""
    base = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    made = prepare(tmp_path / "store", next(iter(INSTALLED.values())), base)
    for name in ("first", *FILES):
        (tmp_path / f"{name}.c").write_text(f"int {name}(void) {{ return __LINE__; }}\n")
    (tmp_path / "Makefile").write_text(MAKEFILE)
    time.sleep(0.05)  # what is younger than the build was made by it
    begin_build(made)
    return made


def _built(store: ModuleStore, command: str) -> ProcessResult:
    place = store.directory.parent
    variables = environment(store, {"PATH": os.environ["PATH"], "HOME": str(place)})
    return run(Command(("sh", "-c", command), place, variables, merge=True), LIMITS)


def _is_served(store: ModuleStore) -> bool:
    """Whether a server lives: it holds the lock until it ends."""
    with (store.directory / "server.lock").open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_a_build_with_many_compilers_at_once_is_woven_and_leaves_no_server(
    store: ModuleStore,
) -> None:
    begun = f"make -s -j4 first.o && {AWAITED}"
    done = _built(store, f"{begun} && make -s -j4 && test -S store/server")
    assert done.succeeded, done.stdout.text()
    assert sorted(module.source for module in store.modules()) == sorted(
        f"{name}.c" for name in ("first", *FILES)
    )
    assert not store.opaque()
    assert not _is_served(store)
    again = _built(store, "rm -f a.o && make -s")
    assert again.succeeded, "another build begins another one"
    assert not _is_served(store)


def test_a_compilation_that_is_served_sees_its_own_arguments_folder_and_environment(
    store: ModuleStore,
) -> None:
    place = store.directory.parent
    (place / "sub/headers").mkdir(parents=True)
    (place / "sub/headers/given.h").write_text("int given;\n")
    (place / "sub/x.c").write_text("#include <given.h>\n")
    (place / "bad.c").write_text("int bad(void) { return undeclared; }\n")
    begin_build(store)
    done = _built(
        store,
        f"cc -c first.c || exit 9; {AWAITED};"
        " cd sub && CPATH=headers cc -c x.c -o ../x.o || exit 8; cd ..; umask 077;"
        " cc -c a.c || exit 7; cc -c bad.c",
    )
    assert done.status == 1, done.stdout.text()
    assert "undeclared" in done.stdout.text()
    assert (place / "x.o").exists()
    assert (place / "a.o").stat().st_mode & 0o777 == 0o600
    modules = {module.source: module.directory for module in store.modules()}
    assert modules["x.c"] == str(place / "sub")


def test_where_nobody_answers_a_process_of_its_own_compiles(
    store: ModuleStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = socket.socket(socket.AF_UNIX)
    monkeypatch.chdir(store.directory)
    left.bind("server")  # of a server that was killed
    left.close()
    done = _built(store, "cc -c first.c && cc -c a.c")
    assert done.succeeded, done.stdout.text()
    assert len(list(store.modules())) == 2


def test_a_build_that_is_killed_takes_its_server_with_it(store: ModuleStore) -> None:
    done = _built(store, f"cc -c first.c; {AWAITED}; (sleep 600) & kill -9 $$")
    assert done.ending is Ending.SIGNALLED
    assert not _is_served(store)


def test_a_server_ends_with_the_session_that_began_it(store: ModuleStore) -> None:
    """Where no sandbox sweeps what is left."""
    place = store.directory.parent
    variables = environment(store, {"PATH": os.environ["PATH"], "HOME": str(place)})
    command = ["sh", "-c", f"cc -c first.c; {AWAITED}"]
    subprocess.run(command, cwd=place, env=variables, check=True, start_new_session=True)
    for _ in range(1000):
        if not _is_served(store):
            break
        time.sleep(0.01)
    assert not _is_served(store)
