"""Changes that cannot matter are set aside before any run, each with the reason.

Safe means: a program built from the bad version behaves the same with the change undone. What is
compared is what the compiler compares: tokens as the C preprocessor sees them, or Python's syntax
tree. In doubt a change stays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from afterd.model.change import Change, ChangeForm, ChangeId, ChangeList, FileKind
from afterd.vcs.kinds import FileRules
from afterd.vcs.languages import Language, language_of
from afterd.vcs.neutral_python import neutral_in_python
from afterd.vcs.neutral_tokens import can_compare_tokens, neutral_tokens

Text = Callable[[str], bytes | None]  # a file's content by its path; None where there is none
DOCUMENTATION = "documentation"
DEFAULT_RULES = FileRules()


def prune(
    changes: ChangeList, good_text: Text, bad_text: Text, rules: FileRules = DEFAULT_RULES
) -> ChangeList:
    """The changes with ``pruned`` set where a change cannot matter.

    Documentation (its content: a file that comes, goes or moves may be named by the build), and
    hunks of C, C++, Java or Python files that only concern comments, white space or layout. A hunk
    that shifts lines stays where line numbers can be seen (``__LINE__``, ``assert``).
    """
    reasons: dict[ChangeId, str] = {}
    by_file: dict[tuple[str, str], list[Change]] = defaultdict(list)
    for change in changes.live:
        if change.kind is FileKind.DOCS:
            if change.form in {ChangeForm.HUNK, ChangeForm.BINARY, ChangeForm.WHOLE}:
                reasons[change.id] = DOCUMENTATION
        elif change.form is ChangeForm.HUNK:
            by_file[change.old_file, change.file].append(change)
    for (old_file, file), hunks in by_file.items():
        good, bad = good_text(old_file), bad_text(file)
        if good is not None and bad is not None:
            reasons.update(_neutral(file, good, bad, hunks, rules))
    return with_pruned(changes, reasons)


def with_pruned(changes: ChangeList, reasons: Mapping[ChangeId, str]) -> ChangeList:
    """The changes with these reasons added; a change that has one keeps it."""
    return replace(
        changes,
        changes=tuple(
            replace(change, pruned=change.pruned or reasons.get(change.id, ""))
            for change in changes.changes
        ),
    )


def _neutral(
    file: str, good: bytes, bad: bytes, hunks: Sequence[Change], rules: FileRules
) -> Iterator[tuple[ChangeId, str]]:
    language = language_of(file)
    if language is Language.PYTHON:
        return neutral_in_python(good, bad, hunks, docstrings=not rules.docstrings_are_comments)
    if can_compare_tokens(file):
        return neutral_tokens(good, bad, hunks, language)
    return iter(())
