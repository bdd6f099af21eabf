"""The test script of a package, read: the calls of runners in it, and the commands that it is made of."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import dropwhile, pairwise
from pathlib import Path, PurePath

from afterd.execution.runners.reading import text
from afterd.limits import PROJECT

REPORT = "afterd-tests.json"
_RUN = re.compile(
    r"(?:npm|yarn|pnpm|bun)(?: --?[\w-]+)* (?:run(?:-script)? )?(?:-s |--silent )?(?P<name>[\w:.-]+)"
)
_SETTING = re.compile(
    r"[A-Za-z_]\w*=.*|cross-env|npx|bunx|c8|nyc|--(?:reporter|check-coverage|all)\S*|exec"
)
_VARIABLE = re.compile(r"[A-Za-z_]\w*=[^$]*")
_PACKAGE_MANAGERS = frozenset({"npm", "pnpm", "yarn", "bun"})
_COVERAGE = re.compile(r"--coverage(?:=\S*)?|--experimental-test-coverage|--typecheck")
_BAIL = re.compile(r"-b|--bail(?:=\S*)?|--fail-fast")
_OF_A_SHELL = frozenset({";", "|", "||", "&", "(", ")"})
_MAKES = re.compile(
    r"\b(?:build|compile|tsc|tsup|swc|rollup|webpack|babel|esbuild|bundle|generate|clean|rimraf|mkdir|cp)\b"
)
_OF_NPM = re.compile(r"\$\{?npm_|\bINIT_CWD\b")


@dataclass(frozen=True, slots=True)
class RunnerKind:
    """A runner: how its command is seen, what makes it report, and how a file's test is named to it.

    ``title`` is empty where one test of a file cannot be asked for; ``compiles``: it does so by itself;
    ``to_end`` undoes a setting to stop at the first failing test.
    """

    name: str
    command: re.Pattern[str]
    report: tuple[str, ...]
    title: str = ""
    compiles: bool = False
    to_end: str = ""


_FILE = f'--outputFile="$AFTERD_RUN/{REPORT}"'
KINDS = (
    RunnerKind("Jest", re.compile(r"(?:^|/)jest(?:\.js)?$"), ("--json", _FILE, "--ci"),
               "--testNamePattern", to_end="--bail=0"),
    RunnerKind("Vitest", re.compile(r"(?:^|/)vitest$"), ("--run", "--reporter=json", "--reporter=default", _FILE),
               "--testNamePattern", compiles=True, to_end="--bail=0"),
    RunnerKind("Mocha", re.compile(r"(?:^|/)_?mocha$"), ("--reporter", "json"), "--grep", to_end="--no-bail"),
    RunnerKind("node:test", re.compile(r"(?:^|/)node$"), (), "--test-name-pattern"),
    RunnerKind("AVA", re.compile(r"(?:^|/)ava$"), ("--tap",), "--match", to_end="--no-fail-fast"),
    RunnerKind("TAP", re.compile(r"(?:^|/)(?:tape|tap|tap-spec|uvu|tst)$"), ()),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Call:
    """A runner in a script: its command, and the variables that the script sets for it."""

    kind: RunnerKind
    argv: tuple[str, ...]
    variables: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join((*self.variables, shlex.join(self.argv)))

    @property
    def asks_the_shell(self) -> bool:
        """Whether its patterns of files are the shell's to expand: Node does it itself since version 21 alone."""
        words = " ".join(self.argv)
        return self.kind.name == "node:test" and "*" in words and "**" not in words

    @property
    def is_whole(self) -> bool:
        """Whether it asks for all tests that the runner finds."""
        return without_files(self.argv) == self.argv

    def names(self, file: str) -> bool:
        """Whether one of the files, folders or patterns that it asks for has this file."""
        path = PurePath(file)
        asked = (word for word in self.argv[1:] if not word.startswith("-"))
        return any(
            path.match(word) or path.is_relative_to(word.partition("*")[0] or "/") for word in asked
        )


def without_others(call: Call, file: str) -> tuple[str, ...]:
    """A runner's command without what it was to look for tests in, for one file to be named instead."""
    first, *rest = without_files(call.argv)
    folders = {str(parent) for parent in PurePath(file).parents}
    return (first, *(word for word in rest if word.rstrip("/") not in folders))


def scripts_of(root: Path) -> dict[str, str]:
    """The scripts of the package.json there; none where it cannot be read."""
    try:
        scripts = json.loads(text(root / "package.json"))["scripts"]
        return {str(name): str(command) for name, command in scripts.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def runner_calls(root: Path, scripts: dict[str, str]) -> tuple[Call, ...]:
    """What runs the tests, each to its end; a call for some files goes where one asks the same runner for all."""
    found = dict.fromkeys(_calls(scripts, "test", 0))
    whole = {each.kind for each in found if each.is_whole}
    kept = (each for each in found if each.is_whole or each.kind not in whole)
    return tuple(
        replace(each, argv=(*each.argv, each.kind.to_end))
        if _stops_early(root, each.kind)
        else each
        for each in kept
    )


def script_parts(scripts: dict[str, str]) -> tuple[str, ...]:
    """The commands of a test script that is ``a && b``, with those of the scripts that it calls; () for any other."""
    parts = tuple(dict.fromkeys(_parts(scripts, "test", 0)))
    several = len(parts) > 1 and not any(_OF_NPM.search(part) for part in parts)
    return parts if several else ()


def makes_something(part: str) -> bool:
    """Whether what comes after this command in a script may need what it makes; a type check makes nothing."""
    return bool(_MAKES.search(part)) and "--noEmit" not in part


def without_files(argv: tuple[str, ...]) -> tuple[str, ...]:
    """A runner's command without the files or folders it was to look for tests in."""
    kept = [argv[0]]
    for before, word in pairwise(argv):
        option = (
            before.startswith("-")
            and "=" not in before
            and before not in {"--test", "--run", "--ci"}
        )
        path = (
            "*" in word
            or "/" in word
            or "." in PurePath(word).name
            or word in {"test", "tests", "spec"}
        )
        if word.startswith("-") or option or not path:
            kept.append(word)
    return tuple(kept)


def _calls(scripts: dict[str, str], name: str, deep: int) -> Iterator[Call]:
    """The runners' calls in a script, followed through the scripts that it calls.

    What only formats another's output, or runs where another failed, is none.
    """
    for part in re.split(r"&&|;", scripts.get(name, "")):
        try:
            words = shlex.split(part.partition("|")[0])
        except ValueError:
            continue
        variables: tuple[str, ...] = ()
        while words and _SETTING.fullmatch(words[0]):
            variables += tuple(word for word in words[:1] if _VARIABLE.fullmatch(word))
            words = words[1:]
        called = _RUN.match(" ".join(words))
        if called and called["name"] in scripts:
            if called["name"] != name and deep < PROJECT.scripts:
                for inner in _calls(scripts, called["name"], deep + 1):
                    yield replace(inner, variables=(*variables, *inner.variables))
            continue
        if words[:1] and words[0] in _PACKAGE_MANAGERS:  # `pnpm vitest`: a program of node_modules
            words = list(dropwhile(_is_managers_own, words[1:]))
        words = _counted_by_istanbul(words)
        if (kind := _kind(words)) is None:
            continue
        if kind.name == "node:test":
            words[1:1] = ["--test-reporter=tap"]
        yield Call(kind, tuple(_to_the_end(words)), variables)


def _counted_by_istanbul(words: list[str]) -> list[str]:
    """What ``istanbul cover`` runs, without what that is told itself; any other command as it is."""
    if [PurePath(word).name for word in words[:2]] != ["istanbul", "cover"]:
        return words
    program = next((word for word in words[2:] if _kind([word])), None)
    given = words[words.index("--") + 1 :] if "--" in words else []
    return [program, *given] if program else words


def _to_the_end(words: list[str]) -> Iterator[str]:
    """A runner's command that counts no coverage and stops at no failing test: all others would be hidden."""
    before = ""
    for word in words:
        of_bail = _BAIL.fullmatch(before) and word.isdecimal()
        if not (_COVERAGE.fullmatch(word) or _BAIL.fullmatch(word) or of_bail):
            yield word
        before = word


def _stops_early(root: Path, kind: RunnerKind) -> bool:
    """Whether the runner's settings say that it stops at the first failing test."""
    if not kind.to_end:
        return False
    settings = [text(path) for path in sorted(root.glob(f"*{kind.name.lower()}*"))]
    if kind.name == "Vitest":
        settings += [text(path) for path in sorted(root.glob("vite.config.*"))]
    try:
        own = json.loads(text(root / "package.json")).get(kind.name.lower(), {})
    except (ValueError, AttributeError):
        own = {}
    stops = re.compile(r"\b(?:bail|failFast)\b['\"]?\s*:\s*+(?!false\b|0\b)")
    return any(map(stops.search, (*settings, json.dumps(own))))


def _parts(scripts: dict[str, str], name: str, deep: int) -> Iterator[str]:
    """The commands of a script, through those that it calls; one that is no plain ``a && b`` is one command."""
    command = scripts.get(name, "")
    parts = command.split("&&")
    if not all(map(_is_alone, parts)):
        parts = [command]
    for part in parts:
        called = _RUN.fullmatch(part.strip())
        if (
            called
            and called["name"] in scripts
            and called["name"] != name
            and deep < PROJECT.scripts
        ):
            yield from _parts(scripts, called["name"], deep + 1)
        else:
            yield part.strip()


def _is_alone(command: str) -> bool:
    """Whether a command means the same when it is run by itself, in a shell of its own."""
    try:
        words = list(shlex.shlex(command, posix=True, punctuation_chars=True))
    except ValueError:
        return False  # a quote that another part closes
    return words[:1] not in ([], ["cd"], ["export"], ["set"], ["."]) and not _OF_A_SHELL & set(
        words
    )


def _is_managers_own(word: str) -> bool:
    return word in {"exec", "run", "x", "--"} or word.startswith("-")


def _kind(words: list[str]) -> RunnerKind | None:
    if not words:
        return None
    for kind in KINDS:
        if kind.command.search(words[0]):
            return kind if kind.name != "node:test" or "--test" in words else _by_node(words)
    return None


def _by_node(words: list[str]) -> RunnerKind | None:
    """``node node_modules/.bin/mocha``, or a script of the project's own that is no runner."""
    return next((kind for kind in KINDS for word in words[1:2] if kind.command.search(word)), None)
