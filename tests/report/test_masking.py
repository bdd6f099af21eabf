"""A secret that a test printed is blotted out in every spelling and every place (row 31)."""

from __future__ import annotations

import base64
import html
import json
import shlex
import urllib.parse
from dataclasses import replace

import pytest
from explanation_samples import RUNNING_EXAMPLE, explanations
from hypothesis import given

from afterd.config.secrets import secrets_of
from afterd.model.explanation import Explanation
from afterd.report.masking import MASK, Masker

CANARY = "s3cr&t <canary>'\"ü/+ 42"
DATA = CANARY.encode()
SPELLINGS = {
    "plain": CANARY,
    "trimmed": CANARY.strip(),
    "url": urllib.parse.quote(CANARY, safe=""),
    "form": urllib.parse.quote_plus(CANARY),
    "xml": html.escape(CANARY),
    "shell": shlex.quote(CANARY),
    "json": json.dumps(CANARY),
    "json unescaped": json.dumps(CANARY, ensure_ascii=False),
    "hex": DATA.hex(),
    "base64": base64.b64encode(DATA).decode(),
    "base64 at 1": base64.b64encode(b"x" + DATA + b"yz").decode(),
    "base64 at 2": base64.b64encode(b"xy" + DATA + b"z").decode(),
    "base64 url": base64.urlsafe_b64encode(DATA).decode(),
}


def leaked(text: str) -> bool:
    """Whether six characters in a row of any spelling are left."""
    cores = [spelling[4:-4] for spelling in SPELLINGS.values()]
    return any(core[i : i + 8] in text for core in cores for i in range(len(core) - 8))


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_every_spelling_is_masked(spelling: str) -> None:
    assert leaked(spelling)
    masked = Masker([CANARY]).text(f"before {spelling} after {spelling}")
    assert masked.count(MASK) == 2
    assert not leaked(masked)
    assert masked.startswith("before ")
    assert " after " in masked


def test_every_place_of_an_explanation_is_masked() -> None:
    assert RUNNING_EXAMPLE.failure is not None
    assert RUNNING_EXAMPLE.tree is not None
    change = replace(RUNNING_EXAMPLE.root[0], file=f"{CANARY}.c", patch=f"+{CANARY}\n")
    step = replace(RUNNING_EXAMPLE.tree.steps[0], observed=CANARY, text=CANARY)
    hostile = replace(
        RUNNING_EXAMPLE,
        test=CANARY,
        failure=replace(RUNNING_EXAMPLE.failure, message=f"got {CANARY}"),
        root=(change,),
        tree=replace(RUNNING_EXAMPLE.tree, predicate=CANARY, steps=(step,)),
        notes=(CANARY,),
    )
    assert repr(CANARY) in repr(hostile)
    masked = Masker([CANARY]).value(hostile)
    assert not leaked(repr(masked))
    assert masked.root[0].file == f"{MASK}.c"
    assert masked.status is hostile.status


@given(explanations)
def test_without_secrets_nothing_changes(explanation: Explanation) -> None:
    assert Masker([]).value(explanation) == explanation


def test_which_variables_are_secret() -> None:
    environment = {
        "GITHUB_TOKEN": "a",
        "MY_SECRET": "b",
        "DB_PASSWORD": "c",
        "api_key": "d",
        "PATH": "/bin",
        "HOME": "/root",
    }
    assert secrets_of(environment) == ("a", "b", "c", "d")


def test_a_short_value_would_blot_out_words() -> None:
    assert Masker(["test"]).text("the test") == "the test"


def test_a_secret_inside_another_goes_whole() -> None:
    assert Masker(["password1", "password1234"]).text("password1234!") == "***!"
