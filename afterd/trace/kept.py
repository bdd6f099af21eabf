"""Recordings that outlive a kill: what a job recorded is found again, not recorded once more.

A recording is complete when its directory has a note, which is written last. The note names the
recording by a key of everything that it depends on. A machine that was switched off in between may
have lost data that the note speaks of, so the key is of one boot as well.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from afterd.model.outcome import FailureKind, FailureSignature, Outcome, Unresolved, Verdict

NOTE = "kept.json"
_PLACES = (
    "traced/python/*",
    "traced/*/run",
    "traced/bad/[0-9]*",
    "traced/*/replays/*",
    "counted/python-runs/spectra/*",
)
_BOOT = Path("/proc/sys/kernel/random/boot_id")


def key_of(work: str, *parts: object) -> str:
    """The key of a recording made for a piece of work; empty, and never found, without one."""
    if not work:
        return ""
    boot = ""
    with suppress(OSError):
        boot = _BOOT.read_text()
    return sha256(repr((work, boot, parts)).encode()).hexdigest()


def taken_up(directory: Path, key: str) -> Mapping[str, Any] | None:
    """What was noted of the recording in a directory, if it is complete and has this key."""
    try:
        noted = json.loads((directory / NOTE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    found: Mapping[str, Any] = noted["told"]
    return found if key and noted["key"] == key else None


def keep(directory: Path, key: str, told: Mapping[str, Any]) -> None:
    """Note that the recording in a directory is complete; nothing is noted without a key."""
    if not key:
        return
    written = directory / f"{NOTE}.new"
    written.write_text(json.dumps({"key": key, "told": told}), encoding="utf-8")
    written.replace(directory / NOTE)


def outcome_of(told: Mapping[str, Any]) -> Outcome:
    """The outcome of a recorded run, of what ``asdict`` told of it in a note."""
    reason, signature = told["reason"], told["signature"]
    found = signature and FailureSignature(**signature | {"kind": FailureKind(signature["kind"])})
    verdict = Verdict(told["verdict"])
    reason = reason and Unresolved(reason)
    return Outcome(**{**told, "verdict": verdict, "reason": reason, "signature": found})


def forget(state: Path, before: float) -> None:
    """Remove the recordings of a state directory that were complete before a time (seconds since
    1970).
    """
    for place in _PLACES:
        for note in state.glob(f"{place}/{NOTE}"):
            if note.stat().st_mtime < before:
                shutil.rmtree(note.parent, ignore_errors=True)
