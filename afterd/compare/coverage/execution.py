"""What line counts of two runs say of the changes, by the protocol that tracers speak.

There are no steps and no values: no cause can be built. But a change that was not executed is not
guilty, of those that were the guilty one stands more often in a function that went another way than in
green, on the stack of the failure, and under names of which the failing test speaks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from afterd.compare.pair import UntracedExecution
from afterd.model.change import Change, ChangeForm, ChangeId
from afterd.model.location import LineSpan
from afterd.model.trace import Conduct
from afterd.trace.coverage.counts import LineCounts
from afterd.trace.linemap import LineMap
from afterd.vcs.enclosing import Symbol

_NAME = re.compile(r"[^\W\d]\w{2,}")
_ALIKE, _FEW = 1.5, 4
"""Changes with as much against them as the first, within this factor, lead, where they are few."""
_KEYWORDS = frozenset(
    (
        *("break", "case", "catch", "class", "const", "continue", "default", "delete", "else"),
        *("enum", "export", "false", "func", "function", "impl", "import", "interface", "let"),
        *("match", "module", "mut", "null", "nil", "package", "pub", "range", "return", "self"),
        *("static", "string", "struct", "switch", "this", "throw", "true", "type", "undefined"),
        *("use", "value", "var", "void", "while", "with", "bool", "int", "err", "error"),
    )
)
SymbolsOf = Mapping[str, Sequence[Symbol]]


class CoveredExecution(UntracedExecution):
    """``changes`` are all of the range, the pruned too; ``counts`` those of the failing run and of green;
    ``said`` is the failing test's text and what
    it printed, ``stack`` the files and lines on the failure's stack. ``symbols`` are functions of the bad
    version's files.
    """

    def __init__(
        self,
        changes: Sequence[Change],
        counts: tuple[LineCounts, LineCounts],
        symbols: SymbolsOf,
        said: str = "",
        stack: Sequence[tuple[str, int]] = (),
    ) -> None:
        self._changes = [change for change in changes if not change.pruned]
        self._map = LineMap(changes)
        self._bad, self._green = counts
        self._symbols = symbols
        self._said = Counter(_NAME.findall(said))
        self._stack = stack

    def conduct(self) -> Mapping[ChangeId, Conduct]:
        """The runs part where the most speaks against a change; where too many are alike, nobody knows."""
        if not self._scores:
            return {}
        bar = max(self._scores.values()) / _ALIKE
        leading = {change for change, score in self._scores.items() if score >= bar}
        if len(leading) > max(_FEW, len(self._scores) // 4):
            leading = set()
        return {
            change: Conduct.PARTED if change in leading else Conduct.PASSED
            for change in self._scores
        }

    def executed_changes(self) -> Sequence[ChangeId]:
        """The most suspicious first: in which order they were executed is not known."""
        return sorted(self._scores, key=lambda change: (-self._scores[change], len(change), change))

    def notes(self) -> Sequence[str]:
        """What this evidence is."""
        if not self._bad and not self._green:
            return (
                "There is no tracer for this language and nothing was counted: the order of suspects is"
                " that of the failure's stack and of the names that it and the test mention.",
            )
        return (
            "There is no tracer for this language: the order of suspects is that of coverage"
            f" ({len(self._scores)} of {len(self._changes)} changes were executed).",
        )

    @cached_property
    def _scores(self) -> dict[ChangeId, float]:
        executed = [change for change in self._changes if self._is_executed(change)]
        spread = Counter(name for change in executed for name in _names(change))
        return {change.id: self._score(change, spread) for change in executed}

    def _score(self, change: Change, spread: Counter[str]) -> float:
        """Odds, as products of what is seen; 1 where nothing is."""
        score = 1.0
        if self._went_another_way(change):
            score *= 3.0
        score *= 1.0 + 3.0 * self._nearness(change)
        shared = sum(1 / spread[name] for name in _names(change) if name in self._said)
        return score * (1.0 + min(2.0, shared))

    def _is_executed(self, change: Change) -> bool:
        """By the failing run in its new lines, or by green in its old ones. Of a file that no count speaks
        of nothing is known: data is read, not executed.
        """
        if change.file not in self._bad and change.old_file not in self._green:
            return not self._is_counted(change)
        if change.form is not ChangeForm.HUNK:
            return True
        new, old = self._bad.get(change.file, {}), self._green.get(change.old_file, {})
        return _any_executed(new, change.new) or _any_executed(old, change.old)

    def _is_counted(self, change: Change) -> bool:
        """Whether files of its kind are counted at all."""
        suffix = change.file.rpartition(".")[2]
        return any(file.endswith(f".{suffix}") for file in self._bad)

    def _went_another_way(self, change: Change) -> bool:
        """Whether lines of the change's function that both versions have were executed in one run alone."""
        function = self._function(change)
        if function is None:
            return False
        new, old = self._bad.get(change.file, {}), self._green.get(change.old_file, {})
        inside = range(function.start, function.end + 1)
        kept = (line for line in inside if self._map.is_kept(change.file, line))
        both = ((new.get(n), old.get(self._map.to_good(change.file, n)[1])) for n in kept)
        return any(None not in pair and bool(pair[0]) != bool(pair[1]) for pair in both)

    def _nearness(self, change: Change) -> float:
        """1 where the change's function is the innermost of the program's on the stack, less above."""
        function = self._function(change)
        for depth, (file, line) in enumerate(self._stack):
            inside = function and function.start <= line <= function.end
            if file == change.file and (inside or line == change.new.start):
                return float(0.7**depth)
        return 0.0

    def _function(self, change: Change) -> Symbol | None:
        around = [
            symbol
            for symbol in self._symbols.get(change.file, ())
            if symbol.start <= max(change.new.start, 1) <= symbol.end
        ]
        return min(around, key=lambda symbol: symbol.end - symbol.start, default=None)


def _any_executed(counts: Mapping[int, int], span: LineSpan) -> bool:
    """Whether a line of a span was executed; of an empty one, its neighbours; a span without a line that
    is counted (a table, a type) as the next that is.
    """
    known = [counts[line] for line in span.lines if line in counts]
    if not known:
        after = [line for line in counts if line >= span.start]
        before = [line for line in counts if line < span.start]
        near = (min(after, default=None), max(before, default=None))
        known = [counts[line] for line in near if line is not None]
    return any(known)


def _names(change: Change) -> frozenset[str]:
    lines = (*change.lines("-"), *change.lines("+"))
    own: Iterable[str] = (name for line in lines for name in _NAME.findall(line))
    return frozenset((*own, *_NAME.findall(change.symbol))) - _KEYWORDS
