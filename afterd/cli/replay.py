"""``afterd replay``: see for yourself what reverting some changes does."""

from __future__ import annotations

from pathlib import Path

import click
from rich.text import Text

from afterd import pipeline
from afterd.cli.options import settings_for
from afterd.cli.output import errors, print_parts
from afterd.cli.places import repository_option
from afterd.errors import ExitStatus, UsageError
from afterd.model.change import ChangeSet
from afterd.model.outcome import Verdict
from afterd.pipeline.replay import Replayed
from afterd.report.live import listening
from afterd.report.sanitize import visible_text


@click.command("replay")
@click.argument("identifier", metavar="ID", type=int)
@click.option(
    "--revert",
    metavar="c2,c3",
    help="Undo these changes.  [default: those of the explanation]",
)
@repository_option
@click.pass_context
def command(context: click.Context, identifier: int, revert: str | None, repository: Path) -> None:
    """Test the bad version with changes undone, and show the outcome.

    Example: afterd replay 42 --revert c2,c3
    """
    settings = settings_for(repository, {})
    with listening(errors()) as waiting:
        replayed = pipeline.replay(settings, identifier, _change_set(revert), waiting)
    print_parts([_sentence(replayed)])
    if replayed.outcome.verdict is Verdict.UNRESOLVED:
        context.exit(int(ExitStatus.INCONCLUSIVE))


def _change_set(revert: str | None) -> ChangeSet | None:
    if revert is None:
        return None
    names = frozenset(name.strip() for name in revert.split(","))
    if not all(name[:1] == "c" and name[1:].isdecimal() for name in names):
        raise UsageError(f"--revert wants changes such as c2,c3, not {revert!r}.")
    return names


def _sentence(replayed: Replayed) -> Text:
    outcome = replayed.outcome
    says = {
        Verdict.PASS: ("The test passes", "bold green"),
        Verdict.FAIL: (
            "The test fails as it did" if replayed.compared else "The test fails",
            "bold red",
        ),
        Verdict.UNRESOLVED: ("The test cannot tell", "bold yellow"),
    }
    text = Text(*says[outcome.verdict])
    reason = f": {outcome.reason.value}" if outcome.reason else ""
    seconds = f" (build {outcome.build_seconds:.1f} s, test {outcome.test_seconds:.1f} s)"
    text.append(f"{reason}{seconds}.", "not bold")
    return (
        text.append(f"\n{visible_text(outcome.detail.strip())}", "dim") if outcome.detail else text
    )
