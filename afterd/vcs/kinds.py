"""What a file is for, told from its path by the usual conventions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache

from afterd.model.change import FileKind

# A pattern that ends in "/" names a directory at any depth, one that starts with "/" is anchored at
# the root, one with an inner "/" is the whole path ("*" crosses "/"), any other is a file name.
TESTS = (
    *("test/", "tests/", "__tests__/", "testdata/", "test-data/", "testsuite/", "/t/", "spec/"),
    *("test_*", "test-*", "*_test.*", "*_tests.*", "*-test.*", "*_unittest.*", "*.test.*"),
    *("*.spec.*", "*_spec.*", "*Test.java", "*Tests.java", "*Test.kt", "*Tests.cs", "*Test.php"),
    *("conftest.py", "tests.py", "*.t", "/test.*", "/tests.*", "test.sh", "tests.sh"),
    *("runtests*", "run-tests*", "run_tests*"),
)
BUILD = (
    *("Makefile*", "makefile", "GNUmakefile", "*.mk", "*.mak", "CMakeLists.txt", "*.cmake"),
    *("configure", "configure.*", "*.am", "*.ac", "*.m4", "autogen.sh", "bootstrap", "install-sh"),
    *("config.guess", "config.sub", "ltmain.sh", "depcomp", "*.h.in", "*.pc.in", "meson.build"),
    *("meson_options.txt", "meson.options", "BUILD", "BUILD.bazel", "WORKSPACE", "*.bzl", "*.gn"),
    *("*.gni", "SConstruct", "SConscript", "wscript", "*.pro", "*.vcxproj", "*.sln", "Dockerfile*"),
    *("setup.py", "setup.cfg", "pyproject.toml", "requirements*.txt", "tox.ini", "noxfile.py"),
    *("MANIFEST.in", "Pipfile*", "poetry.lock", "uv.lock", "package.json", "package-lock.json"),
    *("yarn.lock", "pnpm-lock.yaml", "tsconfig*.json", "Cargo.toml", "Cargo.lock", "build.rs"),
    *("go.mod", "go.sum", "pom.xml", "*.gradle", "*.gradle.kts", "gradle.properties", "Gemfile*"),
    *("Rakefile", "composer.json", "composer.lock", "conanfile.*", "vcpkg.json", "justfile"),
    *("/.github/", "/.gitlab-ci.yml", "/.travis.yml", "Jenkinsfile"),
)
DOCS = (
    *("doc/", "docs/", "man/", "*.md", "*.rst", "*.adoc", "*.texi", "*.tex", "*.[1-8]", "*.man"),
    *("README*", "CHANGELOG*", "ChangeLog*", "CHANGES*", "NEWS*", "HISTORY*", "LICENSE*"),
    *("LICENCE*", "COPYING*", "AUTHORS*", "CONTRIBUTORS*", "CONTRIBUTING*", "INSTALL*", "THANKS*"),
    *("TODO*", "MAINTAINERS*", "CODEOWNERS", "SECURITY*"),
)
DATA = (
    *("*.json", "*.yaml", "*.yml", "*.toml", "*.ini", "*.cfg", "*.conf", "*.csv", "*.tsv", "*.xml"),
    *("*.txt", "*.dat", "*.bin", "*.png", "*.jpg", "*.jpeg", "*.gif", "*.svg", "*.ico", "*.pdf"),
    *("*.gz", "*.bz2", "*.xz", "*.zip", "*.tar", "*.whl", "*.jar", "*.so", "*.a", "*.o", "*.po"),
    *("*.mo", "*.pem", "*.ttf", "*.woff*", "*.wav", "*.mp3", "*.lock", ".git*", ".editorconfig"),
    *(".mailmap", "VERSION"),
)


@dataclass(frozen=True, slots=True)
class FileRules:
    """Patterns for each kind of file (first match in this order wins; the rest is SOURCE).

    ``keep_tests``: every variant has the test files of the bad version, because the failing test
    must exist in the green one; when false they take part in reversion like any other file.
    ``program``: files of the program, whatever tests their names look like.
    ``docstrings_are_comments``: a change of a Python docstring cannot matter.
    """

    tests: tuple[str, ...] = TESTS
    build: tuple[str, ...] = BUILD
    docs: tuple[str, ...] = DOCS
    data: tuple[str, ...] = DATA
    keep_tests: bool = True
    program: frozenset[str] = frozenset()
    docstrings_are_comments: bool = False


def kind_of(path: str, rules: FileRules) -> FileKind:
    """The kind of the file at ``path`` (relative to the root, ``/`` between names)."""
    for kind, patterns in (
        (FileKind.TEST, rules.tests),
        (FileKind.BUILD, rules.build),
        (FileKind.DOCS, rules.docs),
        (FileKind.DATA, rules.data),
    ):
        if patterns and _matcher(patterns).match("/" + path):
            if kind is FileKind.TEST and path in rules.program:
                continue
            return kind
    return FileKind.SOURCE


@lru_cache(maxsize=64)
def _matcher(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """One expression for all patterns, matched against "/" + path."""
    return re.compile("|".join(map(_expression, patterns)))


def _expression(pattern: str) -> str:
    if pattern.endswith("/"):
        anchored = pattern if pattern.startswith("/") else f"*/{pattern}"
        return translate(f"{anchored}*")
    if "/" in pattern.lstrip("/"):
        return translate("/" + pattern.lstrip("/"))
    names = translate(pattern.lstrip("/")).replace(".*", "[^/]*")
    return ("/" if pattern.startswith("/") else ".*/") + names
