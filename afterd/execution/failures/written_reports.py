"""What became of each test, as its runner itself wrote it into a file.

JUnit's XML is what runners of many languages write, CTest among them. Meson writes that too, but of a test in
TAP it names the parts and not the test, and of one that timed out it says nothing; its log in JSON has a line
for every test, so that is what is read.
"""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

from afterd.execution.process import ProcessResult
from afterd.limits import REPORT_FILE

_SUITE = " / "
PHP_DATA_SET = " with data set "
"""What PHPUnit puts between a method and the data that it was given."""
_PASSED_OVER = frozenset({"node_modules", "venv"})
_RED = frozenset({"FAIL", "ERROR", "TIMEOUT", "INTERRUPT", "UNEXPECTEDPASS"})
_GREEN = frozenset({"OK", "EXPECTEDFAIL", "SKIP"})
_SKIPPED_BY_ITSELF = ("SKIP_", "Disabled")


@dataclass(frozen=True, slots=True)
class TestReport:
    """A test that was run, or should have been: its name, whether it ``failed``, and what it said."""

    __test__ = False  # pytest collects classes named Test*

    test: str
    failed: bool
    said: str = ""


def failed_names(reports: Iterable[TestReport]) -> tuple[str, ...]:
    """The tests that failed, as their runner names them."""
    return tuple(each.test for each in reports if each.failed)


def begin_of_run(result: ProcessResult) -> float:
    """When a run that has just ended began (Unix time), as far as the dates of files tell."""
    return time.time() - result.seconds - REPORT_FILE.clock


def reports_below(folder: Path, since: float) -> tuple[TestReport, ...]:
    """The tests of all reports in JUnit's XML below ``folder`` written ``since`` (Unix time), each once, by
    class and name.
    """
    found: dict[str, TestReport] = {}
    for path in sorted(_reports_written(folder, since)):
        for case in _cases(path):
            names = (case.get("classname", ""), case.get("name", ""))
            if name := ".".join(filter(None, names)):
                found.setdefault(name, TestReport(name, _is_red(case), _case_words(case)))
    return tuple(found.values())


def ctest_reports(path: Path, since: float) -> tuple[TestReport, ...]:
    """The tests of the file that ``ctest --output-junit`` wrote; none of an older one.

    A test that could not be started is red to CTest, one that left itself out is not.
    """
    if not _is_of_this_run(path, since):
        return ()
    return tuple(
        TestReport(case.get("name", ""), _is_red(case) or _could_not_run(case), _case_words(case))
        for case in _cases(str(path))
    )


def phpunit_reports(path: Path, since: float) -> tuple[TestReport, ...]:
    """The tests of the file that ``phpunit --log-junit`` wrote, by class and method, with a data set in brackets; none
    of an older one.
    """
    if not _is_of_this_run(path, since):
        return ()
    found: dict[str, TestReport] = {}
    for case in _cases(str(path)):
        method, _, data = case.get("name", "").partition(PHP_DATA_SET)
        name = "::".join(filter(None, (case.get("class", ""), method)))
        name += f"[{data}]" if data else ""
        found.setdefault(name, TestReport(name, _is_red(case), _case_words(case)))
    return tuple(found.values())


def meson_reports(path: Path, since: float) -> tuple[TestReport, ...]:
    """The tests of Meson's ``testlog.json``, of which each line is one; none of an older one."""
    if not _is_of_this_run(path, since):
        return ()
    with suppress(OSError):
        found = map(_of_meson, path.read_bytes().splitlines())
        return tuple(report for report in found if report is not None)
    return ()


def _of_meson(line: bytes) -> TestReport | None:
    """A line's report; None for one that was cut off, and for a test that did not end."""
    try:
        value = json.loads(line)
        result, output = str(value["result"]), (value.get("stdout"), value.get("stderr"))
        if result not in _RED | _GREEN:
            return None
        said = "\n".join(str(text) for text in output if text)
        name = str(value["name"]).rpartition(_SUITE)[
            2
        ]  # before it stands what Meson is not asked by
        return TestReport(name, result in _RED, said)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _is_of_this_run(path: Path, since: float) -> bool:
    with suppress(OSError):
        status = path.lstat()
        of_us = stat.S_ISREG(status.st_mode) and status.st_mtime >= since
        return of_us and status.st_size <= REPORT_FILE.largest
    return False


def _reports_written(folder: Path, since: float) -> Iterator[str]:
    folders = [str(folder)]
    for _ in range(REPORT_FILE.folders):
        if not folders:
            return
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if not entry.name.startswith(".") and entry.name not in _PASSED_OVER:
                        folders.append(entry.path)
                elif entry.name.endswith(".xml") and _is_of_this_run(Path(entry.path), since):
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


def _is_red(case: ET.Element) -> bool:
    return case.find("failure") is not None or case.find("error") is not None


def _could_not_run(case: ET.Element) -> bool:
    left_out = case.find("skipped")
    if case.get("status") != "notrun" or left_out is None:
        return False
    return not left_out.get("message", "").startswith(_SKIPPED_BY_ITSELF)


def _case_words(case: ET.Element) -> str:
    """What the test wrote, and last what its runner says of it: that decides what failed."""
    parts = [case.findtext(name, "") for name in ("system-out", "system-err")]
    for element in case:
        if element.tag in {"failure", "error"}:
            parts += [element.get("message", ""), element.text or ""]
    return "\n".join(part.rstrip() for part in parts if part.strip())
