"""What a machine or an environment lacks, by the words of runners, tools and interpreters."""

from __future__ import annotations

from pathlib import Path

import pytest

from afterd.execution.failures.lacks import lack_of
from afterd.execution.failures.text import normalised


@pytest.mark.parametrize(
    ("said", "program", "sentence"),
    [
        ("ModuleNotFoundError: No module named 'yaml'", "/v/bin/python3.12",
         "The environment of /v/bin/python3.12 lacks the module yaml; install it:"
         " `/v/bin/python3.12 -m pip install PyYAML`."),
        ("ModuleNotFoundError: No module named 'yaml'", "ctest",
         "This machine lacks the module yaml; install it: `pip install PyYAML`."),
        ("sh: 1: no-such-tool: not found", "ctest",
         "This machine lacks the program no-such-tool; install no-such-tool."),
        ("Error: Cannot find module '@scope/pkg/lib/x.js'\nRequire stack:", "npm",
         "The folder node_modules lacks the package @scope/pkg; install what package.json asks for:"
         " `npm install`."),
        ("Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'chai' imported from /r/t.js", "npm",
         "The folder node_modules lacks the package chai; install what package.json asks for:"
         " `npm install`."),
        ("Can't locate JSON/PP.pm in @INC (you may need to install the JSON::PP module)", "make",
         "This machine lacks Perl's module JSON::PP; install it: `cpan JSON::PP`."),
        ('go: github.com/a/testify@v1.7.1: Get "https://proxy.golang.org/x.mod": dial tcp: no such host', "go",
         "This machine lacks the Go module github.com/a/testify@v1.7.1; get what go.mod asks for, where that can be"
         " reached: `go mod download`."),
        ("a/b.go:12:2: no required module provides package x.org/toml; to add it:\n\tgo get x.org/toml", "go",
         "This machine lacks the Go module x.org/toml; get what go.mod asks for, where that can be reached:"
         " `go mod download`."),
        ("RTNETLINK answers: Operation not permitted", "python3",
         "The test lacks the right CAP_NET_ADMIN; where afterd runs as root, `network = true` in afterd.toml leaves it"
         " to builds and tests."),
        ("Error: Cannot find module './lib/moved'", "npm", ""),
        ("No module named 'own'", "python3", ""),
        ("assert 1 == 2", "python3", ""),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'no-such-tool'", "python3",
         "The environment of python3 lacks the program no-such-tool; install no-such-tool."),
        (normalised("FileNotFoundError: [Errno 2] No such file or directory: '/tmp/x/tests'"), "python3", ""),
        (
            'Traceback (most recent call last):\n  File "<frozen runpy>", line 189, in _run_module_as_main\n'
            '  File "/v/site-packages/pytest/__init__.py", line 9, in <module>\n'
            "TypeError: HookspecMarker.__call__() got an unexpected keyword argument 'warn_on_impl_args'\n",
            "python3",
            "The environment of python3 lacks a fitting version of pytest; the one that is installed cannot be"
            " started with this version of the project (TypeError: HookspecMarker.__call__() got an unexpected"
            " keyword argument 'warn_on_impl_args'): install an older or a newer one, or name an environment"
            " that has one with --python.",
        ),
    ],
)  # fmt: skip
def test_what_is_lacking(said: str, program: str, sentence: str) -> None:
    lack = lack_of(said, own={"own"})
    assert (lack.sentence(program) if lack else "") == sentence


def test_an_environment_of_uv_s_has_no_pip(tmp_path: Path) -> None:
    """`python -m pip install` ended in "No module named pip"."""
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    (tmp_path / "pyvenv.cfg").write_text("home = /usr/bin\nuv = 0.11.2\n")
    lack = lack_of("ModuleNotFoundError: No module named 'yaml'")
    assert lack is not None
    assert f"`uv pip install --python {python} PyYAML`" in lack.sentence(str(python))
    (python.parent / "pip").touch()
    assert f"`{python} -m pip install PyYAML`" in lack.sentence(str(python))
