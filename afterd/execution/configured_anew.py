"""A build command that configures anew each time, without what is then made anew for nothing.

``./autogen.sh && ./configure && make`` is the whole of many a build command. Two things of it cost more than what
changed between two variants: a script asks a compiler the same hundred questions, and writes headers anew that
everything includes (nasm's autogen.sh removes config.h first: 86 objects were compiled again for each set of
changes). So a script of Autoconf keeps its answers, by CONFIG_SITE, as it would with ``--config-cache``: under its
text, its arguments and its environment. And C-like files that no tree holds and that were written anew as they stood
before the build have the time back that they had, before make or ninja looks at it: what was made of them was made of
this text.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from afterd.execution.includes import source_files
from afterd.execution.process import Command
from afterd.vcs.worktree import Slot, remove_directory

_SITE_VARIABLE = "CONFIG_SITE"
_MAKERS = ("make", "gmake", "ninja", "samu")
_MAKER = """\
#!/bin/sh
# What was written anew as it stood before the build has its time back.
(
    cd {before} && find . -type f | while IFS= read -r file; do
        test {slot}/"$file" -nt "$file" && cmp -s "$file" {slot}/"$file" && touch -r "$file" {slot}/"$file"
    done
) </dev/null >/dev/null 2>&1
case ":$PATH:" in
*:{makers}:*) PATH=${{PATH%%{makers}:*}}${{PATH#*{makers}:}}; export PATH ;;
esac
command -v {name} >/dev/null && exec {name} "$@"
exec {program} "$@"
"""
_SITE = """\
# Read by scripts of Autoconf; what they would read without it comes first.
test "x$prefix" = xNONE && afterd_prefix=$ac_default_prefix || afterd_prefix=$prefix
for afterd_site in "$afterd_prefix/share/config.site" "$afterd_prefix/etc/config.site"; do
    if test -r "$afterd_site"; then . "$afterd_site"; fi
done
case $cache_file in
'' | /dev/null | {answers}/*) # a script that another one starts is told of the other's
    afterd_told=`env | grep -v -E '^(PWD|OLDPWD|SHLVL|TMPDIR|AFTERD_RUN|_)=' | sort`
    cache_file={answers}/`{{ cat "$0"; echo "$*"; echo "$afterd_told"; }} | cksum | tr ' ' -`
    ;;
esac
"""


def sparing_command(command: Command, slot: Slot) -> Command:
    """A build command of a slot, which neither asks again what it knows nor dates anew what is as it was.

    To be called before each build, when the slot's files are in place.
    """
    beside = slot.beside.absolute()
    before, answers, makers = beside / "before", beside / "answers", beside / "bin"
    if before.exists():
        remove_directory(before)
    for directory in (before, answers, makers):
        directory.mkdir(parents=True, exist_ok=True)
    _copy_made(slot, before)
    path = command.environment.get("PATH", os.defpath)
    for name in _MAKERS:
        if program := shutil.which(name, path=path):
            words = {"before": before, "slot": slot.path, "makers": makers, "program": program}
            quoted = {key: shlex.quote(str(word)) for key, word in words.items()}
            (makers / name).write_text(_MAKER.format(name=name, **quoted))
            (makers / name).chmod(0o755)
    site = beside / "site"
    site.write_text(_SITE.format(answers=shlex.quote(str(answers))))
    added = {"PATH": f"{makers}{os.pathsep}{path}", _SITE_VARIABLE: str(site)}
    return replace(command, environment=_with_site(command.environment, added))


def _with_site(given: Mapping[str, str], added: Mapping[str, str]) -> dict[str, str]:
    """Whose site the user named is read, and none of ours."""
    own = {_SITE_VARIABLE: given[_SITE_VARIABLE]} if given.get(_SITE_VARIABLE) else {}
    return {**given, **added, **own}


def _copy_made(slot: Slot, before: Path) -> None:
    """Copies of the C-like files that a build made, with their times."""
    tracked = slot.tracked_paths()
    for entry in source_files(slot.path):
        name = os.path.relpath(entry.path, slot.path)
        if os.fsencode(name) not in tracked:
            copy = before / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(entry.path, copy)
