"""``afterd explain``: which changes made the tests fail, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

import click
from rich.table import Table

from afterd import pipeline
from afterd.cli.answers import (
    command_log,
    deliver,
    listener_after_answer,
    losses_told,
    progress_listener,
)
from afterd.cli.commits import subjects
from afterd.cli.options import Loudness, format_option, loudness_options, settings_for
from afterd.cli.output import errors
from afterd.cli.places import output_option, repository_option
from afterd.config import Format, Sandbox, Settings, Strategy
from afterd.errors import ExitStatus, UsageError
from afterd.model.explanation import Explanation, Status
from afterd.model.progress import Progress, Silent
from afterd.workspace import PhaseClock

# worst last: of several failing tests the worst answer is the exit status
_STATUSES = {
    Status.GREEN: ExitStatus.EXPLAINED,
    Status.EXPLAINED: ExitStatus.EXPLAINED,
    Status.FLAKY: ExitStatus.FLAKY,
    Status.ALREADY_RED: ExitStatus.ALREADY_RED,
    Status.INCONCLUSIVE: ExitStatus.INCONCLUSIVE,
    Status.BROKEN: ExitStatus.CANNOT_RUN,
}


class WithTestCommand(click.Command):
    """A command whose arguments after ``--`` are a test command of the user's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take what stands after the first ``--`` before click joins it to the arguments."""
        if "--" in args:
            place = args.index("--")
            ctx.meta["afterd.test"] = tuple(args[place + 1 :])
            args = args[:place]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The usage line shows the test command."""
        return [*super().collect_usage_pieces(ctx), "[-- TEST COMMAND...]"]


@click.command("explain", cls=WithTestCommand)
@click.argument("range", required=False, metavar="[RANGE]")
@click.option(
    "--test",
    metavar="CMD",
    help="The test command, run by a shell, or a test's name; or put it after --.",
)
@click.option("--build", metavar="CMD", help="The build command, run by a shell.")
@click.option("--good", metavar="REV", help="The last green revision.")
@click.option(
    "--diff",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Explain this patch on top of the good revision.",
)
@click.option(
    "--strategy",
    type=click.Choice([strategy.value for strategy in Strategy]),
    help="How the root is searched.",
)
@click.option(
    "--first", is_flag=True, default=None, help="Stop at the first test that broke, and explain it."
)
@click.option(
    "--history",
    is_flag=True,
    default=None,
    help="Look in the history for where tests broke that are red at both ends.",
)
@click.option("--python", metavar="PYTHON", help="The Python that runs the project's tests.")
@click.option(
    "--prepare",
    metavar="auto|CMD",
    help="Make an environment for the tests, or run CMD in each checkout before it is built.",
)
@click.option("--budget", metavar="5m|40runs", help="When to stop: a time, test runs, or both.")
@click.option("--jobs", type=int, metavar="N", help="Variants built and tested at the same time.")
@click.option("--executor", metavar="local|dask://HOST:PORT", help="Where variants are tested.")
@click.option(
    "--sandbox",
    type=click.Choice([each.value for each in Sandbox]),
    help="What holds builds and tests.",
)
@click.option("--timings", is_flag=True, help="Also say where the time went.")
@format_option()
@output_option
@repository_option
@loudness_options
@click.pass_context
def command(
    context: click.Context,
    /,
    repository: Path,
    loudness: Loudness,
    *,
    timings: bool,
    **given: object,
) -> None:
    """Explain why the tests of a revision range fail.

    RANGE is GOOD..BAD, or BAD alone; without it HEAD~1..HEAD. Test commands are read as git bisect
    run reads them: 0 passes, 125 cannot tell, anything else below 128 fails.

    Example: afterd explain v1.2..HEAD --build make -- make check
    """
    settings = settings_for(repository, given | given_test_command(context, given))
    clock, shown = PhaseClock(), False

    def show(explanations: tuple[Explanation, ...]) -> Progress:
        nonlocal shown
        shown = True
        listening.close()  # or its lines would be drawn over the answer
        _deliver(settings, explanations)
        quiet = loudness is Loudness.QUIET
        return Silent() if quiet else listening.enter_context(listener_after_answer())

    with command_log(repository, loudness), losses_told(loudness), ExitStack() as listening:
        progress = listening.enter_context(progress_listener(loudness))
        at_once = settings.format is Format.TEXT and settings.output is None
        explanations = pipeline.explain(settings, progress, clock, show if at_once else None)
    if not shown:
        _deliver(settings, explanations)
    if timings:
        say_timings(clock)
    context.exit(int(exit_status(explanation.status for explanation in explanations)))


def exit_status(statuses: Iterable[Status]) -> ExitStatus:
    """The exit status for several failing tests: that of the worst answer."""
    order = list(_STATUSES)
    return _STATUSES[max(statuses, key=order.index, default=Status.GREEN)]


def say_timings(clock: PhaseClock) -> None:
    """On standard error, so that the answer's format is as it was asked for."""
    table = Table(box=None, pad_edge=False)
    table.add_column("where the time went")
    table.add_column("seconds", justify="right")
    table.add_column("CPU of afterd itself", justify="right")
    for phase, spent in clock.spent().items():
        table.add_row(phase.value, f"{spent.seconds:.2f}", f"{spent.cpu:.2f}")
    total = clock.total()
    table.add_row("in all", f"{total.seconds:.2f}", f"{total.cpu:.2f}")
    errors().print(table)


def given_test_command(context: click.Context, given: dict[str, object]) -> dict[str, object]:
    """What stood after ``--``, which cannot be given twice nor be nothing."""
    test = context.meta.get("afterd.test")
    if test is None:
        return {}
    if not test or given["test"] is not None:
        raise UsageError("Give one test command: after --, or with --test.")
    return {"test": test}


def _deliver(settings: Settings, explanations: Sequence[Explanation]) -> None:
    known: dict[str, str] = {}
    for explanation in explanations:
        known |= subjects(settings.repository, explanation)
    deliver(explanations, settings.format, settings.output, settings.repository, known)
