"""CMake and CTest."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from afterd.execution.failures.suites import Family, crashed_tests, failed_tests
from afterd.execution.failures.written_reports import TestReport, begin_of_run, ctest_reports
from afterd.execution.process import ProcessResult
from afterd.execution.runners.protocol import Detected
from afterd.execution.runners.reading import BUILD_FOLDER, has, jobs, option, script, text

_OFF = re.compile(
    r"\boption\s*\(\s*(?P<name>\w*TEST(?:S|ING)?)\s+(?:\"[^\"]*\"\s*)?(?P<default>[^)\s]*)\s*\)",
    re.IGNORECASE,
)
_NO_SUITE = re.compile(
    r"FUZZ|VALGRIND|COVERAGE|BENCH|PERF|INSTALL|DISABLE|WITHOUT|NO_TEST|SKIP", re.IGNORECASE
)
_REPORT = "afterd-tests.xml"
_ENABLED = re.compile(r"\b(?:enable_testing\b|include\s*\(\s*CTest)", re.IGNORECASE)
_TESTING = """\
enable_testing()
function(afterd_add_test_programs)
  get_property(tests DIRECTORY PROPERTY TESTS)
  get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(kind ${target} TYPE)
    if(NOT tests AND kind STREQUAL EXECUTABLE AND target MATCHES "[Tt][Ee][Ss][Tt]")
      add_test(NAME ${target} COMMAND ${target})
    endif()
  endforeach()
endfunction()
if(NOT CMAKE_VERSION VERSION_LESS 3.19)
  cmake_language(DEFER CALL afterd_add_test_programs)
endif()
"""
"""For a project that enables no testing: its tests, or else its programs of that name, are CTest's."""
_TESTS = re.compile(r"\b(?:enable_testing|add_test|include\s*\(\s*CTest)\b", re.IGNORECASE)


class CMake:
    """Projects with a CMakeLists.txt that has tests."""

    name = "CTest"

    def detect(self, root: Path) -> Detected | None:
        """By a CMakeLists.txt that enables testing, at the top or one folder down."""
        if not has(root, "CMakeLists.txt"):
            return None
        lists = [root / "CMakeLists.txt", *sorted(root.glob("*/CMakeLists.txt"))]
        if not any(_TESTS.search(text(path)) for path in lists):
            return None
        return configured(
            root,
            ".",
            f"Found CMakeLists.txt: building with CMake in {BUILD_FOLDER}/, testing with CTest.",
        )

    def failing_tests(self, result: ProcessResult) -> tuple[str, ...]:
        """From the list at the end of CTest's output: before version 3.21 it writes no file."""
        listed = result.stdout.whole().partition("The following tests FAILED:")[2]
        return failed_tests(listed, Family.CTEST)

    def one_test(self, detected: Detected, test_id: str) -> tuple[str, ...]:
        """CTest with the test's name as a whole."""
        return (*detected.test, "-R", literally(test_id))

    def written_reports(
        self, result: ProcessResult, command: Sequence[str], folder: Path
    ) -> tuple[TestReport, ...]:
        """JUnit's XML, where ``--output-junit`` says, from the build folder on; the list in the output says what
        died of a signal.
        """
        if not (named := option(command, "--output-junit")):
            return ()
        place = folder / option(command, "--test-dir") / named
        died = crashed_tests(result.stdout.whole())
        return tuple(
            replace(report, said=f"{report.said}\n{died[report.test]}")
            if report.test in died
            else report
            for report in ctest_reports(place, begin_of_run(result))
        )


def configured(root: Path, folder: str, sentence: str) -> Detected:
    """How the project in a folder of the checkout is built by CMake and tested by CTest."""
    lists = [root / folder / "CMakeLists.txt", *sorted((root / folder).glob("*/CMakeLists.txt"))]
    # Not a release build: that defines NDEBUG, and a failing assertion would be silent.
    settings = " ".join(("-DCMAKE_BUILD_TYPE=Debug -DBUILD_TESTING=ON", *_switched_on(lists)))
    lines = []
    if not any(_ENABLED.search(text(path)) for path in lists):
        written = f"{BUILD_FOLDER}/afterd-testing.cmake"
        lines.append(
            f"mkdir -p {BUILD_FOLDER}; test -f {written} || printf '%s' {shlex.quote(_TESTING)} > {written}"
        )
        settings += f' -DCMAKE_PROJECT_INCLUDE="$PWD/{written}"'
    configure = f"cmake -S {folder} -B {BUILD_FOLDER} {settings}"
    if preset := _preset(root / folder):
        configure += f" || cmake --preset {shlex.quote(preset)} -B {BUILD_FOLDER} {settings}"
    return Detected(
        CMake.name,
        script(*lines, configure, f"cmake --build {BUILD_FOLDER} --parallel {jobs()}"),
        ("ctest", "--test-dir", BUILD_FOLDER, "--output-on-failure", "--output-junit", _REPORT),
        sentence,
    )


def _switched_on(lists: list[Path]) -> Iterator[str]:
    """The project's own switches for its tests, where they are off by default."""
    found = (match for path in lists for match in _OFF.finditer(text(path)))
    names = {m["name"] for m in found if m["default"].upper() not in {"ON", "TRUE", "1", "YES"}}
    return (f"-D{name}=ON" for name in sorted(names) if not _NO_SUITE.search(name))


def _preset(root: Path) -> str:
    """The first configure preset, for projects that cannot be configured without one."""
    try:
        presets = json.loads(text(root / "CMakePresets.json"))["configurePresets"]
        return next(str(each["name"]) for each in presets if not each.get("hidden"))
    except (ValueError, KeyError, TypeError, StopIteration, AttributeError):
        return ""


def literally(name: str) -> str:
    """The pattern for this name alone; CMake's regular expressions know fewer escapes."""
    escaped = re.sub(r"([.*+?^$()\[\]|\\])", r"\\\1", name)
    return f"^{escaped}$"
