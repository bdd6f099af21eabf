"""``afterd man``: the manual page, written from the commands themselves.

The form is that of man(7), with its macros TH, SH, SS, TP and PP.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import TextIO

import click

from afterd import __version__
from afterd.cli.main import afterd, commands
from afterd.errors import ExitStatus

_STATUS = {
    ExitStatus.EXPLAINED: "explained, or nothing fails",
    ExitStatus.USAGE: "wrong usage; not a repository; an unknown revision; an empty range",
    ExitStatus.INCONCLUSIVE: "no answer within the budget",
    ExitStatus.FLAKY: "the test is flaky",
    ExitStatus.ALREADY_RED: "the test fails at the good version as well",
    ExitStatus.CANNOT_RUN: "the build or the test cannot be run at all",
    ExitStatus.BUG: "a fault of afterd itself, with a log of what is known",
    ExitStatus.INTERRUPTED: "interrupted; what was learned is kept",
}


@click.command("man")
@click.option(
    "-o",
    "--output",
    type=click.File("w", encoding="utf-8"),
    default="-",
    metavar="FILE",
    help="Write to this file instead of the terminal.",
)
def command(output: TextIO) -> None:
    """Write the manual page, with every command and option.

    Example: afterd man | man -l -
    """
    output.write(manual_page())


def manual_page() -> str:
    """The page in roff, a line of text or a macro each."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield f'.TH AFTERD 1 "" "afterd {__version__}" "User Commands"'
    yield ".ad l"  # long options leave no line that could be justified
    yield from (".SH NAME", "afterd \\- explain why a regression test went red")
    yield from (".SH SYNOPSIS", ".B afterd", ".I COMMAND\n[\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]")
    yield ".SH DESCRIPTION"
    yield from _paragraphs(afterd)
    yield ".SH COMMANDS"
    for verb in commands():
        yield from _command(verb, f"afterd {verb.name}")
    yield ".SH EXIT STATUS"
    for status, meaning in _STATUS.items():
        yield from (".TP", f".B {status.value}", _escaped_roff(meaning))


def _command(found: click.Command, path: str) -> Iterator[str]:
    context = click.Context(found, info_name=path)
    yield f'.SS "{_escaped_roff(" ".join((path, *found.collect_usage_pieces(context))))}"'
    yield from _paragraphs(found)
    for parameter in found.get_params(context):
        if (record := parameter.get_help_record(context)) is not None:
            yield from (".TP", f".B {_escaped_roff(record[0])}", _escaped_roff(record[1]))
    if isinstance(found, click.Group):
        for name, inner in found.commands.items():
            yield from _command(inner, f"{path} {name}")


def _paragraphs(found: click.Command) -> Iterator[str]:
    text = inspect.cleandoc(found.help or "").replace("\b\n", "")
    for paragraph in re.split(r"\n\s*\n", text):
        yield from (".PP", _escaped_roff(" ".join(paragraph.split())))


def _escaped_roff(text: str) -> str:
    """Text as roff prints it: no escape of its own, no line that begins as a macro does."""
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    return "\n".join(re.sub(r"^(?=[.'])", r"\\&", line) for line in plain.splitlines())
