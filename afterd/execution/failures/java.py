"""What a JVM says of an exception: its class and words, and the places that it came through, by class."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

THROWN = re.compile(
    r'^[ \t]*(?:Exception in thread "[^"\n]*" )?'
    r"(?P<message>(?:[a-z_]\w*\.)+[A-Z][\w$]*(?:: [^\n]*)?)(?=\n(?:[^\n]*\n){0,20}?[ \t]+at [\w.$/@-]+\.[\w$<>]+\()",
    re.MULTILINE,
)
"""An exception with frames below it; its message may have several lines."""
_FRAME = re.compile(
    r"\bat (?:[\w.@-]*/)*(?P<class>[\w.$]+)\.[\w$<>]+\((?P<source>\w+\.java):(?P<line>\d+)\)"
)
_FOREIGN = re.compile(
    r"(?:javax?|jdk|sun|com\.sun|junit|org\.(?:junit|hamcrest|testng|assertj|opentest4j|gradle)"
    r"|org\.apache\.(?:maven|tools\.ant)|worker\.org\.gradle)\."
)
"""Of Java itself, and of what runs tests."""


def java_places(text: str, begin: int = 0) -> Iterator[tuple[str, int]]:
    """The lines that frames name, innermost first: each source by the package of its class (``org/a/B.java``)."""
    for frame in _FRAME.finditer(text, begin):
        if not _FOREIGN.match(frame["class"]):
            package = frame["class"].split(".")[:-1]
            yield "/".join([*package, frame["source"]]), int(frame["line"])


def meant_source(path: str, files: Collection[str]) -> str:
    """The one of these files that a package's path is the end of; empty where there is none, or several."""
    ending = [file for file in files if f"/{file}".endswith(f"/{path}")]
    return ending[0] if len(ending) == 1 else ""
