"""``afterd bench soak``: bad commits made by a seed, explained, and each answer replayed without afterd.

A promise is broken where plain git and the plain test command show something else than the answer
says. An answer is exact where it names the guilty mutants that are to be undone, and nothing else.
"""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from afterd.bench.bad_commits import BadCommit, Program, Workshop, programs
from afterd.bench.budgets import SOAK
from afterd.bench.case import Prepared
from afterd.bench.mutation import Mutant
from afterd.bench.plain import Seen, test_undone
from afterd.bench.proportion import Proportion
from afterd.bench.trial import Options, answered_case, stored_explanation
from afterd.config import Budget, Strategy
from afterd.errors import RepositoryError
from afterd.model.change import Change
from afterd.model.explanation import Explanation, Status
from afterd.report.revert import revert_patch
from afterd.vcs.tokens import language_of

_BUDGET = Budget(seconds=SOAK.explanation, runs=None)
_NEVER = frozenset({Status.GREEN, Status.ALREADY_RED, Status.FLAKY, Status.BROKEN})
_SAID = "the answer is %s, and the test is green before and red after, each time"


@dataclass(frozen=True, slots=True)
class Soaked:
    """One answer: ``broken`` are the promises that did not hold, as sentences; ``runs`` its test runs.

    ``exact``: the root and what goes along are the guilty mutants to be undone. None: no answer. ``language``
    is that of the program, ``guilty`` how many mutants were drawn that turn the test red.
    """

    case: str
    status: str
    exact: bool | None
    broken: tuple[str, ...]
    runs: int
    changes: int
    note: str = ""
    language: str = ""
    guilty: int = 0


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


def soaked_cases(
    soak: Soak,
    names: Collection[str] = (),
    say: Callable[[str], None] = lambda _line: None,
    journal: Journal | None = None,
) -> Iterator[Soaked]:
    """Each case as soon as it is judged; ``names``: only the programs of these fixtures. What the ``journal``
    has of an earlier soak is not made again.

    Programs take turns, in an order that the seed decides.
    """
    every = programs(names)
    random.Random(soak.seed).shuffle(every)  # noqa: S311 - no secret
    judged = journal or Journal(None)
    done = turn = 0
    while done < soak.cases and every:
        name = f"{every[turn % len(every)].name}, seed {soak.seed}.{turn}"
        for found in _of_one_program(soak, every[turn % len(every)], name, say, judged):
            yield found
            done += 1
            if done == soak.cases:
                return
        turn += 1


def _of_one_program(
    soak: Soak, program: Program, name: str, say: Callable[[str], None], journal: Journal
) -> Iterator[Soaked]:
    """Some cases of a program, whose mutants are tried once for all of them."""
    with tempfile.TemporaryDirectory(prefix="afterd-soak-", ignore_cleanup_errors=True) as place:
        workshop: Workshop | None = None
        for number in range(SOAK.commits):
            case_name = f"{name}.{number}"
            if case_name not in journal:
                if workshop is None:
                    say(f"{program.name}: trying mutants")
                    chance = random.Random(name)  # noqa: S311 - no secret
                    workshop = Workshop(program, Path(place), chance, soak.drawn)
                home = (soak.kept or Path(place)) / f"case-{case_name.rpartition(' ')[2]}"
                chance = random.Random(case_name)  # noqa: S311 - no secret
                case = workshop.bad_commit(
                    _fresh_home(home) / "repository", soak.most_harmless, chance
                )
                judged = soaked_case(case, home, soak, case_name) if case else None
                journal.add(case_name, judged)
                if soak.kept is None:
                    shutil.rmtree(home, ignore_errors=True)
            if found := journal.judged(case_name):
                yield found


def _fresh_home(home: Path) -> Path:
    home.mkdir(parents=True)
    return home


def soaked_case(case: BadCommit, home: Path, soak: Soak, name: str) -> Soaked:
    """Explain one bad commit, in a process of its own, and replay the answer below ``home``."""
    prepared = Prepared(
        case.path, case.good, case.bad, tuple(case.commands.build), tuple(case.commands.test)
    )
    options = Options((Strategy.AFTER,), 1, soak.budget)
    found = answered_case(prepared, Strategy.AFTER, options, home)
    language = language_of(case.guilty[0].file).value
    if not found.identifier:
        return Soaked(
            name,
            "no answer",
            None,
            (found.problem,),
            0,
            0,
            language=language,
            guilty=len(case.guilty),
        )
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
        language,
        len(case.guilty),
    )


def broken_promises(case: BadCommit, explanation: Explanation, home: Path) -> Iterator[str]:
    """What an answer says and plain git and the plain test do not show."""
    if explanation.status in _NEVER:
        yield _SAID % explanation.status.value
    reported = (*explanation.root, *explanation.auxiliary)
    if explanation.verified:
        seen = _replayed_answer(case, reported, home / "undone")
        if seen is not Seen.GREEN:
            yield f"with {_named_changes(reported)} undone the test should pass, and it {seen.value}"
    for change in reported if explanation.minimal else ():
        left = [each for each in reported if each is not change]
        if _replayed_answer(case, left, home / f"without-{change.id}") is Seen.GREEN:
            yield f"{change.id} is not needed: the test passes with {_named_changes(left)} undone"


def _replayed_answer(case: BadCommit, changes: Sequence[Change], into: Path) -> Seen:
    patch = revert_patch(changes)
    try:
        return test_undone(case.path, case.bad, patch, into, case.commands)
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


def _named_changes(changes: Sequence[Change]) -> str:
    return " and ".join(each.id for each in changes) or "nothing"


class Journal:
    """What was judged already, by the cases' names: a JSON object a line, added as it is judged.

    ``path``: None keeps it in memory. A line that was cut off by a kill is made again.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._judged: dict[str, Soaked | None] = {}
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                with suppress(ValueError):
                    stored = json.loads(line)
                    found = stored["found"]
                    if found is not None:
                        found = Soaked(**{**found, "broken": tuple(found["broken"])})
                    self._judged[stored["case"]] = found

    def __contains__(self, name: object) -> bool:
        return name in self._judged

    def judged(self, name: str) -> Soaked | None:
        """What came of a case; None where what was drawn is no bad commit."""
        return self._judged[name]

    def add(self, name: str, found: Soaked | None) -> None:
        """Keep it."""
        self._judged[name] = found
        if self._path is not None:
            line = json.dumps({"case": name, "found": asdict(found) if found else None})
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"\n{line}")


def rate(found: Sequence[Soaked]) -> Proportion:
    """How many of the bad commits were answered exactly."""
    return Proportion(sum(each.exact is True for each in found), len(found))
