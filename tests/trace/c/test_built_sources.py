"""Which sources a build compiled, of files that lie in a project."""

from __future__ import annotations

from pathlib import Path

from traced_programs import Laboratory

from afterd.trace.c.build.built_sources import BuiltSources
from afterd.trace.c.build.modules import ModuleStore
from afterd.trace.c.build.source import Sources

FILES = {
    "main.c": '#include "part.c"\nint main(void) { return part(); }\n',
    "part.c": "static int part(void) { return 0; }\n",
    "part.tab.c": '/* made of rules.l */\n\n#line 3 "src/named.re"\nint made;\n',
    "old.c": 'int main(void) { __asm__ goto ("" :::: out); out: return 0; }\n',
    "generated/main.c": "int main(void) { return 1; }\n",
    "examples/show.c": '#include "shown.c"\nint main(void) { return shown; }\n',
    "examples/shown.c": "static int shown;\n",
    "list.h": "int unused;\n",
    "part.y": "%%\n",
    "rules.l": "%%\n",
    "named.re": "%%\n",
    "examples/other.re": "%%\n",
}


def test_a_source_that_no_build_compiles_nor_includes(
    laboratory: Laboratory, tmp_path: Path
) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    sources, other = [Sources(tmp_path)], ModuleStore(tmp_path / "other")
    assert not BuiltSources([other], sources).lack("old.c"), "nothing was compiled"
    assert laboratory.traced("main.c", "part.tab.c", "-o", "p", cwd=tmp_path).status == 0
    other.note_opaque("old.c", "inline assembly")
    built = BuiltSources([laboratory.store, other], sources)
    assert [name for name in FILES if built.lack(name)] == [
        "examples/show.c",
        "examples/shown.c",
        "examples/other.re",
    ]
