"""Settings: precedence, what each kind accepts, and sentences that name file and key."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterd.config import (
    Budget,
    Format,
    Sandbox,
    Settings,
    Strategy,
    catalogue,
    command_line,
    environment_name,
    load,
    privileged_names,
    shell,
)
from afterd.config.kinds import Hours, parse_hours
from afterd.errors import ConfigurationError, ExitStatus

EVERY_KEY = """
range = "v1..v2"
good = "v1"
diff = "x.patch"
test = "make check"
build = ["make", "-j2"]
tests = ["t1"]
python = ".venv/bin/python"
prepare = "auto"
first = true
history = true
strategy = "dd"
sandbox = "auto"
network = true
writable = ["~/.cache/x"]
container = "podman run IMAGE"
pass_environment = ["DATABASE_URL"]
budget = "5m,40runs"
jobs = 4
executor = "dask://host:8786"
format = "md"
output = "x.md"
test_timeout = 1.5
build_timeout = "2h"
confirmations = 3
test_globs = ["spec/*"]
keep_tests = false
older_compilers = true
solver_rlimit = 0
trace_window = 7
watch = ["refs/heads/main"]
trusted = ["refs/heads/*"]
trusted_authors = ["a@example.org"]
job_budget = "5m"
day_budget = "100runs"
quiet_hours = "22:00-7:30"
poll = 2
retention_days = 9
self_check = "2h"
"""


def test_defaults_without_a_file(tmp_path: Path) -> None:
    assert load(tmp_path, {}, {}) == Settings()
    assert load(None, {}, {}) == Settings()


def test_every_key_can_stand_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "afterd.toml").write_text(EVERY_KEY)
    settings = load(tmp_path, {}, {})
    assert settings == Settings(
        range="v1..v2",
        good="v1",
        diff=Path("x.patch"),
        test=shell("make check"),
        build=("make", "-j2"),
        tests=("t1",),
        python=".venv/bin/python",
        prepare="auto",
        first=True,
        history=True,
        strategy=Strategy.DD,
        sandbox=Sandbox.AUTO,
        network=True,
        writable=("~/.cache/x",),
        container="podman run IMAGE",
        pass_environment=("DATABASE_URL",),
        budget=Budget(seconds=300.0, runs=40),
        jobs=4,
        executor="dask://host:8786",
        format=Format.MARKDOWN,
        output=Path("x.md"),
        test_timeout=1.5,
        build_timeout=7200.0,
        confirmations=3,
        test_globs=("spec/*",),
        keep_tests=False,
        older_compilers=True,
        solver_rlimit=0,
        trace_window=7,
        watch=("refs/heads/main",),
        trusted=("refs/heads/*",),
        trusted_authors=("a@example.org",),
        job_budget=Budget(seconds=300.0),
        day_budget=Budget(runs=100),
        quiet_hours=Hours(22 * 60, 7 * 60 + 30),
        poll=2.0,
        retention_days=9,
        self_check=7200.0,
    )
    keys = {line.split(" = ")[0] for line in EVERY_KEY.split("\n") if line}
    assert keys == set(catalogue()) - {"repository"}


def test_command_line_over_environment_over_file(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.afterd]\njobs = 2\ngood = 'f'\ntest = 'f'\n")
    environment = {"AFTERD_JOBS": "3", "AFTERD_GOOD": "e"}
    settings = load(tmp_path, {"jobs": 4, "good": None}, environment)
    assert (settings.jobs, settings.good, settings.test) == (4, "e", shell("f"))


def test_afterd_toml_goes_before_pyproject(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.afterd]\njobs = 2\ngood = 'p'\n")
    (tmp_path / "afterd.toml").write_text("jobs = 3\n")
    settings = load(tmp_path, {}, {})
    assert (settings.jobs, settings.good) == (3, "")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("jobbs = 2", ["'jobbs'", "Did you mean 'jobs'", "afterd.toml"]),
        ("quantum = 2", ["'quantum'", "Known are repository"]),
        ("test-timeout = 2", ["Did you mean 'test_timeout'"]),
        ('jobs = "2"', ["'jobs'", "whole number"]),
        ("jobs = true", ["'jobs'", "whole number"]),
        ("jobs = 0", ["at least 1"]),
        ("jobs = 1.0", ["whole number"]),
        ("test = 3", ["'test'", "command line or a list"]),
        ('test = ["make", 3]', ["'test'", "string"]),
        ("tests = 't'", ["'tests'", "list of strings"]),
        ("good = 5", ["'good'", "string"]),
        ('good = "a\\u0000b"', ["NUL"]),
        ("strategy = 'magic'", ["after, dd, add"]),
        ("strategy = ['dd']", ["after, dd, add"]),
        ("budget = 'soon'", ["5m,40runs"]),
        ("budget = '0runs'", ["more than nothing"]),
        ("budget = 5", ["string"]),
        ("test_timeout = 'never'", ["90s"]),
        ("test_timeout = 0", ["above zero"]),
        ("test_timeout = nan", ["above zero"]),
        ("test_timeout = true", ["above zero"]),
        ("keep_tests = 'no'", ["true or false"]),
        ("executor = 'ssh://x'", ["dask://HOST:PORT"]),
        ("output = 3", ["string"]),
        ("jobs = ", ["not readable as TOML"]),
        ("repository = '/etc'", ["'repository'", "part of it"]),
    ],
)
def test_a_bad_file_is_named_with_its_key(tmp_path: Path, content: str, words: list[str]) -> None:
    (tmp_path / "afterd.toml").write_text(content)
    with pytest.raises(ConfigurationError) as caught:
        load(tmp_path, {}, {})
    for word in [*words, "afterd.toml"]:
        assert word in str(caught.value)
    assert caught.value.exit_status is ExitStatus.USAGE


def test_a_file_that_is_not_utf8_and_a_table_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool]\nafterd = 3\n")
    with pytest.raises(ConfigurationError, match="must be a table"):
        load(tmp_path, {}, {})
    (tmp_path / "afterd.toml").write_bytes(b"good = '\xff'")
    with pytest.raises(ConfigurationError, match="not readable as TOML"):
        load(tmp_path, {}, {})


@pytest.mark.parametrize(
    ("environment", "key", "value"),
    [
        ({"AFTERD_JOBS": "2"}, "jobs", 2),
        ({"AFTERD_JOBS": ""}, "jobs", 1),
        ({"AFTERD_KEEP_TESTS": "no"}, "keep_tests", False),
        ({"AFTERD_TESTS": "'a b' c"}, "tests", ("a b", "c")),
        ({"AFTERD_TEST": "make check"}, "test", shell("make check")),
        ({"AFTERD_BUDGET": "90s"}, "budget", Budget(seconds=90.0)),
        ({"AFTERD_TEST_TIMEOUT": "90"}, "test_timeout", 90.0),
        ({"AFTERD_OUTPUT": "x"}, "output", Path("x")),
        ({"AFTERD_CLANG": "/usr/bin/clang-16"}, "jobs", 1),
    ],
)
def test_environment(environment: Mapping[str, str], key: str, value: object) -> None:
    assert getattr(load(None, {}, environment), key) == value


@pytest.mark.parametrize("name", ["AFTERD_JOBS", "AFTERD_TESTS", "AFTERD_KEEP_TESTS"])
def test_a_bad_environment_variable_is_named(name: str) -> None:
    with pytest.raises(ConfigurationError, match=name):
        load(None, {}, {name: "'x"})


@pytest.mark.parametrize("key", sorted(privileged_names() - {"repository"}))
def test_an_untrusted_commit_sets_nothing_privileged(tmp_path: Path, key: str) -> None:
    line = next(line for line in EVERY_KEY.split("\n") if line.startswith(f"{key} ="))
    (tmp_path / "afterd.toml").write_text(line + "\nstrategy = 'add'\n")
    heard: list[str] = []
    settings = load(tmp_path, {}, {}, trusted=False, warn=heard.append)
    assert settings == Settings(strategy=Strategy.ADD)
    assert len(heard) == 1
    assert repr(key) in heard[0]


def test_what_runs_writes_or_costs_is_privileged() -> None:
    assert set(catalogue()) - privileged_names() == {
        "tests",
        "first",
        "strategy",
        "test_globs",
        "keep_tests",
    }


@pytest.mark.parametrize(
    ("argv", "shown"),
    [(shell("a | b"), "a | b"), (("pytest", "a b"), "pytest 'a b'"), ((), "")],
)
def test_a_command_shows_as_it_can_be_typed(argv: tuple[str, ...], shown: str) -> None:
    assert command_line(argv) == shown


@given(
    st.builds(
        Budget,
        st.none() | st.integers(1, 10**6).map(float),
        st.none() | st.integers(1, 10**6),
    ).filter(lambda limit: limit != Budget())
)
def test_a_budget_reads_back_what_it_shows(limit: Budget) -> None:
    assert load(None, {"budget": str(limit)}, {}).budget == limit


@given(st.text(), st.sampled_from(sorted(catalogue())))
def test_any_text_is_a_value_or_a_sentence(text: str, key: str) -> None:
    name = environment_name(key)
    try:
        load(None, {}, {name: text})
    except ConfigurationError as error:
        words = str(error)
    else:
        words = name
    assert name in words


@pytest.mark.parametrize(
    ("text", "minute", "left"),
    [
        ("22:00-07:00", 21 * 60 + 59, 0),
        ("22:00-07:00", 22 * 60, 9 * 60),
        ("22:00-07:00", 60, 6 * 60),
        ("22:00-07:00", 7 * 60, 0),
        ("9:30-17:00", 10 * 60, 7 * 60),
        ("9:30-17:00", 17 * 60, 0),
        ("9:30-9:30", 9 * 60 + 30, 0),
    ],
)
def test_hours_may_go_over_midnight(text: str, minute: int, left: int) -> None:
    hours = parse_hours(text)
    assert hours is not None
    assert hours.left(minute) == left


@pytest.mark.parametrize("text", ["22-7", "24:00-07:00", "22:00-07:60", "always", 5, "-"])
def test_what_are_no_hours(text: object) -> None:
    with pytest.raises(ValueError, match="22:00-07:00"):
        parse_hours(text)


@pytest.mark.parametrize(("seconds", "left"), [(20.0, 70.0), (100.0, 0.0), (0.0, 90.0)])
def test_what_is_begun_again_has_what_is_left_of_the_budget(seconds: float, left: float) -> None:
    assert Budget(seconds=90.0, runs=4).without(seconds) == Budget(seconds=left, runs=4)
    assert Budget().without(seconds) == Budget()
