"""Which runner a package's test script calls, and with what."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from afterd.execution.process import Command
from afterd.execution.runners.npm import Npm, _failed_tests
from afterd.execution.runners.protocol import Detected
from afterd.execution.sandbox import run
from afterd.limits import ProcessLimits

PNPM = "npm test --silent --ignore-scripts"
SCRIPTS = [
    ({"test": "pnpm lint && pnpm vitest run", "lint": "eslint ."}, "vitest run"),
    ({"test": "yarn jest --runInBand"}, "jest --runInBand"),
    ({"test": "pnpm exec mocha"}, "mocha"),
    ({"test": "npm exec -- mocha"}, "mocha"),
    ({"test": "bun run unit", "unit": "bunx jest"}, "jest"),
    ({"test": "TZ=UTC npm run tz && npm run tz && jest", "tz": "date && jest tz.test"}, "jest"),
    ({"test": "mocha test/a && mocha test/b"}, "mocha test/a`, and Mocha: `mocha test/b"),
    ({"test": "jest && mocha e2e"}, "jest`, and Mocha: `mocha e2e"),
    ({"test": "tape 'test/*.js' | tap-spec"}, "tape 'test/*.js'"),
    ({"test": "mocha --bail -b test"}, "mocha test"),
    ({"test": "jest --bail=1 --ci"}, "jest --ci"),
    ({"test": "vitest run --bail 3 --silent"}, "vitest run --silent"),
    ({"test": "ava --fail-fast"}, "ava"),
    (
        {"test": "NODE_OPTIONS=--experimental-vm-modules npx jest"},
        "NODE_OPTIONS=--experimental-vm-modules jest",
    ),
    ({"test": "TZ=UTC npm run u", "u": "cross-env A='b c' mocha"}, "TZ=UTC A=b c mocha"),
    ({"test": "jest", "jest": "other"}, "jest"),
    ({"test": "npm run n && wtr", "n": "istanbul cover _mocha"}, "_mocha"),
    (
        {"test": "istanbul cover --dir c node_modules/mocha/bin/_mocha --report x -- -R dot 'a b'"},
        "node_modules/mocha/bin/_mocha -R dot 'a b'",
    ),
]


@pytest.mark.parametrize(("scripts", "runs"), SCRIPTS)
def test_the_runner_of_a_script(tmp_path: Path, scripts: dict[str, str], runs: str) -> None:
    (tmp_path / "package.json").write_text(json.dumps({"scripts": scripts}))
    found = Npm().detect(tmp_path)
    assert found is not None
    assert found.sentence.endswith(f": `{runs}`).")


def test_what_a_script_sets_is_set_for_one_test_too(tmp_path: Path) -> None:
    scripts = {"test": "cross-env TZ='a b' C=$D mocha test"}
    (tmp_path / "package.json").write_text(json.dumps({"scripts": scripts}))
    found = Npm().detect(tmp_path)
    assert found is not None
    assert "export 'TZ=a b';" in found.test[2]
    one = Npm().one_test(found, "test/a.test.js > adds")
    assert "export 'TZ=a b';" in one[2]
    assert "$D" not in one[2]
    assert one[3:] == ("sh", "mocha", "--grep", "^adds$", "test/a.test.js")


UNSEEN = [
    "cd lib && node test.js",
    "node $npm_package_main && node b.js",
    "node a.js",
    "node a.js || node b.js && node c.js",
    "sh -c 'node a.js && node b.js'",
]


def detected(root: Path, scripts: dict[str, str], **package: object) -> Detected:
    (root / "package.json").write_text(json.dumps({"scripts": scripts, **package}))
    found = Npm().detect(root)
    assert found is not None
    return found


@pytest.mark.parametrize("command", UNSEEN)
def test_a_script_that_no_runner_is_seen_in_is_run_as_it_is(tmp_path: Path, command: str) -> None:
    assert " ".join(detected(tmp_path, {"test": command}).test) == PNPM


def run_of(command: tuple[str, ...], root: Path) -> tuple[int, tuple[str, ...]]:
    """How a suite ended, and which tests failed in it."""
    ended = run(Command(command, root, {"PATH": os.environ["PATH"]}), ProcessLimits())
    try:
        assert ended.status is not None
        return ended.status, Npm().failing_tests(ended)
    finally:
        ended.remove()


def test_each_command_of_a_script_is_a_test_of_its_own(tmp_path: Path) -> None:
    """What fails first hid all that comes after; what makes something is made before one that may need it."""
    scripts = {
        "test": "npm run lint && npm run build && sh one.sh && sh two.sh",
        "lint": "exit 3",
        "build": "echo made > compiled",
    }
    (tmp_path / "one.sh").write_text("exit 1")
    (tmp_path / "two.sh").write_text("grep -q made compiled")
    found = detected(tmp_path, scripts)
    assert "`exit 3`, `echo made > compiled`, `sh one.sh`, `sh two.sh`" in found.sentence
    assert run_of(found.test, tmp_path) == (1, ("exit 3", "sh one.sh"))
    (tmp_path / "one.sh").write_text("")
    assert run_of(Npm().one_test(found, "sh one.sh"), tmp_path)[0] == 0
    assert run_of(Npm().one_test(found, "exit 3"), tmp_path)[0] == 3
    built = detected(tmp_path, {"test": "sh one.sh && sh compile.sh && sh two.sh"})
    (tmp_path / "compile.sh").write_text("echo made > compiled; exit 1")
    assert run_of(Npm().one_test(built, "sh two.sh"), tmp_path)[0] == 1


def test_all_runners_of_a_script_run(tmp_path: Path) -> None:
    programs = tmp_path / "node_modules/.bin"
    programs.mkdir(parents=True)
    (programs / "jest").write_text(
        f"#!/bin/sh\ncat {tmp_path}/jest.json > $AFTERD_RUN/afterd-tests.json\nexit 1\n"
    )
    (programs / "mocha").write_text(f"#!/bin/sh\necho before; cat {tmp_path}/mocha.json\nexit 2\n")
    for program in programs.iterdir():
        program.chmod(0o755)
    of_jest = {
        "name": f"{tmp_path}/src/a.test.js",
        "assertionResults": [{"status": "failed", "title": "adds"}],
    }
    (tmp_path / "jest.json").write_text(json.dumps({"testResults": [of_jest]}))
    of_mocha = {
        "stats": {},
        "failures": [{"file": f"{tmp_path}/e2e/b.test.js", "fullTitle": "takes"}],
    }
    (tmp_path / "mocha.json").write_text(json.dumps(of_mocha, indent=2))
    found = detected(tmp_path, {"test": "A=b jest && mocha e2e"})
    both = ("src/a.test.js > adds", "e2e/b.test.js > takes")
    assert run_of(found.test, tmp_path) == (2, both)
    jest, mocha = (Npm().one_test(found, each) for each in both)
    assert jest[4:] == (
        "jest",
        "--ci",
        "--testNamePattern",
        "^adds$",
        "--runTestsByPath",
        "src/a.test.js",
    )
    assert mocha[4:] == ("mocha", "--grep", "^takes$", "e2e/b.test.js")
    assert "export A=b" in jest[2]
    assert "export" not in mocha[2].replace("export PATH", "")


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
@pytest.mark.parametrize("script", ["node --test test/*.mjs", "node --test test/*.mjs && jest"])
def test_the_shell_expands_what_node_is_given(tmp_path: Path, script: str) -> None:
    """Of it "npm ran no test": Node 20 was asked for a file of the name `test/*.ts` (p-queue)."""
    test = "import test from 'node:test';\ntest('adds', () => { throw new Error('x'); });\n"
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "a.mjs").write_text(test)
    found = detected(tmp_path, {"test": script})
    status, failing = run_of(found.test, tmp_path)
    assert status
    assert failing == ("test/a.mjs > adds",)


def test_one_test_is_built_for_only_where_its_own_file_needs_that(tmp_path: Path) -> None:
    """One file of several tests the bundle, the others the sources (validator.js built itself for each run)."""
    (tmp_path / "test").mkdir()
    (tmp_path / "a.js").touch()
    (tmp_path / "test/a.test.js").write_text("require('../a')")
    (tmp_path / "test/bundle.test.js").write_text("require('../bundle.min')")
    found = detected(tmp_path, {"test": "mocha", "build": "rollup"})
    assert "npm run build" in found.build[2]
    assert Npm().one_build(found, "test/bundle.test.js > is small") == found.build
    assert Npm().one_build(found, "of an unknown file") == found.build
    assert "npm run build" not in Npm().one_build(found, "test/a.test.js > adds")[2]
    assert "npm install" in Npm().one_build(found, "test/a.test.js > adds")[2]


STACK = """Error: validator.isURL(...) passed but should have failed
    at test/testFunctions.js:42:13
    at Array.forEach (<anonymous>)
    at test (/p/test/testFunctions.js:35:19)
    at Context.<anonymous> (/p/test/validators.test.js:615:5)
"""


@pytest.mark.parametrize(
    ("failed", "name"),
    [
        ({"fullTitle": "isURL validates", "err": {"stack": STACK}}, "test/validators.test.js > isURL validates"),
        ({"fullTitle": "isURL validates", "err": {"stack": "Error: timeout"}}, "isURL validates"),
        ({"fullTitle": "isURL validates", "err": {}}, "isURL validates"),
    ],
)  # fmt: skip
def test_an_older_mocha_tells_the_file_in_its_stack_alone(
    failed: dict[str, Any], name: str
) -> None:
    assert [*_failed_tests({"failures": [failed]}, "/p")] == [name]


def test_one_test_whose_file_is_not_known_is_asked_for_by_its_title(tmp_path: Path) -> None:
    mocha = detected(tmp_path, {"test": "mocha --recursive"})
    assert Npm().one_test(mocha, "isURL takes (a)")[4:] == (
        "mocha", "--recursive", "--grep", r"^isURL takes \(a\)$",
    )  # fmt: skip
    hook = 'isURL "before each" hook for "takes"'
    assert Npm().one_test(mocha, hook) == mocha.test
    assert Npm().one_test(mocha, f"test/a.js > {hook}")[4:] == ("mocha", "--recursive", "test/a.js")


STOPPING = [
    ("jest", {"jest.config.js": "module.exports = {bail: 1}"}, "--bail=0"),
    ("jest", {"jest.config.js": "module.exports = {bail: false}"}, ""),
    ("mocha", {".mocharc.yml": "bail: true\n"}, "--no-bail"),
    ("vitest run", {"vite.config.ts": "test: { bail: 1 }"}, "--bail=0"),
    ("vitest run", {}, ""),
]


@pytest.mark.parametrize(("command", "settings", "undone"), STOPPING)
def test_no_setting_stops_at_the_first_failing_test(
    tmp_path: Path, command: str, settings: dict[str, str], undone: str
) -> None:
    for name, setting in settings.items():
        (tmp_path / name).write_text(setting)
    argv = (*command.split(), *filter(None, [undone]))
    assert detected(tmp_path, {"test": command}).test[4:] == argv


def test_a_setting_in_the_package_is_read_too(tmp_path: Path) -> None:
    assert detected(tmp_path, {"test": "mocha"}, mocha={"bail": True}).test[-1] == "--no-bail"


JEST = {"test": "jest", "build": "webpack"}
VITEST = {"test": "vitest run", "build": "unbuild"}
ITSELF = {"test/a.test.ts": "import '../src'", "src/index.ts": "import { a } from 'p/x'"}
CHECKOUTS = [
    (JEST, {"test/a.test.js": "import x from '../src'", "src/index.js": "require('./b.js')", "src/b.ts": ""}, False),
    (JEST, {"test/a.test.js": "import x from '../dist/x'", "src/index.js": ""}, True),
    (JEST, {"test/a.test.js": "import x from '../src'", "src/index.js": "export * from './made'"}, True),
    (JEST, {"test/a.test.js": "const x = require('..')"}, True),
    (JEST, {"test/a.test.js": "const x = require('..')", "index.js": ""}, False),
    (JEST | {"exports": "./dist"}, {"test/a.test.js": "import x from 'p/x'"}, True),
    (JEST, {"test/a.test.js": "import x from 'p/x'"}, False),
    (JEST | {"exports": "./dist"}, {"test/a.test.js": "/**\nimport x from 'p';\n*/\n\t// import 'p'"}, False),
    (JEST, {"test/a.test.js": "import x from 'pp'"}, False),
    (JEST, {"test/a.test.js": "", "jest.config.js": "testRegex: 'dist/.*'"}, True),
    (JEST, {"src/a.js": ""}, True),
    ({"test": "mocha", "build": "tsc"}, {"test/a.js": "require('../a')", "a.js": ""}, False),
    ({"test": "mocha", "build": "tsc"}, {"test/a.ts": "import '../a'", "a.ts": ""}, True),
    ({"test": "node --import=tsx/esm --test test/*.ts", "build": "tsc"},
     {"test/a.ts": "import x from '../src/a.js'", "src/a.ts": ""}, False),
    ({"test": "node --test test/*.js", "build": "tsc"},
     {"test/a.js": "import x from '../src/a.js'", "src/a.ts": ""}, True),
    ({"test": "mocha -r ts-node/register test", "build": "tsc"}, {"test/a.ts": "import '../a'", "a.ts": ""}, False),
    ({"test": "mocha test/*.tsx", "build": "tsc"}, {"test/a.test.tsx": "import '../a'", "a.ts": ""}, True),
    ({"test": "mocha dist/test", "build": "tsc"}, {"test/a.js": ""}, True),
    (VITEST | {"exports": {"./x": "./dist/x.mjs"}}, ITSELF, True),
    (VITEST | {"exports": {"./x": "./src/x.ts"}}, ITSELF | {"src/x.ts": ""}, False),
    (VITEST | {"exports": {"./x": "./dist/x.mjs"}}, ITSELF | {"vitest.config.ts": "alias: {'p/x': 1}"}, False),
    (VITEST | {"exports": {"./x": "./dist/x.mjs"}}, {"test/a.test.ts": "import '../src'", "src/index.ts": ""}, False),
    (VITEST, ITSELF, False),
]  # fmt: skip


@pytest.mark.parametrize(("scripts", "files", "built"), CHECKOUTS)
def test_a_package_is_built_where_its_tests_import_what_is_not_there(
    tmp_path: Path, scripts: dict[str, str], files: dict[str, str], *, built: bool
) -> None:
    for name, code in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(code)
    exports = {"exports": scripts["exports"]} if "exports" in scripts else {}
    package = {"name": "p", "scripts": scripts, **exports}
    (tmp_path / "package.json").write_text(json.dumps(package))
    found = Npm().detect(tmp_path)
    assert found is not None
    assert ("npm run build" in found.build[2]) == built


def test_a_file_that_could_not_be_loaded_is_no_test(tmp_path: Path) -> None:
    """Ohash: "4 tests were red before", of which two were files with all of what is tested in them."""
    vitest, node = (detected(tmp_path, {"test": each}) for each in ("vitest run", "node --test"))
    assert Npm().is_unread(vitest, "test/a.test.ts", "")
    assert not Npm().is_unread(vitest, "test/a.test.ts > adds", "")
    assert not Npm().is_unread(node, "test/a.test.js", "")


def installed(slot: Path) -> None:
    """What the build of a package without a build script does; an npm stands in the way of the real one."""
    slot.mkdir(parents=True, exist_ok=True)
    (slot / "package.json").write_text(json.dumps({"scripts": {"test": "jest"}}))
    found = Npm().detect(slot)
    assert found is not None
    programs = slot.parents[2] / "programs"
    programs.mkdir(exist_ok=True)
    (programs / "npm").write_text("#!/bin/sh\nmkdir node_modules; echo made > node_modules/x\n")
    (programs / "npm").chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    subprocess.run(
        found.build, cwd=slot, env=os.environ | {"PATH": path, "PWD": str(slot)}, check=True
    )


def test_modules_are_installed_once_and_copied_to_other_slots(tmp_path: Path) -> None:
    slots = tmp_path / "project/.git/afterd/slots"
    installed(slots / "0")
    (slots / "0/node_modules/x").write_text("of slot 0")
    installed(slots / "0")
    installed(slots / "1")
    assert (slots / "1/node_modules/x").read_text() == "of slot 0"


def test_modules_of_the_work_tree_are_copied(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "node_modules/.bin").mkdir(parents=True)
    (project / "node_modules/x").write_text("the user's")
    installed(project / ".git/afterd/slots/0")
    assert (project / ".git/afterd/slots/0/node_modules/x").read_text() == "the user's"


@pytest.mark.skipif(shutil.which("node") is None, reason="no node")
def test_yarn_of_the_repository_installs_modules(tmp_path: Path) -> None:
    """A dependency of the same repository (``workspace:``) is refused by npm, and Yarn without ``node_modules`` has no
    folder of programs.
    """
    slot = tmp_path / "project/.git/afterd/slots/0"
    release = slot / ".yarn/releases/yarn-4.0.0.cjs"
    release.parent.mkdir(parents=True)
    release.write_text(
        "const fs = require('fs'); fs.mkdirSync('node_modules');"
        "fs.writeFileSync('node_modules/x', process.env.YARN_NODE_LINKER + process.argv[2]);"
    )
    (slot / ".yarnrc.yml").write_text("yarnPath: .yarn/releases/yarn-4.0.0.cjs\n")
    installed(slot)
    assert (slot / "node_modules/x").read_text() == "node-modulesinstall"


@pytest.mark.parametrize("place", ["slots/1", "traced/trees/green"])
def test_modules_are_found_wherever_a_checkout_lies(tmp_path: Path, place: str) -> None:
    """That of a run with coverage lies deeper: npm asked a registry anew, for minutes (qs)."""
    state = tmp_path / "project/.git/afterd"
    installed(state / "slots/0")
    (state / "slots/0/node_modules/x").write_text("of slot 0")
    installed(state / place)
    assert (state / place / "node_modules/x").read_text() == "of slot 0"
    (tmp_path / "project/node_modules/.bin").mkdir(parents=True)
    (tmp_path / "project/node_modules/x").write_text("the user's")
    shutil.rmtree(state / place)
    installed(state / place)
    assert (state / place / "node_modules/x").read_text() == "the user's"


def test_half_installed_modules_are_made_anew_and_copied_by_nobody(tmp_path: Path) -> None:
    slots = tmp_path / "project/.git/afterd/slots"
    for name in ("node_modules", ".afterd-build"):
        (slots / "0" / name).mkdir(parents=True)
    (slots / "0/node_modules/half").touch()
    (slots / "0/.afterd-build/installing").touch()
    installed(slots / "1")
    installed(slots / "0")
    assert [path.name for path in (slots / "0/node_modules").iterdir()] == ["x"]
    assert [path.name for path in (slots / "1/node_modules").iterdir()] == ["x"]


def test_a_title_of_vitest_has_no_empty_part(tmp_path: Path) -> None:
    """Vitest before 2 gives each file a suite without a title, and says it before the test's name."""
    (tmp_path / "package.json").write_text(json.dumps({"scripts": {"test": "vitest run"}}))
    found = Npm().detect(tmp_path)
    assert found is not None
    [one] = [{"status": "failed", "ancestorTitles": ["", "defu"], "title": "works (a)"}]
    report = {"testResults": [{"name": "/s/test/a.test.ts", "assertionResults": [one]}]}
    [name] = _failed_tests(report, "/s")
    assert name == "test/a.test.ts > defu > works (a)"
    asked = Npm().one_test(found, name)
    pattern = asked[asked.index("--testNamePattern") + 1]
    assert all(re.search(pattern, said) for said in ("defu works (a)", " defu works (a)"))


def test_a_title_that_tells_where_the_checkout_is_is_the_same_in_every_slot(tmp_path: Path) -> None:
    """In another slot there was no test of that name, so that it passed with whatever was undone (pathe)."""
    (tmp_path / "package.json").write_text(json.dumps({"scripts": {"test": "vitest run"}}))
    found = Npm().detect(tmp_path)
    assert found is not None
    names: set[str] = set()
    for root in ("/r/.git/afterd/slots/0", "/r/.git/afterd/slots/1"):
        one = {
            "status": "failed",
            "ancestorTitles": [f"in {root}"],
            "title": f"goes to ('{root}', './a')",
        }
        report = {"testResults": [{"name": f"{root}/test/a.test.ts", "assertionResults": [one]}]}
        names.update(_failed_tests(report, root))
    [name] = names
    asked = Npm().one_test(found, name)
    pattern = asked[asked.index("--testNamePattern") + 1]
    assert re.search(pattern, "in /r/slots/7 goes to ('/r/slots/7', './a')")
    assert not re.search(pattern, "in /r/slots/7 goes to ('/r/slots/7', './b')")
