"""The texts of a range's changes beside the failing test's: what of it was executed, what was typed, what it said."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pygit2

from afterd.causality.textual_similarity import TitledText, textual_similarity
from afterd.execution.oracle import Oracle
from afterd.limits import SEARCH
from afterd.model.change import NOTHING, Change, ChangeId, FileKind
from afterd.pipeline.case import Case
from afterd.pipeline.tracing import ExecutedLines
from afterd.vcs.enclosing import Symbol, symbols
from afterd.vcs.kinds import FileRules, kind_of
from afterd.vcs.tokens import language_of
from afterd.vcs.trees import ReadFile
from afterd.workspace import Range, contents_of, words_of_command

_FOLDERS = re.compile(r"(?<![\w.~-])~?/(?:[^\s/'\"]+/)+")
_TOOLS = frozenset(["bin", "sbin", "Scripts"])
_HEAD = re.compile(rb"\s*(?:async\s+def|def|class)\b")


def similarity_to_test(
    case: Case, wanted: Range, oracle: Oracle, executed: ExecutedLines
) -> Mapping[ChangeId, float]:
    """For each live change how similar its text, with its commits' messages, is to the test's."""
    recipe, repository = case.test.recipe, case.workspace.repository
    typed = " ".join([recipe.test_id, *recipe.test])
    said = oracle.reference.message if oracle.reference else ""
    content = contents_of(case.workspace, wanted.variants.tree(NOTHING))
    ran = list(executed_functions(content, executed(), case.workspace.rules))
    own = ran or [*named_texts(content, typed, recipe.folder)]
    own = own or [*texts_of_scripts(typed, Path(repository.workdir or ""), recipe.folder)]
    query = TitledText(
        "\n".join([said, *(each.title for each in own)]),
        "\n".join([without_folders(typed), *(each.body for each in own)]),
    )
    messages = {name: _message(repository, name) for name in wanted.changes.commits}
    texts = {change.id: text_of_change(change, messages) for change in wanted.changes.live}
    return textual_similarity(query, texts)


def executed_functions(
    content: ReadFile, executed: Mapping[str, frozenset[int]], rules: FileRules
) -> Iterator[TitledText]:
    """The functions of test files of which a run executed more than the head, with the functions within them."""
    for path in sorted(path for path in executed if kind_of(path, rules) is FileKind.TEST):
        text = content(path)
        if text is not None:
            found = sorted(symbols(text, language_of(path)), key=lambda symbol: symbol.start)
            yield from _cut_out(text, _entered(found, text.splitlines(), sorted(executed[path])))


def _entered(
    found: Sequence[Symbol], lines: Sequence[bytes], executed: Sequence[int]
) -> Iterator[Symbol]:
    """The outermost functions that something was executed in; that of a class is done where it is defined."""
    last = 0
    for symbol in found:
        head = next(
            (n for n in range(symbol.start, symbol.end + 1) if _HEAD.match(lines[n - 1])), 0
        )
        if symbol.start <= last or not head or lines[head - 1].lstrip().startswith(b"class"):
            continue
        last = symbol.end
        if bisect_right(executed, head) < bisect_right(executed, symbol.end):
            yield symbol


def named_texts(content: ReadFile, typed: str, folder: str) -> Iterator[TitledText]:
    """What a test's name and command speak of: of ``file.py::Class::name`` the functions of that name, as the class may
    have it from another; of another file the whole, unless it is too long to be about one thing.
    """
    for word in words_of_command(typed):
        path, _, inside = word.partition("::")
        text = content(os.path.normpath(f"{folder}/{path}"))
        if text is None:
            continue
        name = inside.partition("[")[0].rpartition("::")[2]
        of_name = [s for s in symbols(text, language_of(path)) if s.name.split(".")[-1] == name]
        if of_name:
            yield from _cut_out(text, of_name)
        elif len(text) <= SEARCH.read_test:
            yield TitledText("", text.decode(errors="replace"))


def texts_of_scripts(typed: str, work_tree: Path, folder: str) -> Iterator[TitledText]:
    """The scripts that a command names and no version has: untracked ones, and those that stand elsewhere. A program
    is none, nor what an environment installed.
    """
    for word in words_of_command(typed):
        path = work_tree / folder / word
        with suppress(OSError, ValueError):  # no name of a file, or no text
            if path.parent.name not in _TOOLS and 0 < path.stat().st_size <= SEARCH.read_test:
                yield TitledText("", without_folders(path.read_text(encoding="utf-8")))


def without_folders(typed: str) -> str:
    """A command with only the last parts of paths that begin at the root: where somebody keeps a script says nothing of
    what it is about, and "work", "out" or "home" stand in many a change.
    """
    return _FOLDERS.sub("", typed)


def text_of_change(change: Change, messages: Mapping[str, str]) -> TitledText:
    """The lines of a change, where they stand, and what its commits' ``messages`` say."""
    lines = (line for sign in "-+" for line in change.lines(sign))
    said = (messages[name] for name in change.commits if name in messages)
    place = f"{change.file} {change.symbol}"
    return TitledText(place, "\n".join([*said, *lines]))


def _cut_out(text: bytes, found: Iterable[Symbol]) -> Iterator[TitledText]:
    lines = text.splitlines()
    for each in found:
        body = b"\n".join(lines[each.start - 1 : each.end])
        yield TitledText(each.name, body.decode(errors="replace"))


def _message(repository: pygit2.Repository, commit: str) -> str:
    found: object = repository.get(commit)
    return found.message if isinstance(found, pygit2.Commit) else ""
