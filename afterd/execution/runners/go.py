"""Go."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from afterd.execution.process import ProcessResult
from afterd.execution.runners.go_module import module_file, package_folders, without_modules
from afterd.execution.runners.protocol import Detected
from afterd.execution.runners.reading import has, text

_TEST = re.compile(r" *--- FAIL: (?P<test>\S+)")
_NAME = re.compile(r"(?:Test|Example|Fuzz)(?:(?![a-z])\w*)(?:/.*)?")
"""What the language has a test be called."""
_PACKAGE = re.compile(r"FAIL\t(?P<package>\S+)(?: \[|\t)")


class Go:
    """Go modules. A test's id is its package and its name with a space between."""

    name = "Go"

    def detect(self, root: Path) -> Detected | None:
        """By a go.mod at the top, or by tests of what is older than that."""
        modules = {name: text(root / name) for name in ("go.mod", "go.sum") if has(root, name)}
        older = "" if "go.mod" in modules else module_file(root)
        if not modules and not older:
            return None
        lacking = without_modules(root) if older else {}
        left = "".join(f"; not {folder}, which needs {path}" for folder, path in lacking.items())
        own = package_folders(root) if lacking else ()
        folders = [f"./{each}" for each in own if each not in lacking]
        return Detected(
            self.name,
            (),  # a package that does not compile is one that fails; each test builds its own
            # -count=1: go keeps outcomes of its own, and a flaky test would look firm.
            ("go", "test", "-count=1", "-json", *(folders or ["./..."])),
            f"Found Go tests without a go.mod: testing them with Go as `{older.strip()}`{left}."
            if older
            else "Found go.mod: building and testing with Go.",
            generated={"go.mod": older} if older else modules,  # a version before may have none
        )

    def failing_tests(self, result: ProcessResult) -> tuple[str, ...]:
        """From what `go test` prints, with -json or without; of a test with subtests, the failed leaves."""
        said = result.stdout.whole()
        failed = list(dict.fromkeys([*_failed_tests(said), *_failed_in_text(said)]))
        return tuple(
            test
            for test in failed
            if not any(other.startswith(f"{test}/") for other in failed if other != test)
        )

    def one_build(self, detected: Detected, test_id: str) -> tuple[str, ...]:
        """The test's package with its tests, and none other."""
        go, test = detected.test[:2]
        return (go, test, "-count=1", "-run", "^$", test_id.partition(" ")[0])

    def one_test(self, detected: Detected, test_id: str) -> tuple[str, ...]:
        """The test in its package, each level of its name anchored; in all packages where none is named."""
        package, _, name = test_id.partition(" ")
        go, test = detected.test[:2]
        if not name and _NAME.fullmatch(package):
            return (*detected.test, "-run", anchored_pattern(package))
        if not name:
            return (go, test, "-count=1", package)
        return (go, test, "-count=1", "-v", "-run", anchored_pattern(name), package)


def anchored_pattern(name: str) -> str:
    """The pattern for a test of this name alone, subtests behind slashes."""
    return "/".join(f"^{re.escape(part)}$" for part in name.split("/"))


def _failed_in_text(output: str) -> Iterator[str]:
    """Without -json the name of the package comes after its tests."""
    tests: list[str] = []
    for line in output.splitlines():
        if test := _TEST.match(line):
            tests.append(test["test"])
        elif package := _PACKAGE.match(line):
            # one that fails without a failed test does not compile, or its process died
            yield from (f"{package['package']} {name}" for name in tests)
            if not tests:
                yield package["package"]
            tests = []


def _failed_tests(output: str) -> Iterator[str]:
    packages: list[str] = []
    with_tests: set[str] = set()
    for line in output.splitlines():
        try:
            event = json.loads(line)
        except ValueError:  # the compiler's messages are not JSON
            continue
        if not isinstance(event, dict) or event.get("Action") != "fail":
            continue
        package = str(event.get("Package", ""))
        if event.get("Test"):
            with_tests.add(package)
            yield f"{package} {event['Test']}"
        else:
            packages.append(package)
    # A package that fails without a failed test does not compile, or its process died.
    yield from (package for package in packages if package not in with_tests)
