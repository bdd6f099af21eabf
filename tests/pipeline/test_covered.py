"""Languages without a tracer: the language's own coverage orders the suspects."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from pipeline_runs import afterd, repository

from afterd.pipeline.tracers.jacoco import jacoco

FUNCTIONS = 12
GUILTY = 7


@dataclass(frozen=True, slots=True)
class Program:
    """One program in seven languages: ``function`` and ``test`` are filled in, ``files`` are beside them."""

    tool: str
    path: str
    head: str
    function: str
    test_path: str
    test: str
    files: tuple[tuple[str, str], ...]
    foot: str = ""
    command: tuple[str, ...] = ()

    def source(self, *, changed: bool) -> str:
        """The functions; in the bad version each is written otherwise, and one is wrong."""
        x = "$x" if self.path.endswith(".php") else "x"
        bodies = ((n, self._body(n) if changed else f"x * 2 + {n}") for n in range(FUNCTIONS))
        functions = (
            self.function.replace("NUMBER", str(n)).replace("BODY", body.replace("x", x))
            for n, body in bodies
        )
        return "".join([self.head, *functions, self.foot])

    @staticmethod
    def _body(number: int) -> str:
        return f"x + x + {number}" if number != GUILTY else f"x + x - {number}"


JS = Program(
    "node",
    "lib/ops.js",
    "'use strict';\n",
    "\nexports.fNUMBER = (x) => {\n  const doubled = BODY;\n\n  return doubled;\n};\n",
    "test/ops.test.js",
    "const test = require('node:test');\nconst assert = require('node:assert');\n"
    "const ops = require('../lib/ops.js');\n\ntest('adds and doubles', () => {\n"
    "  assert.strictEqual(ops.f3(1) + ops.f7(1), 14);\n});\n",
    (("package.json", '{"scripts": {"test": "node --test test/"}}'),),
)
GO = Program(
    "go",
    "ops.go",
    "package ops\n",
    "\nfunc fNUMBER(x int) int {\n\tdoubled := BODY\n\n\treturn doubled\n}\n",
    "ops_test.go",
    'package ops\n\nimport "testing"\n\nfunc TestDoubles(t *testing.T) {\n'
    "\tif got := f3(1) + f7(1); got != 14 {\n"
    '\t\tt.Errorf("f3(1) + f7(1) = %d, want 14", got)\n\t}\n}\n',
    (("go.mod", "module example.org/ops\n\ngo 1.18\n"),),
)
RUST = Program(
    "cargo",
    "src/lib.rs",
    "",
    "\npub fn fNUMBER(x: i64) -> i64 {\n    let doubled = BODY;\n\n    doubled\n}\n",
    "tests/doubles.rs",
    "#[test]\nfn doubles() {\n    assert_eq!(ops::f3(1) + ops::f7(1), 14);\n}\n",
    (("Cargo.toml", '[package]\nname = "ops"\nversion = "0.1.0"\nedition = "2021"\n'),),
)
RUBY = Program(
    "ruby",
    "lib/ops.rb",
    "module Ops\n",
    "  def self.fNUMBER(x)\n    doubled = BODY\n\n    doubled\n  end\n\n",
    "test/test_ops.rb",
    "require 'minitest/autorun'\nrequire_relative '../lib/ops'\n\nclass TestOps < Minitest::Test\n"
    "  def test_doubles\n    assert_equal 14, Ops.f3(1) + Ops.f7(1)\n  end\nend\n",
    (("ops.gemspec", ""),),
    "end\n",
)
PHP = Program(
    "phpunit",
    "src/ops.php",
    "<?php\n",
    "\nfunction fNUMBER($x)\n{\n    $doubled = BODY;\n\n    return $doubled;\n}\n",
    "tests/OpsTest.php",
    "<?php\nrequire __DIR__ . '/../src/ops.php';\n\n"
    "class OpsTest extends PHPUnit\\Framework\\TestCase\n{\n    public function testDoubles(): void\n"
    "    {\n        $this->assertSame(14, f3(1) + f7(1));\n    }\n}\n",
    (
        (
            "phpunit.xml",
            "<phpunit><testsuites><testsuite name='a'><directory>tests</directory></testsuite></testsuites></phpunit>",
        ),
    ),
)


JAVA = Program(
    "javac",
    "src/ops/Ops.java",
    "package ops;\n\npublic final class Ops {\n",
    "    public static int fNUMBER(int x) {\n        int doubled = BODY;\n\n        return doubled;\n    }\n\n",
    "test/ops/OpsTest.java",
    "package ops;\n\npublic class OpsTest {\n    public static void main(String[] none) {\n"
    "        int got = Ops.f3(1) + Ops.f7(1);\n        if (got != 14) {\n"
    '            throw new AssertionError("expected:<14> but was:<" + got + ">");\n        }\n    }\n}\n',
    ((".gitignore", "out/\n"),),
    "}\n",
    (
        *("--build", "javac -d out src/ops/*.java test/ops/*.java"),
        *("--", "java", "-cp", "out", "ops.OpsTest"),
    ),
)
SWIFT = Program(
    "swift",
    "Sources/Ops/Ops.swift",
    "",
    "\npublic func fNUMBER(_ x: Int) -> Int {\n    let doubled = BODY\n\n    return doubled\n}\n",
    "Tests/OpsTests/OpsTests.swift",
    "import XCTest\n\n@testable import Ops\n\nfinal class OpsTests: XCTestCase {\n    func testDoubles() {\n"
    "        XCTAssertEqual(f3(1) + f7(1), 14)\n    }\n}\n",
    (
        (".gitignore", ".build/\n"),
        (
            "Package.swift",
            "// swift-tools-version:5.5\nimport PackageDescription\n\nlet package = Package(\n"
            '    name: "Ops",\n    targets: [\n        .target(name: "Ops"),\n'
            '        .testTarget(name: "OpsTests", dependencies: ["Ops"]),\n    ]\n)\n',
        ),
    ),
    command=("--build", "swift build --build-tests", "--", "swift", "test", "--skip-build"),
)
LACKING = {
    "cargo": "install llvm-19",
    "javac": "install libjacoco-java",
    "phpunit": "install php-pcov",
}


@pytest.mark.parametrize(
    "program", [JS, GO, RUST, RUBY, PHP, JAVA, SWIFT], ids=lambda program: program.tool
)
def test_what_was_not_executed_is_not_asked(tmp_path: Path, program: Program) -> None:
    """Of twelve changes the failing test executes two: few runs, and the test's own values are told."""
    if shutil.which(program.tool) is None:
        pytest.skip(f"needs {program.tool}")
    path = tmp_path / "r"
    for name in (program.path, program.test_path):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
    files = {program.path: program.source(changed=False), program.test_path: program.test}
    repository(path, {**dict(program.files), **files}, {program.path: program.source(changed=True)})
    done = afterd("explain", "--format", "json", *program.command, cwd=path)
    assert done.status == 0, done.err
    [found] = json.loads(done.out)["explanations"]
    assert [change["id"] for change in found["root"]] == [f"c{GUILTY + 1}"], found
    assert (found["failure"]["observed"], found["failure"]["expected"]) == (
        str(3 + 2 + 2 - GUILTY),
        "14",
    )
    notes = " ".join(found["notes"])
    if "nothing was counted" in notes:  # its counts need other tools; the test's names are known
        assert LACKING[program.tool] in notes
        assert found["changes"]["executed"] == 0  # which were is not known
    else:
        assert found["runs"]["tests"] <= len(found["root"]) + 4
        assert "coverage" in notes
        assert found["changes"]["executed"] == 2


ENDED = """\
'use strict';
const test = require('node:test');
const assert = require('node:assert');
const { fork } = require('node:child_process');

test('adds and doubles', async () => {
  const child = fork(require.resolve('../lib/worker.js'));
  const sum = await new Promise((resolve) => { child.once('message', resolve); });
  child.kill('SIGTERM');
  await new Promise((resolve) => { child.once('exit', resolve); });
  assert.strictEqual(sum, 14);
});
"""
WORKER = """\
'use strict';
const ops = require('./ops.js');

process.send(ops.f3(1) + ops.f7(1));
setInterval(() => {}, 1000);
"""


def test_a_process_that_its_parent_ends_is_counted(tmp_path: Path) -> None:
    """Vitest runs tests in processes that it ends with SIGTERM, and nothing was counted (ohash)."""
    if shutil.which("node") is None:
        pytest.skip("needs node")
    path = tmp_path / "r"
    good = {**dict(JS.files), JS.path: JS.source(changed=False), JS.test_path: ENDED}
    for name in (JS.path, JS.test_path):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
    repository(path, {**good, "lib/worker.js": WORKER}, {JS.path: JS.source(changed=True)})
    done = afterd("explain", "--format", "json", cwd=path)
    assert done.status == 0, done.err
    [found] = json.loads(done.out)["explanations"]
    assert [change["id"] for change in found["root"]] == [f"c{GUILTY + 1}"], found
    assert found["changes"]["executed"] == 2


LEFT = """package p;

public class Left {
    static int plain(int x) {
        return x + 1;
    }

    static int left(String text) {
        return text.trim().length();
    }

    public static void main(String[] none) {
        System.out.println(plain(1));
        System.out.println(left(none.length == 0 ? "a" : null));
    }
}
"""


def test_a_line_that_an_exception_left_was_executed(tmp_path: Path) -> None:
    """JaCoCo does not count it: it stands on the failure's stack."""
    if shutil.which("javac") is None or jacoco() is None:
        pytest.skip("needs javac and JaCoCo")
    broken = LEFT.replace('"a" : null', "null : null").replace("x + 1", "1 + x")
    repository(tmp_path / "r", {"p/Left.java": LEFT}, {"p/Left.java": broken})
    command = ("--build", "javac -d out p/*.java", "--", "java", "-cp", "out", "p.Left")
    done = afterd("explain", "--format", "json", *command, cwd=tmp_path / "r")
    assert done.status == 0, done.err
    [found] = json.loads(done.out)["explanations"]
    assert [change["id"] for change in found["root"]] == ["c2"], found
    assert found["changes"]["executed"] == 2
    assert found["runs"]["tests"] == 1
    assert (found["failure"]["file"], found["failure"]["line"]) == ("p/Left.java", 9)
