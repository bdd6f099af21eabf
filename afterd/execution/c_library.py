"""Where the system's C library is, in the words of the file that zig's ``ZIG_LIBC`` names, and its C++ library.

``zig libc`` prints the same, but compiles itself for a minute before the first time.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from afterd.execution.process import Command
from afterd.execution.sandbox import run
from afterd.limits import Limits

_HEADERS = {"include_dir": "stdlib.h", "sys_include_dir": "sys/errno.h"}
# gcc_dir: the name of cc_dir before zig 0.16
_OBJECTS = {"crt1.o": ("crt_dir",), "crtbegin.o": ("cc_dir", "gcc_dir")}
# Windows, macOS: zig wants each of them named
_ELSEWHERE = ("msvc_lib_dir", "kernel32_lib_dir", "darwin_sdk_dir")
_BEGIN, _END = "#include <...> search starts here:", "End of search list."


def c_library_description(environment: Mapping[str, str]) -> str:
    """What ``cc`` says of the C library that it uses; nothing where it does not say it all."""
    asking = {**environment, "LC_ALL": "C"}  # its words are read
    searched = _include_folders(_answer(("cc", "-E", "-Wp,-v", "-x", "c", os.devnull), asking))
    found = {key: _folder_with(header, searched) for key, header in _HEADERS.items()}
    for name, keys in _OBJECTS.items():
        place = Path(_answer(("cc", f"-print-file-name={name}"), asking).strip())
        found |= dict.fromkeys(keys, str(place.parent) if place.is_absolute() else "")
    if not all(found.values()):
        return ""
    found |= dict.fromkeys(_ELSEWHERE, "")
    return "".join(f"{key}={value}\n" for key, value in found.items())


def cxx_headers(compiler: Sequence[str], environment: Mapping[str, str]) -> tuple[Path, ...]:
    """The folders in which a C++ compiler looks for what it does not look for in C: its C++ library's, in its
    order. None where it does not say, or is no compiler of both languages.
    """
    asking = ("-E", "-Wp,-v", "-x", "c++", os.devnull, "-x", "c", os.devnull)
    said = _answer((*compiler, *asking), {**environment, "LC_ALL": "C"})
    of_cxx, _, of_c = said.partition(_END)
    in_c = _include_folders(of_c)
    return tuple(folder for folder in _include_folders(of_cxx) if in_c and folder not in in_c)


def _include_folders(said: str) -> list[Path]:
    """The folders in which the preprocessor looks for headers, in its order."""
    _, _, listed = said.partition(_BEGIN)
    return [Path(line.strip()) for line in listed.partition(_END)[0].splitlines() if line.strip()]


def _folder_with(header: str, searched: list[Path]) -> str:
    """As zig does it: the last one that has it, as a compiler's own headers come first."""
    return next((str(folder) for folder in reversed(searched) if (folder / header).is_file()), "")


def _answer(argv: tuple[str, ...], environment: Mapping[str, str]) -> str:
    result = run(Command(argv, Path.cwd(), environment, merge=True), Limits().probe)
    try:
        return result.stdout.text() if result.succeeded else ""
    finally:
        result.remove()
