"""Which calls wrote a text that is read where no object leads to it: what a test captured, a file.

``print(x)`` is given no stream, and a file is read through another object than it was written through.
What leads there is the text: a call that is not followed and writes texts, all of which stand in
what is read later. A text that the reading call was given itself tells nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property

from afterd.limits import PYTHON_TRACE
from afterd.trace.python.read.contents import Handing
from afterd.trace.python.read.evaluation import Evaluation
from afterd.trace.python.read.frames import Frame
from afterd.trace.python.read.program import Node, called_name
from afterd.trace.python.read.purity import fills_format, pure_function, writes_texts
from afterd.trace.python.read.trace import Trace
from afterd.trace.python.read.tracefile import Recorded
from afterd.trace.python.read.values import Unknown, recorded_items

_CONVERSION = re.compile(r"%(?:\(\w*\))?[-#0 +]*(?:\*|\d+)?(?:\.(?:\*|\d+))?[a-zA-Z%]")
"""What stands in a format where something is put in."""
_LONG = frozenset({"S", "B"})


class Written:
    """Look-ups of what wrote a text, in one trace."""

    def __init__(self, trace: Trace, evaluation: Evaluation, handing: Handing) -> None:
        self.trace = trace
        self.evaluation = evaluation
        self.handing = handing
        self._given: dict[int, Sequence[str]] = {}

    def writers(
        self, node: Node, value: Recorded | Unknown, position: int, frame: Frame, limit: int = 8
    ) -> Sequence[int]:
        """The last rows that wrote what an expression, which is not followed, read; latest first. Of what is made of
        its operands only those that were written within it: a program may print what it was started with.
        """
        end = bisect_left(self._rows, position)
        if end == 0 or isinstance(value, Unknown):
            return []
        held = [text for text in self._texts(value) if _says_something(text)]
        if not held:
            return []
        begin = max(0, end - PYTHON_TRACE.candidates)
        if self._is_made_of_texts(node, held, position, frame):
            begun = self.trace.previous_in_frame(frame, position)
            begin = max(begin, bisect_left(self._rows, begun))
        rows = reversed(self._rows[begin:end])
        return [row for row in rows if self._is_in(row, held)][:limit]

    def _is_made_of_texts(
        self, node: Node, held: Sequence[str], position: int, frame: Frame
    ) -> bool:
        """Whether what an expression gives is of its operands: a text's method, a call that was given some of it."""
        if node.type == "Attribute":
            return False
        if node.type != "Call" or pure_function(node):
            return True
        function = node["func"]
        given = [*node["args"], *(word["value"] for word in node["keywords"])]
        given += [function["value"]] if function.type == "Attribute" else []
        values = [self.evaluation.value_of(part, position, frame) for part in given]
        texts = [
            text
            for value in values
            if not isinstance(value, Unknown)
            for text in self._texts(value)
        ]
        return any(text and text in whole for text in texts for whole in held)

    def _is_in(self, row: int, held: Sequence[str]) -> bool:
        """Whether one of the texts holds all that a call wrote."""
        if row not in self._given:
            written = list(self._written(row))
            self._given[row] = written if any(map(_says_something, written)) else []
        parts = self._given[row]
        return bool(parts) and any(all(part in text for part in parts) for text in held)

    def _written(self, row: int) -> Iterator[str]:
        """The texts that a call was given, as far as they are known; of a format what stands between what is put in."""
        node, frame = self.trace.node(row), self.trace.frame(row)
        if node is None or frame is None:
            return
        fills = fills_format(called_name(node))
        for part in node["args"]:
            value = self.evaluation.value_of(part, row, frame)
            if isinstance(value, str) and fills:
                yield from filter(None, _CONVERSION.split(value))
            elif isinstance(value, str) or (isinstance(value, int | float) and not fills):
                yield str(value)
            elif isinstance(value, bytes):
                yield value.decode("latin-1")

    @cached_property
    def _rows(self) -> list[int]:
        """The calls that wrote texts and entered no traced frame."""
        found: list[int] = []
        for module in self.trace.all_modules():
            for node in module.of_type("Call"):
                if writes_texts(called_name(node)):
                    found += filter(self.handing.is_unfollowed, self.trace.at_site(node))
        return sorted(found)

    def _texts(self, value: Recorded) -> Iterator[str]:
        """The texts that a value is or holds; of a long one that was not kept both ends."""
        if isinstance(value, str):
            yield value
        elif isinstance(value, bytes):
            yield value.decode("latin-1")
        elif isinstance(value, tuple) and value[0] in _LONG:
            whole = self.trace.raw.header["texts"].get(value[2])
            yield from value[3:5] if whole is None else [whole]
        elif isinstance(value, tuple) and value[0] == "o":
            yield from self._texts(value[3]) if isinstance(value[3], tuple) else ()
        else:
            for item in recorded_items(value):
                if not isinstance(item, tuple) or item[0] in _LONG:
                    yield from self._texts(item)


def _says_something(text: str) -> bool:
    return any(map(str.isalnum, text))
