"""What changes need of each other, as texts tell."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_changes import change

from afterd.causality.auxiliary import AuxiliarySearch
from afterd.causality.deltas.closure import Closure
from afterd.causality.needs import Needs
from afterd.causality.standing import Standing
from afterd.causality.suspicion import Suspect, Tier

GONE = replace(change(1), file="compat.py", patch="-def keys(d):\n-    return list(d)")
USER = replace(change(2), file="a.py", patch="-    for k in keys(d):\n+    for k in d.keys():")


@pytest.mark.parametrize("spoken", [True, False])
def test_a_function_that_nobody_calls_any_more_is_undone_with_who_called_it(
    *, spoken: bool
) -> None:
    """Where the bad version still speaks of it, bringing it back alone may be the repair."""
    changes = {each.id: each for each in (GONE, USER)}
    standing = Standing(lambda _: "", proves=False, speaks=lambda _: spoken)
    auxiliary = AuxiliarySearch(lambda _: True, changes, frozenset(changes), standing)
    found = Needs(changes, auxiliary, Closure()).alone(Suspect(GONE.id, Tier.CAUSE))
    assert found.defines is not spoken
    assert found.needs == (frozenset() if spoken else {USER.id})
    assert found.along == 0
