"""Tests of the bad version that the good one cannot build, import or run.

A variant has the test files of the bad version, because the failing test must be the same in all of
them. That is more than it needs: one new test that calls what the good version lacks spoils the build of
all. So where the good version gives no green with them, ever more of what changed in test files is left
as the good version has it: the files that the failing test does not use, then all but its own, then what
is not of its own function, then what older commits of the range did to it, then all. The first that gives a
green is taken.

The last of these has the test's own old form. Where there is none, the test is new; where the old form
passes at the bad version, it is the test that changed: neither is a regression.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from afterd.errors import BuildError, TestError, UntestableError
from afterd.execution.confirmation import Confirmation, Ends
from afterd.execution.failures.values import told_failure
from afterd.execution.flakiness import Repeats
from afterd.execution.oracle import Oracle
from afterd.execution.recipe import Scope
from afterd.execution.runners import GIVEN
from afterd.execution.signature import is_not_compiled, same_failure, tells_nothing
from afterd.limits import REPORT
from afterd.model.change import Change, ChangeForm, ChangeSet, FileKind
from afterd.model.explanation import NO_GREEN
from afterd.model.outcome import FailureKind, Outcome, Unresolved, Verdict
from afterd.model.wording import first_names
from afterd.pipeline.unrunnable_good import range_with_runnable_good
from afterd.vcs.file_changes import KEPT_TEST
from afterd.workspace import FailingTest, Range

_NAMED_ERROR = re.compile(
    r"^(?:E +|INTERNALERROR> )?((?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning)\b.*)",
    re.MULTILINE,
)
_WORD = re.compile(r"[^\W\d]\w+")
_IMPORT = re.compile(
    r"\s*(?:(?:import|from|use|using|require|#\s*include|load)\b|(?:[\w.]+\s+)?\"[\w./@-]+\"$|(?:const|let|var)\s.*\brequire\()"
)

Confirming = Callable[[Range], tuple[Oracle, Confirmation]]
"""Confirms both ends of a range; raises what ``confirm`` does."""
Asking = Callable[[Range], Oracle]
"""The oracle of a range, of which nothing is known yet."""


@dataclass(frozen=True, slots=True)
class SettledEnds:
    """A range with what its ends showed. ``note`` says what is otherwise than was asked for: which test files are not
    as in the bad version, or which older range this is; ``reason``, where it is not empty, why there is no green to
    compare with.
    """

    wanted: Range
    oracle: Oracle
    confirmation: Confirmation
    note: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """Changes of test files that every variant has as in the good version, what they are, and the sentence
    for it. ``partly``: part of the failing test's own text is among them, so it may pass at the bad version
    for want of what fails.
    """

    undone: ChangeSet
    what: str
    note: str
    partly: bool = False


def settled_ends(
    wanted: Range, test: FailingTest, asking: Asking, confirming: Confirming
) -> SettledEnds:
    """Both ends, with as many test files as in the bad version as the good one can be green with.

    Raises BuildError or TestError where an end cannot be built or run, whatever the tests are.
    """
    kept = [change for change in wanted.changes.changes if change.pruned == KEPT_TEST]
    failed: BuildError | TestError | None = None
    try:
        oracle, confirmation = confirming(wanted)
    except (BuildError, TestError) as error:
        oracle, failed = asking(wanted), error
        bad = oracle.attempt(wanted.variants.bad).outcome
        if bad.signature is None:  # it is the bad end that stands in the way
            raise
        confirmation = Confirmation(Ends.ALREADY_RED, bad, None, Repeats(1, 0), 1.0)
    asis = SettledEnds(wanted, oracle, confirmation)
    own = own_test(test, confirmation.bad, kept)
    otherwise = _fails_otherwise(confirmation)
    if not _may_have_older(confirmation, own, kept, otherwise=otherwise):
        return asis
    few = test.recipe.limits.search.few
    found, last = _with_older_tests(asis, own, kept, asking, confirming, few)
    if found is not None:
        return found
    last = last or Outcome(Verdict.UNRESOLVED, Unresolved.BUILD if failed else None)
    absent = isinstance(failed, UntestableError) and test.runner != GIVEN
    if (
        last.reason is Unresolved.UNTESTABLE or absent
    ):  # no test of that name, whichever tests are there
        moved = _stood_in(kept, own)
        return replace(
            asis, reason=_new_test_sentence(failed, confirmation.good, moved, wanted.revisions.bad)
        )
    said = str(failed or (confirmation.good.detail if confirmation.good else ""))
    later = range_with_runnable_good(wanted, said, asking, few) if otherwise else None
    if later:
        return SettledEnds(later[0], *confirming(later[0]), later[1])
    if failed is not None:
        raise _with_own_tests(failed, last)
    return asis


def _with_older_tests(
    asis: SettledEnds,
    own: OwnTest,
    kept: list[Change],
    asking: Asking,
    confirming: Confirming,
    few: int,
) -> tuple[SettledEnds | None, Outcome | None]:
    """The ends with the fewest older tests that the good version is green with, and what it showed with the last ones
    that it was tried with; None where that was never green, or where no test file changed.
    """
    wanted, failed, last = asis.wanted, asis.confirmation.bad, None
    mine = frozenset(change.id for change in kept if own.has(change))
    for choice in choices(kept, own, wanted.changes.commits[::-1], few):
        older = undone_in_all(wanted, choice)
        asis.oracle.progress.stage("trying the good version with older tests", choice.what)
        last = asking(older).tree_outcome(older.variants.tree(older.everything))
        if not last.passed:
            continue
        found = _with_choice(wanted, choice, older, confirming, failed, mine)
        if found is None and choice.partly:
            continue
        if found is None and choice.undone & mine:
            found = replace(asis, reason=_fails_otherwise_in_old_form(older, asking))
        return found or asis, last
    return None, last


def _with_own_tests(failed: BuildError | TestError, last: Outcome) -> BuildError | TestError:
    """Why the good version does not build: what is said of it with its own tests, which were tried ``last``."""
    if isinstance(failed, BuildError) and last.reason is Unresolved.BUILD and last.detail:
        why = "The good version does not build, with its own tests neither; its build says then"
        return BuildError(f"{why}:\n{last.detail}", "good")
    return failed


def _fails_otherwise(confirmation: Confirmation) -> bool:
    """Whether the good version's red is another failure than the bad one's, or may be."""
    good, bad = confirmation.good, confirmation.bad
    if good is None or good.signature is None or bad.signature is None:
        return True
    if tells_nothing(bad.signature):
        return True
    return not same_failure(bad.signature, good.signature)


def _may_have_older(
    confirmation: Confirmation, own: OwnTest, kept: Sequence[Change], *, otherwise: bool
) -> bool:
    """Whether the good version is red for want of older tests, as far as that can be told."""
    if confirmation.ends is not Ends.ALREADY_RED or not (otherwise or any(map(own.has, kept))):
        return False
    return bool(own.files) or not _is_status_alone(confirmation)


def _is_status_alone(confirmation: Confirmation) -> bool:
    """Whether the good version's tests were not compiled, and of the bad one's failure nothing but a status is known:
    with other tests it might be another failure, and nobody could tell.
    """
    good, bad = confirmation.good, confirmation.bad.signature
    return bool(good and is_not_compiled(good.signature) and bad and bad.kind is FailureKind.EXIT)


def _with_choice(
    wanted: Range,
    choice: Choice,
    older: Range,
    confirming: Confirming,
    failed: Outcome,
    mine: ChangeSet,
) -> SettledEnds | None:
    """The range with a choice in all variants; where the bad version cannot have those test files, they
    take part in the search, as what must go along, but for the failing test's own text (``mine``): without it the
    test passes whatever broke it. None where it shows nothing. ``failed`` is how the bad version fails with its own.
    """
    found = _confirmed_with_older(older, confirming, failed)
    if found is None:
        if choice.partly or choice.undone & mine:
            return None
        both = taking_part(wanted, choice.undone)
        oracle, confirmation = confirming(both)
        note = "Neither version passes with the other's test files, so these are searched as well."
        return SettledEnds(both, oracle, confirmation, note)
    oracle, confirmation = found
    if confirmation.ends is Ends.ALREADY_RED or (
        choice.partly and confirmation.ends is not Ends.CONFIRMED
    ):
        return None
    if confirmation.ends is Ends.GREEN:
        return SettledEnds(
            older, oracle, confirmation, "", _changed_test_sentence(wanted, choice, mine)
        )
    return SettledEnds(older, oracle, confirmation, choice.note)


def _confirmed_with_older(
    older: Range, confirming: Confirming, failed: Outcome
) -> tuple[Oracle, Confirmation] | None:
    """Both ends with older tests; None where the bad version cannot be built or run with them, or fails
    otherwise: that would explain another failure (helpers that import what has moved since).
    """
    try:
        oracle, confirmation = confirming(older)
    except (BuildError, TestError):
        return None
    expected, seen = failed.signature, confirmation.bad.signature
    if expected is not None and seen is not None and not same_failure(expected, seen):
        return None
    return oracle, confirmation


def undone_in_all(wanted: Range, choice: Choice) -> Range:
    """The range whose every variant has these changes undone."""
    return replace(wanted, variants=wanted.variants.without(choice.undone))


def taking_part(wanted: Range, tests: ChangeSet, kind: FileKind = FileKind.TEST) -> Range:
    """The range in which changes of test files are undone like any others, as changes of a ``kind`` of file."""
    changes = tuple(
        replace(change, pruned="", kind=kind) if change.id in tests else change
        for change in wanted.changes.changes
    )
    listed = replace(wanted.changes, changes=changes)
    return replace(wanted, changes=listed, everything=wanted.everything | tests)


@dataclass(frozen=True, slots=True)
class OwnTest:
    """The failing test as far as its name and its failure tell: the files and the functions that may be
    its own. ``whole`` are files that are called as the test is: all that stands in them is of it.
    """

    files: frozenset[str]
    names: frozenset[str]
    whole: frozenset[str] = frozenset()

    def has(self, change: Change) -> bool:
        """Whether a change is of the test's own text, or names it (where tests are registered)."""
        if change.file in self.whole:
            return True
        if change.file not in self.files:
            return False
        words = frozenset(_WORD.findall(change.patch + " " + change.symbol))
        return bool(words & self.names) or not self.names


def own_test(test: FailingTest, failure: Outcome, kept: Sequence[Change]) -> OwnTest:
    """Where the failing test stands, among the test files that changed."""
    recipe, signature = test.recipe, failure.signature
    said = " ".join((recipe.test_id, *recipe.test))
    place = signature.file if signature else ""
    named = {word for word in re.split(r"[\s:/\\]+", said) if word}
    stems = {PurePosixPath(word).stem for word in named} | named
    files = {
        change.file
        for change in kept
        if change.file in said
        or PurePosixPath(change.file).stem in stems
        or (place and (change.file.endswith(f"/{place}") or change.file == place))
    }
    symbol = signature.symbol if signature else ""
    name = recipe.test_id.partition("[")[0]
    if test.runner == "autotools":
        name = name.partition(" in ")[0]  # a folder
    if test.runner == "Meson":
        name = name.rpartition(":")[2]  # behind its project
    called = "" if re.search("::| > ", name) else PurePosixPath(name).stem  # more than a file
    whole = {change.file for change in kept if PurePosixPath(change.file).stem == called}
    last = called if whole else re.split(r"::|[\s/>.]", name)[-1]
    names = frozenset(_WORD.findall(f"{symbol} {last}"))
    files |= {change.file for change in kept if change.symbol.rpartition(".")[2] in names}
    return OwnTest(frozenset(files | whole), names, frozenset(whole))


def own_changes(test: FailingTest, failure: Outcome, tests: Sequence[Change]) -> ChangeSet | None:
    """Of changes of test files those of the failing test's own text; None where it is not known which these are, as of
    a suite whose tests have no names: that a word of its command is a file's name tells little.
    """
    own = own_test(test, failure, tests)
    said = " ".join(test.recipe.test)
    is_whole = test.recipe.scope is Scope.WHOLE
    if not own.files or (is_whole and not any(file in said for file in own.files)):
        return None
    return frozenset(change.id for change in tests if own.has(change))


def choices(
    kept: list[Change], own: OwnTest, newest: Sequence[str] = (), most: int = 0
) -> Iterator[Choice]:
    """What may be left as in the good version, ever more of it; each set once, none empty.

    Of the failing test's own text what ``most`` of the ``newest`` commits, latest first, did to it is kept:
    a test that came with a feature may have got a line for the regression since.
    """
    used = _used_test_files(kept, own.files)
    ways = (
        ([c for c in kept if c.file not in used], "test files that the failing test does not use"),
        ([c for c in kept if c.file not in own.files], "test files other than the failing test's"),
        (_not_own(kept, own), "all of the tests but the failing one"),
    )
    tried: set[ChangeSet] = set()
    for changes, which in ways if own.files else ():
        yield from _choice(changes, which, tried)
    mine = [c for c in kept if own.has(c)] or kept
    touching = [commit for commit in newest if any(commit in c.commits for c in mine)]
    for number in range(1, min(most, len(touching) - 1) + 1):
        # what else they did to its files goes along: what it uses may have been declared with it
        own_text = [c for c in kept if c.file in own.files] or mine
        late = {c.id for c in own_text if c.commits and set(c.commits) <= set(touching[:number])}
        which = f"all tests but what {_later_version(number)} did to the failing one"
        if late:
            yield from _choice([c for c in kept if c.id not in late], which, tried, partly=True)
    yield from _choice(kept, "all test files", tried)


def _later_version(number: int) -> str:
    return "the last commit" if number == 1 else f"the last {number} commits"


def _choice(
    changes: list[Change], which: str, tried: set[ChangeSet], *, partly: bool = False
) -> Iterator[Choice]:
    undone = frozenset(change.id for change in changes)
    if undone and undone not in tried:
        tried.add(undone)
        yield Choice(undone, which, _note(changes, which), partly)


def _used_test_files(kept: list[Change], own: frozenset[str]) -> frozenset[str]:
    """The changed test files that those of the failing test mention, directly or through one another."""
    text: dict[str, str] = {}
    for change in kept:
        text[change.file] = text.get(change.file, "") + change.patch
    used, asked = set(own), list(own)
    while asked:
        said = text.get(asked.pop(), "")
        for file in text.keys() - used:
            path = PurePosixPath(file)
            if path.name in said or re.search(rf"\b{re.escape(path.stem)}\b", said):
                used.add(file)
                asked.append(file)
    return frozenset(used)


def _not_own(kept: list[Change], own: OwnTest) -> list[Change]:
    """All but the failing test's own text, and what that names of what else is new."""
    mine = [change for change in kept if own.has(change)]
    rest = [change for change in kept if not own.has(change)]
    while True:
        words = {word for change in mine for word in _WORD.findall(_added_text(change))}
        more = [c for c in rest if c.file in own.files and _is_used(c, words)]
        if not more:
            return rest
        mine, rest = [*mine, *more], [change for change in rest if change not in more]


def _is_used(change: Change, words: set[str]) -> bool:
    """Whether a change is of something that these words name, or imports it."""
    added = change.lines("+")
    imports = (
        bool(added) and not change.symbol and all(map(_IMPORT.match, filter(str.strip, added)))
    )
    return change.symbol.split(".")[-1] in words or (
        imports and not words.isdisjoint(_WORD.findall("\n".join(added)))
    )


def _added_text(change: Change) -> str:
    return "\n".join(change.lines("+"))


def _note(changes: Iterable[Change], which: str) -> str:
    files = list(dict.fromkeys(change.file for change in changes))
    return (
        f"The good version cannot be tested with the bad one's tests, so {which} are as the good"
        f" version has them ({first_names(files, REPORT.named)})."
    )


def _stood_in(kept: Iterable[Change], own: OwnTest) -> Change | None:
    """What took a file away in which a test of the same name stood; None where none did."""
    for change in kept:
        renamed = change.form is ChangeForm.RENAMED and change.file in own.files
        words = _WORD.findall("\n".join(change.lines("-")))
        if renamed or (change.form is ChangeForm.DELETED and not own.names.isdisjoint(words)):
            return change
    return None


def _new_test_sentence(
    failed: BuildError | TestError | None,
    good: Outcome | None,
    moved: Change | None = None,
    bad: str = "",
) -> str:
    said = str(failed).partition("\n")[2] if failed else (good.detail if good else "")
    own = told_failure(good.detail) if good and not failed else None
    line = own.message if own else telling_line(said)
    told = f" With the test put there it says: {line}{'.' if moved else ''}" if line else ""
    if moved is not None:
        later = [commit for commit in moved.commits if commit != bad]
        from_there = (
            "If it broke later than that, let the range begin with the commit that moved it,"
        )
        begin = f" {from_there} {later[-1][: REPORT.commit]}." if later else ""
        return f"This test moved: it stood in {moved.old_file}, so by its present name {NO_GREEN}.{told}{begin}"
    return f"This test is new: {NO_GREEN}.{told}"


_PASSED_OVER = (
    "warning",
    "Internal ctest changing into directory: ",
    "Test project ",
)


def telling_line(said: str) -> str:
    """The line of a failure's report that says most by itself: the last that names an error, else the first that is
    neither ruled off nor a warning nor what CTest says before its tests; empty where there is none.
    """
    if errors := _NAMED_ERROR.findall(said):
        return str(errors[-1]).strip()
    lines = (line.strip() for line in said.splitlines() if _WORD.search(line.replace("_", "")))
    return next((line for line in lines if not line.startswith(_PASSED_OVER)), "")


def _fails_otherwise_in_old_form(older: Range, asking: Asking) -> str:
    """Why there is no green where the old form of the test broke too, in another way than its new form fails, or cannot
    be built.
    """
    bad = asking(older).tree_outcome(older.variants.bad)
    if not bad.built or is_not_compiled(bad.signature):
        return (
            "The test changed: in its old form the good version passes it, and the bad one does not build with that."
            f" For the failure of the new form {NO_GREEN}."
        )
    said = told_failure(bad.detail)
    how = f" ({said.message})" if said and said.message else ""
    return (
        "The test changed: in its old form the good version passes it, and the bad one fails it otherwise than in its"
        f" new form{how}. For the failure of the new form {NO_GREEN}."
    )


def _changed_test_sentence(wanted: Range, choice: Choice, mine: ChangeSet) -> str:
    """That the test changed, with the files of its own text (``mine``), where it is known which these are."""
    known = wanted.changes.by_id()
    files = sorted({known[change].file for change in (choice.undone & mine) or choice.undone})
    return (
        "The test changed: its old form passes still at the bad version, and the good version does not pass"
        f" the new one, so {NO_GREEN} (see {', '.join(files[: REPORT.named])})."
    )
