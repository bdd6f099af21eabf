"""Where settings come from: the command line over the environment over the file."""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from afterd.config.settings import (
    Settings,
    catalogue,
    environment_name,
    privileged_names,
)
from afterd.errors import ConfigurationError

FILE_NAME = "afterd.toml"
PYPROJECT = "pyproject.toml"

Warn = Callable[[str], None]


def load(
    root: Path | None,
    given: Mapping[str, object],
    environment: Mapping[str, str] | None = None,
    *,
    trusted: bool = True,
    warn: Warn = lambda _sentence: None,
) -> Settings:
    """The settings for a repository whose work tree is at ``root`` (None: bare, no file is read).

    ``given`` holds the command line's values by key; those that are None were not given. Strings in
    it and in the environment are read as text. ``warn`` hears of privileged keys that the file of
    an untrusted commit tried to set. Raises ConfigurationError naming the key and where it stands.
    """
    values: dict[str, object] = {}
    if root is not None:
        values |= _from_file(root, trusted=trusted, warn=warn)
    values |= _from_environment(os.environ if environment is None else environment)
    values |= {
        key: _read("the command line", key, value)
        for key, value in given.items()
        if value is not None
    }
    return Settings(**cast("dict[str, Any]", values))


def _from_file(root: Path, *, trusted: bool, warn: Warn) -> dict[str, object]:
    where, table = _table(root)
    refused = frozenset() if trusted else privileged_names()
    values = {}
    for key, value in table.items():
        if key == "repository":
            raise ConfigurationError(f"In {where}, {key!r} makes no sense: the file is part of it.")
        if key not in catalogue():
            raise ConfigurationError(f"In {where}, {key!r} is not a setting. {_nearest_key(key)}")
        if key in refused:
            warn(f"In {where}, {key!r} is ignored: the commit is not trusted.")
        else:
            values[key] = _parse(where, key, value)
    return values


def _table(root: Path) -> tuple[str, Mapping[str, object]]:
    """Name and content of the file that counts: afterd.toml, or else pyproject.toml's table."""
    own = root / FILE_NAME
    if own.is_file():
        return str(own), _toml(own)
    pyproject = root / PYPROJECT
    if not pyproject.is_file():
        return "", {}
    tool = _toml(pyproject).get("tool", {})
    table = tool.get("afterd", {}) if isinstance(tool, dict) else {}
    where = f"{pyproject} [tool.afterd]"
    if not isinstance(table, dict):
        raise ConfigurationError(f"In {where}, afterd must be a table.")
    return where, table


def _toml(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigurationError(f"The file {path} is not readable as TOML: {error}.") from error
    except OSError as error:
        raise ConfigurationError(f"The file {path} cannot be read: {error.strerror}.") from error


def _from_environment(environment: Mapping[str, str]) -> dict[str, object]:
    """Known names only: AFTERD_CLANG and its like are not settings. Empty means not set."""
    names = {key: environment_name(key) for key in catalogue()}
    return {
        key: _read(f"the environment variable {name}", key, environment[name])
        for key, name in names.items()
        if environment.get(name)
    }


def _read(where: str, key: str, value: object) -> object:
    """A value from outside a file: a string there stands for what it says, ``"4"`` for 4."""
    from_text = catalogue()[key].kind.from_text
    return _parse(where, key, value, from_text if isinstance(value, str) else None)


def _parse(
    where: str, key: str, value: object, from_text: Callable[[str], object] | None = None
) -> object:
    try:
        return catalogue()[key].kind.parse(from_text(str(value)) if from_text else value)
    except ValueError as error:
        raise ConfigurationError(f"In {where}, {key!r} cannot be {value!r}: {error}.") from error


def _nearest_key(key: str) -> str:
    near = difflib.get_close_matches(key.replace("-", "_").lower(), catalogue(), n=1)
    return f"Did you mean {near[0]!r}?" if near else f"Known are {', '.join(catalogue())}."
