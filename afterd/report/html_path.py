"""The way from the changes to the failure, as a picture in an HTML page: one box a step, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from afterd.limits import PICTURE
from afterd.report.sanitize import clipped_text, html, one_line
from afterd.report.story import carried_words
from afterd.report.summary import as_plain
from afterd.report.told_step import Told


def picture(told: Sequence[Told]) -> Iterator[str]:
    """An SVG without script or style of its own; the story beside it says the same in words."""
    if len(told) < 2:
        return
    boxes = len(told)
    height = boxes * PICTURE.box + (boxes - 1) * PICTURE.gap + 2
    words = f"{boxes} steps, from {as_plain((told[0].place,))} to {as_plain((told[-1].place,))}"
    yield (
        f'<svg class="path" viewBox="0 0 {PICTURE.width + 2} {height}" role="img" '
        f'aria-label="{html(one_line(words))}">\n'
    )
    for number, step in enumerate(told):
        top = 1 + number * (PICTURE.box + PICTURE.gap)
        if number:
            yield from _arrow(top, step)
        yield from _box(top, step, last=number == boxes - 1)
    yield "</svg>\n"


def _box(top: int, step: Told, *, last: bool) -> Iterator[str]:
    kind = "failed" if last else "guilty" if step.change else "step"
    yield f'<rect class="{kind}" x="1" y="{top}" width="{PICTURE.width}" height="{PICTURE.box}" rx="6"/>\n'
    said = f"{step.place}  {step.mark}" if step.mark else step.place
    lines = [said, step.text, as_plain(step.values)]
    for number, line in enumerate(filter(None, lines), start=1):
        text = html(clipped_text(one_line(line), PICTURE.characters))
        weight = "where" if number == 1 else "what"
        yield f'<text class="{weight}" x="10" y="{top + number * PICTURE.line}">{text}</text>\n'


def _arrow(top: int, step: Told) -> Iterator[str]:
    middle = PICTURE.width // 2
    start = top - PICTURE.gap
    yield f'<path class="arrow" d="M{middle} {start}V{top - 1}m-5 -6l5 6l5 -6"/>\n'
    if step.carried:
        words = html(clipped_text(carried_words(step.carried), PICTURE.characters // 2))
        yield f'<text class="what" x="{middle + 12}" y="{top - PICTURE.gap // 3}">{words}</text>\n'
