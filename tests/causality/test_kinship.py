"""What changes have in common by their text."""

from __future__ import annotations

from dataclasses import replace

from made_changes import change

from afterd.causality.kinship import kinship


def test_a_rare_name_makes_kin() -> None:
    patches = {
        "c1": "@@ -1 +1 @@\n-    return months // QUARTER + 1\n+    return months // QUARTER\n",
        "c2": "@@ -9 +9 @@\n-    first = quarter(day) - 1\n+    first = quarter(day)\n",
        "c3": "@@ -20 +20 @@\n-    return months\n+    return total\n",
        "c4": "@@ -30 +30 @@\n-    months = 1\n+    months = 2\n",
        "c5": "@@ -40 +40 @@\n-x\n+y\n",
        "c6": "@@ -50 +50 @@\n-    return x\n+    return y\n",
    }
    changes = {
        name: replace(
            change(number), id=name, patch=patch, symbol="quarter" if name == "c1" else ""
        )
        for number, (name, patch) in enumerate(patches.items(), start=1)
    }
    shared = kinship(changes, ["c1"])
    assert shared["c2"] > shared["c3"] > shared["c5"] == 0


def test_nothing_leads() -> None:
    assert set(kinship({"c1": change(1)}, []).values()) == {0}
