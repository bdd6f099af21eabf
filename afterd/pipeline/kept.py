"""What is stored of an answer: without the secrets of afterd's own environment, in the JSON contract's form."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from afterd.execution.memory_group import memory_is_held_by
from afterd.model.explanation import Explanation
from afterd.pipeline.asking import masker
from afterd.report.json import contract
from afterd.store.explanations import add_ranking, save
from afterd.workspace import Phase, Workspace


def keep(workspace: Workspace, explanation: Explanation) -> Explanation:
    """Store an explanation, without the secrets of afterd's environment; it has its id then."""
    if workspace.held is not None:
        notes = (*explanation.notes, memory_is_held_by(workspace.limits.test))
        remarks = (*explanation.remarks, workspace.held.describe())
        explanation = replace(explanation, remarks=remarks, notes=notes)
    with workspace.clock.during(Phase.KEEP):
        masked = masker().value(explanation)
        return save(workspace.store, workspace.name, masked, _contract)


def keep_rankings(workspace: Workspace, ranked: Sequence[Explanation]) -> tuple[Explanation, ...]:
    """Store the rankings of lines that explanations have by now, as masked as these."""
    masked = masker().value(tuple(ranked))
    for each in masked:
        add_ranking(workspace.store, each, _contract)
    return masked


def _contract(explanation: Explanation) -> str:
    return json.dumps(contract(explanation))
