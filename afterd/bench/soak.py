"""``afterd bench soak``: bad commits made by a seed, explained, and each answer replayed without afterd.

A promise is broken where plain git and the plain test command show something else than the answer
says. An answer is exact where it names the guilty mutants that are to be undone, and nothing else.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from afterd.bench.bad_commits import BadCommit, Workshop, programs
from afterd.bench.budgets import SOAK
from afterd.bench.case import Prepared
from afterd.bench.mutation import Mutant
from afterd.bench.plain import Seen, undone
from afterd.bench.proportion import Proportion
from afterd.bench.trial import Options, answered, stored_explanation
from afterd.config import Budget, Strategy
from afterd.errors import RepositoryError
from afterd.model.change import Change
from afterd.model.explanation import Explanation, Status
from afterd.report.revert import revert_patch

_BUDGET = Budget(seconds=SOAK.explanation, runs=None)
_NEVER = frozenset({Status.GREEN, Status.ALREADY_RED, Status.FLAKY, Status.BROKEN})
_SAID = "the answer is %s, and the test is green before and red after, each time"


@dataclass(frozen=True, slots=True)
class Soaked:
    """One answer: ``broken`` are the promises that did not hold, as sentences; ``runs`` its test runs.

    ``exact``: the root and what goes along are the guilty mutants to be undone. None: no answer.
    """

    case: str
    status: str
    exact: bool | None
    broken: tuple[str, ...]
    runs: int
    changes: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class Soak:
    """How a soak is made: ``cases`` of them, from ``seed``, ``most_harmless`` innocent changes at most in
    each, of ``drawn`` mutants of a program. ``kept``: where the repositories are left (None: nowhere).
    """

    cases: int
    seed: int = 0
    most_harmless: int = 100
    budget: Budget = _BUDGET
    drawn: int = SOAK.drawn
    kept: Path | None = None


def soaked(
    soak: Soak, names: Collection[str] = (), say: Callable[[str], None] = lambda _line: None
) -> Iterator[Soaked]:
    """Each case as soon as it is judged; ``names``: only the programs of these fixtures.

    Programs take turns, in an order that the seed decides.
    """
    every = programs(names)
    random.Random(soak.seed).shuffle(every)  # noqa: S311 - no secret
    done = turn = 0
    while done < soak.cases and every:
        program = every[turn % len(every)]
        chance = random.Random(f"{soak.seed} {turn} {program.name}")  # noqa: S311
        turn += 1
        with tempfile.TemporaryDirectory(
            prefix="afterd-soak-", ignore_cleanup_errors=True
        ) as place:
            say(f"{program.name}: trying mutants")
            workshop = Workshop(program, Path(place), chance, soak.drawn)
            for number in range(min(SOAK.commits, soak.cases - done)):
                home = (soak.kept or Path(place)) / f"case-{turn}-{number}"
                case = workshop.bad_commit(_fresh(home) / "repository", soak.most_harmless)
                if case is None:
                    continue
                found = soaked_case(
                    case, home, soak, f"{program.name}, seed {soak.seed}.{turn - 1}.{number}"
                )
                yield found
                done += 1


def _fresh(home: Path) -> Path:
    home.mkdir(parents=True)
    return home


def soaked_case(case: BadCommit, home: Path, soak: Soak, name: str) -> Soaked:
    """Explain one bad commit, in a process of its own, and replay the answer below ``home``."""
    prepared = Prepared(
        case.path, case.good, case.bad, tuple(case.commands.build), tuple(case.commands.test)
    )
    options = Options((Strategy.AFTER,), 1, soak.budget)
    found = answered(prepared, Strategy.AFTER, options, home)
    if not found.identifier:
        return Soaked(name, "no answer", None, (found.problem,), 0, 0)
    explanation = stored_explanation(case.path, found.identifier)
    broken = tuple(broken_promises(case, explanation, home))
    return Soaked(
        name,
        explanation.status.value,
        is_exact(case, explanation),
        broken,
        explanation.runs.tests,
        explanation.changes.total,
        _note(case, explanation),
    )


def broken_promises(case: BadCommit, explanation: Explanation, home: Path) -> Iterator[str]:
    """What an answer says and plain git and the plain test do not show."""
    if explanation.status in _NEVER:
        yield _SAID % explanation.status.value
    reported = (*explanation.root, *explanation.auxiliary)
    if explanation.verified:
        seen = _replayed(case, reported, home / "undone")
        if seen is not Seen.GREEN:
            yield f"with {_named(reported)} undone the test should pass, and it {seen.value}"
    for change in reported if explanation.minimal else ():
        left = [each for each in reported if each is not change]
        if _replayed(case, left, home / f"without-{change.id}") is Seen.GREEN:
            yield f"{change.id} is not needed: the test passes with {_named(left)} undone"


def _replayed(case: BadCommit, changes: Sequence[Change], into: Path) -> Seen:
    patch = revert_patch(changes)
    try:
        return undone(case.path, case.bad, patch, into, case.commands)
    except RepositoryError:
        return Seen.NOTHING


def is_exact(case: BadCommit, explanation: Explanation) -> bool | None:
    """Whether an answer names the guilty mutants to be undone, and nothing else; None: it names nothing."""
    if explanation.status is not Status.EXPLAINED or not explanation.root:
        return None
    reported = (*explanation.root, *explanation.auxiliary)
    every = (*case.guilty, *case.harmless)
    named = frozenset(each for each in every if any(_is_in(each, change) for change in reported))
    return named in case.repairs


def _is_in(mutant: Mutant, change: Change) -> bool:
    first, behind = change.old.start, change.old.start + change.old.count
    return change.old_file == mutant.file and first <= mutant.line < behind


def _note(case: BadCommit, explanation: Explanation) -> str:
    places = ", ".join(f"{each.file}:{each.old.start}" for each in explanation.root)
    wanted = " or ".join(
        " and ".join(
            f"{each.file}:{each.line}" for each in sorted(one, key=lambda m: (m.file, m.line))
        )
        for one in case.repairs
    )
    return f"reported {places or 'nothing'}; to be undone {wanted}. {explanation.reason}".strip()


def _named(changes: Sequence[Change]) -> str:
    return " and ".join(each.id for each in changes) or "nothing"


def rate(found: Sequence[Soaked]) -> Proportion:
    """How many of the bad commits were answered exactly."""
    return Proportion(sum(each.exact is True for each in found), len(found))
