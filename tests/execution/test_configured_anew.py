"""Build commands that configure anew each time, and what of it is done once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from test_build import LIMITS
from trees_and_slots import Workshop, compiler, needs_make

from afterd.execution.build import Builder, Built
from afterd.execution.process import Command
from afterd.execution.recipe import Recipe
from afterd.execution.sandbox import run

_CONFIGURE = """\
#!/bin/sh
# As Autoconf's scripts do: a site's settings, what was found out before, and what is found out now.
prefix=NONE
ac_default_prefix=/nowhere
cache_file=/dev/null
for site in $CONFIG_SITE; do test -r "$site" && . "$site"; done
test -r "$cache_file" && . "$cache_file"
if test -z "$ac_cv_answer"; then
    echo asked >> log
    ac_cv_answer=42
fi
echo "ac_cv_answer=$ac_cv_answer" > "$cache_file"
rm -f config.h
echo "#define ANSWER $ac_cv_answer" > config.h
echo "#define MORE ${1:-0}" >> config.h
"""
_MAKEFILE = """\
objects = main.o value.o
prog: $(objects)
\t$(CC) -o prog $(objects)
%.o: %.c config.h
\techo compiled $< >> log
\t$(CC) -c -o $@ $<
"""
FILES = {
    "configure": _CONFIGURE,
    "Makefile": _MAKEFILE,
    "main.c": '#include "config.h"\nint value(void);\nint main(void) { return value() != ANSWER + MORE; }\n',
    "value.c": '#include "config.h"\nint value(void) { return ANSWER; }\n',
}
OTHER = FILES["value.c"].replace("ANSWER;", "ANSWER + 1;")

pytestmark = needs_make


class _Anew:
    """A slot whose build command configures and makes."""

    def __init__(self, folder: Path) -> None:
        self.workshop = Workshop(folder)
        self.slot = self.workshop.slot()
        self.builder = Builder(self.slot)

    def build(self, arguments: str = "", **changed: str) -> Built:
        files = FILES | {name.replace("__", "."): text for name, text in changed.items()}
        line = f"./configure {arguments} && make CC='{compiler()}'"
        recipe = Recipe(("true",), ("sh", "-c", line), limits=LIMITS)
        return self.builder.build(recipe, self.workshop.tree(files))

    def done(self) -> list[str]:
        """What was asked and compiled since the last question, in order."""
        log = self.slot.path / "log"
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return sorted(lines)

    def passes(self) -> bool:
        return run(Command(("./prog",), self.slot.path, os.environ), LIMITS.build).succeeded


_WHOLE = ["asked", "compiled main.c", "compiled value.c"]


def test_only_what_a_variant_changed_is_compiled(tmp_path: Path) -> None:
    anew = _Anew(tmp_path)
    assert anew.build().ok
    assert anew.done() == _WHOLE
    assert anew.passes()
    assert anew.build(value__c=OTHER).ok
    assert anew.done() == ["compiled value.c"]
    assert not anew.passes()
    assert anew.build().ok
    assert anew.done() == ["compiled value.c"]
    assert anew.passes()


def test_a_header_that_is_another_one_is_compiled_for(tmp_path: Path) -> None:
    """Another script has its own answers, and what it writes is no header of the other's."""
    anew = _Anew(tmp_path)
    assert anew.build().ok
    anew.done()
    for script in (_CONFIGURE.replace("=42", "=43"), _CONFIGURE):
        assert anew.build(configure=script).ok
        assert [line for line in anew.done() if line != "asked"] == _WHOLE[1:]
        assert anew.passes()


def test_other_arguments_and_thrown_away_products_ask_again(tmp_path: Path) -> None:
    anew = _Anew(tmp_path)
    assert anew.build().ok
    anew.done()
    assert anew.build("1").ok
    assert anew.done() == _WHOLE
    assert not anew.passes()
    anew.slot.hard_reset()
    assert not anew.slot.beside.exists()
    assert anew.build().ok
    assert anew.done() == _WHOLE


def test_a_script_that_another_one_starts_keeps_its_own_answers(tmp_path: Path) -> None:
    """swig: its configure handed the file of its answers to CCache's, which has other variables and refused them."""
    inner = _CONFIGURE.replace("cache_file=/dev/null", 'cache_file="$1"').replace("42", "43")
    inner = inner.replace("config.h", "inner.h").replace("${1:-0}", "0")
    outer = _CONFIGURE + 'sh ./inner "$cache_file" --own\n'
    main = FILES["main.c"].replace("main(void) {", "main(void) { if (INNER != 43) return 2;")
    main = f'#include "inner.h"\n#define INNER ANSWER\n#undef ANSWER\n{main}'
    anew = _Anew(tmp_path)
    for value in (FILES["value.c"], OTHER):
        assert anew.build(configure=outer, inner=inner, main__c=main, value__c=value).ok
        said = (anew.slot.path / "inner.h").read_text()
        assert "ANSWER 43" in said


def test_a_site_that_the_user_named_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    site.write_text("ac_cv_answer=7\n")
    monkeypatch.setenv("CONFIG_SITE", str(site))
    anew = _Anew(tmp_path)
    assert anew.build().ok
    assert anew.done() == _WHOLE[1:]
    assert (anew.slot.path / "config.h").read_text().startswith("#define ANSWER 7\n")
