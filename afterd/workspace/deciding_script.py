"""The script that a test command runs and whose exit status decides its outcome: ``sh t.sh``, ``cd t && ./run.sh``.

Whoever names a script as the test means it by that, whatever it is called. What its input is given to, or whose output
another command judges (``python calc.py <in | diff - out``), is what is under test.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from posixpath import join, normpath

from afterd.trace.python.stage import text_for_shell

_INTERPRETERS = tuple(
    (re.compile(name), re.compile(none), frozenset(valued.split()))
    for name, none, valued in (
        ("(?:ba|da|k|z|a)?sh", "-[a-z]*c", "-o +o -O --rcfile"),
        (r"(?:python|pypy)[\d.]*", "-[a-zA-Z]*[cm]|-", "-W -X"),
        (r"perl[\d.]*", "-[a-zA-Z]*[eE]", "-I"),
        (r"ruby[\d.]*", "-e", "-I -r -C"),
        ("node|nodejs|tsx|ts-node", "-[ep]|--eval|--print", "-r --require --import --loader -C"),
        (r"php[\d.]*", "-r", "-d -c"),
        (r"lua[\d.]*|luajit|tclsh[\d.]*|guile|Rscript|julia", "-e", "-l"),
        (r"\.|source", "-", ""),
    )
)
"""Interpreters by their names, with the options by which they run no script, and those that a value follows."""
_STARTERS = {
    "env": "-u -C --unset --chdir",
    "timeout": "-k -s --kill-after --signal",
    "nice": "-n",
    "stdbuf": "-i -o -e",
    **dict.fromkeys(("exec", "command", "nohup", "setsid", "time", "xvfb-run"), ""),
}
"""What starts the command that follows, with the options of it that a value follows."""
_OF_ENVIRONMENTS = {*(f"{each} run" for each in ("poetry", "uv", "pipenv", "hatch", "pdm", "rye"))}
_OF_ENVIRONMENTS |= {"bundle exec", "coverage run"}
_KEYWORDS = frozenset({"!", "{", "if", "then", "else", "elif", "do", "while", "until"})
_TELLS_ALONE = frozenset(
    {"}", "fi", "done", "cd", "echo", "printf", "exit", "true", "false", ":", "rm", "cat", "set"}
)
"""What says nothing of its own about the outcome."""
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_SUFFIXES = frozenset(
    {".sh", ".bash", ".py", ".pl", ".rb", ".js", ".mjs", ".cjs", ".ts", ".php", ".lua", ".tcl"}
)
_OPERATORS = "();<>|&\n"


@dataclass(slots=True)
class _Simple:
    """One command of a line: its words, the folder it runs in, and whether something is given it to read."""

    folder: str
    words: list[str] = field(default_factory=list)
    is_fed: bool = False


def deciding_script(command: Sequence[str]) -> str:
    """The path of that script, from the folder in which the command runs; empty where none decides."""
    text = text_for_shell(command)
    return _script_of_text(text, ".") if text else _script(_Simple(".", list(command)))


def _script_of_text(text: str, folder: str) -> str:
    try:
        commands = [*_simple_commands(text, folder)]
    except ValueError:  # a quotation that does not end
        return ""
    for each in reversed(commands):
        words = _without_keywords(each.words)
        if words and words[0] not in _TELLS_ALONE:
            each.words = words
            return _script(each)
    return ""


def _simple_commands(text: str, folder: str) -> Iterator[_Simple]:
    """The commands of a text for a shell, in their order."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=_OPERATORS)
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    each, is_target, reads = _Simple(folder), False, False
    for word in lexer:
        is_operator = not set(word) - set(_OPERATORS)
        if is_target:
            each.is_fed |= reads and word != "/dev/null"
            is_target = False
        elif is_operator and {"<", ">"} & set(word):
            is_target, reads = True, "<" in word
        elif is_operator:
            yield each
            each = _Simple(_folder_after(each), is_fed=word in {"|", "|&"})
        else:
            each.words.append(word)
    yield each


def _folder_after(command: _Simple) -> str:
    words = _without_keywords(command.words)
    return join(command.folder, words[1]) if words[:1] == ["cd"] and words[1:] else command.folder


def _without_keywords(words: list[str]) -> list[str]:
    start = 0
    while start < len(words) and (words[start] in _KEYWORDS or _ASSIGNED.fullmatch(words[start])):
        start += 1
    return words[start:]


def _script(command: _Simple) -> str:
    """The script that one command runs; empty where it runs none, or it is given something to read."""
    words = _started_words(command.words)
    if not words or command.is_fed:
        return ""
    name = words[0].rpartition("/")[2]
    for interpreter, none, valued in _INTERPRETERS:
        if not interpreter.fullmatch(name):
            continue
        position = 1
        while position < len(words) and words[position].startswith(("-", "+")):
            if none.fullmatch(words[position]):
                is_text = name.endswith("sh") and position + 1 < len(words)
                return _script_of_text(words[position + 1], command.folder) if is_text else ""
            position += 2 if words[position] in valued else 1
        return _path(command.folder, words[position]) if position < len(words) else ""
    is_path = "/" in words[0] or PurePosixPath(name).suffix.lower() in _SUFFIXES
    return _path(command.folder, words[0]) if is_path else ""


def _started_words(words: list[str]) -> list[str]:
    """A command without what only starts it."""
    while words:
        valued = _STARTERS.get(PurePosixPath(words[0]).name)
        if " ".join(words[:2]) in _OF_ENVIRONMENTS:
            words = words[2:]
            continue
        if valued is None:
            return words
        position = 1
        while position < len(words) and (
            words[position].startswith("-") or _ASSIGNED.fullmatch(words[position])
        ):
            position += 2 if words[position] in valued.split() else 1
        # of timeout's own words one is left, how long it waits
        words = words[position + (PurePosixPath(words[0]).name == "timeout") :]
    return words


def _path(folder: str, word: str) -> str:
    """A script as a path within the repository; empty where it is elsewhere, or a shell decides where."""
    path = normpath(join(folder, word))
    return "" if path.startswith(("/", "..")) or "$" in path or "`" in path else path
