"""What a compiler alone says against a variant, and what it leaves to the build."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from traced_programs import Laboratory

from afterd.causality.complaint import complaint
from afterd.limits import WORK, Limits
from afterd.model.change import Change, ChangeSet, FileKind
from afterd.model.location import LineSpan
from afterd.trace.c.build.compilations import Compilation, compilations, moved
from afterd.trace.c.build.syntax_check import SyntaxCheck

FILES = {
    "list.h": "struct list { int length; int *items; };\n#define LIMIT 10\n",
    "list.c": '#include "list.h"\nint total(struct list *l) { return l->items[0] + LIMIT; }\n',
    "main.c": '#include "list.h"\nint total(struct list *);\nint main(void) { return LIMIT; }\n',
}


@pytest.fixture
def project(laboratory: Laboratory, tmp_path: Path) -> tuple[Path, Laboratory]:
    root = tmp_path / "slot"
    (root / "out").mkdir(parents=True)
    for name, text in FILES.items():
        (root / name).write_text(text)
    made = laboratory.traced("-I", "..", "../list.c", "../main.c", "-o", "p", cwd=root / "out")
    assert made.status == 0, made.errors
    return root, laboratory


def _against(project: tuple[Path, Laboratory], texts: Mapping[str, str | None]) -> str:
    check, changes = _check(project, texts)
    return check.against(frozenset(changes))


def _check(
    project: tuple[Path, Laboratory], texts: Mapping[str, str | None], *, patch: str = ""
) -> tuple[SyntaxCheck, Mapping[str, Change]]:
    root, laboratory = project
    changes = {f"c{i}": _change(f"c{i}", name, patch) for i, name in enumerate(sorted(texts))}

    def texts_of(reverted: ChangeSet) -> dict[str, bytes | None]:
        found = {changes[c].file: texts[changes[c].file] for c in reverted}
        return {file: None if text is None else text.encode() for file, text in found.items()}

    built = compilations(laboratory.store.directory)
    good = [_of_the_good_version(each, root) for each in built if each.source.name == "main.c"]
    return SyntaxCheck(root, built, changes, texts_of, Limits().build, good), changes


def _of_the_good_version(compilation: Compilation, root: Path) -> Compilation:
    """The good version has a source ``lexer.c`` that the bad one lacks."""
    argv = tuple(word.replace("main.c", "lexer.c") for word in compilation.argv)
    built = Path("/elsewhere/slot")
    there = Compilation(built / "lexer.c", built / "out", argv)
    return moved(there, built, root)


def _change(identifier: str, file: str, patch: str = "") -> Change:
    kind = FileKind.BUILD if file in {"Makefile", "build.ninja"} else FileKind.SOURCE
    lines = patch if kind is FileKind.BUILD else ""
    return Change(identifier, file, file, LineSpan(1, 1), LineSpan(1, 1), kind=kind, patch=lines)


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ({"list.c": "int total(void) { return MISSING; }\n"}, "MISSING"),
        ({"list.h": "struct list { int length; };\n#define LIMIT 1\n"}, "items"),
        ({"list.h": "struct list { int *items; };\n"}, "LIMIT"),
        ({"list.h": "struct list { int *items; };\n", "list.c": "", "main.c": ""}, ""),
        ({"list.c": "int total(void) { return elsewhere(); }\n"}, ""),  # the linker's
        ({"list.c": "int total(void) { return MISSING; }\n", "Makefile": "-DMISSING=1\n"}, ""),
        ({"notes.txt": "nothing"}, ""),
        # a header that comes back is read though it is not on the disk
        ({"list.c": '#include "back.h"\nint total = BACK;\n', "back.h": "#define BACK 1\n"}, ""),
        ({"list.c": '#include "back.h"\nint total = BACK;\n', "back.h": "\n"}, "BACK"),
        # a source that the variant lacks is not compiled (pkgconf's queue.c, which came with the type that it uses)
        ({"list.h": "#define LIMIT 1\n", "list.c": None}, ""),
        # a header that the variant lacks is not there to be included (lighttpd's ck.h)
        ({"list.h": None}, "'list.h' file not found"),
        (
            {"list.h": None, "list.c": "int total;\n", "main.c": "int main(void) { return 0; }\n"},
            "",
        ),
    ],
)
def test_a_compiler_speaks_against_what_does_not_compile(
    project: tuple[Path, Laboratory], texts: dict[str, str | None], said: str
) -> None:
    answer = _against(project, texts)
    assert said in answer
    assert bool(answer) is bool(said)


BROKEN = "int total(void) { return MISSING; }\n"


@pytest.mark.parametrize(
    ("patch", "texts", "said"),
    [
        # a list of objects that names others leaves the rest compiled as it was (samurai's lex.o and scan.o)
        ("-\tlexer.o\\\n+\tscanner.o\\\n", {"list.c": BROKEN}, "MISSING"),
        ("-p_SOURCES = main.c lexer.c\n+p_SOURCES = main.c\n", {"list.c": BROKEN}, "MISSING"),
        # what it no longer names is not compiled
        ("-\tlexer.o\\\n+\tlist.o\\\n", {"list.c": BROKEN}, ""),
        # what it names again is compiled as the good version's build did
        ("-\tlexer.o\\\n", {"lexer.c": '#include "lexer.h"\n', "lexer.h": "int x = LOST;"}, "LOST"),
        ("-\tlexer.o\\\n", {"lexer.c": '#include "lexer.h"\n', "lexer.h": "int x;"}, ""),
        # any other word may alter how all sources are compiled
        ("-FLAGS = -DMISSING=1\n+FLAGS =\n", {"list.c": BROKEN}, ""),
        ("-FLAGS = -include all.h\n+FLAGS =\n", {"list.c": BROKEN}, ""),
    ],
)
def test_a_build_file_that_lists_other_sources_leaves_the_rest_to_the_compiler(
    project: tuple[Path, Laboratory], patch: str, texts: dict[str, str | None], said: str
) -> None:
    check, changes = _check(project, {**texts, "Makefile": "all: p\n"}, patch=patch)
    found = check.against(frozenset(changes))
    assert said in found
    assert bool(found) == bool(said), found


def test_a_build_statement_of_ninjas_is_of_its_own_sources(
    project: tuple[Path, Laboratory],
) -> None:
    texts = {"list.c": BROKEN, "build.ninja": "rule cc\n"}
    check, changes = _check(project, texts, patch="-build lexer.o: cc lexer.c\n")
    assert "MISSING" in check.against(frozenset(changes))


def test_a_source_is_not_asked_about_before_its_list_names_it(
    project: tuple[Path, Laboratory],
) -> None:
    texts = {"lexer.c": "int x = LOST;\n", "Makefile": "all: p\n"}
    check, changes = _check(project, texts, patch="-\tlexer.o\\\n")
    source = frozenset(c for c, change in changes.items() if change.file == "lexer.c")
    assert check.against(source) == ""


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ({"list.c": "int total(void) { return half(4); }\n"}, "half"),
        ({"list.c": "static int half(int);\nint total(void) { return half(4); }\n"}, "half"),
        ({"list.c": "int total(void) { return elsewhere(); }\n"}, ""),
    ],
)
def test_a_function_that_a_file_had_for_itself_is_missed_by_the_linker(
    laboratory: Laboratory, tmp_path: Path, texts: dict[str, str | None], said: str
) -> None:
    """libfyaml: three variants without a static function that they call were each built to its end."""
    root = tmp_path / "slot"
    root.mkdir()
    (root / "list.c").write_text(
        "static inline int half(int n) { return n / 2; }\nint total(void) { return half(4); }\n"
    )
    (root / "main.c").write_text("int main(void) { return 0; }\n")
    made = laboratory.traced("list.c", "main.c", "-o", "p", cwd=root)
    assert made.status == 0, made.errors
    answer = _against((root, laboratory), texts)
    assert said in answer
    assert bool(answer) is bool(said)


def test_a_source_outside_the_tree_tells_of_the_headers_that_it_includes(
    laboratory: Laboratory, tmp_path: Path
) -> None:
    """toml++: its program is the user's own, and all that changes are headers, of which none was ever compiled."""
    root = tmp_path / "slot"
    root.mkdir()
    (root / "numbers.h").write_text('#include "numbers.inl"\n')
    (root / "numbers.inl").write_text("#define LIMIT 10\n")
    (tmp_path / "main.c").write_text('#include "numbers.h"\nint main(void) { return LIMIT; }\n')
    made = laboratory.traced("-I", ".", "../main.c", "-o", "p", cwd=root)
    assert made.status == 0, made.errors
    assert "LIMIT" in _against((root, laboratory), {"numbers.inl": "#define MOST 10\n"})


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ({"list.c": "int total(void) { return MISSING; }\n"}, "MISSING"),
        ({"main.c": '#include "words.h"\nint main(void) { return MISSING; }\n'}, ""),
        ({"words.c": "int scan(void) { return MISSING; }\n"}, ""),
    ],
)
def test_a_grammar_leaves_what_is_not_made_of_it_to_the_compiler(
    project: tuple[Path, Laboratory], texts: dict[str, str | None], said: str
) -> None:
    """Libxkbcommon: with a line of its grammar undone no file was compiled, and forty sets were built in vain."""
    root, laboratory = project
    (root / "words.l").write_text("%%\n")
    (root / "words.c").write_text('#line 1 "words.l"\nint scan(void) { return 0; }\n')
    (root / "words.h").write_text("/* made of words.l */\n")
    (root / "main.c").write_text(f'#include "words.h"\n{FILES["main.c"]}')
    made = laboratory.traced("-I", "..", "../words.c", "-c", cwd=root / "out")
    assert made.status == 0, made.errors
    answer = _against(project, {**texts, "words.l": "%%\n%%\n"})
    assert said in answer
    assert bool(answer) is bool(said)


def test_colours_hide_no_line_that_a_compiler_shows(project: tuple[Path, Laboratory]) -> None:
    """Meson has compilers speak in colours (p11-kit): no line that they showed was found among the changes."""
    root, laboratory = project
    (root / "other.c").write_text("int other;\n")
    made = laboratory.traced("../other.c", "-fdiagnostics-color=always", "-c", cwd=root / "out")
    assert made.status == 0, made.errors
    line = "int other(void) { return MISSING; }"
    assert line in complaint(_against(project, {"other.c": f"{line}\n"})).lines


MIXED = """\
int read(char **place);
int kept(long *);
int all(int *n) { return kept(n); }
int use(char *p) { return read(&p); }
int one(int n) { if (n) { return n; } return 0; }
int two(void) { int t = 1; return t; }
int own(int n) { if (n) { return n; } }
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (MIXED.replace("read(&p)", "read(p)"), "incompatible pointer"),
        (MIXED.replace("read(&p)", "read(1)"), "integer to pointer"),
        (MIXED.replace("return 0; }", "}"), "does not return a value in all control paths"),
        (MIXED.replace("int t = 1", "int t"), "variable 't' is uninitialized"),
        (MIXED.replace("int own(", "int  own("), ""),
        (MIXED.replace("int all(", "int  all("), ""),  # what both versions have is no news
        (MIXED.replace("(char *p", "(const char *p").replace("&p", "(char **)&p"), ""),
        (MIXED.replace("int read(char **place);", "int read(char *const *place);"), ""),
    ],
)
def test_what_neither_version_is_warned_of_is_half_a_change(
    project: tuple[Path, Laboratory], text: str, said: str
) -> None:
    """p11-kit: a pointer's address was handed on where undone alone, and the test passed by what was read there; so did
    ucode's, of a function of which a part was undone, by what happened to be in a register.
    """
    root, laboratory = project
    (root / "list.c").write_text(MIXED)
    made = laboratory.traced(
        "../list.c", "-w", "-Wno-error=incompatible-pointer-types", "-c", cwd=root / "out"
    )
    assert made.status == 0, made.errors
    texts = {"half": text, "other": MIXED + "int more;\n"}
    changes = {each: _change(each, "list.c") for each in texts}

    def texts_of(reverted: ChangeSet) -> dict[str, bytes | None]:
        half = len(reverted) == 1
        return {"list.c": (texts[min(reverted)] if half else MIXED).encode()}

    check = SyntaxCheck(
        root, compilations(laboratory.store.directory), changes, texts_of, Limits().build
    )
    answer = check.against(frozenset({"half"}))
    assert said in answer
    assert answer.count("error:") == bool(said)
    assert not check.against(frozenset({"other"}))


def test_the_work_tree_is_left_alone(project: tuple[Path, Laboratory]) -> None:
    before = {path: path.stat().st_mtime_ns for path in project[0].rglob("*")}
    assert _against(project, {"list.c": "int x = Y;\n"})
    assert {path: path.stat().st_mtime_ns for path in project[0].rglob("*")} == before


def test_a_file_is_asked_again_only_when_something_that_it_reads_is_another(
    project: tuple[Path, Laboratory],
) -> None:
    """The compiler is gone after the first question; what it said is known."""
    texts = {"list.h": "struct list { int *items; };\n#define LIMIT 5\n", "list.c": "int x = Y;\n"}
    check, changes = _check(project, texts)
    header, both = frozenset({"c1"}), frozenset(changes)
    assert not check.against(header)
    said = check.against(both)
    assert "Y" in said
    directory = project[0] / "out"
    directory.rename(directory.with_name("gone"))
    assert not check.against(header)
    assert check.against(both) == said


def test_a_check_costs_what_is_read_for_it_and_the_same_text_nothing(
    project: tuple[Path, Laboratory],
) -> None:
    comment = {"list.c": FILES["list.c"] + "// seen\n"}
    check, changes = _check(project, comment)
    assert not check.against(frozenset(changes))
    small = check.work()
    assert 0 < small < WORK.second // 10
    large, changed = _check(project, {"list.c": FILES["list.c"] + "int a = 1;\n" * 2000})
    assert "redefinition" in large.against(frozenset(changed))
    assert large.work() > small + 2000 * WORK.compiler
    assert not check.against(frozenset(changes))
    assert check.work() == small


def test_a_text_that_differs_in_comments_is_read_once(project: tuple[Path, Laboratory]) -> None:
    root, laboratory = project
    texts = {"c0": "// one\n", "c1": "/* another */\n"}

    def texts_of(reverted: ChangeSet) -> dict[str, bytes]:
        return {
            "list.c": "".join([FILES["list.c"], *(texts[c] for c in sorted(reverted))]).encode()
        }

    built = compilations(laboratory.store.directory)
    changes = {name: _change(name, "list.c") for name in texts}
    check = SyntaxCheck(root, built, changes, texts_of, Limits().build)
    assert not check.against(frozenset(["c0"]))
    before = check.work()
    assert not check.against(frozenset(["c1"]))
    assert not check.against(frozenset(["c0", "c1"]))
    assert check.work() == before


def test_of_the_files_that_include_a_header_those_are_read_that_may_tell(
    project: tuple[Path, Laboratory],
) -> None:
    """A field that list.c alone names: main.c compiles without it, and is not asked."""
    header = "struct list { int length; };\n#define LIMIT 10\n"
    check, changes = _check(project, {"list.h": header})
    assert "items" in check.against(frozenset(changes))
    both, changed = _check(project, {"list.h": FILES["list.h"].replace("10", "11")})
    assert not both.against(frozenset(changed))
    assert both.work() > check.work()
