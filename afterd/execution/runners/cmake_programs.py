"""Programs that CMake builds and CTest was never told of: a library of one header has no more than these."""

from __future__ import annotations

import re
from pathlib import Path

from afterd.execution.runners.cmake import configured
from afterd.execution.runners.protocol import Detected
from afterd.execution.runners.reading import text

_FOLDERS = (".", "test", "tests")
_PROJECT = re.compile(r"^[ \t]*project\s*\(", re.IGNORECASE | re.MULTILINE)
_PROGRAM = re.compile(r"\badd_executable\s*\(\s*\"?[\w.-]*test", re.IGNORECASE)


def test_programs(root: Path) -> Detected | None:
    """How they are built and run: of a CMakeLists.txt, at the top or in a folder for tests, those with "test" in
    their names; None where there is none.
    """
    for folder in _FOLDERS:
        lists = text(root / folder / "CMakeLists.txt")
        if _PROJECT.search(lists) and _PROGRAM.search(lists):
            where = "CMakeLists.txt" if folder == "." else f"{folder}/CMakeLists.txt"
            told = f"Found {where}: its test programs are built, and run by CTest."
            return configured(root, folder, told)
    return None
