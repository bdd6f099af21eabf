"""The script of the test command, where the good version passes with its own text alone.

What a command runs (``python check.py``) is the test, and every version has it as the bad one does. That it is not the
program itself its name does not say. Where the good version is red with it, and green with its own, the one or the
other changed what the command does, so what changed in it is searched with the rest.
"""

from __future__ import annotations

from afterd.execution.confirmation import Ends
from afterd.model.change import FileKind
from afterd.pipeline.older_tests import Asking, Confirming, SettledEnds, taking_part
from afterd.vcs.file_changes import KEPT_TEST
from afterd.vcs.kinds import FileRules, kind_of
from afterd.workspace import Range

_SEARCHED = (
    "The test command runs {0}, of which the good version passes with its own text and not with the bad one's, so what"
    " changed in {0} was searched as well."
)


def range_with_own_script(wanted: Range, rules: FileRules) -> Range | None:
    """The range in which what changed in the script takes part as the program's changes do; None where nothing did, and
    where it is called a test, too.
    """
    own = frozenset(
        change.id
        for change in wanted.changes.changes
        if change.pruned == KEPT_TEST and change.file == rules.script
    )
    if not own or kind_of(rules.script, rules) is FileKind.TEST:
        return None
    return taking_part(wanted, own, FileKind.SOURCE)


def range_of_lone_script(wanted: Range, rules: FileRules) -> Range:
    """The range, in which the script is the program where nothing else of the program changed: what is asked is what
    changed in it.
    """
    beside = any(change.kind is FileKind.SOURCE for change in wanted.changes.live)
    return (None if beside else range_with_own_script(wanted, rules)) or wanted


def with_own_script(
    ends: SettledEnds, rules: FileRules, asking: Asking, confirming: Confirming
) -> SettledEnds:
    """The ends of the range in which the script's changes take part, where that shows a green and nothing else did."""
    wanted = ends.wanted
    shows_none = ends.reason or ends.confirmation.ends is Ends.ALREADY_RED
    both = range_with_own_script(wanted, rules) if shows_none else None
    if both is None:
        return ends
    ends.oracle.progress.stage("trying the good version with its own", rules.script)
    if not asking(both).tree_outcome(both.variants.tree(both.everything)).passed:
        return ends
    oracle, confirmation = confirming(both)
    if confirmation.ends is not Ends.CONFIRMED:
        return ends
    return SettledEnds(both, oracle, confirmation, _SEARCHED.format(rules.script))
