"""Ruby: Minitest and test-unit, by rake where the Rakefile can be loaded, and RSpec."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from afterd.execution.process import ProcessResult
from afterd.execution.runners.protocol import Detected
from afterd.execution.runners.reading import has, text

_BETWEEN = " > "
_REPORT = "afterd-rspec.json"
_ROOT = "afterd-root"
_HERE = "./"
_FILES = '"test/**/{test_*,*_test}.rb"'
_BUNDLED = (
    'unset TESTOPTS; bundled=; if test -f Gemfile && bundle check >"$AFTERD_RUN/bundle" 2>&1;'
    f' then bundled="bundle exec"; fi; pwd -P >"$AFTERD_RUN/{_ROOT}"; '
)
_UNITS = (
    f"{_BUNDLED}if test -f Rakefile && $bundled rake --dry-run test >/dev/null 2>&1;"
    ' then exec $bundled rake test ${1:+"TESTOPTS=$1"}; fi; test $# = 0 || shift;'
    f" exec $bundled ruby -Ilib -Itest -e 'Dir[{_FILES}].sort.each {{ |file| require File.expand_path(file) }}'"
    ' -- "$@"'
)
"""The tests of the work tree; the first argument is all others as a shell reads them, for rake."""
_SPECS = f'{_BUNDLED}exec $bundled rspec --format progress --format json --out "$AFTERD_RUN/{_REPORT}" "$@"'
_FAILED = re.compile(
    r"^ *\d+\) (?:Failure|Error):\n(?P<minitest>\S.*?)(?: \[.*\])?:$"
    r"|^(?:Failure|Error): (?P<unit>test[^#\n]*\([A-Z][\w:]*\))(?::? .*)?$",
    re.MULTILINE,
)
_OF_UNIT = re.compile(r"(?P<name>test[^#]*)\((?P<case>[A-Z][\w:]*)\)")
_ONE = (
    'sh -c "$0" "$@" >"$AFTERD_RUN/said"; status=$?; cat "$AFTERD_RUN/said";'
    ' test -s "$AFTERD_RUN/said" || echo "0 tests, 0 assertions"; exit $status'
)
"""As test-unit says nothing where no test has the name, and passes."""


class Ruby:
    """Projects with tests in ``test`` or specs in ``spec``.

    A test's id is its class and method as its framework writes them, a spec's its file and full title.
    """

    name = "Ruby"

    def detect(self, root: Path) -> Detected | None:
        """By files named as Minitest, test-unit or RSpec name them, and what makes it a Ruby project."""
        if not has(root, "Rakefile", "Gemfile", ".rspec") and not any(root.glob("*.gemspec")):
            return None
        if any((root / "spec").rglob("*_spec.rb")):
            command, what = ("sh", "-c", _SPECS, "rspec"), "RSpec"
        elif any((root / "test").rglob("test_*.rb")) or any((root / "test").rglob("*_test.rb")):
            command, what = ("sh", "-c", _UNITS, "ruby"), "`rake test`, or `ruby` without rake"
        else:
            return None
        folder = "spec" if what == "RSpec" else "test"
        return Detected(
            self.name, (), command, f"Found Ruby's tests in {folder}/: testing with {what}."
        )

    def failing_tests(self, result: ProcessResult) -> tuple[str, ...]:
        """From RSpec's report, or what Minitest and test-unit print; paths as below the checkout."""
        root = text(result.directory / _ROOT).strip()
        here = re.compile(
            re.sub(r"[^A-Za-z0-9/]", ".", root) + "/"
        )  # a name may have "_" for its dots
        found = list(_failed_examples(text(result.directory / _REPORT)))
        for match in _FAILED.finditer(result.stdout.whole()):
            name = match["minitest"] or match["unit"]
            found.append(here.sub(_HERE, name) if root else name)
        return tuple(dict.fromkeys(found))

    def one_test(self, detected: Detected, test_id: str) -> tuple[str, ...]:
        """The one of that name; of Minitest and test-unit all files are loaded for it."""
        *command, every, name = detected.test
        if name == "rspec":
            file, _, title = test_id.partition(_BETWEEN)
            only = ("--example-matches", f"^{re.escape(title)}$") if title else ()
            return (*command, every, name, *only, file)
        unit = _OF_UNIT.fullmatch(test_id)
        wanted = re.escape(unit["name"] if unit else test_id).replace("/", r"\/")
        wanted = wanted.replace(r"\.\/", r".*\/")  # the checkout's path is in the name
        options = [f"--name=/^{wanted}$/", *([f"--testcase={unit['case']}"] if unit else [])]
        return (*command, _ONE, every, name, shlex.join(options), *options)


def _failed_examples(report: str) -> Iterator[str]:
    try:
        examples = json.loads(report)["examples"]
    except (ValueError, KeyError, TypeError):
        return
    for example in examples:
        if example.get("status") == "failed":
            file = str(example.get("file_path", "")).removeprefix("./")
            yield f"{file}{_BETWEEN}{example.get('full_description', '')}"
