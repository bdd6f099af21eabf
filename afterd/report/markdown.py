"""An explanation as GitHub-flavoured Markdown, for a pull request or a file.

Made of blocks that are complete by themselves; when they would not fit, the last ones are left out
and the page says so, so that a cut never breaks the markup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from afterd.model.explanation import Explanation
from afterd.report.markdown_blocks import (
    MOST_CAUSES,
    NAME,
    Permalink,
    costs_block,
    no_permalink,
    opening_blocks,
    ranking_block,
    tree_block,
    undone_block,
)
from afterd.report.phrases import as_markdown, clipped_phrase
from afterd.report.sanitize import code_span
from afterd.report.summary import headline, next_steps

LIMIT = 60_000  # characters; GitHub refuses comments over 65,536
_LEAST = 1_500  # characters an explanation needs to say anything

Forms = Iterable[str]
"""A block, whole and in ever shorter forms; the first that fits is taken."""

Blocks = Callable[[Explanation, Permalink], Iterator[Forms]]


def render(
    explanations: Sequence[Explanation],
    permalink: Permalink = no_permalink,
    limit: int = LIMIT,
) -> str:
    """At most ``limit`` characters; ``permalink`` gives the URL of a line, or an empty text."""
    return pages(explanations, _blocks, permalink, limit) or "No test fails.\n"


def pages(
    explanations: Sequence[Explanation],
    blocks: Blocks,
    permalink: Permalink,
    limit: int,
) -> str:
    """One page an explanation, made of what ``blocks`` gives in order of importance."""
    shown = explanations[: max(1, limit // _LEAST - 1)]
    written: list[str] = []
    left = limit - 200  # room for the sentence below
    for position, explanation in enumerate(shown):
        share = left // (len(shown) - position)
        written.append(_page(explanation, blocks(explanation, permalink), share))
        left -= len(written[-1]) + 1
    if len(shown) < len(explanations):
        written.append(f"{len(explanations) - len(shown)} more failing tests are left out here.\n")
    return "\n".join(written)


def _page(explanation: Explanation, blocks: Iterable[Forms], limit: int) -> str:
    """The blocks that fit, in order of importance; each is tried in its shorter forms too."""
    cut = f"Cut to fit; `afterd report {explanation.id} --format html` has everything.\n"
    page = f"### {as_markdown(clipped_phrase(headline(explanation), NAME))}\n"
    left_out = False
    for forms in blocks:
        room = limit - len(page) - len(cut) - 2
        fitting = next((form for form in forms if len(form) <= room), None)
        if fitting is None:
            left_out = True
        else:
            page += f"\n{fitting}"
    return f"{page}\n{cut}" if left_out else page


def _blocks(explanation: Explanation, permalink: Permalink) -> Iterator[Forms]:
    yield from opening_blocks(explanation, permalink)
    if (tree := explanation.tree) is not None:
        yield (tree_block(tree, permalink, most) for most in (MOST_CAUSES, 4, 1))
    if explanation.root:
        yield (undone_block(explanation.root),)
    elif explanation.ranking:
        yield (ranking_block(explanation, permalink),)
    yield (costs_block(explanation),)
    if commands := next_steps(explanation):
        yield (
            "\n".join(f"- {code_span(command)}: {purpose}" for command, purpose in commands) + "\n",
        )
