"""The IR of one source line, free of names: what a macro, a type or a header did to a statement."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache

from afterd.trace.c.read import FunctionView

_REGISTER = re.compile(r"%(?!struct\.|union\.|class\.)(?:[-a-zA-Z$._0-9]+|\"[^\"]*\")")
_PRIVATE = re.compile(r"@(\.str[.\d]*|__const\.[\w.]+|switch\.table[\w.]*)")
_ATTRIBUTES = re.compile(r" #\d+|, ![a-z.]+ !\d+|, !dbg !\d+")


class Fingerprints:
    """Normalised IR by function and line, computed once per function."""

    def __init__(self) -> None:
        self.by_line = cache(self._by_line)
        self.whole = cache(self._whole)

    def _by_line(self, view: FunctionView) -> dict[tuple[str, int], tuple[str, ...]]:
        """(file, line) → the instructions of that line in order, without register names."""
        found: dict[tuple[str, int], list[str]] = defaultdict(list)
        for b, block in enumerate(view.function.blocks):
            for i, instruction in enumerate(block.instructions):
                if instruction.opcode != "alloca":
                    place = view.place(b, i)
                    found[place.file, place.line].append(normal(view, instruction.text))
        return {key: tuple(texts) for key, texts in found.items()}

    def _whole(self, view: FunctionView) -> tuple[str, ...]:
        """The whole function, without names, lines and metadata."""
        header = _ATTRIBUTES.sub(
            "", _REGISTER.sub("%", view.function.header.split(" #")[0].split(" !dbg")[0])
        )
        labels = {block.label: str(at) for at, block in enumerate(view.function.blocks)}
        body = [
            re.sub(
                r"label %", lambda _: "label ", normal(view, _labelled(instruction.text, labels))
            )
            for block in view.function.blocks
            for instruction in block.instructions
        ]
        return (header, *body)


def _labelled(text: str, labels: dict[str, str]) -> str:
    return re.sub(
        r"label %((?:[-a-zA-Z$._0-9]+)|\"[^\"]*\")",
        lambda found: f"label ${labels.get(found.group(1).strip(chr(34)), '?')}",
        text,
    )


def normal(view: FunctionView, text: str) -> str:
    """An instruction without register names, attributes and metadata; string literals by content."""
    plain = _ATTRIBUTES.sub("", text)
    plain = _PRIVATE.sub(lambda found: _content(view, found.group(1)), plain)
    return _REGISTER.sub("%", plain)


def _content(view: FunctionView, symbol: str) -> str:
    found = view.unit.globals.get(symbol)
    return re.sub(r", align \d+|, !dbg !\d+", "", found.definition) if found else symbol
