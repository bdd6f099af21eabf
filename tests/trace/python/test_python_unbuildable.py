"""What a variant's output says about a name that was taken away."""

from __future__ import annotations

import pytest

from afterd.model.change import Change, ChangeForm
from afterd.model.location import LineSpan
from afterd.trace.python.source.unbuildable import missing_in_output, taken_away

SPAN = LineSpan(1, 1)


def change(patch: str) -> Change:
    """A hunk."""
    return Change("c1", "pkg/lib.py", "pkg/lib.py", SPAN, SPAN, patch=patch)


def test_taken_names_are_those_of_one_side() -> None:
    """Words that both sides have stay."""
    taken = taken_away(
        [change("@@ -1 +1,2 @@\n-def f(a):\n+def f(a, helper):\n+    return g(a)\n")]
    )
    assert {"helper", "g", "return"} <= taken
    assert "f" not in taken


def test_added_files_take_their_modules() -> None:
    """Undoing an added file takes the module, by every name it can be imported as."""
    added = Change("c2", "src/pkg/new.py", "src/pkg/new.py", LineSpan(0, 0), SPAN, ChangeForm.ADDED)
    assert {"src.pkg.new", "pkg.new", "new"} <= taken_away([added])


OUTPUTS = [
    ('E     File "/t/lib.py", line 3\nE   SyntaxError: invalid syntax', "", True),
    ("E   IndentationError: unexpected indent", "", True),
    ("ImportError: cannot import name 'helper' from 'pkg.lib' (/t/pkg/lib.py)", "helper", True),
    ("E   ModuleNotFoundError: No module named 'pkg.helper'", "pkg.helper", True),
    ("NameError: name 'helper' is not defined. Did you mean: 'help'?", "helper", True),
    ("E   AttributeError: module 'pkg.lib' has no attribute 'helper'", "helper", True),
    ("E   TypeError: f() got an unexpected keyword argument 'helper'", "helper", True),
    ("E   TypeError: f() missing 1 required positional argument: 'helper'", "helper", True),
    ("E   AttributeError: 'NoneType' object has no attribute 'other'", "", False),
    ("NameError: name 'other' is not defined", "", False),
    ("E   AssertionError: assert 'helper' == 3", "", False),
    ("1 passed in 0.1s", "", False),
    ("", "", False),
]


@pytest.mark.parametrize(("output", "name", "missing"), OUTPUTS)
def test_outputs(output: str, name: str, missing: bool) -> None:
    """Only what does not parse, and what was taken away."""
    taken = frozenset({"helper", "pkg.helper"})
    found = missing_in_output(f"head\n{output}\ntail\n", taken)
    assert (found is not None) == missing
    if found is not None:
        assert found.name == name
        assert found.text in output
