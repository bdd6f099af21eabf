"""What looks at a traced program from beside it sees what it would see without the tracer."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from python_pairs import PYTEST, written

from afterd.execution.environment import scrubbed_environment
from afterd.trace.python.record.settings import Settings
from afterd.trace.python.stage.runner import environment_for, stage

LIB = """\
def half(n):
    '''Half of it.'''
    if n < 0:
        raise ValueError(n)
    halves = [n // 2 for _ in range(2)]
    return halves[0]

class Table:
    @property
    def width(self):
        return half(self.missing)
"""
TESTS = """\
import inspect
import lib

def test_rewritten_assert():
    xs = {"a": [1, 2, 3]}
    assert lib.half(7) + len(xs["a"]) == 4 * lib.half(4), "said"

def test_raised_in_the_program():
    lib.half(-1)

def test_attribute():
    lib.Table().width

def test_source():
    assert inspect.getsource(lib.half).endswith("return halves[0]\\n")
    assert inspect.getsource(lib.Table.width.fget).strip().startswith("@property")
    assert inspect.getsourcelines(test_source)[1] == 14
    assert inspect.signature(lib.half).parameters.keys() == {"n"}
    assert lib.half.__doc__ == "Half of it." and lib.half.__code__.co_varnames[0] == "n"
"""
MAIN = (
    "import lib\nprint(lib.half(8))\ntry:\n    lib.half(-2)\nexcept ValueError:\n    print('no')\n"
)
FILES: Mapping[str, str] = {"lib.py": LIB, "test_lib.py": TESTS, "main.py": MAIN}


@pytest.fixture
def environments(tmp_path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """A plain one and one that traces the tree ``tree``, which is written."""
    tree, out = written(tmp_path / "tree", FILES), tmp_path / "out"
    out.mkdir()
    settings = tmp_path / "settings.json"
    Settings("trace", str(tree), str(out), str(tmp_path / "cache")).write(settings)
    plain = scrubbed_environment(extra={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})
    return plain, environment_for(plain, stage(tmp_path / "staged"), settings, ())


def output(argv: tuple[str, ...], tree: Path, environment: Mapping[str, str]) -> str:
    done = subprocess.run(
        argv, cwd=tree, env=environment, capture_output=True, text=True, check=False
    )
    return re.sub(r" in [0-9.]+s|0x[0-9a-f]+", "", done.stdout + done.stderr)


@pytest.mark.parametrize("style", ["long", "short", "native"])
def test_pytest_says_the_same(
    style: str, environments: tuple[dict[str, str], dict[str, str]], tmp_path: Path
) -> None:
    """Rewritten asserts with the values of their parts, tracebacks, sources."""
    said = [
        output((*PYTEST, f"--tb={style}"), tmp_path / "tree", environment)
        for environment in environments
    ]
    assert "3 failed, 1 passed" in said[0]
    assert said[0] == said[1]
    assert list((tmp_path / "out").glob("trace-*.json"))


def test_the_lines_that_were_executed_are_as_ever(
    environments: tuple[dict[str, str], dict[str, str]], tmp_path: Path
) -> None:
    """By the standard library's coverage: which lines were executed. (How often is another matter: a
    definition and the first line of a call are counted twice.)
    """
    counted = []
    for name, environment in zip(("plain", "traced"), environments, strict=True):
        place = tmp_path / name
        argv = (sys.executable, "-m", "trace", "--count", f"-C{place}", "main.py")
        assert output(argv, tmp_path / "tree", environment) == "4\nno\n"
        [lines] = place.glob("*tree.lib.cover")
        text = lines.read_text(encoding="utf-8")
        counted.append(re.sub(r"^ *\d+:", "executed:", text, flags=re.MULTILINE))
    assert "executed:     if n < 0:" in counted[0]
    assert counted[0] == counted[1]
