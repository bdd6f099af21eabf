"""Weights of a fusion as a file: ``afterd bench formula`` writes it, ``afterd rank`` reads it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

from afterd.errors import UsageError

SCHEMA = 1


def write_weights(weights: Mapping[str, float], path: Path) -> None:
    """Write them as JSON. Raises UsageError."""
    text = json.dumps({"schema": SCHEMA, "weights": dict(weights)}, indent=2) + "\n"
    try:
        path.write_text(text)
    except OSError as error:
        raise UsageError(f"The weights {path} cannot be written: {error.strerror}.") from error


def read_weights(path: Path) -> dict[str, float]:
    """Technique → weight. Raises UsageError where it is no such file."""
    try:
        document = json.loads(path.read_text())
    except OSError as error:
        raise UsageError(f"The weights {path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise UsageError(f"The weights {path} are no JSON: {error}.") from error
    found = document.get("weights") if isinstance(document, dict) else None
    if not isinstance(found, dict) or document.get("schema") != SCHEMA:
        raise UsageError(
            f"{path} holds no weights of this version: let `afterd bench formula` write it."
        )
    if not all(_is_weight(weight) for weight in found.values()):
        raise UsageError(f"The weights {path} are not all numbers from 0.")
    return {name: float(weight) for name, weight in found.items()}


def _is_weight(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(float(str(value))) and float(str(value)) >= 0
