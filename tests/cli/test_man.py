"""The manual page holds what the commands take, in a form that man reads."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from afterd.cli.main import commands
from afterd.cli.man import command, manual_page
from afterd.errors import ExitStatus

PAGE = manual_page()


def printed(page: str) -> str:
    """What a reader sees of roff's text, its macros and escapes left out."""
    text = re.sub(r"^\.(?:TH|SH|SS|TP|PP|B|I|ad) ?", "", page, flags=re.MULTILINE)
    text = re.sub(r"\\f[BIR]|\\&", "", text).replace("\\(dq", '"').replace("\\-", "-")
    return text.replace("\\e", "\\")


def every(found: click.Command) -> list[click.Command]:
    inner = found.commands.values() if isinstance(found, click.Group) else ()
    return [found, *(each for one in inner for each in every(one))]


@pytest.mark.parametrize("verb", [*commands()], ids=lambda verb: str(verb.name))
def test_every_option_stands_in_it_with_its_meaning(verb: click.Command) -> None:
    text = " ".join(printed(PAGE).split())
    for found in every(verb):
        for parameter in found.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                assert all(name in text for name in parameter.opts)
                assert " ".join((parameter.help or "").split()) in text


def test_every_exit_status_stands_in_it() -> None:
    statuses = PAGE.partition(".SH EXIT STATUS")[2]
    assert re.findall(r"^\.B (\d+)$", statuses, re.MULTILINE) == [
        str(status.value) for status in ExitStatus
    ]


def test_no_text_is_taken_for_a_macro() -> None:
    macros = re.findall(r"^[.'](\w*)", PAGE, re.MULTILINE)
    assert set(macros) <= {"TH", "SH", "SS", "TP", "PP", "B", "I", "ad"}


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_groff_has_nothing_to_say_of_it() -> None:
    read = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8", "-Kutf8"],
        input=PAGE,
        capture_output=True,
        text=True,
        check=True,
    )
    assert read.stderr == ""
    assert "EXIT STATUS" in re.sub(r"\x1b\[\d+m|.\x08", "", read.stdout)


def test_it_is_written_to_a_file(tmp_path: Path) -> None:
    assert command.main(["--output", str(tmp_path / "afterd.1")], standalone_mode=False) is None
    assert (tmp_path / "afterd.1").read_text(encoding="utf-8") == PAGE
