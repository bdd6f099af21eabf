"""Defaults that another version's project declared, and that its build folder keeps."""

from __future__ import annotations

import dataclasses
import os
import shutil
from pathlib import Path

import pytest
from trees_and_slots import Workshop, compiler

from afterd.execution.build import Builder
from afterd.execution.configured_defaults import declared_defaults
from afterd.execution.process import Command
from afterd.execution.recipe import Recipe
from afterd.execution.runners.meson import Meson
from afterd.execution.sandbox import run
from afterd.limits import Limits, ProcessLimits

LIMITS = dataclasses.replace(Limits(), build=ProcessLimits(timeout=120.0, grace=0.2))

_PROGRAM = '#include <stdio.h>\nint main(void) { printf("%s %ld\\n", WORD, __STDC_VERSION__); return 0; }\n'


def _printed(workshop: Workshop, program: Path) -> str:
    command = Command((str(program),), program.parent, os.environ)
    result = run(command, ProcessLimits(timeout=10.0), scratch=workshop.folder)
    return result.stdout.text().strip()


def _meson(options: str) -> dict[str, str]:
    arguments = "c_args: '-DWORD=\"' + get_option('word') + '\"'"
    listed = f"project('p', 'c'{options})\nexecutable('p', 'p.c', {arguments})\n"
    return {"meson.build": listed, "p.c": _PROGRAM}


@pytest.mark.skipif(not shutil.which("meson") or not shutil.which("ninja"), reason="no meson")
@pytest.mark.parametrize(
    "command",
    [
        "meson setup b -Dword=mine && ninja -C b",
        "(test -d b || meson setup b -Dword=mine) && ninja -C b",
        "(test -d b || meson setup b -Dword=mine) && meson compile -C b",
    ],
)
def test_meson_forgets_the_defaults_of_another_version(tmp_path: Path, command: str) -> None:
    """As 1.8.0 of pkgconf, which was built as C99 where 1.9.0 had been, and was said to crash."""
    compiler()
    workshop = Workshop(tmp_path)
    options = {"meson_options.txt": "option('word', type: 'string', value: 'none')\n"}
    recipe = Recipe(("true",), ("sh", "-c", command), limits=LIMITS)
    builder = Builder(workshop.slot())
    for declared, year in ((", default_options: ['c_std=c99']", "199901"), ("", "201710")):
        built = builder.build(recipe, workshop.tree(_meson(declared) | options))
        assert built.ok, built.detail
        assert _printed(workshop, builder.slot.path / "b" / "p") == f"mine {year}"


@pytest.mark.skipif(not shutil.which("meson") or not shutil.which("ninja"), reason="no meson")
def test_an_option_that_is_declared_no_more_is_not_given_again(tmp_path: Path) -> None:
    """json-glib: a folder that had been set up with `gtk_doc` could not be configured for any version without it."""
    compiler()
    workshop = Workshop(tmp_path)
    given = "-D$(grep -q name meson_options.txt && echo name || echo word)=mine"
    command = f"meson setup b {given} && ninja -C b"
    builder = Builder(workshop.slot())
    recipe = Recipe(("true",), ("sh", "-c", command), limits=LIMITS)
    for option in ("word", "name", "word"):
        declared = f"option('{option}', type: 'string', value: 'none')\n"
        files = {path: text.replace("'word'", f"'{option}'") for path, text in _meson("").items()}
        built = builder.build(recipe, workshop.tree(files | {"meson_options.txt": declared}))
        assert built.ok, built.detail
        assert _printed(workshop, builder.slot.path / "b" / "p") == "mine 201710"


@pytest.mark.skipif(not shutil.which("meson") or not shutil.which("ninja"), reason="no meson")
def test_the_build_that_is_found_takes_other_defaults(tmp_path: Path) -> None:
    """`meson compile` called its own file corrupted, and the third build was believed to be broken (zix)."""
    compiler()
    workshop = Workshop(tmp_path)
    options = {"meson_options.txt": "option('word', type: 'string', value: 'none')\n"}
    trees = [_meson(declared) | options for declared in (", default_options: ['c_std=c99']", "")]
    for files in trees:
        files["meson.build"] += "test('t', find_program('true'))\n"
    for name, content in trees[0].items():
        (tmp_path / "seen").mkdir(exist_ok=True)
        (tmp_path / "seen" / name).write_text(content)
    found = Meson().detect(tmp_path / "seen")
    assert found is not None
    builder = Builder(workshop.slot())
    recipe = Recipe(("true",), found.build, limits=LIMITS)
    for number in (0, 1, 0, 1):
        built = builder.build(recipe, workshop.tree(trees[number]))
        assert built.ok, built.detail
        program = builder.slot.path / ".afterd-build/p"
        assert _printed(workshop, program) == f"none {('199901', '201710')[number]}"


@pytest.mark.skipif(not shutil.which("cmake") or not shutil.which("make"), reason="no cmake")
def test_cmake_forgets_them_too_but_not_what_the_command_says(tmp_path: Path) -> None:
    compiler()
    workshop = Workshop(tmp_path)
    configure = "test -d b || cmake -S . -B b -DSECOND=typed"
    recipe = Recipe(("true",), ("sh", "-c", f"({configure}) && make -C b"), limits=LIMITS)
    builder = Builder(workshop.slot())
    for word in ("one", "two"):
        listed = (
            "cmake_minimum_required(VERSION 3.5)\nproject(p C)\nset(CMAKE_C_STANDARD 99)\n"
            f'set(FIRST {word} CACHE STRING "(the first)")\nset(SECOND {word} CACHE STRING "")\n'
            'add_executable(p p.c)\ntarget_compile_definitions(p PRIVATE WORD="${FIRST}-${SECOND}")\n'
        )
        built = builder.build(recipe, workshop.tree({"CMakeLists.txt": listed, "p.c": _PROGRAM}))
        assert built.ok, built.detail
        assert _printed(workshop, builder.slot.path / "b" / "p") == f"{word}-typed 199901"


def test_what_is_declared_is_read_off_the_descriptions(tmp_path: Path) -> None:
    texts = {
        "CMakeLists.txt": 'option(FAST "quick (and dirty)" ON)\n# option(OLD "" ON)\nset(PLAIN 1)\n',
        "cmake/more.cmake": 'SET(KIND "a b" CACHE STRING "which")\n',
        "meson.build": "project('p', 'c', version: '1', default_options: ['c_std=c99', 'werror=true'])\n",
        "sub/meson.build": "default_options: ['no project']\n",
        "meson.options": "option('x', type: 'boolean')\n",
    }
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    defaults = declared_defaults(tmp_path, map(str.encode, [*texts, "gone/CMakeLists.txt"]))
    assert set(defaults.cmake) == {"FAST", "KIND"}
    assert "c_std=c99" in defaults.meson
    assert "no project" not in defaults.meson
    assert "boolean" in defaults.meson
