"""Jest's own list of files, made below a folder named ``.git``, where afterd checks versions out."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from npm_packages import NoNpmError, npm

from afterd.execution.environment import NODE_OPTIONS, node_options
from afterd.execution.recipe import Recipe

LISTING = """\
const found = require(process.argv[2]);
const HasteMap = found.default || found;
const root = process.cwd();
const cache = require('fs').mkdtempSync(require('path').join(process.argv[3], 'cache'));
const options = {
  id: 'x', name: 'x', extensions: ['js'], platforms: [], roots: [root], rootDir: root, maxWorkers: 1,
  retainAllFiles: true, useWatchman: false, resetCache: true, cacheDirectory: cache,
};
const made = (map) => map.build().then(({hasteFS}) => console.log(hasteFS.getAllFiles().length));
Promise.resolve(HasteMap.create ? HasteMap.create(options) : new HasteMap(options)).then(made);
"""


@pytest.fixture(scope="module", params=["27", "29"])
def haste_map(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What Jest of this version lists files with."""
    folder = tmp_path_factory.mktemp("haste")
    (folder / "package.json").write_text('{"name": "x", "version": "1.0.0"}')
    try:
        npm(folder, "install", f"jest-haste-map@{request.param}")
    except NoNpmError as error:
        pytest.skip(str(error))
    return folder / "node_modules" / "jest-haste-map"


def listed(folder: Path, haste_map: Path, **environment: str) -> int:
    """How many files of a folder Jest knows."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sum.test.js").write_text("")
    (folder.parent / "list.cjs").write_text(LISTING)
    done = subprocess.run(
        ["node", "../list.cjs", str(haste_map), str(folder.parent)], cwd=folder, check=True,
        env={**os.environ, **environment}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    return int(done.stdout)


def test_jest_lists_what_stands_below_git(tmp_path: Path, haste_map: Path) -> None:
    slot = tmp_path / "a project" / ".git" / "afterd" / "slots" / "0"
    recipe = Recipe(test=("npx", "jest"))
    assert listed(slot, haste_map) == 0, "Jest itself has changed: our lines are not needed"
    assert listed(slot, haste_map, **{NODE_OPTIONS: recipe.environment(slot)[NODE_OPTIONS]}) == 1


def test_a_git_folder_of_the_project_is_passed_over_elsewhere(
    tmp_path: Path, haste_map: Path
) -> None:
    project = tmp_path / "project"
    (project / ".git" / "hooks").mkdir(parents=True)
    (project / ".git" / "hooks" / "not.js").write_text("")
    assert listed(project, haste_map, **{NODE_OPTIONS: node_options("")}) == 1


def test_what_the_user_set_stays_and_where_afterd_stands_is_in_no_key() -> None:
    recipe = Recipe(test=("npx", "jest"), extra={NODE_OPTIONS: "--max-old-space-size=64"})
    assert recipe.environment(Path("/s/0"))[NODE_OPTIONS].endswith(" --max-old-space-size=64")
    assert node_options("").startswith('--require "')
