"""A twin that cannot be recorded costs the story its steps, and the answer says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pipeline_runs import afterd, repository

from afterd.errors import TraceError
from afterd.trace.c.recorder import CRecorder, Version

FILES = {
    ".gitignore": "prog\n",
    "amount.c": "int main(void) {\n    int amount = 3;\n    int more = 1;\n    return amount + more != 4;\n}\n",
}
BAD = {"amount.c": FILES["amount.c"].replace("= 3", "= 4").replace("= 1", "= 2 - 1")}


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (TraceError("The traced build with clang fails (no room)."), "fails (no room)"),
        (KeyError("a bug of ours"), "(KeyError)"),
    ],
    ids=["told", "a bug"],
)
def test_an_answer_without_a_twin_says_why(
    error: Exception, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = repository(tmp_path / "r", FILES, BAD)

    def fails(*_arguments: object) -> Version:
        raise error

    monkeypatch.setattr(CRecorder, "_built_on", fails)
    command = ("explain", "HEAD~1..HEAD", "--format", "json", "--build", "cc -o prog amount.c")
    done = afterd(*command, "--", "./prog", cwd=where)
    assert done.status == 0, done.err + done.out
    [found] = json.loads(done.out)["explanations"]
    [said] = [note for note in found["notes"] if "left no trace" in note]
    assert said.startswith(
        "The bad version without c1 left no trace that can be read, so the story holds"
    )
    assert told in said
