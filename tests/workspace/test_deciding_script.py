"""Which script a test command stands and falls with."""

from __future__ import annotations

import pytest

from afterd.config import shell
from afterd.workspace.deciding_script import deciding_script


@pytest.mark.parametrize(
    ("command", "script"),
    [
        ("sh t.sh", "t.sh"),
        ("sh ./t.sh -v 3", "t.sh"),
        ("./checks/all", "checks/all"),
        ("bash -eu -o pipefail checks/run.sh format", "checks/run.sh"),
        ("python3 -W error -X dev check.py", "check.py"),
        (".venv/bin/python check.py", "check.py"),
        ("perl -Ilib -w check.pl", "check.pl"),
        ("node --expose-gc -r ./hook.js check.mjs", "check.mjs"),
        ("env -u HOME A=1 timeout -k 5 60 nice -n 5 sh t.sh", "t.sh"),
        ("A=1 B='x y' sh t.sh", "t.sh"),
        ("cd checks && sh t.sh", "checks/t.sh"),
        ("cd checks/deep; sh ../t.sh 2>&1 >log", "checks/t.sh"),
        ("make && ./t.sh </dev/null", "t.sh"),
        ("sh build.sh && sh t.sh || { echo it broke; exit 1; }", "t.sh"),
        ("set -e\nsh t.sh\n", "t.sh"),
        ("for n in 1 2; do sh t.sh $n; done", "t.sh"),
        ("if ! sh t.sh; then exit 1; fi", "t.sh"),
        ("bash -ec 'cd x && python check.py'", "x/check.py"),
        ("poetry run python check.py", "check.py"),
        ("uv run check.py", "check.py"),
        (". ./t.sh", "t.sh"),
        ("php -d memory_limit=1 check.php", "check.php"),
    ],
)
def test_a_script_that_decides(command: str, script: str) -> None:
    assert deciding_script(shell(command)) == script


@pytest.mark.parametrize(
    "command",
    [
        "make check",
        "python -m pkg",
        "python -m pytest check.py",
        "python -c 'import check'",
        "node -e 'require(\"./check.js\")'",
        "bash -c 'make'",
        "./build/prog <in.txt | cmp - out.txt",
        "python calc.py <in.txt",
        "cat in.txt | python calc.py",
        "python calc.py >out && diff out expected",
        "python calc.py | grep -q 3",
        'test "$(python calc.py)" = 3',
        "sh build.sh && make check",
        "sh $HERE/t.sh",
        "sh ../t.sh",
        "sh /tmp/t.sh",
        "sh 't.sh",
        "sh",
        "env",
        "echo sh t.sh",
        "",
    ],
)
def test_no_script_decides(command: str) -> None:
    assert deciding_script(shell(command)) == ""


def test_a_command_without_a_shell() -> None:
    assert deciding_script(("sh", "t.sh")) == "t.sh"
    assert deciding_script(("env", "A=1", "python3", "check.py", "<")) == "check.py"
    assert deciding_script(()) == ""
