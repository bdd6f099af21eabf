"""``afterd``: the verbs.

A verb is a module of this package, named like it, whose click command is ``command``; to add one,
write the module and a line here. A module is imported when its verb is asked for: a completion in
the shell must not wait for numpy.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator

import click

from afterd import __version__

VERBS = {
    "explain": "Explain why the tests of a revision range fail.",
    "show": "Show an explanation; without an ID the newest.",
    "list": "List the explanations of this repository, newest first.",
    "report": "Write an explanation as Markdown, HTML, JSON, SARIF or text; without an ID the newest.",
    "patch": "Write the revert that makes the test pass, for git apply.",
    "replay": "Test the bad version with changes undone, and show the outcome.",
    "mark": "Correct an explanation.",
    "comment": "Post explanations on a pull request: one comment, edited in place.",
    "rank": "Rank what the failed tests executed by how suspicious it is.",
    "hook": "The git hook that tells the daemon of each commit.",
    "daemon": "Watch repositories: test new commits, and explain what turned red.",
    "init": "Write afterd.toml with the commands that were found.",
    "doctor": "Check what this machine has and lacks.",
    "demo": "Make a sample, break it, and explain it.",
    "man": "Write the manual page, with every command and option.",
    "bench": "Measure afterd on programs whose fault is known.",
}
"""Every verb with the first sentence of its help, so that a list of them imports none."""


class Verbs(click.Group):
    """The group whose commands are modules."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The verbs in the order of the help text."""
        return list(VERBS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """The verbs and what they are for, none of them imported."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """The command of a verb; None for a word that is none."""
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"afterd.cli.{cmd_name}")
        command: click.Command = module.command
        return command


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="afterd")
def afterd() -> None:
    """Explain why a regression test went red.

    afterd finds the last green commit, splits the difference into the smallest changes that can be
    reverted on their own, and shows which of them did it and why.

    Example: afterd explain HEAD~1..HEAD -- make check
    """


def commands() -> Iterator[click.Command]:
    """Every verb's command, imported."""
    context = click.Context(afterd)
    for verb in VERBS:
        command = afterd.get_command(context, verb)
        assert command is not None
        yield command
