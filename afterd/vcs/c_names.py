"""The names that each change of a C or C++ program defines and uses, read once from both versions.

What is read of each file (``c_reader``) is where to begin; a compiler has the last word.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from os.path import normpath
from pathlib import PurePosixPath

from afterd.model.change import Change, ChangeForm, ChangeId, FileKind
from afterd.model.inside import outer_hunks
from afterd.model.location import LineSpan
from afterd.model.names import ChangeNames, Name, SideNames
from afterd.vcs.c_reader import CXX, C, FileNames, file_names
from afterd.vcs.grammar_names import GRAMMARS, grammar_names
from afterd.vcs.tokens import CONDITIONAL, Language, TokenKind, tokens
from afterd.vcs.trees import ReadFile

_PATH = re.compile(r"[\w./+-]+")
_MACRO = re.compile(r"(?:\s-D|\bAC_DEFINE(?:_UNQUOTED)?\(\[?|^\s*#\s*(?:undef|define)\s+)(\w+)")
"""What a build defines: by the compiler's options, by autoconf, in a template of a header."""
_FILE, _LISTED = "file ", "listed "
_EVERY_LINE = LineSpan(1, 1 << 62)
_BESIDE_TEXT = frozenset({ChangeForm.HUNK, ChangeForm.RENAMED, ChangeForm.MODE})
"""Where these are, all that differs in a file's text is changes of its own."""
_BRACKETS = {"{": ("{", 1), "}": ("{", -1), "(": ("(", 1), ")": ("(", -1)}
_Version = tuple[Mapping[str, FileNames], Mapping[tuple[str, int], ChangeId]]
"""The files of a version, and which change has which of their lines."""


def change_names(
    changes: Sequence[Change],
    good: ReadFile,
    bad: ReadFile,
    is_left_out: Callable[[Change], bool] = lambda _change: False,
) -> tuple[Mapping[ChangeId, ChangeNames], frozenset[Name]]:
    """What each change mentions, and the names that changed files define on lines no change has. Of one that
    is left out (no build reads its file) nothing is: what stands there needs nothing, and nothing needs it.
    """
    mine = [change for change in changes if is_named(change.file) and not is_left_out(change)]
    cxx = any(PurePosixPath(change.file).suffix in CXX for change in mine)
    old = _version([(c.old_file, c.old, c.form) for c in mine], good, cxx=cxx)
    new = _version([(c.file, c.new, c.form) for c in mine], bad, cxx=cxx)
    outer = outer_hunks(mine)
    by_line = sorted(
        mine, key=lambda change: change.id in outer
    )  # a line of two is the inner one's
    versions: tuple[_Version, _Version] = (
        (old, {(each.old_file, line): each.id for each in by_line for line in _lines(each.old)}),
        (new, {(each.file, line): each.id for each in by_line for line in _lines(each.new)}),
    )
    _add_arities(*versions)
    _add_locals(*versions)
    _add_moved_values(*versions)
    opened, closed = _halves(mine, outer)
    found: dict[ChangeId, ChangeNames] = {}
    for change in mine:
        begun, ended = opened[change.id], closed[change.id]
        found[change.id] = ChangeNames(
            _side(
                old.get(change.old_file), change, change.old, _bracket_names("old", begun, ended)
            ),
            _side(new.get(change.file), change, change.new, _bracket_names("new", begun, ended)),
            change.file,
        )
    parts = _with_parts(found, mine, outer, new)
    return _with_files(parts, changes), _standing_names(new, mine)


def _with_files(
    named: Mapping[ChangeId, ChangeNames], changes: Sequence[Change]
) -> Mapping[ChangeId, ChangeNames]:
    """The names, and of files that came or went that they are there; what a build is told of names them. A file that
    is called otherwise now is as well what a build has to list: under either name nothing of it is compiled else.
    """
    renamed = [each for each in changes if _is_called_otherwise(each)]
    came = [each.file for each in changes if each.form is ChangeForm.ADDED]
    went = [each.file for each in changes if each.form is ChangeForm.DELETED]
    added = _built_names([*came, *(each.file for each in renamed)])
    deleted = _built_names([*went, *(each.old_file for each in renamed)])
    found = dict(named)
    for each in changes:
        names = found.get(each.id, ChangeNames(file=each.file))
        there = frozenset({_FILE + each.file, _FILE + each.file.removesuffix(".in")})
        before, after = _included_as(each.old_file), _included_as(each.file)
        old, new = names.old, names.new
        if each.form is ChangeForm.ADDED:
            new = replace(new, defines=new.defines | there | after)
        elif each.form is ChangeForm.DELETED:
            old = replace(old, defines=old.defines | there | before)
        elif each.form is ChangeForm.RENAMED:
            old = replace(old, defines=old.defines | (before - after))
            new = replace(new, defines=new.defines | (after - before))
            if _is_called_otherwise(each):
                old, new = _with_listed(old, each.old_file), _with_listed(new, each.file)
        if each.kind is FileKind.BUILD:
            old = _with_rules(old, each.lines("-"), deleted, there)
            new = _with_rules(new, each.lines("+"), added, there)
        if (old, new) != (names.old, names.new):
            found[each.id] = replace(names, old=old, new=new)
    return found


def _with_rules(
    names: SideNames,
    lines: Sequence[str],
    files: Mapping[str, frozenset[Name]],
    there: frozenset[Name],
) -> SideNames:
    """The names, with the files that lines of a build name, and the macros that they define."""
    words = {PurePosixPath(word).name for line in lines for word in _PATH.findall(line)}
    named = frozenset[Name]().union(*(files[word] for word in words & files.keys()))
    macros = frozenset(name for line in lines for name in _MACRO.findall(line))
    listed = frozenset(_LISTED + name.removeprefix(_FILE) for name in named)
    return replace(
        names, defines=names.defines | macros | listed, uses=names.uses | (named - there)
    )


def _is_called_otherwise(change: Change) -> bool:
    old, new = PurePosixPath(change.old_file), PurePosixPath(change.file)
    return change.form is ChangeForm.RENAMED and old.name != new.name


def _with_listed(names: SideNames, file: str) -> SideNames:
    """The names of one side of a renaming: its file is there, and asks for whoever lists it."""
    there, listed = frozenset({_FILE + file}), frozenset({_LISTED + file})
    return replace(names, defines=names.defines | there, uses=names.uses | listed)


def _built_names(files: Iterable[str]) -> Mapping[str, frozenset[Name]]:
    """The words by which rules of a build may name some files: a template by what is made of it, a source by its
    object.
    """
    found: dict[str, set[Name]] = defaultdict(set)
    for each in files:
        path = PurePosixPath(each)
        words = {path.name, path.name.removesuffix(".in")}
        if is_named(each):
            words |= {f"{path.stem}.o", f"{path.stem}.lo"}
        for word in words:
            found[word].add(_FILE + each)
    return {word: frozenset(names) for word, names in found.items()}


def _with_parts(
    named: Mapping[ChangeId, ChangeNames],
    changes: Sequence[Change],
    outer: Mapping[ChangeId, Change],
    texts: Mapping[str, FileNames],
) -> Mapping[ChangeId, ChangeNames]:
    """The names, where an added file, or text that moved, has what no part of it has that can be undone while it stays,
    and each part asks for the whole: with it they are all gone.
    """
    files = {each.file: each for each in changes if each.form is ChangeForm.ADDED}
    parts: dict[ChangeId, list[Change]] = defaultdict(list)
    wholes = {each.id: each for each in (*files.values(), *outer.values())}
    for each in changes:
        whole = outer.get(each.id) or files.get(each.file)
        if each.form is ChangeForm.HUNK and whole is not None:
            parts[whole.id].append(each)
    found = dict(named)
    for name, own in parts.items():
        whole = wholes[name]
        added = whole.form is ChangeForm.ADDED
        there = frozenset({_FILE + whole.file if added else f"moved {name}"})
        in_parts = {line for each in own for line in _lines(each.new)}
        lines = texts[whole.file].filled() if added else _lines(whole.new)
        left = texts[whole.file].side(line for line in lines if line not in in_parts)
        before, text = found[name], texts[whole.file].side(lines)
        opened = before.new.defines - text.defines  # brackets
        left = replace(left, defines=left.defines | there | opened)
        left = replace(left, uses=left.uses | (before.new.uses - text.uses))
        found[name] = replace(before, new=left)
        for each in own:
            names = found[each.id]
            uses = replace(names.new, uses=names.new.uses | there)
            found[each.id] = replace(names, new=uses)
    return found


def _halves(
    changes: Sequence[Change], outer: Mapping[ChangeId, Change]
) -> tuple[Mapping[ChangeId, set[Name]], Mapping[ChangeId, set[Name]]]:
    """Names that stand for brackets and conditionals: of the change that opens more than its old lines
    did, and of the one below it in the file that closes more. Neither parses without the other.
    """
    opened, closed = defaultdict[ChangeId, set[Name]](set), defaultdict[ChangeId, set[Name]](set)
    waiting: dict[tuple[str, str, ChangeId], list[tuple[ChangeId, bool]]] = defaultdict(list)
    for change in sorted(changes, key=lambda c: (c.file, c.new.start, c.new.end)):
        for bracket, more in _opened_brackets(change).items():
            around = outer[change.id].id if change.id in outer else ""
            begun = waiting[change.file, bracket, around]
            for _ in range(abs(more)):
                if not begun or begun[-1][1] == (more > 0):
                    begun.append((change.id, more > 0))
                    continue
                other, _opens = begun.pop()
                opened[other].add(f"{bracket}{other}")
                closed[change.id].add(f"{bracket}{other}")
    return opened, closed


def _opened_brackets(change: Change) -> Mapping[str, int]:
    """How many brackets and conditionals more a change's new lines open than its old ones did."""
    found = Counter[str]()
    if change.form is not ChangeForm.HUNK:
        return found
    for sign, way in (("+", 1), ("-", -1)):
        for token in tokens("\n".join(change.lines(sign)), Language.C):
            bracket, more = _BRACKETS.get(token.text, ("", 0))
            if token.kind is TokenKind.DIRECTIVE and (given := CONDITIONAL.match(token.text)):
                bracket, more = "#", {"endif": -1}.get(given[1], int(given[1].startswith("if")))
            found[bracket] += way * more
    return {bracket: more for bracket, more in found.items() if more}


def is_named(path: str) -> bool:
    """Whether names are read from a file of this name."""
    return PurePosixPath(path).suffix in C | CXX | GRAMMARS


def _version(
    places: Iterable[tuple[str, LineSpan, ChangeForm]], read: ReadFile, *, cxx: bool
) -> dict[str, FileNames]:
    spans: dict[str, list[LineSpan]] = defaultdict(list)
    for path, span, form in places:
        spans[path].append(span if form in _BESIDE_TEXT else _EVERY_LINE)
    texts = {path: read(path) for path in sorted(spans)}
    found = {
        path: grammar_names(text)
        if PurePosixPath(path).suffix in GRAMMARS
        else file_names(path, text, spans[path], of_cxx=cxx)
        for path, text in texts.items()
        if text is not None
    }
    _add_includes(found, cache(lambda path: read(path) is not None))
    return found


def _add_includes(texts: Mapping[str, FileNames], is_there: Callable[[str], bool]) -> None:
    """The headers that lines include: that of the file's own folder where it has one, else by what is written, which a
    build's options may seek anywhere.
    """
    for path, text in texts.items():
        for line, headers in text.included.items():
            for header in headers:
                beside = normpath(PurePosixPath(path).parent / header)
                text.uses[line].add(f"include {beside if is_there(beside) else header}")


def _included_as(path: str) -> frozenset[Name]:
    """The names by which a file is included: its path, and each end of it."""
    parts = PurePosixPath(path).parts
    return frozenset(f"include {'/'.join(parts[at:])}" for at in range(len(parts)))


def _bracket_names(version: str, begun: Iterable[Name], ended: Iterable[Name]) -> SideNames:
    """Brackets as names of one version: both have them, and neither has those of the other."""
    return SideNames(
        frozenset(f"{version} {each}" for each in begun),
        uses=frozenset(f"{version} {each}" for each in ended),
    )


def _side(text: FileNames | None, change: Change, span: LineSpan, brackets: SideNames) -> SideNames:
    """The names on a change's lines in one version; of a file that is new or gone, on all."""
    if text is None:
        return brackets
    names = text.side(_lines(span) if change.form in _BESIDE_TEXT else text.filled())
    return replace(names, defines=names.defines | brackets.defines, uses=names.uses | brackets.uses)


def _standing_names(texts: Mapping[str, FileNames], changes: Sequence[Change]) -> frozenset[Name]:
    """The names that are defined, or declared, where no change has written."""
    written: dict[str, set[int]] = defaultdict(set)
    for change in changes:
        written[change.file].update(_lines(change.new))
    return frozenset(
        name
        for path, text in texts.items()
        for line, names in text.defines.items()
        if line not in written[path]
        for name in names
    )


def _add_arities(*versions: _Version) -> None:
    """Functions and macros that take another number of arguments are other ones: ``n/2`` and ``n/3``. A head, or a
    call, of several lines has the number on those that changed, as these make it another one.
    """
    before, after = (_taking_changes(texts) for texts, _ in versions)
    other = {
        name
        for name in before.keys() & after.keys()
        if before[name] != after[name] and len(before[name]) == len(after[name]) == 1
    }
    for texts, changed in versions:
        for path, text in texts.items():
            for each in (*text.headed, *text.called):
                if each.name not in other:
                    continue
                names = text.defines if each.is_body else text.uses
                own = [line for line in _lines(each.span) if (path, line) in changed]
                for line in own or [each.span.start]:
                    names[line].add(f"{each.name}/{each.count}")


def _add_locals(*versions: _Version) -> None:
    """The variables of functions. Of those that several blocks of a function declare each is another one: it is named
    by the change that declares it, and what is declared where nothing changed is there whatever is undone.
    """
    declared = [
        {(path, each.name, each.declared) for path, text in texts.items() for each in text.own}
        for texts, _ in versions
    ]
    counts = [Counter((path, name) for path, name, _ in found) for found in declared]
    for texts, changed in versions:
        for path, text in texts.items():
            for each in text.own:
                name = each.name
                if any(count[path, name] > 1 for count in counts):
                    by = changed.get((path, each.declared))
                    if by is None:
                        continue
                    name = f"{name}#{by}"
                (text.defines if each.is_declared_here else text.uses)[each.line].add(name)


def _add_moved_values(*versions: _Version) -> None:
    """Who gives something its value, where one line does so in each version, which changed: it moved from the one to
    the other, and a variant with both halves or with none is no version of the program.
    """
    given = [
        {
            name: [(path, line) for path, line in places if (path, line) in changed]
            for name, places in _assignments(texts).items()
            if len(places) == 1
        }
        for texts, changed in versions
    ]
    for name in given[0].keys() & given[1].keys():
        if given[0][name] and given[1][name]:
            for (texts, _), found in zip(versions, given, strict=True):
                ((path, line),) = found[name]
                texts[path].defines[line].add(f"value {name}")


def _assignments(texts: Mapping[str, FileNames]) -> Mapping[Name, list[tuple[str, int]]]:
    """Where each name is given a value."""
    found: dict[Name, list[tuple[str, int]]] = defaultdict(list)
    for path, text in texts.items():
        for line, names in text.assigned.items():
            for name in names:
                found[name].append((path, line))
    return found


def _lines(span: LineSpan) -> range:
    return range(span.start, span.end)


def _taking_changes(texts: Mapping[str, FileNames]) -> dict[Name, set[int]]:
    found: dict[Name, set[int]] = defaultdict(set)
    for text in texts.values():
        for name, counts in text.taking.items():
            found[name] |= counts
    return found
