"""The lines that a story went through, in their context, with the values of both runs beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from afterd.limits import REPORT
from afterd.model.explanation import Explanation, TreeStep
from afterd.model.trace import NOT_EXECUTED
from afterd.report.sanitize import clipped_text, html, one_line

SourceLines = Callable[[str], Sequence[str]]
"""The lines of a file of the bad version; none where they cannot be read."""


def no_source(_file: str) -> Sequence[str]:
    """Nothing can be read."""
    return ()


def listing(explanation: Explanation, source: SourceLines) -> Iterator[str]:
    """A table a file, the file of the failure last; nothing without the files' text."""
    if explanation.tree is None:
        return
    by_file: dict[str, dict[int, list[TreeStep]]] = defaultdict(lambda: defaultdict(list))
    walked = [step for node in explanation.tree.nodes() for step in node.steps]
    for step in reversed(walked):
        if step.line > 0 and (step.change or step.observed != step.green):
            by_file[step.file][step.line].append(step)
    if (failure := explanation.failure) is not None and failure.line > 0:
        by_file[failure.file].setdefault(failure.line, [])
    shown = [(file, steps, source(file)) for file, steps in by_file.items()]
    shown = [each for each in shown if each[2]]
    if shown:
        yield "<h2>The lines it went through</h2>\n"
    failed = (failure.file, failure.line) if failure is not None else ("", 0)
    for file, steps, lines in shown:
        yield f"<details open>\n<summary><code>{_text(file)}</code></summary>\n"
        yield from _table(file, lines, steps, failed[1] if file == failed[0] else 0)
        yield "</details>\n"


def _table(
    file: str, lines: Sequence[str], steps: Mapping[int, Sequence[TreeStep]], failed: int
) -> Iterator[str]:
    yield f'<div class="source" role="region" tabindex="0" aria-label="{_text(file)}">\n<table>\n'
    yield '<tr><th scope="col">line</th><th scope="col">source</th>'
    yield '<th scope="col">in the failing run</th><th scope="col">with the causes undone</th></tr>\n'
    before = 0
    for number in _in_context(steps, len(lines)):
        if before and number > before + 1:
            yield '<tr class="quiet"><td>⋮</td><td></td><td></td><td></td></tr>\n'
        before = number
        yield from _row(number, lines[number - 1], steps.get(number, ()), failed=number == failed)
    yield "</table>\n</div>\n"


def _in_context(steps: Mapping[int, object], last: int) -> list[int]:
    around = range(-REPORT.source_context, REPORT.source_context + 1)
    wanted = {line + offset for line in steps for offset in around}
    return sorted(line for line in wanted if 1 <= line <= last)


def _row(number: int, text: str, steps: Sequence[TreeStep], *, failed: bool) -> Iterator[str]:
    changed = ", ".join(dict.fromkeys(step.change for step in steps if step.change))
    kind = ' class="failed"' if failed else ' class="changed"' if changed else ""
    said = f' <b class="quiet">changed by {_text(changed)}</b>' if changed else ""
    said += ' <b class="quiet">failed here</b>' if failed else ""
    cells = [[_value(step, value) for step in steps] for value in ("observed", "green")]
    shown = ["<br>".join(dict.fromkeys(filter(None, cell))) for cell in cells]
    yield f"<tr{kind}><td>{number}</td><td><code>{_source(text)}</code>{said}</td>"
    yield f"<td>{shown[0]}</td><td>{shown[1]}</td></tr>\n"


def _value(step: TreeStep, run: str) -> str:
    value = step.observed if run == "observed" else step.green
    if value in {"", NOT_EXECUTED}:
        return "does not run" if value else ""
    name = f"{step.target} = " if step.target else ""
    return f"<code>{_text(clipped_text(f'{name}{value}', REPORT.value))}</code>"


def _source(text: str) -> str:
    """A line with its indentation, which a table would swallow."""
    expanded = text.expandtabs(8)
    body = expanded.lstrip(" ")
    return "\u00a0" * (len(expanded) - len(body)) + _text(clipped_text(body, REPORT.statement))


def _text(text: str) -> str:
    return html(one_line(text))
