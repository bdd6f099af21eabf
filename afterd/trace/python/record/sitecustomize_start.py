"""Starts the tracer, then the environment's own sitecustomize.

Staged as ``sitecustomize.py`` in the folder that comes first on ``PYTHONPATH``.
"""

import sys
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

_here = str(Path(__file__).parent)

_start = import_module("afterd_runtime.start")  # stands beside this file
sys.path[:] = [entry for entry in sys.path if entry != _here]
_start.start()
_next = PathFinder.find_spec("sitecustomize")
if _next is not None and _next.loader is not None:
    _module = module_from_spec(_next)
    sys.modules["sitecustomize"] = _module
    _next.loader.exec_module(_module)
