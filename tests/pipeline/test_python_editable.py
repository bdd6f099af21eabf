"""A package that is installed in place: every variant's own files are run, not the user's."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from pipeline_runs import afterd, repository

GOOD = "def price(n):\n    unit = 2\n    return n * unit\n\n\ndef size(n):\n    return n\n"
BAD = GOOD.replace("unit = 2", "unit = 3").replace("return n\n", "return 1 * n\n")
TEST = "from shop.cart import price, size\n\n\ndef test_price():\n    assert price(size(2)) == 4\n"
PROJECT = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "shop"
version = "1"
"""
# Where the package is: setuptools links a src layout by a path, a package beside others by a finder
# (-P: the folder that pytest is started in is not on the path).
LAYOUTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "src layout": ("src/", ()),
    "flat layout": ("", ("-P",)),
}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with a setuptools that makes wheels, which sees this one's packages."""
    place = tmp_path_factory.mktemp("environment") / "venv"
    venv.create(place, with_pip=True)
    [site] = place.glob("lib/python3.*/site-packages")
    seen = next(path for path in sys.path if path.endswith("site-packages"))
    (site / "beside.pth").write_text(f"{seen}\n", encoding="utf-8")
    interpreter = place / "bin" / "python"
    got = _pip(interpreter, "install", "-q", "setuptools>=70.1")
    if got.returncode:
        pytest.skip("setuptools cannot be downloaded here")
    return interpreter


def _pip(interpreter: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [interpreter, "-m", "pip", *arguments], check=False, capture_output=True, timeout=120
    )


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_an_editable_install(
    layout: tuple[str, tuple[str, ...]], environment: Path, tmp_path: Path
) -> None:
    """The guilty change is found by causes, in runs of the variants alone."""
    folder, options = layout
    path = tmp_path / "r"
    for needed in (f"{folder}shop", "tests"):
        (path / needed).mkdir(parents=True)
    repository(
        path,
        {
            f"{folder}shop/__init__.py": "",
            f"{folder}shop/cart.py": GOOD,
            "tests/test_cart.py": TEST,
            "pyproject.toml": PROJECT + ('[tool.setuptools]\npackages = ["shop"]\n' * (not folder)),
            ".gitignore": "*.egg-info\nbuild\n",
        },
        {f"{folder}shop/cart.py": BAD},
    )
    installed = _pip(
        environment, "install", "-q", "--no-build-isolation", "--no-deps", "-e", str(path)
    )
    assert installed.returncode == 0, installed.stderr
    test = (str(environment), *options, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    done = afterd("explain", "--format", "json", "--", *test, cwd=path)
    assert done.status == 0, done.err
    [found] = json.loads(done.out)["explanations"]
    assert [change["new"][0] for change in found["root"]] == [2]
    assert found["runs"]["tests"] == 1
    steps = [step["text"] for step in found["tree"]["steps"]]
    assert any("unit" in text for text in steps)
