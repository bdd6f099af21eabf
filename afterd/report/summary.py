"""What an explanation says, sentence by sentence: the same words in every format.

Sentences with quoted parts, so that every format can quote in its own way.

What comes from the repository or a test is always a :class:`Quoted` part: bold on a terminal, a
code span in Markdown, ``<code>`` in HTML. The plain parts are afterd's own words.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from rich.text import Text

from afterd.config import command_line
from afterd.limits import REPORT
from afterd.model.change import Change, in_order
from afterd.model.explanation import ALWAYS_RED, NO_GREEN, THE_BUILD, Explanation, Status
from afterd.report import sanitize

_TYPED_NAME = re.compile(r"\S+\.py(?:::.+)?|[^\W\d]\w*(?:\.[^\W\d]\w*)+", re.DOTALL)
"""A test by the names that `--test` takes: pytest's and unittest's."""


@dataclass(frozen=True, slots=True)
class Quoted:
    """Somebody else's text, or a command to type."""

    text: str


Phrase = tuple[str | Quoted, ...]


def listed(names: Sequence[str], most: int = REPORT.names) -> Phrase:
    """Quoted names with commas and an "and"; of more than ``most``, the first few and how many more."""
    shown = names if len(names) <= most else names[: most - 1]
    items: list[str | Quoted] = [Quoted(name) for name in shown]
    if len(shown) < len(names):
        items.append(f"{len(names) - len(shown)} more")
    parts: list[str | Quoted] = []
    for position, item in enumerate(items):
        if position:
            parts.append(" and " if position == len(items) - 1 else ", ")
        parts.append(item)
    return tuple(parts)


def clipped_phrase(phrase: Phrase, limit: int) -> Phrase:
    """The phrase with each quoted part cut to ``limit`` characters."""
    return tuple(
        Quoted(sanitize.clipped_text(part.text, limit)) if isinstance(part, Quoted) else part
        for part in phrase
    )


def as_terminal(phrase: Phrase, style: str = "bold") -> Text:
    """For a rich console."""
    text = Text()
    for part in phrase:
        if isinstance(part, Quoted):
            text.append(sanitize.one_line(part.text), style)
        else:
            text.append(part)
    return text


def as_markdown(phrase: Phrase) -> str:
    """As a paragraph of Markdown; afterd's own words hold no markup."""
    return "".join(
        sanitize.code_span(part.text) if isinstance(part, Quoted) else part for part in phrase
    )


def as_html(phrase: Phrase) -> str:
    """As HTML content."""
    return "".join(
        f"<code>{sanitize.html(sanitize.one_line(part.text))}</code>"
        if isinstance(part, Quoted)
        else sanitize.html(part)
        for part in phrase
    )


def as_plain(phrase: Phrase) -> str:
    """As one line of plain text."""
    return "".join(
        sanitize.one_line(part.text) if isinstance(part, Quoted) else part for part in phrase
    )


def headline(explanation: Explanation) -> Phrase:
    """The verdict, in one line."""
    test = Quoted(explanation.test)
    match explanation.status:
        case Status.EXPLAINED:
            guilty = listed([change.id for change in explanation.root])
            if len(explanation.root) != 1:
                return (test, " fails because of ", *guilty)
            where = location(explanation.root[0], acting_line(explanation, explanation.root[0]))
            return (test, " fails because of ", *guilty, " at ", where)
        case Status.INCONCLUSIVE if explanation.verified:
            left = len(explanation.root) + len(explanation.auxiliary)
            several = f"{left} of {explanation.changes.total} changes"
            return (
                test,
                f" fails because of changes among {several}; which of them is not known yet",
            )
        case Status.INCONCLUSIVE:
            return (test, " fails, and afterd could not find out why")
        case Status.FLAKY:
            return (test, " is flaky: the same files both passed and failed")
        case Status.ALREADY_RED if NO_GREEN in explanation.reason:
            good = Quoted(explanation.range.good[: REPORT.commit])
            return (test, " has no green to be compared with at ", good)
        case Status.ALREADY_RED:
            good = Quoted(explanation.range.good[: REPORT.commit])
            return (test, " was already red at ", good)
        case Status.BROKEN:
            return (test, " cannot be judged")
        case Status.GREEN:
            return (test, " passes at ", Quoted(explanation.range.bad[: REPORT.commit]))


def acting_line(explanation: Explanation, change: Change) -> int:
    """The first line of a change that its story tells of: a hunk may begin with a comment; 0 where it tells of none."""
    nodes = explanation.tree.nodes() if explanation.tree is not None else ()
    lines = range(change.new.start, change.new.start + change.new.count)
    told = (step for node in nodes for step in node.steps if step.change == change.id)
    return min(
        (step.line for step in told if step.file == change.file and step.line in lines), default=0
    )


def location(change: Change, acting: int = 0) -> Quoted:
    """File and line in the bad version (of a removal: the line before it, or where it was); ``acting``: the line at
    which it acts, where that is known.
    """
    line = acting or change.new.start or change.old.start
    return Quoted(f"{change.file}:{line}" if line else change.file)


def place(
    change: Change, subjects: Mapping[str, str] = MappingProxyType({}), acting: int = 0
) -> Phrase:
    """Where a change is, and which commits made it, with their subjects where they are known."""
    parts: list[str | Quoted] = [location(change, acting)]
    if change.symbol:
        parts += [" in ", Quoted(change.symbol)]
    if change.form != "hunk":
        parts.append(f" ({change.form})")
    if change.commits:
        named = [
            f"{commit[: REPORT.commit]} {subjects.get(commit, '')}".strip()
            for commit in change.commits
        ]
        parts += [" by ", *listed(named, REPORT.named)]
    return tuple(parts)


def assurance(explanation: Explanation) -> Phrase:
    """What was seen of the root, and what was not; empty where there is no root."""
    if not explanation.root:
        return ()
    undone = [change.id for change in (*explanation.root, *explanation.auxiliary)]
    passes = f"{THE_BUILD if explanation.test == THE_BUILD else 'the test'} passes"
    if not explanation.verified:
        return (f"Not seen: whether {passes} with ", *listed(undone), " undone.")
    seen: Phrase = ("Seen: with ", *listed(undone), f" undone {passes}")
    also: Phrase = ()
    if others := explanation.also:
        tests = _count(len(others), "other failing test")
        also = (f" So {'does' if len(others) == 1 else 'do'} {tests}: ", *listed(others), ".")
    match explanation.minimal:
        case True if len(explanation.root) == 1:
            return (*seen, ".", *also)
        case True:
            return (*seen, "; with any one of the causes put back it does not.", *also)
        case False:
            return (*seen, "; but a smaller set may do.", *also)
        case None:
            return (*seen, "; whether all of them are needed was not checked.", *also)


def goes_along_sentence(explanation: Explanation) -> str:
    """What was seen of the changes that go along with the root."""
    if explanation.minimal is None:
        return "goes along; whether it must was not checked"
    return "goes along: put back, it does not build or the test does not pass"


def along_heading(explanation: Explanation) -> str:
    """What stands above the list of the changes that go along with the root."""
    one = len(explanation.auxiliary) == 1
    begin, each = ("Goes along", "it") if one else ("Go along", "any of them")
    if explanation.minimal is None:
        return f"{begin}; whether {'it' if one else 'they'} must was not checked:"
    return f"{begin} (with {each} put back, it does not build or the test does not pass):"


def measure(explanation: Explanation) -> Phrase:
    """How many changes there were, and what the answer cost; the floor of k + 1 runs is the search's alone."""
    counts, runs, seconds = explanation.changes, explanation.runs, explanation.runs.seconds
    roots = len(explanation.root)
    # One that passes, and one for each change put back; of a single change that is the bad version.
    least = roots + 1 if roots > 1 else 1
    counted = (
        roots and runs.tests >= least
    )  # what was seen before, or when the ends were, needs no run
    floor = f" (no fewer than {least} for {_count(roots, 'cause')})" if counted else ""
    both = runs.tests + runs.confirmation
    warm = f" ({runs.warm} of these {both} in a warm process)" if runs.warm else ""
    return (
        f"{_count(counts.total, 'change')}, {counts.pruned} that cannot matter{_executed(explanation)}. "
        f"{_count(runs.tests, 'test run')} to search{floor}, {runs.confirmation} to confirm outcomes{warm}, "
        f"{f'{runs.interventions} to test steps of the story, ' if runs.interventions else ''}"
        f"{_count(runs.builds, 'build')}, {runs.cached} from the cache, "
        f"{_count(runs.smt_calls, 'solver call')}; {seconds.total:.1f} s "
        f"(build {seconds.build:.1f}, test {seconds.test:.1f}, "
        f"trace {seconds.trace:.1f}, solve {seconds.solve:.1f}).",
    )


def _executed(explanation: Explanation) -> str:
    """How many changes the failing run executed; not said where one acts in the story and none was counted: the
    commits told which changes to look at, and the others were not.
    """
    counted, tree = explanation.changes.executed, explanation.tree
    if tree is None and not counted:
        return ", not traced"
    acts = tree is not None and any(step.change for node in tree.nodes() for step in node.steps)
    return f", {counted} executed" if counted or not acts else ""


def next_steps(explanation: Explanation) -> list[tuple[str, str]]:
    """Commands to type next, each with what it is for."""
    number = explanation.id
    match explanation.status:
        case Status.EXPLAINED:
            undone = in_order(frozenset(c.id for c in (*explanation.root, *explanation.auxiliary)))
            return [
                (f"afterd patch {number} | git apply -3", "undo it in your work tree"),
                (f"afterd replay {number} --revert {','.join(undone)}", "see the test pass"),
                (f"afterd report {number} --format md", "share it"),
            ]
        case Status.INCONCLUSIVE:
            more = (explain_command(explanation, "--budget 2h"), "go on with more time")
            plain = (explain_command(explanation, "--strategy dd"), "search without tracing")
            return [more, plain] if explanation.out_of_budget else [plain]
        case Status.FLAKY:
            return [
                (
                    f"AFTERD_CONFIRMATIONS=10 {explain_command(explanation)}",
                    "measure how flaky it is",
                ),
                (f"afterd mark {number} flaky", "remember it"),
            ]
        case Status.ALREADY_RED if any(
            said in explanation.reason for said in (NO_GREEN, ALWAYS_RED)
        ):
            return [(f"afterd report {number} --format md", "share it")]
        case Status.ALREADY_RED:
            return [(explain_command(explanation, "--good REV"), "name an older green revision")]
        case Status.BROKEN:
            return [
                ("afterd doctor", "see what is missing on this machine"),
                ("afterd init", "write the build and test commands down"),
            ]
        case Status.GREEN:
            return []


def explain_command(explanation: Explanation, option: str = "") -> str:
    """The command that explains this test once more, as it can be typed: what afterd wrote itself to build with it
    finds again, and a test may have a name that can be typed in place of a command.
    """
    words = ["afterd", "explain"]
    words.append(
        f"{explanation.range.good[: REPORT.commit]}..{explanation.range.bad[: REPORT.commit]}"
    )
    words += [option] if option else []
    if any("\n" in word for word in explanation.build_command):
        is_name = _TYPED_NAME.fullmatch(explanation.test)
        named = ["--test", shlex.quote(explanation.test)] if is_name else []
        return " ".join((*words, *named))
    for name, argv in (
        ("--build", explanation.build_command),
        ("--test", explanation.test_command),
    ):
        words += [name, shlex.quote(command_line(argv))] if argv else []
    return " ".join(words)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
