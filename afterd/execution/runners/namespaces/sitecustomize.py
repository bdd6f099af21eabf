"""Puts the checkout's own folders into namespaces that name the user's work tree, then starts the environment's own.

Found by Python in a folder that stands on ``PYTHONPATH``, after the environment's ``.pth`` files were read. It runs in
the tested project's own interpreter, whatever that is, and needs nothing but Python 3.6.
"""

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

_here = str(Path(__file__).parent)
_home, _slot = os.environ.get("AFTERD_HOME", ""), os.environ.get("AFTERD_SLOT", "")


def _own(folder: str) -> str:
    """A folder of the work tree as the checkout's; any other as it is, an environment inside of it too."""
    if not _home or not folder.startswith(_home + os.sep) or "site-packages" in folder:
        return folder
    inside = folder[len(_home) + 1 :]
    return folder if inside.startswith(".") else str(Path(_slot) / inside)


for _module in list(sys.modules.values()):
    _path = getattr(_module, "__path__", None)
    if isinstance(_path, list):
        _path[:] = [_own(each) for each in _path]

_elsewhere = [entry for entry in sys.path if entry != _here]
_next = PathFinder.find_spec("sitecustomize", _elsewhere)
if _next is not None and _next.loader is not None:
    _module = module_from_spec(_next)
    sys.modules["sitecustomize"] = _module
    _next.loader.exec_module(_module)
