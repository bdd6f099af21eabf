"""The runtime where a target interpreter finds it, and the environment that makes it start."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from afterd.tracing.python.runtime.settings import VARIABLE

_RUNTIME = Path(__file__).with_name("runtime")
_START = "sitecustomize_start.py"
PACKAGE = "afterd_runtime"
PYTEST_PLUGIN = f"{PACKAGE}.pytest_plugin"


def stage(directory: Path) -> Path:
    """A folder below ``directory`` to put on PYTHONPATH, made once a version of the runtime."""
    sources = sorted(path for path in _RUNTIME.rglob("*.py"))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]
    target = directory / f"runtime-{digest}"
    if target.exists():
        return target
    directory.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(dir=directory))
    ignored = shutil.ignore_patterns("__pycache__", _START)
    shutil.copytree(_RUNTIME, partial / PACKAGE, ignore=ignored)
    shutil.copy(_RUNTIME / _START, partial / "sitecustomize.py")
    try:
        partial.rename(target)
    except OSError:  # another run was faster
        shutil.rmtree(partial)
    return target


def environment_for(
    base: Mapping[str, str], runtime: Path, settings: Path, pythonpath: tuple[Path, ...]
) -> dict[str, str]:
    """``base`` with the runtime started in every Python process, and pytest told of its plugin."""
    paths = [str(runtime), *map(str, pythonpath)]
    if base.get("PYTHONPATH"):
        paths.append(base["PYTHONPATH"])
    plugins = [PYTEST_PLUGIN]
    if base.get("PYTEST_PLUGINS"):
        plugins.append(base["PYTEST_PLUGINS"])
    return {
        **base,
        VARIABLE: str(settings),
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTEST_PLUGINS": ",".join(plugins),
    }
