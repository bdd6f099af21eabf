"""What changes of a C program need each other for, read from both versions' names."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from afterd.causality.deltas.closure import Closure
from afterd.model.change import Change, ChangeForm, FileKind
from afterd.model.location import LineSpan
from afterd.vcs.c_names import change_names


def _closure(files: Mapping[str, str]) -> Closure:
    """Of files with both versions' lines (``-`` and ``+``); hunks are c1, c2, … in their order."""
    changes, texts = list[Change](), dict[tuple[int, str], bytes]()
    for file, marked in files.items():
        sides: tuple[list[str], list[str]] = ([], [])
        begun: tuple[int, int] | None = None
        for line in [*marked.strip("\n").split("\n"), ""]:
            if line[:1] in {"-", "+"}:
                begun = begun or (len(sides[0]), len(sides[1]))
                sides["-+".index(line[0])].append(line[1:])
                continue
            if begun is not None:
                old, new = (
                    LineSpan(at + (len(side) > at), len(side) - at)
                    for at, side in zip(begun, sides, strict=True)
                )
                patch = "\n".join(
                    sign + line
                    for sign, side, at in zip("-+", sides, begun, strict=True)
                    for line in side[at:]
                )
                name = f"c{len(changes) + 1}"
                changes.append(Change(name, file, file, old, new, patch=patch))
                begun = None
            for side in sides:
                side.append(line)
        for number, side in enumerate(sides):
            texts[number, file] = "\n".join(side).encode()
    good, bad = (lambda p, n=n: texts.get((n, p)) for n in (0, 1))
    return Closure(*change_names(changes, good, bad))


TEMPORARY = {
    "defs.h": """
-extern char *union_name;
extern int other;
""",
    "main.c": """
-char *union_name;
int other;
void names(void) {
-  union_name = other ? "u" : 0;
  other = 1;
}
""",
    "output.c": """
void output(void) {
-  open(union_name);
+  temporary();
}
""",
}
ARGUMENT = {
    "f.c": """
-int f(int a) {
+int f(int a, int b) {
  return a;
}
""",
    "g.c": """
int g(void) {
-  return f(1);
+  return f(1, 2);
}
int h(void) {
-  return g() + 1;
+  return g();
}
""",
    "f.h": """
-int f(int);
+int f(int, int);
""",
}
FIELD = {
    "s.h": """
struct s {
-  int length;
+  int size;
};
""",
    "s.c": """
int f(struct s *s) {
-  return s->length;
+  return s->size;
}
int length(void) {
-  return 0;
+  return 1;
}
""",
}
LOCAL = {
    "l.c": """
int f(void) {
-  int n = 3;
  int m = 1;
-  return n;
+  return m;
}
int g(int n) {
-  return n;
+  return -n;
}
"""
}
MACRO = {
    "m.c": """
-#define LEVEL (parser->level)
int f(struct p *parser) {
-  return LEVEL;
+  return parser->level;
}
"""
}
MOVED = {
    "m.c": """
-int f(void) { return 1; }
int g;
+int f(void) { return 2; }
int h;
"""
}
LABEL = {
    "l.c": """
int f(int n) {
-  if (n) goto out;
+  if (n) return 1;
  n = 2;
-out:
  return n;
}
"""
}
OLDER = {
    "k.c": """
-int f(n) int n; {
+int f(n, m) int n; int m; {
  int s = 0;
-  return s;
+  return s + 1;
}
"""
}
NEW = {
    "n.c": """
+static int twice(int n) { return 2 * n; }
int f(int n) {
-  return n + n;
+  return twice(n);
}
"""
}
PASTED = {
    "t.h": """
+int TY_(fresh)(int n);
int TY_(other)(int n);
""",
    "t.c": """
+int TY_(fresh)(int n) { return n; }
int TY_(other)(int n) { return n; }
""",
    "u.c": """
int TY_(user)(int n) {
-  return n;
+  return TY_(fresh)(n);
}
int TY_(another)(int n) {
-  return TY_(other)(n);
+  return TY_(other)(n + 1);
}
""",
}
BRACES = {
    "b.c": """
int f(int n) {
-  if (n)
+  if (n > 1) {
    n++;
+    n *= 2;
    n--;
+  }
#if A
  while (n) {
-#else
-  while (!n) {
#endif
    n--; }
}
"""
}
BROKEN = {
    "b.c": """
int before(void) {
#if A
  if (m) {
#else
  if (!m) {
#endif
  }
  return m @ 2;
}
int f(void) {
-  return n;
+  return 0;
}
-int n;
int m;
"""
}


@pytest.mark.parametrize(
    ("files", "reverted", "needed"),
    [
        (TEMPORARY, "c4", "c1 c2"),
        (TEMPORARY, "c2", ""),
        (ARGUMENT, "c1", "c2 c4"),
        (ARGUMENT, "c2", "c1 c4"),
        (ARGUMENT, "c3", ""),
        (FIELD, "c1", "c2"),
        (FIELD, "c2", "c1"),
        (FIELD, "c3", ""),
        (LOCAL, "c2", "c1"),
        (LOCAL, "c3", ""),
        (MACRO, "c2", "c1"),
        (MOVED, "c1", "c2"),
        (MOVED, "c2", "c1"),
        (LABEL, "c1", "c2"),
        (OLDER, "c2", ""),
        (PASTED, "c1", ""),
        (PASTED, "c2", "c1 c3"),
        (PASTED, "c3", ""),
        (PASTED, "c4", ""),
        (BRACES, "c1", "c3"),
        (BRACES, "c2", ""),
        (BRACES, "c3", "c1"),
        (NEW, "c1", "c2"),
        (NEW, "c2", ""),
    ],
)
def test_what_a_variant_would_lack_goes_along(
    files: Mapping[str, str], reverted: str, needed: str
) -> None:
    assert _closure(files).needed(frozenset(reverted.split())) == set(needed.split())


def test_who_shares_a_name_of_one_version_is_kin() -> None:
    closure = _closure(TEMPORARY)
    assert closure.kin(frozenset(["c4"])) == {
        "c3"
    }  # gives the variable its value; c1 and c2 go along
    assert closure.kin(frozenset(["c3"])) == {"c4"}
    assert _closure(FIELD).kin(frozenset(["c3"])) == frozenset()


def test_a_file_that_is_new_is_one_change() -> None:
    files = {"a.c": "int f(void) { return 0; }", "b.c": "+int g(void) { return 1; }"}
    assert _closure(files).needed(frozenset(["c1"])) == frozenset()


def test_parts_of_a_new_file_are_needed_where_the_file_stays() -> None:
    """Pkgconf's queue.c: a function in it was taken away alone, its caller was left, as the file was still there."""
    new = b"int f(void)\n{ return 1; }\nint g(void)\n{ return f(); }\nint kept;\n"
    none = LineSpan(0, 0)
    changes = [
        Change("c1", "b.c", "b.c", none, LineSpan(1, 5), form=ChangeForm.ADDED),
        Change("c2", "b.c", "a.c", none, LineSpan(1, 2)),
        Change("c3", "b.c", "a.c", none, LineSpan(3, 2)),
        Change("c4", "a.c", "a.c", LineSpan(1, 1), LineSpan(1, 1)),
    ]
    texts = {"b.c": new, "a.c": b"int user(void) { return g() + kept; }\n"}
    closure = Closure(*change_names(changes, {"a.c": b"int user;\n"}.get, texts.get))
    assert closure.needed(frozenset(["c2"])) == {"c3", "c4"}
    assert closure.needed(frozenset(["c3"])) == {"c4"}
    assert closure.needed(frozenset(["c4"])) == frozenset()
    assert closure.needed(frozenset(["c1"])) == {"c4"}, "its parts are gone with it"
    assert closure.kin(frozenset(["c3"])) == {"c2"}, "to be in one file is no kinship"


def test_what_stands_behind_the_parts_of_a_new_file_is_read() -> None:
    """Blocks behind the first part were taken for untouched ones, and what the file itself uses was not known."""
    new = b"int f(void)\n{ return 1; }\nint g(void)\n{ return used(); }\n"
    none = LineSpan(0, 0)
    changes = [
        Change("c1", "b.c", "b.c", none, LineSpan(1, 4), form=ChangeForm.ADDED),
        Change("c2", "b.c", "a.c", none, LineSpan(1, 2)),
        Change("c3", "a.c", "a.c", none, LineSpan(1, 1)),
    ]
    texts = {"b.c": new, "a.c": b"int used(void) { return 2; }\n"}
    closure = Closure(*change_names(changes, {"a.c": b""}.get, texts.get))
    assert closure.needed(frozenset(["c3"])) == {"c1"}


def test_a_file_that_no_build_reads_needs_nothing() -> None:
    """Of re2c's 700 changed examples and benchmarks all names were read, and asked for; no build compiles them."""
    changes = [
        Change("c1", "a.c", "a.c", LineSpan(1, 1), LineSpan(1, 0)),
        Change("c2", "examples/a.c", "examples/a.c", LineSpan(1, 1), LineSpan(1, 0)),
        Change("c3", "b.c", "b.c", LineSpan(1, 1), LineSpan(1, 0)),
    ]
    old = {
        "a.c": b"int f(void) { return g(); }\n",
        "examples/a.c": b"int g(void) { return 1; }\n",
        "b.c": b"int g(void) { return 2; }\n",
    }
    texts = dict.fromkeys(old, b"")
    whole = Closure(*change_names(changes, old.get, texts.get))
    assert whole.needed(frozenset(["c1"])) == {"c2", "c3"}
    closure = Closure(*change_names(changes, old.get, texts.get, lambda change: "/" in change.file))
    assert closure.needed(frozenset(["c1"])) == {"c3"}


BLOCKS = {
    "a.c": """
 int main(void) {
   if (a) {
     const char *package = first();
     use(package);
   }
   if (b) {
-    const char *package;
     one();
-    package = second();
+    show(all());
   }
   if (c) {
-    use(package_of(c));
+    const char *package = third();
     other();
+    use(package);
   }
   if (d) {
     const char *package;
-    package = old();
+    package = fourth();
   }
 }
""",
}


def test_a_variable_of_one_block_is_not_that_of_another() -> None:
    """Pkgconf: ``package`` of four blocks of main; with one declared in all versions none of them lacked anything."""
    closure = _closure(BLOCKS)
    assert closure.needed(frozenset(["c2"])) == {"c1"}, "the one assigns what the other declares"
    assert closure.needed(frozenset(["c3"])) == {"c4"}, "which reads what is not declared any more"
    assert closure.needed(frozenset(["c5"])) == frozenset(), "declared where nothing changed"


TYPE_MOVED = {
    "main.c": """
-typedef struct queue { int n; } queue_t;
 queue_t *mine;
""",
    "pkg.h": """
+typedef struct queue { int n; } queue_t;
+extern queue_t *all;
""",
    "queue.c": """
 int unrelated;
+int length(queue_t *all) { return all->n; }
""",
}


def test_a_type_that_a_source_file_has_is_not_seen_by_others() -> None:
    """Pkgconf: a type moved from main.c to a header. Undoing that left queue.c, which uses it, without any."""
    closure = _closure(TYPE_MOVED)
    assert closure.needed(frozenset(["c1"])) == {"c2", "c3"}
    assert closure.needed(frozenset(["c2"])) == {"c1", "c3"}


def test_what_is_brought_back_in_two_files_is_taken_from_the_users_own() -> None:
    files = {
        "main.c": """
-static int walk(void) { return 1; }
 int between;
-int run(void) { return walk(); }
""",
        "queue.c": """
-int walk(void)
+int freed(void)
 { return 2; }
""",
    }
    assert _closure(files).needed(frozenset(["c2"])) == {"c1"}


def test_what_builds_a_file_needs_it() -> None:
    """Pkgconf: Makefile.in came with configure.ac's naming it, and names queue.c; makefiles of an old kind went."""
    none, line = LineSpan(0, 0), LineSpan(1, 1)
    build, added, deleted = FileKind.BUILD, ChangeForm.ADDED, ChangeForm.DELETED
    changes = [
        Change("c1", "configure.ac", "configure.ac", line, line, kind=build,
               patch="-AC_CONFIG_FILES([buildsys.mk])\n+AC_CONFIG_FILES([Makefile config.h])\n"),
        Change("c2", "Makefile.in", "Makefile.in", none, line, added, build, patch="+SRCS = src/main.c src/queue.o\n"),
        Change("c3", "buildsys.mk.in", "buildsys.mk.in", line, none, deleted, build, patch="-CC = cc\n"),
        Change("c4", "src/queue.c", "src/queue.c", none, line, added),
        Change("c6", "Makefile", "Makefile", line, none, deleted, build, patch="-a: b\n"),
        Change("c5", "other/Makefile.am", "other/Makefile.am", line, line, kind=build, patch="-a\n+b\n"),
    ]  # fmt: skip
    closure = Closure(*change_names(changes, lambda _: None, {"src/queue.c": b"int q;\n"}.get))
    assert closure.needed(frozenset(["c4"])) == {"c1", "c2", "c3", "c6"}
    assert closure.needed(frozenset(["c1"])) == {"c3"}, "a file may stay where nothing names it"
    assert closure.needed(frozenset(["c3"])) == frozenset()
    assert closure.needed(frozenset(["c5"])) == frozenset()


@pytest.mark.parametrize("undone", ["c1", "c2", "c3"])
def test_a_source_that_is_called_otherwise_and_its_lists_go_together(undone: str) -> None:
    """samurai: scan.c was lex.c; with one line of the Makefile undone no linker found what stands in it."""
    none, line, build = LineSpan(0, 0), LineSpan(1, 1), FileKind.BUILD
    changes = [
        Change("c1", "Makefile", "Makefile", line, none, kind=build, patch="-\tlex.o\\\n"),
        Change("c2", "Makefile", "Makefile", none, line, kind=build, patch="+\tscan.o\\\n"),
        Change("c3", "scan.c", "lex.c", none, none, ChangeForm.RENAMED),
        Change("c4", "src/b.c", "lib/b.c", none, none, ChangeForm.RENAMED),
        Change(
            "c5", "Makefile", "Makefile", line, line, kind=build, patch="-b.o: a.h\n+b.o: b.h\n"
        ),
    ]
    closure = Closure(*change_names(changes, lambda _: None, lambda _: None))
    assert closure.needed(frozenset([undone])) == {"c1", "c2", "c3"} - {undone}
    assert closure.needed(frozenset(["c4"])) == frozenset(), "its name is what it was"


def test_who_includes_a_header_needs_it() -> None:
    """lighttpd: ck.h went alone, and whoever included it did not build, in ten builds of ever more changes."""
    none, line = LineSpan(0, 0), LineSpan(1, 1)
    changes = [
        Change("c1", "src/ck.h", "src/ck.h", none, line, ChangeForm.ADDED),
        Change("c2", "src/a.c", "src/a.c", none, line),
        Change("c3", "lib/b.c", "lib/b.c", line, line),
        Change("c4", "lib/old.h", "lib/old.h", line, none, ChangeForm.DELETED),
        Change("c5", "lib/ck.h", "lib/ck.h", none, line, ChangeForm.ADDED),
        Change("c6", "lib/c.c", "lib/c.c", line, line),
        Change("c7", "lib/new.h", "lib/was.h", none, none, ChangeForm.RENAMED),
    ]
    old = {
        "lib/b.c": b'#include "old.h"\n',
        "lib/old.h": b"int o;\n",
        "src/a.c": b"",
        "lib/c.c": b"#include <was.h>\n",
    }
    new = {"lib/b.c": b'#include "ck.h"\n', "lib/ck.h": b"int k;\n", "src/ck.h": b"int c;\n",
           "src/a.c": b'#include "ck.h"\n', "lib/c.c": b'#include <lib/new.h>\n'}  # fmt: skip
    closure = Closure(*change_names(changes, old.get, new.get))
    assert closure.needed(frozenset(["c1"])) == {"c2"}, "b.c has one in its own folder"
    assert closure.needed(frozenset(["c5"])) == {"c3", "c4"}
    assert closure.needed(frozenset(["c3"])) == {"c4"}
    assert closure.needed(frozenset(["c7"])) == {"c6"}
    assert closure.needed(frozenset(["c6"])) == {"c7"}
    assert closure.needed(frozenset(["c2"])) == frozenset(), (
        "a header may stay that nobody includes"
    )


def test_what_a_build_defines_is_a_name_of_the_program() -> None:
    """Pkgconf: SYSTEM_LIBDIR is an option of the new makefile, HAVE_STRICT_MODE was autoconf's."""
    line, build = LineSpan(1, 1), FileKind.BUILD
    changes = [
        Change("c1", "Makefile", "Makefile", line, line, kind=build, patch="-CC = cc\n+CFLAGS = -Wall -DLIBDIR=1\n"),
        Change("c2", "configure.ac", "configure.ac", line, line, kind=build, patch="-AC_DEFINE([STRICT], 1)\n+a\n"),
        Change("c3", "a.c", "a.c", line, line, patch="-int a = STRICT;\n+int b = LIBDIR;\n"),
    ]  # fmt: skip
    texts = ({"a.c": b"int a = STRICT;\n"}, {"a.c": b"int b = LIBDIR;\n"})
    closure = Closure(*change_names(changes, texts[0].get, texts[1].get))
    assert closure.needed(frozenset(["c1"])) == {"c2", "c3"}
    assert closure.needed(frozenset(["c2"])) == frozenset()
    assert closure.needed(frozenset(["c3"])) == {"c2"}


def test_a_text_that_does_not_parse_says_what_can_be_read() -> None:
    assert _closure(BROKEN).needed(frozenset(["c1"])) == {"c2"}


@pytest.mark.parametrize("suffix", ["hpp", "inl", "ipp", "tpp", "txx"])
def test_what_headers_of_templates_are_called_hides_no_name(suffix: str) -> None:
    """toml++: a constant was renamed in parser.inl, whose names nobody read; each variant was built to learn it."""
    renamed = """
struct traits {
-  static constexpr int length = 63;
+  static constexpr int least_length = 63;
};
int other;
int parsed() {
-  return traits::length;
+  return traits::least_length;
}
"""
    assert _closure({f"parser.{suffix}": renamed}).needed(frozenset({"c1"})) == {"c2"}


@pytest.mark.parametrize(
    ("declared", "used"),
    [
        ("int {}() {{ return 1; }}", "return machine.{}();"),
        ("int {};", "return machine->{};"),
        ("static const int {} = 1;", "return Machine::{};"),
    ],
)
def test_a_member_is_used_by_each_of_its_names(declared: str, used: str) -> None:
    lines = [
        "class Machine {",
        "-" + declared.format("start"),
        "+" + declared.format("begin"),
        "};",
        "int other;",
        "int run() {",
        "-" + used.format("start"),
        "+" + used.format("begin"),
        "}",
    ]
    assert _closure({"machine.cc": "\n".join(lines)}).needed(frozenset({"c2"})) == {"c1"}


def test_a_member_is_used_in_its_class_without_a_dot() -> None:
    inside = """
class Machine {
-  int speed;
+  int pace;
  int other;
  int doubled() {
-    return 2 * speed;
+    return 2 * pace;
  }
};
int speed_of_light(int speed) {
  int other = 1;
-  return speed + other;
+  return other + speed;
}
"""
    closure = _closure({"machine.cc": inside})
    assert closure.needed(frozenset({"c2"})) == {"c1"}
    assert not closure.needed(frozenset({"c3"}))


def test_a_head_or_a_call_of_several_lines_takes_another_number_where_it_changed() -> None:
    """QuickJS: a parameter on the second line of a head; the line of its name stood, so nobody needed it."""
    closure = _closure(
        {
            "n.c": """
static int made(int name,
-                int proto) {
+                int proto, int fields) {
  return name + proto;
}
int user(int n) {
  return made(n,
-              n + 1);
+              n + 1, 0);
}
int other(int n) {
-  return n;
+  return n + made(n, n, n);
}
"""
        }
    )
    assert closure.needed(frozenset({"c1"})) == {"c2", "c3"}
    assert closure.needed(frozenset({"c2"})) == {"c1", "c3"}
    assert closure.needed(frozenset({"c3"})) == set()


@pytest.mark.parametrize(
    ("elsewhere", "needed"),
    [("", {"c2"}), ("s->all = 0;", {"c2"}), ("s->all = s->n;", set[str]())],
)
def test_who_gives_a_thing_its_only_value_moves_as_a_whole(
    elsewhere: str, needed: set[str]
) -> None:
    """QuickJS: an object that is made in another function now; without the one half nobody makes it, and a program
    that the build runs is no more than a crash.
    """
    files = {
        "m.c": f"""
struct s {{ int all; int n; }};
void first(struct s *s) {{
  int n = 0;
-  s->n = n;
+  s->n = n + 1; s->all = made(3);
}}
void second(struct s *s) {{
-  s->all = made(4);
  s->n++;
}}
void third(struct s *s) {{ {elsewhere} }}
"""
    }
    assert _closure(files).needed(frozenset({"c1"})) == needed


def test_who_has_what_nothing_defines_any_more_is_told_by_its_word() -> None:
    """A member that another struct has as well is no name that a text misses: a compiler says which."""
    closure = _closure(
        {
            "l.h": """
struct level {
-  int action;
  int n;
};
struct other { int action; };
""",
            "u.c": """
int f(struct level *l) {
-  return l->action;
+  return l->n;
}
""",
        }
    )
    assert closure.needed(frozenset({"c2"})) == set()
    assert closure.bringing(frozenset({"action"})) == {"c1"}
    assert closure.bringing(frozenset({"n"})) == set()


def test_a_grammar_needs_what_its_actions_call_and_the_rules_that_it_names() -> None:
    """Libxkbcommon: its parser's new rules call functions that came with them, and a build was made to see that."""
    closure = _closure(
        {
            "g.y": """
%token END "end"
-%type <expr> Item Items
+%type <expr> Item Lists
%%
File : Item END /* Lists: no name in a comment */
-  | Items END { $$ = ExprItems($1); }
+  | Lists END { $$ = ExprLists($1); }
  ;
-Items : Item
+Lists : Item
  ;
Item : END { $$ = $1; }
-  | Item END
+  | END END
  ;
""",
            "e.c": """
int ExprItems(int n) { return n; }
+int ExprLists(int n) { return n + 1; }
""",
        }
    )
    assert closure.needed(frozenset({"c1"})) == {"c2", "c3"}
    assert closure.needed(frozenset({"c3"})) == {"c1", "c2"}
    assert closure.needed(frozenset({"c5"})) == {"c1", "c2", "c3"}
    assert closure.needed(frozenset({"c4"})) == set()


def test_a_renamed_file_has_its_name_alone_and_not_what_its_hunks_have() -> None:
    """jsoncons: a header was renamed, and of its class a hunk; whoever names the class took the renaming along, and
    with it all that include the file.
    """
    before, after = b"struct gone {};\nint f(int);\n", b"int f(int);\n"
    none, one = LineSpan(0, 0), LineSpan(1, 1)
    changes = [
        Change("c1", "new.hpp", "old.hpp", none, none, ChangeForm.RENAMED),
        Change("c2", "new.hpp", "old.hpp", one, none, patch="-struct gone {};"),
        Change("c3", "use.cpp", "use.cpp", one, one, patch="-gone g;\n+int g;"),
    ]
    good = {"old.hpp": before, "use.cpp": b"gone g;\n"}
    bad = {"new.hpp": after, "use.cpp": b"int g;\n"}
    closure = Closure(*change_names(changes, good.get, bad.get))
    assert closure.needed(frozenset({"c3"})) == {"c2"}
