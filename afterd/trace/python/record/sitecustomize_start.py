"""Starts the tracer, then the environment's own sitecustomize.

Staged as ``sitecustomize.py`` in the folder that comes first on ``PYTHONPATH``. A Python that is too old for the
tracer is not traced: its version is noted beside the settings. This file itself runs in all of them.
"""

import os
import sys
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

_here = str(Path(__file__).parent)

_settings = os.environ.get("AFTERD_TRACE")
_traces = sys.version_info >= (3, 8)
_start = import_module("afterd_runtime.start") if _traces else None  # stands beside this file
sys.path[:] = [entry for entry in sys.path if entry != _here]
if _start is not None:
    _start.start()
elif _settings:
    _noted = Path(_settings).parent / "older-python"
    _noted.write_text("{}.{}".format(*sys.version_info), encoding="utf-8")
_next = PathFinder.find_spec("sitecustomize")
if _next is not None and _next.loader is not None:
    _module = module_from_spec(_next)
    sys.modules["sitecustomize"] = _module
    _next.loader.exec_module(_module)
