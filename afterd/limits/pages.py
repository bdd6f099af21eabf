"""How much a terminal, a page or a picture shows, and what is read of one that nobody vouches for."""

from __future__ import annotations

from dataclasses import dataclass

from afterd.limits.sizes import MIB


@dataclass(frozen=True, slots=True)
class ReportLimits:
    """How much a page or a terminal shows. All chosen for a reader, but where a source is named."""

    terminal_message: int = 400  # characters of a failure's message
    terminal_patch: int = 12  # lines of an undone change
    tab: int = 4  # columns of a tab in one
    terminal_changes: int = 12  # of the root, and as many auxiliary ones
    terminal_causes: int = 20  # of a tree
    story: int = 12  # lines of the story of a failure
    story_value: int = 44  # characters of one of two values beside each other
    story_was: int = 28  # of what a statement was, shown whole
    carried: int = (
        6  # places that a line of a story names, through which a value was only handed on
    )
    story_width: int = 100  # columns of its lines, where the terminal is not narrower
    statement: int = 160  # characters
    value: int = 80  # characters
    progress_width: int = 100  # characters of a line while it works
    suspects: int = 8  # changes that a line of progress names
    named: int = 3  # tests or files that a sentence names
    faults: int = 5  # faults of a trace that an answer names
    story_beside: int = 60  # columns that a story's statements have at least beside their files
    story_known: int = 13  # columns of how a step is known
    bar: int = 24  # characters of a bar of progress
    every: float = 2.0  # seconds between two looks at how far something is
    estimate: int = 10  # tests after which an estimate is more than a guess
    ranked: int = 10  # lines of a ranking
    edge_steps: int = 4  # of a long cause at each end
    repeats: int = 2  # of the same changed statement between them
    page_changes: int = 20  # of the root in Markdown
    page_causes: int = 10  # of a tree in Markdown
    page_message: int = 4_000  # characters of what a test said
    page_name: int = 200  # characters
    page_patch: int = 6_000  # characters
    page: int = 60_000  # characters: GitHub refuses comments over 65,536
    page_explanation: int = 1_500  # characters that one needs to say anything
    comment: int = 4_000  # characters in which a comment can still say what it has to
    verdicts: int = 30  # in a comment
    graph_nodes: int = 8  # of a mermaid graph
    graph_label: int = 40  # characters
    commit: int = 10  # characters of a commit id that a person reads
    gist: int = 16  # hexadecimal digits: one in 2**64 comments would be taken for another
    names: int = 8  # in a list within a sentence
    secret: int = 8  # characters: a shorter secret would blot out ordinary words
    source_context: int = (
        2  # lines of a page's source above and below one that a story went through
    )


REPORT = ReportLimits()


@dataclass(frozen=True, slots=True)
class PictureLimits:
    """The picture of a story's way, in units of its own: a page scales it. Chosen for a reader."""

    width: int = 760
    box: int = 62
    gap: int = 30
    line: int = 18  # between two lines of text
    characters: int = 92  # of a line within a box


PICTURE = PictureLimits()


@dataclass(frozen=True, slots=True)
class ReceivedLimits:
    """What is read of a document that nobody vouches for. Chosen, but where a source is named."""

    document: int = 16 * MIB  # bytes
    tests: int = 1_000
    text: int = 1 << 20  # characters
    path: int = 4_096  # characters (PATH_MAX)
    items: int = 100_000  # of one list
    changes: int = 10_000  # of the root, and commits of one change
    notes: int = 10_000
    words: int = 1_000  # of a command
    votes: int = 100  # for one line
    causes: int = 1_000  # of one cause
    deepest: int = 100  # causes below causes; what is deeper is shown by no comment
    integer: int = 1 << 53  # what JSON readers agree on (RFC 8259, section 6)


RECEIVED = ReceivedLimits()


@dataclass(frozen=True, slots=True)
class ReportFileLimits:
    """What is read of files in which runners say what became of their tests. Chosen."""

    largest: int = 64 * MIB  # bytes of one
    folders: int = 20_000  # that are looked into for one
    clock: float = 2.0  # seconds by which a file's date may lie before the run that wrote it


REPORT_FILE = ReportFileLimits()
