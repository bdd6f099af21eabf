"""No run is fooled by bytecode of another variant, wherever a project keeps it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from trees_and_slots import Workshop

from afterd.execution.executors.local import LocalExecutor
from afterd.execution.executors.protocol import Job
from afterd.execution.recipe import Recipe
from afterd.execution.rerunning import Reruns
from afterd.trace.python.stage.reexecution import WarmTests

MAIN = "import {how}\nimport mode\nraise SystemExit(mode.value)\n"
REIMPORT = """\
import importlib, sys
sys.path.insert(0, "")
import mode
before = mode.value
mode = importlib.reload(mode)
assert mode.value == before
"""
# How a project comes to write bytecode although it is told not to.
SETTINGS = {
    "beside the source": "import sys\nsys.dont_write_bytecode = False\n",
    "a prefix of its own": (
        "import os, sys\nsys.dont_write_bytecode = False\n"
        "sys.pycache_prefix = os.environ['ELSEWHERE']\n"
    ),
    "compiled by hand": "import compileall\ncompileall.compile_file('mode.py', quiet=2)\n",
    "a reload": "import sys\nsys.dont_write_bytecode = False\n" + REIMPORT,
    "in another process": (
        "import os, subprocess, sys\nenvironment = {**os.environ, 'PYTHONDONTWRITEBYTECODE': ''}\n"
        "environment['PYTHONPYCACHEPREFIX'] = os.environ['ELSEWHERE']\n"
        "code = 'import mode; raise SystemExit(mode.value)'\n"
        "raise SystemExit(subprocess.call([sys.executable, '-c', code], env=environment))\n"
    ),
}


@pytest.mark.parametrize("warm", [False, True], ids=["fresh", "warm"])
@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_variants_of_one_second_and_size(setting: str, warm: bool, tmp_path: Path) -> None:
    """Texts of one size follow each other faster than the second that bytecode is dated by."""
    workshop = Workshop(tmp_path)
    main = setting + MAIN.format(how="sys")
    trees = {
        value: workshop.tree({"main.py": main, "mode.py": f"value = {value}\n"})
        for value in (0, 1, 2, 3)
    }
    recipe = Recipe((sys.executable, "main.py"), extra={"ELSEWHERE": str(tmp_path / "pyc")})
    reruns = Reruns(WarmTests(tmp_path / "warm")) if warm else Reruns()
    executor = LocalExecutor([workshop.slot()], reruns=reruns)
    try:
        for value in (0, 0, 1, 1, 2, 3, 1, 0, 2):
            outcome = executor.submit(Job(trees[value], recipe)).result().outcome
            assert outcome.passed == (value == 0)
            if outcome.signature is not None:
                assert outcome.signature.message == f"exit status {value}"
        assert reruns.trusted(recipe) == warm
    finally:
        executor.close()
