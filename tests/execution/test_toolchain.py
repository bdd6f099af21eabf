"""Which compiler is taken, and why the others were not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from afterd.errors import ToolchainError
from afterd.execution import toolchain
from afterd.execution.toolchain import Toolchain, find

NO_ZIG = "afterd.execution.toolchain._zig"


def fake(folder: Path, name: str, version: str) -> Path:
    """A program that answers --version as a compiler does."""
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{version}'\n")
    path.chmod(0o755)
    return path


def environment(folder: Path, **variables: str) -> dict[str, str]:
    return {"PATH": str(folder), "HOME": os.environ.get("HOME", "/"), **variables}


@pytest.mark.parametrize(
    ("shown", "version"),
    [
        ("clang version 16.0.6", "16.0.6"),
        ("Debian clang version 19.1.7 (3+b1)", "19.1.7"),
        ("Ubuntu clang version 18.1.3 (1ubuntu1)", "18.1.3"),
        ("Apple clang version 17.0.0 (clang-1700.0.13.3)", "17.0.0"),
    ],
)
def test_versions_are_read_as_distributions_write_them(
    tmp_path: Path, shown: str, version: str
) -> None:
    path = fake(tmp_path, "clang", shown)
    assert find(environment(tmp_path)) == Toolchain((str(path),), version, is_zig=False)


def test_an_old_clang_is_passed_over_for_a_numbered_one(tmp_path: Path) -> None:
    fake(tmp_path, "clang", "clang version 14.0.0")
    fake(tmp_path, "clang-17", "clang version 17.0.1")
    newer = fake(tmp_path, "clang-20", "clang version 20.1.0")
    assert find(environment(tmp_path)).argv == (str(newer),)


def test_the_users_choice_comes_first_and_may_have_arguments(tmp_path: Path) -> None:
    fake(tmp_path, "clang", "clang version 18.0.0")
    mine = fake(tmp_path, "mine", "clang version 16.0.0")
    found = find(environment(tmp_path, AFTERD_CLANG=f"{mine} -m32"))
    assert (found.argv, found.major) == ((str(mine), "-m32"), 16)


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("gcc-like", "gcc-like is not clang"),
        ("old", "old is version 11.0.1"),
        ("absent", "absent is not a program"),
        ("broken", "broken --version exited with status 3"),
    ],
)
def test_a_choice_that_cannot_be_used_is_not_silently_replaced(
    tmp_path: Path, named: str, said: str
) -> None:
    fake(tmp_path, "clang", "clang version 18.0.0")
    fake(tmp_path, "gcc-like", "gcc (Debian 12.2.0) 12.2.0")
    fake(tmp_path, "old", "clang version 11.0.1")
    fake(tmp_path, "broken", "clang version 18.0.0").write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(ToolchainError, match=f"^AFTERD_CLANG={named} cannot be used: {said}"):
        find(environment(tmp_path, AFTERD_CLANG=named))


def test_without_any_the_sentence_says_what_was_seen_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(tmp_path, "clang", "clang version 14.0.0")
    fake(tmp_path, "clang-22", "clang version 23.0.0")
    monkeypatch.setattr(toolchain, "_zig", str)
    with pytest.raises(ToolchainError) as raised:
        find(environment(tmp_path))
    sentence = str(raised.value)
    assert "is version 14.0.0" in sentence
    assert "is version 23.0.0" in sentence
    assert "pip install ziglang" in sentence


def test_a_real_compiler_is_found_or_its_absence_said() -> None:
    """The machine's own clang, or zig's: never an answer that is neither."""
    try:
        found = find()
    except ToolchainError as error:
        assert "install clang" in str(error)  # noqa: PT017 - either outcome is right here
    else:
        assert toolchain.OLDEST <= found.major <= toolchain.NEWEST


def test_zig_is_the_last_resort(tmp_path: Path) -> None:
    pytest.importorskip("ziglang")
    found = find(environment(tmp_path))
    assert found.is_zig
    assert found.argv[-1] == "cc"
