"""The last run of each end, where both are recorded: a recorded run that ends as the plain ones did is that run.

A test of ten seconds is run at each end and recorded at each end; to run both ends once more would be as long as a
third of all that. What records a run may change it, so one that ends otherwise says nothing, and a plain run is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from afterd.execution.confirmation import Confirmation, Ends, other_crash
from afterd.execution.flakiness import Repeats
from afterd.execution.losses import refuse_lost
from afterd.execution.oracle import Oracle
from afterd.execution.signature import runs_are_alike
from afterd.model.outcome import Outcome, Unresolved


def with_last_runs(
    oracle: Oracle, confirmation: Confirmation, recorded: Mapping[str, Outcome]
) -> Confirmation:
    """The confirmation with the run of each end that was put off: its ``recorded`` one by tree, or a plain one.

    Raises LostRunError where a plain run is killed each time it is made.
    """
    if confirmation.put_off is None or confirmation.good is None:
        return confirmation
    bad, good = confirmation.put_off
    runs = confirmation.repeats.runs + 1
    for tree, known, name, flaky in (
        (bad, confirmation.bad, "bad", Ends.FLAKY_BAD),
        (good, confirmation.good, "good", Ends.FLAKY_GOOD),
    ):
        last = recorded.get(tree)
        if last is not None and runs_are_alike(known, last):
            continue
        last = oracle.attempt(tree).outcome
        if last.reason is Unresolved.NOT_RUN:
            return replace(confirmation, ends=Ends.UNCONFIRMED, put_off=None)
        refuse_lost(last, f"The test at the {name} version", oracle.recipe.limits.test)
        if runs_are_alike(known, last):
            continue
        if (crash := other_crash(known, last)) is None:
            repeats = Repeats(runs, 1)
            return replace(confirmation, ends=flaky, repeats=repeats, flaky=1.0, put_off=None)
        oracle.other_crashes = (*oracle.other_crashes, crash)
    return replace(confirmation, repeats=Repeats(runs, 0), put_off=None)
