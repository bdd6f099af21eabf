"""Small readings of a checkout that several runners share."""

from __future__ import annotations

import os
import re
import shlex
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from afterd.limits import PROJECT

BUILD_FOLDER = ".afterd-build"
"""Where out-of-tree builds go inside a slot; never tracked, so it stays through moves."""

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
"""Names that make looks for, in its order."""


def text(path: Path) -> str:
    """The file's text, at most its first MiB; empty where there is none."""
    try:
        with path.open("rb") as file:
            return file.read(PROJECT.text).decode(errors="replace")
    except OSError:
        return ""


def toml(path: Path) -> dict[str, Any]:
    """The file's table; empty where there is none or it cannot be read."""
    try:
        return tomllib.loads(text(path))
    except tomllib.TOMLDecodeError:
        return {}


def has(root: Path, *names: str) -> str:
    """The first of ``names`` that is a file in ``root``; empty where none is."""
    return next((name for name in names if (root / name).is_file()), "")


def has_target(makefile: str, *targets: str) -> str:
    """The first of ``targets`` that a makefile has a rule for; empty where it has none."""
    for target in targets:
        rule = rf"^(?:[\w./-]+ +)*{re.escape(target)}(?: +[\w./-]+)*\s*::?(?!=)"
        if re.search(rule, makefile, re.MULTILINE):
            return target
    return ""


def option(command: Sequence[str], name: str) -> str:
    """The value that a command line, in a shell or not, gives an option; empty where it gives none."""
    words = list(command)
    if command[:2] == ("sh", "-c"):
        with suppress(ValueError):
            words = shlex.split(command[2])
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == name:
            return following
        if word.startswith(f"{name}="):
            return word.removeprefix(f"{name}=")
    return ""


def script(*lines: str) -> tuple[str, ...]:
    """A shell script that ends at its first failing line."""
    return ("sh", "-c", "\n".join(("set -e", *lines)))


def jobs() -> str:
    """How many compilers a build runs side by side."""
    if hasattr(os, "sched_getaffinity"):
        return str(len(os.sched_getaffinity(0)))
    return str(os.cpu_count() or 1)
