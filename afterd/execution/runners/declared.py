"""The commands that a Python project's own files say its tests are run with: tox, hatch, PDM, Poe, nox.

Where tests stand is a project's own affair (``*_tests.py`` inside of the package, a script that runs them all), and the
names that runners look for by themselves are none of its. What only wraps a command (coverage, ``uv run``) is taken
off, as tests are run one by one here, in the environment that was found.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator, Mapping
from configparser import ConfigParser, Error
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

from afterd.execution.runners.reading import text, toml

_SCRIPTS = ("test", "tests", "unittest", "unit", "run")
_ENVIRONMENTS = ("hatch-test", "test", "tests", "testing", "default", "dev")
_LAUNCHERS = frozenset({"uv", "poetry", "pdm", "hatch", "rye", "pipenv"})
_FILLED_IN = re.compile(r"\{(?P<name>[^{}:]*)(?::(?P<otherwise>[^{}]*))?\}")
_KNOWN = {
    "envpython": "python",
    "env_python": "python",
    "toxinidir": ".",
    "tox_root": ".",
    "root": ".",
}
_ARGUMENTS = ("posargs", "args")
_OLD_ARGUMENTS = re.compile(r"(?<!\S)\[(?P<otherwise>[^\[\]]*)\](?!\S)")
"""What tox fills in as it does ``{posargs}``, with what stands in it where nothing is given."""
_PYTHON = re.compile(r"(?:.*/)?python[\d.]*")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=.*")
_SETS = re.compile(r"^\s*(\w+)\s*=\s*(.*?)\s*$", re.MULTILINE)
_TAKES_VALUE = frozenset(
    {"--source", "--omit", "--include", "--rcfile", "--context", "--data-file", "--concurrency"}
)


def declared_commands(root: Path) -> Iterator[tuple[str, ...]]:
    """Each command as words, those of files that are for nothing but tests first."""
    tool = toml(root / "pyproject.toml").get("tool", {})
    for line in (*_of_tox(root, tool), *_of_tables(tool), *_of_nox(root)):
        if (words := _unwrapped(line)) and words[0]:
            yield words


def is_python(command: tuple[str, ...]) -> bool:
    """Whether a command's program is a Python."""
    return bool(_PYTHON.fullmatch(command[0]))


def after_unittest(command: tuple[str, ...]) -> tuple[str, ...] | None:
    """The arguments of unittest in a command that runs it; None in any other."""
    words = command[1:] if is_python(command) else ()
    if ("-m", "unittest") in pairwise(words):
        return words[words.index("unittest") + 1 :]
    return None


def what_runs(command: tuple[str, ...]) -> str:
    """The program, module or script that a command starts: what is behind that are its arguments."""
    words = [each for each in command if not each.startswith("-")]
    started = words[1:] if is_python(command) else words
    return " ".join(started[: 2 if started[:1] == ["setup.py"] else 1])


def declared_variables(root: Path) -> dict[str, str]:
    """The variables that tox sets for the tests, but those whose values are filled in by what tox alone knows."""
    inside = _table(toml(root / "pyproject.toml").get("tool", {}), "tox")
    lines = "\n".join(said["setenv"] for said in _ini_sections(root, inside) if "setenv" in said)
    given = dict(_SETS.findall(lines))
    for tables in (toml(root / "tox.toml"), inside):
        given |= _table(_table(tables, "env_run_base"), "set_env")
    filled = {name: _FILLED_IN.sub(_filled_in, str(value)) for name, value in given.items()}
    return {name: value for name, value in filled.items() if "{" not in value}


def _of_tox(root: Path, tool: Mapping[str, Any]) -> Iterator[str]:
    inside = _table(tool, "tox")
    for said in _ini_sections(root, inside):
        for line in said.get("commands", "").replace("\\\n", " ").splitlines():
            yield _OLD_ARGUMENTS.sub(r"\g<otherwise>", line)
    for tables in (toml(root / "tox.toml"), inside):
        for each in _table(tables, "env_run_base").get("commands", []):
            if isinstance(each, list):
                yield shlex.join(word for word in each if isinstance(word, str))


def _ini_sections(root: Path, inside: Mapping[str, Any]) -> Iterator[Mapping[str, str]]:
    """What tox.ini, and its text within a pyproject.toml, says of the environment that tests are run in."""
    for said in (text(root / "tox.ini"), str(inside.get("legacy_tox_ini", ""))):
        parser = ConfigParser(interpolation=None, strict=False)
        with suppress(Error):
            parser.read_string(said)
            if parser.has_section("testenv"):
                yield parser["testenv"]


def _of_tables(tool: Mapping[str, Any]) -> Iterator[str]:
    environments = _table(_table(tool, "hatch"), "envs")
    tables = [_table(_table(environments, name), "scripts") for name in _ENVIRONMENTS]
    tables += [_table(_table(tool, name), "scripts") for name in ("pdm", "rye")]
    tables.append(_table(_table(tool, "poe"), "tasks"))
    for scripts in tables:
        for name in _SCRIPTS:
            said = scripts.get(name, "")
            said = said.get("cmd", "") if isinstance(said, dict) else said
            yield from (each for each in (said if isinstance(said, list) else [said]) if each)


def _table(tables: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = tables.get(name, {})
    return found if isinstance(found, dict) else {}


def _of_nox(root: Path) -> Iterator[str]:
    try:
        tree = ast.parse(text(root / "noxfile.py"))
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "session.run":
            words = [each.value for each in node.args if isinstance(each, ast.Constant)]
            yield shlex.join(word for word in words if isinstance(word, str))


def _unwrapped(line: str) -> tuple[str, ...]:
    """The words of a command without what wraps it; empty where it cannot be told what they are."""
    filled = _FILLED_IN.sub(_filled_in, str(line).strip().removeprefix("-"))
    try:
        words = shlex.split(filled, comments=True)
    except ValueError:
        return ()
    while words and _ASSIGNED.fullmatch(words[0]):
        words.pop(0)
    if "{" in filled or not words:
        return ()
    if words[0] in _LAUNCHERS and words[1:2] == ["run"]:
        words = words[2:]
    if words[:1] == ["coverage"]:
        words = ["python", "-m", *words]
    if words[1:4] == ["-m", "coverage", "run"] and _PYTHON.fullmatch(words[0]):
        return ("python", *_without_options(words[4:]))
    return tuple(words)


def _filled_in(match: re.Match[str]) -> str:
    name, otherwise = match["name"], match["otherwise"] or ""
    if name in _ARGUMENTS:
        return otherwise
    return _KNOWN.get(name, match[0])


def _without_options(words: list[str]) -> list[str]:
    """What coverage runs, without coverage's own options."""
    left = list(words)
    while left and left[0].startswith("-") and left[0] != "-m":
        if left.pop(0) in _TAKES_VALUE:
            left = left[1:]
    return left
