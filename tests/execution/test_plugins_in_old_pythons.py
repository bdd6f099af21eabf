"""The plugins run in the tested project's own Python, which may be older than any that afterd runs in.

Twine's range was called red at both ends under 3.8: the plugin added two dicts, and pytest ended with its error.
"""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest
from older_pythons import GENERIC, OLDEST, older_pythons

import afterd.trace.python
from afterd.execution.runners import namespaces, plugins
from afterd.trace.python.stage.runner import OLDER_PYTHON, stage

PLUGINS = sorted(Path(str(plugins.__file__)).parent.glob("afterd_*.py"))
NAMESPACES = Path(str(namespaces.__file__)).with_name("sitecustomize.py")
STARTED = Path(str(afterd.trace.python.__file__)).parent / "record" / "sitecustomize_start.py"


@pytest.mark.parametrize("plugin", [*PLUGINS, NAMESPACES, STARTED], ids=lambda path: path.stem)
def test_nothing_in_them_is_newer_than_the_oldest_python(plugin: Path) -> None:
    tree = ast.parse(plugin.read_text(encoding="utf-8"), feature_version=OLDEST)
    for node in ast.walk(tree):
        assert not isinstance(node, ast.ImportFrom) or node.module != "__future__"
        assert not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.BitOr), node.lineno
        parted = isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
        assert not parted or ast.unparse(node).partition("[")[0] not in GENERIC


@pytest.mark.parametrize("python", older_pythons() or [""], ids=lambda python: python or "none")
@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda path: path.stem)
def test_they_are_imported_and_describe_a_failure_in_older_pythons(
    plugin: Path, python: str
) -> None:
    if not python:
        pytest.skip("no Python before 3.10 is on this machine")
    script = (
        f"import sys; sys.path.insert(0, {str(plugin.parent)!r}); import {plugin.stem} as plugin\n"
        "from types import SimpleNamespace as S\n"
        "report = S(nodeid='t', outcome='failed', failed=True, skipped=False, when='call', longrepr='E')\n"
        "plugin.pytest_runtest_logreport(report)\n"
        "getattr(plugin, 'pytest_collectreport', lambda _: None)(report)\n"
    )
    subprocess.run([python, "-c", script], check=True, timeout=60)


@pytest.mark.parametrize(
    "python", older_pythons(before=8) or [""], ids=lambda python: python or "none"
)
def test_a_python_that_is_too_old_is_not_traced_and_says_so(tmp_path: Path, python: str) -> None:
    if not python:
        pytest.skip("no Python before 3.8 is on this machine")
    settings = tmp_path / "out" / "settings.json"
    settings.parent.mkdir()
    settings.write_text("{}")
    environment = {"AFTERD_TRACE": str(settings), "PYTHONPATH": str(stage(tmp_path / "staged"))}
    command = [python, "-c", "import sys; print(sys.version_info[:2], sys.path)"]
    shown = subprocess.run(
        command, check=True, timeout=60, env=environment, capture_output=True, text=True
    ).stdout
    version = (settings.parent / OLDER_PYTHON).read_text().split(".")
    assert shown.startswith(f"({', '.join(version)})")
    assert "staged" not in shown
