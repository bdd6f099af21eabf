"""Make by itself, and make behind a configure script."""

from __future__ import annotations

import re
from pathlib import Path

from afterd.execution.failures.suites import Family, failed_tests
from afterd.execution.process import ProcessResult
from afterd.execution.runners.makefiles import makefile_text
from afterd.execution.runners.npm_scripts import scripts_of
from afterd.execution.runners.protocol import Detected
from afterd.execution.runners.reading import MAKEFILES, has, has_target, jobs, script, text
from afterd.execution.runners.version_file import archive_version_files

_ENTERING = re.compile(r"^g?make(?:\[\d+\])?: Entering directory ['`](.*)'$", re.MULTILINE)
_MAKING = re.compile(
    r"^Making \S+ in (?P<folder>\S+)\ng?make\[\d+\]: Entering directory ['`](?P<path>.*)'$",
    re.MULTILINE,
)
_MAKERS = ("autogen.sh", "bootstrap", "bootstrap.sh", "buildconf", "buildconf.sh")
_RULE = re.compile(r"^([\w-][\w./-]*)[ \t]*::?(?!=)([^\n]*)", re.MULTILINE)
_SAFE = re.compile(r"[\w./+@-]+")


class Autotools:
    """Projects with a configure script, or what autoconf makes one of."""

    name = "autotools"

    def detect(self, root: Path) -> Detected | None:
        """By configure or configure.ac, with a Makefile.am or Makefile.in."""
        source = has(root, "configure", "configure.ac", "configure.in")
        template = has(root, "Makefile.am", "Makefile.in")
        if not source or not template:
            return None
        target = "check" if template == "Makefile.am" else _target(text(root / template)) or "check"
        return Detected(
            self.name,
            script(
                # Autoconf leaves a configure behind where it failed, which would stand for a whole one.
                f"test -x configure || {_made_by(root)} || {{ rm -f configure; exit 1; }}",
                "test -f Makefile || ./configure",
                f"make -j{jobs()}",
            ),
            ("make", "-k", target),  # else the folders behind a red one are not come to
            f"Found {source} and {template}: building with ./configure and make,"
            f" testing with `make {target}`.",
            generated=archive_version_files(root),
        )

    def failing_tests(self, result: ProcessResult) -> tuple[str, ...]:
        """From automake's lines, a test each; with the folder that make was in, where that is not the
        top: "NAME in FOLDER".
        """
        output = result.stdout.whole()
        parts = _ENTERING.split(output)
        if len(parts) == 1:
            return failed_tests(output, Family.AUTOMAKE)
        top, found = _top(output) or min(parts[1::2], key=len), list[str]()
        for folder, said in zip(parts[1::2], parts[2::2], strict=True):
            below = folder.removeprefix(top).strip("/")
            names = failed_tests(said, Family.AUTOMAKE)
            found += [f"{name} in {below}" if below else name for name in names]
        return tuple(dict.fromkeys(found))

    def one_test(self, detected: Detected, test_id: str) -> tuple[str, ...]:
        """Automake's `make check TESTS=…`, which prints the log of a test that fails; the whole suite for a name that
        make would expand.
        """
        name, _, folder = test_id.partition(" in ")
        if not _SAFE.fullmatch(name) or not _SAFE.fullmatch(folder or "."):
            return detected.test
        make, *target = detected.test
        return (make, *(("-C", folder) if folder else ()), *target, f"TESTS={name}", "VERBOSE=1")


class Make:
    """Projects with a makefile of their own that has a target for tests."""

    name = "make"

    def detect(self, root: Path) -> Detected | None:
        """By a makefile with a rule for check, test or tests; one that runs what npm installs is npm's to prepare."""
        name = has(root, *MAKEFILES)
        makefile = makefile_text(root, name) if name else ""
        target = _target(makefile)
        if not target or ("node_modules" in makefile and "test" in scripts_of(root)):
            return None
        test = ("make", target)
        if _default(makefile) == target:
            sentence = (
                f"Found {name}: building and testing with `make {target}`, which is its first rule."
            )
            return Detected(self.name, (), test, sentence)
        # What the plain `make` tests as well would be a version that does not build: that target counts as made.
        left = ("-o", target) if _is_made_by_default(makefile, target) else ()
        built = " ".join(("make", *left))
        return Detected(
            self.name,
            ("make", f"-j{jobs()}", *left),
            test,
            f"Found {name}: building with `{built}`, testing with `make {target}`.",
        )

    def failing_tests(self, result: ProcessResult) -> tuple[str, ...]:
        """From lines such as ``FAIL: name``, where the makefile's tests print them; for the reader."""
        return failed_tests(result.stdout.whole(), Family.AUTOMAKE)

    def one_test(self, detected: Detected, test_id: str) -> tuple[str, ...]:  # noqa: ARG002 - a
        # makefile has no common way to run one test
        """The whole suite."""
        return detected.test


def _top(output: str) -> str:
    """Where the first make ran, which says of no folder that it enters it: automake's rule names the one
    below it. Empty where it is not said.
    """
    said = _MAKING.search(output)
    if said is None or said["folder"] == ".":
        return said["path"] if said else ""
    return said["path"].removesuffix(f"/{said['folder']}")


def _made_by(root: Path) -> str:
    """What makes configure: the project's own script, which knows more than autoreconf."""
    name = has(root, *_MAKERS)
    return f"NOCONFIGURE=1 sh ./{name}" if name else "autoreconf --install --force"


def _rules(makefile: str) -> list[tuple[str, str]]:
    """What each rule makes, and of what."""
    return _RULE.findall(makefile.replace("\\\n", " "))


def _default(makefile: str) -> str:
    """What is made where no target is named; empty where there is no rule."""
    rules = _rules(makefile)
    return rules[0][0] if rules else ""


def _is_made_by_default(makefile: str, target: str) -> bool:
    """Whether what is made where no target is named has this one among what it needs."""
    default = _default(makefile)
    needed = [needs for made, needs in _rules(makefile) if made in ("all", default)]
    return any(target in needs.split("#")[0].split() for needs in needed)


def _target(makefile: str) -> str:
    return has_target(makefile, "check", "test", "tests")
