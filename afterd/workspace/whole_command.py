"""A given command of all tests, made to run all of them: many are told to stop at the first that fails.

What would have come after it is neither red nor green then, and one red test hides all others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from afterd.trace.python.stage import of_shell

_MAKERS = frozenset({"make", "gmake"})
_FLAGS_OF_UNITTEST = re.compile(r"-[vqfcb]*f[vqfcb]*")
_FAILFAST_OF_GO = re.compile(r"--?failfast(?:=.*)?")


def uncut_command(command: tuple[str, ...], runner: str) -> tuple[str, ...]:
    """A command that starts a runner which is known, or make, so that it comes to the last test; any other as it is."""
    words = of_shell(command) or command
    whole = _uncut_words(words, runner)
    return command if whole == words else whole


def _uncut_words(words: tuple[str, ...], runner: str) -> tuple[str, ...]:
    match runner:
        # Of -x and --maxfail the last one counts, also over what a file of the project says.
        case "pytest":
            return _with_option(words, "--maxfail=0")
        case "unittest":
            return tuple(filter(None, map(_without_failfast, words)))
        case "CTest":
            return tuple(word for word in words if word != "--stop-on-failure")
        case "Go":
            return tuple(word for word in words if not _FAILFAST_OF_GO.fullmatch(word))
        case "Cargo":
            return _with_option(words, "--no-fail-fast")
    if Path(words[0]).name in _MAKERS and "-k" not in words:
        return (words[0], "-k", *words[1:])
    return words


def _with_option(words: Sequence[str], option: str) -> tuple[str, ...]:
    """A command with an option at its end, before what it hands on."""
    if option in words:
        return tuple(words)
    end = words.index("--") if "--" in words else len(words)
    return (*words[:end], option, *words[end:])


def _without_failfast(word: str) -> str:
    """A word of unittest's command line; empty where nothing is left of it."""
    if word == "--failfast":
        return ""
    if not _FLAGS_OF_UNITTEST.fullmatch(word):
        return word
    rest = word.replace("f", "")
    return "" if rest == "-" else rest
