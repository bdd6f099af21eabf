"""Packages that are installed in place: a test command that was given imports the user's checkout.

An editable install (``pip install -e .``), and a ``PYTHONPATH`` of the user's, name folders of the
checkout. Every variant would be tested with the bad version's code, so the same folders of the slot go
before them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from afterd.execution.process import Command
from afterd.execution.recipe import SLOT
from afterd.execution.sandbox import run
from afterd.limits import Limits
from afterd.tracing.python.command import python_command

_ASK = """
import json, os, sys
found = [entry for entry in sys.path if entry]
for name, module in list(sys.modules.items()):
    if name.startswith("__editable__"):  # setuptools' finder
        found += map(os.path.dirname, getattr(module, "MAPPING", {}).values())
own = [os.path.realpath(prefix) + os.sep for prefix in (sys.prefix, sys.base_prefix)]
found = [os.path.realpath(entry) for entry in found]
print(json.dumps([e for e in found if not (e + os.sep).startswith(tuple(own))]))
"""


def import_paths(
    command: Sequence[str], environment: Mapping[str, str], checkout: Path, limits: Limits
) -> str:
    """``PYTHONPATH`` for a command that starts Python: folders of the slot in place of the checkout's.

    Empty where the interpreter imports nothing from there, or is not known.
    """
    python = python_command(command, environment, checkout)
    if python is None:
        return ""
    inherited = environment.get("PYTHONPATH", "")
    asked = Command((python.interpreter, "-c", _ASK), Path("/"), environment)
    result = run(asked, limits.probe)
    try:
        entries = json.loads(result.stdout.text()) if result.succeeded else []
    except ValueError:
        return ""
    finally:
        result.remove()
    folders = dict.fromkeys(_below(entry, checkout.resolve()) for entry in entries)
    own = [f"{SLOT}/{folder}".removesuffix("/.") for folder in folders if folder]
    return os.pathsep.join([*own, *filter(None, [inherited])]) if own else ""


def _below(entry: str, checkout: Path) -> str:
    """The entry as a folder of the checkout; empty where it is none, or git's own."""
    path = Path(entry)
    if not path.is_relative_to(checkout) or ".git" in path.relative_to(checkout).parts:
        return ""
    return str(path.relative_to(checkout))
