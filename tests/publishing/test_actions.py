"""The composite actions and the documented CI files: no text of a pull request is a script."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pygit2
import pytest
import yaml  # type: ignore[import-untyped] # its types are another package, for one test

ROOT = Path(__file__).parents[2]
ACTIONS = sorted((ROOT / ".github" / "actions").glob("*/action.yml"))
PAGE = ROOT / "docs" / "pull-requests.md"


def loaded(path: Path) -> dict[str, Any]:
    action: dict[str, Any] = yaml.safe_load(path.read_text())
    return action


def steps(action: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = action["runs"]["steps"]
    return found


@pytest.mark.parametrize("path", ACTIONS, ids=lambda path: path.parent.name)
def test_no_expression_stands_in_a_script(path: Path) -> None:
    assert len(ACTIONS) == 2
    action = loaded(path)
    assert action["runs"]["using"] == "composite"
    inputs = re.findall(r"inputs\.(\w+)", path.read_text())
    assert set(inputs) == set(action["inputs"])
    for step in steps(action):
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"
        done = subprocess.run(["bash", "-n"], input=step["run"], text=True, check=False)
        assert done.returncode == 0


def test_documented_files_are_yaml_and_use_these_actions() -> None:
    files = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names = {path.parent.name for path in ACTIONS}
    used = set(re.findall(r"\.github/actions/([\w-]+)@", "".join(files)))
    assert used == names
    assert len([yaml.safe_load(text) for text in files]) == 4
    for text in files:
        inputs = {
            name: loaded(ROOT / ".github/actions" / name / "action.yml")["inputs"] for name in names
        }
        for job in yaml.safe_load(text).get("jobs", {}).values():
            for step in job["steps"]:
                action = re.search(r"actions/([\w-]+)@", step["uses"].split(".github/")[-1])
                if ".github/actions" in step["uses"] and action is not None:
                    assert set(step.get("with", {})) <= set(inputs[action[1]])


def test_the_job_with_rights_checks_nothing_out() -> None:
    files = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    [trusted] = [yaml.safe_load(text) for text in files if "workflow_run:" in text]
    assert "pull_request_target" not in "".join(files)
    assert trusted["permissions"] == {}
    uses = [step["uses"] for job in trusted["jobs"].values() for step in job["steps"]]
    assert not [each for each in uses if "checkout" in each]


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    repository = pygit2.init_repository(tmp_path / "project", initial_head="main")
    author = pygit2.Signature("A", "a@example.org", 1, 0)
    for text in ("one\ntwo\n", "one\nbroken\n"):
        (tmp_path / "project" / "f.txt").write_text(text)
        repository.index.add("f.txt")
        repository.index.write()
        parents = [] if repository.head_is_unborn else [repository.head.target]
        repository.create_commit(
            "HEAD", author, author, "m", repository.index.write_tree(), parents
        )
    return tmp_path / "project"


def test_the_script_that_explains(broken: Path, tmp_path: Path) -> None:
    head = pygit2.Repository(broken).head.peel(pygit2.Commit)
    program = tmp_path / "afterd"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m afterd "$@"\n')
    program.chmod(0o755)
    [explain] = [step for step in steps(loaded(ACTIONS[0])) if step.get("id") == "explain"]
    given = {
        "AFTERD": str(program), "GOOD": str(head.parents[0].id), "BAD": str(head.id),
        "OUTPUT": "answer.json", "AFTERD_TEST": "grep -q two f.txt", "AFTERD_BUILD": "",
        "AFTERD_BUDGET": "5m", "GITHUB_OUTPUT": str(tmp_path / "out"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "page"),
        "GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "o/n",
    }  # fmt: skip
    assert set(explain["env"]) <= set(given)
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", explain["run"]],
        cwd=broken, env=os.environ | given, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out").read_text() == "status=0\n"
    page = (tmp_path / "page").read_text()
    assert page.startswith("## afterd: 1 caused by this change")
    assert f"](https://github.com/o/n/blob/{head.id}/f.txt#L2)" in page
    assert json.loads((broken / "answer.json").read_text())["range"]["bad"] == str(head.id)
