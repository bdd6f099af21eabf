"""How often a run executed each line, read from what V8, Go, LLVM, Ruby and PHP write.

V8 (``NODE_V8_COVERAGE``) counts ranges of characters, one within the other: the innermost holds. Go
(``-coverprofile``) counts blocks from line and column to line and column. LLVM's tools count
lines, as do Ruby and PHP, for which ``counters`` has what writes them in LLVM's format.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from afterd.vcs.enclosing import symbols
from afterd.vcs.tokens import language_of

LineCounts = Mapping[str, Mapping[int, int]]
"""By file (relative to the root), how often each line that can be executed was."""
_FOREIGN = re.compile(r"(?:^|/)(?:node_modules|\.afterd-build|target|vendor)/")
_GO_BLOCK = re.compile(
    r"(?P<file>.+):(?P<first>\d+)\.\d+,(?P<last>\d+)\.(?P<column>\d+) \d+ (?P<count>\d+)"
)


def of_v8(directory: Path, root: Path) -> LineCounts:
    """From the files of ``NODE_V8_COVERAGE``, of all processes together.

    A script that was compiled from another text (TypeScript) has other offsets: there the lines of a
    function count as the function of that name did.
    """
    found: dict[str, dict[int, int]] = {}
    for path in sorted(directory.glob("*.json")):
        try:
            scripts = json.loads(path.read_bytes())["result"]
        except (OSError, ValueError, KeyError, TypeError):
            continue  # a process that was killed while it wrote
        for script in scripts:
            if file := _own_file(str(script.get("url", "")), root):
                _add(found.setdefault(file, {}), _script_lines(root / file, script["functions"]))
    return found


def of_go(profile: Path, root: Path) -> LineCounts:
    """From a coverage profile; files are named by their import path, which ends with their own."""
    module = _module(root)
    found: dict[str, dict[int, int]] = {}
    for line in _lines(profile):
        if match := _GO_BLOCK.fullmatch(line):
            file = match["file"].removeprefix(f"{module}/")
            last = int(match["last"]) - (match["column"] == "1")
            counts = ((n, int(match["count"])) for n in range(int(match["first"]), last + 1))
            _add(found.setdefault(file, {}), counts)
    return found


def of_lcov(report: Iterable[str], root: Path) -> LineCounts:
    """From counts by line in the format of lcov."""
    found: dict[str, dict[int, int]] = {}
    here: dict[int, int] | None = None
    for line in report:
        kind, _, rest = line.strip().partition(":")
        if kind == "SF":
            file = _own_file(rest, root)
            here = found.setdefault(file, {}) if file else None
        elif kind == "DA" and here is not None:
            number, _, count = rest.partition(",")
            _add(here, [(int(number), int(count.partition(",")[0]))])
    return found


def merged_counts(
    some: Mapping[str, Mapping[int, int]], others: LineCounts
) -> dict[str, Mapping[int, int]]:
    """Counts of two processes together."""
    found = {file: dict(lines) for file, lines in some.items()}
    for file, lines in others.items():
        _add(found.setdefault(file, {}), lines.items())
    return dict(found)


def _add(lines: dict[int, int], more: Iterable[tuple[int, int]]) -> None:
    """A line that several blocks share was executed as often as the most executed of them."""
    for line, count in more:
        lines[line] = max(lines.get(line, 0), count)


def _own_file(url: str, root: Path) -> str:
    path = unquote(urlsplit(url).path) if url.startswith("file:") else url
    if not path.startswith(f"{root}/"):
        return ""
    file = path.removeprefix(f"{root}/")
    return "" if _FOREIGN.search(file) or not (root / file).is_file() else file


def _script_lines(path: Path, functions: list[dict[str, Any]]) -> Iterator[tuple[int, int]]:
    text = path.read_bytes().decode("utf-8", "replace")
    if _is_of(text, functions):
        yield from _line_counts(text, [r for function in functions for r in function["ranges"]])
        return
    counts = {f["functionName"]: f["ranges"][0]["count"] for f in functions if f["functionName"]}
    for symbol in symbols(text.encode(), language_of(path.name)):
        count = counts.get(symbol.name.rpartition(".")[2])
        if count is not None:
            yield from ((line, count) for line in range(symbol.start, symbol.end + 1))


def _is_of(text: str, functions: list[dict[str, Any]]) -> bool:
    """Whether the offsets are of this text: it is as long, and functions begin with their names."""
    if max((f["ranges"][0]["endOffset"] for f in functions), default=0) > len(text) + 1:
        return False
    named = [f for f in functions if f["functionName"].isidentifier()][:50]
    begun = [text[max(0, f["ranges"][0]["startOffset"] - 80) :][:160] for f in named]
    right = sum(f["functionName"] in said for f, said in zip(named, begun, strict=True))
    return 2 * right >= len(named)


def _line_counts(text: str, ranges: list[dict[str, int]]) -> Iterator[tuple[int, int]]:
    """The count of the innermost range at each line's first letter, and of ranges within the line."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    counts: dict[int, int] = {}
    for part in sorted(ranges, key=lambda r: (r["startOffset"], -r["endOffset"])):
        first = bisect_right(starts, part["startOffset"])  # the line in which it begins
        last = bisect_right(starts, max(part["startOffset"], part["endOffset"] - 1))
        for line in range(first, last + 1):
            begin = starts[line - 1]
            end = starts[line] if line < len(starts) else len(text)
            whole = text[begin:end]
            letter = begin + len(whole) - len(whole.lstrip())
            if part["startOffset"] <= letter < part["endOffset"] or part["count"] > counts.get(
                line, 0
            ):
                counts[line] = part["count"]
    for line, count in counts.items():
        end = starts[line] if line < len(starts) else len(text)
        if text[starts[line - 1] : end].strip():
            yield line, count


def _module(root: Path) -> str:
    found = (line.split() for line in _lines(root / "go.mod") if line.startswith("module "))
    return next((words[1] for words in found if len(words) > 1), "")


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(errors="replace").splitlines()
    except OSError:
        return []
