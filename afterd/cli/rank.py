"""``afterd rank``: the lines of a repository or of a coverage matrix, most suspicious first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from afterd.cli import rank_matrix
from afterd.cli.explain import WithTestCommand, given_test_command
from afterd.cli.options import settings_for
from afterd.cli.output import errors, write
from afterd.cli.places import output_option, repository_option
from afterd.cli.rank_suite import document, lines
from afterd.errors import UsageError
from afterd.execution.runners.reading import jobs as cores
from afterd.localization.formats.files import write_matrix
from afterd.localization.formats.weights import read_weights
from afterd.localization.fusion import WEIGHTS
from afterd.localization.suite import Ran, RankRequest, rank_suite, tell_nobody
from afterd.localization.votes import FORMS, ROUNDS, VOTERS, VoteOptions
from afterd.model.progress import Progress as Listener
from afterd.model.progress import Silent
from afterd.report.live import listening
from afterd.spectra.c import USUAL, WIDTHS

ALL = "all"
DEFAULT_TECHNIQUE = "ochiai"
_NOT_FOR_A_MATRIX = (
    "test",
    "build",
    "good",
    "each",
    "jobs",
    "emit_tests",
    "emit_form",
    "rounds",
    "invariant",
    "one_formula",
    "weights",
    "output",
)


@click.command("rank", cls=WithTestCommand)
@click.argument("range", required=False, metavar="[RANGE]")
@click.option(
    "--test",
    metavar="CMD",
    help="The test command, run by a shell, or a test's name; or put it after --.",
)
@click.option("--build", metavar="CMD", help="The build command, run by a shell.")
@click.option("--good", metavar="REV", help="The last green revision.")
@click.option(
    "--each", metavar="PATTERN", help="Run the test command with each file of this pattern."
)
@click.option("--jobs", type=click.IntRange(min=1), metavar="N",
              help="Tests run at the same time.  [default: one a core]")  # fmt: skip
@click.option("--counter-bits", type=click.Choice([str(bits) for bits in WIDTHS]),
              default=str(USUAL), show_default=True,
              help="Size of a counter (C and C++); it stops at its largest value.")  # fmt: skip
@click.option(
    "--import",
    "matrix",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Rank this matrix: a TCM file, or a directory of GZoltar's files.",
)
@click.option(
    "--export",
    "export",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also write the matrix: GZoltar's files into an existing directory, otherwise TCM.",
)
@click.option(
    "--emit-tests",
    "emit_tests",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Generate tests of a failed one, and write them as test cases.",
)
@click.option("--emit-form", "emit_form", type=click.Choice(FORMS), metavar="FORM",
              help="As C programs or for pytest: c or pytest.  [default: that of the suite]")  # fmt: skip
@click.option("--invariant", metavar="FUNCTION",
              help="A C function without arguments that must not return 0 when the program ends.")  # fmt: skip
@click.option("--rounds", type=click.IntRange(min=0), metavar="N",
              help=f"Tests that SAT-TAR generates at most; Ctrl-C ends earlier.  [default: {ROUNDS}]")  # fmt: skip
@click.option("--one-formula", "one_formula", is_flag=True, default=None,
              help="All failed tests in one formula: repairs of all of them at once.")  # fmt: skip
@click.option(
    "--weights",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Weights of `fused`, as `afterd bench formula --weights` wrote them.",
)
@click.option(
    "--technique",
    "techniques",
    type=click.Choice([*VOTERS, ALL]),
    multiple=True,
    default=[DEFAULT_TECHNIQUE],
    show_default=True,
    help="Rank by this technique; may be given several times.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="The text shows the head of each ranking, JSON all of it.",
)
@output_option
@repository_option
@click.pass_context
def command(context: click.Context, /, **given: object) -> None:
    """Rank what the failed tests executed by how suspicious it is.

    The suite of HEAD, or of the bad end of RANGE, is run once and counted test by test; lines that
    RANGE changed and a failed test executed come first. With --import a matrix is ranked instead.

    Example: afterd rank HEAD~1..HEAD --technique blockrank -- make check
    """
    given |= given_test_command(context, given)
    techniques = tuple(map(str, _tuple(given.pop("techniques"))))
    if given["matrix"] is not None:
        _rank_matrix(given, techniques)
    else:
        _rank_suite(given, techniques)


def _rank_matrix(given: dict[str, object], techniques: tuple[str, ...]) -> None:
    for name in ("range", *_NOT_FOR_A_MATRIX):
        if given[name] is not None:
            raise UsageError(f"--import ranks a matrix by itself: {name} says nothing of it.")
    export = given["export"]
    rank_matrix.rank_matrix(
        Path(str(given["matrix"])),
        Path(str(export)) if export is not None else None,
        techniques,
        str(given["form"]),
    )


def _rank_suite(given: dict[str, object], techniques: tuple[str, ...]) -> None:
    wanted = tuple(VOTERS) if ALL in techniques else tuple(dict.fromkeys(techniques))
    of_settings = {name: given[name] for name in ("range", "test", "build", "good")}
    settings = settings_for(Path(str(given["repository"])), of_settings)
    with _ranking_listener() as (progress, ran):
        request = RankRequest(
            techniques=wanted,
            optional=ALL in techniques,
            in_range=bool(given["range"] or given["good"]),
            jobs=int(str(given["jobs"] or cores())),
            bits=int(str(given["counter_bits"])),
            each=str(given["each"] or ""),
            ran=ran,
            options=_options(given),
            form=str(given["emit_form"] or ""),
            emit=Path(str(given["emit_tests"])) if given["emit_tests"] is not None else None,
        )
        found = rank_suite(settings, request, progress)
    if given["export"] is not None:
        write_matrix(found.spectrum, Path(str(given["export"])))
    output = Path(str(given["output"])) if given["output"] is not None else None
    text = document(found) if given["form"] == "json" else "\n".join(lines(found))
    write(text + "\n", output)


def _options(given: Mapping[str, object]) -> VoteOptions:
    weights, rounds = given["weights"], given["rounds"]
    return VoteOptions(
        weights=WEIGHTS if weights is None else read_weights(Path(str(weights))),
        rounds=ROUNDS if rounds is None else int(str(rounds)),
        invariant=str(given["invariant"] or ""),
        one_formula=bool(given["one_formula"]),
    )


def _tuple(value: object) -> tuple[object, ...]:
    assert isinstance(value, tuple)  # click makes one of a multiple option
    return value


@contextmanager
def _ranking_listener() -> Iterator[tuple[Listener, Ran]]:
    """A bar of the tests that were run; where nobody looks at a terminal, a line a stage."""
    console = errors()
    if not console.is_terminal:
        with listening(console) as listener:
            yield listener, tell_nobody
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("looking for tests", total=None)

        def ran(done: int, tests: int) -> None:
            progress.update(task, completed=done, total=tests)

        yield _Stages(lambda stage: progress.update(task, description=stage)), ran


class _Stages(Silent):
    """Hears stages alone."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def stage(self, name: str, detail: str = "") -> None:  # noqa: ARG002 - a bar has no room for it
        """Say it."""
        self._say(name)
