"""``container``: builds and tests run behind a command that gives them nothing of afterd's surroundings."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pygit2
import pytest
from cli_repository import GOOD, Run, commit

pytest_plugins = ["cli_fixtures"]

APART = "env -i PATH=/usr/bin:/bin INSIDE={slot} sh -c 'cd / && exec \"$@\"' sh"
"""As a container: no variable and no folder of the caller's."""
NAMESPACES = "unshare -r -m --"


def _namespaces() -> bool:
    if shutil.which("unshare") is None:
        return False
    done = subprocess.run([*NAMESPACES.split(), "true"], capture_output=True, check=False)
    return done.returncode == 0


def repository(path: Path, test: str, *, build: str = ":") -> Path:
    opened = pygit2.init_repository(path, initial_head="main")
    files = {**GOOD, "test.sh": test, "build.sh": build}
    commit(opened, files, "All is well\n")
    commit(opened, {"text.txt": "one\n", "other.txt": "b\n"}, "Break it\n")
    return path


def explained(afterd: Run, path: Path, container: str) -> dict[str, object]:
    given = ("--build", "sh build.sh", "--format", "json", "--", "sh", "test.sh")
    done = afterd("explain", *given, cwd=path, AFTERD_CONTAINER=container, OF_MINE="here")
    assert done.returncode == 0, done.stderr
    [found] = json.loads(done.stdout)["explanations"]
    return dict(found)


def test_a_build_and_a_test_see_the_checkout_and_nothing_of_ours(
    afterd: Run, tmp_path: Path
) -> None:
    test = '[ "$PWD" = "$INSIDE" ] && [ -z "$OF_MINE" ] && [ "$PYTHONHASHSEED" = 0 ] || exit 125\n'
    test += "[ -f built ] || exit 125\ngrep -q three text.txt\n"
    build = '[ "$PWD" = "$INSIDE" ] && [ -z "$OF_MINE" ] && touch built\n'
    found = explained(afterd, repository(tmp_path / "r", test, build=build), APART)
    assert isinstance(found["root"], list)
    assert [change["file"] for change in found["root"]] == ["text.txt"]
    assert "run in a container, where no run is recorded" in str(found["notes"])


@pytest.mark.skipif(not _namespaces(), reason="this kernel lets nobody unshare")
def test_a_place_that_only_the_container_has(afterd: Run, tmp_path: Path) -> None:
    """A mount of its own namespace, as a container's file system is one."""
    inner = tmp_path / "only-inside"
    inner.mkdir()
    mounted = (
        f"{NAMESPACES} sh -c 'mount -t tmpfs none {inner} && touch {inner}/x && exec \"$@\"' sh"
    )
    test = f"[ -f {inner}/x ] || exit 125\ngrep -q three text.txt\n"
    found = explained(afterd, repository(tmp_path / "r", test), mounted)
    assert isinstance(found["root"], list)
    assert [change["file"] for change in found["root"]] == ["text.txt"]
    assert not list(inner.iterdir())


def test_tests_of_python_run_with_the_containers_interpreter(afterd: Run, tmp_path: Path) -> None:
    """Found, not given: this machine's interpreter and our plugin have no meaning there."""
    opened = pygit2.init_repository(tmp_path / "r", initial_head="main")
    test = "import os, unittest\nfrom rate import RATE\nclass T(unittest.TestCase):\n"
    test += "    def test_rate(self):\n        assert 'INSIDE' in os.environ\n"
    test += "        self.assertEqual(RATE, 2)\n    def test_other(self): pass\n"
    commit(opened, {"rate.py": "RATE = 2\n", "test_rate.py": test}, "All is well\n")
    commit(opened, {"rate.py": "RATE = 3\n"}, "Break it\n")
    path = tmp_path / "bin"
    path.mkdir()
    real = Path(shutil.which("python3") or "/usr/bin/python3").resolve()
    (path / "python3").write_text(f'#!/bin/sh\nexec {real} "$@"\n')
    (path / "python3").chmod(0o755)
    container = APART.replace("PATH=", f"PATH={path}:")
    done = afterd("explain", "--format", "json", cwd=tmp_path / "r", AFTERD_CONTAINER=container)
    assert done.returncode == 0, done.stderr
    [found] = json.loads(done.stdout)["explanations"]
    assert found["test"].endswith("test_rate")
    assert [change["file"] for change in found["root"]] == ["rate.py"]


def test_a_container_that_cannot_be_started_is_said(afterd: Run, tmp_path: Path) -> None:
    path = repository(tmp_path / "r", "grep -q three text.txt\n")
    given = ("--build", "sh build.sh", "--", "sh", "test.sh")
    done = afterd("explain", *given, cwd=path, AFTERD_CONTAINER="no-such-engine run")
    assert done.returncode == 13
    assert "no-such-engine" in done.stderr
