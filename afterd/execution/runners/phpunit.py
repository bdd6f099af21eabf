"""PHP: PHPUnit, the project's own or the one on ``PATH``."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from afterd.execution.failures.written_reports import (
    PHP_DATA_SET,
    TestReport,
    begin_of_run,
    failed_names,
    phpunit_reports,
)
from afterd.execution.process import ProcessResult
from afterd.execution.runners.installed import installed
from afterd.execution.runners.protocol import Detected
from afterd.execution.runners.reading import has, script, text
from afterd.vcs.worktree import INSTALLED

_SETTINGS = ("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml")
_FOLDERS = ("tests", "test")
_REPORT = "afterd-phpunit.xml"
_ROOT = "afterd-root"
_HERE = "./"
_RUN = (
    f'pwd -P > "$AFTERD_RUN/{_ROOT}"; for own in vendor/bin/phpunit vendor/bin/simple-phpunit phpunit; do'
    ' test -f "$own" && break; done;'
    f' "$own" --colors=never --no-coverage --log-junit "$AFTERD_RUN/{_REPORT}" "$@"; ended=$?;'
    f' test $ended = 255 || exit $ended; test -s "$AFTERD_RUN/{_REPORT}" || exit 1;'
    f' ! grep -Eq "<(failure|error)[ >]" "$AFTERD_RUN/{_REPORT}"'
)
"""PHP leaves by 255 where nothing catches an error, as of a destructor behind the last test: what the tests came to is
in the report then, and without one the error is a failure.
"""
_INSTALL = "composer install --no-interaction --no-progress --no-scripts --no-plugins"
_AUTOLOAD = (
    f"if test -f {INSTALLED} && command -v composer >/dev/null; then"
    " composer dump-autoload --dev --quiet --no-interaction --no-scripts --no-plugins; fi"
)
"""Composer writes down where the project's own classes stand, which is another place in another version."""


class PhpUnit:
    r"""Projects with PHPUnit's settings, or whose composer.json requires it.

    A test's id is its class and method, and in brackets the data set that it was given: ``N\A::test_a[#0]``.
    """

    name = "PHPUnit"

    def detect(self, root: Path) -> Detected | None:
        """By PHPUnit's settings at the top or in the folder of the tests, else by composer.json."""
        places = ("", *(f"{folder}/" for folder in _FOLDERS))
        settings = has(root, *(f"{place}{name}" for place in places for name in _SETTINGS))
        folder = "" if settings else _required_for(root)
        if not settings and not folder:
            return None
        only = ("--configuration", settings) if "/" in settings else tuple(filter(None, [folder]))
        install = script(installed("vendor", "autoload.php", _INSTALL), _AUTOLOAD)
        return Detected(
            self.name,
            install if has(root, "composer.json") else (),
            ("sh", "-c", _RUN, "phpunit", *only),
            f"Found {settings or 'phpunit in composer.json'}: testing with PHPUnit.",
        )

    def failing_tests(self, result: ProcessResult) -> tuple[str, ...]:
        """Those that its report says failed."""
        return failed_names(_reports(result))

    def written_reports(
        self,
        result: ProcessResult,
        command: Sequence[str],  # noqa: ARG002 - the protocol's signature
        folder: Path,  # noqa: ARG002 - the protocol's signature
    ) -> tuple[TestReport, ...]:
        """The report that PHPUnit was asked for."""
        return _reports(result)

    def one_test(self, detected: Detected, test_id: str) -> tuple[str, ...]:
        """The one of that name; its files are all loaded for it, as its settings name them."""
        name, data, rest = test_id.partition("[")
        whole = re.escape(f"{name}{PHP_DATA_SET}{rest.removesuffix(']')}" if data else name)
        whole = whole.replace("/", r"\/")
        whole = whole.replace(r"\.\/", r".*\/")  # the checkout's path is in the name
        wanted = re.sub(r"(?:\\\s)+", r"\\s+", whole)
        return (*detected.test, "--filter", f"/^{wanted}$/")


def _required_for(root: Path) -> str:
    """The folder of the tests of a project that requires PHPUnit; empty where it does not, or has no such folder."""
    try:
        required = json.loads(text(root / "composer.json")).get("require-dev", {})
    except (ValueError, AttributeError):
        return ""
    if "phpunit/phpunit" not in required and "symfony/phpunit-bridge" not in required:
        return ""
    return next((name for name in _FOLDERS if any((root / name).rglob("*Test.php"))), "")


def _reports(result: ProcessResult) -> tuple[TestReport, ...]:
    """With paths as below the checkout: a data set is often named after its file."""
    root = text(result.directory / _ROOT).strip()
    here = re.compile(f"/?{re.escape(root.lstrip('/'))}/")
    reports = phpunit_reports(result.directory / _REPORT, begin_of_run(result))
    if not root:
        return reports
    return tuple(
        TestReport(here.sub(_HERE, each.test), each.failed, here.sub(_HERE, each.said))
        for each in reports
    )
