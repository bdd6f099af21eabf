"""doctor, init and demo."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from cli_repository import Run, refused

from afterd.cli import checks
from afterd.cli.checks import Check, State, all_checks
from afterd.cli.demo import DEFAULT, known_samples
from afterd.cli.explain import exit_status
from afterd.cli.init import content
from afterd.config import load
from afterd.errors import ExitStatus, ToolchainError
from afterd.execution.runners import Detected
from afterd.execution.toolchain import Toolchain
from afterd.model.explanation import Status
from afterd.store.database import open_store

pytest_plugins = ["cli_fixtures"]


@pytest.mark.parametrize(
    ("version", "state"),
    [
        ((3, 40, 1), State.WORSE),
        ((3, 51, 2), State.WORSE),
        ((3, 51, 3), State.FINE),
        ((3, 52, 0), State.WORSE),
        ((3, 53, 0), State.FINE),
    ],
)
def test_the_wal_reset_bug_is_told(version: tuple[int, ...], state: State) -> None:
    check = checks.sqlite(version)
    assert check.state is state
    assert ("WAL-reset" in check.sentence) == (state is State.WORSE)


def test_no_compiler_is_worse_not_missing() -> None:
    def find() -> Toolchain:
        raise ToolchainError("No clang was found.")

    assert checks.compiler(find).state is State.WORSE
    assert checks.compiler(lambda: Toolchain(("zig", "cc"), "22.1.0", is_zig=True)) == Check(
        "compiler", State.FINE, "zig's clang 22.1.0 (zig cc)."
    )


@pytest.mark.parametrize(
    ("free", "state"),
    [(10 << 20, State.MISSING), (1 << 30, State.WORSE), (50 << 30, State.FINE)],
)
def test_space(free: int, state: State) -> None:
    assert checks.space(free).state is state


@pytest.mark.parametrize("delegated", [None, Path("/delegated")])
def test_who_holds_memory_is_told(delegated: Path | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "delegated_group", lambda: delegated)
    assert ("systemd-run" in checks.memory().sentence) == (delegated is None)


def test_a_state_directory_that_cannot_be_written(tmp_path: Path) -> None:
    file = tmp_path / "state"
    file.touch()
    check = checks.permissions(file)
    assert check.state is State.MISSING
    assert "belongs to user" in check.sentence


def test_the_database_is_read_through(tmp_path: Path) -> None:
    path = tmp_path / "afterd.db"
    assert checks.database(path).state is State.FINE
    open_store(path).close()
    assert "0 explanations" in checks.database(path).sentence
    content = bytearray(path.read_bytes())
    content[4096 * 3 : 4096 * 4] = b"\xff" * 4096
    path.write_bytes(content)
    assert checks.database(path).state is State.MISSING, "met while it was read"
    found = checks.database(path)
    assert found.state is State.WORSE, "set aside since"
    assert "afterd.db.damaged-" in found.sentence
    assert checks.database(path).state is State.FINE, "said once"
    path.write_bytes(b"")
    assert "it is empty" in checks.database(path).sentence


def test_the_solver_is_asked() -> None:
    assert checks.solver().state is State.FINE


def test_how_to_come_by_a_sandbox_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("afterd.cli.checks.bubblewrap_trouble", lambda: "bubblewrap fails (no)")
    found = checks.sandbox()
    assert found.state is State.WORSE
    assert "bubblewrap fails (no)" in found.sentence
    assert "apt-get install bubblewrap" in found.sentence
    monkeypatch.setattr("afterd.cli.checks.bubblewrap_trouble", lambda: "")
    assert checks.sandbox().state is State.FINE


def test_every_check_is_a_sentence(repository: Path) -> None:
    found = list(all_checks(repository))
    assert len({check.name for check in found}) == len(found) == 11
    assert all(check.sentence.endswith(".") for check in found)


def test_outside_a_repository_doctor_still_looks_at_the_machine(
    afterd: Run, tmp_path: Path
) -> None:
    done = afterd("doctor", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "not in a git" in " ".join(done.stdout.split())
    assert "python" in done.stdout


def test_init_writes_what_was_found(afterd: Run, repository: Path) -> None:
    (repository / "Makefile").write_text("all:\n\ttrue\ncheck:\n\tgrep -q three text.txt\n")
    done = afterd("init", cwd=repository)
    assert done.returncode == 0, done.stderr
    settings = load(repository, {}, {})
    assert settings.test
    assert "check" in " ".join(settings.test)
    refused(afterd("init", cwd=repository), 2, ["--force"])
    assert afterd("init", "--force", cwd=repository).returncode == 0


def test_init_where_nothing_was_found(afterd: Run, repository: Path) -> None:
    done = afterd("init", cwd=repository)
    assert done.returncode == 0
    assert "No tests were found" in done.stderr
    assert tomllib.loads((repository / "afterd.toml").read_text()) == {}


def test_init_quotes_commands(tmp_path: Path) -> None:
    test = ("sh", "-c", 'echo "ä\\n" \x7f | grep x')
    found = Detected("make", ("make", "a b"), test, "Found.")
    (tmp_path / "afterd.toml").write_text(content(found))
    settings = load(tmp_path, {}, {})
    assert settings.test == test
    assert settings.build == ("sh", "-c", "make 'a b'")


def test_the_samples(
    afterd: Run,
) -> None:
    assert DEFAULT in known_samples()
    assert "after-example" in known_samples()
    done = afterd("demo", "--scenarios")
    assert done.stdout.split() == list(known_samples())
    refused(afterd("demo", "--scenario", "nope"), 2, ["'nope'", DEFAULT])


def test_a_demo_from_nothing_to_a_causal_tree(afterd: Run, tmp_path: Path) -> None:
    done = afterd("demo", str(tmp_path / "sample"), "--scenario", "after-example")
    assert done.returncode == 0, done.stderr
    assert "fails because of c2 and c3" in done.stdout
    assert "without them" in done.stdout
    again = afterd("demo", str(tmp_path / "sample"), "--scenario", "after-example")
    refused(again, 2, ["not empty"])


@pytest.mark.parametrize(
    ("statuses", "worst"),
    [
        ([], 0),
        ([Status.EXPLAINED, Status.GREEN], 0),
        ([Status.FLAKY, Status.EXPLAINED], 11),
        ([Status.ALREADY_RED, Status.FLAKY], 12),
        ([Status.INCONCLUSIVE, Status.ALREADY_RED], 10),
        ([Status.BROKEN, Status.INCONCLUSIVE], 13),
    ],
)
def test_the_worst_answer_is_the_exit_status(statuses: list[Status], worst: int) -> None:
    assert exit_status(statuses) is ExitStatus(worst)


def test_init_writes_down_which_python_runs_the_tests(afterd: Run, repository: Path) -> None:
    (repository / "test_a.py").write_text("def test_a():\n    pass\n")
    assert afterd("init", cwd=repository).returncode == 0
    settings = load(repository, {}, {})
    assert settings.test == (), "each test is told apart where none is written down"
    assert Path(settings.python).is_file()
