"""Found first on ``PYTHONPATH``: starts the tracer, then the environment's own sitecustomize."""

import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

_here = str(Path(__file__).parent)
from afterd_runtime import start  # noqa: E402 # found beside this file

sys.path[:] = [entry for entry in sys.path if entry != _here]
start.start()
_next = PathFinder.find_spec("sitecustomize")
if _next is not None and _next.loader is not None:
    _module = module_from_spec(_next)
    sys.modules["sitecustomize"] = _module
    _next.loader.exec_module(_module)
