"""What the program can do is in the documentation, or the build is red."""

from __future__ import annotations

import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from afterd import errors
from afterd.cli.main import VERBS, afterd, commands
from afterd.config import Settings, catalogue
from afterd.errors import AfterdError, ExitStatus

DOCS = Path(__file__).parents[2] / "docs"
COMMANDS = {command.name: command for command in commands()}


def section(page: str, heading: str) -> str:
    """The text under a second-level heading."""
    text = (DOCS / page).read_text()
    match = re.search(
        rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL
    )
    assert match is not None, f"docs/{page} has no section {heading}"
    return match[1]


def leaves(kind: type[AfterdError]) -> set[type[AfterdError]]:
    return {kind}.union(*(leaves(child) for child in kind.__subclasses__()))


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_an_example_and_a_section(verb: str) -> None:
    command = COMMANDS[verb]
    assert command.help is not None
    assert re.search(rf"Example: afterd {verb}", command.help)
    assert command.get_short_help_str(70)[-1] == "."
    documented = section("commands.md", verb)
    for parameter in command.params:
        if isinstance(parameter, click.Option) and parameter.name != "repository":
            for name in parameter.opts:
                assert (
                    f"`{name}" in documented or f"{name}`" in documented or f"{name} " in documented
                )
                assert parameter.help


def test_no_section_of_a_verb_that_is_gone() -> None:
    headings = re.findall(r"^## (\w+)$", (DOCS / "commands.md").read_text(), re.MULTILINE)
    assert set(headings) - {"JSON"} == set(VERBS)


def test_every_exit_status_is_documented() -> None:
    text = (DOCS / "errors.md").read_text()
    assert dict(re.findall(r"^\| (\d+) \| (\w+) \|", text, re.MULTILINE)) == {
        str(status.value): status.name for status in ExitStatus
    }


def test_every_stop_of_a_change_exists() -> None:
    """The functions of architecture.md: at most fifteen stops."""
    text = section("architecture.md", "One change, from diff to answer")
    rows = re.findall(r"^\| \d+ \| (.*?) \|", text, re.MULTILINE)
    assert 10 <= len(rows) <= 15
    for name in re.findall(r"`([\w.]+)`", " ".join(rows)):
        assert pkgutil.resolve_name(f"afterd.{name}") is not None, name


def test_every_error_has_its_section() -> None:
    slugs = {kind.slug for kind in leaves(AfterdError) if kind.slug}
    assert len(slugs) == sum(1 for name in vars(errors) if name.endswith("Error")) - 1
    verdicts = {"already-red", "flaky", "bug"}  # these are no exceptions
    text = (DOCS / "errors.md").read_text()
    assert set(re.findall(r"^## ([\w-]+)$", text, re.MULTILINE)) == slugs | verdicts


def test_every_setting_is_documented_as_it_is() -> None:
    text = (DOCS / "configuration.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (.*) \| (yes|no) \| (.*) \|$", text, re.MULTILINE)
    assert [row[0] for row in rows] == list(catalogue())
    for key, kind_and_default, privileged, meaning in rows:
        setting = catalogue()[key]
        default = getattr(Settings(), key)
        assert kind_and_default.startswith(setting.kind.name)
        assert meaning == setting.meaning
        assert privileged == ("yes" if setting.privileged else "no")
        if default not in ("", (), None):
            shown = str(default).lower() if isinstance(default, bool) else default
            shown = f"{shown:g}" if isinstance(shown, float) else shown
            shown = ", ".join(shown) if isinstance(shown, tuple) else shown
            assert kind_and_default.endswith(f" | `{shown}`")


def test_explain_takes_the_designs_options() -> None:
    options = {
        option.opts[0] for option in COMMANDS["explain"].params if isinstance(option, click.Option)
    }
    assert options == {
        "--sandbox",
        "--test",
        "--build",
        "--good",
        "--diff",
        "--strategy",
        "--first",
        "--timings",
        "--history",
        "--python",
        "--prepare",
        "--quiet",
        "--verbose",
        "--debug",
        "--budget",
        "--jobs",
        "--executor",
        "--format",
        "--output",
        "--repository",
    }


def test_the_list_of_verbs_says_what_each_says_itself() -> None:
    assert {name: found.get_short_help_str(200) for name, found in COMMANDS.items()} == VERBS


@pytest.mark.parametrize(
    ("module", "most", "heavy"),
    [("main", 130, "afterd.limits, "), ("list", 190, "afterd.limits, ")],
    ids=["--help", "list"],
)
def test_what_is_typed_all_the_time_imports_little(module: str, most: int, heavy: str) -> None:
    """Modules are counted: seconds would say how busy the machine is."""
    script = (
        f"import sys; import afterd.cli.boundary, afterd.cli.main, afterd.cli.{module}\n"
        f"heavy = set('{heavy}rich, pygit2, numpy, sqlite_utils, z3, llvmlite, scipy, dask'.split(', '))\n"
        f"found = heavy & set(sys.modules), len(sys.modules)\n"
        f"sys.exit(str(found) if found[0] or found[1] > {most} else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_completion_and_show_load_no_solver() -> None:
    """A completion in the shell must not wait for what only one verb needs."""
    script = (
        "import sys; from afterd.cli.main import afterd; import afterd.cli.boundary\n"
        "import afterd.cli.show\n"
        "slow = {'scipy', 'z3', 'llvmlite', 'pysat'} & set(sys.modules)\n"
        "sys.exit(str(slow) if slow else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_version() -> None:
    assert afterd.params[0].name == "version"


def test_every_fault_names_a_test_that_exists() -> None:
    table = (DOCS / "reliability.md").read_text().split("\n\n")[2]
    rows = table.splitlines()[2:]
    assert len(rows) > 30
    for row in rows:
        named = re.findall(r"`(tests/[\w/.:]+)`", row.rsplit(" | ", 1)[1])
        assert named, row
        assert [name for name in named if not _is_a_test(name)] == [], row


@pytest.mark.parametrize("page", sorted(path.name for path in DOCS.glob("*.md")))
def test_every_test_that_a_page_names_exists(page: str) -> None:
    named = re.findall(r"`(tests/[\w/.:]+)`", (DOCS / page).read_text())
    assert [name for name in named if not _is_a_test(name) and not _is_beside(name)] == []


def _is_beside(name: str) -> bool:
    """Whether it is a folder of tests, or what tests are made of."""
    return not name.rpartition("/")[2].startswith("test_") and (DOCS.parent / name).exists()


def _is_a_test(name: str) -> bool:
    """Whether it is a file of tests, or one of them: FILE::TEST."""
    file, _, test = name.partition("::")
    path = DOCS.parent / file
    wanted = rf"^def {test}\(" if test else r"^def test_"
    return path.is_file() and re.search(wanted, path.read_text(), re.MULTILINE) is not None
