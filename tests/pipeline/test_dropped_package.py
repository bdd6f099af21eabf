"""A package that was dropped in the range: older versions ask for it, and the modules are the bad version's."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
from io import BytesIO
from pathlib import Path

import pytest
from pipeline_runs import afterd, repository

pytestmark = pytest.mark.skipif(
    None in (shutil.which("node"), shutil.which("npm")), reason="no node and npm"
)


def packed(path: Path, files: dict[str, str]) -> Path:
    """A package as `npm pack` leaves it."""
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(text)
            archive.addfile(member, BytesIO(text.encode()))
    return path


def package(**dependencies: str) -> str:
    asked = {"name": "sums", "version": "1.0.0", "scripts": {"test": "node --test"}}
    return json.dumps({**asked, "dependencies": dependencies} if dependencies else asked)


OLD = 'const kind = require("kind-of-value");\n\nexports.sum = (a, b) => (kind(a) === "number" ? a + b : NaN);\n'
NEW = "exports.sum = (a, b) => a - b;\n"
TEST = (
    'const test = require("node:test");\nconst assert = require("node:assert");\n'
    'const { sum } = require("./sum.js");\n\n'
    'test("sums", () => { assert.strictEqual(sum(2, 2), 4); });\n'
)


def test_a_package_that_only_the_older_version_asks_for_is_there_for_it(tmp_path: Path) -> None:
    """That node_modules lacks it was the answer, and `npm install` does not bring it (deep-eql's type-detect)."""
    code = "module.exports = (value) => typeof value;\n"
    made = {"package.json": '{"name": "kind-of-value", "version": "1.0.0"}', "index.js": code}
    archive = packed(tmp_path / "kind-of-value-1.0.0.tgz", made)
    good = {"package.json": package(**{"kind-of-value": f"file:{archive}"}), "sum.js": OLD}
    bad = {"package.json": package(), "sum.js": NEW}
    where = repository(
        tmp_path / "r", {**good, "sum.test.js": TEST, ".gitignore": "node_modules\n"}, bad
    )
    (where / "node_modules" / ".bin").mkdir(parents=True)
    done = afterd("explain", "HEAD~1..HEAD", "--format", "json", cwd=where)
    [found] = json.loads(done.out)["explanations"]
    assert (found["status"], done.status) == ("explained", 0), found["reason"]
    undone = {change["file"] for change in (*found["root"], *found["auxiliary"])}
    assert undone == {"package.json", "sum.js"}  # what asked for the package goes along


def test_a_version_that_forgot_to_ask_for_a_package_does_not_find_it(tmp_path: Path) -> None:
    """It is what broke, whatever the good version had to be given."""
    code = "module.exports = (value) => typeof value;\n"
    made = {"package.json": '{"name": "kind-of-value", "version": "1.0.0"}', "index.js": code}
    archive = packed(tmp_path / "kind-of-value-1.0.0.tgz", made)
    asking = package(**{"kind-of-value": f"file:{archive}"})
    good = {"package.json": asking, "sum.js": OLD, "sum.test.js": TEST}
    bad = {"package.json": package(), "sum.js": OLD + "// faster\n"}
    where = repository(tmp_path / "r", {**good, ".gitignore": "node_modules\n"}, bad)
    (where / "node_modules" / ".bin").mkdir(parents=True)
    done = afterd("explain", "HEAD~1..HEAD", "--format", "json", cwd=where)
    [found] = json.loads(done.out)["explanations"]
    assert [change["file"] for change in found["root"]] == ["package.json"], found["reason"]


def unit_package(folder: Path, version: str, unit: str) -> str:
    made = {
        "package.json": json.dumps({"name": "unit-of", "version": version}),
        "index.js": f"module.exports = () => {unit};\n",
    }
    return str(packed(folder / f"unit-of-{version}.tgz", made))


SUM = 'const unit = require("unit-of");\n\nexports.sum = (a, b) => (a + b) * unit();\n'


def test_a_package_is_there_in_the_version_that_each_version_asks_for(tmp_path: Path) -> None:
    """All versions were tried with the bad one's modules, so nothing that package.json says of them could be guilty."""
    old, new = (unit_package(tmp_path, *each) for each in (("1.0.0", "1"), ("2.0.0", "100")))
    commands = tmp_path / "bin"
    commands.mkdir()
    npm = json.dumps(str(Path(shutil.which("npm") or "").resolve()))
    # a registry is what this npm has and the real one cannot be asked for
    (commands / "npm").write_text(f"""\
#!/usr/bin/env node
const held = {json.dumps({"unit-of@^1.0.0": old, "unit-of@^2.0.0": new})};
const given = process.argv.slice(2).map(word => held[word] || word);
require("child_process").spawnSync(process.execPath, [{npm}, ...given], {{ stdio: "inherit" }});
""")
    (commands / "npm").chmod(0o755)
    good = {"package.json": package(**{"unit-of": "^1.0.0"}), "sum.js": SUM, "sum.test.js": TEST}
    bad = {"package.json": package(**{"unit-of": "^2.0.0"}), "sum.js": SUM + "// faster\n"}
    where = repository(tmp_path / "r", {**good, ".gitignore": "node_modules\n"}, bad)
    modules = where / "node_modules"
    (modules / ".bin").mkdir(parents=True)
    (modules / "unit-of").mkdir()
    with tarfile.open(new) as archive:
        for member in archive.getmembers():
            text = archive.extractfile(member)
            assert text is not None
            (modules / "unit-of" / Path(member.name).name).write_bytes(text.read())
    path = f"{commands}:{os.environ['PATH']}"
    done = afterd("explain", "HEAD~1..HEAD", "--format", "json", cwd=where, PATH=path)
    [found] = json.loads(done.out)["explanations"]
    assert [change["file"] for change in found["root"]] == ["package.json"], found["reason"]
    assert found["status"] == "explained"
    assert (modules / "unit-of/index.js").read_text() == "module.exports = () => 100;\n"
