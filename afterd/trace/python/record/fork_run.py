"""A run in a fork of the warm server, made to look like a process of its own.

The tree on disk is the variant's: what reads files, starts other processes or asks for source text
sees what it would see in a fresh process. From memory come only code objects, of texts that were
compiled before.
"""

from __future__ import annotations

import atexit
import builtins
import importlib
import json
import os
import random
import runpy
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.machinery import (
    BuiltinImporter,
    ExtensionFileLoader,
    FrozenImporter,
    SourceFileLoader,
    SourcelessFileLoader,
)
from pathlib import Path
from types import CodeType, ModuleType
from typing import NoReturn

from .importing import OwnFinder, OwnLoader, Territory
from .preloading import is_own
from .reaping import exit_code
from .recorded_fork import Recorded, begin_recording
from .rewriting import Rewritten, is_rewritten

RUN_VARIABLE = "AFTERD_RUN"
_LOADERS = vars(importlib.import_module("importlib._bootstrap_external"))
_NamespaceLoader: type = (
    _LOADERS.get("NamespaceLoader") or _LOADERS["_NamespaceLoader"]
)  # before Python 3.11
_PLAIN = (
    BuiltinImporter,
    ExtensionFileLoader,
    FrozenImporter,
    _NamespaceLoader,
    OwnLoader,
    SourceFileLoader,
    SourcelessFileLoader,
    type(None),
)


@dataclass(frozen=True)
class Program:
    """What is run: ``target`` is module or script, ``name`` which, ``argv`` its arguments.

    ``shell``: a shell starts it, and is its parent.
    """

    target: str
    name: str
    argv: list[str]
    shell: bool = False

    def announce(self) -> None:
        """Arguments and import path as the program would find them, imports ahead included."""
        sys.argv[:] = ["-m" if self.target == "module" else self.name, *self.argv]
        if getattr(sys.flags, "safe_path", False):  # newer than Python 3.10
            return
        own = os.getcwd() if self.target == "module" else os.path.dirname(self.real)  # noqa: PTH109, PTH120 # strings
        sys.path[0] = own

    @property
    def real(self) -> str:
        """Where a script really lies."""
        return os.path.realpath(self.name)


@dataclass(frozen=True)
class Run:
    """One run: its directory (output, temporary files), and its limits in seconds and bytes.

    ``report``: write what was imported to ``modules.json`` there. ``recorded``: where it records itself.
    """

    directory: str
    timeout: float
    output: int
    report: bool = False
    recorded: Recorded | None = None


class CodeCache:
    """Code objects by file name and text; filled before a fork, used after it."""

    def __init__(self) -> None:
        self.codes: dict[tuple[str, bytes], CodeType] = {}

    def compile(self, source: bytes, filename: str) -> CodeType:
        """The module's code; compiled when it is not here."""
        code = self.codes.get((filename, source))
        if code is None:
            code = compile(source, filename, "exec", dont_inherit=True)
            self.codes[filename, source] = code
        return code


def execute(
    program: Program, run: Run, territory: Territory, codes: CodeCache, rewritten: Rewritten
) -> NoReturn:
    """Run the program to its end, and end this process as the interpreter would."""
    status = 70
    try:
        os.setsid()
        if program.shell:
            _await_as_a_shell(os.fork())
        _redirect(run.directory, merged=run.recorded is not None)
        _settle(run)
        rewritten.offer()
        if run.recorded is not None:
            begin_recording(run.recorded)
        else:
            sys.meta_path.insert(0, OwnFinder(territory, codes.compile))
        before = time.monotonic()
        status = _status(program, codes)
        spent = time.monotonic() - before
        Path(run.directory, "seconds").write_text(str(spent), encoding="ascii")
        if run.report:
            _report_modules(territory, run.directory)
    finally:
        os._exit(status & 0xFF)


def _await_as_a_shell(child: int) -> None:
    """In the parent: end as a shell ends after its command. In the child nothing."""
    if child:
        status = exit_code(os.waitpid(child, 0)[1])
        os._exit(status if status >= 0 else 128 - status)


def _status(program: Program, codes: CodeCache) -> int:
    """The exit status after threads were waited for, exit functions called and output flushed.

    The modules are not torn down: that cost 35 ms of touching all memory, and a crash in it would
    set the fresh run of the same tree apart (see ``execution.rerunning``).
    """
    status = 0
    try:
        _execute(program, codes)
    except SystemExit as end:
        status = _of_exit(end.code)
    except BaseException:  # noqa: BLE001 # what the interpreter prints and exits 1 for
        _show_uncaught()
        status = 1
    try:
        threading._shutdown()  # type: ignore[attr-defined] # noqa: SLF001 # waits as the interpreter does
        atexit._run_exitfuncs()  # noqa: SLF001 # the interpreter's own
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001 # a closed stream at exit
        status = status or 120
    return status


def _of_exit(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    print(code, file=sys.stderr)  # noqa: T201 # as the interpreter does
    return 1


def _redirect(directory: str, *, merged: bool) -> None:
    for descriptor, name in ((1, "stdout"), (2, "stdout" if merged else "stderr")):
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        file = os.open(f"{directory}/{name}", flags, 0o600)
        os.dup2(file, descriptor)
        os.close(file)


def _settle(run: Run) -> None:
    """What a fresh process would have of its own: temporary files, randomness, file listings."""
    os.environ["TMPDIR"] = os.path.join(run.directory, "tmp")  # noqa: PTH118 # a string
    os.environ[RUN_VARIABLE] = run.directory
    tempfile.tempdir = None
    random.seed()
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed()
    importlib.invalidate_caches()


def _execute(program: Program, codes: CodeCache) -> None:
    main = ModuleType("__main__")
    main.__dict__.update(__builtins__=builtins)
    sys.modules["__main__"] = main
    if program.target == "module":
        runpy._run_module_as_main(program.name)  # type: ignore[attr-defined] # noqa: SLF001 # what -m does
        return
    path = os.path.abspath(program.name)  # noqa: PTH100 # as the interpreter names it
    loader = SourceFileLoader("__main__", path)
    main.__dict__.update(__file__=path, __loader__=loader, __cached__=None)
    exec(codes.compile(Path(path).read_bytes(), path), main.__dict__)  # noqa: S102 # its script


def _show_uncaught() -> None:
    """Print the exception without the frames of this file and of what called it.

    Not by the interpreter's own hook: it would show them.
    """
    kind, error, seen = sys.exc_info()
    assert kind is not None
    assert error is not None
    own = str(Path(__file__).parent)
    while seen is not None and seen.tb_frame.f_code.co_filename.startswith(own):
        seen = seen.tb_next
    if sys.excepthook is sys.__excepthook__:
        traceback.print_exception(kind, error, seen)
    else:
        sys.excepthook(kind, error, seen)


def _report_modules(territory: Territory, directory: str) -> None:
    """What was imported: from outside the tree by name and file, and the files of the tree.

    Foreign is what a loader of somebody's own loaded (pytest rewrites the asserts of its plugins):
    it would be another module if it were imported ahead.
    """
    outside, inside, foreign, rewritten = [], [], [], []
    for name, module in list(sys.modules.items()):
        file = _file(module)
        if is_own(module, territory):
            inside.extend([file] if file else [])
        elif not isinstance(_loader(module), _PLAIN) and _loader(module) not in _PLAIN:
            foreign.append(name)
            rewritten.extend([file] if file and is_rewritten(_loader(module)) else [])
        elif not name.startswith("__") and not name.endswith(".__main__"):
            outside.append((name, file))
    seen: Mapping[str, object] = {
        "outside": outside,
        "inside": inside,
        "foreign": foreign,
        "rewritten": rewritten,
    }
    Path(directory, "modules.json").write_text(json.dumps(seen), encoding="utf-8")


def _file(module: object) -> str:
    file = getattr(module, "__file__", None)
    return file if isinstance(file, str) else ""


def _loader(module: object) -> object:
    return getattr(getattr(module, "__spec__", None), "loader", None)
