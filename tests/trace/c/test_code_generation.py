"""What LLVM does to the process that calls it is told in a sentence, and the process that asked goes on."""

from __future__ import annotations

import faulthandler
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from afterd.trace.c.build.code_generation import failure_in_a_child, imported_meanwhile


def _nothing() -> None:
    return


def _unreadable() -> None:
    raise RuntimeError("LLVM IR parsing error")


def _ended_by_llvm() -> None:
    os.write(2, b"fatal error: bad mnemonic\n  PLEASE submit a bug report\n")
    os._exit(1)


def _too_deep() -> None:
    faulthandler.disable()  # pytest's would print where it was
    os.kill(os.getpid(), signal.SIGSEGV)


def _too_long() -> None:
    os.kill(os.getpid(), signal.SIGALRM)


@pytest.mark.parametrize(
    ("work", "told"),
    [
        (_nothing, ""),
        (_unreadable, "RuntimeError: LLVM IR parsing error"),
        (_ended_by_llvm, "fatal error: bad mnemonic"),
        (_too_deep, "code generation ended with status -11"),
        (_too_long, "code generation took more than 300 seconds"),
    ],
)
def test_a_child_says_why_it_failed(tmp_path: Path, work: Callable[[], None], told: str) -> None:
    assert failure_in_a_child(work, tmp_path / "said") == told


def test_a_module_that_cannot_be_imported_says_so_when_it_is_asked_for() -> None:
    with imported_meanwhile("afterd.there_is_no_such_module") as module:
        pass
    with pytest.raises(ModuleNotFoundError):
        module()
