"""Secrets of this process's environment, blotted out wherever a test may have printed them.

Applied to an explanation before it is stored or shown, so that every sink gets the same text
(a summary that bypassed the log's redactor: CVE-2026-119290). Encodings as the GitHub runner's:
URL, XML, shell, JSON, and base64 at the three byte offsets.
"""

from __future__ import annotations

import base64
import dataclasses
import html
import json
import re
import shlex
import urllib.parse
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar, cast

from afterd.limits import REPORT

MASK = "***"

ValueT = TypeVar("ValueT")


class Masker:
    """Replaces secrets, in any of their usual spellings, by ``***``."""

    def __init__(self, secrets: Iterable[str]) -> None:
        spellings = {
            spelling
            for secret in secrets
            if len(secret.strip()) >= REPORT.secret
            for spelling in _spellings(secret)
        }
        longest_first = sorted(spellings, key=lambda spelling: (-len(spelling), spelling))
        self._pattern = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")

    def text(self, text: str) -> str:
        """``text`` without the secrets."""
        return self._pattern.sub(MASK, text)

    def value(self, value: ValueT) -> ValueT:
        """A frozen value type, or a sequence or mapping of them, with every text masked."""
        return cast("ValueT", self._masked(value))

    def _masked(self, value: object) -> object:
        if type(value) is str:  # members of a StrEnum stay what they are
            return self.text(value)
        if isinstance(value, tuple):
            return tuple(map(self._masked, value))
        if isinstance(value, Mapping):
            return {self._masked(key): self._masked(item) for key, item in value.items()}
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = {
                f.name: self._masked(getattr(value, f.name)) for f in dataclasses.fields(value)
            }
            return dataclasses.replace(value, **fields)
        return value


def _spellings(secret: str) -> set[str]:
    data = secret.encode("utf-8", "surrogateescape")
    spelled = {
        secret,
        secret.strip(),
        urllib.parse.quote(data, safe=""),
        urllib.parse.quote_plus(data, safe=""),
        html.escape(secret),
        shlex.quote(secret),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        data.hex(),
        data.hex().upper(),
    }
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        spelled |= {_inner_base64(encode, data, offset) for offset in range(3)}
    return spelled


def _inner_base64(encode: Callable[[bytes], bytes], data: bytes, offset: int) -> str:
    """The base64 of ``data`` standing ``offset`` bytes into a group, without the characters at its
    ends that share bits with what stands before and after it.
    """
    encoded = encode(b"\0" * offset + data).decode().rstrip("=")
    shared_end = 1 if (offset + len(data)) % 3 else 0
    return encoded[(0, 2, 3)[offset] : len(encoded) - shared_end]
