"""How a repository is tested, and one test of it: with the real tools where they are."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from npm_packages import NoNpmError, npm

from afterd.errors import TestError
from afterd.execution.failures.pytest_reports import FILE_NAME, read_reports
from afterd.execution.process import Command, Ending, ProcessResult
from afterd.execution.recipe import Recipe
from afterd.execution.runners import RUNNERS, Detected, detect, runner_named
from afterd.execution.runners.go_module import module_file
from afterd.execution.runners.npm_ava import failed_titles
from afterd.execution.runners.plugins import afterd_outcomes
from afterd.execution.runners.python import python_path
from afterd.execution.runners.unittest import test_under_way as under_way
from afterd.execution.sandbox import run
from afterd.execution.verdict import judge
from afterd.limits import ProcessLimits
from afterd.model.outcome import Unresolved

LIMITS = ProcessLimits(timeout=120.0)


def write(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


PYTEST_TEST = "import pytest\ndef test_a(): pass\n"
UNITTEST = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n"
MAKE_CHECK = "all:\n\ttrue\ncheck: all\n\t./t.sh\n"
MANAGE = """\
import os, sys
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings")
from django.core.management import execute_from_command_line
execute_from_command_line(sys.argv)
"""

FOUND = [
    ("pytest", {"pytest.ini": "[pytest]\n"}),
    ("pytest", {"pyproject.toml": "[tool.pytest.ini_options]\n"}),
    ("pytest", {"setup.cfg": "[tool:pytest]\n", "setup.py": ""}),
    ("pytest", {"tox.ini": "[tox]\n[pytest]\n"}),
    ("pytest", {"tests/conftest.py": ""}),
    ("pytest", {"pyproject.toml": "[project]\n", "tests/test_a.py": PYTEST_TEST}),
    ("pytest", {"setup.py": "", "test_a.py": "def test_a(): pass\n"}),
    ("pytest", {"pyproject.toml": "[project]\n[tool.pytest]\n", "meson.build": "project('x')"}),
    ("unittest", {"tests/test_a.py": UNITTEST}),
    ("unittest", {"setup.py": "", "tests/unit/test_a.py": UNITTEST}),
    ("unittest", {"test_a.py": UNITTEST}),
    ("unittest", {"setup.py": "", "tests/a_test.py": UNITTEST}),
    ("unittest", {"setup.py": "", "pkg/a_test.py": UNITTEST}),
    (
        "pytest",
        {"setup.cfg": "[aliases]\ntest=pytest\n", "setup.py": "", "tests/a_test.py": UNITTEST},
    ),
    ("Django", {"manage.py": MANAGE, "shop/tests.py": UNITTEST}),
    (
        "Django",
        {"setup.py": "", "tests/runtests.py": "import django\n", "tests/test_a.py": UNITTEST},
    ),
    ("pytest", {"manage.py": MANAGE, "pytest.ini": "[pytest]\n"}),
    ("unittest", {"runtests.py": "import unittest\n", "test_a.py": UNITTEST}),
    ("Cargo", {"Cargo.toml": "[package]\n", "Makefile": MAKE_CHECK}),
    ("Go", {"x.go": "package x\n", "a/a_test.go": "package a\n", "Makefile": MAKE_CHECK}),
    ("make", {"tool/a.go": "package a\n", "tool/a_test.go": "package a\n", "Makefile": MAKE_CHECK}),
    ("Go", {"go.mod": "module x\n", "Makefile": MAKE_CHECK}),
    ("Meson", {"meson.build": "test('x', e)\n", "Makefile": MAKE_CHECK}),
    ("Meson", {"meson.build": "", "t/meson.build": "rust.test (\n'x')", "Makefile": MAKE_CHECK}),
    ("make", {"meson.build": "# test('x', e)\nlatest(1)\n", "Makefile": MAKE_CHECK}),
    (
        "make",
        {"meson.build": "", "subprojects/s/meson.build": "test('s', e)", "Makefile": MAKE_CHECK},
    ),
    ("CTest", {"test/CMakeLists.txt": "project(x)\nadd_executable(x_test a.c)\n"}),
    (
        "make",
        {"CMakeLists.txt": "project(x)\nadd_executable(t_test a.c)\n", "Makefile": MAKE_CHECK},
    ),
    ("CTest", {"CMakeLists.txt": "enable_testing()\nadd_test(NAME a COMMAND a)\n"}),
    ("CTest", {"CMakeLists.txt": "include(CTest)\n", "tests/conftest.py": ""}),
    ("autotools", {"configure": "#!/bin/sh\n", "Makefile.in": "check:\n", "conftest.py": ""}),
    ("autotools", {"configure.ac": "AC_INIT\n", "Makefile.am": "TESTS = a\n"}),
    ("make", {"Makefile": MAKE_CHECK, "package.json": '{"scripts": {"test": "tap"}}'}),
    ("make", {"GNUmakefile": ".PHONY: test\ntest:\n\t./t.sh\n"}),
    ("make", {"Makefile": "build clean test :: x\n"}),
    (
        "npm",
        {
            "Makefile": "test:\n\t./node_modules/.bin/mocha\n",
            "package.json": '{"scripts": {"test": "make test"}}',
        },
    ),
    (
        "make",
        {
            "Makefile": "T = t/\n-include $(O:%.o=%.d)\ninclude $(T)m\n",
            "t/m": "check: all\n\t./t.sh\n",
        },
    ),
    ("npm", {"package.json": '{"scripts": {"test": "node --test"}}'}),
]


@pytest.mark.parametrize(("name", "files"), FOUND)
def test_what_is_found(tmp_path: Path, name: str, files: Mapping[str, str]) -> None:
    found = detect(write(tmp_path, files))
    assert found.runner == name
    assert found.test
    assert found.sentence.startswith("Found ")
    assert found.sentence.endswith(".")
    assert runner_named(found.runner).name == name


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"README.md": "test:\n"},
        {"Makefile": "all:\n\techo test: none\ntest_dir = x\ntest := y\n"},
        {"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'},
        {"package.json": "{"},
        {"CMakeLists.txt": "project(x)\n"},
        {"pyproject.toml": "[project\n", "tests/test_a.py": "x = 1\n"},
        {"Makefile": "\x00\xff"},
    ],
)
def test_nothing_is_found_and_the_sentence_says_what_to_do(
    tmp_path: Path, files: Mapping[str, str]
) -> None:
    with pytest.raises(TestError, match="name the test command after --"):
        detect(write(tmp_path, files))


def carried_out(root: Path, detected: Detected, test: tuple[str, ...]) -> ProcessResult:
    """Build and test the project as the oracle does."""
    recipe = Recipe(test, detected.build, extra=detected.extra)
    if detected.build:
        built = run(recipe.build_in(root), LIMITS, scratch=root.parent)
        assert built.succeeded, built.stdout.text()
    return run(recipe.test_in(root), LIMITS, scratch=root.parent)


def failing_of(root: Path) -> tuple[Detected, tuple[str, ...]]:
    found = detect(root)
    result = carried_out(root, found, found.test)
    assert result.ending is Ending.EXITED, result.describe()
    return found, runner_named(found.runner).failing_tests(result)


def check_one_by_one(root: Path, expected: set[str], passing: str) -> None:
    """The suite names its failing tests; each fails alone, and another passes alone."""
    found, failing = failing_of(root)
    assert set(failing) == expected
    runner = runner_named(found.runner)
    for test in failing:
        assert carried_out(root, found, runner.one_test(found, test)).status not in (0, 4, 5)
    assert carried_out(root, found, runner.one_test(found, passing)).succeeded


def test_pytest(tmp_path: Path) -> None:
    """Parametrised, in a class, at collection and in a fixture; the slot's package is imported."""
    test = "import pytest\nfrom pkg import value\n"
    test += "@pytest.mark.parametrize('x', ['a b', 'c[d]', 'é'])\n"
    test += "def test_each(x): assert x == 'a b'\n"
    test += "class TestC:\n    def test_in(self): assert value == 2\n    def test_ok(self): pass\n"
    test += "@pytest.fixture\ndef broken(): raise ValueError\ndef test_fixture(broken): pass\n"
    test += "@pytest.mark.xfail\ndef test_expected(): assert 0\n"
    files = {"pyproject.toml": "[project]\n", "src/pkg/__init__.py": "value = 1\n"}
    files |= {"tests/test_a.py": test, "tests/test_b.py": "import absent\n"}
    expected = {
        "tests/test_a.py::test_each[c[d]]",
        "tests/test_a.py::test_each[\\xe9]",
        "tests/test_a.py::TestC::test_in",
        "tests/test_a.py::test_fixture",
        "tests/test_b.py",
    }
    root = write(tmp_path, files)
    found, failing = failing_of(root)
    assert set(failing) == expected
    runner = runner_named("pytest")
    alone = carried_out(root, found, runner.one_test(found, "tests/test_a.py::TestC::test_in"))
    assert alone.status == 1
    assert carried_out(
        root, found, runner.one_test(found, "tests/test_a.py::test_each[a b]")
    ).succeeded


def test_pytest_names_the_test_that_took_the_interpreter_with_it(tmp_path: Path) -> None:
    test = "import os\ndef test_a(): pass\ndef test_b(): os.abort()\ndef test_c(): pass\n"
    root = write(tmp_path, {"setup.py": "", "test_a.py": test})
    found = detect(root)
    result = carried_out(root, found, found.test)
    assert runner_named("pytest").failing_tests(result) == ("test_a.py::test_b",)


@pytest.mark.parametrize(
    ("test", "kind", "message", "place"),
    [
        (
            "def test_a():\n    x = 3\n    assert x == 5\n",
            "assertion",
            "assert x == 5",
            "test_a.py",
        ),
        ("def test_a():\n    from m import f\n    f()\n", "exception", "KeyError: 'k'", "m.py"),
        ("import absent\n", "exception", "ModuleNotFoundError: No module named 'absent'", ""),
        # What exits while it is imported ends pytest itself, of which it says that no test ran.
        ("import leaves\n", "exception", "SystemExit: N", "leaves.py"),
        (
            "import pytest\npytest.exit('no database')\n",
            "exception",
            "Exit: no database",
            "test_a.py",
        ),
    ],
)
def test_a_failure_is_the_same_however_pytest_prints_it(
    tmp_path: Path, test: str, kind: str, message: str, place: str
) -> None:
    files = {"pytest.ini": "", "test_a.py": test, "m.py": "def f():\n    return {}['k']\n"}
    files["leaves.py"] = "import sys\ndef check():\n    sys.exit(2)\ncheck()\n"
    root = write(tmp_path, files)
    found = detect(root)
    for style in ("--tb=long", "--tb=no"):
        extra = {**found.extra, "PYTEST_ADDOPTS": style}
        result = run(Recipe(found.test, extra=extra).test_in(root), LIMITS, scratch=root.parent)
        signature = judge(result, "t", (str(root),)).signature
        assert signature is not None
        assert (signature.kind, signature.message, signature.file) == (kind, message, place)
        assert signature.test.startswith("test_a.py")


HOSTILE_LINES = (
    b'{"id": "a", "when": "call", "outcome": "failed", "frames": [["x", 1]]}\n'
    b'{"id": "a", "when": "call", "outcome": "failed", "frames": 7}\n'
    b'{"when": "call"}\n[]\n"x"\n\xff\xfe\n' + b"[" * 5000 + b"\n"
    b'{"id": "b", "when": "call", "outcome": "failed", "message": "m"}\n{"id": "c", "wh'
)


def test_lines_that_a_hostile_or_killed_test_wrote_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(HOSTILE_LINES)
    assert [report.test for report in read_reports(tmp_path)] == ["b"]


def test_the_plugin_and_its_reader_agree_on_the_file() -> None:
    assert afterd_outcomes.FILE_NAME == FILE_NAME


def test_the_slot_comes_before_an_editable_install(tmp_path: Path) -> None:
    """An installed package of the same name must not be tested in the variant's place."""
    assert python_path(write(tmp_path, {"src/a.py": ""})) == "{slot}/src:{slot}"
    assert python_path(tmp_path / "src") == "{slot}"


def test_unittest(tmp_path: Path) -> None:
    test = "import unittest\nfrom pkg import value\nclass T(unittest.TestCase):\n"
    test += "    def test_ok(self): pass\n    def test_bad(self): self.assertEqual(value, 2)\n"
    test += "    def test_sub(self):\n        for i in range(2):\n"
    test += "            with self.subTest(i=i): self.assertEqual(i, 7)\n"
    test += "class U(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls): 1 / 0\n"
    test += "    def test_x(self): pass\n"
    files = {"pkg/__init__.py": "value = 1\n", "tests/__init__.py": "", "tests/test_a.py": test}
    files |= {"tests/test_b.py": "import absent\n"}
    expected = {"tests.test_a.T.test_bad", "tests.test_a.T.test_sub", "tests.test_a.U"}
    check_one_by_one(write(tmp_path, files), {*expected, "tests.test_b"}, "tests.test_a.T.test_ok")


@pytest.mark.parametrize(
    ("report", "named"),
    [
        ("test_a (m.C.test_a) ... ok\ntest_b (m.C.test_b) ... ", "m.C.test_b"),
        ("test_b (m.C) ... ", "m.C.test_b"),  # before Python 3.11
        ("test_b (m.C.test_b)\nIt counts. ... at work\n", "m.C.test_b"),
        ("test_a (m.C.test_a) ... ok\ntest_b (m.C.test_b) ... printed\nFAIL\n", ""),
        ("test_b (m.C.test_b) ... skipped 'no'\n", ""),
        ("test_b (m.C.test_b) ... ok\n", ""),
        ("..F.", ""),
    ],
)
def test_the_unittest_that_was_under_way(report: str, named: str) -> None:
    assert under_way(report) == named


def test_django(tmp_path: Path) -> None:
    """By labels; what a project's settings and applications are is Django's affair."""
    test = "from django.test import SimpleTestCase\nfrom shop import value\n"
    test += "class TestA(SimpleTestCase):\n    def test_ok(self): pass\n"
    test += "    def test_bad(self): self.assertEqual(value, 2)\n"
    files = {"manage.py": MANAGE, "settings.py": "SECRET_KEY = 'x'\nINSTALLED_APPS = ['shop']\n"}
    root = write(tmp_path, {**files, "shop/__init__.py": "value = 1\n", "shop/tests.py": test})
    check_one_by_one(root, {"shop.tests.TestA.test_bad"}, "shop.tests.TestA.test_ok")


def test_django_in_a_folder_of_its_own(tmp_path: Path) -> None:
    """As many a package of Django's has a project to test it with: its modules have their names there."""
    test = "from django.test import SimpleTestCase\nfrom shop import value\n"
    test += "class TestA(SimpleTestCase):\n    def test_ok(self): pass\n"
    test += "    def test_bad(self): self.assertEqual(value, 2)\n"
    files = {"manage.py": MANAGE, "settings.py": "SECRET_KEY = 'x'\nINSTALLED_APPS = ['own']\n"}
    files |= {"own/__init__.py": "", "own/tests.py": test}
    inside = {f"tests/{name}": text for name, text in files.items()}
    root = write(tmp_path, {**inside, "shop/__init__.py": "value = 1\n", "setup.py": ""})
    check_one_by_one(root, {"own.tests.TestA.test_bad"}, "own.tests.TestA.test_ok")


TOX = """\
[testenv]
setenv =
    PYTHONWARNINGS = all
    {variable}
    OTHER = {{envtmpdir}}/x
commands =
    python -m pip list
    {command}
    coverage report
"""


@pytest.mark.parametrize(
    ("variable", "command"),
    [
        ("", "coverage run -m django test --settings=tests.settings {{posargs}}"),
        (
            "",
            "python -W error -m django test --settings tests.settings -v 3 --failfast tests.test_a",
        ),
        (
            "DJANGO_SETTINGS_MODULE = tests.settings",
            "django-admin test --parallel {{posargs:tests}}",
        ),
        (
            "DJANGO_SETTINGS_MODULE=tests.settings",
            "{{envpython}} -m django test --pattern test_*.py",
        ),
    ],
)
def test_django_without_a_project(tmp_path: Path, variable: str, command: str) -> None:
    """Many a package of Django's has settings beside its tests, which tox names: without these its modules could not
    be imported, and all were "red before" (django-taggit).
    """
    test = "import unittest\nfrom django.test import TestCase\nfrom shop.models import A, value\n"
    test += "class TestA(TestCase):\n    def test_ok(self): pass\n"
    test += "    def test_bad(self): self.assertEqual(value, 2)\n"
    database = "DATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3'}}\n"
    models = "from django.db import models\nvalue = 1\nclass A(models.Model):\n"
    models += "    id = models.AutoField(primary_key=True)\n"
    settings = f"SECRET_KEY = 'x'\nINSTALLED_APPS = ['shop']\n{database}"
    files = {"tests/settings.py": settings, "tests/__init__.py": "", "tests/test_a.py": test}
    files |= {"setup.py": "", "shop/__init__.py": "", "shop/models.py": models}
    files |= {"tox.ini": TOX.format(variable=variable, command=command.format())}
    root = write(tmp_path, files)
    assert detect(root).runner == "Django"
    check_one_by_one(root, {"tests.test_a.TestA.test_bad"}, "tests.test_a.TestA.test_ok")


def test_a_script_that_takes_no_labels_runs_all(tmp_path: Path) -> None:
    """As many a package of Django's has one: one of its tests cannot be run alone."""
    script = "import django\nfrom django.test.utils import get_runner\n"
    found = detect(write(tmp_path, {"runtests.py": script, "setup.py": ""}))
    assert runner_named("Django").one_test(found, "a.b.C.test") == found.test
    found = detect(write(tmp_path, {"runtests.py": f"import sys\n{script}run(sys.argv[1:])\n"}))
    assert runner_named("Django").one_test(found, "a.b.C.test") == (*found.test, "a.b.C.test")


def test_unittest_inside_the_package(tmp_path: Path) -> None:
    test = "import unittest\nfrom pkg import value\nclass TestA(unittest.TestCase):\n"
    test += "    def test_ok(self): pass\n    def test_bad(self): self.assertEqual(value, 2)\n"
    files = {"pkg/__init__.py": "value = 1\n", "pkg/tests/__init__.py": ""}
    root = write(tmp_path, {**files, "pkg/tests/test_a.py": test, "setup.py": ""})
    bad = "pkg.tests.test_a.TestA.test_bad"
    check_one_by_one(root, {bad}, "pkg.tests.test_a.TestA.test_ok")


def test_unittest_in_files_that_end_with_test(tmp_path: Path) -> None:
    """Google's way to name them (textfsm): no tests were found."""
    test = "import unittest\nfrom pkg import value\nclass TestA(unittest.TestCase):\n"
    test += "    def test_ok(self): pass\n    def test_bad(self): self.assertEqual(value, 2)\n"
    files = {"pkg/__init__.py": "value = 1\n", "tests/__init__.py": "", "setup.py": ""}
    root = write(tmp_path, {**files, "tests/value_test.py": test})
    check_one_by_one(root, {"tests.value_test.TestA.test_bad"}, "tests.value_test.TestA.test_ok")


EXTENSION = """\
#define PY_SSIZE_T_CLEAN
#include <Python.h>
static struct PyModuleDef def = {PyModuleDef_HEAD_INIT, "fast", NULL, -1, NULL};
PyMODINIT_FUNC PyInit_fast(void) { CALL; return PyModule_Create(&def); }
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize(("call", "built"), [("PyErr_Clear()", True), ("undefined_here()", False)])
def test_an_extension_that_cannot_be_loaded_is_not_built(
    tmp_path: Path, call: str, built: bool
) -> None:
    """A package that does without it passed, and a name that nothing defines was called the cause (zope.interface)."""
    setup = "from setuptools import Extension, setup\n"
    setup += "setup(name='x', ext_modules=[Extension('fast', ['fast.c'])])\n"
    code = EXTENSION.replace("CALL", call).replace(
        "static", "extern int undefined_here(void);\nstatic", 1
    )
    files = {"setup.py": setup, "fast.c": code, "tests/test_a.py": UNITTEST}
    root = write(tmp_path, files)
    found = detect(root)
    if built:
        assert carried_out(root, found, found.test).succeeded
    else:
        with pytest.raises(AssertionError, match="undefined symbol: undefined_here"):
            carried_out(root, found, found.test)


DISCOVERS = "unittest discover -q -p '*tests.py' pkg --top-level-directory ."
SAID = [
    {
        "tox.ini": f"[tox]\n[testenv]\ncommands =\n    flake8 pkg\n    python -m {DISCOVERS} {{posargs}}\n"
    },
    {"tox.ini": f"[testenv]\ncommands = coverage run --source pkg -m \\\n  {DISCOVERS}\n"},
    {"pyproject.toml": f'[tool.hatch.envs.test.scripts]\ntest = "uv run python -m {DISCOVERS}"\n'},
    {"pyproject.toml": f'[tool.pdm.scripts]\ntest = {{cmd = "python -m {DISCOVERS}"}}\n'},
    {
        "tox.toml": '[env_run_base]\ncommands = [["python", "-m", "unittest", "discover", "-p", "*tests.py"]]\n'
    },
    {
        "noxfile.py": "def tests(session):\n    session.run('python', '-m', 'unittest', 'discover', '-p',"
        " '*tests.py', *session.posargs)\n"
    },
]


@pytest.mark.parametrize("said", SAID)
def test_unittest_is_asked_as_the_project_asks_it(tmp_path: Path, said: Mapping[str, str]) -> None:
    """What its tests are called is the project's affair: their files are found as its own command finds them."""
    test = "import unittest\nfrom pkg import value\nclass TestA(unittest.TestCase):\n"
    test += "    def test_ok(self): pass\n    def test_bad(self): self.assertEqual(value, 2)\n"
    files = {"pkg/__init__.py": "value = 1\n", "pkg/tests/__init__.py": "", **said}
    root = write(tmp_path, {**files, "pkg/tests/page_tests.py": test, "setup.py": ""})
    bad = "pkg.tests.page_tests.TestA.test_bad"
    check_one_by_one(root, {bad}, "pkg.tests.page_tests.TestA.test_ok")


def test_the_script_that_a_project_tests_itself_with(tmp_path: Path) -> None:
    """Where no runner is known; what checks its style or counts its lines is none."""
    said = "[testenv]\ncommands =\n    flake8 tests\n    coverage run -p checks/testall.py\n    coverage report\n"
    files = {"tox.ini": said, "setup.py": "", "checks/testall.py": "print('ok')\n"}
    found = detect(write(tmp_path / "a", files))
    assert (found.runner, found.test[1:]) == ("command", ("checks/testall.py",))
    with pytest.raises(TestError):
        detect(write(tmp_path / "b", {"tox.ini": said.replace("coverage run", "{[x]y}")}))


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_a_program_that_only_python_tests_is_built(tmp_path: Path) -> None:
    """By its makefile; that of a Python project does what its authors like."""
    compiling = "a: a.c\n\t$(CC) -o a a.c\n"
    files = {"Makefile": compiling, "conftest.py": ""}
    assert detect(write(tmp_path / "c", files)).build[:1] == ("make",)
    python = {**files, "pyproject.toml": "[project]\n"}
    assert detect(write(tmp_path / "python", python)).build == ()
    chores = {**files, "Makefile": "docs:\n\tsphinx-build . out\n"}
    assert detect(write(tmp_path / "chores", chores)).build == ()


def test_a_makefile_whose_first_rule_is_the_test_builds_with_it(tmp_path: Path) -> None:
    """A plain make would run the tests: one that fails was a version that does not build, one that hangs a build."""
    makefile = "CC = cc\n.PHONY: check\ncheck: prog\n\t./prog\nprog: prog.c\n\tcc -o prog prog.c\n"
    found = detect(
        write(tmp_path, {"Makefile": makefile, "prog.c": "int main(void) { return 1; }\n"})
    )
    assert (found.build, found.test) == ((), ("make", "check"))


@pytest.mark.parametrize(
    ("makefile", "left"),
    [
        (
            ".PHONY: all check\nall: lib \\\n  check\nlib:\n\ttrue\ncheck: lib\n\tfalse\n",
            ("-o", "check"),
        ),
        ("CC := cc\nlib: prog test # all of it\nprog:\n\ttrue\ntest:\n\tfalse\n", ("-o", "test")),
        ("all: lib # not check\nlib:\n\ttrue\ncheck: all\n\tfalse\nmore: check\n", ()),
    ],
)
def test_a_plain_make_that_tests_as_well_only_builds(
    tmp_path: Path, makefile: str, left: tuple[str, ...]
) -> None:
    """A failing test was a version that does not build."""
    found = detect(write(tmp_path, {"Makefile": makefile}))
    assert found.build[2:] == left
    if left:
        assert f"building with `make {' '.join(left)}`, testing with" in found.sentence
    done = run(Command(found.build, tmp_path, {"PATH": os.environ["PATH"]}), LIMITS)
    assert (done.ending, done.status) == (Ending.EXITED, 0)
    done.remove()


def test_make(tmp_path: Path) -> None:
    script = "for t in a b c; do [ $t = b ] && echo FAIL: $t || echo PASS: $t; done; exit 1"
    root = write(tmp_path, {"Makefile": f"all:\ncheck:\n\t@{script}\n".replace("$", "$$")})
    assert failing_of(root)[1] == ("b",)


@pytest.mark.skipif(
    None in (shutil.which("cmake"), shutil.which("ctest"), shutil.which("cc")), reason="no CMake"
)
def test_ctest(tmp_path: Path) -> None:
    lists = "cmake_minimum_required(VERSION 3.15)\nproject(x C)\nenable_testing()\n"
    lists += "add_executable(prog prog.c)\n"
    for name in ("ok", "bad.one", "bad+two", "badxone"):
        lists += f"add_test(NAME {name} COMMAND prog {name})\n"
    prog = "#include <assert.h>\nint main(int c, char **v) { assert(v[1][0] == 'o' || v[1][3]"
    prog += " == 'x'); return v[1][0] == 'z'; }\n"
    root = write(tmp_path, {"CMakeLists.txt": lists, "prog.c": prog})
    check_one_by_one(root, {"bad.one", "bad+two"}, "ok")


@pytest.mark.skipif(shutil.which("cargo") is None, reason="no Cargo")
def test_cargo(tmp_path: Path) -> None:
    package = '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n'
    code = "#[cfg(test)]\nmod t {\n#[test] fn ok() {}\n#[test] fn bad() { assert_eq!(1, 2); }\n"
    code += "#[test] fn bad_too() { panic!() }\n}\n"
    root = write(tmp_path, {"Cargo.toml": package, "src/lib.rs": code})
    check_one_by_one(root, {"t::bad", "t::bad_too"}, "t::ok")


@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs CMake")
@pytest.mark.parametrize("folder", [".", "test"])
def test_programs_that_ctest_was_never_told_of(tmp_path: Path, folder: str) -> None:
    """Of a header with a folder of test programs "No tests were found" (utf8.h)."""
    lists = "cmake_minimum_required(VERSION 3.15)\nproject(x C)\nadd_executable(tool ok.c)\n"
    lists += "add_executable(x_test bad.c)\nadd_executable(more_test ok.c)\n"
    files = {
        "CMakeLists.txt": lists,
        "ok.c": "int main(void){return 0;}\n",
        "bad.c": "int main(void){return 1;}\n",
    }
    root = write(tmp_path, {f"{folder}/{name}": content for name, content in files.items()})
    check_one_by_one(root, {"x_test"}, "more_test")


@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs CMake")
def test_tests_of_a_project_that_enables_no_testing(tmp_path: Path) -> None:
    """CTest was told of them and writes them down nowhere (docopt.cpp)."""
    lists = (
        "cmake_minimum_required(VERSION 3.15)\nproject(x NONE)\nadd_test(NAME bad COMMAND false)\n"
    )
    root = write(tmp_path, {"CMakeLists.txt": f"{lists}add_test(NAME good COMMAND true)\n"})
    check_one_by_one(root, {"bad"}, "good")


@pytest.mark.skipif(None in (shutil.which("npm"), shutil.which("node")), reason="no npm")
def test_npm(tmp_path: Path) -> None:
    package = '{"name": "x", "version": "1.0.0", "scripts": {"test": "node t.js"}}'
    code = "console.log('TAP version 13\\nok 1 - a\\nnot ok 2 - b c\\n1..2'); process.exit(1)\n"
    root = write(tmp_path, {"package.json": package, "t.js": code, "node_modules/x": ""})
    assert failing_of(root)[1] == ("b c",)


TAPE = """\
#!/usr/bin/env node
const asked = process.argv[2];
const files = asked.includes('*') ? require('fs').readdirSync('test').map(file => `test/${file}`) : [asked];
for (const file of files) {
  const bad = file.includes('bad'), at = require('path').resolve(file);
  console.log(bad ? `not ok 1 adds\\n  ---\\n    at: Test.<anonymous> (${at}:3:1)\\n  ...` : 'ok 1 adds');
  console.log('ok 2 more');
  if (bad) process.exitCode = 1;
}
"""


@pytest.mark.skipif(None in (shutil.which("npm"), shutil.which("node")), reason="no npm")
def test_tape(tmp_path: Path) -> None:
    """It shows whole paths: run alone, a file of which other assertions pass was "a different failure" (qs)."""
    files = {"package.json": '{"scripts": {"test": "tape \'test/*.js\'"}}'}
    files |= {"test/bad.js": "", "test/ok.js": "", "node_modules/.bin/tape": TAPE}
    root = write(tmp_path, files)
    (root / "node_modules/.bin/tape").chmod(0o755)
    found, failing = failing_of(root)
    assert failing == ("test/bad.js",)
    alone = carried_out(root, found, runner_named("npm").one_test(found, "test/bad.js"))
    assert runner_named("npm").failing_tests(alone) == failing


AVA = {
    "test.js": "import test from 'ava';\ntest('adds', t => t.is(1, 1));\n",
    "test/deep/parse.js": "import test from 'ava';\ntest('adds › one', t => t.is(1, 2));\ntest('ok', t => t.pass());\n",
    "test/deep/test-more.js": "import test from 'ava';\ntest('!no', t => { throw new Error('x'); });\n",
    "test/_util.js": "",
}


def test_ava(tmp_path: Path) -> None:
    """None of its tests had a name: `xo && ava` was "already red", as of a file some tests were new (query-string)."""
    package = {"name": "x", "type": "module", "scripts": {"test": "ava"}}
    root = write(tmp_path, {"package.json": json.dumps(package), **AVA})
    try:
        npm(root, "install", "ava@6", "--no-save", "--no-package-lock", "--ignore-scripts")
    except NoNpmError as error:
        pytest.skip(str(error))
    ids = {"test/deep/parse.js > adds › one", "test/deep/test-more.js > !no"}
    check_one_by_one(root, ids, "test/deep/parse.js > ok")
    found = failing_of(root)[0]
    gone = carried_out(
        root, found, runner_named("npm").one_test(found, "test/deep/parse.js > none")
    )
    assert judge(gone, "none", ()).reason is Unresolved.UNTESTABLE


def test_ava_of_one_file() -> None:
    """A title begins with no words of the file where one file ran."""
    assert [*failed_titles("not ok 1 - a › b\nok 2 - c\nnot ok 3 - d # TODO\n", ["test.js"])] == [
        ("test.js", "a › b")
    ]


GO = """\
{"Action":"start","Package":"m/a"}
{"Action":"run","Package":"m/a","Test":"TestX"}
{"Action":"output","Package":"m/a","Test":"TestX","Output":"x_test.go:5: no\\n"}
{"Action":"fail","Package":"m/a","Test":"TestX/sub.one"}
{"Action":"fail","Package":"m/a","Test":"TestX"}
{"Action":"fail","Package":"m/a"}
# m/b
b.go:3:2: undefined: y
{"Action":"fail","Package":"m/b"}
{"Action":"pass","Package":"m/c","Test":"TestY"}
"""
PASSED = '{"Action":"pass","Package":"m/c","Test":"TestY"}\n' * 15_000
LONG = f'{PASSED}{{"Action":"fail","Package":"m/c","Test":"TestMiddle"}}\n{PASSED}'
MESON = """\
1/4 unit / adds        OK              0.01s
2/4 unit / subtracts a FAIL            0.01s   exit status 1
3/4 slow               TIMEOUT        30.01s   killed by signal 15 SIGTERM
4/4 skip               SKIP            0.00s
Summary of Failures:

2/4 unit / subtracts a FAIL            0.01s   exit status 1
"""
AUTOMAKE = "PASS: a\nFAIL: tests/b.sh\nXFAIL: c\nERROR: d\n# FAIL:  1\n"
IN_FOLDERS = """\
Making check in m4
make[1]: Entering directory '/s/0/m4'
make[1]: Leaving directory '/s/0/m4'
Making check in tests
make[1]: Entering directory '/s/0/tests'
make[2]: Entering directory '/s/0/tests'
FAIL: suite_list
make[2]: Leaving directory '/s/0/tests'
Making check in .
make[1]: Entering directory '/s/0'
FAIL: top.sh
"""
JEST = "FAIL ./sum.test.js\n  ● adds › small numbers\n\n    expect(received)\n"


@pytest.mark.parametrize(
    ("runner", "output", "failing"),
    [
        ("Go", GO, ("m/a TestX/sub.one", "m/b")),
        ("Go", LONG, ("m/c TestMiddle",)),
        ("Meson", MESON, ("subtracts a", "slow")),
        ("autotools", AUTOMAKE, ("tests/b.sh", "d")),
        ("autotools", IN_FOLDERS, ("suite_list in tests", "top.sh")),
        (
            "autotools",
            IN_FOLDERS.split("Making check in .", maxsplit=1)[0],
            ("suite_list in tests",),
        ),
        ("npm", JEST, ("adds › small numbers",)),
        ("command", "FAIL: x\nnot ok 3 - y\n", ("x", "y")),
        *((runner.name, "", ()) for runner in RUNNERS),
        *((runner.name, "\x00{}[]\n{\n[FAIL", ()) for runner in RUNNERS),
    ],
)
def test_failing_tests_are_read_from_output(
    tmp_path: Path, runner: str, output: str, failing: tuple[str, ...]
) -> None:
    (tmp_path / "stdout").write_text(output)
    (tmp_path / "stderr").write_text("")
    result = ProcessResult(Ending.EXITED, tmp_path, status=1)
    assert runner_named(runner).failing_tests(result) == failing


@pytest.mark.parametrize(
    ("runner", "test", "command"),
    [
        ("Go", "m/a TestX/sub.one", ("-run", "^TestX$/^sub\\.one$", "m/a")),
        ("Go", "m/b", ("m/b",)),
        ("Meson", "a b", ("suite", "a b")),
        ("autotools", "tests/b.sh", ("suite", "TESTS=tests/b.sh", "VERBOSE=1")),
        ("autotools", "$(shell x)", ("suite",)),
        ("CTest", "a.b(c)", ("suite", "-R", "^a\\.b\\(c\\)$")),
        ("Cargo", "t::a", ("suite", "--tests", "--", "--exact", "t::a")),
        ("Cargo", "src/lib.rs - f (line 3)", ("suite", "--", "src/lib.rs - f (line ")),
        ("Cargo", "src/lib.rs - (line 3)", ("suite", "--", "src/lib.rs - (line ")),
        ("command", "x", ("suite",)),
    ],
)
def test_one_test(runner: str, test: str, command: tuple[str, ...]) -> None:
    suite = ("go", "test", "./...") if runner == "Go" else ("suite",)
    one = runner_named(runner).one_test(Detected(runner, (), suite, ""), test)
    assert one[-len(command) :] == command


def test_the_plugin_leaves_a_run_without_afterd_alone(tmp_path: Path) -> None:
    """PYTEST_PLUGINS may reach a pytest that a test starts itself, in another environment."""
    root = write(tmp_path, {"setup.py": "", "test_a.py": PYTEST_TEST})
    found = detect(root)
    command = Recipe(found.test, extra=found.extra).test_in(root)
    environment = {**command.environment, "AFTERD_RUN": "/nonexistent"}
    result = run(Command(command.argv, root, environment), LIMITS, scratch=root.parent)
    assert result.succeeded, result.stdout.text()


@pytest.mark.parametrize(
    ("files", "path"),
    [
        ({"a.go": 'package a // import "x.org/said"\n'}, "x.org/said"),
        ({"a.go": 'package a\n\nimport (\n\t"os"\n\tg "x.org/me/a/sub/deep"\n\t"x.org/other/sub"\n)\n',
          "sub/deep/d.go": "package deep\n", "b.go": 'package a\nimport "x.org/me/a/sub/deep"\n',
          "vendor/sub/v.go": "package v\n"}, "x.org/me/a"),
        ({"quote.go": "package quote\n", "x_test.go": 'package quote_test\nimport "x.org/me/go-quote"\n'},
         "x.org/me/go-quote"),
        ({"cli.go": "package cli\n", "y/y.go": 'package y\nimport "gopkg.in/me/cli.v1"\n'}, "gopkg.in/me/cli.v1"),
        ({"a.go": "package a\n"}, "a"),
    ],
)  # fmt: skip
def test_the_path_of_go_packages_without_modules(
    tmp_path: Path, files: dict[str, str], path: str
) -> None:
    """Of go-flags and glob "No tests were found"."""
    root = write(tmp_path, {"t_test.go": "package a\n", **files})
    assert module_file(root) == f"module {path}\n"


@pytest.mark.skipif(shutil.which("go") is None, reason="needs Go")
def test_go_without_modules_is_run(tmp_path: Path) -> None:
    code = 'package a\nimport "testing"\nimport "x.org/a/b"\nfunc TestA(t *testing.T) { if b.B() != 2 { t.Fail() } }\n'
    root = write(tmp_path, {"a_test.go": code, "b/b.go": "package b\nfunc B() int { return 1 }\n"})
    write(root, detect(root).generated)
    assert failing_of(root)[1] == ("x.org/a TestA",)


@pytest.mark.skipif(shutil.which("go") is None, reason="needs Go")
def test_one_folder_that_needs_a_module_keeps_no_other_from_its_tests(tmp_path: Path) -> None:
    """Without a go.mod nothing says which version of it: Go would run no test at all."""
    code = 'package a\nimport "testing"\nfunc TestA(t *testing.T) { t.Fail() }\n'
    yaml = 'package yaml\nimport _ "gopkg.in/absent.v2"\n'
    using = 'package b\nimport (\n\t"testing"\n\t"x.org/a/yaml"\n)\nfunc TestB(t *testing.T) { yaml.X() }\n'
    other = 'package c\nimport (\n\t"testing"\n\t_ "x.org/a"\n)\nfunc TestC(t *testing.T) { t.Fail() }\n'
    files = {"a.go": "package a\n", "a_test.go": code, "yaml/y.go": yaml, "b/b_test.go": using}
    root = write(tmp_path, {**files, "c/c_test.go": other})
    found = detect(root)
    assert "not yaml, which needs gopkg.in/absent.v2" in found.sentence
    assert "not b, which needs gopkg.in/absent.v2" in found.sentence
    write(root, found.generated)
    result = carried_out(root, found, found.test)
    failing = runner_named(found.runner).failing_tests(result)
    assert sorted(failing) == ["x.org/a TestA", "x.org/a/c TestC"]
