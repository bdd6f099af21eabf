"""What repairs the namespaces of an interpreter before a test runs in it, and which interpreter needs that."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from afterd.execution.recipe import SLOT
from afterd.execution.runners.reading import text

_FOLDER = str(Path(__file__).parent)


def repaired_namespaces(path: str, python: str, home: Path | None) -> tuple[str, Mapping[str, str]]:
    """``PYTHONPATH`` and what else is set for an interpreter in whose environment a package of ``home`` is installed in
    place, by a setuptools that imports its namespace first; ``path`` alone where none is.

    Such a namespace (``zope``) is there before any path is looked at, with the user's own folder: whatever stands on
    ``PYTHONPATH``, each variant's tests would run on the user's work tree.
    """
    if home is None:
        return path, {}
    packages = Path(python).parent.parent.glob("lib/python*/site-packages/*-nspkg.pth")
    if not any(str(home.resolve()) in text(each) for each in packages):
        return path, {}
    return f"{path}:{_FOLDER}", {"AFTERD_HOME": str(home.resolve()), "AFTERD_SLOT": SLOT}
