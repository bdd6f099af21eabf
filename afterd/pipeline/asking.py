"""Who answers what a version's test says: the oracle of a case and a range."""

from __future__ import annotations

import os

from afterd.config.secrets import secrets_of
from afterd.execution.oracle import Oracle
from afterd.pipeline.case import Case
from afterd.report.masking import Masker
from afterd.workspace import Range


def oracle_of(case: Case, wanted: Range) -> Oracle:
    """The oracle of a range, of which nothing is known yet but what is on record."""
    return Oracle(
        wanted.variants.tree,
        case.test.recipe,
        case.executor,
        cache=case.workspace.remembered(masker().text),
        budget=case.settings.budget,
        progress=case.progress,
    )


def masker() -> Masker:
    """Takes the secrets of afterd's own environment out of whatever is kept or shown."""
    return Masker(secrets_of(os.environ))
