"""JUnit's XML, which runners of many languages write: the tests that a run's files say failed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree as ET

_LARGEST = 64 << 20  # bytes of a file
_MOST = 20_000  # folders that are looked into
_PASSED_OVER = frozenset({"node_modules", "venv"})


def failed_in_files(folder: Path, since: float) -> tuple[str, ...]:
    """The failed tests, as class and name, of reports below ``folder`` written ``since`` (a time)."""
    names: dict[str, None] = {}
    for path in sorted(_written(folder, since)):
        for case in _cases(path):
            if case.find("failure") is not None or case.find("error") is not None:
                named = (case.get("classname", ""), case.get("name", ""))
                names.setdefault(".".join(filter(None, named)))
    return tuple(filter(None, names))


def _written(folder: Path, since: float) -> Iterator[str]:
    folders = [str(folder)]
    for _ in range(_MOST):
        if not folders:
            return
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if not entry.name.startswith(".") and entry.name not in _PASSED_OVER:
                        folders.append(entry.path)
                elif entry.name.endswith(".xml") and entry.is_file(follow_symlinks=False):
                    status = entry.stat()
                    if status.st_mtime >= since and status.st_size <= _LARGEST:
                        yield entry.path


def _cases(path: str) -> list[ET.Element]:
    """The test cases of a report; none of other XML, nor where it declares entities (a bomb)."""
    with suppress(OSError, ET.ParseError):
        content = Path(path).read_bytes()
        if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
            return []
        root = ET.fromstring(content)  # noqa: S314 - without a document type there are no entities
        if root.tag in {"testsuite", "testsuites"}:
            return list(root.iter("testcase"))
    return []
