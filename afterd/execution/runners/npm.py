"""npm scripts: the runner behind them is found, so that its tests have names and can be run alone."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import dropwhile, pairwise
from pathlib import Path, PurePath
from typing import Any

from afterd.execution.failures.suites import Family, failed_tests
from afterd.execution.process import ProcessResult
from afterd.execution.runners.npm_imports import needs_no_build
from afterd.execution.runners.protocol import Detected
from afterd.execution.runners.reading import BUILD_FOLDER, has, script, text
from afterd.limits import PROJECT

_PLACEHOLDER = "no test specified"
_REPORT = "afterd-tests.json"
_BETWEEN = " > "
_ROOT = "afterd-root"
_PATH = 'PATH="$PWD/node_modules/.bin:$PATH"; export PATH'
_RUN = re.compile(
    r"(?:npm|yarn|pnpm|bun)(?: --?[\w-]+)* (?:run(?:-script)? )?(?:-s |--silent )?(?P<name>[\w:.-]+)"
)
_SETTING = re.compile(
    r"[A-Za-z_]\w*=.*|cross-env|npx|bunx|c8|nyc|--(?:reporter|check-coverage|all)\S*|exec"
)
_VARIABLE = re.compile(r"[A-Za-z_]\w*=[^$]*")
_PACKAGE_MANAGERS = frozenset({"npm", "pnpm", "yarn", "bun"})
_COVERAGE = re.compile(r"--coverage(?:=\S*)?|--experimental-test-coverage|--typecheck")
_NAMED_FILE = re.compile(r"(?:\(|at |file://)(?P<file>/?[\w.@/+-]+\.[cm]?[jt]sx?):\d")
_LOCATION = re.compile(r"^ *location: '(?:file://)?(?P<file>[^':]+):\d", re.MULTILINE)
_NOT_OK = re.compile(r"(?P<indent> *)not ok \d+ *-? *(?P<title>(?:(?!# *(?:TODO|SKIP))[^\n])*)\n")
_TEST_LIKE = re.compile(
    r"(?:^|/)(?:tests?|spec|__tests__)/|[._-](?:test|spec)\.[cm]?[jt]sx?$|(?:^|/)test\.[cm]?[jt]sx?$"
)
_SUFFIXES = frozenset({".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx"})
_NO_TESTS = frozenset({"node_modules", "fixtures", "__fixtures__", "__snapshots__"})
_BUILT = re.compile(r"\b(?:dist|build|lib|out|esm|cjs|compiled|output)/")


@dataclass(frozen=True, slots=True)
class _Kind:
    """A runner: how its command is seen, what makes it report, and how a file's test is named to it.

    ``title`` is empty where one test of a file cannot be asked for; ``builds`` where it compiles by itself.
    """

    name: str
    command: re.Pattern[str]
    report: tuple[str, ...]
    title: str = ""
    compiles: bool = False


_FILE = f'--outputFile="$AFTERD_RUN/{_REPORT}"'
_KINDS = (
    _Kind("Jest", re.compile(r"(?:^|/)jest(?:\.js)?$"), ("--json", _FILE, "--ci"), "--testNamePattern"),
    _Kind("Vitest", re.compile(r"(?:^|/)vitest$"), ("--run", "--reporter=json", "--reporter=default", _FILE),
          "--testNamePattern", compiles=True),
    _Kind("Mocha", re.compile(r"(?:^|/)_?mocha$"), ("--reporter", "json"), "--grep"),
    _Kind("node:test", re.compile(r"(?:^|/)node$"), (), "--test-name-pattern"),
    _Kind("TAP", re.compile(r"(?:^|/)(?:tape|tap|tap-spec|ava|uvu|tst)$"), ()),
)  # fmt: skip


class Npm:
    """JavaScript and TypeScript packages with a test script.

    A test's id is its file and its titles, with " > " between.
    """

    name = "npm"

    def detect(self, root: Path) -> Detected | None:
        """By a package.json whose test script is not npm's placeholder."""
        scripts = _scripts(root)
        command = scripts.get("test", "")
        if not command or _PLACEHOLDER in command:
            return None
        found = _runner(scripts)
        told = f" (that is {found.kind.name}: `{found}`)" if found else ""
        return Detected(
            self.name,
            script(_install(root), *_builds(root, scripts, found)),
            _command(found) if found else ("npm", "test", "--silent", "--ignore-scripts"),
            f"Found package.json: testing with its script `{command}`{told}.",
        )

    def failing_tests(self, result: ProcessResult) -> tuple[str, ...]:
        """From the report of Jest, Vitest or Mocha; from TAP, of what is not ok the files and titles."""
        root = text(result.directory / _ROOT).strip()
        for reported in (_json(result.directory / _REPORT), _first_object(result.stdout.whole())):
            if reported:
                return tuple(dict.fromkeys(_failed_tests(reported, root)))
        output = result.stdout.whole() + result.stderr.whole()
        found = tuple(dict.fromkeys(_not_ok(output, root)))
        return found or failed_tests(output, Family.TAP, Family.JEST, Family.VITEST)

    def one_test(self, detected: Detected, test_id: str) -> tuple[str, ...]:
        """Its file alone, and of that the one test where the runner can; else the whole script."""
        file, _, title = test_id.partition(_BETWEEN)
        found = _kind_of(detected.test)
        if found is None or not _TEST_LIKE.search(file) or file.startswith("/"):
            return detected.test
        kind = found.kind
        wanted = title.replace(_BETWEEN, " ")  # as the runners join them
        begin = (
            "^ ?" if kind.name == "Vitest" else "^"
        )  # some begin with the file's title, which is empty
        only = (kind.title, f"{begin}{_escaped_title(wanted)}$") if title and kind.title else ()
        argv = (*_without_files(found.argv), *_run_once(kind), *only, *_as_file(kind, file))
        return ("sh", "-c", f'{_begin(found)}exec "$@"', "sh", *argv)


def _scripts(root: Path) -> dict[str, str]:
    try:
        scripts = json.loads(text(root / "package.json"))["scripts"]
        return {str(name): str(command) for name, command in scripts.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


_MODULES = """\
if test -f {0}/installing || ! test -d node_modules; then
  mkdir -p {0} && touch {0}/installing && rm -rf node_modules
  home=${{PWD%%/.git/afterd/*}}
  for from in "$home" ../* "$home"/.git/afterd/slots/*; do
    test "$from" = "$PWD" && continue
    if test "$from" = "$home"; then sure=$from/node_modules/.bin; else sure=$from/{0}/modules; fi
    if test -e "$sure" && ! test -f "$from/{0}/installing" && test -d "$from/node_modules"; then
      rm -rf {0}/copied
      if cp -a --reflink=auto "$from/node_modules" {0}/copied 2>/dev/null; then
        mv {0}/copied node_modules
        break
      fi
    fi
  done
  test -d node_modules || {1}
  rm {0}/installing && touch {0}/modules
fi"""
"""A copy of what the user's work tree has, or another slot, else installed: once, as every version is
tried with the same modules. What an interrupted run left half-installed is made anew.
"""


def _install(root: Path) -> str:
    locked = has(root, "package-lock.json", "npm-shrinkwrap.json")
    install = "npm ci" if locked else "npm install --no-package-lock"
    more = "--no-audit --no-fund --ignore-scripts --legacy-peer-deps --loglevel=error"
    return _MODULES.format(BUILD_FOLDER, f"{install} {more}")


def _builds(root: Path, scripts: dict[str, str], found: _Found | None) -> Iterator[str]:
    """What is built before the tests; nothing where they run on the sources as they are."""
    if found and (found.kind.compiles or _runs_sources(root, found)):
        return
    if "build" in scripts:
        yield "npm run build --silent"
    elif re.search(r"\b(?:build|compile|tsc|rollup)\b", before := scripts.get("pretest", "")):
        yield f"npm run pretest --silent  # {before.splitlines()[0]}"


def _runs_sources(root: Path, found: _Found) -> bool:
    """Whether the tests and what they import are in the checkout, where nothing was built."""
    package = _json(root / "package.json")
    settings = [text(path) for path in sorted(root.glob(f"*{found.kind.name.lower()}*"))]
    settings.append(json.dumps(package.get(found.kind.name.lower(), "")))
    asked = [word for word in found.argv[1:] if word not in _without_files(found.argv)]
    if any(_BUILT.search(each) for each in (*settings, *asked)):
        return False
    itself = str(package.get("name", "")) if "exports" in package else ""  # Node's self-reference
    return needs_no_build(root, _tests(root), itself, compiles=found.kind.name == "Jest")


def _tests(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        folders[:] = [
            name for name in folders if not name.startswith(".") and name not in _NO_TESTS
        ]
        for file in (Path(folder, name) for name in files):
            if file.suffix in _SUFFIXES and _TEST_LIKE.search(file.relative_to(root).as_posix()):
                yield file


@dataclass(frozen=True, slots=True)
class _Found:
    """A runner in a script: its command, and the variables that the script sets for it."""

    kind: _Kind
    argv: tuple[str, ...]
    variables: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join((*self.variables, shlex.join(self.argv)))


def _runner(scripts: dict[str, str]) -> _Found | None:
    """What runs the tests; of several calls the first one that asks for the whole suite."""
    found = list(_calls(scripts, "test", 0))
    whole = (each for each in found if _without_files(each.argv) == each.argv)
    return next(whole, found[0] if found else None)


def _calls(scripts: dict[str, str], name: str, deep: int) -> Iterator[_Found]:
    """The runners' calls in a script, followed through the scripts that it calls."""
    for part in re.split(r"&&|;|\|\|?", scripts.get(name, "")):
        try:
            words = shlex.split(part)
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
        if (kind := _kind(words)) is None:
            continue
        if kind.name == "node:test":
            words[1:1] = ["--test-reporter=tap"]
        yield _Found(
            kind, tuple(word for word in words if not _COVERAGE.fullmatch(word)), variables
        )


def _is_managers_own(word: str) -> bool:
    return word in {"exec", "run", "x", "--"} or word.startswith("-")


def _kind(words: list[str]) -> _Kind | None:
    if not words:
        return None
    for kind in _KINDS:
        if kind.command.search(words[0]):
            return kind if kind.name != "node:test" or "--test" in words else _by_node(words)
    return None


def _by_node(words: list[str]) -> _Kind | None:
    """``node node_modules/.bin/mocha``, or a script of the project's own that is no runner."""
    return next((kind for kind in _KINDS for word in words[1:2] if kind.command.search(word)), None)


def _kind_of(command: tuple[str, ...]) -> _Found | None:
    """What ``_command`` made this of."""
    if command[:2] != ("sh", "-c"):
        return None
    for kind in _KINDS:
        if command[3] == kind.name:
            exported = command[2].removeprefix(_PATH).partition("; pwd -P")[0]
            variables = shlex.split(exported.removeprefix("; export "))
            return _Found(kind, command[4:], tuple(variables))
    return None


def _command(found: _Found) -> tuple[str, ...]:
    """The suite, with a report and the folder it ran in, to which its paths are relative."""
    reports = " ".join(("", *found.kind.report))
    return ("sh", "-c", f'{_begin(found)}exec "$@"{reports}', found.kind.name, *found.argv)


def _begin(found: _Found) -> str:
    """What stands before a runner: its variables, and the folder that the paths in its output are below."""
    exported = f"; export {shlex.join(found.variables)}" if found.variables else ""
    return f'{_PATH}{exported}; pwd -P > "$AFTERD_RUN/{_ROOT}"; '


def _run_once(kind: _Kind) -> tuple[str, ...]:
    return {"Vitest": ("--run",), "Jest": ("--ci",)}.get(kind.name, ())


def _as_file(kind: _Kind, file: str) -> tuple[str, ...]:
    """How a file is asked for: Jest reads a pattern."""
    return ("--runTestsByPath", file) if kind.name == "Jest" else (file,)


def _without_files(argv: tuple[str, ...]) -> tuple[str, ...]:
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


def _escaped_title(title: str) -> str:
    return re.sub(r"([\\^$.*+?()\[\]{}|/])", r"\\\1", title)


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _first_object(output: str) -> dict[str, Any]:
    """Mocha's report: what the tests print may stand before and behind it."""
    begin = output.find('{\n  "stats"')
    if begin < 0:
        return {}
    try:
        value = json.JSONDecoder().raw_decode(output[begin:])[0]
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _failed_tests(report: dict[str, Any], root: str) -> Iterator[str]:
    """The ids of failed tests in the reports of Jest and Vitest (which has Jest's form) and of Mocha."""
    for file in report.get("testResults", ()):
        path, tests = (
            _relative_path(str(file.get("name", "")), root),
            file.get("assertionResults", ()),
        )
        for test in tests:
            if test.get("status") == "failed":
                titles = filter(None, test.get("ancestorTitles", ()))  # Vitest's begin with none
                yield _BETWEEN.join((path, *titles, str(test.get("title", ""))))
        if file.get("status") == "failed" and not tests:
            yield path  # it could not be loaded
    for test in report.get("failures", ()):
        file, title = (
            _relative_path(str(test.get("file", "")), root),
            str(test.get("fullTitle", "")),
        )
        yield _BETWEEN.join((file, title)) if file else title


def _relative_path(path: str, root: str) -> str:
    path = path.removeprefix("file://")
    return path.removeprefix(f"{root}/") if root else path


def _not_ok(output: str, root: str) -> Iterator[str]:
    """Of what TAP says is not ok the file that its location or stack names, with the title where
    node:test wrote it (others write the words of an assertion there).
    """
    for part in re.split(r"^(?= *(?:not )?ok \d+)", output, flags=re.MULTILINE):
        failed = _NOT_OK.match(part)
        if failed is None or "failureType: 'subtestsFailed'" in part:
            continue
        located = _LOCATION.search(part)
        files = [located["file"]] if located else [m["file"] for m in _NAMED_FILE.finditer(part)]
        own = [file for each in files if _TEST_LIKE.search(file := _relative_path(each, root))]
        own = [file for file in own if "node_modules" not in file]
        if own:
            whole = failed["indent"] or not located or own[0].endswith(failed["title"])
            yield own[0] if whole else f"{own[0]}{_BETWEEN}{failed['title']}"
