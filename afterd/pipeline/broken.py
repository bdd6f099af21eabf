"""Which tests broke: red at the bad end and green at the good one; the others are set aside, and said."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from afterd.config import Settings
from afterd.errors import TestError
from afterd.execution.failures.lacks import Lack, lack_of
from afterd.execution.failures.suites import tests_counted
from afterd.execution.runners import NamesFiles, runner_named
from afterd.execution.runners.interpreters import own_modules
from afterd.limits import REPORT
from afterd.model.explanation import NO_GREEN, Status
from afterd.model.outcome import Unresolved
from afterd.model.progress import Progress
from afterd.model.wording import first_names
from afterd.pipeline.older_tests import telling_line
from afterd.pipeline.suite_run import TestsSeen, run_tests
from afterd.vcs.file_changes import KEPT_TEST
from afterd.workspace import (
    FailingTest,
    Range,
    Suite,
    Workspace,
    contents_of,
    file_of_test,
    is_asked_for,
    suite_of,
    unbuilt_checkout,
)


@dataclass(frozen=True, slots=True)
class Broken:
    """The tests to explain, smallest first, with their suite.

    ``green`` are the tests that pass at the bad version, ``said`` has what the red ones say there; ``notes`` say
    what was set aside. Without tests ``status`` and ``reason`` say why there are none.
    """

    suite: Suite
    tests: tuple[FailingTest, ...] = ()
    notes: tuple[str, ...] = ()
    status: Status = Status.GREEN
    reason: str = ""
    green: frozenset[str] = frozenset()
    said: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Ends:
    """Red tests of the bad version by what they are at the good one: green; red as the good version itself
    has them, with what they said there; those that only the bad version has; and those of which only the
    text changed.
    """

    broke: tuple[str, ...] = ()
    before: Mapping[str, str] = field(default_factory=dict)
    unclear: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


def which_broke(
    workspace: Workspace,
    settings: Settings,
    wanted: Range,
    progress: Progress,
    given: Suite | None = None,
) -> Broken:
    """Run the tests of the bad version, and those that are red there at the good one. ``given`` is the suite, where it
    is known already.

    Raises TestError where there are none, where they cannot be run, or where all that is red is red for
    want of something that is not installed.
    """
    suite = given or suite_of(workspace, settings, wanted.variants.bad, progress)
    if suite.found is None:
        return Broken(suite, (suite.test(suite.recipe.test_id),))
    look = _Look(workspace, settings, wanted, suite, progress)
    return look.broken()


@dataclass(frozen=True, slots=True)
class _Look:
    """Both ends of a range, looked at with one suite."""

    workspace: Workspace
    settings: Settings
    wanted: Range
    suite: Suite
    progress: Progress

    def broken(self) -> Broken:
        """What broke; with --first, as soon as one test is known that did."""
        aside = _Ends()
        while True:
            seen = self._at_bad()
            known = {*aside.before, *aside.unclear, *aside.changed}
            red = [name for name in seen.red if name not in known]
            if not red:
                break
            ends = self._at_good(seen, red)
            aside = _Ends(
                ends.broke,
                {**aside.before, **ends.before},
                (*aside.unclear, *ends.unclear),
                (*aside.changed, *ends.changed),
            )
            if ends.broke or not self.settings.first:
                break
        few = self.workspace.limits.search.few
        left = few if aside.broke else len(aside.unclear)
        unclear = sorted(aside.unclear, key=self._size)[:left]
        changed = sorted(self._changed_by_several(aside), key=self._size)[:few]
        asked = (*sorted(aside.broke, key=self._size), *unclear, *changed)
        if asked:
            tests = tuple(self._as_asked(self.suite.test(name)) for name in asked)
            rest = replace(
                aside,
                unclear=tuple(set(aside.unclear) - set(unclear)),
                changed=tuple(name for name in aside.changed if name not in changed),
            )
            notes = tuple(self._set_aside(rest))
            green = seen.green or frozenset()
            return Broken(self.suite, tests, notes, green=green, said=seen.red)
        if not seen.red:
            passing = f"All {len(seen.green):,} tests pass" if seen.green else "Every test passes"
            if len(seen.green or ()) == 1:
                passing = "The one test passes"
            if self._named:
                passes = "passes" if len(self._named) == 1 else "pass"
                passing = f"{first_names(self._named, REPORT.named)} {passes}"
            return Broken(self.suite, reason=f"{passing} at the bad version.")
        return self._nothing_broke(aside, seen)

    def _as_asked(self, test: FailingTest) -> FailingTest:
        """A test that was asked for by its name, and whose runner names none when it runs it alone, by that name."""
        found, recipe = self.suite.found, self.suite.recipe
        is_alone = len(self.suite.named) == 1 and found is not None and recipe.test != found.test
        if not is_alone or test.recipe.test_id != recipe.test_id:
            return test
        return replace(test, recipe=replace(test.recipe, test_id=self.suite.named[0]))

    def _changed_by_several(self, aside: _Ends) -> tuple[str, ...]:
        """Where nothing else broke, the tests whose text changed, if by several commits: what the last of them did
        may be of the regression, and the rest of a feature that the good version lacks.
        """
        kept = (c for c in self.wanted.changes.changes if c.pruned == KEPT_TEST)
        several = len({commit for change in kept for commit in change.commits}) > 1
        return aside.changed if several and not aside.broke else ()

    def _at_bad(self) -> TestsSeen:
        self.progress.stage("running the tests of the bad version")
        named = self._named
        seen = run_tests(
            self.workspace,
            self.suite,
            self.wanted.variants.bad,
            self.progress,
            named or None,
            within=True,
            to_first=self.settings.first and not named,
        )
        whole = self.suite.recipe.test_id
        if named and whole not in seen.red:
            seen = _of_names(seen, named)
        self._require_run(seen)
        none_ran = seen.attempt.outcome.reason is Unresolved.UNTESTABLE
        if named and (none_ran or not (seen.red or seen.green or seen.green is None)):
            raise TestError(
                f"{first_names(named, REPORT.named)}: the bad version has no such test."
                f"{self._alike(named[0])} It was looked for by {self._runner}."
            )
        return seen

    @property
    def _named(self) -> Sequence[str]:
        return self.suite.named or self.settings.tests

    @property
    def _runner(self) -> str:
        return self.suite.found.runner if self.suite.found else "the runner"

    def _alike(self, name: str) -> str:
        """The tests of the named file whose names look like the one that was asked for, as a sentence."""
        path, _, inside = name.partition("::")
        source = contents_of(self.workspace, self.wanted.variants.bad)(path)
        if source is None or not inside:
            return ""
        functions = _functions(source)
        asked = inside.partition("[")[0].split("::")[-1]
        alike = get_close_matches(asked, sorted(functions), 1)
        return f" Is {alike[0]} meant?" if alike else ""

    def _require_run(self, seen: TestsSeen) -> None:
        """Raise what stands in the way of any test's outcome at the bad version."""
        outcome = seen.attempt.outcome
        if seen.attempt.unrunnable:
            raise TestError(f"At the bad version: {seen.attempt.unrunnable}")
        none_ran = outcome.reason is Unresolved.UNTESTABLE
        if none_ran and not self._named and set(seen.red) == {self.suite.recipe.test_id}:
            raise TestError(
                f"{self._runner} ran no test of the bad version. If another command runs them, put it behind the range:"
                f" `afterd explain GOOD..BAD -- COMMAND`. It said:\n{outcome.detail}"
            )
        if not seen.said or seen.red:
            return
        lack = lack_of(seen.said, self._own())
        if lack is not None:
            raise TestError(self._lacks(lack))
        raise TestError(
            f"{self._runner} could not run the tests of the bad version; it said:\n{outcome.detail or seen.said}"
        )

    def _at_good(self, seen: TestsSeen, red: Sequence[str]) -> _Ends:
        """What the red tests are at the good version: as the bad one has them, and else as it has them itself.

        Where the runner cannot choose tests, a few are left to the confirmation of each; not those that fail for
        want of something, which is one cause for all of them.
        """
        assert self.suite.found is not None
        if seen.attempt.outcome.reason is Unresolved.BUILD or self.suite.recipe.test_id in red:
            return _Ends(tuple(red))
        variants, few = self.wanted.variants, self.workspace.limits.search.few
        told_alone = not self.suite.found.reported and len(red) <= few
        if told_alone and not self._lacking({name: seen.red[name] for name in red}):
            return _Ends(tuple(red))
        self.progress.stage("running what is red at the good version", _tests(len(red)))
        kept = self._run(variants.tree(self.wanted.everything), red)
        if kept.green is None:  # the runner names what fails alone
            still = {name: kept.red[name] for name in red if name in kept.red}
            return _Ends(tuple(name for name in red if name not in still), still)
        broke = tuple(name for name in red if name in kept.green)
        rest = [name for name in red if name not in kept.green]
        own = self._run(variants.good, rest) if rest else kept
        said = {name: kept.red.get(name) or own.red.get(name) or seen.red[name] for name in rest}
        green = [name for name in rest if name in (own.green or ())]
        changed = self._green_in_old_form(green)
        unread = self._unread_at_good(own, [name for name in rest if name not in green])
        if unread and len(unread) == len(red):
            raise TestError(f"At the good version: {' '.join(dict.fromkeys(unread.values()))}")
        # What is red at the bad version for want of something is so whatever stops the good one.
        lacking = self._lacking({name: seen.red[name] for name in rest if name not in green})
        before = {name: said[name] for name in rest if name in own.red}
        before |= {
            name: own.red[file_of_test(name)] for name in unread if file_of_test(name) in own.red
        }
        before |= {name: seen.red[name] for name in lacking}
        return _Ends(
            (*broke, *(name for name in green if name not in changed)),
            before,
            tuple(name for name in rest if name not in before and name not in green),
            changed,
        )

    def _unread_at_good(self, own: TestsSeen, names: Sequence[str]) -> dict[str, str]:
        """The tests whose files the good version cannot read for want of something that is not installed, each with
        the sentence that says it; all of them, where nothing could be read there.
        """
        lacking = self._lacking(own.red)
        unread = {
            name: lacking[file_of_test(name)] for name in names if file_of_test(name) in lacking
        }
        if lacking and not own.green and len(lacking) == len(own.red):
            unread = dict.fromkeys(names, next(iter(lacking.values()))) | unread
        return unread

    def _green_in_old_form(self, names: Sequence[str]) -> tuple[str, ...]:
        """Of tests that are green at the good version in its own form those that are so at the bad one, too:
        what changed is the test. The others broke, whatever else their files need of the bad version.
        """
        if not names:
            return ()
        kept = frozenset(c.id for c in self.wanted.changes.changes if c.pruned == KEPT_TEST)
        seen = self._run(self.wanted.variants.without(kept).bad, names)
        return tuple(name for name in names if name in (seen.green or ()))

    def _run(self, tree: str, names: Sequence[str]) -> TestsSeen:
        return run_tests(self.workspace, self.suite, tree, self.progress, names)

    def _set_aside(self, aside: _Ends) -> list[str]:
        """A line for each reason why a red test is not explained."""
        notes = []
        lacking = self._lacking(aside.before)
        if unread := self._unread(aside.before, lacking):
            notes.append(
                f"{_count(len(unread), 'test file')} cannot be loaded at either end, so what is in"
                f" {'it' if len(unread) == 1 else 'them'} was not run:"
                f" {first_names(list(unread), REPORT.named)}.{_said_first(unread)}"
            )
        if before := [name for name in aside.before if name not in {*lacking, *unread}]:
            notes.append(
                f"{_were(len(before), 'red')} before: {first_names(before, REPORT.named)}."
            )
        for sentence in dict.fromkeys(lacking.values()):
            of_it = [name for name in lacking if lacking[name] == sentence]
            notes.append(f"{_were(len(of_it), 'not run')} for want of something: {sentence}")
        if aside.unclear:
            one = len(aside.unclear) == 1
            notes.append(
                f"{_tests(len(aside.unclear))} that {'is' if one else 'are'} new or changed"
                f" {'fails' if one else 'fail'} at both ends: {first_names(sorted(aside.unclear), REPORT.named)}."
            )
        if aside.changed:
            notes.append(
                f"Of {_tests(len(aside.changed))} the text changed, and only the new one fails:"
                f" {first_names(aside.changed, REPORT.named)}."
            )
        return notes

    def _nothing_broke(self, aside: _Ends, seen: TestsSeen) -> Broken:
        """All that is red is no regression of this range: what it is, or what may be found further back."""
        lacking = self._lacking(aside.before)
        before = [name for name in aside.before if name not in lacking]
        if len(lacking) > len(before):
            raise TestError(
                " ".join(self._set_aside(aside) if before else dict.fromkeys(lacking.values()))
            )
        unread = self._unread(aside.before, lacking)
        if len(unread) == len(seen.red) and _ran_none_but(unread, seen):
            raise TestError(
                f"{self._runner} ran no test: its files can be loaded at neither end of the range"
                f" ({first_names(list(unread), REPORT.named)}).{_said_first(unread)} If another command runs the tests,"
                " put it behind the range: `afterd explain GOOD..BAD -- COMMAND`."
            )
        if before and (self.settings.history or len(before) <= self.workspace.limits.search.few):
            tests = tuple(self.suite.test(name) for name in sorted(before, key=self._size))
            return Broken(self.suite, tests, tuple(self._set_aside(replace(aside, before={}))))
        reason = " ".join(self._set_aside(aside))
        if not before:
            reason += f" So {NO_GREEN}."
        elif len(unread) < len(before):
            what = "Nothing else" if unread else "Nothing"
            reason += f" {what} broke in this range; --history looks for where they did."
        else:
            reason += " No other test is red."
        return Broken(self.suite, status=Status.ALREADY_RED, reason=reason)

    def _lacking(self, said: Mapping[str, str]) -> dict[str, str]:
        """The tests that fail for want of something that is not installed, each with the sentence that says it."""
        own = self._own()
        found = {name: lack_of(words, own) for name, words in said.items()}
        return {name: self._lacks(lack) for name, lack in found.items() if lack is not None}

    def _unread(self, red: Mapping[str, str], lacking: Collection[str]) -> dict[str, str]:
        """The red tests that are files which cannot be loaded, for another reason than what is ``lacking``."""
        found, runner = self.suite.found, runner_named(self._runner)
        if found is None or not isinstance(runner, NamesFiles):
            return {}
        return {
            name: said
            for name, said in red.items()
            if name not in lacking and runner.is_unread(found, name, said)
        }

    def _own(self) -> frozenset[str]:
        return own_modules(unbuilt_checkout(self.workspace, self.wanted.variants.bad))

    def _lacks(self, lack: Lack) -> str:
        return lack.sentence(self.suite.recipe.test[0])

    def _size(self, name: str) -> tuple[int, str]:
        """Lines of the test's function, for a Python test; files that were not imported come first."""
        path, _, inside = name.partition("::")
        source = contents_of(self.workspace, self.wanted.variants.bad)(path)
        if source is None or not path.endswith(".py"):
            return (0, name)
        return (_lines_of(source, inside.partition("[")[0].split("::")[-1]), name)


def _lines_of(source: bytes, function: str) -> int:
    """How many lines the functions of this name have; 0 where there is none."""
    return sum(_functions(source).get(function, ()))


def _functions(source: bytes) -> dict[str, list[int]]:
    """The functions of a module by name, with the lines of each; none where it cannot be read."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found: dict[str, list[int]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            found.setdefault(node.name, []).append(lines)
    return found


def _of_names(seen: TestsSeen, names: Sequence[str]) -> TestsSeen:
    """What a run showed of the named tests and those in them."""
    red = {name: said for name, said in seen.red.items() if is_asked_for(name, names)}
    green = seen.green and frozenset(name for name in seen.green if is_asked_for(name, names))
    return replace(seen, red=red, green=green)


def _ran_none_but(unread: Collection[str], seen: TestsSeen) -> bool:
    """Whether a run was of no test but of modules that cannot be imported, as far as its runner tells."""
    if seen.green is not None:
        return not seen.green
    counted = tests_counted(seen.attempt.outcome.detail)
    return counted is not None and counted <= len(unread)


def _said_first(said: Mapping[str, str]) -> str:
    """What the first of several tests says, as a sentence; empty where it says nothing."""
    line = telling_line(next(iter(said.values())))
    return f" {next(iter(said))} says: {line.rstrip('.')}." if line else ""


def _tests(number: int) -> str:
    return _count(number, "test")


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _were(number: int, what: str) -> str:
    return f"{_tests(number)} {'was' if number == 1 else 'were'} {what}"
