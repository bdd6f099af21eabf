"""What is known of regressions between released packages: the JSON files in ``data/``.

| field | meaning |
|---|---|
| ``id``, ``evidence`` | a name, and where the regression is documented |
| ``registry``, ``package``, ``good``, ``bad`` | the two releases |
| ``guilty`` | zero-context hunks whose reversal together makes the test pass |
| ``held_out`` | chosen, and its guilty hunks found, before afterd was ever run on it |
| ``single_change_fixes`` | those of which any one repairs it, where there are several |

A hunk is its file in the bad release, and first line and count in either release.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from afterd.bench.judgement import Answer, SpanTarget
from afterd.bench.releases import Registry, Release
from afterd.model.location import LineSpan

DATA = Path(__file__).parent / "data"

Fact = Mapping[str, Any]


def facts(name: str) -> list[Fact]:
    """The entries of ``data/NAME.json``."""
    table: list[Fact] = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    return table


def release(fact: Fact, side: str) -> Release:
    """The release of an entry's side, ``good`` or ``bad``."""
    return Release(Registry(fact["registry"]), fact["package"], fact[side])


def answers_of(fact: Fact) -> list[Answer]:
    """The guilty hunks, and every single one that repairs the test when it is reverted alone."""
    guilty = tuple(map(_target, fact["guilty"]))
    alone = [(_target(each),) for each in fact.get("single_change_fixes", ())]
    return [guilty, *(answer for answer in alone if answer != guilty)]


def _target(entry: Mapping[str, Any]) -> SpanTarget:
    old, new = LineSpan(*entry["good_lines"]), LineSpan(*entry["bad_lines"])
    return SpanTarget(entry["file"], old, new)
