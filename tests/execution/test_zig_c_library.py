"""What zig is told of the system's C library, and that it takes it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from afterd.execution.c_library import (
    _folder_with,
    _include_folders,
    c_library_description,
    cxx_headers,
)
from afterd.execution.toolchain import _zig, find, settled_compiler

SAID = """\
ignoring nonexistent directory "/usr/local/include/x86_64-linux-gnu"
#include "..." search starts here:
#include <...> search starts here:
 /usr/lib/gcc/x86_64-linux-gnu/12/include
 /usr/include
End of search list.
# 0 "/dev/null"
"""


def test_the_folders_are_those_of_the_list() -> None:
    listed = ["/usr/lib/gcc/x86_64-linux-gnu/12/include", "/usr/include"]
    assert _include_folders(SAID) == [Path(folder) for folder in listed]
    assert _include_folders("cc: error: unrecognized option") == []


def test_the_system_s_header_is_taken_where_the_compiler_brings_one_too(tmp_path: Path) -> None:
    for folder in ("compiler", "system"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "stdlib.h").touch()
    searched = [tmp_path / "compiler", tmp_path / "system", tmp_path / "gone"]
    assert _folder_with("stdlib.h", searched) == str(tmp_path / "system")
    assert _folder_with("sys/errno.h", searched) == ""


def test_without_a_compiler_nothing_is_said(tmp_path: Path) -> None:
    assert c_library_description({"PATH": str(tmp_path)}) == ""
    assert cxx_headers(("c++",), {"PATH": str(tmp_path)}) == ()


@pytest.mark.skipif(shutil.which("c++") is None, reason="no c++ on this machine")
def test_the_headers_of_the_cxx_library_are_those_that_c_has_not() -> None:
    found = cxx_headers(("c++",), os.environ)
    assert any((folder / "iostream").is_file() for folder in found)
    assert not any((folder / "stdio.h").is_file() for folder in found)


@pytest.mark.skipif(not _zig(), reason="zig is not installed")
@pytest.mark.parametrize("said", ["", "include_dir=/nowhere\n"])
def test_zig_starts_as_before_where_it_does_not_take_what_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    monkeypatch.setattr("afterd.execution.toolchain.c_library_description", lambda _: said)
    zig = find({**os.environ, "AFTERD_CLANG": f"{_zig()} cc"})
    assert settled_compiler(zig, tmp_path) == zig.argv


@pytest.mark.skipif(not _zig(), reason="zig is not installed")
@pytest.mark.skipif(shutil.which("cc") is None, reason="no cc on this machine")
def test_zig_builds_with_what_is_said_and_asks_nobody(tmp_path: Path) -> None:
    """A ``cc`` that notes each question stands before the system's."""
    zig = find({**os.environ, "AFTERD_CLANG": f"{_zig()} cc"})
    argv = settled_compiler(zig, tmp_path)
    assert any(word.startswith("ZIG_LIBC=") for word in argv)
    noting = tmp_path / "bin"
    noting.mkdir()
    (noting / "cc").write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\nexec {shutil.which("cc")} "$@"\n'
    )
    (noting / "cc").chmod(0o755)
    (tmp_path / "p.c").write_text(
        '#include <stdio.h>\nint main(void) { puts("built"); return 0; }\n'
    )
    environment = {**os.environ, "PATH": f"{noting}:{os.environ['PATH']}"}
    program = str(tmp_path / "p")
    command = [*argv, *zig.untrapped, str(tmp_path / "p.c"), "-o", program]
    subprocess.run(command, env=environment, check=True)
    assert subprocess.run([program], capture_output=True, check=True).stdout == b"built\n"
    assert not (tmp_path / "asked").exists()
