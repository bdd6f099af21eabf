"""npm scripts: the runner behind them is found, so that its tests have names and can be run alone."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from afterd.execution.failures.suites import Family, failed_tests
from afterd.execution.process import ProcessResult
from afterd.execution.runners.installed import installed
from afterd.execution.runners.npm_ava import failed_titles, wanted_title
from afterd.execution.runners.npm_imports import lacks_itself, needs_no_build
from afterd.execution.runners.npm_missing import missing_packages
from afterd.execution.runners.npm_scripts import (
    KINDS,
    REPORT,
    Call,
    RunnerKind,
    makes_something,
    runner_calls,
    script_parts,
    scripts_of,
    without_files,
    without_others,
)
from afterd.execution.runners.protocol import Detected
from afterd.execution.runners.reading import has, script, text

_PLACEHOLDER = "no test specified"
_BETWEEN = " > "
_CHECKOUT = "{checkout}"
"""What stands in a title for the folder that its test was run in, which is another one in each slot."""
_ROOT = "afterd-root"
_RED = "afterd-red"
_SEVERAL = "afterd-calls"
_AVA = "afterd-ava"  # a run of it left this, with the one file that was asked for
_PARTS = "afterd-parts"
_PATH = 'PATH="$PWD/node_modules/.bin:$PATH"; export PATH'
_NAMED_FILE = re.compile(r"(?:\(|at |file://)(?P<file>/?[\w.@/+-]+\.[cm]?[jt]sx?):\d")
_OF_A_TEST = re.compile(r"^ *at Context\.\S+ \((?P<file>[^():\n]+):\d", re.MULTILINE)
_HOOK = re.compile(r"\"(?:before|after) (?:all|each)\" hook")
_LOCATION = re.compile(r"^ *location: '(?:file://)?(?P<file>[^':]+):\d", re.MULTILINE)
_NOT_OK = re.compile(r"(?P<indent> *)not ok \d+ *-? *(?P<title>(?:(?!# *(?:TODO|SKIP))[^\n])*)\n")
_TEST_LIKE = re.compile(
    r"(?:^|/)(?:tests?|spec|__tests__)/|[._-](?:test|spec)\.[cm]?[jt]sx?$|(?:^|/)test\.[cm]?[jt]sx?$"
)
_SUFFIXES = frozenset({".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx"})
_NO_TESTS = frozenset({"node_modules", "fixtures", "__fixtures__", "__snapshots__"})
_LOADER = re.compile(
    r"(?:^|[\s='\"/])(?:tsx|ts-node|@swc-node|esbuild-register|jiti)(?:$|[\s'\"/])", re.MULTILINE
)
_GLOB = re.compile(r"[\w./@+*?-]+")
_YARN = re.compile(r"^yarnPath: *[\"']?(?P<path>[\w./-]+)", re.MULTILINE)
_BUILT = re.compile(r"\b(?:dist|build|lib|out|esm|cjs|compiled|output)/")


class Npm:
    """JavaScript and TypeScript packages with a test script.

    A test's id is its file and its titles, with " > " between.
    """

    name = "npm"

    def detect(self, root: Path) -> Detected | None:
        """By a package.json whose test script is not npm's placeholder."""
        scripts = scripts_of(root)
        command = scripts.get("test", "")
        if not command or _PLACEHOLDER in command:
            return None
        calls, parts = runner_calls(root, scripts), script_parts(scripts)
        told = "".join(f", and {each.kind.name}: `{each}`" for each in calls)[len(", and ") :]
        if not calls and parts:
            told = f"each command a test, as one that fails hides the others: {_quoted(parts)}"
        tests = tuple(_tests(root))
        ready = _on_sources(root, calls, tests)
        compiles = calls and all(each.kind.compiles for each in calls)
        builds = () if ready == tests and (tests or compiles) else _builds(scripts)
        return Detected(
            self.name,
            script(_install(root), missing_packages(), *builds),
            _command(calls, parts),
            f"Found package.json: testing with its script `{command}`{f' (that is {told})' if told else ''}.",
            unbuilt=frozenset(each.relative_to(root).as_posix() for each in ready if builds),
        )

    def failing_tests(self, result: ProcessResult) -> tuple[str, ...]:
        """From the report of Jest, Vitest or Mocha; from TAP, of what is not ok the files and titles."""
        root = text(result.directory / _ROOT).strip()
        if red := text(result.directory / _RED).splitlines():
            return tuple(dict.fromkeys(red))
        output = result.stdout.whole()
        reports = [*_written(result.directory), *_objects(output)]
        if found := tuple(dict.fromkeys(t for each in reports for t in _failed_tests(each, root))):
            return found
        output += result.stderr.whole()
        if (result.directory / _AVA).exists():
            asked = text(result.directory / _AVA).strip()
            return tuple(dict.fromkeys(_of_ava(output, Path(root), asked)))
        found = tuple(dict.fromkeys(_not_ok(output, root)))
        return found or failed_tests(output, Family.TAP, Family.JEST, Family.VITEST)

    def is_unread(self, detected: Detected, test_id: str, _said: str) -> bool:
        """A file without a title; what others than Jest and Vitest call so may be one that failed."""
        kinds = {call.kind.name for call in _calls_of(detected.test)}
        return _BETWEEN not in test_id and bool(kinds) and kinds <= {"Jest", "Vitest"}

    def one_build(self, detected: Detected, test_id: str) -> tuple[str, ...]:
        """Nothing but the modules where the test's file runs on the sources, though another one needs a build."""
        file = test_id.partition(_BETWEEN)[0]
        if file not in detected.unbuilt:
            return detected.build
        *install, _ = detected.build[2].splitlines()
        return (*detected.build[:2], "\n".join(install))

    def one_test(self, detected: Detected, test_id: str) -> tuple[str, ...]:
        """Its file alone, and of that the one test where the runner can; else the whole script."""
        if (parts := _given(detected.test, _PARTS)) and test_id in parts:
            return _part_alone(parts, test_id)
        file, _, title = test_id.partition(_BETWEEN)
        calls = _calls_of(detected.test)
        if not calls or not _TEST_LIKE.search(file) or file.startswith("/"):
            return _by_title(calls, test_id) or detected.test
        found = _call_for(calls, file)
        kind = found.kind
        asked = title and kind.title and not _HOOK.search(title)
        only = (kind.title, _pattern(kind, title)) if asked else ()
        argv = (*without_others(found, file), *_run_once(kind), *only, *_as_file(kind, file))
        return ("sh", "-c", f'{_begin(found, file)}exec "$@"', "sh", *argv)


def _install(root: Path) -> str:
    locked = has(root, "package-lock.json", "npm-shrinkwrap.json")
    install = "npm ci" if locked else "npm install --no-package-lock"
    more = "--no-audit --no-fund --ignore-scripts --legacy-peer-deps --loglevel=error"
    return installed("node_modules", ".bin", _by_own_manager(root, f"{install} {more}"))


def _by_own_manager(root: Path, npm: str) -> str:
    """How modules are installed: by the project's own manager where that is there, as npm reads neither its lock file
    nor what names another package of the same repository (``workspace:``). Yarn lays them out as npm does.
    """
    if release := _YARN.search(text(root / ".yarnrc.yml")):
        variables = (
            "YARN_NODE_LINKER=node-modules YARN_ENABLE_SCRIPTS=0 YARN_ENABLE_IMMUTABLE_INSTALLS=0"
        )
        return f"{variables} node {shlex.quote(release['path'])} install"
    if has(root, "pnpm-lock.yaml"):
        pnpm = "pnpm install --frozen-lockfile --ignore-scripts --reporter=append-only"
        return f"if command -v pnpm >/dev/null; then {pnpm}; else {npm}; fi"
    return npm


def _builds(scripts: dict[str, str]) -> tuple[str, ...]:
    """How the package is built: one line, or none."""
    if "build" in scripts:
        return ("npm run build --silent",)
    if re.search(r"\b(?:build|compile|tsc|rollup)\b", before := scripts.get("pretest", "")):
        return (f"npm run pretest --silent  # {before.splitlines()[0]}",)
    return ()


def _on_sources(root: Path, calls: Sequence[Call], tests: Sequence[Path]) -> tuple[Path, ...]:
    """Those of the test files that run on the sources as they are: all they import is in the checkout."""
    if not calls or not all(
        each.kind.compiles or not _asks_for_built(root, each) for each in calls
    ):
        return ()
    if all(each.kind.compiles for each in calls):
        return () if _lacks_itself(root, calls, tests) else tuple(tests)
    package = _json(root / "package.json")
    itself = str(package.get("name", "")) if "exports" in package else ""  # Node's self-reference
    compiles = all(each.kind.name == "Jest" or _reads_typescript(root, each) for each in calls)
    return tuple(each for each in tests if needs_no_build(root, [each], itself, compiles=compiles))


def _lacks_itself(root: Path, calls: Sequence[Call], tests: Sequence[Path]) -> bool:
    """Whether the package is asked for by its own name, which is built, and no setting says where that stands."""
    package = _json(root / "package.json")
    name = str(package.get("name", ""))
    if any(name in each for call in calls for each in _settings(root, call)):
        return False
    return lacks_itself(root, tests, name, package.get("exports"))


def _asks_for_built(root: Path, found: Call) -> bool:
    """Whether a runner's settings or its command say that tests are looked for in what was built."""
    settings = _settings(root, found)
    asked = [word for word in found.argv[1:] if word not in without_files(found.argv)]
    return any(_BUILT.search(each) for each in (*settings, *asked))


def _reads_typescript(root: Path, found: Call) -> bool:
    """Whether a runner's settings or its command load what compiles TypeScript as it is imported."""
    return any(map(_LOADER.search, (*_settings(root, found), *found.argv, *found.variables)))


def _settings(root: Path, found: Call) -> list[str]:
    """The texts of a runner's settings: its files, and its part of the package.json."""
    settings = [text(path) for path in sorted(root.glob(f"*{found.kind.name.lower()}*"))]
    return [*settings, json.dumps(_json(root / "package.json").get(found.kind.name.lower(), ""))]


def _tests(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        folders[:] = [
            name for name in folders if not name.startswith(".") and name not in _NO_TESTS
        ]
        for file in (Path(folder, name) for name in files):
            if file.suffix in _SUFFIXES and _TEST_LIKE.search(file.relative_to(root).as_posix()):
                yield file


def _calls_of(command: tuple[str, ...]) -> tuple[Call, ...]:
    """What ``_command`` made this of."""
    kinds = {kind.name: kind for kind in KINDS}
    if command[:2] == ("sh", "-c") and command[3] in kinds:
        exported = command[2].removeprefix(_PATH).partition("; pwd -P")[0]
        variables = shlex.split(exported.removeprefix("; export "))
        return (Call(kinds[command[3]], command[4:], tuple(variables)),)
    return tuple(
        Call(kinds[name], tuple(argv), tuple(variables))
        for name, argv, variables in map(json.loads, _given(command, _SEVERAL))
    )


def _by_title(calls: Sequence[Call], title: str) -> tuple[str, ...]:
    """One test of which only the title is known, as an older Mocha tells no files; () where that cannot be asked."""
    names = [call.kind.name for call in calls]
    if names not in (["Mocha"], ["AVA"]) or _BETWEEN in title or _HOOK.search(title):
        return ()
    [call] = calls
    argv = (*call.argv, *_run_once(call.kind), call.kind.title, _pattern(call.kind, title))
    return ("sh", "-c", f'{_begin(call)}exec "$@"', "sh", *argv)


def _given(command: tuple[str, ...], name: str) -> tuple[str, ...]:
    """The arguments of a script of several commands; () where it is another one."""
    return command[4:] if command[:2] == ("sh", "-c") and command[3] == name else ()


def _call_for(calls: Sequence[Call], file: str) -> Call:
    """The call that runs a file's tests: one that asks for it, or for all that there is."""
    named = (each for each in calls if each.names(file))
    return next(named, next((each for each in calls if each.is_whole), calls[0]))


def _command(calls: Sequence[Call], parts: Sequence[str]) -> tuple[str, ...]:
    """The suite, with a report and the folder it ran in, to which its paths are relative."""
    if len(calls) == 1:
        [call] = calls
        words = "IFS=; exec $@" if call.asks_the_shell else 'exec "$@"'
        return ("sh", "-c", f"{_begin(call)}{words}{_reports(call)}", call.kind.name, *call.argv)
    if calls:
        told = (json.dumps((each.kind.name, each.argv, each.variables)) for each in calls)
        return ("sh", "-c", _to_the_end(map(_as_shell, count(), calls)), _SEVERAL, *told)
    if parts:
        red = f'>> "$AFTERD_RUN/{_RED}"'
        each = (f"( {part}\n) || {{ echo {shlex.quote(part)} {red}; false; }}" for part in parts)
        return ("sh", "-c", f"{_PATH}; {_to_the_end(each)}", _PARTS, *parts)
    return ("npm", "test", "--silent", "--ignore-scripts")


def _to_the_end(commands: Iterable[str]) -> str:
    """All of these whatever becomes of those before; red where one is."""
    each = "".join(f"( {command} ) || red=$?\n" for command in commands)
    return f"red=0\n{each}exit $red"


def _as_shell(number: int, call: Call) -> str:
    """A call of several, whose report does not stand where the next one writes its own."""
    report = f'"$AFTERD_RUN/{REPORT}"'
    kept = f'"$AFTERD_RUN/{number}-{REPORT}"'
    words = [
        word if call.asks_the_shell and _GLOB.fullmatch(word) else shlex.quote(word)
        for word in call.argv
    ]
    return f"{_begin(call)}{' '.join(words)}{_reports(call)}; red=$?; mv {report} {kept} 2>/dev/null; exit $red"


def _reports(call: Call) -> str:
    return " ".join(("", *call.kind.report))


def _part_alone(parts: Sequence[str], part: str) -> tuple[str, ...]:
    """One command of a script, after those before it that make something."""
    before = filter(makes_something, parts[: parts.index(part)])
    made = "".join(f"( {each}\n) >&2 && " for each in before)
    return ("sh", "-c", f"{_PATH}; {made}{part}")


def _quoted(parts: Sequence[str]) -> str:
    return ", ".join(f"`{part}`" for part in parts)


def _begin(found: Call, file: str = "") -> str:
    """What stands before a runner: its variables, and the folder that the paths in its output are below."""
    exported = f"; export {shlex.join(found.variables)}" if found.variables else ""
    told = f'echo {shlex.quote(file)} > "$AFTERD_RUN/{_AVA}"; ' if found.kind.name == "AVA" else ""
    return f'{_PATH}{exported}; pwd -P > "$AFTERD_RUN/{_ROOT}"; {told}'


def _run_once(kind: RunnerKind) -> tuple[str, ...]:
    return {"Vitest": ("--run",), "Jest": ("--ci",), "AVA": ("--tap",)}.get(kind.name, ())


def _as_file(kind: RunnerKind, file: str) -> tuple[str, ...]:
    """How a file is asked for: Jest reads a pattern."""
    return ("--runTestsByPath", file) if kind.name == "Jest" else (file,)


def _pattern(kind: RunnerKind, title: str) -> str:
    """How one title is asked for, its parts joined as the runner joins them."""
    if kind.name == "AVA":
        return wanted_title(title)
    begin = (
        "^ ?" if kind.name == "Vitest" else "^"
    )  # some begin with the file's title, which is empty
    escaped = _escaped_title(title.replace(_BETWEEN, " "))
    return f"{begin}{escaped.replace(_escaped_title(_CHECKOUT), '.*')}$"


def _of_ava(output: str, root: Path, asked: str) -> Iterator[str]:
    files = [asked] if asked else [each.relative_to(root).as_posix() for each in _tests(root)]
    for file, title in failed_titles(output, files):
        yield _BETWEEN.join(filter(None, (file, title)))


def _escaped_title(title: str) -> str:
    return re.sub(r"([\\^$.*+?()\[\]{}|/])", r"\\\1", title)


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _written(directory: Path) -> Iterator[dict[str, Any]]:
    """The reports of a run: each call's, the last one's under its own name."""
    for path in (*sorted(directory.glob(f"*-{REPORT}")), directory / REPORT):
        if report := _json(path):
            yield report


def _objects(output: str) -> Iterator[dict[str, Any]]:
    """Mocha's reports: what the tests print may stand before and behind them."""
    begin = output.find('{\n  "stats"')
    while begin >= 0:
        with suppress(ValueError):
            value = json.JSONDecoder().raw_decode(output[begin:])[0]
            if isinstance(value, dict):
                yield value
        begin = output.find('{\n  "stats"', begin + 1)


def _failed_tests(report: dict[str, Any], root: str) -> Iterator[str]:
    """The ids of failed tests in a runner's report, the same wherever it ran."""
    for name in _reported_names(report, root):
        yield name.replace(root, _CHECKOUT) if root else name


def _reported_names(report: dict[str, Any], root: str) -> Iterator[str]:
    """The names in the reports of Jest and Vitest (which has Jest's form) and of Mocha."""
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
        stack = str(test.get("err", {}).get("stack", ""))
        own = next((m["file"] for m in _OF_A_TEST.finditer(stack)), "")
        file, title = (
            _relative_path(str(test.get("file") or own), root),
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
