"""Java projects that are built with Maven, whose tests Surefire runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from afterd.execution.failures.written_reports import (
    TestReport,
    begin_of_run,
    failed_names,
    reports_below,
)
from afterd.execution.process import ProcessResult
from afterd.execution.runners.protocol import Detected
from afterd.execution.runners.reading import BUILD_FOLDER, has, script

DEBIAN = Path("/etc/maven/settings-debian.xml")
"""Debian's settings, by which Maven takes what it needs from the system's own packages, without a network."""
_REPORTS = "afterd-maven"
_SKIPPED = (
    "-Denforcer.skip -Dcheckstyle.skip -Drat.skip -Dspotless.check.skip -Danimal.sniffer.skip"
)
"""What looks at how a version is written, and not at what it does."""
_CLEAN = (
    "find . -name pom.xml -not -path '*/target/*' | while read -r pom; do"
    ' (cd "${pom%/*}" && rm -rf target/classes target/test-classes target/maven-status); done'
)
"""The compiler plugin leaves classes of files that are gone, and such as were compiled against others."""
_CHOSEN = f"{BUILD_FOLDER}/maven"
_BUILD = f"""\
mkdir -p {BUILD_FOLDER}; touch {_CHOSEN}
if ! MVN $(cat {_CHOSEN}) -q -DskipTests test > {_CHOSEN}.log 2>&1; then
  if test -f {DEBIAN} && grep -Eq "could not be resolved|Could not (transfer|find) artifact" {_CHOSEN}.log; then
    echo "-s {DEBIAN}" > {_CHOSEN}
    MVN $(cat {_CHOSEN}) -q -DskipTests test
  else
    cat {_CHOSEN}.log
    exit 1
  fi
fi"""
"""Where neither the user's own repository nor the network has what Maven needs, it is looked for in Debian's packages;
that is remembered for the tests, and for other versions in this slot.
"""
_TEST = (
    f': > "$AFTERD_RUN/begun"; MVN $(cat {_CHOSEN}) -Dmaven.test.failure.ignore=true -DtrimStackTrace=false "$@" test;'
    f' ended=$?; mkdir -p "$AFTERD_RUN/{_REPORTS}";'
    ' find . -path "*/target/surefire-reports/TEST-*.xml" -newer "$AFTERD_RUN/begun"'
    f' -exec cp --parents {{}} "$AFTERD_RUN/{_REPORTS}" ";"; test $ended = 0 || exit $ended;'
    f' grep -rq "<testcase" "$AFTERD_RUN/{_REPORTS}" || {{ printf "\\nNo tests were found!!!\\n"; exit 1; }};'
    f' ! grep -rqE "<(failure|error)[ >]" "$AFTERD_RUN/{_REPORTS}"'
)
_PLAIN = re.compile(r"(?P<type>[\w.$]+)\.(?P<method>[\w$]+)")
_OF_CLASS = re.compile(r"(?P<type>(?:[a-z_]\w*\.)*[\w$]+)\.")


class Maven:
    """Projects with a ``pom.xml`` at the top, of one module or several.

    A test's id is its class and method, as Surefire's reports name them: ``p.SumTest.adds``.
    """

    name = "Maven"

    def detect(self, root: Path) -> Detected | None:
        """By a pom.xml and a Java file of tests."""
        if not has(root, "pom.xml") or not any(root.glob("**/src/test/**/*.java")):
            return None
        start = "$(command -v mvn || echo sh ./mvnw)" if has(root, "mvnw") else "mvn"
        build, test = (each.replace("MVN", f"{start} -B {_SKIPPED}") for each in (_BUILD, _TEST))
        return Detected(
            self.name,
            script(_CLEAN, build),
            ("sh", "-c", test, "maven"),
            "Found pom.xml: building and testing with Maven.",
        )

    def failing_tests(self, result: ProcessResult) -> tuple[str, ...]:
        """Those that Surefire's reports say failed."""
        return failed_names(_reports(result))

    def written_reports(
        self,
        result: ProcessResult,
        command: Sequence[str],  # noqa: ARG002 - the protocol's signature
        folder: Path,  # noqa: ARG002 - the protocol's signature
    ) -> tuple[TestReport, ...]:
        """Surefire's reports, of all modules."""
        return _reports(result)

    def one_test(self, detected: Detected, test_id: str) -> tuple[str, ...]:
        """The method, in whichever module it is; all of its class where its name is more than a method's."""
        if match := _PLAIN.fullmatch(test_id):
            wanted = f"{match['type']}#{match['method']}"
        elif match := _OF_CLASS.match(test_id):
            wanted = match["type"]
        else:
            return detected.test
        none = ("-DfailIfNoTests=false", "-Dsurefire.failIfNoSpecifiedTests=false")
        return (*detected.test, f"-Dtest={wanted}", *none)


def _reports(result: ProcessResult) -> tuple[TestReport, ...]:
    return reports_below(result.directory / _REPORTS, begin_of_run(result))
